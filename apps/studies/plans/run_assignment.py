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
from statistics import fmean
from typing import Any

from django.db.models import Avg, OuterRef, Q, Subquery

from apps.parsers.fio.options import make_load
from apps.parsers.fio.workload import make_workload
from apps.runs.models import Attempt, Run, Sample
from apps.studies.models import Plan, PlanConfiguration, PlannedRun, PlanPoint, Study, StudyRun
from apps.studies.plans.point_match import (
    OPTIONS,
    CellDemand,
    DemandDifference,
    MeasuredPoint,
    RunFacts,
    differences,
    matching_points,
    operations_of_pattern,
)
from apps.studies.plans.progress import HeldRun

Place = tuple[int, int]  # ids of row and point
NOT_STATED = "not stated"  # what a report's run has for a tool that the report does not name


@dataclass(frozen=True)
class StudysRuns:
    """All runs of a study with what is known of them and, where they have one, their place in a plan."""

    by_configuration: dict[int, list[Run]]
    facts: dict[int, RunFacts]
    planned: dict[int, PlannedRun]
    accepted_at: dict[int, datetime] = field(default_factory=dict)  # when the host began: with filling the test files


@dataclass(frozen=True)
class NotCounted:
    """Runs of a row's configuration that count for none of its cells, with the cell that they come nearest to."""

    row: PlanConfiguration
    point: PlanPoint
    differences: tuple[DemandDifference, ...]
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Assignment:
    """Of one plan. `values`: run → the value that a stopping rule looks at, by cell."""

    held: dict[Place, list[HeldRun]]
    not_counted: list[NotCounted] = field(default_factory=list)
    values: dict[Place, dict[int, float]] = field(default_factory=dict)


def runs_of(study: Study, host_id: int | None = None, plan_id: int | None = None) -> StudysRuns:
    """Return the study's runs in three queries, whatever there is.

    Args:
        study: Whose configurations hold the runs.
        host_id: Only those of that host's configurations.
        plan_id: Without those that were made for another plan, which count for no cell of this one: a study may have a
            plan for every night.
    """
    wanted: dict[str, Any] = {"configuration__study": study}
    if host_id is not None:
        wanted["configuration__target__host"] = host_id
    of_plan = Q() if plan_id is None else Q(run__planned_run=None) | Q(run__planned_run__row__plan=plan_id)
    accepted = Attempt.objects.filter(run=OuterRef("run")).order_by("-number").values("accepted_at")[:1]
    places = (
        StudyRun.objects.filter(of_plan, **wanted)
        .annotate(accepted_at=Subquery(accepted))
        .select_related("run__workload", "run__host", "run__target__host")
        .order_by("run_id")
    )
    runs: dict[int, list[Run]] = defaultdict(list)
    points: dict[int, list[MeasuredPoint]] = defaultdict(list)
    accepted_at: dict[int, datetime] = {}
    for place in places:
        runs[place.configuration_id].append(place.run)
        if place.accepted_at:
            accepted_at[place.run_id] = place.accepted_at
    in_study = {f"run__study_run__{name}": value for name, value in wanted.items()}
    for run, point in _measured_points(Sample.objects.filter(of_plan, **in_study)):
        points[run].append(point)
    facts = {run.pk: _facts(run, points[run.pk]) for some in runs.values() for run in some}
    steps = PlannedRun.objects.filter(row__plan__study=study)
    if host_id is not None:
        steps = steps.filter(run__host=host_id)
    if plan_id is not None:
        steps = steps.filter(row__plan=plan_id)
    planned = {planned_run.run_id: planned_run for planned_run in steps}
    return StudysRuns(dict(runs), facts, planned, accepted_at)


def _measured_points(samples: Any) -> Iterator[tuple[int, MeasuredPoint]]:
    """Yield each run's id with one point that it measured."""
    measured = samples.values_list(
        "run_id", "measure__operation", "point__file_size", "point__block_size", "point__threads", "point__iodepth",
        "section",
    )  # fmt: skip
    bandwidth = Avg("value", filter=Q(measure__metric="bandwidth"))
    for run, *point in measured.annotate(bandwidth=bandwidth).order_by():
        yield run, MeasuredPoint(*point)


def find_result_differences(planned: PlannedRun) -> list[DemandDifference]:
    """Return how the result of a step's run differs from what it was asked for.

    Empty where it does not, and where the step asks for something else by now.
    """
    run = planned.run
    points = [point for _, point in _measured_points(Sample.objects.filter(run=run))]
    jobs = run.workload.jobs if run.workload else []
    demand = demand_of(planned.row, planned.point, jobs[0].get("file_size") if jobs else None)
    return differences(demand, _facts(run, points)) if _was_asked(demand, run) else []


def assign_runs(plan: Plan, file_sizes: Mapping[Place, int | None], study_runs: StudysRuns) -> Assignment:
    """Assign runs to cells, by row and point, oldest first; `file_sizes` has each cell's file in bytes."""
    return (
        _as_reported(plan, file_sizes, study_runs)
        if plan.is_from_report
        else _as_requested(plan, file_sizes, study_runs)
    )


def demand_of(row: PlanConfiguration, point: PlanPoint, file_size: int | None) -> CellDemand:
    """Return what the plan asks for in one cell."""
    job, configuration = point.job or {}, row.configuration
    named = {
        "file_size": file_size,
        "block_size": point.block_size,
        "threads": point.threads,
        "iodepth": point.iodepth,
    }
    target, host = (configuration.target, configuration.host) if configuration else (None, None)
    return CellDemand(
        tool=point.tool,
        operations=operations_of_pattern(job["rw"]) if job else tuple(point.operations),
        sizes={name: value for name, value in named.items() if value is not None},
        options={name: _plain(job[name]) for name in OPTIONS if job.get(name) is not None},
        labels=point.labels,
        target=(target.pk, str(target)) if target else None,
        host=(host.pk, host.name) if host else None,
    )


def _as_requested(plan: Plan, file_sizes: Mapping[Place, int | None], study_runs: StudysRuns) -> Assignment:
    elsewhere = {(cell.row_id, cell.point_id): cell.runs_of_id for cell in plan.cells.all() if cell.runs_of_id}
    held: dict[Place, list[HeldRun]] = {}
    values: dict[Place, dict[int, float]] = {}
    nearest: dict[Place, tuple[PlanPoint, list[DemandDifference]]] = {}  # of a row and a run
    counted: set[Place] = set()
    for row in plan.rows.all():
        for point in plan.points.all():
            place = (row.pk, point.pk)
            demand = demand_of(row, point, file_sizes[place])
            held[place], values[place] = [], {}
            for run in study_runs.by_configuration.get(elsewhere.get(place) or row.configuration_id or 0, []):
                differs = differences(demand, study_runs.facts[run.pk])
                planned = study_runs.planned.get(run.pk)
                is_of_step = _is_of_step(planned, place)
                if differs and planned and is_of_step and run.state == "finished" and _was_asked(demand, run):
                    held[place].append(replace(_held(run, study_runs), is_other_result=True))
                    counted.add((row.pk, run.pk))
                elif not differs and is_of_step:
                    held[place].append(_held(run, study_runs))
                    counted.add((row.pk, run.pk))
                    if (value := _value(demand, study_runs.facts[run.pk])) is not None:
                        values[place][run.pk] = value
                elif differs and ((row.pk, run.pk) not in nearest or len(differs) < len(nearest[row.pk, run.pk][1])):
                    nearest[row.pk, run.pk] = point, differs
    lost = {key: point for key, point in nearest.items() if key not in counted}
    return Assignment(held, _grouped(plan, lost), values)


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


def _value(cell_demand: CellDemand, run: RunFacts) -> float | None:
    """Return one value for a run: the bandwidth of its first operation by name, averaged over its sections."""
    known: dict[str, list[float]] = defaultdict(list)
    for point in matching_points(cell_demand, run):
        if point.bandwidth is not None:
            known[point.operation].append(point.bandwidth)
    return fmean(known[min(known)]) if known else None


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
    for number, section in run.sections.items():
        if given := section.get("options"):
            options[int(number)], sizes[int(number)] = _of_fio_options(given)
    points = []
    for number, job in enumerate(jobs):
        options[number] = {name: _plain(job.get(name)) for name in OPTIONS}
        sizes[number] = _sizes(job)
        points += [MeasuredPoint(name, section=number) for name in operations_of_pattern(str(job.get("rw", "")))]
    return RunFacts(
        tool=run.tool,
        points=[point for point in measured if point.operation != "disk"] or points,
        sizes=sizes,
        options=options,
        labels={**run.labels, **run.facts},
        target=(run.target_id, str(run.target)) if run.target_id else None,
        host=(run.host.pk, run.host.name) if run.host else None,
    )


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


def _plain(value: Any) -> Any:
    """Return a fact in one spelling: yes and no are 1 and 0, and `readwrite` is what fio also calls `rw`."""
    return int(value) if isinstance(value, bool) else "rw" if value == "readwrite" else value


def _held(run: Run, study_runs: StudysRuns) -> HeldRun:
    planned = study_runs.planned.get(run.pk)
    begun = study_runs.accepted_at.get(run.pk) or run.started_at
    took = (run.finished_at - begun).total_seconds() if run.finished_at and begun else None
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
