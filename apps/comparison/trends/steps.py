"""Where the level of a series changes: PELT (Killick, Fearnhead and Eckley 2012) by the library ruptures, exact, on
values that `noise.py` has pulled in, so that its squares are robust.

The penalty of one change is `3.6 ln(max(n, 50)) (1 + 10 / n) noise²`. BIC asks 2 ln n; the rest pays for looking again
after every run, and the last factor for a noise that is known from few runs. Chosen by simulation with normal values
(`tests/comparison/trends/test_detection.py` repeats it): of 2,000 series with a step of 10 % at 3 % of noise after 100
runs, 93 % are found with three runs after it and 99 % with four; of series of 200 runs of pure noise that are looked at after
every run, 4 to 5 in 100 alarm. With mean and noise known exactly, three runs would show it in about 97 %.

A new level is told when at least three runs hold it: two wild nights are none, but for 1 to 4 in 100 cases.

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
    """In logarithms of at least `FEWEST` values. `noise`: where it is known from more runs than these."""
    spread = noise_of(logs) if noise is None else noise
    robust = pulled_in(logs, spread)
    penalty = penalty_of(len(logs), spread)
    cost, places = _explained(robust, penalty)
    if len(logs) >= FEWEST_FOR_DRIFT:
        slope = _slope(robust)
        line = slope * _numbers(robust)
        other, others = _explained(robust - line, penalty)
        if other + penalty < cost:
            return Steps(_held(logs - line, others, spread), slope, spread)
    return Steps(_held(logs, places, spread), 0.0, spread)


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


def _held(logs: "Values", places: tuple[int, ...], noise: float) -> tuple[int, ...]:
    """Without the newest places, as long as the runs since then are no level: fewer than `SHORTEST` are alike, or their
    middle is where it was before.
    """
    import numpy as np

    if not places:
        return places
    before, newest = logs[(0, *places)[-2] : places[-1]], logs[places[-1] :]
    middle = np.median(newest)
    are_alike = np.count_nonzero(np.abs(newest - middle) <= ALIKE * noise) >= SHORTEST
    is_elsewhere = abs(middle - np.median(before)) > ELSEWHERE * noise / math.sqrt(len(newest))
    return places if are_alike and is_elsewhere else _held(logs, places[:-1], noise)


def _slope(values: "Values") -> float:
    """The middle one of the slopes between runs that are half the series apart."""
    import numpy as np

    half = len(values) // 2
    return float(np.median(values[half:] - values[:-half])) / half


def _numbers(values: "Values") -> Any:
    import numpy as np

    return np.arange(len(values))
