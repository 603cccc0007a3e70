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


def noise_of(values: "Values") -> float:
    """The standard deviation of one run, from the upper quartile of differences between runs.

    A step touches few differences, so it does not count; two modes in turn, or a rhythm of the day, touch many, so they
    do. Of several lags the largest answer is taken: a slow rhythm hides from neighbours. Never below 0.1 %.
    """
    import numpy as np

    lags = range(1, max(1, min(MOST_LAGS, len(values) // RUNS_FOR_A_LAG)) + 1)
    quartiles = [np.quantile(np.abs(values[lag:] - values[:-lag]), 0.75) for lag in lags]
    return max(float(max(quartiles)) / (QUARTILE * 2**0.5), LEAST)


def pulled_in(values: "Values", noise: float) -> "Values":
    """Values farther than 2.5 standard deviations from the median of their neighbours, moved to that distance: one
    wild run then weighs little in sums of squares (Huber's way), and a step stays a step.
    """
    import numpy as np

    padded = np.pad(values, REACH, mode="reflect")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * REACH + 1), axis=1)
    return np.clip(values, middle - FARTHEST * noise, middle + FARTHEST * noise)
