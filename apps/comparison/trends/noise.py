"""How much a configuration's values scatter by themselves, whatever steps are in them. On logarithms, so that 0.03 is
three per cent.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[Any]

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
    """The standard deviation of one run, from the differences between runs; never below 0.1 %.

    A step touches few differences and each counts for 2.5 standard deviations at most, so it hardly counts; two modes in
    turn, or a rhythm of the day, touch many, so they do. The answers of several lags are averaged, which steadies them,
    unless one stands out: a slow rhythm hides from neighbours, and then the largest is taken.
    """
    lags = range(1, max(1, min(MOST_LAGS, len(values) // RUNS_FOR_A_LAG)) + 1)
    found = [_scale_of(values[lag:] - values[:-lag]) / 2**0.5 for lag in lags]
    mean, most = sum(found) / len(found), max(found)
    return max(most if most > APART * mean else mean, LEAST)


def _scale_of(differences: "Values") -> float:
    """Huber's Proposal 2 (Robust Estimation of a Location Parameter, 1964), begun from the upper quartile: twice as
    steady as the quartile itself.
    """
    import numpy as np

    sizes = np.abs(differences)
    scale = float(np.quantile(sizes, 0.75)) / QUARTILE
    for _ in range(ROUNDS):
        scale = float(np.sqrt(np.mean(np.minimum(sizes, FARTHEST * scale) ** 2) / SQUARED))
    return scale


def pulled_in(values: "Values", noise: float) -> "Values":
    """Values farther than 2.5 standard deviations from the median of their neighbours, moved to that distance: one
    wild run then weighs little in sums of squares (Huber's way), and a step stays a step.
    """
    import numpy as np

    padded = np.pad(values, REACH, mode="reflect")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * REACH + 1), axis=1)
    return np.clip(values, middle - FARTHEST * noise, middle + FARTHEST * noise)
