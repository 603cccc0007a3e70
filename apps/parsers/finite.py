"""Numbers as tools print them: plain ASCII, finite and of a sensible length, or nothing at all.

`inf`, `nan`, `1e999` and thousands of digits are no measurements; they become None and never a value.
"""

import math
import re

INT4, INT8 = 2**31 - 1, 2**63 - 1
_PLAIN = re.compile(r"[-+]?(?:\d{1,40}\.?\d{0,60}|\.\d{1,60})(?:[eE][-+]?\d{1,3})?", re.ASCII)
_LARGEST = 1e30
_YEAR_10000 = 253_402_300_800


def number(found: object) -> float | None:
    """A finite number from a word or from a JSON value."""
    if isinstance(found, str):
        return number(float(found)) if _PLAIN.fullmatch(found) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if abs(found) <= _LARGEST and math.isfinite(found) else None


def positive(found: object) -> float | None:
    """A number that is not below zero: tools print -1 for what they did not measure."""
    value = number(found)
    return value if value is not None and value >= 0 else None


def epoch(found: object) -> float | None:
    """Seconds since 1970, up to the year 9999."""
    value = positive(found)
    return value if value is not None and value < _YEAR_10000 else None


def whole(found: object, most: int = INT8) -> int | None:
    """A whole number from 0 to `most`."""
    value = positive(found)
    if value is None or value > most or value != int(value):
        return None
    is_exact = isinstance(found, int) or (isinstance(found, str) and found.isdecimal())
    return int(found if is_exact else value)  # type: ignore[call-overload,no-any-return]


def close(one: float, other: float, share: float = 0.01) -> bool:
    return abs(one - other) <= share * max(abs(one), abs(other))
