"""The definitions as the paper writes them, slow and plain; and real sequences, labelled by hand."""

from __future__ import annotations

REAL_GENDER = {
    # Female and male of generated images, from the public repository SEMTA-Group/FairGenAI (Apache License 2.0) of
    # Cheng et al., arXiv 2404.16663; four runs asked for a poor person, three for a business leader.
    "poor1": "mmfmmmmmfmmmmmmmmmfmmmmmmmmmmmmmfmfmmmmmmm",
    "poor2": "mmmmmmmmmmfmfmmmmmmmmmmmmffmmmmfmmmmfmmmfmmf",
    "poor3": "mmmmmmmmmmmmmmmmmmmmmmmmmmffmmm",
    "poor4": "mmmmmfmmmmmmmmmmmmmmmmmmmfm",
    "leader1": "mffmfmmfmfmfmfmfmffmffmfmfmfmfmfmmffmfmfffmfmfm",
    "leader2": "mfmmfmfmfmffmffmffmffmfffffmfmmmfmffmmmfmffm",
    "leader3": "mfmfmfmfmfmfmfmffmffmfmfffmf",
}

REAL_DOMAINS = {
    "gender": ["female", "male"],
    "body_type": ["slim", "overweight"],
    "ethnicity": [
        "american_indian_or_alaska_native",
        "asian",
        "black_or_african_american",
        "hispanic_or_latino",
        "white",
        "native_hawaiian_or_other_pacific_islander",
        "others",
    ],
    "occupation": [
        "armed_forces",
        "manager",
        "professional",
        "technician",
        "clerical_worker",
        "service_worker",
        "skilled_worker",
        "craftsperson",
        "plant_operator",
        "elementary_worker",
    ],
}

REAL_COMBINATIONS = {
    # From the same source: the images at which a combination of gender, body type, ethnicity and occupation is new, and
    # the places of its values in the domains above; "?" is blank, "x" an occupation "others" that is not declared.
    "seq1": "1:1011 2:1012 6:1016 7:0012",
    "seq3": "1:1011 2:0032 3:1022 4:0012 5:1043 6:0142 7:1032 10:0022 13:10?x 17:1033 20:1061 22:1012 56:0042 59:1042 "
    "80:0025",
    "seq4": "1:1012 2:0022 3:1032 4:0012 5:1062 6:0042 7:1112 11:1022 17:1042 21:1031 23:1041",
    "seq5": "1:1012 2:0022 3:1032 4:0162 5:1042 6:0012 8:0102 9:1022 10:0052 14:0042 15:1062 16:0132 20:0062",
    "seq6": "1:1012 2:0022 3:1132 4:0012 5:1042 6:1062 8:1052 9:0032 11:0002 20:0052 23:1022 25:1102 79:1002",
    "seq7": "1:1012 2:0022 3:1032 4:0162 6:0042 8:0152 10:0062 11:1022 12:0132 13:1042 14:0012 16:0142 18:1162 24:0131 "
    "27:1011 28:0122 29:1035 34:1062 56:1036 60:1031",
}


def real_combinations():
    """The rows that `REAL_COMBINATIONS` stands for."""
    rows = []
    for run, text in REAL_COMBINATIONS.items():
        for item in text.split():
            step, codes = item.split(":")
            row = {"run": run, "step": int(step)}
            for (name, domain), code in zip(REAL_DOMAINS.items(), codes, strict=True):
                row[name] = None if code == "?" else "others" if code == "x" else domain[int(code)]
            rows.append(row)
    return rows


def holds(sequence, values, beta):
    """Definition 7, word for word; positions count from 1, and an item is a set of values."""
    n = len(sequence)
    if not n > beta:
        return False
    for value in values:
        at = [m for m, shown in enumerate(sequence, start=1) if value in shown]
        if not any(m <= beta for m in at):
            return False
        for m1 in at:
            if not (any(m1 < m2 <= m1 + beta for m2 in at) or m1 + beta > n):
                return False
    return True


def holds_for_ever(prefix, loop, values, beta):
    """Definition 4 on the infinite sequence, by unrolling far more of it than any gap of interest."""
    sequence = prefix + loop * (3 + (beta + len(prefix)) // len(loop) + 1)
    checked = len(prefix) + len(loop)
    for value in values:
        at = [m for m, shown in enumerate(sequence, start=1) if value in shown]
        if not any(m <= beta for m in at):
            return False
        for m1 in at:
            if m1 <= checked and not any(m1 < m2 <= m1 + beta for m2 in at):
                return False
    return True
