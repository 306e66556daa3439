"""The time that a report says it was made at."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime

from justicia.errors import InputError

__all__ = ["created", "fixed_time"]

_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""


def fixed_time() -> datetime | None:
    """The time in ``SOURCE_DATE_EPOCH``; None when it is not set.

    Raises
    ------
    InputError
        When it is not a number of seconds before the year 10000.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        return None
    if not re.fullmatch(r"[0-9]{1,12}", epoch) or int(epoch) > _LAST_SECOND:
        raise InputError(f"SOURCE_DATE_EPOCH={epoch[:40]} is not a number of seconds since 1970")
    return datetime.fromtimestamp(int(epoch), UTC)


def created() -> str:
    """The time now, or that in ``SOURCE_DATE_EPOCH``, as text of ISO 8601."""
    fixed = fixed_time()
    time = datetime.now(UTC).replace(microsecond=0) if fixed is None else fixed
    return time.isoformat().replace("+00:00", "Z")
