"""Which runs of a study belong to which cell of its plans.

A run that was made for a step says so itself (`PlannedRun`). Others, such as those of a report or of an upload, belong to a cell when they are
of its configuration and when nothing known of their points contradicts it: a size that the tool does not print contradicts nothing, but where
a cell is said not to have been run.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from apps.runs.models import Run, Sample
from apps.studies.models import Study, StudyRun
from apps.studies.planning.progress import HeldRun
from apps.studies.plans.models import Plan, PlanConfiguration, PlannedRun, PlanPoint

Place = tuple[int, int]  # ids of row and point


@dataclass(frozen=True)
class Measured:
    """One point of a run; None where the tool has no such thing or does not print it."""

    operation: str
    file_size: int | None
    block_size: int | None
    threads: int | None
    iodepth: int | None


@dataclass(frozen=True)
class StudysRuns:
    """All runs of a study with their points and, where they have one, their place in a plan."""

    by_configuration: dict[int, list[Run]]
    points: dict[int, set[Measured]]
    planned: dict[int, PlannedRun]


def runs_of(study: Study) -> StudysRuns:
    """In three queries, whatever there is."""
    places = StudyRun.objects.filter(configuration__study=study).select_related("run__workload").order_by("run_id")
    runs: dict[int, list[Run]] = defaultdict(list)
    points: dict[int, set[Measured]] = defaultdict(set)
    for place in places:
        runs[place.configuration_id].append(place.run)
        points[place.run_id] |= set(_asked(place.run))
    measured = Sample.objects.filter(run__study_run__configuration__study=study).values_list(
        "run_id", "measure__operation", "point__file_size", "point__block_size", "point__threads", "point__iodepth"
    )
    for run, *point in measured.order_by().distinct():
        points[run].add(Measured(*point))
    planned = {one.run_id: one for one in PlannedRun.objects.filter(row__plan__study=study)}
    return StudysRuns(dict(runs), points, planned)


def _asked(run: Run) -> Iterable[Measured]:
    """What a run that has not measured yet was asked to."""
    for job in run.workload.jobs if run.workload else []:
        sizes = (job.get("file_size"), job.get("block_size"), job.get("numjobs"), job.get("iodepth"))
        yield Measured(str(job.get("rw", "")), *sizes)


def by_cell(plan: Plan, file_sizes: dict[Place, int | None], found: StudysRuns) -> dict[Place, list[HeldRun]]:
    """Row and point → runs, oldest first. `file_sizes`: what each cell's file is, in bytes."""
    elsewhere = {(cell.row_id, cell.point_id): cell.runs_of_id for cell in plan.cells.all() if cell.runs_of_id}
    left_out = {(cell.row_id, cell.point_id) for cell in plan.cells.all() if cell.reason and not cell.runs_of_id}
    held: dict[Place, list[HeldRun]] = {}
    for row in plan.rows.all():
        for point in plan.points.all():
            place, size = (row.pk, point.pk), file_sizes[row.pk, point.pk]
            runs = found.by_configuration.get(elsewhere.get(place) or row.configuration_id or 0, [])
            if place in left_out:
                runs = [run for run in runs if any(one.file_size == size for one in found.points[run.pk])]
            held[place] = [_held(run, found) for run in runs if _belongs(run, row, point, size, found)]
    return held


def values_of(runs: Iterable[int]) -> dict[int, float]:
    """Run → the bandwidth that a stopping rule looks at: of its first operation by name, the mean over its sections."""
    found: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    measured = Sample.objects.filter(run__in=list(runs), measure__metric="bandwidth", value__isnull=False)
    for run, operation, value in measured.order_by().values_list("run_id", "measure__operation", "value"):
        found[run][operation].append(value)
    return {run: fmean(by_operation[min(by_operation)]) for run, by_operation in found.items()}


def _belongs(run: Run, row: PlanConfiguration, point: PlanPoint, file_size: int | None, found: StudysRuns) -> bool:
    planned = found.planned.get(run.pk)
    if planned:
        return (planned.row_id, planned.point_id) == (row.pk, point.pk)
    wanted = (file_size, point.block_size, point.threads, point.iodepth)
    return any(_agrees(one, wanted, point.operations) for one in found.points[run.pk])


def _agrees(one: Measured, wanted: Sequence[int | None], operations: Sequence[str]) -> bool:
    if operations and one.operation not in operations:
        return False
    known = (one.file_size, one.block_size, one.threads, one.iodepth)
    return all(a is None or b is None or a == b for a, b in zip(known, wanted, strict=True))


def _held(run: Run, found: StudysRuns) -> HeldRun:
    planned: Any = found.planned.get(run.pk)
    took = (run.finished_at - run.started_at).total_seconds() if run.finished_at and run.started_at else None
    return HeldRun(run.pk, run.state, run.progress, planned.round if planned else 0, took)
