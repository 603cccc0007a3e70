"""Strata: sets of runs with equal held facts and at least two levels of the factor. Pure.

for stratum in strata(codes, factor, Held(...)): stratum.sides["hardware"].logs
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Protocol

from apps.comparison.like_for_like.fact_codes import FactCodes, matches
from apps.comparison.like_for_like.mixtures import ENOUGH, CleanSides, Mixtures
from apps.comparison.like_for_like.run_group import RunGroup
from apps.comparison.readings import FILE_SIZE_OVER_RAM
from apps.comparison.statistics.meta_analysis import LogRatio, Moments, log_ratio

# Names of single disks, which only the question about disks asks for.
IDENTITIES = ("place", "disk_serial", "serial", "disk")
MOST_LEVELS = 24  # that are held against each other: those with most runs
Pair = tuple[str, str]


class FactorRules(Protocol):
    """What strata need of a factor: see `questions.factor.Factor`."""

    @property
    def facts(self) -> tuple[str, ...]: ...
    @property
    def implied(self) -> tuple[str, ...]: ...
    @property
    def acts_through(self) -> tuple[str, ...]: ...
    @property
    def ignored(self) -> tuple[str, ...]: ...
    @property
    def always(self) -> tuple[str, ...]: ...
    @property
    def brings_ram(self) -> bool: ...
    @property
    def is_of_point(self) -> bool: ...
    @property
    def one_of(self) -> Callable[[Mapping[str, str]], tuple[str, float]] | None: ...
    def level_of(self, facts: Mapping[str, str], /) -> str | None: ...
    def implied_between(self, ours: str, theirs: str, /) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class MovedFacts:
    """Facts that somebody moved for one question: held although implied or ignored, or ignored although held."""

    held: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class StratumSide:
    """The runs of one level in a stratum."""

    level: str
    groups: tuple[RunGroup, ...]
    shared_by: int = 1  # strata with enough runs that have these same runs as a side

    @cached_property
    def logs(self) -> Moments:
        """Return the moments of all runs together."""
        first, *others = self.groups
        together = first.logs
        for group in others:
            together = together + group.logs
        return together

    @property
    def n(self) -> int:
        return self.logs.n

    @property
    def runs(self) -> tuple[int, ...]:
        return tuple(sorted(run for group in self.groups for run in group.runs))

    @property
    def began(self) -> str:
        return min((group.began for group in self.groups if group.began), default="")

    @property
    def ended(self) -> str:
        return max((group.ended for group in self.groups if group.ended), default="")


@dataclass(frozen=True)
class Stratum:
    """Groups with equal held facts.

    `facts` are those held, `unknown` the held ones that are equal only because the runs are on one target; `differs`
    are implied and ignored facts that are not equal. `part` tells which part of a level it is, where its runs differ in
    what comes with the factor: their facts of it.
    """

    facts: Mapping[str, str]
    sides: Mapping[str, StratumSide]
    unknown: tuple[str, ...]
    differs: tuple[str, ...]
    sizes: str = "file_size"  # or `file_size_over_ram`: what of the file size was held
    texts: Mapping[str, object] | None = None
    part: Mapping[str, str] = field(default_factory=dict)

    def effect(self, level: str, against: str) -> LogRatio | None:
        """Return the log ratio of two levels; None where a side has too few runs for a variance."""
        ours, theirs = self.sides[level], self.sides[against]
        return log_ratio(ours.logs, theirs.logs) if min(ours.n, theirs.n) >= ENOUGH else None

    def share_of_effect(self, level: str, against: str) -> LogRatio | None:
        """Return the effect as it counts beside others of the same runs: their variance is shared out among them."""
        ours, theirs = (
            replace(side.logs, variance=side.logs.variance * side.shared_by)
            for side in (self.sides[level], self.sides[against])
        )
        return log_ratio(ours, theirs) if min(ours.n, theirs.n) >= ENOUGH else None

    def pairs(self) -> Iterator[Pair]:
        return combinations(sorted(self.sides), 2)


def strata(codes: FactCodes, factor: FactorRules, moved: MovedFacts, against: str = "") -> list[Stratum]:
    """Return the strata of these groups, those with most runs first.

    Of more than `MOST_LEVELS` levels only those with most runs are looked at, and `against`.
    """
    levels = _most_measured(codes, codes.levels(factor.level_of, of_points=factor.is_of_point), against)
    found: list[Stratum] = []
    for implied, pairs in _kinds(factor, levels).items():
        columns = held_columns(codes, factor, moved, implied)
        rows = [row for row, level in enumerate(levels) if level is not None]
        beside = Mixtures(codes, _implied_columns(codes, factor, moved, implied), factor.acts_through)
        found += _of_columns(codes, levels, rows, columns, pairs, beside, one_of=factor.one_of)
        if factor.brings_ram and "file_size" not in (*moved.ignored, *moved.held):
            used = {id(group) for stratum in found for side in stratum.sides.values() for group in side.groups}
            others = [row for row in rows if id(codes.groups[row]) not in used]
            found += _by_multiples(codes, levels, others, columns, pairs, beside)
    return sorted(found, key=lambda stratum: -sum(side.n for side in stratum.sides.values()))


def _most_measured(codes: FactCodes, levels: Sequence[str | None], against: str) -> list[str | None]:
    runs: Counter[str] = Counter()
    for group, level in zip(codes.groups, levels, strict=True):
        if level is not None:
            runs[level] += group.n
    kept = {level for level, _ in runs.most_common(MOST_LEVELS)} | {against}
    return [level if level in kept else None for level in levels]


def held_columns(codes: FactCodes, factor: FactorRules, moved: MovedFacts, implied: Sequence[str]) -> list[int]:
    """Return the columns of the facts that are held equal."""
    identities = [name for name in IDENTITIES if name not in factor.facts]
    free = (*factor.facts, *factor.implied, *implied, *factor.ignored, *identities)
    return [
        column
        for column in codes.columns(moved.ignored)
        if (name := codes.names[column]) not in factor.facts
        and (name not in codes.nowhere or name in factor.always)
        and (name in moved.held or not matches(name, free))
    ]


def _implied_columns(
    codes: FactCodes, factor: FactorRules, moved: MovedFacts, implied: Sequence[str]
) -> tuple[int, ...]:
    """Return the columns of what comes with the factor, without what somebody moved."""
    names = (*factor.implied, *implied)
    apart = {*factor.facts, *factor.ignored, *IDENTITIES, *moved.held, *moved.ignored}
    return tuple(c for c, name in enumerate(codes.names) if matches(name, names) and name not in apart)


def _kinds(factor: FactorRules, levels: Sequence[str | None]) -> dict[tuple[str, ...], set[Pair] | None]:
    """Return which pairs of levels imply the same facts; None stands for all pairs."""
    distinct = {level for level in levels if level is not None}
    kinds: dict[tuple[str, ...], set[Pair] | None] = {}
    for pair in combinations(sorted(distinct), 2):
        some = kinds.setdefault(factor.implied_between(*pair), set())
        if some is not None:
            some.add(pair)
    return {next(iter(kinds)): None} if len(kinds) == 1 else kinds


def _of_columns(
    codes: FactCodes,
    levels: Sequence[str | None],
    rows: Iterable[int],
    columns: Sequence[int],
    pairs: set[Pair] | None,
    beside: Mixtures,
    sizes: str = "file_size",
    extra: Mapping[int, str] | None = None,
    one_of: Callable[[Mapping[str, str]], tuple[str, float]] | None = None,
) -> list[Stratum]:
    keys = codes.keys(columns)
    members: dict[tuple[int, str], dict[str, list[int]]] = defaultdict(dict)
    for row in rows:
        level = levels[row]
        if level is not None:
            key = int(keys[row]), extra[row] if extra else ""
            members[key].setdefault(level, []).append(row)
    parts: list[CleanSides] = []
    for by_level in members.values():
        for some in _parts(by_level, pairs):
            sides = {level: _of_one_value(codes, own, one_of) for level, own in some.items()} if one_of else some
            parts += beside.divide(sides)
    return _strata(codes, parts, columns, sizes)


def _of_one_value(
    codes: FactCodes, rows: Sequence[int], one_of: Callable[[Mapping[str, str]], tuple[str, float]]
) -> list[int]:
    """Return the rows of the value with most runs, so that a side has no mixture; of equal ones the preferred."""
    runs: Counter[str] = Counter()
    preferred: dict[str, float] = {}
    values = {row: one_of(codes.groups[row].facts) for row in rows}
    for row, (value, preference) in values.items():
        runs[value] += codes.groups[row].n
        preferred[value] = preference
    chosen = max(runs, key=lambda value: (min(runs[value], ENOUGH), preferred[value], runs[value], value))
    return [row for row, (value, _) in values.items() if value == chosen]


def _parts(by_level: dict[str, list[int]], pairs: set[Pair] | None) -> Iterator[dict[str, list[int]]]:
    """Yield the levels that may be compared: all together, or pair by pair where not all pairs may be."""
    if len(by_level) < 2:
        return
    allowed = [pair for pair in combinations(sorted(by_level), 2) if pairs is None or pair in pairs]
    if pairs is None or len(allowed) == len(by_level) * (len(by_level) - 1) // 2:
        yield by_level
        return
    for pair in allowed:
        yield {level: by_level[level] for level in pair}


def _strata(codes: FactCodes, parts: Sequence[CleanSides], columns: Sequence[int], sizes: str) -> list[Stratum]:
    """Return a stratum for each of these rows by level."""
    if not parts:
        return []
    sets = [[row for some in clean.rows.values() for row in some] for clean in parts]
    names = {codes.names[column] for column in columns}
    differing, unknown = codes.differing(sets), codes.unknown_names([rows[0] for rows in sets], columns)
    found = []
    for clean, rows, differs, unknown_names in zip(parts, sets, differing, unknown, strict=True):
        first = codes.groups[rows[0]]
        held = names.union(codes.names[column] for column in clean.held).difference(differs)
        found.append(
            Stratum(
                facts={name: value for name, value in first.facts.items() if name in held},
                sides={
                    level: StratumSide(level, tuple(codes.groups[row] for row in some), clean.shared_by.get(level, 1))
                    for level, some in clean.rows.items()
                },
                unknown=unknown_names,
                differs=differs,
                sizes=sizes,
                texts=first.texts,
                part=clean.part,
            )
        )
    return found


def _by_multiples(
    codes: FactCodes,
    levels: Sequence[str | None],
    rows: Sequence[int],
    columns: Sequence[int],
    pairs: set[Pair] | None,
    beside: Mixtures,
) -> list[Stratum]:
    """Return strata of files that are the same multiple of each host's RAM."""
    multiples = {row: multiple for row in rows if (multiple := multiple_of_ram(codes.groups[row].facts))}
    other_columns = [column for column in columns if codes.names[column] != "file_size"]
    return _of_columns(codes, levels, multiples, other_columns, pairs, beside, FILE_SIZE_OVER_RAM, multiples)


def multiple_of_ram(facts: Mapping[str, str]) -> str:
    """Return the file size as a multiple of RAM, to two digits; empty where one of them is not known."""
    try:
        size, ram = float(facts["file_size"]), float(facts["ram"])
    except (KeyError, ValueError):
        return ""
    return f"{size / ram:.2g}" if ram > 0 else ""
