"""The samples that answer a question, from the labs that the request may read (the scope is set by the middleware).

Whatever the number of samples and runs: one query for the samples, one for the runs, one for their snapshots, one for
what else was measured at the same points, for percentiles one for histograms, and for runs of studies one for what
their plans ask and one for what their reports say in prose.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from apps.comparison.compare import percentile_of
from apps.comparison.evidence import evidence_of
from apps.comparison.question import Question, QuestionError
from apps.comparison.quoting import quotes_of
from apps.comparison.readings import NO_EVIDENCE, NO_NUMBER, POINT, Evidence, Quote, Reading, usable
from apps.comparison.too_many import TooManySamplesError
from apps.comparison.words import UNKNOWN
from apps.runs.metrics import METRICS
from apps.runs.models import Histogram, Run, Sample
from apps.runs.states import State

MOST_SAMPLES = 20_000
MOST_DIGITS = 19  # of the database's integers
COLUMNS = (
    "id", "run_id", "value", "section", "measure__operation", "measure__metric",
    "point__file_size", "point__block_size", "point__threads", "point__iodepth",
    "run__repetition", "run__origin", "run__facts", "run__labels", "run__tool", "run__tool_version",
    "run__host__name", "run__target__name",
    "run__study_run__configuration__label", "run__study_run__configuration__position",
    "run__study_run__configuration__study__slug",
    "provenance__quality", "provenance__missing_reason", "provenance__low", "provenance__high",
    "printed", "provenance__note", "source_line",
)  # fmt: skip
PLACE = ("run_id", "measure__operation", "section", "point_id")  # samples that agree in these lie beside each other
OWN_COLUMNS = (*COLUMNS, "point_id", "provenance__cpu")
BESIDE = ("cpu", "elapsed", "bandwidth_parent", "bandwidth_min", "bandwidth_mean")  # what caveats are about
NAMED = {
    "operation": ("measure__operation",),
    "metric": ("measure__metric",),
    "study": ("run__study_run__configuration__study__slug",),
    "configuration": ("run__study_run__configuration__label", "run__study_run__configuration__name"),
    "host": ("run__host__name",),
    "target": ("run__target__name",),
    "tool": ("run__tool",),
    "tool_version": ("run__tool_version",),
    "origin": ("run__origin",),
}


def load(question: Question) -> list[Reading]:
    """At most `MOST_SAMPLES`; more is an error that says so, because a silent part of the data would be a wrong
    answer.
    """
    found = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    rows = list(chosen(found, question.filters).values_list(*OWN_COLUMNS)[: MOST_SAMPLES + 1])
    if len(rows) > MOST_SAMPLES:
        raise TooManySamplesError(question, MOST_SAMPLES)
    kept = as_dicts(rows)
    return readings_of(kept, _histograms(question, kept), _beside(question, kept))


def of_run(run: Run) -> list[Reading]:
    """All samples of one run, whatever they measure."""
    return of_runs([run.pk])[run.pk]


def of_runs(runs: Iterable[int]) -> dict[int, list[Reading]]:
    """All samples of these runs, whatever they measure, by run."""
    found: dict[int, list[Reading]] = {run: [] for run in runs}
    rows = as_dicts(Sample.objects.filter(run__in=list(found)).order_by("id").values_list(*OWN_COLUMNS))
    beside = by_place((*(row[name] for name in PLACE), row["measure__metric"], row["value"]) for row in rows)
    for reading in readings_of(rows, {}, beside):
        found[reading.run].append(reading)
    return found


def chosen(samples: QuerySet[Sample], filters: Iterable[tuple[str, str]]) -> QuerySet[Sample]:
    """Samples of finished runs that pass the filters."""
    return matching(samples.filter(run__state=State.FINISHED), filters)


def matching(samples: QuerySet[Sample], filters: Iterable[tuple[str, str]]) -> QuerySet[Sample]:
    """The same name twice means either value. Names as in an address: see `question.py`."""
    wanted: dict[str, list[str]] = {}
    for name, value in filters:
        wanted.setdefault(name, []).append(value)
    for name, values in wanted.items():
        samples = samples.filter(_either(name, values))
    return samples


def _either(name: str, values: list[str]) -> Q:
    if name == "run" or name in POINT:
        path = "run_id" if name == "run" else f"point__{name}"
        numbers = [number for value in values for number in _numbers(name, value)]
        known = Q(**{f"{path}__in": [number for number in numbers if number is not None]})
        return known | Q(**{f"{path}__isnull": True}) if None in numbers else known
    matches = Q()
    for value in values:
        matches |= _named(name, value) if name in NAMED else _fact(name, value)
    return matches


def _numbers(name: str, value: str) -> list[int | None]:
    if value == UNKNOWN:
        return [None]
    parts = value.split(",")
    if not all(part.isdecimal() and len(part) < MOST_DIGITS for part in parts):
        raise QuestionError(name, value, "whole numbers, in bytes for sizes, with commas between them")
    return [int(part) for part in parts]


def _named(name: str, value: str) -> Q:
    paths = NAMED[name]
    if value == UNKNOWN:
        return Q(**{f"{paths[0]}__isnull": True}) | Q(**{paths[0]: ""})
    either = Q()
    for path in paths:
        either |= Q(**{path: value})
    return either


def _fact(name: str, value: str) -> Q:
    """A fact of the run, else a label of it. In an address 5 may be a number or a word, so both are looked for."""
    if value == UNKNOWN:
        return (
            ~Q(run__facts__has_key=name)
            | Q(run__facts__contains={name: None})
            | Q(run__facts__contains={name: UNKNOWN})
        )
    either = Q(run__facts__contains={name: value}) | Q(run__labels__contains={name: value})
    try:
        literal = json.loads({"yes": "true", "no": "false"}.get(value, value))
    except (ValueError, RecursionError):
        return either
    is_number = isinstance(literal, int | float) and abs(literal) < float("inf")  # NaN is no JSON
    return either | Q(run__facts__contains={name: literal}) if is_number else either


Row = dict[str, Any]
Beside = Mapping[tuple[Any, ...], Mapping[str, float]]


def as_dicts(rows: Iterable[tuple[Any, ...]]) -> list[Row]:
    return [dict(zip(OWN_COLUMNS, row, strict=True)) for row in rows]


def _histograms(question: Question, rows: Sequence[Row]) -> Mapping[tuple[int, int], Any]:
    """(run, section) → latency bins, for percentiles only: those of several runs are taken from merged bins."""
    if percentile_of(METRICS[question.metric]) is None or not rows:
        return {}
    kind = question.metric.partition("_")[0]
    found = Histogram.objects.filter(run__in={row["run_id"] for row in rows}, operation=question.operation, kind=kind)
    return {(run, section): bins for run, section, bins in found.values_list("run_id", "section", "bins")}


def _beside(question: Question, rows: Sequence[Row]) -> Beside:
    found = Sample.objects.filter(
        run__in={row["run_id"] for row in rows}, measure__operation=question.operation, measure__metric__in=BESIDE
    )
    return by_place(found.values_list(*PLACE, "measure__metric", "value"))


def by_place(rows: Iterable[tuple[Any, ...]]) -> Beside:
    places: dict[tuple[Any, ...], dict[str, float]] = {}
    for *place, metric, value in rows:
        if value is not None:
            places.setdefault(tuple(place), {})[metric] = value
    return places


def readings_of(rows: Sequence[Row], bins: Mapping[tuple[int, int], Any], beside: Beside) -> list[Reading]:
    facts: dict[int, dict[str, Any]] = {}
    whose: dict[str, set[str]] = {}  # a label → the studies, or hosts, it stands for
    for row in rows:
        if row["run_id"] not in facts:
            facts[row["run_id"]] = facts_of(row)
            whose.setdefault(facts[row["run_id"]]["label"], set()).add(str(facts[row["run_id"]]["study"]))
    for run in facts.values():
        if len(whose[run["label"]]) > 1:  # two studies call different things by one name
            run["label"] = f"{run['label']} ({run['study'] or 'own runs'})"
    evidence = evidence_of(facts)
    quotes = quotes_of({str(run["study"]) for run in facts.values() if run["study"]})
    return [
        _reading(
            row,
            facts[row["run_id"]],
            bins.get((row["run_id"], row["section"]), ()),
            {"cpu": row["provenance__cpu"], **beside.get(tuple(row[name] for name in PLACE), {})},
            evidence.get(row["run_id"], NO_EVIDENCE),
            quotes.get(row["id"], ()),
        )
        for row in rows
    ]


def facts_of(row: Mapping[str, Any]) -> dict[str, Any]:
    host, target = row["run__host__name"], row["run__target__name"]
    configuration = row["run__study_run__configuration__label"]
    known = {
        "host": host,
        "target": target,
        "study": row["run__study_run__configuration__study__slug"],
        "configuration": configuration,
        "tool": row["run__tool"],
        "tool_version": row["run__tool_version"] or None,
        "label": configuration
        or " · ".join(part for part in (host, target) if part)
        or f"{row['run__tool']}, host unknown",
    }
    facts = {**row["run__labels"], **row["run__facts"]}
    return {**facts, **{name: value for name, value in known.items() if value is not None or name not in facts}}


def _reading(
    row: Row,
    facts: Mapping[str, Any],
    bins: Any,
    beside: Mapping[str, float | None],
    evidence: Evidence,
    quotes: tuple[Quote, ...],
) -> Reading:
    value = usable(row["value"])
    return Reading(
        id=row["id"],
        run=row["run_id"],
        operation=row["measure__operation"],
        metric=row["measure__metric"],
        value=value,
        facts=facts,
        **{name: row[f"point__{name}"] for name in POINT},
        repetition=row["run__repetition"],
        origin=row["run__origin"],
        quality=row["provenance__quality"] or "exact",
        missing_reason=row["provenance__missing_reason"] or (NO_NUMBER if value != row["value"] else ""),
        low=row["provenance__low"],
        high=row["provenance__high"],
        printed=row["printed"],
        note=row["provenance__note"] or "",
        source_line=row["source_line"],
        section=row["section"],
        position=(facts["study"] or "", row["run__study_run__configuration__position"] or 0),
        bins=tuple((int(ns), int(count)) for ns, count in bins),
        beside=beside,
        evidence=evidence,
        quotes=quotes,
    )
