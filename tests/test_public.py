"""Public names, import time, the error tree."""

from __future__ import annotations

import inspect
import subprocess
import sys

import justicia
from justicia import errors


def test_exported_names_are_sorted_and_exist():
    assert justicia.__all__ == sorted(justicia.__all__)
    for name in justicia.__all__:
        assert getattr(justicia, name) is not None
    assert set(justicia.__all__) <= set(dir(justicia))


def test_every_error_is_a_justicia_error_and_stands_in_the_tree():
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    assert sorted(kind.__name__ for kind in kinds) == errors.__all__
    for kind in kinds:
        assert issubclass(kind, errors.JusticiaError)
        assert kind.__name__ in errors.__doc__
        assert kind.exit_code in (2, 4)
        if kind is not errors.JusticiaError:
            builtins = [base for base in kind.__mro__ if base.__module__ == "builtins"]
            assert builtins[0] is not Exception, f"{kind.__name__} subclasses no builtin that a caller would expect"


def test_importing_the_package_loads_no_heavy_library():
    code = "import justicia, sys; print([m for m in ('numpy', 'pandas', 'sklearn', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_library_never_prints():
    from pathlib import Path

    root = Path(justicia.__file__).parent
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] not in ("cli", "report"):
            assert "print(" not in path.read_text(), path
