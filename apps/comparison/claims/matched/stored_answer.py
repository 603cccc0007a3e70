"""An answer to a claim's question as JSON, and back: what was computed once is what page, REST and wiki show.

    stored = stored_of(answer, contrast)
    answer_of(stored), contrast_of(stored)

Sets keep the moments of their sides, so ratios and intervals come from the same code as on the page of the question.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast, MatchedFinding, StratumEffect
from apps.comparison.like_for_like.dependence import Dependence
from apps.comparison.like_for_like.nearest import MissingRuns, NearestPair
from apps.comparison.like_for_like.run_group import RunGroup
from apps.comparison.like_for_like.strata import Stratum, StratumSide
from apps.comparison.statistics.meta_analysis import Combination, Moments

Json = dict[str, Any]
MOST_SETS = 100  # those with most runs; the combined effect is of all
MOST_VALUES = 3  # of a fact that differs, of each side


def stored_of(answer: FactorAnswer, contrast: LevelContrast | None) -> Json:
    """Return what a claim keeps of its question's answer."""
    return {
        "factor": answer.factor, "operation": answer.operation, "metric": answer.metric,
        "held": list(answer.held), "ignored": list(answer.ignored), "nowhere": list(answer.nowhere),
        "candidates": dict(answer.candidates or {}), "tests": answer.tests,
        "contrast": _contrast(contrast) if contrast else None,
        "nearest": [
            {"levels": list(pair.levels), "groups": [_group(group) for group in pair.groups],
             "differs": list(pair.differs), "unknown": list(pair.unknown)}
            for pair in answer.nearest
        ],
        "missing": [
            {"n": missing.n, "level": missing.level, "like": _group(missing.like), "changed": list(missing.changed)}
            for missing in answer.missing
        ],
    }  # fmt: skip


def _contrast(contrast: LevelContrast) -> Json:
    return {
        "level": contrast.level, "against": contrast.against, "finding": contrast.finding.value,
        "p_adjusted": contrast.p_adjusted,
        "combination": _without_infinity(asdict(contrast.combination)) if contrast.combination else None,
        "dependence": asdict(contrast.dependence) if contrast.dependence else None,
        "sets": [_set(effect) for effect in contrast.effects[:MOST_SETS]],
        "sets_left_out": max(0, len(contrast.effects) - MOST_SETS),
    }  # fmt: skip


def _set(effect: StratumEffect) -> Json:
    stratum = effect.stratum
    sides = {level: stratum.sides[level] for level in (effect.level, effect.against)}
    return {
        "facts": dict(stratum.facts), "part": dict(stratum.part), "unknown": list(stratum.unknown),
        "sizes": stratum.sizes,
        "differs": {name: [_values(side, name) for side in sides.values()] for name in stratum.differs},
        "sides": {
            level: {"n": side.n, "mean": side.logs.mean, "variance": side.logs.variance, "runs": list(side.runs),
                    "began": side.began, "ended": side.ended}
            for level, side in sides.items()
        },
    }  # fmt: skip


def _values(side: StratumSide, name: str) -> list[str]:
    values = sorted({group.facts[name] for group in side.groups if name in group.facts})
    return values[:MOST_VALUES]


def _group(group: RunGroup) -> Json:
    return {
        "configuration": dict(group.configuration), "point": dict(group.point), "target": group.target,
        "n": group.n, "mean": group.logs.mean, "runs": list(group.runs[-1:]),
        "texts": {name: group.texts[name] for name in ("target", "tool") if group.texts.get(name)},
    }  # fmt: skip


def _without_infinity(values: Json) -> Json:
    def finite(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        return [finite(item) for item in value] if isinstance(value, tuple) else value

    return {name: finite(value) for name, value in values.items()}


def contrast_of(stored: Mapping[str, Any]) -> LevelContrast | None:
    """Return the contrast of a stored answer; None where no set had both levels."""
    kept = stored.get("contrast")
    if not kept:
        return None
    level, against = kept["level"], kept["against"]
    dependence = kept["dependence"]
    return LevelContrast(
        level,
        against,
        tuple(_effect(one, level, against) for one in kept["sets"]),
        _combination(kept["combination"]),
        MatchedFinding(kept["finding"]),
        kept["p_adjusted"],
        Dependence(
            dependence["fact"],
            dependence["share"],
            tuple((value, ratio) for value, ratio in dependence["values"]),
            tuple((value, low, high) for value, low, high in dependence.get("ranges", ())),
        )
        if dependence
        else None,
    )


def _combination(kept: Json | None) -> Combination | None:
    if kept is None:
        return None
    numbers = {name: _number(value) for name, value in kept.items() if name not in ("method", "prediction")}
    prediction = tuple(map(_number, kept["prediction"])) if kept["prediction"] else None
    return Combination(**numbers, method=kept["method"], prediction=prediction)


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value


def _effect(kept: Json, level: str, against: str) -> StratumEffect:
    sides = {}
    for place, (name, side) in enumerate(kept["sides"].items()):
        own = {fact: values[place][0] for fact, values in kept["differs"].items() if len(values[place]) == 1}
        sides[name] = _side(name, side, {**kept["facts"], **own})
    stratum = Stratum(
        kept["facts"], sides, tuple(kept["unknown"]), tuple(kept["differs"]), kept["sizes"], part=kept.get("part", {})
    )
    return StratumEffect(stratum, level, against, stratum.effect(level, against))


def _side(level: str, kept: Json, facts: Mapping[str, str]) -> StratumSide:
    moments = Moments(kept["n"], kept["mean"], kept["variance"])
    group = RunGroup(facts, moments, runs=tuple(kept["runs"]), began=kept["began"], ended=kept["ended"])
    return StratumSide(level, (group,))


def answer_of(stored: Mapping[str, Any]) -> FactorAnswer:
    """Return the answer about the claim's two levels, as far as it is kept."""
    contrast = contrast_of(stored)
    differs = {name for effect in contrast.effects for name in effect.stratum.differs} if contrast else set()
    return FactorAnswer(
        stored["factor"],
        stored["operation"],
        stored["metric"],
        contrasts=(contrast,) if contrast else (),
        strata=tuple(effect.stratum for effect in contrast.effects) if contrast else (),
        held=tuple(stored["held"]),
        implied=tuple(sorted(differs)),
        ignored=tuple(stored["ignored"]),
        nowhere=tuple(stored["nowhere"]),
        candidates=stored["candidates"],
        nearest=tuple(
            NearestPair(
                (pair["levels"][0], pair["levels"][1]), (_kept_group(pair["groups"][0]), _kept_group(pair["groups"][1])),
                tuple(pair["differs"]), tuple(pair["unknown"]),
            )
            for pair in stored["nearest"]
        ),
        missing=tuple(
            MissingRuns(missing["n"], missing["level"], _kept_group(missing["like"]), tuple(missing["changed"]))
            for missing in stored["missing"]
        ),
        tests=stored["tests"],
    )  # fmt: skip


def _kept_group(kept: Json) -> RunGroup:
    return RunGroup(
        kept["configuration"], Moments(kept["n"], kept["mean"]), kept["point"], tuple(kept["runs"]), kept["target"],
        texts=kept["texts"],
    )  # fmt: skip
