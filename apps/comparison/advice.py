"""How many more runs would settle what is not settled, computed from the spread that there is."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from apps.comparison.ratios import NO_SPREAD

MOST = 100  # more runs than this are not advised
POWER = 0.8


@dataclass(frozen=True)
class Advice:
    """`more_runs` of this series and of the baseline each; None where not even `MOST` would do."""

    more_runs: int | None
    text: str


def to_an_interval(n: int, baseline: int, enough: int) -> Advice:
    """With fewer than `enough` runs nothing is known of the spread, so this is all that can be said."""
    lacking = {"this series": enough - n, "the baseline": enough - baseline}
    parts = [f"{_runs(missing)} of {whose}" for whose, missing in lacking.items() if missing > 0]
    return Advice(max(lacking.values()), f"{' and '.join(parts)} would give an interval")


def to_a_verdict(values: Sequence[float], baseline: Sequence[float], alpha: float) -> Advice:
    """The fewest more runs with which Welch's test on logarithms, at `alpha`, would find this difference in 80 of 100
    cases, if difference and spread stay as they are. Values are positive, and at least three on each side.
    """
    import numpy as np

    logs = [np.log(np.sort(side)) for side in (values, baseline)]
    difference = abs(float(logs[0].mean() - logs[1].mean()))
    spreads = [(float(side.var(ddof=1)), len(side)) for side in logs]
    if difference <= NO_SPREAD:
        return Advice(None, "More runs will not part them: both give the same figure")
    more = 1 + bisect_left(range(1, MOST + 1), POWER, key=lambda runs: _power(difference, spreads, runs, alpha))
    if more > MOST:
        return Advice(None, f"{MOST} more runs of each would hardly settle this: the difference is small in the spread")
    return Advice(more, f"{_runs(more)} of each would settle this, if difference and spread stay as they are")


def _power(difference: float, spreads: Sequence[tuple[float, int]], more: int, alpha: float) -> float:
    """Of Welch's two-sided test with `more` runs on each side, by the noncentral t distribution."""
    from scipy.special import nctdtr, stdtrit  # lazily: SciPy is slow to import

    parts = [(variance / (n + more), n + more) for variance, n in spreads]
    squared = sum(part for part, _ in parts)
    if squared <= NO_SPREAD**2:
        return 1.0
    freedom = squared**2 / sum(part**2 / (n - 1) for part, n in parts)
    limit = stdtrit(freedom, 1 - alpha / 2)
    return float(1 - nctdtr(freedom, difference / math.sqrt(squared), limit))


def _runs(count: int) -> str:
    return f"{count} more run{'s' if count > 1 else ''}"
