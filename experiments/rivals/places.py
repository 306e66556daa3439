"""Where the other tools are: named by environment variables, or by options of the same meaning."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from experiments.running import Reporter
from justicia.errors import InputError

__all__ = ["DRIVERS", "FAIRSQUARE", "PUBLISHED", "VERIFAIR", "Place", "found"]

DRIVERS = Path(__file__).parent / "drivers"


@dataclass(frozen=True)
class Place:
    """What a tool needs.

    Attributes
    ----------
    name : str
    checkout : str or None
        Environment variable that names its source folder; None: it is installed.
    python : str
        Environment variable that names the Python it runs under; without it, this one.
    holds : str
        A file that the source folder has to have.
    """

    name: str
    checkout: str | None
    python: str
    holds: str = "."

    def folder(self) -> Path | None:
        """Its source folder, None where nobody names one.

        Raises
        ------
        InputError
            When the named folder is not it.
        """
        if self.checkout is None or not os.environ.get(self.checkout):
            return None
        held = Path(os.environ[self.checkout]).absolute()
        if not (held / self.holds).exists():
            raise InputError(f"{self.checkout}={held} is no checkout of {self.name}: it lacks {self.holds}")
        return held

    def interpreter(self) -> Path | None:
        """The Python that it runs under; None where it is installed nowhere.

        Raises
        ------
        InputError
            When the named one is not there.
        """
        named = os.environ.get(self.python)
        if not named:
            return None if self.checkout is None else Path(sys.executable)
        held = Path(named).absolute()
        if not held.is_file():
            raise InputError(f"{self.python}={held} is no Python: name the file of the interpreter")
        return held


FAIRSQUARE = Place("FairSquare", "JUSTICIA_FAIRSQUARE", "JUSTICIA_FAIRSQUARE_PYTHON", "src/fairProve.py")
VERIFAIR = Place("VeriFair", "JUSTICIA_VERIFAIR", "JUSTICIA_VERIFAIR_PYTHON", "python/verifair/verify/verify.py")
PUBLISHED = Place("published Justicia", None, "JUSTICIA_PUBLISHED_PYTHON")


def found(place: Place, progress: Reporter) -> bool:
    """Whether a tool is there; a note says what to set when it is not."""
    there = place.interpreter() is not None and (place.checkout is None or place.folder() is not None)
    if not there:
        progress.note(f"{place.name} is left out: set {place.checkout or place.python}")
    return there
