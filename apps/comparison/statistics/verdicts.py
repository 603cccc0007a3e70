"""Ratio, significance, effect and advice for all cells of a comparison together: the correction for many cells needs them at once."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.cells import Correction, Verdict, Withheld
from apps.comparison.statistics.ratios import (
    ALPHA,
    ENOUGH_FOR_BOOTSTRAP,
    NO_SPREAD,
    Pair,
    Ratio,
    holm,
    plain_ratio,
    ratios,
)
from apps.comparison.statistics.summary import ENOUGH

MOST = 100  # more runs than this are not advised
POWER = 0.8


@dataclass(frozen=True)
class Advice:
    """`more_runs` of this series and of the baseline each; None where not even `MOST` would do."""

    more_runs: int | None
    text: str


def to_an_interval(n: int, baseline: int, enough: int) -> Advice:
    """Advise on the runs that an interval needs; below `enough` runs nothing is known of the spread."""
    lacking = {"this series": enough - n, "the baseline": enough - baseline}
    parts = [f"{_runs(missing)} of {whose}" for whose, missing in lacking.items() if missing > 0]
    return Advice(max(lacking.values()), f"{' and '.join(parts)} would give an interval")


def to_a_verdict(values: Sequence[float], baseline: Sequence[float], alpha: float) -> Advice:
    """Advise on the fewest more runs that would show this difference.

    That is with which Welch's test on logarithms, at `alpha`, has a power of 80 %, if difference and spread stay as
    they are. Values are positive, and at least three on each side.
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
    """Return the power of Welch's two-sided test with `more` runs on each side, by the noncentral t distribution."""
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


Key = tuple[Any, str]
NO_LOGARITHM = "No ratio: a run of 0 or less has no logarithm"
Reasons = Mapping[Key, tuple[Withheld, str]]


def judge_cells(
    values: Mapping[Key, Sequence[float]],
    baseline: str | None,
    *,
    higher_is_better: bool,
    of_medians: bool,
    withheld: Reasons | None = None,
) -> tuple[dict[Key, dict[str, Any]], Correction | None]:
    """Return the fields of each cell's judgement but the baseline's; empty where there is no baseline.

    `withheld` has cells that are not tested, each with the reason and a sentence.
    """
    withheld = withheld or {}
    pairs: dict[Key, Pair] = {
        key: (own, theirs)
        for key, own in values.items()
        if baseline and own and key[1] != baseline and (theirs := values[key[0], baseline])
    }
    repeated = {key: pair for key, pair in pairs.items() if key not in withheld}
    ratios_found = dict(zip(repeated, ratios(list(repeated.values()), of_medians=of_medians), strict=True))
    tested = {key: ratio.p for key, ratio in ratios_found.items() if ratio and ratio.p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    fields = {}
    for key, ratio in ratios_found.items():
        if ratio:
            verdict = verdict_of(ratio.low, ratio.high, adjusted.get(key), higher_is_better)
            advice = _advice(pairs[key], verdict, ENOUGH_FOR_BOOTSTRAP if of_medians else ENOUGH, len(tested))
            fields[key] = _fields(ratio, adjusted.get(key), verdict, advice)
        else:
            fields[key] = {"advice": NO_LOGARITHM}
    for key in pairs.keys() - repeated.keys():
        fields[key] = _untested(*withheld[key], plain_ratio(pairs[key], of_medians=of_medians))
    return fields, Correction("Holm", len(tested), ALPHA) if tested else None


def verdict_of(low: float | None, high: float | None, p_adjusted: float | None, higher_is_better: bool) -> Verdict:
    """Return the verdict; a difference must show in the cell's own interval and after the correction for all cells."""
    if low is None or high is None or p_adjusted is None:
        return Verdict.TOO_FEW
    if p_adjusted >= ALPHA or low <= 1 <= high:
        return Verdict.NO_DIFFERENCE
    return Verdict.BETTER if (low > 1) == higher_is_better else Verdict.WORSE


def _advice(pair: Pair, verdict: Verdict, enough: int, tests: int) -> Advice | None:
    ours, theirs = pair
    if verdict is Verdict.TOO_FEW:
        return to_an_interval(len(ours), len(theirs), enough)
    if verdict is Verdict.NO_DIFFERENCE:
        return to_a_verdict(ours, theirs, ALPHA / tests)
    return None


def _untested(reason: Withheld, sentence: str, ratio: Ratio | None) -> dict[str, Any]:
    """Return the fields of an untested cell; a mixture has no ratio, because it would be read as an answer."""
    fields = {"withheld": reason, "advice": sentence}
    return (
        fields | {"ratio": ratio.ratio, "method": ratio.method} if ratio and reason is Withheld.CONFOUNDED else fields
    )


def _fields(ratio: Ratio, p_adjusted: float | None, verdict: Verdict, advice: Advice | None) -> dict[str, Any]:
    return {
        "ratio": ratio.ratio,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "method": ratio.method,
        "effect_size": ratio.effect_size,
        "p": ratio.p,
        "p_adjusted": p_adjusted,
        "verdict": verdict,
        "more_runs": advice.more_runs if advice else None,
        "advice": advice.text if advice else "",
    }
