"""English words without content of their own, and the pieces that apostrophes leave of contractions."""

from __future__ import annotations

__all__ = ["STOPWORDS"]

STOPWORDS = frozenset(
    # articles, pointers and counters
    "a an the this that these those some any each every either neither both all few many much more most less least "
    "other another such same own no none one "
    # pronouns: they name a pole instead of describing anybody
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themself themselves who whom whose which what "
    # auxiliary verbs
    "am is are was were be been being do does did doing done have has had having can could may might must shall "
    "should will would ought "
    # joining words
    "and or nor but so yet if then else than as because since while although though unless until whether "
    # places and directions of other words
    "about above across after against along among around at before behind below beneath beside besides between "
    "beyond by down during except for from in inside into near of off on onto out outside over past per through "
    "throughout to toward towards under up upon via with within without "
    # adverbs of manner, place and time that anything may have
    "again also always ever here how just never not now often once only perhaps quite rather really still there "
    "therefore thus too very when where why yes "
    # pieces of contractions and possessives
    "s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn ain".split()
)
"""Not counted in a sentence's score."""
