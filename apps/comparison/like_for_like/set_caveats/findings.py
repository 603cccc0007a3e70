"""What the rules of caveats find in the runs of matched sets, which are laid side by side as cells (set, level).

Some statements for any number of answers together, however many runs and sets they have: of very many runs, or of runs
with very many samples, some of each side are looked at, and the result says of how many.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest

from apps.comparison import caveats
from apps.comparison.caveats.rule import Caveat, CaveatRule
from apps.comparison.claims.evidence import whole_readings
from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast
from apps.comparison.like_for_like.strata import StratumSide
from apps.comparison.questions import BY_NAME
from apps.comparison.readings import Reading
from apps.runs.models import Run, Sample
from apps.runs.states import State

MOST_RUNS = 400  # of one answer
# Of a lab, and of all its answers together: so few that their caveats cost about what the answers do.
FEW_RUNS, FEW_SAMPLES = 200, 1_000
MOST_SAMPLES = 2_000  # of one answer
MOST_ROWS = 20_000  # ids of samples of all answers together
# What an answer says in other words, or does in another way: it tells sets with too few runs, and takes the mean of the
# points of each run.
SAID_BY_ANSWERS = frozenset({"few_runs", "not_repetitions"})

SideKey = tuple[int, str]  # number of the set, level


@dataclass(frozen=True)
class AskedSets:
    """The matched sets of some contrasts of one measure, whose caveats are asked for."""

    contrasts: tuple[LevelContrast, ...]
    measure: tuple[str, str]
    level_name: Callable[[str], str] = str

    @classmethod
    def of_answer(cls, answer: FactorAnswer) -> "AskedSets":
        """Return all sets of an answer."""
        return cls(answer.contrasts, (answer.operation, answer.metric), BY_NAME[answer.factor].level_name)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """Return the number of each set by the id of its stratum."""
        strata = (id(effect.stratum) for contrast in self.contrasts for effect in contrast.effects)
        return {stratum: number for number, stratum in enumerate(dict.fromkeys(strata))}

    @property
    def sides(self) -> dict[SideKey, StratumSide]:
        """Return the sides of all sets that are held against each other, each once."""
        numbers = self.numbers
        return {
            (numbers[id(effect.stratum)], level): effect.stratum.sides[level]
            for contrast in self.contrasts
            for effect in contrast.effects
            for level in (effect.level, effect.against)
        }


@dataclass(frozen=True)
class SetCaveat:
    """One caveat with the runs that it is true of. `whole` are the sides all of whose runs have it."""

    caveat: Caveat
    concerned: Mapping[SideKey, frozenset[int]]
    whole: frozenset[SideKey]

    @property
    def rule(self) -> str:
        return self.caveat.rule

    @property
    def runs(self) -> tuple[int, ...]:
        """Return the runs, each once."""
        return tuple(sorted(frozenset[int]().union(*self.concerned.values())))

    @property
    def sets(self) -> frozenset[int]:
        """Return the numbers of the sets."""
        return frozenset(number for number, _ in self.concerned)

    @property
    def is_against_a_side(self) -> bool:
        """Return whether it stands against the value itself and concerns all runs of a side."""
        return bool(self.whole) and self.rule in caveats.AGAINST_THE_VALUE


@dataclass(frozen=True)
class SetCaveats:
    """The caveats of the runs in an answer's sets, those that spoil a value most first. `looked` of `total` runs were read."""

    found: tuple[SetCaveat, ...]
    asked: AskedSets
    sides: Mapping[SideKey, frozenset[int]]  # the runs of each that were looked at
    total: int

    @property
    def looked(self) -> int:
        return len(frozenset[int]().union(*self.sides.values()))

    @property
    def is_of_all_runs(self) -> bool:
        return self.looked >= self.total


def by_level(sides: Mapping[SideKey, frozenset[int]]) -> dict[str, frozenset[int]]:
    """Return the runs of sides by their level, each once."""
    by_level: dict[str, frozenset[int]] = {}
    for (_number, level), runs in sides.items():
        by_level[level] = by_level.get(level, frozenset()) | runs
    return by_level


def caveats_of_answer(answer: FactorAnswer) -> SetCaveats:
    """Return the caveats of the runs in the sets of one answer."""
    return find_caveats([AskedSets.of_answer(answer)])[0]


def has_few_runs(labs: Iterable[int]) -> bool:
    """Return whether these labs have so few finished runs that the caveats of all answers together cost little."""
    finished = Run.objects.filter(lab__in=list(labs), state=State.FINISHED).order_by()
    return not finished[FEW_RUNS : FEW_RUNS + 1].exists()


def caveats_of_few(answers: Sequence[FactorAnswer]) -> dict[str, SetCaveats]:
    """Return the caveats of the answers of a lab that has few runs, by factor; none where its runs have many samples."""
    found = find_caveats([AskedSets.of_answer(answer) for answer in answers], FEW_SAMPLES)
    return {answer.factor: one for answer, one in zip(answers, found, strict=False)}


def find_caveats(asked: Sequence[AskedSets], most: int | None = None) -> list[SetCaveats]:
    """Return the caveats of each; what several of them have in common is read once.

    Nothing is returned where they have more than `most` samples together.
    """
    sides = [one.sides for one in asked]
    spread = [_spread(some.values()) for some in sides]
    samples = _samples({run for runs in spread for run in runs}, {one.measure for one in asked})
    chosen = [_within(runs, samples.get(one.measure, {})) for one, runs in zip(asked, spread, strict=True)]
    wanted = {pk for one, runs in zip(asked, chosen, strict=True) for run in runs for pk in samples[one.measure][run]}
    if most is not None and len(wanted) > most:
        return []
    readings = whole_readings(wanted) if wanted else {}
    return [
        _found(one, own, {run: [readings[pk] for pk in samples[one.measure][run] if pk in readings] for run in runs})
        for one, own, runs in zip(asked, sides, chosen, strict=True)
    ]


def _spread(sides: Iterable[StratumSide]) -> list[int]:
    """Return at most `MOST_RUNS` runs in turn of all sides, so that each is looked at; of each from all over its time."""
    distinct = list({side.runs: None for side in sides})
    share = max(1, MOST_RUNS // max(1, len(distinct)))
    some = [_evenly(runs, share) for runs in distinct]
    in_turn = (run for runs in zip_longest(*some) for run in runs if run is not None)
    return list(dict.fromkeys(in_turn))[:MOST_RUNS]


def _evenly(runs: Sequence[int], most: int) -> Sequence[int]:
    return runs if len(runs) <= most else [runs[at * len(runs) // most] for at in range(most)]


def _samples(runs: Iterable[int], measures: Iterable[tuple[str, str]]) -> dict[tuple[str, str], dict[int, list[int]]]:
    """Return the ids of the samples by measure and run."""
    operations, metrics = ({measure[at] for measure in measures} for at in (0, 1))
    rows = Sample.objects.filter(
        run__in=list(runs), measure__operation__in=operations, measure__metric__in=metrics
    ).order_by("run_id", "id")
    columns = ("measure__operation", "measure__metric", "run_id", "pk")
    found: dict[tuple[str, str], dict[int, list[int]]] = {}
    for operation, metric, run, pk in rows.values_list(*columns)[:MOST_ROWS]:
        found.setdefault((operation, metric), {}).setdefault(run, []).append(pk)
    return found


def _within(runs: Sequence[int], samples: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the first runs that have together no more than `MOST_SAMPLES`."""
    chosen: list[int] = []
    count = 0
    for run in runs:
        count += len(samples.get(run, ()))
        if chosen and count > MOST_SAMPLES:
            break
        if run in samples:
            chosen.append(run)
    return chosen


def _found(asked: AskedSets, sides: Mapping[SideKey, StratumSide], readings: Mapping[int, list[Reading]]) -> SetCaveats:
    runs = {key: frozenset(side.runs) & readings.keys() for key, side in sides.items()}
    groups = {id(group): group for side in sides.values() for group in side.groups}
    total = sum(group.n for group in groups.values())
    cells = {
        (number, asked.level_name(level)): list(
            chain.from_iterable(readings[run] for run in sorted(runs[number, level]))
        )
        for number, level in sides
        if runs[number, level]
    }
    found = tuple(
        _of_runs(caveat, asked, runs, readings)
        for caveat in caveats.of_cells(cells)
        if caveat.rule not in SAID_BY_ANSWERS
    )
    return SetCaveats(found, asked, runs, total)


def _of_runs(
    caveat: Caveat, asked: AskedSets, sides: Mapping[SideKey, frozenset[int]], readings: Mapping[int, Sequence[Reading]]
) -> SetCaveat:
    """Return a caveat with the runs that it is true of; where it is about a side as a whole, with all of it."""
    own = _runs_of(caveats.BY_NAME[caveat.rule], readings)
    named = {(number, asked.level_name(level)): (number, level) for number, level in sides}
    hit = [named[key] for key in caveat.cells]
    concerned = {key: (sides[key] & own) or sides[key] for key in hit}
    return SetCaveat(caveat, concerned, frozenset(key for key in hit if sides[key] <= own))


def _runs_of(rule: CaveatRule, readings: Mapping[int, Sequence[Reading]]) -> frozenset[int]:
    """Return the runs that a rule is true of by themselves, or beside the others where it is about a value itself."""
    spoken = {run: rule.speaks_of(some) for run, some in readings.items()}
    alone = {run for run, some in spoken.items() if rule.of_each(some) or rule.of_machines(some)}
    if rule.of_cells is None or rule.name not in caveats.AGAINST_THE_VALUE:
        return frozenset(alone)
    beside = rule.of_cells({(run, ""): some for run, some in spoken.items()})
    return frozenset(alone | {run for run, _ in beside})
