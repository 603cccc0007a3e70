"""A counter never falls below zero, nor does it wrap round to a number just below 2³² or 2⁶⁴."""

import re
from collections.abc import Iterator

from apps.parsers.laws.law import Contradiction, JobFigures, Law, LawEffect, get_unit

_WRAPPED = re.compile(r"(?<![\d.])(?:18446744073\d{9}|1844674407370955\d\.\d*|429496[67]\d{3})(?![\d])")
_SINCE = 1 << 32  # less 1,000: a small negative number as 32 bits without a sign
_LARGEST = {"ns": 1e19, "B": 2.0**63, "": 2.0**63, "1/s": 2.0**63, "B/s": 2.0**63}


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    for metric, value in figures.find_extremes(0, _SINCE - 1000):
        if value < 0:
            yield Contradiction(
                (metric,), f"{figures.sample(metric).printed or value} is below zero", LawEffect.WITHHELD
            )
        elif value >= _LARGEST.get(get_unit(metric), float("inf")) or _is_wrapped(figures, metric, value):
            printed = figures.sample(metric).printed or f"{value:.0f}"
            yield Contradiction((metric,), f"{printed[:60]} is a counter that fell below zero", LawEffect.WITHHELD)


def _is_wrapped(figures: JobFigures, metric: str, value: float) -> bool:
    """Return whether the printed number is one that wrapped; rates and bytes may be just below 2³² by themselves."""
    printed = _WRAPPED.search(figures.sample(metric).printed)
    if printed is None:
        return get_unit(metric) == "" and _SINCE - 1000 <= value < _SINCE
    return not printed[0].startswith("4294") or (
        get_unit(metric) in ("", "ns") and _SINCE - 1000 <= int(printed[0]) < _SINCE
    )


LAW = Law(
    name="counter_sign",
    reason="a count, a time or a rate is not below zero, and none is as large as 2⁶³: what is, is withheld",
    check=_check,
)
