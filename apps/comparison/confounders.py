"""Confounders: facts that differ between series, or between two of them, besides what is compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.comparison.fact_names import COUNTERS, is_count, is_of_one_run
from apps.comparison.labels import TIME, UNKNOWN, label_of, natural, text_of
from apps.comparison.readings import FILE_SIZE_OVER_RAM, LABEL, POINT, Reading

# Names of a series rather than properties of it: that they differ is the comparison itself.
NAMES = {"label", "configuration", "study", "target", "run", "repetition", "mount_point"}
NAMED_BY_A_LABEL = {"array"}
KINDS = ("differs", "along", "mixed", "unknown")
MOST_SERIES = 12  # of more series, only pairs with the baseline are told
MOST_VALUES, FIRST = 6, 4  # of a fact in its sentence
MOST_CONFIGURATIONS = 40  # more are not held against each other pair by pair
Texts = tuple[str, ...]
Table = dict[str, dict[str, Texts]]  # fact → series → its values as people write them


@dataclass(frozen=True)
class Confounder:
    """A fact that differs.

    `kind`: `differs` (known and different), `unknown` (known for some series only), `mixed` (inside one series),
    `along` (inside one series, from one place of the axis to the next; or the axis itself, where series were measured
    at different places of it).
    """

    fact: str
    kind: str
    values: dict[str, Texts]  # series → its values as people write them
    text: str  # of many values the first

    @property
    def distinct(self) -> list[Texts]:
        """Return the series' distinct values, unknown last."""
        return sorted(dict.fromkeys(self.values.values()), key=(UNKNOWN,).__eq__)

    @property
    def words(self) -> str:
        """Return `text` in the reader's language."""
        return words_of(self.fact, self.kind, self.distinct)


@dataclass(frozen=True)
class Contrast:
    """Two series: the facts that differ with both values, those known on one side only, and those that are equal."""

    series: tuple[str, str]
    differs: tuple[Confounder, ...]
    unknown: tuple[Confounder, ...]
    equal: tuple[str, ...]


def confounders(known: Table, on_the_axis: Sequence[Confounder] = ()) -> list[Confounder]:
    """Return what differs between any of the series, or inside one, beyond what is compared.

    `on_the_axis` are confounders along the x axis; see `along`.
    """
    placed = {confounder.fact for confounder in on_the_axis}
    results = [confounder for name, values in known.items() for confounder in _of_fact(name, values)]
    remaining = [confounder for confounder in results if confounder.kind != "mixed" or confounder.fact not in placed]
    return sorted([*remaining, *on_the_axis], key=lambda confounder: (KINDS.index(confounder.kind), confounder.fact))


def along(cells: Mapping[tuple[Any, str], Sequence[Reading]], known: Table, x: str) -> list[Confounder]:
    """Return what differs along the axis.

    That are facts that have one value at each place of a series and not the same at all, and the axis itself where no
    two series share a place of it.

    Args:
        known: The table of the series.
    """
    places: dict[str, dict[Any, Sequence[Reading]]] = {}
    for (place, series), readings in cells.items():
        if any(reading.value is not None for reading in readings):
            places.setdefault(series, {})[place] = readings
    results = [confounder for fact, values in known.items() for confounder in _along(fact, values, places)]
    return [*results, *_apart(places, x)]


def _along(
    fact: str, values: Mapping[str, Texts], places: Mapping[str, Mapping[Any, Sequence[Reading]]]
) -> Iterable[Confounder]:
    changing: dict[str, Texts] = {}
    for series, texts in values.items():
        at = places.get(series, {})
        if len(set(texts) - {UNKNOWN}) > 1 and len(at) > 1:
            each = [set(_texts(fact, readings)) - {UNKNOWN} for readings in at.values()]
            if all(len(values_there) <= 1 for values_there in each):
                changing[series] = texts
    if changing:
        yield _confounder(fact, "along", changing, " / ")


def _apart(places: Mapping[str, Mapping[Any, Any]], x: str) -> Iterable[Confounder]:
    """Return the axis as a confounder where every series was measured at other places of it."""
    if len(places) < 2 or x == TIME:
        return
    if any(set(left) & set(other) for left, other in combinations(places.values(), 2)):
        return
    ordered = {series: sorted(at, key=natural) for series, at in places.items()}
    texts = {series: tuple(text_of(x, value) for value in at) for series, at in ordered.items()}
    yield _confounder(x, "along", texts, " / ")


def contrasts(known: Table, series: Sequence[str], baseline: str | None) -> list[Contrast]:
    """Return every pair of series, those with the baseline first; of many series only those with it."""
    first = baseline or next(iter(series), "")
    pairs = [(name, first) for name in series if name != first]
    if len(series) <= MOST_SERIES:
        pairs += combinations((name for name in series if name != first), 2)
    return [contrast(known, *pair) for pair in pairs]


def contrast(known: Table, label: str, other: str) -> Contrast:
    differs, unknown, equal = [], [], []
    for fact, values in known.items():
        both = {name: values[name] for name in (label, other)}
        if both[label] == both[other]:
            equal += [fact] if UNKNOWN not in both[label] else []
        elif UNKNOWN in (*both[label], *both[other]):
            unknown.append(_confounder(fact, "unknown", both, " / "))
        else:
            differs.append(_confounder(fact, "differs", both, " / "))
    return Contrast((label, other), tuple(differs), tuple(unknown), tuple(equal))


def configurations(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    """Return the readings by configuration, or host and target; none where pairs would be too many."""
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.value is not None:
            groups.setdefault(str(reading.of(LABEL)), []).append(reading)
    return groups if len(groups) <= MOST_CONFIGURATIONS else {}


def table(groups: Mapping[str, Sequence[Reading]], compared: Iterable[str]) -> Table:
    """Return the values of every fact that may confound, by series.

    `compared` are the series' facts and the x axis.
    """
    compared = set(compared)
    left_out = NAMES | compared
    if {"label", "configuration"} & compared:
        left_out |= NAMED_BY_A_LABEL
    if FILE_SIZE_OVER_RAM in compared:
        left_out |= {"file_size", "ram"}
    groups = {name: readings for name, readings in groups.items() if readings}
    points = {axis: {name: _texts(axis, readings) for name, readings in groups.items()} for axis in POINT}
    # readings of one run share their facts, so each is looked at once
    runs = {
        name: list({id(some_reading.facts): some_reading for some_reading in readings}.values())
        for name, readings in groups.items()
    }
    every = [reading for readings in runs.values() for reading in readings]
    names = sorted({fact for reading in every for fact in (*reading.facts, *reading.evidence.workload)} | {*POINT})
    summaries = {
        fact: points.get(fact) or {name: _texts(fact, readings) for name, readings in runs.items()}
        for fact in names
        if fact not in left_out and not is_of_one_run(fact)
    }
    return {fact: values for fact, values in summaries.items() if not _counts(fact, values)}


def _counts(fact: str, values: Mapping[str, Texts]) -> bool:
    """Return whether a fact only numbers the runs: all its known values are counters."""
    return fact in COUNTERS and all(
        is_count(fact, text) or text == UNKNOWN for value in values.values() for text in value
    )


def _of_fact(name: str, values: Mapping[str, Texts]) -> list[Confounder]:
    known = {tuple(text for text in texts if text != UNKNOWN) for texts in values.values()} - {()}
    results = []
    if len(known) > 1:
        results.append(_confounder(name, "differs", values, " / "))
    elif known and any(UNKNOWN in texts for texts in values.values()):
        results.append(_confounder(name, "unknown", values, " / "))
    mixed = {series: texts for series, texts in values.items() if len(set(texts) - {UNKNOWN}) > 1}
    if mixed and len(known) == 1:
        results.append(_confounder(name, "mixed", mixed, " and "))
    return results


def _texts(name: str, readings: Sequence[Reading]) -> Texts:
    """Return a fact's values as people write them, in their order."""
    results = [_value(name, reading) for reading in readings]
    raw = {text_of(name, value): value for value in _distinct(results)}
    return tuple(sorted(raw, key=lambda text: natural(raw[text])))


def _value(name: str, reading: Reading) -> Any:
    """Return a fact of the run, or else what its tool was asked for."""
    value = reading.of(name)
    return value if value is not None or name in reading.facts else reading.evidence.workload.get(name)


def _distinct(results: Sequence[Any]) -> Iterable[Any]:
    try:
        return set(results)
    except TypeError:  # lists: few facts are
        return results


def _confounder(name: str, kind: str, values: Mapping[str, Texts], between: str) -> Confounder:
    distinct = sorted(dict.fromkeys(_few(texts, " and ") for texts in values.values()), key=UNKNOWN.__eq__)
    return Confounder(name, kind, dict(values), f"{label_of(name)} {_few(distinct, between)}")


def words_of(fact: str, kind: str, distinct: Iterable[Sequence[str]]) -> str:
    """Return a confounder in the reader's language, such as `livello RAID 5 / singolo e 0`; values stay as written."""
    translations = {
        UNKNOWN: pgettext("why a field is empty", "unknown"),
        "none": pgettext("why a field is empty", "none"),
    }
    both = f" {_('and')} "
    texts = [_few([translations.get(text, text) for text in some], both, _("%(n)s more")) for some in distinct]
    return f"{_(label_of(fact))} {_few(texts, both if kind == 'mixed' else ' / ', _('%(n)s more'))}"


def _few(texts: Sequence[str], between: str, further: str = "%(n)s more") -> str:
    """Join the first of many texts and say how many more there are; `values` has them all."""
    more = len(texts) - FIRST if len(texts) > MOST_VALUES else 0
    return between.join([*texts[:FIRST], further % {"n": more}] if more else texts)


Filters = tuple[tuple[str, str], ...]
# Names that stand in an address, the shortest that will do first.
ADDRESSES = (("configuration",), ("host",), ("target",), ("host", "target"))


@dataclass(frozen=True)
class Suggestion:
    """Two configurations (or hosts) and what differs between them besides what is compared."""

    units: tuple[str, str]
    contrast: Contrast
    filters: Filters


@dataclass(frozen=True)
class _Unit:
    levels: frozenset[Any]  # of the series' facts
    is_known: bool  # all of them
    places: frozenset[Any]  # along x

    @classmethod
    def of(cls, readings: Sequence[Reading], series: Sequence[str], x: str) -> "_Unit":
        level_values = [tuple(reading.of(fact) for fact in series) for reading in readings]
        levels, is_known = (
            frozenset(tuple(map(str, values)) for values in level_values),
            not any(None in values for values in level_values),
        )
        return cls(levels, is_known, frozenset(str(reading.of(x)) for reading in readings))


def find_nearest_pair(readings: Sequence[Reading], series: Sequence[str], x: str, beats: int) -> Suggestion | None:
    """Return the pair of configurations that differ in the fewest other facts.

    None where no pair differs in fewer than `beats`, or where there are only two.
    """
    units = configurations(readings)
    if len(units) <= 2:
        return None
    known = table(units, (*series, x, LABEL))
    where = {name: _Unit.of(side, series, x) for name, side in units.items()}
    candidates = [
        contrast(known, *pair) for pair in combinations(units, 2) if _are_comparable(*map(where.__getitem__, pair))
    ]
    better = [candidate for candidate in candidates if len(candidate.differs) < beats]
    best = max(
        better,
        key=lambda candidate: (len(candidate.equal), -len(candidate.differs), -len(candidate.unknown)),
        default=None,
    )
    if best is None:
        return None
    return Suggestion(best.series, best, filters_for(readings, {name: units[name] for name in best.series}))


def _are_comparable(ours: _Unit, theirs: _Unit) -> bool:
    """Return whether two units are known to differ in what is compared and were measured at the same x."""
    are_known = ours.is_known and theirs.is_known
    return are_known and not ours.levels & theirs.levels and bool(ours.places & theirs.places)


def filters_for(readings: Sequence[Reading], chosen: Mapping[str, Sequence[Reading]]) -> Filters:
    """Return filters that leave these configurations: the first names that do, in the end the numbers of their runs."""
    wanted = {reading.run for side in chosen.values() for reading in side}
    for names in ADDRESSES:
        values = {name: {reading.of(name) for side in chosen.values() for reading in side} for name in names}
        left = {reading.run for reading in readings if all(reading.of(name) in values[name] for name in names)}
        if left <= wanted and None not in set().union(*values.values()):
            return tuple((name, str(value)) for name in names for value in _ordered(values[name]))
    return (("run", ",".join(map(str, sorted(wanted)))),)


def _ordered(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=str)
