"""All ratios to the baseline at once, from sums that the database made. Pure; arrays, one value for each cell.

Welch's t on logarithms, so the ratio is one of geometric means; Holm's correction for all cells of the table. The same
arithmetic as `apps.comparison.ratios` for pairs that need no bootstrap; a test holds one against the other.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from apps.comparison.cells import Verdict
from apps.comparison.judging import verdict_of
from apps.comparison.ratios import NO_SPREAD, holm
from apps.comparison.statistics import ENOUGH, LEVEL


class Logs(msgspec.Struct, frozen=True, gc=False):
    """n values above zero: mean and variance (n - 1) of their natural logarithms."""

    n: int
    mean: float
    variance: float


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """Value ÷ baseline with its 95 % interval; no interval and no p where there are fewer than three runs."""

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    verdict: Verdict


def judged(pairs: Sequence[tuple[Logs, Logs]], higher_is_better: Sequence[bool]) -> list[Judgement]:
    """One for each (values, baseline)."""
    if not pairs:
        return []
    import numpy as np

    ours, theirs = _arrays(pairs)
    difference = ours[1] - theirs[1]
    tested = (ours[0] >= ENOUGH) & (theirs[0] >= ENOUGH)
    half, p = _welch(ours, theirs, difference)
    adjusted = np.ones(len(pairs))
    adjusted[tested] = holm(p[tested].tolist())
    figures = zip(
        np.exp(difference).tolist(), np.exp(difference - half).tolist(), np.exp(difference + half).tolist(),
        p.tolist(), adjusted.tolist(), tested.tolist(), higher_is_better, strict=True,
    )  # fmt: skip
    return [_judgement(*one) for one in figures]


def _arrays(pairs: Sequence[tuple[Logs, Logs]]) -> Any:
    """Two sides, three rows in each: n, means and variances."""
    import numpy as np

    numbers = [number for pair in pairs for one in pair for number in (one.n, one.mean, one.variance)]
    return np.array(numbers, dtype=float).reshape(-1, 2, 3).transpose(1, 2, 0)


def _welch(ours: tuple[Any, Any, Any], theirs: tuple[Any, Any, Any], difference: Any) -> tuple[Any, Any]:
    """Half of the interval of the difference of logarithms, and p."""
    import numpy as np
    from scipy.special import stdtr, stdtrit

    with np.errstate(all="ignore"):  # cells without spread, or with one run, are answered below or have no interval
        shares = [variance / n for n, _, variance in (ours, theirs)]
        error = np.sqrt(shares[0] + shares[1])
        freedom = (shares[0] + shares[1]) ** 2 / sum(
            share**2 / (n - 1) for share, (n, _, _) in zip(shares, (ours, theirs), strict=True)
        )
        flat = error <= NO_SPREAD
        half = np.where(flat, 0.0, stdtrit(freedom, (1 + LEVEL) / 2) * error)
        p = np.where(
            flat, (np.abs(difference) <= NO_SPREAD).astype(float), 2 * stdtr(freedom, -np.abs(difference / error))
        )
    return half, p


def _judgement(
    ratio: float, low: float, high: float, p: float, adjusted: float, tested: bool, higher_is_better: bool
) -> Judgement:
    if not tested:
        return Judgement(ratio, None, None, None, Verdict.TOO_FEW)
    return Judgement(ratio, low, high, p, verdict_of(low, high, adjusted, higher_is_better))
