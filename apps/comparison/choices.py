"""What the page offers: metrics and operations that exist, facts for x and series, and filters with the number of
runs behind each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.question import Question
from apps.comparison.readings import FILE_SIZE_OVER_RAM, LABEL, POINT, Reading
from apps.comparison.words import UNKNOWN, label_of, natural, operation_of, text_of
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
    """A filter and its values; `runs` counts what is in the comparison as it stands."""

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


def choices(question: Question, readings: Sequence[Reading]) -> Choices:
    measured = set(Measure.objects.values_list("operation", "metric"))
    metrics = {metric for _, metric in measured} | {question.metric}
    operations = {operation for operation, metric in measured if metric == question.metric} | {question.operation}
    facts = _facts(readings)
    return Choices(
        metrics=[(name, METRICS[name].label) for name in METRICS if name in metrics],
        operations=[(name, operation_of(name)) for name in OPERATIONS if name in operations],
        xs=_named([*POINT, FILE_SIZE_OVER_RAM, *facts, question.x]),
        series=_named([LABEL, *facts, *POINT, *question.series]),
        facets=_facets(question, readings, [*FIRST, *facts]),
    )


def _facts(readings: Iterable[Reading]) -> list[str]:
    known = {name for reading in readings for name, value in reading.facts.items() if not isinstance(value, dict)}
    known -= {LABEL}
    return [name for name in FIRST if name in known] + sorted(known - set(FIRST))


def _named(names: Iterable[str]) -> list[Choice]:
    return [(name, label_of(name)) for name in dict.fromkeys(names)]


def _facets(question: Question, readings: Sequence[Reading], names: Iterable[str]) -> list[Facet]:
    wanted: dict[str, list[str]] = {}
    for name, value in question.filters:
        wanted.setdefault(name, []).append(value)
    facets = []
    for name in dict.fromkeys([*names, *wanted]):
        values = _values(name, readings, wanted.get(name, []))
        if name in wanted or 1 < len(values) <= MOST_VALUES:
            facets.append(Facet(name, label_of(name), values))
    return facets


def _values(name: str, readings: Sequence[Reading], wanted: Sequence[str]) -> list[Value]:
    runs: dict[str, set[int]] = {value: set() for value in wanted}
    raw: dict[str, Any] = {}
    for reading in readings:
        found = reading.run if name == "run" else reading.of(name)
        if isinstance(found, list | dict):
            continue
        key = address_value(found)
        raw[key] = found
        runs.setdefault(key, set()).add(reading.run)
    ordered = sorted(runs, key=lambda key: natural(raw.get(key, key)))
    return [Value(key, text_of(name, raw.get(key, key)), len(runs[key]), key in wanted) for key in ordered]


def address_value(found: Any) -> str:
    """A fact's value as it stands in an address."""
    if found is None:
        return UNKNOWN
    return {True: "yes", False: "no"}[found] if isinstance(found, bool) else str(found)
