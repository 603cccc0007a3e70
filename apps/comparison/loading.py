"""The samples that answer a question, from the labs that the request may read (the scope is set by the middleware).

Whatever the number of runs: one query for the samples of 64 questions, and for every 20,000 of them one for the runs, one
for their snapshots, one for what else was measured at the same points, for percentiles one for histograms, and for runs
of studies one for what their plans ask and one for what their reports say in prose.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from django.db.models import Q, QuerySet, Value

from apps.comparison.compare import percentile_of
from apps.comparison.evidence import evidence_of
from apps.comparison.filtering import chosen
from apps.comparison.question import Question, QuestionError
from apps.comparison.quoting import quotes_of
from apps.comparison.readings import NO_EVIDENCE, NO_NUMBER, POINT, Evidence, Quote, Reading, usable
from apps.comparison.too_many import TooManySamplesError
from apps.comparison.wholes import without_parts
from apps.runs.metrics import DISK, METRICS
from apps.runs.models import Histogram, Run, Sample
from apps.runs.sections import name_in

MOST_SAMPLES = 20_000  # of one question; as many are in memory at once
AT_ONCE = 64  # questions in one statement: PostgreSQL plans a statement of n in time that grows with n²
COLUMNS = (
    "id", "run_id", "value", "section", "measure__operation", "measure__metric",
    "point__file_size", "point__block_size", "point__threads", "point__iodepth",
    "run__repetition", "run__origin", "run__facts", "run__labels", "run__tool", "run__tool_version",
    "run__host__name", "run__target__name",
    "run__study_run__configuration__label", "run__study_run__configuration__position",
    "run__study_run__configuration__study__slug",
    "provenance__quality", "provenance__missing_reason", "provenance__low", "provenance__high",
    "printed", "provenance__note", "source_line", "run__sections",
)  # fmt: skip
PLACE = ("run_id", "measure__operation", "section", "point_id")  # samples that agree in these lie beside each other
OWN_COLUMNS = (*COLUMNS, "point_id", "provenance__cpu")
# what caveats are about
BESIDE = ("cpu", "elapsed", "bandwidth", "io_bytes", "bandwidth_parent", "bandwidth_min", "bandwidth_mean")


def load(question: Question) -> list[Reading]:
    """At most `MOST_SAMPLES`; more is an error that says so, because a silent part of the data would be a wrong
    answer.
    """
    (found,) = load_many([question])
    if isinstance(found, QuestionError):
        raise found
    return found


def load_many(questions: Sequence[Question]) -> Iterator[list[Reading] | QuestionError]:
    """For each question its readings, or why there are none: what is wrong with one spoils no other."""
    wanted = [_wanted(number, one) for number, one in enumerate(questions)]
    found = [one for one in wanted if not isinstance(one, QuestionError)]
    for numbers, part in _parts(_rows(found), len(wanted)):
        held = {number: rows for number, rows in part.items() if len(rows) <= MOST_SAMPLES}
        known = _known([questions[number] for number in held], [row for rows in held.values() for row in rows])
        for number in numbers:
            refused = wanted[number]
            if isinstance(refused, QuestionError):
                yield refused
            elif number in part and number not in held:
                yield TooManySamplesError(questions[number], MOST_SAMPLES)
            else:
                yield _with(without_parts(held.get(number, [])), known)


def _wanted(number: int, question: Question) -> QuerySet[Sample, tuple[Any, ...]] | QuestionError:
    found = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    try:
        rows = chosen(found, question.filters).annotate(question=Value(number))
    except QuestionError as error:
        return error
    return rows.values_list("question", *OWN_COLUMNS)[: MOST_SAMPLES + 1]


def _rows(wanted: Sequence[QuerySet[Sample, tuple[Any, ...]]]) -> Iterable[tuple[Any, ...]]:
    """In the order of their questions. Those of several are not all in memory at once."""
    if len(wanted) == 1:
        return wanted[0]
    return chain.from_iterable(
        _together(*some) for some in (wanted[at : at + AT_ONCE] for at in range(0, len(wanted), AT_ONCE))
    )


def _together(first: Any, *others: Any) -> Iterable[tuple[Any, ...]]:
    rows = first.union(*others, all=True).order_by("question") if others else first
    found: Iterable[tuple[Any, ...]] = rows.iterator(MOST_SAMPLES)
    return found


def _parts(rows: Iterable[tuple[Any, ...]], questions: int) -> Iterator[tuple[range, dict[int, list["Row"]]]]:
    """The numbers of questions that follow each other, and the rows of those that have some."""
    begin, part = 0, {}
    for number, some in groupby(rows, itemgetter(0)):
        part[number] = as_dicts(some, ("question", *OWN_COLUMNS))
        if sum(map(len, part.values())) >= MOST_SAMPLES:
            yield range(begin, number + 1), part
            begin, part = number + 1, {}
    yield range(begin, questions), part


def of_run(run: Run) -> list[Reading]:
    """All samples of one run, whatever they measure."""
    return of_runs([run.pk])[run.pk]


def of_runs(runs: Iterable[int]) -> dict[int, list[Reading]]:
    """All samples of these runs, whatever they measure, by run."""
    found: dict[int, list[Reading]] = {run: [] for run in runs}
    rows = as_dicts(Sample.objects.filter(run__in=list(found)).order_by("id").values_list(*OWN_COLUMNS))
    beside = by_place((*(row[name] for name in PLACE), row["measure__metric"], row["value"]) for row in rows)
    for reading in readings_of(rows, beside):
        found[reading.run].append(reading)
    return found


Row = dict[str, Any]
Beside = Mapping[tuple[Any, ...], Mapping[str, float]]


@dataclass(frozen=True)
class Known:
    """What stands beside samples, for all questions that have them."""

    facts: Mapping[int, Mapping[str, Any]]  # by run
    bins: Mapping[tuple[Any, ...], Any]  # latency bins by run, section, operation and metric
    beside: Beside
    at_disks: Mapping[int, Mapping[str, float]]  # by run
    evidence: Mapping[int, Evidence]
    quotes: Mapping[int, tuple[Quote, ...]]

    @classmethod
    def of(cls, rows: Iterable[Row], bins: Mapping[tuple[Any, ...], Any], beside: Beside) -> "Known":
        facts: dict[int, Mapping[str, Any]] = {}
        for row in rows:
            if row["run_id"] not in facts:
                facts[row["run_id"]] = facts_of(row)
        studies = {str(run["study"]) for run in facts.values() if run["study"]}
        return cls(facts, bins, beside, _at_disks(beside), evidence_of(facts), quotes_of(studies))


def as_dicts(rows: Iterable[tuple[Any, ...]], columns: Sequence[str] = OWN_COLUMNS) -> list[Row]:
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _known(questions: Sequence[Question], rows: Sequence[Row]) -> Known:
    runs = {row["run_id"] for row in rows}
    return Known.of(rows, _histograms(questions, runs), _beside(questions, runs))


def _histograms(questions: Iterable[Question], runs: Collection[int]) -> Mapping[tuple[Any, ...], Any]:
    """For percentiles only: those of several runs are taken from merged bins."""
    metrics: dict[tuple[str, str], set[str]] = {}
    for one in questions:
        if percentile_of(METRICS[one.metric]) is not None:
            metrics.setdefault((one.operation, one.metric.partition("_")[0]), set()).add(one.metric)
    if not metrics:
        return {}
    operations, kinds = map(set, zip(*metrics, strict=True))
    found = Histogram.objects.filter(run__in=runs, operation__in=operations, kind__in=kinds)
    return {
        (run, section, operation, metric): bins
        for run, section, operation, kind, bins in found.values_list("run_id", "section", "operation", "kind", "bins")
        for metric in metrics.get((operation, kind), ())
    }


def _beside(questions: Iterable[Question], runs: Collection[int]) -> Beside:
    """At the same points; and what was counted at the runs' disks."""
    beside = Q(measure__operation__in={one.operation for one in questions}, measure__metric__in=BESIDE)
    found = Sample.objects.filter(beside | Q(measure__operation=DISK), run__in=runs)
    return by_place(found.values_list(*PLACE, "measure__metric", "value"))


def _at_disks(beside: Beside) -> Mapping[int, Mapping[str, float]]:
    """All disks of a run together."""
    found: dict[int, dict[str, float]] = {}
    for (run, operation, *_), counts in beside.items():
        if operation == DISK:
            together = found.setdefault(run, {})
            for metric, count in counts.items():
                together[metric] = together.get(metric, 0.0) + count
    return found


def by_place(rows: Iterable[tuple[Any, ...]]) -> Beside:
    places: dict[tuple[Any, ...], dict[str, float]] = {}
    for *place, metric, value in rows:
        if value is not None:
            places.setdefault(tuple(place), {})[metric] = value
    return places


def readings_of(rows: Sequence[Row], beside: Beside) -> list[Reading]:
    """What was counted at disks has no point of the workload: it is known beside the readings, and none of them."""
    own = [row for row in rows if row["measure__operation"] != DISK]
    return _with(own, Known.of(own, {}, beside))


def _with(rows: Sequence[Row], known: Known) -> list[Reading]:
    facts = _labelled({row["run_id"]: known.facts[row["run_id"]] for row in rows})
    return [_reading(row, facts[row["run_id"]], known) for row in rows]


def _labelled(facts: Mapping[int, Mapping[str, Any]]) -> Mapping[int, Mapping[str, Any]]:
    """Two studies call different things by one name: then the label says whose it is."""
    whose: dict[str, set[str]] = {}  # a label → the studies, or hosts, it stands for
    for run in facts.values():
        whose.setdefault(run["label"], set()).add(str(run["study"]))
    return {
        pk: {**run, "label": f"{run['label']} ({run['study'] or 'own runs'})"} if len(whose[run["label"]]) > 1 else run
        for pk, run in facts.items()
    }


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


def _reading(row: Row, facts: Mapping[str, Any], known: Known) -> Reading:
    bins = known.bins.get((row["run_id"], row["section"], row["measure__operation"], row["measure__metric"]), ())
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
        section_name=name_in(row["run__sections"], row["section"]),
        position=(facts["study"] or "", row["run__study_run__configuration__position"] or 0),
        bins=tuple((int(ns), int(count)) for ns, count in bins),
        beside={"cpu": row["provenance__cpu"], **known.beside.get(tuple(row[name] for name in PLACE), {})},
        at_disks=known.at_disks.get(row["run_id"], {}),
        evidence=known.evidence.get(row["run_id"], NO_EVIDENCE),
        quotes=known.quotes.get(row["id"], ()),
    )
