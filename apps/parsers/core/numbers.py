"""Numbers as tools print them: plain ASCII, finite and of a sensible length.

`inf`, `nan`, `1e999` and thousands of digits are no measurements: the functions return None for them.
"""

import math
import re

INT4, INT8 = 2**31 - 1, 2**63 - 1
_PLAIN = re.compile(r"[-+]?(?:\d{1,40}\.?\d{0,60}|\.\d{1,60})(?:[eE][-+]?\d{1,3})?", re.ASCII)
_LARGEST = 1e30
_YEAR_10000 = 253_402_300_800


def read_number(value: object) -> float | None:
    """Return a finite number from a word or from a JSON value; None for anything else."""
    if isinstance(value, str):
        return read_number(float(value)) if _PLAIN.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= _LARGEST and math.isfinite(value) else None


def read_non_negative(value: object) -> float | None:
    """Return a number that is not below zero, else None: tools print -1 for what they did not measure."""
    number = read_number(value)
    return number if number is not None and number >= 0 else None


def read_epoch(value: object) -> float | None:
    """Return a time in seconds since 1970, up to the year 9999, else None."""
    seconds = read_non_negative(value)
    return seconds if seconds is not None and seconds < _YEAR_10000 else None


def read_whole(value: object, most: int = INT8) -> int | None:
    """Return a whole number from 0 to `most`, else None."""
    number = read_non_negative(value)
    if number is None or number > most or number != int(number):
        return None
    is_exact = isinstance(value, int) or (isinstance(value, str) and value.isdecimal())
    return int(value if is_exact else number)  # type: ignore[call-overload,no-any-return]


def is_close(value: float, other: float, share: float = 0.01) -> bool:
    """Return whether two values differ by no more than `share` of the larger one."""
    return abs(value - other) <= share * max(abs(value), abs(other))
