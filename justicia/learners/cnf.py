"""A classifier that is a rule: clauses of conditions on the columns, found by MaxSAT."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from justicia.learners.literals import literals_of, truth_of
from justicia.learners.maxsat import Patterns, accepted
from justicia.learners.rules import CNF, DNF, Rule, as_numbers, is_numeric
from justicia.learners.search import Budget, search_rule
from justicia.progress import Bar

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CNFClassifier"]

logger = logging.getLogger(__name__)

_WHOLE = 2.0**50
"""All weights together, in whole numbers."""


class CNFClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A rule in conjunctive or disjunctive normal form, learned by MaxSAT.

    The rule holds when a condition of every clause holds (CNF), or every condition of some term does (DNF, learned as
    the complement of a CNF). Conditions compare a numeric column with a threshold, ask for a category, or whether a
    value is missing. Errors plus `literal_cost` times the number of conditions are minimised, incrementally: batches of
    rows first, as IMLI does (Ghosh and Meel, AIES 2019), then clause after clause on all rows
    (`justicia.learners.search`). Budgets are in conflicts of the SAT solver and in batches, so equal tables give equal
    rules, in whatever order their rows stand.

    Parameters
    ----------
    n_clauses : int, default 3
        Number of clauses (terms) at most.
    form : {"CNF", "DNF"}, default "CNF"
    literal_cost : float or "auto", default "auto"
        Cost of a condition in errors: it has to mend as many rows, or as much of their weight. "auto" is a thousandth
        of all of it, and one row at least where that is less than a hundredth of it.
    pos_label : class, optional
        The class that is predicted where the rule holds; the second one unless it is given.
    n_thresholds : int, default 8
        Of a numeric column, at most; they are quantiles.
    max_categories : int, default 50
        Of a column; of more, the rarer ones have no conditions.
    batch_size : int, default 100
        Distinct rows a batch.
    n_batches : int, default 10
        At most.
    max_rows : int, default 50_000
        Distinct rows; of more, as many are drawn to learn from.
    conflicts : int, default 100_000
        Of the SAT solver, in all; about 10,000 a second.
    time_limit : float, optional
        Seconds, after which the best rule found is taken. It may then depend on the machine.
    random_state : int, RandomState or None, default 0
        What batches are drawn by; None is another draw every time.
    verbose : bool, default False
        Show a bar on the terminal.

    Attributes
    ----------
    classes_ : array of shape (1,) or (2,)
    rule_ : Rule
    n_features_in_ : int
    feature_names_in_ : array of str
        Of a DataFrame with names.
    column_names_ : tuple of str
        Names of the columns in `rule_`; x0, x1, ... where they have none.
    categories_ : dict of str to tuple of str
        Categories, as text, of the columns that are none of numbers.
    errors_ : float
        Weight of the rows that the rule gets wrong, as a share of all.
    steps_ : int
        MaxSAT problems that were solved, or given up.
    settled_ : bool
        Whether the search ended by itself, and not for want of conflicts or time.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50] * 5, "sex": ["f", "f", "m", "m"] * 5})
    >>> model = CNFClassifier(n_clauses=1).fit(people, ["no", "yes", "yes", "yes"] * 5)
    >>> model.get_rules()
    ['(age > 25)']
    """

    _parameter_constraints: Mapping[str, list[Any]] = {
        "n_clauses": [Interval(Integral, 1, 30, closed="both")],
        "form": [StrOptions({CNF, DNF})],
        "literal_cost": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "n_thresholds": [Interval(Integral, 1, None, closed="left")],
        "max_categories": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_batches": [Interval(Integral, 0, None, closed="left")],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "conflicts": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_clauses: int = 3,
        *,
        form: str = CNF,
        literal_cost: float | str = "auto",
        pos_label: Any = None,
        n_thresholds: int = 8,
        max_categories: int = 50,
        batch_size: int = 100,
        n_batches: int = 10,
        max_rows: int = 50_000,
        conflicts: int = 100_000,
        time_limit: float | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.n_clauses = n_clauses
        self.form = form
        self.literal_cost = literal_cost
        self.pos_label = pos_label
        self.n_thresholds = n_thresholds
        self.max_categories = max_categories
        self.batch_size = batch_size
        self.n_batches = n_batches
        self.max_rows = max_rows
        self.conflicts = conflicts
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, progress: Callable[[str, float], None] | None = None
    ) -> CNFClassifier:
        """Learn a rule.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Columns of words are categories; a column of text that holds numbers alone is one of numbers. NaN, None and
            NA are missing values.
        y : array of shape (n_rows,)
            At most two classes.
        sample_weight : array of shape (n_rows,), optional
        progress : callable, optional
            Takes what is being done, and how much of the budget is spent.
        """
        self._validate_params()
        began = time.perf_counter()
        columns, n_rows = self._columns(X, reset=True)
        y = self._classes(y, n_rows)
        weights = _check_sample_weight(sample_weight, np.zeros((n_rows, 1)), ensure_non_negative=True)
        used = weights > 0
        if not used.any():
            raise ValueError("sample weights must contain at least one non-zero number")
        columns = {name: column[used] for name, column in columns.items()}
        y, weights = y[used], np.asarray(weights[used], dtype=np.float64)
        bar = Bar(bool(self.verbose))
        try:
            report = progress if progress is not None else bar.show
            self._learn(columns, y == self.positive_, weights, began, report)
        finally:
            bar.stop()
        return self

    def _learn(
        self,
        columns: Mapping[str, pd.Series[Any]],
        wanted: np.ndarray,
        weights: np.ndarray,
        began: float,
        report: Callable[[str, float], None],
    ) -> None:
        from sklearn.utils import check_random_state

        total = float(weights.sum())
        shares = weights / total
        price = min(max(1.0 / total, 0.001), 0.01) if self.literal_cost == "auto" else float(self.literal_cost) / total
        literals = literals_of(columns, shares, self.n_thresholds, self.max_categories)
        self.categories_ = literals.categories
        true = truth_of(literals.conditions, columns, len(wanted))
        # A term fails where one of its conditions does: the complement is a CNF over conditions that fail.
        if self.form == DNF:
            true, wanted = ~true, ~wanted
        patterns = _patterns(true, wanted, shares)
        limit = self.time_limit
        budget = Budget(
            int(self.conflicts), None if limit is None else lambda: time.perf_counter() - began > float(limit)
        )
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        if len(patterns.gain) > self.max_rows:
            drawn = np.sort(rng.permutation(len(patterns.gain))[: int(self.max_rows)])
            patterns = Patterns(patterns.true[drawn], patterns.gain[drawn])
        found = search_rule(
            patterns,
            int(self.n_clauses),
            round(min(price, 1.0) * _WHOLE),
            budget,
            rng,
            batch_size=int(self.batch_size),
            n_batches=int(self.n_batches),
            report=report,
        )
        self.steps_, self.settled_ = found.steps, found.settled
        parts = sorted({tuple(np.flatnonzero(clause).tolist()) for clause in found.rule if clause.any()})
        self.rule_ = Rule(self.form, tuple(tuple(literals.conditions[i] for i in part) for part in parts))
        self.errors_ = float(shares[accepted(true, found.rule) != wanted].sum())
        if not parts or found.cost >= 0:
            # To refuse everybody costs nothing but the errors.
            self._settle_constant(wanted, shares)
        if not found.settled:
            reason = "conflicts" if budget.conflicts <= 0 else "time"
            logger.info("the search for a rule ended for want of %s: the best one found is taken", reason)

    def _settle_constant(self, wanted: np.ndarray, shares: np.ndarray) -> None:
        """Where no condition pays: always, or never, whichever is wrong less often."""
        if self.form == DNF:
            wanted = ~wanted
        often = float(shares[wanted].sum())
        holds = often > 0.5
        self.rule_ = Rule(CNF if holds else DNF, ())
        self.errors_ = 1.0 - often if holds else often

    def _classes(self, y: Any, n_rows: int) -> np.ndarray:
        from sklearn.utils import column_or_1d
        from sklearn.utils.validation import check_consistent_length

        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        check_consistent_length(y, np.zeros(n_rows))
        self.positive_ = self.classes_[-1]
        if self.pos_label is not None:
            if self.pos_label not in self.classes_.tolist():
                raise ValueError(f"pos_label={self.pos_label!r} is no class; classes are {self.classes_.tolist()}")
            self.positive_ = self.classes_[self.classes_.tolist().index(self.pos_label)]
        return np.asarray(y)

    def _columns(self, X: Any, *, reset: bool) -> tuple[dict[str, pd.Series[Any]], int]:
        """Columns by name, those of numbers as numbers."""
        import pandas as pd

        if not isinstance(X, pd.DataFrame):
            X = check_array(X, dtype=None, ensure_all_finite=False, estimator=self, input_name="X")
        elif not len(X.columns) or not len(X):
            check_array(X, dtype=None, ensure_all_finite=False, estimator=self, input_name="X")
        validate_data(self, X, reset=reset, skip_check_array=True)
        names = getattr(self, "feature_names_in_", None)
        if reset:
            held = [f"x{i}" for i in range(self.n_features_in_)] if names is None else list(map(str, names))
            if len(set(held)) < len(held):
                raise ValueError("a rule needs unique column names")
            self.column_names_ = tuple(held)
            self.numeric_: tuple[str, ...] = ()
        columns = {}
        for position, name in enumerate(self.column_names_):
            column = X.iloc[:, position] if isinstance(X, pd.DataFrame) else pd.Series(X[:, position])
            columns[name] = column.reset_index(drop=True).rename(name)
        if reset:
            self.numeric_ = tuple(name for name, column in columns.items() if _means_numbers(column))
        for name in self.numeric_:
            numbers = as_numbers(columns[name])
            if np.isinf(numbers).any():
                raise ValueError(f"Input X contains infinity in column {name!r}.")
            columns[name] = pd.Series(numbers, name=name)
        return columns, len(X)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row: `pos_label` where the rule holds.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)

        Returns
        -------
        array of shape (n_rows,)
        """
        check_is_fitted(self)
        columns, n_rows = self._columns(X, reset=False)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, n_rows)
        holds = self.rule_.holds(columns.__getitem__, n_rows)
        positive = self.classes_.tolist().index(self.positive_)
        return np.asarray(self.classes_[np.where(holds, positive, 1 - positive)])

    def get_rules(self) -> list[str]:
        """The rule in words, one clause or term each; `str(model.rule_)` is the whole.

        All digits of thresholds are kept, and `justicia.models.read_rule` reads the text back.
        """
        check_is_fitted(self)
        return self.rule_.lines() or [self.rule_.text()]


def _patterns(true: np.ndarray, wanted: np.ndarray, shares: np.ndarray) -> Patterns:
    """Distinct rows with whole weights, the same for a row that stands there twice and for one of twice the weight."""
    packed = np.packbits(true, axis=1)
    keyed = np.concatenate([packed, wanted[:, None].astype(np.uint8)], axis=1)
    view = np.ascontiguousarray(keyed).view([("", np.void, keyed.shape[1])]).ravel()
    _, first, inverse = np.unique(view, return_index=True, return_inverse=True)
    held = np.rint(np.bincount(inverse.ravel(), shares, len(first)) * _WHOLE).astype(np.int64)
    # Beyond a millionth of a millionth, sums in another order would show.
    held = (held + (1 << 9)) >> 10 << 10
    return Patterns.of(true[first], np.where(wanted[first], held, -held))


def _means_numbers(column: pd.Series[Any]) -> bool:
    """Whether a column is one of numbers: by its type, or text and objects that are numbers, each of them."""
    import pandas as pd

    if is_numeric(column):
        return True
    if isinstance(column.dtype, pd.CategoricalDtype) or not column.notna().any() or column.dtype.kind in "mM":
        return False
    try:
        as_numbers(column)
    except ValueError:
        return False
    return True
