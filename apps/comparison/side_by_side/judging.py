"""All ratios to the baseline at once, from sums that the database made. Pure; arrays, one value for each cell.

Welch's t on logarithms, so the ratio is one of geometric means; Holm's correction for all cells of the table. The same
arithmetic as `apps.comparison.ratios` for pairs that need no bootstrap; a test holds one against the other. SciPy's own
test from sums, `ttest_ind_from_stats`, gives no interval and no degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.cells import Verdict
from apps.comparison.judging import verdict_of
from apps.comparison.ratios import NO_SPREAD, holm
from apps.comparison.statistics import ENOUGH
from apps.lib.student import LEVEL


@dataclass(frozen=True, slots=True)
class Judged:
    """Values ÷ baseline with their 95 % intervals; arrays of one length, no interval and no p (NaN) where there are fewer than three runs."""

    ratio: Any
    low: Any
    high: Any
    p: Any
    verdicts: list[Verdict]


def judged(ours: Any, theirs: Any, higher_is_better: Sequence[bool]) -> Judged:
    """Arrays of three rows, one column for each cell: how many values above zero, mean and variance (n - 1) of their natural logarithms."""
    import numpy as np

    difference = ours[1] - theirs[1]
    tested = (ours[0] >= ENOUGH) & (theirs[0] >= ENOUGH)
    half, p = np.full((2, len(difference)), np.nan)
    half[tested], p[tested] = _welch(ours[:, tested], theirs[:, tested], difference[tested])
    low, high = np.exp(difference - half), np.exp(difference + half)
    adjusted = np.full(len(difference), np.nan)
    adjusted[tested] = holm(p[tested])
    verdicts = [
        verdict_of(*one) if enough else Verdict.TOO_FEW
        for enough, *one in zip(
            tested.tolist(), low.tolist(), high.tolist(), adjusted.tolist(), higher_is_better, strict=True
        )
    ]
    return Judged(np.exp(difference), low, high, p, verdicts)


def _welch(ours: Any, theirs: Any, difference: Any) -> tuple[Any, Any]:
    """Half of the interval of the difference of logarithms, and p; of three values or more on both sides."""
    import numpy as np
    from scipy.special import stdtr, stdtrit

    with np.errstate(all="ignore"):  # of cells without spread, which are answered below
        mine, other = ours[2] / ours[0], theirs[2] / theirs[0]
        error = np.sqrt(mine + other)
        freedom = (mine + other) ** 2 / (mine**2 / (ours[0] - 1) + other**2 / (theirs[0] - 1))
        half = stdtrit(freedom, (1 + LEVEL) / 2) * error
        p = 2 * stdtr(freedom, -np.abs(difference / error))
    flat = error <= NO_SPREAD
    return np.where(flat, 0.0, half), np.where(flat, np.abs(difference) <= NO_SPREAD, p)
