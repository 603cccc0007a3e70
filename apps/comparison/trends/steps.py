"""Where the level of a series changes: PELT (Killick, Fearnhead and Eckley 2012) by the library ruptures, exact, on
values that `noise.py` has pulled in, so that its squares are robust.

The penalty of one change is `3.3 ln(max(n, 50)) (1 + 10 / n) noise²`. BIC asks 2 ln n; the rest pays for looking again
after every run, and the last factor for a noise that is known from few runs. Chosen by simulation with normal values
(`tests/comparison/trends/test_detection.py` repeats it): of 1,000 series of 200 runs of pure noise none alarms when
looked at once, and 1 in 20 when looked at after every run; a step of 10 % at 3 % of noise, after 100 runs, is found
with three runs after it in 87 of 100 series, with four in 97, with five in 99.

Many small steps in one direction are drift, not steps: steps on what a straight line leaves are tried as well, and win
when they explain more than steps alone, with the line paid for like one step.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from apps.comparison.trends.noise import noise_of, pulled_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[Any]

FEWEST = 10  # runs, to look for changes at all
SHORTEST = 3  # runs of one level
FEWEST_FOR_DRIFT = 20
FACTOR = 3.3
FLOOR = 50
FOR_FEW = 10


@dataclass(frozen=True)
class Steps:
    """Places where a new level begins, the slope of the line between them (of logarithms, per run), the noise."""

    places: tuple[int, ...]
    slope: float
    noise: float


def steps(logs: "Values", noise: float | None = None) -> Steps:
    """In logarithms of at least `FEWEST` values. `noise`: where it is known from more runs than these."""
    spread = noise_of(logs) if noise is None else noise
    robust = pulled_in(logs, spread)
    penalty = penalty_of(len(logs), spread)
    cost, places = _explained(robust, penalty)
    if len(logs) >= FEWEST_FOR_DRIFT:
        slope = _slope(robust)
        other, others = _explained(robust - slope * _numbers(robust), penalty)
        if other + penalty < cost:
            return Steps(others, slope, spread)
    return Steps(places, 0.0, spread)


def penalty_of(n: int, noise: float) -> float:
    return FACTOR * math.log(max(n, FLOOR)) * (1 + FOR_FEW / n) * noise**2


def _explained(values: "Values", penalty: float) -> tuple[float, tuple[int, ...]]:
    """What is left plus what the changes cost, and the changes."""
    from ruptures import KernelCPD  # lazily: most pages need none of it

    centred = values - values.mean()
    found = KernelCPD(kernel="linear", min_size=SHORTEST).fit(centred.reshape(-1, 1)).predict(pen=penalty)
    places = tuple(int(place) for place in found[:-1])
    edges = (0, *places, len(values))
    left = sum(float(values[a:b].var()) * (b - a) for a, b in pairwise(edges))
    return left + penalty * len(places), places


def _slope(values: "Values") -> float:
    """The middle one of the slopes between runs that are half the series apart."""
    import numpy as np

    half = len(values) // 2
    return float(np.median(values[half:] - values[:-half])) / half


def _numbers(values: "Values") -> Any:
    import numpy as np

    return np.arange(len(values))
