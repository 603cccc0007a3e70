"""Percentiles ascend, and lie between the smallest and the largest value.

A percentile from a histogram is the middle of its bin (fio's are 1.6 % wide), and so may be a little above the largest
value. Where the mean agrees with the largest value, it is the percentile that is wrong.
"""

from collections.abc import Iterator
from itertools import pairwise

from apps.parsers.laws.law import SHARES, Contradiction, JobFigures, Law, LawEffect, write_figure

_KINDS = ("clat", "latency")
_BIN = 1.02


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    for kind in _KINDS:
        percentiles = [metric for metric, _, _ in figures.percentiles(kind)]
        if percentiles:
            yield from _check_extremes(figures, kind, percentiles)
            yield from _check_order(figures, [metric for metric, _, _ in figures.percentiles(kind)])


def _check_extremes(figures: JobFigures, kind: str, percentiles: list[str]) -> Iterator[Contradiction]:
    low, high = f"{kind}_min", f"{kind}_max"
    is_sure = figures.value(f"{kind}_mean") is not None and not figures.is_above(f"{kind}_mean", high, _BIN)
    effect = LawEffect.WITHHELD if is_sure else LawEffect.DOUBTED
    above = tuple(metric for metric in percentiles if figures.is_above(metric, high, _BIN))
    if above:
        reason = f"{_write(figures, above[0])} is above the largest value, {_write_bare(figures, high)}"
        yield Contradiction(above if is_sure else (*above, high), reason, effect)
    below = tuple(metric for metric in percentiles if figures.is_above(low, metric, _BIN))
    if below:
        reason = f"{_write(figures, below[0])} is below the smallest value, {_write_bare(figures, low)}"
        yield Contradiction((*below, low), reason, LawEffect.DOUBTED)


def _check_order(figures: JobFigures, percentiles: list[str]) -> Iterator[Contradiction]:
    for smaller, larger in pairwise(percentiles):
        if figures.is_above(smaller, larger):
            reason = f"{_write(figures, smaller)} is above {_write(figures, larger)}"
            yield Contradiction((smaller, larger), reason, LawEffect.DOUBTED)


def _write(figures: JobFigures, metric: str) -> str:
    """Return `p99 = 17.1 s`."""
    return f"{metric.partition('_')[2].replace('_', '.')} = {_write_bare(figures, metric)}"


def _write_bare(figures: JobFigures, metric: str) -> str:
    return write_figure(metric, figures.value(metric) or 0.0)


LAW = Law(
    name="percentile_order",
    reason="min ≤ p1 ≤ p50 ≤ … ≤ max: percentiles above a largest value with which the mean agrees are withheld, other "
    "figures that break it are doubted",
    check=_check,
    metrics=frozenset(f"{kind}_{word}" for kind in _KINDS for word in SHARES),
)
