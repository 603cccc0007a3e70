"""The samples that answer a question, from the labs that the request may read (the scope is set by the middleware).

Whatever the number of runs: one query for the samples of 64 questions, and for every 20,000 of them one for the runs, one
for their snapshots, one for what else was measured at the same points, for percentiles one for histograms, and for runs
of studies one for what their plans ask and one for what their reports say in prose.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, groupby, islice
from operator import itemgetter
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Value

from apps.comparison.claims.citations import quotes_of
from apps.comparison.compare import percentile_of
from apps.comparison.queries.aggregates import PLACE, Beside, summed, without_parts
from apps.comparison.queries.filters import chosen
from apps.comparison.question import Question, QuestionError, TooManySamplesError
from apps.comparison.readings import NO_EVIDENCE, NO_NUMBER, POINT, Evidence, MeasuredMachine, Quote, Reading, usable
from apps.core import sql
from apps.inventory.models import Snapshot
from apps.runs.metrics import DISK, METRICS
from apps.runs.models import Histogram, Run, Sample, Series
from apps.runs.sections import engine_in, name_in
from apps.studies.models import Guard
from apps.studies.plans.guards import CacheRule

MOST_SAMPLES = 20_000  # of one question; as many are in memory at once
CACHE_RULES_AT_ONCE = 64  # questions in one statement: PostgreSQL plans a statement of n in time that grows with n²
COLUMNS = (
    "id", "run_id", "value", "section", "measure__operation", "measure__metric",
    "point__file_size", "point__block_size", "point__threads", "point__iodepth",
    "run__repetition", "run__origin", "run__facts", "run__labels", "run__tool", "run__tool_version",
    "run__host__name", "run__target__name",
    "run__study_run__configuration__label", "run__study_run__configuration__position",
    "run__study_run__configuration__study__slug",
    "provenance__quality", "provenance__missing_reason", "provenance__low", "provenance__high",
    "printed", "provenance__note", "source_line", "run__sections",
    "run__host_id", "run__target_id", "run__study_run__configuration_id", "run__study_run__configuration__study_id",
)  # fmt: skip
OWN_COLUMNS = (*COLUMNS, "point_id", "provenance__cpu")
# what caveats are about
BESIDE = ("cpu", "elapsed", "bandwidth", "io_bytes", "bandwidth_parent", "bandwidth_min", "bandwidth_mean")
MOVED = "io_bytes"


def load(question: Question) -> list[Reading]:
    """Load the readings of a question.

    Raises:
        QuestionError: There are more than `MOST_SAMPLES`, or the question cannot be answered.
    """
    (result,) = load_many([question])
    if isinstance(result, QuestionError):
        raise result
    return result


def load_many(questions: Sequence[Question]) -> Iterator[list[Reading] | QuestionError]:
    """Yield for each question its readings, or why there are none; an error of one does not affect the others."""
    wanted = [_wanted(number, question) for number, question in enumerate(questions)]
    queries = [query for query in wanted if not isinstance(query, QuestionError)]
    for numbers, part in _parts(_rows(queries), len(wanted)):
        held = {number: rows for number, rows in part.items() if len(rows) <= MOST_SAMPLES}
        known = _known([questions[number] for number in held], [row for rows in held.values() for row in rows])
        for number in numbers:
            refused = wanted[number]
            if isinstance(refused, QuestionError):
                yield refused
            elif number in part and number not in held:
                yield TooManySamplesError(questions[number], MOST_SAMPLES)
            else:
                wholes = summed(without_parts(held.get(number, [])), partial(_known_beside, known.beside))
                yield _with(wholes, known)


def _known_beside(beside: Beside, _runs: Collection[int]) -> Beside:
    return beside


def _wanted(number: int, question: Question) -> QuerySet[Sample, tuple[Any, ...]] | QuestionError:
    samples = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    try:
        rows = chosen(samples, question.filters).annotate(question=Value(number))
    except QuestionError as error:
        return error
    return rows.values_list("question", *OWN_COLUMNS)[: MOST_SAMPLES + 1]


def _rows(wanted: Sequence[QuerySet[Sample, tuple[Any, ...]]]) -> Iterable[tuple[Any, ...]]:
    """Yield rows in the order of their questions; those of several are not all in memory at once."""
    if len(wanted) == 1:
        return wanted[0]
    return chain.from_iterable(
        _together(*some)
        for some in (wanted[at : at + CACHE_RULES_AT_ONCE] for at in range(0, len(wanted), CACHE_RULES_AT_ONCE))
    )


def _together(first: Any, *others: Any) -> Iterable[tuple[Any, ...]]:
    rows = first.union(*others, all=True).order_by("question") if others else first
    result_rows: Iterable[tuple[Any, ...]] = rows.iterator(MOST_SAMPLES)
    return result_rows


def _parts(rows: Iterable[tuple[Any, ...]], questions: int) -> Iterator[tuple[range, dict[int, list["Row"]]]]:
    """Yield ranges of questions that follow each other with the rows of those that have some."""
    begin, part = 0, {}
    for number, some in groupby(rows, itemgetter(0)):
        part[number] = as_dicts(some, ("question", *OWN_COLUMNS))
        if sum(map(len, part.values())) >= MOST_SAMPLES:
            yield range(begin, number + 1), part
            begin, part = number + 1, {}
    yield range(begin, questions), part


def of_run(run: Run) -> list[Reading]:
    """Return all samples of one run as readings."""
    return of_runs([run.pk])[run.pk]


def of_runs(runs: Iterable[int]) -> dict[int, list[Reading]]:
    """Return all samples of these runs as readings, by run."""
    readings: dict[int, list[Reading]] = {run: [] for run in runs}
    rows = as_dicts(Sample.objects.filter(run__in=list(readings)).order_by("id").values_list(*OWN_COLUMNS))
    beside = by_place((*(row[name] for name in PLACE), row["measure__metric"], row["value"]) for row in rows)
    for reading in readings_of(rows, beside):
        readings[reading.run].append(reading)
    return readings


Row = dict[str, Any]


@dataclass(frozen=True)
class SampleContext:
    """What stands beside samples, for all questions that have them."""

    facts: Mapping[int, Mapping[str, Any]]  # by run
    identities: Mapping[int, Mapping[str, int | None]]  # by run
    bins: Mapping[tuple[Any, ...], Any]  # latency bins by run, section, operation and metric
    beside: Beside
    at_disks: Mapping[int, Mapping[str, float]]  # by run
    moved: Mapping[int, Mapping[str, float]]  # bytes by run and operation
    evidence: Mapping[int, Evidence]
    quotes: Mapping[int, tuple[Quote, ...]]

    @classmethod
    def of(cls, rows: Iterable[Row], bins: Mapping[tuple[Any, ...], Any], beside: Beside) -> "SampleContext":
        facts: dict[int, Mapping[str, Any]] = {}
        identities: dict[int, Mapping[str, int | None]] = {}
        for row in rows:
            if row["run_id"] not in facts:
                facts[row["run_id"]] = facts_of(row)
                identities[row["run_id"]] = _identity_of(row)
        studies = {str(run["study"]) for run in facts.values() if run["study"]}
        at_disks = _at_disks(beside)
        moved = _moved(beside, at_disks)
        return cls(facts, identities, bins, beside, at_disks, moved, evidence_of(facts), quotes_of(studies))


def as_dicts(rows: Iterable[tuple[Any, ...]], columns: Sequence[str] = OWN_COLUMNS) -> list[Row]:
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _known(questions: Sequence[Question], rows: Sequence[Row]) -> SampleContext:
    runs = {row["run_id"] for row in rows}
    return SampleContext.of(rows, _histograms(questions, runs), _beside(questions, runs))


def _histograms(questions: Iterable[Question], runs: Collection[int]) -> Mapping[tuple[Any, ...], Any]:
    """Return the histograms of runs, for percentiles only: those of several runs are taken from merged bins."""
    metrics: dict[tuple[str, str], set[str]] = {}
    for question in questions:
        if percentile_of(METRICS[question.metric]) is not None:
            metrics.setdefault((question.operation, question.metric.partition("_")[0]), set()).add(question.metric)
    if not metrics:
        return {}
    operations, kinds = map(set, zip(*metrics, strict=True))
    histograms = Histogram.objects.filter(run__in=runs, operation__in=operations, kind__in=kinds)
    return {
        (run, section, operation, metric): bins
        for run, section, operation, kind, bins in histograms.values_list(
            "run_id", "section", "operation", "kind", "bins"
        )
        for metric in metrics.get((operation, kind), ())
    }


def _beside(questions: Iterable[Question], runs: Collection[int]) -> Beside:
    """Return what was measured at the same points, what the runs moved, and what was counted at their disks."""
    beside = Q(measure__operation__in={question.operation for question in questions}, measure__metric__in=BESIDE)
    of_runs = Q(measure__operation=DISK) | Q(measure__metric=MOVED)
    samples = Sample.objects.filter(beside | of_runs, run__in=runs)
    return by_place(samples.values_list(*PLACE, "measure__metric", "value"))


def rates_beside(runs: Collection[int]) -> Beside:
    """Return bytes and bandwidth of each job of these runs, which give the time that it ran."""
    samples = Sample.objects.filter(run__in=runs, measure__metric__in=("bandwidth", "io_bytes"))
    return by_place(samples.values_list(*PLACE, "measure__metric", "value"))


def _at_disks(beside: Beside) -> Mapping[int, Mapping[str, float]]:
    """Return the disks' counters of each run, summed."""
    totals: dict[int, dict[str, float]] = {}
    for (run, operation, *_), counts in beside.items():
        if operation == DISK:
            together = totals.setdefault(run, {})
            for metric, count in counts.items():
                together[metric] = together.get(metric, 0.0) + count
    return totals


def _moved(beside: Beside, runs: Collection[int]) -> Mapping[int, Mapping[str, float]]:
    """Return the bytes that all jobs of each of these runs moved, by operation."""
    totals: dict[int, dict[str, float]] = {}
    for (run, operation, *_), figures in beside.items():
        if run in runs and operation != DISK and MOVED in figures:
            together = totals.setdefault(run, {})
            together[operation] = together.get(operation, 0.0) + figures[MOVED]
    return totals


def by_place(rows: Iterable[tuple[Any, ...]]) -> Beside:
    places: dict[tuple[Any, ...], dict[str, float]] = {}
    for *place, metric, value in rows:
        if value is not None:
            places.setdefault(tuple(place), {})[metric] = value
    return places


def readings_of(rows: Sequence[Row], beside: Beside) -> list[Reading]:
    """Return readings of rows; what was counted at disks has no point and stands beside the readings."""
    own = [row for row in rows if row["measure__operation"] != DISK]
    return _with(own, SampleContext.of(own, {}, beside))


def _with(rows: Sequence[Row], known: SampleContext) -> list[Reading]:
    facts = _labelled({row["run_id"]: known.facts[row["run_id"]] for row in rows})
    return [_reading(row, facts[row["run_id"]], known) for row in rows]


def _labelled(facts: Mapping[int, Mapping[str, Any]]) -> Mapping[int, Mapping[str, Any]]:
    """Return the facts with labels that name the study where two studies use one label."""
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


def _identity_of(row: Mapping[str, Any]) -> dict[str, int | None]:
    place = "run__study_run__configuration"
    return {
        "host": row["run__host_id"],
        "target": row["run__target_id"],
        "configuration": row[f"{place}_id"],
        "study": row[f"{place}__study_id"],
    }


def _reading(row: Row, facts: Mapping[str, Any], known: SampleContext) -> Reading:
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
        section_engine=engine_in(row["run__sections"], row["section"]),
        part=row.get("part", {}),
        position=(facts["study"] or "", row["run__study_run__configuration__position"] or 0),
        bins=tuple((int(ns), int(count)) for ns, count in bins),
        beside={
            "cpu": row["provenance__cpu"],
            **row.get("beside", known.beside.get(tuple(row[name] for name in PLACE), {})),
        },
        at_disks=known.at_disks.get(row["run_id"], {}),
        moved=known.moved.get(row["run_id"], {}),
        evidence=known.evidence.get(row["run_id"], NO_EVIDENCE),
        quotes=known.quotes.get(row["id"], ()),
        identity=known.identities[row["run_id"]],
    )


def evidence_of(runs: Collection[int]) -> Mapping[int, Evidence]:
    logs = Series.objects.filter(run=OuterRef("pk"), source="fio_log")
    columns = ("id", "snapshot_id", "started_at", "finished_at", "workload__spec", "has_fio_logs", *PLACES)
    flagged = Run.objects.filter(pk__in=runs).annotate(has_fio_logs=Exists(logs))
    rows = list(flagged.order_by().values_list(*columns))
    snapshots = Snapshot.objects.filter(pk__in={row[1] for row in rows if row[1]})
    machines = {pk: MeasuredMachine(content) for pk, content in snapshots.values_list("id", "content")}
    rules = cache_rules({row[0]: row[6:] for row in rows})
    return {
        pk: Evidence(machines.get(snapshot), began, ended, spec or {}, has_logs, rules.get(pk))
        for pk, snapshot, began, ended, spec, has_logs, *_ in rows
    }


# Of a run: the plan that it was made for, and the configuration of a study that it is kept under.
PLACES = ("planned_run__row__plan_id", "study_run__configuration_id")
Place = tuple[int | None, int | None]


def cache_rules(places: Mapping[int, Place]) -> dict[int, CacheRule]:
    """Return the cache rule that applies to each run.

    An imported run belongs to every plan with its configuration: of several rules the least demanding one applies.
    """
    plans = {plan for plan, _ in places.values() if plan}
    configurations = {configuration for plan, configuration in places.values() if configuration and not plan}
    if not plans and not configurations:
        return {}
    of_plan: dict[int, CacheRule] = {}
    of_configuration: dict[int, CacheRule] = {}
    for plan, configuration, rule in _rules(plans, configurations):
        of_plan[plan] = rule
        if configuration:
            known = of_configuration.get(configuration, rule)
            of_configuration[configuration] = min(rule, known, key=lambda rule_of_plan: rule_of_plan.least)
    rules = {
        run: of_plan.get(plan) if plan else of_configuration.get(configuration or 0)
        for run, (plan, configuration) in places.items()
    }
    return {run: rule for run, rule in rules.items() if rule}


def _rules(plans: set[int], configurations: set[int]) -> list[tuple[int, int | None, CacheRule]]:
    """Return (plan, configuration of one of its rows, rule)."""
    wanted = Q(plan__in=plans) | Q(plan__rows__configuration__in=configurations)
    rows = Guard.objects.filter(wanted, kind="cache_rule").order_by()
    return [
        (plan, configuration, CacheRule(row["factor"], row.get("tolerance", 0.0)))
        for plan, configuration, row in rows.values_list("plan_id", "plan__rows__configuration_id", "parameters")
    ]


SAMPLES_AT_ONCE = 5_000  # samples in memory
_AT_PLACES = """
SELECT place.run, place.operation, place.section, place.point, measure.metric, sample.value
FROM unnest(%(run)s::bigint[], %(operation)s::text[], %(section)s::smallint[], %(point)s::bigint[])
    AS place(run, operation, section, point)
JOIN runs_measure measure ON measure.operation = place.operation
JOIN runs_sample sample ON sample.run_id = place.run AND sample.measure_id = measure.id
    AND sample.point_id = place.point AND sample.section = place.section
UNION ALL
SELECT sample.run_id, measure.operation, sample.section, sample.point_id, measure.metric, sample.value
FROM runs_measure measure JOIN runs_sample sample ON sample.measure_id = measure.id
WHERE (measure.operation = %(disk)s OR measure.metric = %(moved)s) AND sample.run_id = ANY(%(run)s::bigint[])
"""


def by_parts(runs: Iterable[int]) -> Iterator[list[Reading]]:
    """Yield all samples of these runs by id in parts; each knows what is beside it in other parts too."""
    wanted = Sample.objects.filter(run__in=list(runs)).order_by("id")
    result_rows = wanted.values_list(*OWN_COLUMNS).iterator(SAMPLES_AT_ONCE)
    for number in count():
        rows = as_dicts(islice(result_rows, SAMPLES_AT_ONCE))
        if rows:
            is_all = number == 0 and len(rows) < SAMPLES_AT_ONCE
            yield readings_of(rows, _beside_in(rows) if is_all else beside_of(rows))
        if len(rows) < SAMPLES_AT_ONCE:
            return


def _beside_in(rows: Sequence[Row]) -> Beside:
    return by_place((*(row[name] for name in PLACE), row["measure__metric"], row["value"]) for row in rows)


def beside_of(rows: Sequence[Row]) -> Beside:
    """Return what is at the places of these rows, what their runs moved, and what their disks did.

    Read through the index of a run's samples, so that the rest of a long run is not read.
    """
    places = zip(*{tuple(row[name] for name in PLACE) for row in rows}, strict=True)
    columns = dict(zip(("run", "operation", "section", "point"), map(list, places), strict=True))
    return by_place(sql.rows(_AT_PLACES, {**columns, "disk": DISK, "moved": MOVED}))
