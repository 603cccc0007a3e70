"""Hundreds of numbers as text at once, each the same as `apps.lib.units` writes it alone, at a fifth of the price: a page of
320 cells has 2,500 of them (`tests/benchmarks/test_p9_side_by_side.py`).

A number is scaled to a whole one of as many digits as are shown; nearest whole numbers are then exact. The few that are out
of range, or so near the middle between two that the scaling itself could decide, are left to `units`.
"""

from functools import cache
from typing import Any

import orjson

from apps.lib import units

LOWEST, HIGHEST = -3, 2  # powers of ten of what `significant` writes with three digits and no more
SMALL, LARGE = 1e-4, 1e12  # between them twelve digits need no exponent
DIGITS = 12
TOO_NEAR = 0.499  # of a whole number's unit: what is further from the nearest one may belong to its neighbour


def significant(values: Any) -> list[str]:
    """As `units.significant` writes them; no number (NaN) is an empty text. `values`: array of one dimension."""
    import numpy as np

    with np.errstate(all="ignore"):  # of zero, of less and of NaN: all are answered one by one
        power = np.floor(np.log10(values))
        scaled = values * 10.0 ** (2 - power)
        whole = np.rint(scaled)
        sure = (
            (np.abs(scaled - whole) < TOO_NEAR)
            & (whole >= 100)
            & (whole <= 999)
            & (power >= LOWEST)
            & (power <= HIGHEST)
        )
        places = np.where(sure, (power - LOWEST) * 900 + whole - 100, 0).astype(np.intp)
    found: list[str] = _three_digits()[places].tolist()
    for place in np.flatnonzero(~sure).tolist():
        value = float(values[place])
        found[place] = "" if value != value else units.significant(value)
    return found


@cache
def _three_digits() -> Any:
    """All texts of three digits, in the order of their values: 0.00100 … 0.00999, 0.0100 … 999."""
    import numpy as np

    texts = [
        f"{whole / 10 ** (2 - power):.{2 - power}f}"
        for power in range(LOWEST, HIGHEST + 1)
        for whole in range(100, 1000)
    ]
    return np.array(texts, dtype=object)


def exact(values: Any) -> list[str]:
    """Twelve digits, which is more than any tool measures, thousands apart; what these cannot show without an exponent is
    written in full (`units.exact`). `values`: array of one dimension.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        power = np.floor(np.log10(values))
        tens = 10.0 ** (DIGITS - 1 - power)
        scaled = values * tens
        whole = np.rint(scaled)
        sure = (np.abs(scaled - whole) < TOO_NEAR) & (values >= SMALL) & (values < LARGE)
        rounded = whole / tens
        sure &= rounded < LARGE
        rounded = np.where(sure, rounded, 0.0)
        powers = np.where(sure, np.log10(rounded), 0.0).astype(np.intp).tolist()
    texts = f"{orjson.dumps(rounded, option=orjson.OPT_SERIALIZE_NUMPY).decode()[1:-1]},".replace(".0,", ",").split(",")
    found = [text if power < 3 else _apart(text, power) for text, power in zip(texts, powers, strict=False)]
    for place in np.flatnonzero(~sure).tolist():
        found[place] = _alone(float(values[place]))
    return found


def _apart(text: str, power: int) -> str:
    """`25530253.5`, whose first digit counts ten to the seventh → `25 530 253.5`."""
    if power < 6:
        return f"{text[: power - 2]}{units.THIN}{text[power - 2 :]}"
    if power < 9:
        return f"{text[: power - 5]}{units.THIN}{text[power - 5 : power - 2]}{units.THIN}{text[power - 2 :]}"
    first, second, third = power - 8, power - 5, power - 2
    return units.THIN.join((text[:first], text[first:second], text[second:third], text[third:]))


def _alone(value: float) -> str:
    if value != value:
        return ""
    return units.exact(float(f"{value:.{DIGITS}g}") if SMALL <= value < LARGE else value)
