"""The answer to one question: effects of a factor with everything else held equal, or why the data cannot give them.

Pure: page, REST, wiki and picture read the same object and compute nothing.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from apps.comparison.labels import natural
from apps.comparison.like_for_like.dependence import Dependence, find_dependence
from apps.comparison.like_for_like.fact_codes import FactCodes
from apps.comparison.like_for_like.mixtures import ENOUGH
from apps.comparison.like_for_like.nearest import MissingRuns, NearestPair, nearest_pairs, runs_for
from apps.comparison.like_for_like.run_group import MACHINE_FACTS, RunGroup
from apps.comparison.like_for_like.strata import (
    IDENTITIES,
    MOST_LEVELS,
    FactorRules,
    MovedFacts,
    Pair,
    Stratum,
    held_columns,
    strata,
)
from apps.comparison.statistics.meta_analysis import AGREE, Combination, LogRatio, combine, log_ratio
from apps.comparison.statistics.ratios import ALPHA, holm

# How facts matter, the first most: for nearest pairs, and between facts that explain a spread equally well.
ORDER = (
    "environment", "host", "machine", "interface", "disk_model", "disk_count", "raid_level", "raid_implementation",
    "controller_cache", "write_policy", "controller", "filesystem", "sync", "direct", "file_size", "block_size",
    "threads", "iodepth", "points", "ram", "cpu", "kernel", "chunk_size", "mount_options", "mkfs_options", "tool",
    "tool_version",
)  # fmt: skip

# Of facts that explain a spread equally well, a property before a name.
_PROPERTIES = ("controller_cache", "write_policy", "controller")
EXPLAIN = (*_PROPERTIES, *(name for name in ORDER if name not in ("host", "machine", *_PROPERTIES)))


class QuestionedFactor(FactorRules, Protocol):
    """What an answer needs of a factor: see `questions.factor.Factor`."""

    @property
    def name(self) -> str: ...
    @property
    def always(self) -> tuple[str, ...]: ...
    @property
    def first(self) -> tuple[str, ...]: ...
    @property
    def is_order_of_time(self) -> bool: ...


class MatchedFinding(StrEnum):
    """What the strata say of one level against another."""

    EFFECT = "effect"
    NO_EFFECT = "no difference shown"
    DEPENDS = "depends"
    TOO_FEW = "too few runs"


@dataclass(frozen=True)
class StratumEffect:
    """One level ÷ another in one stratum; `logs` is None where a side has too few runs for an interval."""

    stratum: Stratum
    level: str
    against: str
    logs: LogRatio | None

    @property
    def ratio(self) -> float:
        """Return the ratio of the geometric means."""
        sides = self.stratum.sides
        return math.exp(sides[self.level].logs.mean - sides[self.against].logs.mean)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the ratio by Welch."""
        return None if self.logs is None else (math.exp(self.logs.interval[0]), math.exp(self.logs.interval[1]))

    @property
    def share(self) -> LogRatio | None:
        """Return the log ratio as it counts beside sets that have the same runs on one side."""
        return self.stratum.share_of_effect(self.level, self.against)

    @property
    def n(self) -> tuple[int, int]:
        """Return the runs of both sides."""
        return self.stratum.sides[self.level].n, self.stratum.sides[self.against].n

    @property
    def is_apart_in_time(self) -> bool:
        """Return whether all runs of one level were measured before those of the other."""
        ours, theirs = self.stratum.sides[self.level], self.stratum.sides[self.against]
        if not (ours.began and theirs.began):
            return False
        return ours.ended < theirs.began or theirs.ended < ours.began


@dataclass(frozen=True)
class LevelContrast:
    """One level against another over all strata that have both. `p_adjusted` is for all contrasts asked together."""

    level: str
    against: str
    effects: tuple[StratumEffect, ...]
    combination: Combination | None = None
    finding: MatchedFinding = MatchedFinding.TOO_FEW
    p_adjusted: float | None = None
    dependence: Dependence | None = None

    @property
    def common(self) -> Combination | None:
        """Return the combined effect; None where strata disagree beyond noise, for then there is no common one."""
        return None if self.finding is MatchedFinding.DEPENDS else self.combination

    @property
    def ratio(self) -> float | None:
        return None if self.common is None else math.exp(self.common.value)

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.common is None else (math.exp(self.common.low), math.exp(self.common.high))

    @property
    def prediction(self) -> tuple[float, float] | None:
        """Return the 95 % interval for the ratio in a further stratum."""
        if self.common is None or self.common.prediction is None:
            return None
        return math.exp(self.common.prediction[0]), math.exp(self.common.prediction[1])

    @property
    def tau(self) -> float | None:
        """Return the spread between strata as a ratio: 1.1 is ± 10 %."""
        return None if self.combination is None else math.exp(math.sqrt(self.combination.tau2))

    @property
    def range(self) -> tuple[float, float]:
        """Return the least and the greatest ratio of the strata that count."""
        ratios = [effect.ratio for effect in self.usable] or [effect.ratio for effect in self.effects]
        return min(ratios), max(ratios)

    @property
    def usable(self) -> tuple[StratumEffect, ...]:
        return tuple(effect for effect in self.effects if effect.logs is not None)


@dataclass(frozen=True)
class FactorAnswer:
    """Everything that is known about one factor for one operation and metric.

    `held` and `implied` are facts, `nowhere` those of the held ones that every run has and none tells. `runs` are the
    runs in the strata that count; `candidates` those whose level is known, by level. `missing` runs would make a
    stratum, and so would each of `other_missing` instead; `settling` ones would probably settle an answer that shows no
    difference. `is_far_from_settled`: that would take more than `MOST_SETTLING` runs on each side.
    """

    factor: str
    operation: str
    metric: str
    contrasts: tuple[LevelContrast, ...] = ()
    strata: tuple[Stratum, ...] = ()
    held: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()
    candidates: Mapping[str, int] | None = None
    nearest: tuple[NearestPair, ...] = ()
    missing: tuple[MissingRuns, ...] = ()
    other_missing: tuple[tuple[MissingRuns, ...], ...] = ()
    settling: tuple[MissingRuns, ...] = ()
    is_far_from_settled: bool = False
    tests: int = 0  # contrasts whose p were adjusted together

    @property
    def answered(self) -> tuple[LevelContrast, ...]:
        """Return the contrasts that have a combined effect."""
        return tuple(contrast for contrast in self.contrasts if contrast.combination is not None)

    @property
    def levels_left_out(self) -> int:
        """Return how many levels are not held against others because they have the fewest runs of very many."""
        return max(0, len(self.candidates or ()) - MOST_LEVELS)

    @property
    def is_answered(self) -> bool:
        return bool(self.answered)

    @property
    def finding(self) -> MatchedFinding:
        """Return the most telling finding of the contrasts."""
        findings = {contrast.finding for contrast in self.contrasts}
        order = (MatchedFinding.DEPENDS, MatchedFinding.EFFECT, MatchedFinding.NO_EFFECT, MatchedFinding.TOO_FEW)
        return next((finding for finding in order if finding in findings), MatchedFinding.TOO_FEW)

    @property
    def runs(self) -> int:
        """Return how many runs are in the strata that count; a run in several of them is counted once."""
        used = {id(effect.stratum): effect.stratum for contrast in self.answered for effect in contrast.usable}
        groups = {id(group): group for one in used.values() for side in one.sides.values() for group in side.groups}
        return sum(group.n for group in groups.values())

    @property
    def runs_left_out(self) -> int:
        """Return how many runs have a level and are in no stratum that counts."""
        return max(0, sum((self.candidates or {}).values()) - self.runs)

    @property
    def sets(self) -> int:
        """Return how many strata count."""
        return len({id(effect.stratum) for contrast in self.answered for effect in contrast.usable})


def answer_factor(
    factor: QuestionedFactor,
    groups: Sequence[RunGroup],
    measure: tuple[str, str],
    moved: MovedFacts | None = None,
    against: str = "",
    codes: FactCodes | None = None,
) -> FactorAnswer:
    """Answer one question from the groups of one operation and metric. The verdicts wait for `judge`."""
    moved = moved or MovedFacts()
    codes = codes or FactCodes(groups, factor.always)
    candidates: Counter[str] = Counter()
    for group, level in zip(groups, codes.levels(factor.level_of, of_points=factor.is_of_point), strict=True):
        if level is not None:
            candidates[level] += group.n
    answer = FactorAnswer(factor.name, *measure, candidates=dict(candidates.most_common()))
    if len(candidates) < 2:
        return answer
    found = tuple(strata(codes, factor, moved, against))
    told = _told(found, codes, factor)
    held = {codes.names[column] for column in held_columns(codes, factor, moved, ())} & told
    contrasts = tuple(_contrasts(found, factor, against))
    return replace(
        answer,
        contrasts=contrasts,
        strata=found,
        held=tuple(sorted(held, key=_rank)),
        implied=tuple(
            sorted({name for stratum in found for name in stratum.differs} - held - {*factor.facts, *IDENTITIES})
        ),
        ignored=moved.ignored,
        nowhere=tuple(sorted((MACHINE_FACTS & {*ESSENTIAL}) - {*codes.names}, key=_rank)),
    )


def _told(found: Sequence[Stratum], codes: FactCodes, factor: QuestionedFactor) -> set[str]:
    """Return the facts that some run tells, of the strata or else of those whose level is known."""
    groups = [group for stratum in found for side in stratum.sides.values() for group in side.groups]
    if not groups:
        levels = codes.levels(factor.level_of, of_points=factor.is_of_point)
        groups = [group for group, level in zip(codes.groups, levels, strict=True) if level is not None]
    configurations = {id(group.configuration): group.configuration for group in groups}
    return set().union(*configurations.values(), *(group.point for group in groups))


def with_what_is_missing(
    answer: FactorAnswer, factor: QuestionedFactor, codes: FactCodes, moved: MovedFacts
) -> FactorAnswer:
    """Return an answer that has no effect with the nearest pairs, and the runs that would give it one."""
    if answer.is_answered or len(answer.candidates or ()) < 2:
        return answer
    nearest = () if answer.strata else nearest_pairs(codes, factor, moved, ORDER)
    first, *others = [*_missing(answer.contrasts), ()]
    missing = first or tuple(one for pair in nearest for one in runs_for(pair))
    return replace(answer, nearest=nearest, missing=missing, other_missing=tuple(filter(None, others)))


# Facts of which the answer says so where no run tells them.
ESSENTIAL = (
    "host", "disk_model", "disk_count", "raid_level", "controller", "filesystem", "ram", "cpu", "kernel", "interface",
)  # fmt: skip


def _rank(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _contrasts(found: Sequence[Stratum], factor: QuestionedFactor, against: str) -> list[LevelContrast]:
    """Return each level against the reference, or where no stratum has both, against one that is already placed."""
    together = _together(found)
    pairs = _tree(together, factor, against)
    contrasts = [LevelContrast(level, other, tuple(_effects(found, factor, level, other))) for level, other in pairs]
    return [_combined(contrast) for contrast in contrasts]


def _together(found: Sequence[Stratum]) -> dict[Pair, tuple[int, int]]:
    """Return for each two levels the strata that have both: those with enough runs, and all."""
    together: dict[Pair, tuple[int, int]] = {}
    for stratum in found:
        for pair in stratum.pairs():
            enough = min(stratum.sides[level].n for level in pair) >= ENOUGH
            usable, every = together.get(pair, (0, 0))
            together[pair] = usable + enough, every + 1
    return together


def _tree(together: Mapping[Pair, tuple[int, int]], factor: QuestionedFactor, against: str) -> list[Pair]:
    """Return (level, against) for all levels: against the reference where some stratum has both."""

    def weight(level: str, others: Sequence[str] | None = None) -> tuple[int, int]:
        some = [
            n for pair, n in together.items() if level in pair and (others is None or {*pair} - {level} <= {*others})
        ]
        return sum(n for n, _ in some), sum(n for _, n in some)

    def preference(level: str) -> tuple[object, ...]:
        rank = factor.first.index(level) if level in factor.first else len(factor.first)
        usable, every = weight(level)
        if factor.is_order_of_time:
            return (level != against, usable == 0, natural(level))
        return (level != against, usable == 0, rank, -usable, -every, natural(level))

    left = sorted({level for pair in together for level in pair}, key=preference)
    placed: list[str] = []
    pairs: list[Pair] = []
    while left:
        reference = left[0]
        near = [level for level in left if any(weight(level, placed))] if placed else []
        if not near:
            placed = [reference]  # of what no stratum joins with the levels before
            left.remove(reference)
            continue
        for level in near:
            best = max(placed, key=lambda other: (weight(level, [other])[0] > 0, -placed.index(other)))
            if any(weight(level, [best])):
                pairs.append((level, best))
        placed += near
        left = [level for level in left if level not in near]
    return pairs


def _effects(found: Sequence[Stratum], factor: QuestionedFactor, level: str, against: str) -> list[StratumEffect]:
    return [
        StratumEffect(stratum, level, against, stratum.effect(level, against))
        for stratum in found
        if level in stratum.sides and against in stratum.sides
    ]


def _combined(contrast: LevelContrast) -> LevelContrast:
    logs = [effect.share for effect in contrast.effects if effect.share is not None]
    return replace(contrast, combination=combine(logs)) if logs else contrast


def judge(answers: Sequence[FactorAnswer]) -> list[FactorAnswer]:
    """Return the answers with their findings, corrected by Holm for all contrasts of all answers together."""
    every = [contrast for answer in answers for contrast in answer.answered]
    adjusted = iter(holm([contrast.combination.p for contrast in every if contrast.combination]) if every else [])
    unlike = iter(holm([contrast.combination.q_p for contrast in every if contrast.combination]) if every else [])

    def judged(contrast: LevelContrast) -> LevelContrast:
        if contrast.combination is None:
            return contrast
        p, q_p = next(adjusted), next(unlike)
        finding = (
            MatchedFinding.DEPENDS if q_p < AGREE else MatchedFinding.EFFECT if p < ALPHA else MatchedFinding.NO_EFFECT
        )
        dependence = _dependence(contrast) if finding is MatchedFinding.DEPENDS else None
        return replace(contrast, finding=finding, p_adjusted=p, dependence=dependence)

    return [replace(answer, contrasts=tuple(map(judged, answer.contrasts)), tests=len(every)) for answer in answers]


def _dependence(contrast: LevelContrast) -> Dependence:
    usable = contrast.usable
    logs = [effect.logs for effect in usable if effect.logs is not None]
    return find_dependence(logs, [_known_of(effect) for effect in usable], EXPLAIN)


def _known_of(effect: StratumEffect) -> dict[str, str]:
    """Return the facts that a stratum's effect may depend on: those held, and of each side those implied."""
    facts = {**effect.stratum.facts, **effect.stratum.part}
    for level in (effect.level, effect.against):
        for name in {*effect.stratum.differs} - {*IDENTITIES}:  # a name explains nothing
            values = {group.facts.get(name, "") for group in effect.stratum.sides[level].groups}
            if len(values) == 1 and name not in facts and (value := values.pop()) not in ("", level):
                facts.setdefault(name, value)
    return facts


def _missing(contrasts: Sequence[LevelContrast]) -> list[tuple[MissingRuns, ...]]:
    """Return the runs that strata with too few of them lack, where no stratum has enough; the nearest strata first."""
    if any(contrast.usable for contrast in contrasts):
        return []
    best = sorted(
        (effect for contrast in contrasts for effect in contrast.effects),
        key=lambda effect: sum(max(0, ENOUGH - n) for n in effect.n),
    )
    return [tuple(_lacking(effect)) for effect in best[:MOST_CHOICES]]


def _lacking(effect: StratumEffect) -> Iterator[MissingRuns]:
    for level, other, n in zip((effect.level, effect.against), (effect.against, effect.level), effect.n, strict=True):
        if n < ENOUGH:
            yield MissingRuns(ENOUGH - n, level, effect.stratum.sides[level].groups[0], (), other)


MOST_CHOICES = 5  # strata of which one may be completed
MOST_SETTLING = 30  # more runs on each side; beyond that the difference is too small to be asked for
SAME = math.log(1.05)  # within 5 % either way two levels are called the same


def with_what_would_settle(answer: FactorAnswer) -> FactorAnswer:
    """Return an answer that shows no difference with the runs that would probably settle it.

    They are counted for the stratum with most runs, as if they had the mean and the spread of those that are there: until
    the difference is an effect, or the interval lies within 5 % either way.
    """
    contrast = next((one for one in answer.answered if one.finding is MatchedFinding.NO_EFFECT), None)
    if contrast is None or _is_settled(contrast.combination, answer.tests):
        return answer
    largest = max(contrast.usable, key=lambda effect: (min(effect.n), sum(effect.n)))
    sides = [largest.stratum.sides[level] for level in (contrast.level, contrast.against)]
    for more in range(1, MOST_SETTLING + 1):
        ours, theirs = (replace(side.logs, n=side.n + more) for side in sides)
        logs = [log_ratio(ours, theirs) if one is largest else one.share for one in contrast.usable if one.share]
        if _is_settled(combine(logs), answer.tests):
            runs = tuple(
                MissingRuns(more, level, side.groups[0], (), other)
                for side, level, other in zip(
                    sides, (contrast.level, contrast.against), (contrast.against, contrast.level), strict=True
                )
            )
            return replace(answer, settling=runs)
    return replace(answer, is_far_from_settled=True)


def _is_settled(combination: Combination | None, tests: int) -> bool:
    if combination is None:
        return False
    return combination.p * tests < ALPHA or (combination.low >= -SAME and combination.high <= SAME)


def choose(answers: Sequence[FactorAnswer]) -> FactorAnswer:
    """Return the first answer that has an effect, else one with strata, else one with two levels, else the first."""
    return (
        next((answer for answer in answers if answer.is_answered), None)
        or next((answer for answer in answers if answer.strata), None)
        or max(answers, key=lambda answer: (len(answer.candidates or ()) > 1, sum((answer.candidates or {}).values())))
    )
