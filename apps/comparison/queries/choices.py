"""What the page offers: metrics and operations that exist, facts for x and series, and filters with the number of runs behind each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Func, JSONField, QuerySet, Value
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Coalesce

from apps.comparison.fact_names import is_of_one_run
from apps.comparison.labels import TIME, UNKNOWN, label_of, natural, operation_of, text_of
from apps.comparison.queries.filters import NAMED, chosen
from apps.comparison.queries.samples import load
from apps.comparison.question import Question, TooManySamplesError
from apps.comparison.readings import FILE_SIZE_OVER_RAM, LABEL, POINT, Reading
from apps.runs.activity import ACTIVITY
from apps.runs.metrics import METRICS, OPERATIONS
from apps.runs.models import Measure, Sample

FIRST = ("study", "host", "configuration", "target", "tool", *POINT)
MOST_VALUES = 24  # of a filter on the page itself
MOST_LISTED = 200  # where the filters are opened and can be searched
MOST_SAME = 60  # facts that are named as equal everywhere
NEWEST = (300, 30, 3)  # runs whose facts are offered where a question has more samples than one comparison takes
Choice = tuple[str, str]
Counts = Mapping[str, list[tuple[Any, int]]]


@dataclass(frozen=True)
class FilterValue:
    value: str
    text: str
    runs: int
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """A filter and its values; `runs` is how many there are with the value, as all other filters stand."""

    name: str
    label: str
    values: list[FilterValue]

    @property
    def is_long(self) -> bool:
        """Return whether its list is folded until something in it is searched for."""
        return len(self.values) > MOST_VALUES and not any(value.chosen for value in self.values)


@dataclass(frozen=True)
class Choices:
    metrics: list[Choice]
    operations: list[Choice]
    xs: list[Choice]
    series: list[Choice]
    facets: list[Facet]
    longer: list[tuple[str, str, int]]  # filters with more values than a list can show: name, label and how many
    same: list[Choice]  # facts that do not vary: label and the one value


def choices(
    question: Question, readings: Sequence[Reading], counted: Counts | None = None, most: int = MOST_VALUES
) -> Choices:
    """Return what the page offers to choose from.

    `counted` has the runs behind each value of the filters in force; without it only those values are offered. A filter
    of more than `most` values is only named.
    """
    measured = set(Measure.objects.values_list("operation", "metric"))
    metrics = {metric for _, metric in measured} | {question.metric}
    operations = {operation for operation, metric in measured if metric == question.metric} | {question.operation}
    facts = _facts(readings)
    names = [name for name in (*FIRST, *facts) if not is_of_one_run(name)]
    facets, longer, same = _facets(question, readings, names, counted or {}, most)
    return Choices(
        metrics=[(name, METRICS[name].label) for name in METRICS if name in metrics],
        operations=[(name, operation_of(name)) for name in OPERATIONS if name in operations],
        xs=_named([*POINT, FILE_SIZE_OVER_RAM, TIME, *facts, question.x]),
        series=_named([LABEL, *facts, *POINT, *question.series]),
        facets=facets,
        longer=longer,
        same=same,
    )


def _facts(readings: Iterable[Reading]) -> list[str]:
    known = {name for reading in readings for name, value in reading.facts.items() if not isinstance(value, dict)}
    known -= {LABEL} | ACTIVITY
    return [name for name in FIRST if name in known] + sorted(known - set(FIRST))


def _named(names: Iterable[str]) -> list[Choice]:
    return [(name, label_of(name)) for name in dict.fromkeys(names)]


def _facets(
    question: Question, readings: Sequence[Reading], names: Iterable[str], counted: Counts, most: int
) -> tuple[list[Facet], list[tuple[str, str, int]], list[Choice]]:
    """Return the filters to choose from, those with too many values for a list, and what is the same everywhere."""
    wanted: dict[str, list[str]] = {}
    for name, value in question.filters:
        wanted.setdefault(name, []).append(value)
    facets, longer, same = [], [], []
    for name in dict.fromkeys([*names, *wanted]):
        counts_found = counted[name] if name in counted else _counted(name, readings)
        values = _values(name, counts_found, wanted.get(name, []))
        if name in wanted or 1 < len(values) <= most:
            facets.append(Facet(name, label_of(name), values))
        elif len(values) > most:
            longer.append((name, label_of(name), len(values)))
        elif values and values[0].value != UNKNOWN:
            same.append((label_of(name), values[0].text))
    return facets, longer, same[:MOST_SAME]


def _counted(name: str, readings: Sequence[Reading]) -> list[tuple[Any, int]]:
    runs: dict[tuple[type, Any], set[int]] = {}  # by type too: True is no 1
    for reading in readings:
        value = reading.run if name == "run" else reading.of(name)
        if not isinstance(value, list | dict):
            runs.setdefault((type(value), value), set()).add(reading.run)
    by_address: dict[str, tuple[Any, set[int]]] = {}
    for (_, value), of in runs.items():
        by_address.setdefault(address_value(value), (value, set()))[1].update(of)
    return [(value, len(of)) for value, of in by_address.values()]


def _values(name: str, counted: Iterable[tuple[Any, int]], wanted: Sequence[str]) -> list[FilterValue]:
    known = {address_value(value): (value, runs) for value, runs in counted if not isinstance(value, list | dict)}
    known = {value: (value, 0) for value in wanted} | known
    ordered = sorted(known, key=lambda key: natural(known[key][0]))
    return [
        _value_of_many(key, known, key in wanted)
        if name == "run" and "," in key
        else FilterValue(key, text_of(name, known[key][0]), known[key][1], key in wanted)
        for key in ordered
    ]


def _value_of_many(key: str, known: Mapping[str, tuple[Any, int]], is_chosen: bool) -> FilterValue:
    """Return several runs as one value: how many they are, and how many of them there are with the other filters."""
    runs = key.split(",")
    return FilterValue(key, f"{len(runs)} of them", sum(known[run][1] for run in runs if run in known), is_chosen)


def address_value(value: Any) -> str:
    """Return a fact's value as it is written in an address."""
    if value is None:
        return UNKNOWN
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def newest_readings(question: Question) -> tuple[list[Reading], int]:
    """Return the readings of the newest runs of a question that has too many samples, and how many runs these are.

    Their facts are offered, so that people can choose. Of runs that have very many samples each there are fewer.
    """
    samples = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    newest = chosen(samples, question.filters).order_by("-run_id").values_list("run_id", flat=True).distinct()
    runs = list(newest[: NEWEST[0]])
    other_filters = tuple(pair for pair in question.filters if pair[0] != "run")
    for most in NEWEST:
        few = ",".join(map(str, runs[:most]))
        try:
            return load(question.with_(filters=(*other_filters, ("run", few)))), min(most, len(runs))
        except TooManySamplesError:
            continue
    return [], 0


MOST_COUNTED_VALUES = 100  # of one filter; those with the most runs


def counts(question: Question) -> Counts:
    """Filter in force → (value, runs), most runs first. One query, however many filters and runs there are."""
    names = [name for name in dict.fromkeys(name for name, _ in question.filters) if name != "run"]
    if not names:
        return {}
    first, *others = [_of_filter(question, name) for name in names]
    rows = first.union(*others, all=True) if others else first
    counts_found: dict[str, list[tuple[Any, int]]] = {name: [] for name in names}
    for name, value, runs in rows:
        counts_found[name].append((value, runs))
    return counts_found


def _of_filter(question: Question, name: str) -> QuerySet[Sample, tuple[str, Any, int]]:
    samples = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    others = [pair for pair in question.filters if pair[0] != name]
    named = chosen(samples, others).annotate(filter_name=Value(name), filter_value=_value(name))
    counted = named.values("filter_name", "filter_value").annotate(runs=Count("run", distinct=True))
    return counted.order_by("-runs").values_list("filter_name", "filter_value", "runs")[:MOST_COUNTED_VALUES]


def _value(name: str) -> Any:
    """Return an expression for a fact as JSON, so that words, numbers and unknown values come through one query."""
    if name in POINT or name in NAMED:
        path = f"point__{name}" if name in POINT else NAMED[name][0]
        return Func(F(path), function="to_jsonb", output_field=JSONField())
    return Coalesce(KeyTransform(name, "run__facts"), KeyTransform(name, "run__labels"), output_field=JSONField())
