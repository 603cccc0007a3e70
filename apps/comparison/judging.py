"""Ratio, significance, effect and advice for all cells of a comparison together: the correction for many cells needs
them at once.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from apps.comparison.advice import Advice, to_a_verdict, to_an_interval
from apps.comparison.cells import Correction, Verdict
from apps.comparison.ratios import ALPHA, ENOUGH_FOR_BOOTSTRAP, Pair, Ratio, holm, plain_ratio, ratios
from apps.comparison.statistics import ENOUGH

Key = tuple[Any, str]
NO_LOGARITHM = "No ratio: a run of 0 or less has no logarithm"
POOLED = "Not tested: this cell or the baseline's has several points, which are no repetitions"


def judged(
    values: Mapping[Key, Sequence[float]],
    baseline: str | None,
    *,
    higher_is_better: bool,
    of_medians: bool,
    pooled: Set[Key] = frozenset(),
) -> tuple[dict[Key, dict[str, Any]], Correction | None]:
    """For each cell but the baseline's the fields of its judgement; empty where there is nothing to hold it against.
    `pooled`: cells of several points, which have a ratio and no test.
    """
    pairs: dict[Key, Pair] = {
        key: (own, theirs)
        for key, own in values.items()
        if baseline and own and key[1] != baseline and (theirs := values[key[0], baseline])
    }
    repeated = {key: pair for key, pair in pairs.items() if not {key, (key[0], baseline)} & pooled}
    found = dict(zip(repeated, ratios(list(repeated.values()), of_medians=of_medians), strict=True))
    tested = {key: one.p for key, one in found.items() if one and one.p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    fields = {}
    for key, one in found.items():
        if one:
            verdict = verdict_of(one.low, one.high, adjusted.get(key), higher_is_better)
            advice = _advice(pairs[key], verdict, ENOUGH_FOR_BOOTSTRAP if of_medians else ENOUGH, len(tested))
            fields[key] = _fields(one, adjusted.get(key), verdict, advice)
        else:
            fields[key] = {"advice": NO_LOGARITHM}
    for key in pairs.keys() - repeated.keys():
        fields[key] = _of_pooled(plain_ratio(pairs[key], of_medians=of_medians))
    return fields, Correction("Holm", len(tested), ALPHA) if tested else None


def verdict_of(low: float | None, high: float | None, p_adjusted: float | None, higher_is_better: bool) -> Verdict:
    """A difference must show in the interval of its own cell, and after the correction for all cells."""
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


def _of_pooled(found: Ratio | None) -> dict[str, Any]:
    return {"ratio": found.ratio, "method": found.method, "advice": POOLED} if found else {"advice": NO_LOGARITHM}


def _fields(found: Ratio, p_adjusted: float | None, verdict: Verdict, advice: Advice | None) -> dict[str, Any]:
    return {
        "ratio": found.ratio,
        "ratio_low": found.low,
        "ratio_high": found.high,
        "method": found.method,
        "effect_size": found.effect_size,
        "p": found.p,
        "p_adjusted": p_adjusted,
        "verdict": verdict,
        "more_runs": advice.more_runs if advice else None,
        "advice": advice.text if advice else "",
    }
