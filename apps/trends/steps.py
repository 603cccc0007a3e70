"""Where the level of a series changes, by PELT (Killick, Fearnhead and Eckley 2012).

The library ruptures computes it, exactly, on values clipped by `pulled_in`, so that squares are robust to outliers.

The penalty of one change is `3.6 ln(max(n, 50)) (1 + 10 / n) noise²`. BIC asks 2 ln n; the rest pays for looking again
after every run, and the last factor for a noise that is known from few runs. Chosen by simulation with normal values
(`tests/trends/test_detection.py` repeats it): of 2,000 series with a step of 10 % at 3 % of noise after 100
runs, 93 % are found with three runs after it and 99 % with four; of series of 200 runs of pure noise that are looked at after
every run, 4 to 5 in 100 alarm. With mean and noise known exactly, three runs would show it in about 97 %.

A new level is reported when at least three runs hold it: two wild nights are none, but for 1 to 4 in 100 cases.

Many small steps in one direction are drift, not steps: steps on what a straight line leaves are tried as well, and win
when they explain more than steps alone, with the line paid for like one step.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[Any]

FEWEST = 10  # runs, to look for changes at all
SHORTEST = 3  # runs of one level
FEWEST_FOR_DRIFT = 20
FACTOR = 3.6
FLOOR = 50
FOR_FEW = 10
ALIKE = 3.5  # standard deviations from the level's median: as far as a run may lie that holds it
ELSEWHERE = 2.5  # standard deviations of a mean: two medians that are nearer are one level


@dataclass(frozen=True)
class Steps:
    """Places where a new level begins, the slope of the line between them (of logarithms, per run), the noise."""

    places: tuple[int, ...]
    slope: float
    noise: float


def steps(logs: "Values", noise: float | None = None) -> Steps:
    """Find the changes of level in the logarithms of at least `FEWEST` values.

    `noise` is given where it is known from more runs than these.
    """
    spread = noise_of(logs) if noise is None else noise
    robust = pulled_in(logs, spread)
    penalty = penalty_of(len(logs), spread)
    cost, places = _explained(robust, penalty)
    if len(logs) >= FEWEST_FOR_DRIFT:
        slope = _slope(robust)
        line = slope * _numbers(robust)
        other, others = _explained(robust - line, penalty)
        if other + penalty < cost:
            return Steps(_drop_unsettled(logs - line, others, spread), slope, spread)
    return Steps(_drop_unsettled(logs, places, spread), 0.0, spread)


def penalty_of(n: int, noise: float) -> float:
    return FACTOR * math.log(max(n, FLOOR)) * (1 + FOR_FEW / n) * noise**2


def _explained(values: "Values", penalty: float) -> tuple[float, tuple[int, ...]]:
    """Return the cost (residual sum of squares plus the penalty of the changes) and the changes' places."""
    from ruptures import KernelCPD  # lazily: most pages need none of it

    centred = values - values.mean()
    breakpoints = KernelCPD(kernel="linear", min_size=SHORTEST).fit(centred.reshape(-1, 1)).predict(pen=penalty)
    places = tuple(int(place) for place in breakpoints[:-1])
    edges = (0, *places, len(values))
    left = sum(float(values[a:b].var()) * (b - a) for a, b in pairwise(edges))
    return left + penalty * len(places), places


def _drop_unsettled(logs: "Values", places: tuple[int, ...], noise: float) -> tuple[int, ...]:
    """Drop the newest places until the runs since the last one hold a level.

    They hold none where fewer than `SHORTEST` are alike, or their median is where it was before.
    """
    import numpy as np

    if not places:
        return places
    before, newest = logs[(0, *places)[-2] : places[-1]], logs[places[-1] :]
    middle = np.median(newest)
    are_alike = np.count_nonzero(np.abs(newest - middle) <= ALIKE * noise) >= SHORTEST
    is_elsewhere = abs(middle - np.median(before)) > ELSEWHERE * noise / math.sqrt(len(newest))
    return places if are_alike and is_elsewhere else _drop_unsettled(logs, places[:-1], noise)


def _slope(values: "Values") -> float:
    """Return the median slope between runs that are half the series apart, per run."""
    import numpy as np

    half = len(values) // 2
    return float(np.median(values[half:] - values[:-half])) / half


def _numbers(values: "Values") -> Any:
    import numpy as np

    return np.arange(len(values))


QUARTILE = 1.1503493803760083  # three quarters of normal values lie within so many standard deviations
MOST_LAGS = 8  # runs; a night's or a day's rhythm shows within them
RUNS_FOR_A_LAG = 12  # a step touches as many differences as the lag is long: they must stay the few
LEAST = 0.001  # of figures that are printed rounded, all may be the same
REACH = 3  # runs on either side, for the local middle
FARTHEST = 2.5  # standard deviations
SQUARED = 0.977503  # the mean of normal values' squares where those beyond 2.5 count as 2.5²
ROUNDS = 5  # until the scale stands still to a thousandth
APART = 1.25  # times the mean of all lags: chance alone does not do this


def noise_of(values: "Values") -> float:
    """Estimate the standard deviation of one run from the differences between runs; never below 0.1 %.

    A step touches few differences and each counts for 2.5 standard deviations at most, so it hardly counts; two modes
    in turn, or a rhythm of the day, touch many, so they do. The estimates of several lags are averaged, which
    steadies them, unless one stands out: a slow rhythm does not show between neighbours, and then the largest is
    taken.
    """
    lags = range(1, max(1, min(MOST_LAGS, len(values) // RUNS_FOR_A_LAG)) + 1)
    scales = [_scale_of(values[lag:] - values[:-lag]) / 2**0.5 for lag in lags]
    mean, most = sum(scales) / len(scales), max(scales)
    return max(most if most > APART * mean else mean, LEAST)


def _scale_of(differences: "Values") -> float:
    """Estimate the scale of differences by Huber's Proposal 2 (Robust Estimation of a Location Parameter, 1964).

    It starts from the upper quartile and is twice as steady.
    """
    import numpy as np

    sizes = np.abs(differences)
    scale = float(np.quantile(sizes, 0.75)) / QUARTILE
    for _ in range(ROUNDS):
        scale = float(np.sqrt(np.mean(np.minimum(sizes, FARTHEST * scale) ** 2) / SQUARED))
    return scale


def pulled_in(values: "Values", noise: float) -> "Values":
    """Clip values to 2.5 standard deviations from the median of their neighbours.

    One wild run then weighs little in sums of squares (Huber's way), and a step stays a step.
    """
    import numpy as np

    padded = np.pad(values, REACH, mode="reflect")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * REACH + 1), axis=1)
    return np.clip(values, middle - FARTHEST * noise, middle + FARTHEST * noise)
