"""Two modes in one cell: runs that fall into two groups have no one speed, and a mean between them was never measured.

Hartigan's dip (Annals of Statistics 13, 1985) measures how far the values are from any distribution with one mode;
its significance is taken from seeded samples of the uniform distribution, the hardest one with one mode: one table for
all cells of a size, where SciPy's `monte_carlo_test` would draw 499 samples for each. The dip and
not a mixture of normals, because skewed values and outliers are no second mode. The one library that has it is under
the GPL, so it is computed here from its definition.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENOUGH = 8  # values; with fewer not even two clean halves can be told from chance
SMALLEST = 3  # runs in a mode: fewer are outliers
APART = 0.75  # of the variance lies between the modes; of a uniform distribution's it is just this much
ALPHA = 0.05
SAMPLES = 499
SEED = 19_850_301
LARGEST = 200  # from here on the dip shrinks with the root of n, so one table serves


@dataclass(frozen=True)
class Mode:
    """`n` runs around `value`, their median, in base units."""

    n: int
    value: float


def modes(values: Sequence[float]) -> tuple[Mode, ...]:
    """Return two modes, or none where the values may well have one."""
    ordered = sorted(values)
    split = _split(ordered)
    if split is None or dip_p(ordered) >= ALPHA:
        return ()
    return tuple(Mode(len(side), statistics.median(side)) for side in (ordered[:split], ordered[split:]))


def _split(ordered: Sequence[float]) -> int | None:
    """Return where the two groups with the least inner variance meet; None where they are not separated."""
    n = len(ordered)
    if n < ENOUGH or ordered[0] == ordered[-1]:
        return None
    mean = statistics.fmean(ordered)
    sums = list(accumulate(value - mean for value in ordered))
    between = {left: sums[left - 1] ** 2 * n / (left * (n - left)) for left in range(SMALLEST, n - SMALLEST + 1)}
    best = max(between, key=between.__getitem__)
    return best if between[best] > APART * sum((value - mean) ** 2 for value in ordered) else None


def dip_p(ordered: Sequence[float]) -> float:
    """Return the probability that values with one mode have a dip this large."""
    n = len(ordered)
    table = _uniform(min(n, LARGEST))
    scaled = dip(ordered) * math.sqrt(n / min(n, LARGEST))
    return (1 + sum(simulated >= scaled for simulated in table)) / (1 + len(table))


@lru_cache(maxsize=256)
def _uniform(n: int) -> tuple[float, ...]:
    import numpy as np

    samples = np.sort(np.random.default_rng([SEED, n]).random((SAMPLES, n)), axis=1)
    return tuple(dip(sample) for sample in samples)


def dip(ordered: Sequence[float]) -> float:
    """Return Hartigan's dip of values in ascending order (Hartigan and Hartigan, Annals of Statistics 13, 1985).

    That is half of the distance between the empirical distribution and the closest unimodal one: between the greatest
    convex minorant up to a modal interval and the least concave majorant after it. At least 1 / 2n.
    """
    import numpy as np

    x, counts = np.unique(np.asarray(ordered, dtype=float), return_counts=True)
    top = np.cumsum(counts) / len(ordered)
    bottom = top - counts / len(ordered)
    low, high, width = 0, len(x) - 1, 1 / len(ordered)
    while high > low:
        part = slice(low, high + 1)
        convex, below = _hull(x[part], bottom[part])
        concave, above = _hull(x[part], -top[part])
        distances = -concave - convex
        at_below, at_above = below[np.argmax(distances[below])], above[::-1][np.argmax(distances[above[::-1]])]
        if distances[at_above] > distances[at_below]:
            start, end = below[below <= at_above][-1], at_above
        else:
            start, end = at_below, above[above >= at_below][0]
        if max(distances[at_below], distances[at_above]) <= width:
            break
        left = (top[part] - convex)[:start]
        right = (-concave - bottom[part])[end + 1 :]
        width = max(width, *left, *right)
        low, high = low + int(start), low + int(end)
    return float(width) / 2


def _hull(x: "NDArray[Any]", y: "NDArray[Any]") -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return the greatest convex minorant of the points, at each of them, and the places where it touches.

    SciPy's `isotonic_regression` of the slopes touches in the same places; for ten values, as most cells have, it
    takes twice as long (51 ms for 500 dips against 26).
    """
    import numpy as np

    hull: list[int] = []
    at, height = x.tolist(), y.tolist()
    for last in range(len(at)):
        while len(hull) > 1:
            first, middle = hull[-2:]
            straight = (height[last] - height[first]) * (at[middle] - at[first])
            if (height[middle] - height[first]) * (at[last] - at[first]) < straight:
                break
            hull.pop()
        hull.append(last)
    touching = np.array(hull)
    return np.interp(x, x[touching], y[touching]), touching
