"""What the page offers: metrics and operations that exist, facts for x and series, and filters with the number of
runs behind each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.counts import Counts
from apps.comparison.question import Question
from apps.comparison.readings import FILE_SIZE_OVER_RAM, LABEL, POINT, Reading
from apps.comparison.words import TIME, UNKNOWN, label_of, natural, operation_of, text_of
from apps.runs.activity import ACTIVITY
from apps.runs.metrics import METRICS, OPERATIONS
from apps.runs.models import Measure

FIRST = ("study", "host", "configuration", "target", "tool", *POINT)
MOST_VALUES = 24
Choice = tuple[str, str]


@dataclass(frozen=True)
class Value:
    value: str
    text: str
    runs: int
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """A filter and its values; `runs` is how many there are with the value, as all other filters stand."""

    name: str
    label: str
    values: list[Value]


@dataclass(frozen=True)
class Choices:
    metrics: list[Choice]
    operations: list[Choice]
    xs: list[Choice]
    series: list[Choice]
    facets: list[Facet]
    longer: list[tuple[str, str, int]]  # filters with more values than a list can show: name, label and how many


def choices(question: Question, readings: Sequence[Reading], counted: Counts | None = None) -> Choices:
    """`counted`: the runs behind each value of the filters in force; without it only values in force are offered."""
    measured = set(Measure.objects.values_list("operation", "metric"))
    metrics = {metric for _, metric in measured} | {question.metric}
    operations = {operation for operation, metric in measured if metric == question.metric} | {question.operation}
    facts = _facts(readings)
    facets, longer = _facets(question, readings, [*FIRST, *facts], counted or {})
    return Choices(
        metrics=[(name, METRICS[name].label) for name in METRICS if name in metrics],
        operations=[(name, operation_of(name)) for name in OPERATIONS if name in operations],
        xs=_named([*POINT, FILE_SIZE_OVER_RAM, TIME, *facts, question.x]),
        series=_named([LABEL, *facts, *POINT, *question.series]),
        facets=facets,
        longer=longer,
    )


def _facts(readings: Iterable[Reading]) -> list[str]:
    known = {name for reading in readings for name, value in reading.facts.items() if not isinstance(value, dict)}
    known -= {LABEL} | ACTIVITY
    return [name for name in FIRST if name in known] + sorted(known - set(FIRST))


def _named(names: Iterable[str]) -> list[Choice]:
    return [(name, label_of(name)) for name in dict.fromkeys(names)]


def _facets(
    question: Question, readings: Sequence[Reading], names: Iterable[str], counted: Counts
) -> tuple[list[Facet], list[tuple[str, str, int]]]:
    """Those to choose from, and those that are too long for that."""
    wanted: dict[str, list[str]] = {}
    for name, value in question.filters:
        wanted.setdefault(name, []).append(value)
    facets, longer = [], []
    for name in dict.fromkeys([*names, *wanted]):
        found = counted[name] if name in counted else _counted(name, readings)
        values = _values(name, found, wanted.get(name, []))
        if name in wanted or 1 < len(values) <= MOST_VALUES:
            facets.append(Facet(name, label_of(name), values))
        elif len(values) > MOST_VALUES:
            longer.append((name, label_of(name), len(values)))
    return facets, longer


def _counted(name: str, readings: Sequence[Reading]) -> list[tuple[Any, int]]:
    runs: dict[tuple[type, Any], set[int]] = {}  # by type too: True is no 1
    for reading in readings:
        found = reading.run if name == "run" else reading.of(name)
        if not isinstance(found, list | dict):
            runs.setdefault((type(found), found), set()).add(reading.run)
    by_address: dict[str, tuple[Any, set[int]]] = {}
    for (_, found), of in runs.items():
        by_address.setdefault(address_value(found), (found, set()))[1].update(of)
    return [(found, len(of)) for found, of in by_address.values()]


def _values(name: str, counted: Iterable[tuple[Any, int]], wanted: Sequence[str]) -> list[Value]:
    known = {address_value(found): (found, runs) for found, runs in counted if not isinstance(found, list | dict)}
    known = {value: (value, 0) for value in wanted} | known
    ordered = sorted(known, key=lambda key: natural(known[key][0]))
    return [Value(key, text_of(name, known[key][0]), known[key][1], key in wanted) for key in ordered]


def address_value(found: Any) -> str:
    """A fact's value as it stands in an address."""
    if found is None:
        return UNKNOWN
    return {True: "yes", False: "no"}[found] if isinstance(found, bool) else str(found)
