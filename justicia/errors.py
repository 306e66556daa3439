"""The errors that justicia raises; every one is a `JusticiaError`.

::

    JusticiaError
    ├── InputError (ValueError)            a bad call or bad input: the user can mend it; exit code 2
    │   ├── TableError                     the table cannot be read, or lacks a column
    │   ├── GroupingError                  sensitive columns cannot be grouped as asked
    │   ├── LabelError                     label or favorable outcome cannot be settled
    │   ├── RequirementError               a requirement cannot be read
    │   ├── FormulaError                   a formula is malformed, or a question has no clauses
    │   ├── ModelFileError                 a model file is refused or cannot be loaded
    │   ├── PopulationFileError            a population file is refused, or does not fit the model or the call
    │   ├── SpecError                      what is asked about generations contradicts itself, or a spec cannot be read
    │   ├── ShieldError                    a shield cannot keep what is asked, or its state file does not fit
    │   └── UnsupportedModelError (TypeError)  no encoder, or a step that no encoder follows
    ├── MissingDependencyError (ImportError)   an optional package is not installed; exit code 2
    └── EncodingMismatchError (AssertionError) the encoding does not reproduce `predict`; exit code 4

A message is one line: what is wrong, where (column, row, node), and what to do.
"""

from __future__ import annotations

from justicia.words import printable

__all__ = [
    "EncodingMismatchError",
    "FormulaError",
    "GroupingError",
    "InputError",
    "JusticiaError",
    "LabelError",
    "MissingDependencyError",
    "ModelFileError",
    "PopulationFileError",
    "RequirementError",
    "ShieldError",
    "SpecError",
    "TableError",
    "UnsupportedModelError",
]


MALFORMED = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What libraries raise that believe attributes and parameters of a model which no fit has made or checked."""


class JusticiaError(Exception):
    """Root of every error that justicia raises on purpose."""

    exit_code = 2

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(JusticiaError, ValueError):
    """Raised when a call or an input is wrong and the user can mend it."""


class TableError(InputError):
    """Raised when a table cannot be read, or lacks a column that is needed."""


class GroupingError(InputError):
    """Raised when the sensitive columns cannot be grouped as asked."""


class LabelError(InputError):
    """Raised when the label or the favorable outcome cannot be settled."""


class RequirementError(InputError):
    """Raised when the text of a requirement cannot be read."""


class FormulaError(InputError):
    """Raised when a formula is malformed, or a question cannot be written in clauses."""


class ModelFileError(InputError):
    """Raised when a model file is refused or cannot be loaded."""


class PopulationFileError(InputError):
    """Raised when a population file is refused, or does not fit the model or what is asked."""


class SpecError(InputError):
    """Raised when a question about generations contradicts itself, or its spec cannot be read."""


class ShieldError(InputError):
    """Raised when a shield cannot keep what is asked, or a state file does not fit it."""


class UnsupportedModelError(InputError, TypeError):
    """Raised when a model, or a step before it, has no encoder."""


class MissingDependencyError(JusticiaError, ImportError):
    """Raised when an optional package is needed and not installed."""


class EncodingMismatchError(JusticiaError, AssertionError):
    """Raised when the encoded decision differs from the model's own `predict`."""

    exit_code = 4
