"""The arithmetic of a cell. Values are sorted first, so that the same data give the same digits whatever order they
came in.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

ENOUGH = 3  # values, for an interval
LEVEL = 0.95


@dataclass(frozen=True)
class Summary:
    """n values in base units; the interval is Student's, 95 %, and only there for n ≥ 3."""

    n: int = 0
    mean: float | None = None
    median: float | None = None
    stdev: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True)
class Ratio:
    """Value ÷ baseline; for n ≥ 3 on both sides the ratio of geometric means with Welch's 95 % interval on
    logarithms.
    """

    ratio: float
    low: float | None = None
    high: float | None = None


def _t(freedom: float) -> float:
    """The 97.5 % quantile of Student's distribution."""
    from scipy.special import stdtrit  # lazily: SciPy is slow to import and most pages need none of it

    return float(stdtrit(freedom, (1 + LEVEL) / 2))


def summary(values: Sequence[float]) -> Summary:
    ordered = sorted(values)
    n = len(ordered)
    if not n:
        return Summary()
    mean = statistics.fmean(ordered)
    stdev = statistics.stdev(ordered) if n > 1 else None
    low = high = None
    if n >= ENOUGH and stdev is not None:
        half = _t(n - 1) * stdev / math.sqrt(n)
        low, high = mean - half, mean + half
    return Summary(n, mean, statistics.median(ordered), stdev, ordered[0], ordered[-1], low, high)


def ratio(values: Sequence[float], baseline: Sequence[float]) -> Ratio | None:
    """None where there is nothing to divide by, or a value that has no logarithm on either side."""
    if not values or not baseline or statistics.fmean(baseline) == 0:
        return None
    if min(len(values), len(baseline)) < ENOUGH:
        return Ratio(statistics.fmean(sorted(values)) / statistics.fmean(sorted(baseline)))
    if min(*values, *baseline) <= 0:
        return None
    return _welch([math.log(value) for value in sorted(values)], [math.log(value) for value in sorted(baseline)])


def _welch(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    difference = statistics.fmean(ours) - statistics.fmean(theirs)
    parts = [statistics.variance(logs) / len(logs) for logs in (ours, theirs)]
    error = math.sqrt(sum(parts))
    if error <= 1e-12:  # every run gave the same value
        return Ratio(math.exp(difference), math.exp(difference), math.exp(difference))
    freedom = sum(parts) ** 2 / sum(part**2 / (len(logs) - 1) for part, logs in zip(parts, (ours, theirs), strict=True))
    half = _t(freedom) * error
    return Ratio(math.exp(difference), math.exp(difference - half), math.exp(difference + half))


def merged_percentile(histograms: Sequence[Sequence[tuple[float, int]]], fraction: float) -> float | None:
    """The percentile of all I/Os together: bins of (ns, count) are added up first. Percentiles themselves are never
    averaged.
    """
    counts: dict[float, int] = {}
    for bins in histograms:
        for ns, count in bins:
            counts[ns] = counts.get(ns, 0) + count
    total = sum(counts.values())
    passed = 0
    for ns in sorted(counts):
        passed += counts[ns]
        if passed >= fraction * total:
            return float(ns)
    return None
