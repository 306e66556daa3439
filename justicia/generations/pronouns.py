"""Forms of English pronouns, and of verbs that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from justicia.errors import SpecError
from justicia.words import did_you_mean, listed, shown

__all__ = ["CASES", "PRONOUNS", "Pronoun", "pronoun"]

CASES = {
    "subject": ("subject", "nominative", "nom", "subj"),
    "object": ("object", "accusative", "acc", "obj"),
    "possessive": ("possessive", "determiner", "poss", "genitive", "possessive_determiner"),
    "possessive_pronoun": ("possessive_pronoun", "independent", "poss_pronoun"),
    "reflexive": ("reflexive", "self"),
}
"""Forms of a pronoun, and other words for them."""

_VERBS = {
    "is": ("is", "are"),
    "was": ("was", "were"),
    "has": ("has", "have"),
    "does": ("does", "do"),
    "s": ("s", ""),
    "es": ("es", ""),
    "are": ("is", "are"),
    "were": ("was", "were"),
    "have": ("has", "have"),
    "do": ("does", "do"),
}
"""Forms of a verb with one person and with they; `s` is the ending of any other."""


@dataclass(frozen=True)
class Pronoun:
    """A pronoun with all its forms.

    Attributes
    ----------
    subject, object, possessive, possessive_pronoun, reflexive : str
        As she, her, her, hers, herself.
    plural : bool
        Whether verbs take their plural, as after they.
    """

    subject: str
    object: str
    possessive: str
    possessive_pronoun: str
    reflexive: str
    plural: bool = False

    def form(self, word: str) -> str:
        """A form by the name of its case, or of a verb.

        Raises
        ------
        SpecError

        >>> PRONOUNS["she"].form("object"), PRONOUNS["they"].form("is"), PRONOUNS["he"].form("acc")
        ('her', 'are', 'him')
        """
        for case, words in CASES.items():
            if word in words:
                held: str = getattr(self, case)
                return held
        if word in _VERBS:
            return _VERBS[word][self.plural]
        raise SpecError(f"a pronoun has no form {shown(word)!r}{did_you_mean(word, [*CASES, 'is', 'was', 'has', 's'])}")


PRONOUNS = {
    "she": Pronoun("she", "her", "her", "hers", "herself"),
    "he": Pronoun("he", "him", "his", "his", "himself"),
    "they": Pronoun("they", "them", "their", "theirs", "themself", plural=True),
    "xe": Pronoun("xe", "xem", "xyr", "xyrs", "xemself"),
    "ze": Pronoun("ze", "zir", "zir", "zirs", "zirself"),
    "it": Pronoun("it", "it", "its", "its", "itself"),
}
"""Those that are known by their subject form."""


def pronoun(said: object, where: str = "") -> Pronoun:
    """A pronoun by its subject form, by forms with slashes, or by a mapping of its forms.

    Raises
    ------
    SpecError

    >>> pronoun("ey/em/eir/eirs/emself").object
    'em'
    """
    if isinstance(said, Mapping):
        unknown = [key for key in said if key not in (*CASES, "plural")]
        if unknown:
            raise SpecError(f"{where}a pronoun has no form {shown(unknown[0])!r}{did_you_mean(unknown[0], CASES)}")
        lacking = [case for case in CASES if not isinstance(said.get(case), str)]
        if lacking:
            raise SpecError(f"{where}the pronoun lacks the form {listed(lacking)}")
        plural = str(said.get("plural", False)).lower() in ("true", "yes", "1")
        forms = [str(said[case]) for case in CASES]
        return Pronoun(forms[0], forms[1], forms[2], forms[3], forms[4], plural)
    text = str(said).strip()
    if text.lower() in PRONOUNS:
        return PRONOUNS[text.lower()]
    forms = [part.strip() for part in text.split("/")]
    if len(forms) in (2, 3) and forms[0].lower() in PRONOUNS:
        return PRONOUNS[forms[0].lower()]
    if len(forms) == 5 and all(forms):
        return Pronoun(forms[0], forms[1], forms[2], forms[3], forms[4])
    raise SpecError(
        f"{where}the pronoun {shown(text)!r} is not known{did_you_mean(text, PRONOUNS)}: write its forms, as in "
        "she/her/her/hers/herself"
    )
