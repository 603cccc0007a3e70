"""Ratios to a baseline, with their interval, significance and effect size.

All pairs of a comparison are computed at once, because SciPy takes as long for one as for a hundred.

Which method, by the smaller of both numbers of runs:

    n < 3       the ratio of means alone
    3 to 4      Welch's t on logarithms: the ratio of geometric means. A bootstrap of three or four values covers the
                truth in 89 to 93 of 100 cases and not in 95, so it is not used (`docs/reference/statistics.md`).
    5 to 7      Welch's and the bootstrap's interval, and the wider of them: too few to see whether they are skewed
    from 8 on   Welch's, or where D'Agostino's test finds the logarithms skewed, the bootstrap's with Mann and
                Whitney's p

The bootstrap is SciPy's BCa of the ratio of medians, with a fixed seed: a pair has the same digits every time,
whatever stands beside it.
"""

import math
import statistics
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from apps.comparison.statistics.summary import ENOUGH
from apps.core.student_t import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[Any]  # one for each pair, with a column for each run

ENOUGH_FOR_BOOTSTRAP = 5
ENOUGH_FOR_SHAPE = 8  # what D'Agostino's test needs
ALPHA = 0.05
SEED = 20_041_105
RESAMPLES = 1999
AT_ONCE = 1_000_000  # values of a bootstrap in memory
NO_SPREAD = 1e-12  # of logarithms: every run gave the same value
Pair = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Ratio:
    """Value ÷ baseline with its 95 % interval.

    `method`: `means` (no interval), `welch` or `bootstrap`. `p` is of this pair alone; `effect_size` is Hedges' g.
    """

    ratio: float
    low: float | None = None
    high: float | None = None
    method: str = "means"
    p: float | None = None
    effect_size: float | None = None


def ratios(pairs: Sequence[Pair], *, of_medians: bool = False) -> list[Ratio | None]:
    """Return a ratio for each (values, baseline); None where the baseline is 0, or a value has no logarithm.

    `of_medians` is for percentiles, which are never averaged: only the bootstrap, from five runs on each side, with
    Mann and Whitney's p and no effect size.
    """
    result: list[Ratio | None] = [plain_ratio(pair, of_medians=of_medians) for pair in pairs]
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (ours, theirs) in enumerate(pairs):
        if min(len(ours), len(theirs)) >= (ENOUGH_FOR_BOOTSTRAP if of_medians else ENOUGH) and result[place]:
            shapes[len(ours), len(theirs)].append(place)
    for places in shapes.values():
        for place, ratio in zip(places, _of_one_shape([pairs[place] for place in places], of_medians), strict=True):
            result[place] = ratio
    return result


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust each p for all of them by Holm's step-down procedure (Scandinavian Journal of Statistics 6, 1979)."""
    import numpy as np

    adjusted_ps, order = np.empty(len(ps)), np.argsort(ps, kind="stable")
    adjusted_ps[order] = np.maximum.accumulate(
        np.minimum(1.0, np.arange(len(ps), 0, -1) * np.asarray(ps, float)[order])
    )
    adjusted: list[float] = adjusted_ps.tolist()
    return adjusted


def hedges_g(ours: "Rows", theirs: "Rows") -> list[float | None]:
    """Return Hedges' g of each row: the difference of means in pooled standard deviations.

    Corrected for small n by its exact factor (Hedges 1981); None where there is no spread.
    """
    import numpy as np

    freedom = ours.shape[1] + theirs.shape[1] - 2
    squares = sum((side.shape[1] - 1) * side.var(axis=1, ddof=1) for side in (ours, theirs))
    exact = math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(freedom / 2)
    spreads, differences = np.sqrt(squares / freedom), ours.mean(axis=1) - theirs.mean(axis=1)
    known = spreads > NO_SPREAD * np.abs(theirs.mean(axis=1))
    return [float(exact * differences[row] / spreads[row]) if known[row] else None for row in range(len(ours))]


def plain_ratio(pair: Pair, *, of_medians: bool = False) -> Ratio | None:
    """Return a ratio without an interval; None where the baseline is 0, or a value has no logarithm."""
    middle = statistics.median if of_medians else statistics.fmean
    ours, theirs = (sorted(side) for side in pair)
    if not ours or not theirs or middle(theirs) == 0:
        return None
    if min(len(ours), len(theirs)) >= ENOUGH and min(ours[0], theirs[0]) <= 0:
        return None
    return Ratio(middle(ours) / middle(theirs), method="medians" if of_medians else "means")


def _of_one_shape(pairs: Sequence[Pair], of_medians: bool) -> Iterable[Ratio]:
    import numpy as np

    values = [np.array([sorted(pair[side]) for pair in pairs]) for side in (0, 1)]
    ours, theirs = (np.log(side) for side in values)
    ranks = of_medians or min(ours.shape[1], theirs.shape[1]) >= ENOUGH_FOR_SHAPE
    chosen = np.flatnonzero(_for_bootstrap(ours, theirs, of_medians))
    drawn = dict(zip(chosen.tolist(), _bootstrap(ours[chosen], theirs[chosen]), strict=True))
    sizes = [None] * len(pairs) if of_medians else hedges_g(*values)
    for place, (plain, size) in enumerate(zip(_welch(ours, theirs), sizes, strict=True)):
        other = drawn.get(place)
        if other is None:
            yield replace(plain, effect_size=size)
        elif ranks:
            yield replace(other, p=_mann_whitney(ours[place], theirs[place]), effect_size=size)
        else:
            yield replace(max(plain, other, key=_width), p=plain.p, effect_size=size)


def _for_bootstrap(ours: "Rows", theirs: "Rows", of_medians: bool) -> Any:
    import numpy as np

    fewest = min(ours.shape[1], theirs.shape[1])
    if of_medians or ENOUGH_FOR_BOOTSTRAP <= fewest < ENOUGH_FOR_SHAPE:
        return np.ones(len(ours), dtype=bool)
    return _skewed(ours) | _skewed(theirs) if fewest >= ENOUGH_FOR_SHAPE else np.zeros(len(ours), dtype=bool)


def _width(ratio: Ratio) -> float:
    return (ratio.high or 0) / (ratio.low or 1)


def _skewed(logs: "Rows") -> Any:
    from scipy import stats  # lazily: it takes more than a second to import

    with warnings.catch_warnings(action="ignore"):  # rows without spread give no number, so they are not skewed
        return stats.skewtest(logs, axis=1).pvalue < ALPHA


def _welch(ours: "Rows", theirs: "Rows") -> list[Ratio]:
    import numpy as np
    from scipy import stats

    differences = ours.mean(axis=1) - theirs.mean(axis=1)
    flat = (np.ptp(ours, axis=1) <= NO_SPREAD) & (np.ptp(theirs, axis=1) <= NO_SPREAD)
    with warnings.catch_warnings(action="ignore"):  # of rows without spread, which are answered by themselves
        test = stats.ttest_ind(ours, theirs, axis=1, equal_var=False)
        interval = test.confidence_interval(LEVEL)
    low, high = (np.where(flat, differences, bound) for bound in (interval.low, interval.high))
    p = np.where(flat, (np.abs(differences) <= NO_SPREAD).astype(float), test.pvalue)
    figures = zip(np.exp(differences), np.exp(low), np.exp(high), p, strict=True)
    return [Ratio(float(r), float(a), float(b), "welch", float(p)) for r, a, b, p in figures]


def _bootstrap(ours: "Rows", theirs: "Rows") -> Iterable[Ratio]:
    """Return ratios with bootstrap intervals; all pairs of one shape share the same resamples."""
    step = max(1, AT_ONCE // (RESAMPLES * (ours.shape[1] + theirs.shape[1])))
    for start in range(0, len(ours), step):
        yield from _drawn(ours[start : start + step], theirs[start : start + step])


def _drawn(ours: "Rows", theirs: "Rows") -> Iterable[Ratio]:
    """Return ratios with BCa intervals, or percentile intervals of the same resamples where BCa has none."""
    import numpy as np
    from scipy import stats

    def difference(a: "Rows", b: "Rows", axis: int) -> Any:  # always the last
        return _medians(a) - _medians(b)

    data, options = (ours, theirs), {"axis": 1, "vectorized": True, "confidence_level": LEVEL}
    with warnings.catch_warnings(action="ignore"):  # of rows whose resamples are all the same
        draws = stats.bootstrap(
            data, difference, n_resamples=RESAMPLES, method="BCa", rng=np.random.default_rng(SEED), **options
        )
        plain = stats.bootstrap(
            data, difference, n_resamples=0, method="percentile", bootstrap_result=draws, **options
        ).confidence_interval
    bounds = (np.where(np.isfinite(a), a, b) for a, b in zip(draws.confidence_interval, plain, strict=True))
    for middle, low, high in zip(difference(ours, theirs, axis=1), *bounds, strict=True):
        yield Ratio(math.exp(middle), math.exp(low), math.exp(high), "bootstrap")


def _medians(rows: "Rows") -> Any:
    """Return medians along the last axis.

    `np.median` gives the same and takes 70 ms where this takes 28 (2,000 resamples of six runs, 320 cells).
    """
    import numpy as np

    ordered, n = np.sort(rows, axis=-1), rows.shape[-1]
    return (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2


def _mann_whitney(ours: "Rows", theirs: "Rows") -> float:
    from scipy import stats

    return float(stats.mannwhitneyu(ours, theirs).pvalue)
