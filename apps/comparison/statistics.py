"""The arithmetic of one cell. Values are sorted first, so that the same data give the same digits whatever order they
came in. Ratios between cells: `ratios.py`; two modes in one cell: `modes.py`.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

ENOUGH = 3  # values, for an interval
LEVEL = 0.95
OUTLIER = 3.5  # modified z-score, from Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993)
ENOUGH_FOR_OUTLIERS = 5  # of three normal values, one set in three would have a mark


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


def student(freedom: float) -> float:
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
        half = student(n - 1) * stdev / math.sqrt(n)
        low, high = mean - half, mean + half
    return Summary(n, mean, statistics.median(ordered), stdev, ordered[0], ordered[-1], low, high)


def outliers(values: Sequence[float]) -> list[int]:
    """Places in `values` of those further than 3.5 scaled median absolute deviations from the median; where more than
    half of the values are the same, mean absolute deviations. To be marked, never to be dropped.
    """
    if len(values) < ENOUGH_FOR_OUTLIERS:
        return []
    middle = statistics.median(values)
    distances = [abs(value - middle) for value in values]
    scale = statistics.median(distances) / 0.6744897501960817 or statistics.fmean(distances) * math.sqrt(math.pi / 2)
    return [place for place, distance in enumerate(distances) if distance > OUTLIER * scale > 0]


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
