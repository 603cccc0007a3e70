"""Which runs of a study count for which cell of its plans, and why the others do not.

A run counts for a cell of a plan when it is of the cell's configuration and every fact that the plan names is known of it and equal
(`apps/studies/plans/point_match.py`). A run that was made for a step says so itself (`PlannedRun`), which gives its round; it counts only
while the step still asks for what it measured. One that was asked for what the step wants, finished, and measured something else is a
failure of its step: without that, it would be made again for ever.

A published report's cells hold what the report tells, under the configuration and the sizes that it prints: they are shown "as reported".
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Avg, Max, OuterRef, Q, Subquery

from apps.parsers.fio.job_options.agreement import groups_of
from apps.parsers.fio.job_options.option import Written
from apps.parsers.fio.job_options.table import BY_NAME, spell_value
from apps.parsers.fio.options import make_load
from apps.parsers.fio.workload import make_workload
from apps.runs.host_guards import looking_seconds
from apps.runs.metrics import is_percentile
from apps.runs.models import Attempt, Run, Sample
from apps.runs.sections import turns_of
from apps.studies.models import Plan, PlanConfiguration, PlannedRun, PlanPoint, Study, StudyRun
from apps.studies.plans.cell_values import RunValues, values_of
from apps.studies.plans.point_match import (
    NOT_KNOWN,
    OPTIONS,
    CellDemand,
    DemandDifference,
    MeasuredPoint,
    RunFacts,
    Turn,
    differences,
    operations_of_pattern,
)
from apps.studies.plans.progress import HeldRun
from apps.studies.plans.workload import begins_at, jobs_of, unlike_options_of_jobs

Place = tuple[int, int]  # ids of row and point
SIZES_AND_RATE = 8  # fields of a measured point before its further metrics
# What fio does where a job does not say it, and Spindle's own jobs do otherwise.
OF_FIO = {"direct": False, "stonewall": False, "group_reporting": False}
NOT_STATED = "not stated"  # what a report's run has for a tool that the report does not name


@dataclass(frozen=True)
class StudysRuns:
    """All runs of a study with what is known of them and, where they have one, their place in a plan."""

    by_configuration: dict[int, list[Run]]
    facts: dict[int, RunFacts]
    planned: dict[int, PlannedRun]
    seconds: dict[int, float] = field(
        default_factory=dict
    )  # until it was read in, since it was queued and the one before
    metrics: tuple[str, ...] = ()  # read besides the bandwidth


@dataclass(frozen=True)
class NotCounted:
    """Runs of a row's configuration that count for none of its cells, with the cell that they come nearest to."""

    row: PlanConfiguration
    point: PlanPoint
    differences: tuple[DemandDifference, ...]
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Assignment:
    """Of one plan. `values`: run → what it measured, by cell."""

    held: dict[Place, list[HeldRun]]
    not_counted: list[NotCounted] = field(default_factory=list)
    values: dict[Place, dict[int, RunValues]] = field(default_factory=dict)

    def has_metric(self, metric: str) -> bool:
        """Return whether some run that counts has told this metric."""
        runs = (run for of_cell in self.values.values() for run in of_cell.values())
        return any(metric in values for run in runs for values in run.operations.values())


def runs_of(
    study: Study, host_id: int | None = None, plan_id: int | None = None, metrics: Sequence[str] = ()
) -> StudysRuns:
    """Return the study's runs in three queries, whatever there is.

    Args:
        study: Whose configurations hold the runs.
        host_id: Only those of that host's configurations.
        plan_id: Without those that were made for another plan, which count for no cell of this one: a study may have a
            plan for every night.
        metrics: What is read of them besides the bandwidth.
    """
    wanted: dict[str, Any] = {"configuration__study": study}
    if host_id is not None:
        wanted["configuration__target__host"] = host_id
    of_plan = Q() if plan_id is None else Q(run__planned_run=None) | Q(run__planned_run__row__plan=plan_id)
    read_in = Attempt.objects.filter(run=OuterRef("run"), accepted_at__isnull=False).order_by("-number")
    places = (
        StudyRun.objects.filter(of_plan, **wanted)
        .annotate(read_in_at=Subquery(read_in.values("ingested_at")[:1]))
        .select_related("run__workload", "run__host", "run__target__host")
        .order_by("run_id")
    )
    runs: dict[int, list[Run]] = defaultdict(list)
    points: dict[int, list[MeasuredPoint]] = defaultdict(list)
    seconds: dict[int, float] = {}
    for place in places:
        runs[place.configuration_id].append(place.run)
    free_since: dict[int | None, datetime] = {}  # a person may queue many at once, and put them in another order
    for place in sorted((place for place in places if place.read_in_at), key=lambda place: place.read_in_at):
        run = place.run
        begun = max(run.created_at, free_since.get(run.host_id, run.created_at))
        seconds[run.pk] = (place.read_in_at - begun).total_seconds()
        free_since[run.host_id] = place.read_in_at
    every_run = [run for some in runs.values() for run in some]
    if host_id is None:
        in_study = {f"run__study_run__{name}": value for name, value in wanted.items()}
        samples = Sample.objects.filter(of_plan, **in_study)
    else:  # a few runs, of each step of a plan: PostgreSQL reads all samples for these joins until it has statistics
        samples = Sample.objects.filter(run__in=every_run)
    for run, point in _measured_points(samples, metrics):
        points[run].append(point)
    facts = {run.pk: _facts(run, points[run.pk]) for run in every_run}
    steps = PlannedRun.objects.filter(row__plan__study=study)
    if host_id is not None:
        steps = steps.filter(run__host=host_id)
    if plan_id is not None:
        steps = steps.filter(row__plan=plan_id)
    planned = {planned_run.run_id: planned_run for planned_run in steps}
    return StudysRuns(dict(runs), facts, planned, seconds, tuple(metrics))


def _measured_points(samples: Any, metrics: Sequence[str] = ()) -> Iterator[tuple[int, MeasuredPoint]]:
    """Yield each run's id with one point that it measured; percentiles are never averaged, the highest counts."""
    measured = samples.values_list(
        "run_id", "measure__operation", "point__file_size", "point__block_size", "point__threads", "point__iodepth",
        "section",
    )  # fmt: skip
    sums = {
        "bandwidth": Avg("value", filter=Q(measure__metric="bandwidth")),
        "moved": Avg("value", filter=Q(measure__metric="io_bytes")),
    }
    others = {
        f"value_{name}": (Max if is_percentile(name) else Avg)("value", filter=Q(measure__metric=name))
        for name in metrics
    }
    for run, *point in measured.annotate(**sums, **others).order_by():
        known = {name: value for name, value in zip(metrics, point[SIZES_AND_RATE:], strict=True) if value is not None}
        measured_point = MeasuredPoint(*point[:SIZES_AND_RATE])
        yield run, replace(measured_point, others=known) if known else measured_point


def find_result_differences(planned: PlannedRun) -> list[DemandDifference]:
    """Return how the result of a step's run differs from what it was asked for.

    Empty where it does not, and where the step asks for something else by now.
    """
    run = planned.run
    points = [point for _, point in _measured_points(Sample.objects.filter(run=run))]
    demand = demand_of(
        planned.row, planned.point, _shared_size(planned.point, run.workload.jobs if run.workload else [])
    )
    return differences(demand, _facts(run, points)) if _was_asked(demand, run) else []


def _shared_size(point: PlanPoint, jobs: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the size of the files that a run of a point was asked for, of jobs that have no size of their own."""
    own = point.jobs or [{}]
    return next((job.get("file_size") for job, told in zip(jobs, own, strict=False) if "file_size" not in told), None)


def assign_runs(plan: Plan, file_sizes: Mapping[Place, int | None], study_runs: StudysRuns) -> Assignment:
    """Assign runs to cells, by row and point, oldest first; `file_sizes` has each cell's file in bytes."""
    return (
        _as_reported(plan, file_sizes, study_runs)
        if plan.is_from_report
        else _as_requested(plan, file_sizes, study_runs)
    )


def demand_of(
    row: PlanConfiguration, point: PlanPoint, file_size: int | None, apart: Sequence[Mapping[str, Any]] = ()
) -> CellDemand:
    """Return what the plan asks for in one cell; `apart` has of each job fio's options by which the plan's jobs differ."""
    configuration = row.configuration
    target, host = (configuration.target, configuration.host) if configuration else (None, None)
    demand = CellDemand(
        tool=point.tool,
        operations=tuple(point.operations),
        labels=point.labels,
        target=(target.pk, str(target)) if target else None,
        host=(host.pk, host.name) if host else None,
    )
    differing = apart or [{} for _ in jobs_of(point)]
    jobs = [
        _demand_of_job(demand, job, file_size, unlike, is_alone=not point.jobs)
        for job, unlike in zip(jobs_of(point), differing, strict=True)
    ]
    if point.jobs:
        return replace(demand, jobs=jobs)
    if jobs:
        return jobs[0]
    sizes = {"file_size": file_size, "block_size": point.block_size, "threads": point.threads, "iodepth": point.iodepth}
    return replace(demand, sizes={name: value for name, value in sizes.items() if value is not None})


def _demand_of_job(
    demand: CellDemand, job: Mapping[str, Any], file_size: int | None, apart: Mapping[str, Any], *, is_alone: bool
) -> CellDemand:
    named = {"file_size": file_size, **_sizes(job)}
    return replace(
        demand,
        operations=operations_of_pattern(job["rw"]),
        sizes={name: value for name, value in named.items() if value is not None},
        options={name: _plain(job[name]) for name in OPTIONS if job.get(name) is not None},
        apart={
            name: spell_value(name, value)
            for name, value in apart.items()
            if name not in OPTIONS or job.get(name) is None
        },
        is_alone=is_alone,
        begins_at=begins_at(job),
    )


def _as_requested(plan: Plan, file_sizes: Mapping[Place, int | None], study_runs: StudysRuns) -> Assignment:
    elsewhere = {(cell.row_id, cell.point_id): cell.runs_of_id for cell in plan.cells.all() if cell.runs_of_id}
    held: dict[Place, list[HeldRun]] = {}
    values: dict[Place, dict[int, RunValues]] = {}
    nearest: dict[Place, tuple[PlanPoint, list[DemandDifference]]] = {}  # of a row and a run
    counted: set[Place] = set()
    apart = unlike_options_of_jobs(plan.points.all())
    demands = {
        (row.pk, point.pk): demand_of(row, point, file_sizes[row.pk, point.pk], apart.get(point.pk, ()))
        for row in plan.rows.all()
        for point in plan.points.all()
    }
    configurations = {
        (row.pk, point.pk): elsewhere.get((row.pk, point.pk)) or row.configuration_id or 0
        for row in plan.rows.all()
        for point in plan.points.all()
    }
    settled = _find_settled(demands, configurations, study_runs)
    for row in plan.rows.all():
        for point in plan.points.all():
            place = (row.pk, point.pk)
            demand = demands[place]
            held[place], values[place] = [], {}
            for run in study_runs.by_configuration.get(configurations[place], []):
                if settled.get((row.pk, run.pk), point.pk) != point.pk:
                    continue
                differs = differences(demand, study_runs.facts[run.pk])
                planned = study_runs.planned.get(run.pk)
                is_of_step = _is_of_step(planned, place)
                if differs and planned and is_of_step and run.state == "finished" and _was_asked(demand, run):
                    held[place].append(replace(_held(run, study_runs), is_other_result=True))
                    counted.add((row.pk, run.pk))
                elif not differs and is_of_step:
                    held[place].append(_held(run, study_runs))
                    counted.add((row.pk, run.pk))
                    values[place][run.pk] = values_of(demand, study_runs.facts[run.pk])
                elif differs and ((row.pk, run.pk) not in nearest or len(differs) < len(nearest[row.pk, run.pk][1])):
                    nearest[row.pk, run.pk] = point, differs
    lost = {key: point for key, point in nearest.items() if key not in counted}
    return Assignment(held, _grouped(plan, lost), values)


def _find_settled(
    demands: Mapping[Place, CellDemand], configurations: Mapping[Place, int], study_runs: StudysRuns
) -> dict[Place, int]:
    """Return the point of each run that counts for the step it was made for, by row and run.

    Such a run need not be compared with the other points of its row: with hundreds of them that took seconds.
    """
    runs = {(configuration, run.pk): run for configuration, of in study_runs.by_configuration.items() for run in of}
    settled: dict[Place, int] = {}
    for pk, planned in study_runs.planned.items():
        place = planned.row_id, planned.point_id
        run = runs.get((configurations[place], pk)) if place in demands else None
        if run is None:
            continue
        differs = differences(demands[place], study_runs.facts[pk])
        if not differs or (run.state == "finished" and _was_asked(demands[place], run)):
            settled[planned.row_id, pk] = planned.point_id
    return settled


def _was_asked(demand: CellDemand, run: Run) -> bool:
    """Return whether a run was asked for what a cell asks for now, whatever it measured."""
    return not differences(demand, _facts(run, ()))


def _is_of_step(planned: PlannedRun | None, place: Place) -> bool:
    return planned is None or (planned.row_id, planned.point_id) == place


def _grouped(plan: Plan, lost: Mapping[Place, tuple[PlanPoint, list[DemandDifference]]]) -> list[NotCounted]:
    """Return runs that count for no cell in the order of the plan's rows, grouped by what differs."""
    together: dict[tuple[int, int, tuple[DemandDifference, ...]], list[int]] = {}
    points = {point.pk: point for point in plan.points.all()}
    for (row, run), (point, differs) in lost.items():
        together.setdefault((row, point.pk, tuple(differs)), []).append(run)
    rows = {row.pk: (at, row) for at, row in enumerate(plan.rows.all())}
    matches = [
        (rows[row][0], NotCounted(rows[row][1], points[point], differs, tuple(sorted(runs))))
        for (row, point, differs), runs in together.items()
    ]
    return [match for _, match in sorted(matches, key=lambda pair: (pair[0], pair[1].point.position, pair[1].runs))]


def _as_reported(plan: Plan, file_sizes: Mapping[Place, int | None], study_runs: StudysRuns) -> Assignment:
    """Assign the runs of a report; a size that it does not print contradicts nothing unless the cell was not run."""
    elsewhere = {(cell.row_id, cell.point_id): cell.runs_of_id for cell in plan.cells.all() if cell.runs_of_id}
    left_out = {(cell.row_id, cell.point_id) for cell in plan.cells.all() if cell.reason and not cell.runs_of_id}
    held: dict[Place, list[HeldRun]] = {}
    for row in plan.rows.all():
        for point in plan.points.all():
            place, size = (row.pk, point.pk), file_sizes[row.pk, point.pk]
            runs = study_runs.by_configuration.get(elsewhere.get(place) or row.configuration_id or 0, [])
            if place in left_out:
                runs = [
                    run for run in runs if any(point.file_size == size for point in study_runs.facts[run.pk].points)
                ]
            held[place] = [
                _held(run, study_runs) for run in runs if _is_reported(study_runs.facts[run.pk], point, size)
            ]
    return Assignment(held)


def _is_reported(run: RunFacts, point: PlanPoint, file_size: int | None) -> bool:
    if run.tool not in (point.tool, NOT_STATED):
        return False
    wanted = (file_size, point.block_size, point.threads, point.iodepth)
    return any(_agrees(measured_point, wanted, point.operations) for measured_point in run.points)


def _agrees(measured_point: MeasuredPoint, wanted: Sequence[int | None], operations: Sequence[str]) -> bool:
    if operations and measured_point.operation not in operations:
        return False
    known = (measured_point.file_size, measured_point.block_size, measured_point.threads, measured_point.iodepth)
    return all(a is None or b is None or a == b for a, b in zip(known, wanted, strict=True))


def _facts(run: Run, measured: Sequence[MeasuredPoint]) -> RunFacts:
    """Return what a run measured, or what was asked of it where nothing is measured."""
    jobs = run.workload.jobs if run.workload else []
    facts_known = run.workload.spec if run.workload and not jobs else {}
    options: dict[int | None, Mapping[str, Any]] = {None: {name: _plain(facts_known.get(name)) for name in OPTIONS}}
    sizes: dict[int | None, Mapping[str, int]] = {None: _sizes(facts_known)}
    job_options: dict[int, Mapping[str, Any]] = {}
    for number, section in run.sections.items():
        if given := section.get("options"):
            options[int(number)], sizes[int(number)] = _of_fio_options(given)
            job_options[int(number)] = _ReportedOptions(given)
    points = []
    for number, job in enumerate(jobs):
        job_options[number] = job
        options[number] = {name: _plain(job.get(name)) for name in OPTIONS}
        sizes[number] = _sizes(job)
        points += [MeasuredPoint(name, section=number) for name in operations_of_pattern(str(job.get("rw", "")))]
    return RunFacts(
        tool=run.tool,
        points=[point for point in measured if point.operation != "disk"] or points,
        sizes=sizes,
        options=options,
        job_options=job_options,
        labels={**run.labels, **run.facts},
        target=(run.target_id, str(run.target)) if run.target_id else None,
        host=(run.host.pk, run.host.name) if run.host else None,
        turns=_turns(run),
    )


def _turns(run: Run) -> list[Turn]:
    """Return which of fio's jobs ran at the same time; empty where that is not known."""
    jobs = run.workload.jobs if run.workload else []
    if jobs:
        return _turns_asked_for(jobs, len(run.sections))
    if run.tool != "fio":
        return []
    sections: dict[int, list[int]] = defaultdict(list)
    for number, turn in turns_of(run.sections).items():
        sections[turn].append(number)
    return [Turn(tuple(numbers), _count_jobs(run, numbers)) for numbers in sections.values()]


def _turns_asked_for(jobs: Sequence[Mapping[str, Any]], sections: int) -> list[Turn]:
    """Return the turns of a workload's jobs with the sections of its result, which may have one for a whole turn."""
    places = iter(range(len(jobs)))
    turns = [tuple(next(places) for _ in turn) for turn in groups_of(list(map(dict, jobs)))]
    if sections in (0, len(jobs)):
        return [Turn(turn, len(turn)) for turn in turns]
    if all(len(turn) == 1 for turn in turns):
        return []  # a section for each process of a job
    if sections == len(turns):
        return [Turn((number,), len(turn)) for number, turn in enumerate(turns)]
    return [Turn(tuple(range(sections)), len(jobs))]  # which job has which section is not known


def _count_jobs(run: Run, sections: Sequence[int]) -> int:
    """Return how many jobs these sections are of: processes of one job have its name and its options each."""
    known = [run.sections[str(number)] for number in sections]
    return len({(str(section.get("name")), repr(sorted(section.get("options", {}).items()))) for section in known})


def _sizes(facts_known: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes in facts or options; `numjobs` is fio's word for the number of parallel workers."""
    named = {"file_size": "file_size", "block_size": "block_size", "threads": "numjobs", "iodepth": "iodepth"}
    return {name: facts_known[word] for name, word in named.items() if isinstance(facts_known.get(word), int)}


def _of_fio_options(given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return (facts, sizes) of one job in a report of fio; a name that is in none of its options has fio's default."""
    load = make_load(dict(given))
    workload = make_workload([load])
    defaults = {"rw": "read", "direct": 0, "sync": "none"} if {"rw", "bs", "size"} & given.keys() else {}
    mix = given.get("rwmixread", "")
    options = {**defaults, **workload, "rwmixread": int(mix) if mix.isdecimal() else None}
    return {name: _plain(options.get(name)) for name in OPTIONS}, _sizes(workload)


class _ReportedOptions(Mapping[str, Any]):
    """The options of a job that a report of fio names, by their names in workloads; read when they are asked for.

    `NOT_KNOWN` stands for an option that has no line of its own, and for a text that cannot be read.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given

    def __getitem__(self, name: str) -> Any:
        option = BY_NAME[name]
        if option.written in (Written.WITH_SYNC, Written.WITH_BLOCK_SIZE, Written.WITH_PATTERN):
            return NOT_KNOWN
        text = next((self.given[key] for key in (option.key, *option.aliases) if key in self.given), None)
        if text is None and name in OF_FIO:
            return OF_FIO[name]
        if text is None:
            raise KeyError(name)
        try:
            return option.kind.read(text)
        except ValueError:
            return NOT_KNOWN

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def _plain(value: Any) -> Any:
    """Return a fact in one spelling: yes and no are 1 and 0, and `readwrite` is what fio also calls `rw`."""
    return int(value) if isinstance(value, bool) else "rw" if value == "readwrite" else value


def _held(run: Run, study_runs: StudysRuns) -> HeldRun:
    planned = study_runs.planned.get(run.pk)
    took = study_runs.seconds.get(run.pk)
    if took is not None:
        took = max(0.0, took - looking_seconds(run.guards))  # which is added to what is left of a plan apart
    elif run.finished_at and run.started_at:
        took = (run.finished_at - run.started_at).total_seconds()
    if planned is None:
        return HeldRun(run.pk, run.state, run.progress, seconds=took)
    return HeldRun(
        run.pk,
        run.state,
        run.progress,
        planned.round,
        took,
        planned.is_retried,
        planned.failed_guard,
        planned.guard_outcome,
    )
