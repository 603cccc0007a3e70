"""What the page and the REST answer of a running plan show: progress, hosts, cells with values, guards."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from statistics import fmean
from typing import Any

from django.core.paginator import Paginator
from django.db.models import F
from django.utils import timezone

from apps.agents.queue import waiting_reasons
from apps.inventory.models import Host
from apps.plans.models import Execution, GuardFailure, HostWait, execution_of, open_runs
from apps.plans.preparations import BY_KIND as PREPARATIONS
from apps.plans.preparations.estimate import ExtraTime, estimate_extra
from apps.plans.preparations.progress import (
    Key,
    PreparationLine,
    PreparationProgress,
    find_progress,
    preparation_lines,
)
from apps.plans.published_procedure import ReportComparison, compare_with_report
from apps.plans.scheduler import find_waiting
from apps.plans.services import find_start_problems
from apps.plans.steps import find_next_step
from apps.runs.host_guards.evidence import describe_wait, entry_of, waiting_entry
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.studies.models import Plan, PlanConfiguration, PlannedRun, PlanPoint
from apps.studies.plans.order import Cell
from apps.studies.plans.plan_page import PlanPage, PlanPageCell, target_host
from apps.studies.plans.progress import NOT_RUN
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.stopping_rule import half_width

CONFIDENCE = 0.95
LEAST_FOR_INTERVAL = 3
MOST_CELLS = 400  # of a matrix that are shown at once: a browser gets them again every two seconds


@dataclass(frozen=True)
class CellValue:
    """The mean bandwidth of a cell's runs in bytes/s, with half of its 95 % interval from three runs on."""

    mean: float
    half_width: float | None
    n: int


@dataclass(frozen=True)
class ExecutionCell:
    """A cell with what it measured and what happens to it now."""

    cell: PlanPageCell
    value: CellValue | None
    run: Run | None  # under way
    is_next: bool
    waits: str  # why its next step is held back

    @property
    def guard_outcome(self) -> str:
        """Return the worst outcome of the guards of its counted runs; empty where no run has evidence."""
        outcomes = {run.guard_outcome for run in self.cell.runs if run.is_counted}
        return next((word for word in ("failed", "not checked", "passed") if word in outcomes), "")

    @property
    def problem(self) -> str:
        """Return why the newest run of a failed cell does not count."""
        newest = self.cell.runs[-1] if self.cell.state == "failed" and self.cell.runs else None
        return "" if newest is None else newest.failed_guard or f"run {newest.pk} {newest.state}"

    @property
    def is_without_guards(self) -> bool:
        """Return whether runs count that came from elsewhere, so that no guard was looked at."""
        return any(run.is_counted and not run.round for run in self.cell.runs)


@dataclass(frozen=True)
class ExecutionRow:
    row: PlanConfiguration
    cells: list[ExecutionCell]


@dataclass(frozen=True)
class HostProgress:
    """What one host does for the plan now, in a sentence."""

    host: Host
    run: Run | None
    sentence: str


class ExecutionPage:
    """A plan's own page; everything is read once, in a number of statements that does not grow with the plan.

    Of a large plan's matrix it shows one part, `MOST_CELLS` at most, and the hosts of that part.
    """

    def __init__(self, plan: Plan, number: str | None = None) -> None:
        self.plan = plan
        self.number = number
        self.execution: Execution | None = execution_of(plan)
        self.matrix = PlanPage(plan, runs_of(plan.study, plan_id=plan.pk))

    @property
    def is_live(self) -> bool:
        return bool(self.execution and not self.execution.has_ended) or bool(self.open_runs)

    @property
    def state(self) -> str:
        return self.execution.state if self.execution else "not started"

    @cached_property
    def open_runs(self) -> list[Run]:
        """Return the runs of the plan that are under way, with those that prepare a target."""
        related = ("host", "target", "workload", "planned_run", "preparation_run__preparation")
        return list(open_runs(self.plan).select_related(*related).order_by("pk"))

    @cached_property
    def open_steps(self) -> list[Run]:
        """Return those of the runs under way that were made for a cell."""
        return [run for run in self.open_runs if hasattr(run, "planned_run")]

    @property
    def guard_failures(self) -> list[tuple[str, str]]:
        return list(GuardFailure.choices)

    @cached_property
    def preparations(self) -> list[PreparationLine]:
        return preparation_lines(self.plan, self.preparation_progress)

    @cached_property
    def preparation_progress(self) -> dict[Key, PreparationProgress]:
        return find_progress(self.plan) if self.plan.preparations.all() else {}

    @cached_property
    def guard_waits(self) -> dict[int, str]:
        """Return for which guard each run waits on its host now, by the run's id."""
        accepted = Attempt.objects.filter(run__in=[run.pk for run in self.open_steps], state=State.ACCEPTED)
        waits = {attempt.run_id: waiting_entry(map(entry_of, attempt.guards)) for attempt in accepted}
        return {pk: f"Waits for {describe_wait(entry)}." for pk, entry in waits.items() if entry}

    @cached_property
    def extra(self) -> ExtraTime:
        """Return the time that guards and preparations add to what is left."""
        rows = {row.position: row.pk for row in self.plan.rows.all()}
        points = {point.position: point.pk for point in self.matrix.points}
        by_id = {
            host: {(rows[row], points[point]): rounds for (row, point), rounds in cells.items()}
            for host, cells in self.waiting.items()
        }
        largest: dict[int, int] = {}
        for cell in self.matrix.cells:
            largest[cell.row.pk] = max(largest.get(cell.row.pk, 0), cell.file_size or 0)
        preparations, guards = list(self.plan.preparations.all()), self.plan.guards.all()
        return estimate_extra(preparations, guards, by_id, self.preparation_progress, largest)

    @cached_property
    def start_problems(self) -> list[str]:
        return find_start_problems(self.matrix)

    @cached_property
    def waits(self) -> dict[int, HostWait]:
        return {wait.host_id: wait for wait in self.execution.waits.all()} if self.execution else {}

    @cached_property
    def part(self) -> Any:
        """Return the part of the matrix's rows that is shown, as a page of Django's paginator."""
        return Paginator(self.matrix.rows, max(1, MOST_CELLS // max(1, len(self.matrix.points)))).get_page(self.number)

    @cached_property
    def rows(self) -> list[ExecutionRow]:
        """Return the rows of the part that is shown."""
        runs = {(run.planned_run.row_id, run.planned_run.point_id): run for run in self.open_steps}
        return [
            ExecutionRow(row.row, [self._cell(cell, runs.get((cell.row.pk, cell.point.pk))) for cell in row.cells])
            for row in self.part
        ]

    def _cell(self, cell: PlanPageCell, run: Run | None) -> ExecutionCell:
        place = cell.row.pk, cell.point.pk
        wait = self.waits.get(target_host(cell.row) or 0)
        waits = wait.reason if wait and wait.step.startswith(f"{place[0]}/{place[1]}/") else ""
        return ExecutionCell(cell, self._value_of(cell), run, place in self.next_places, waits)

    def _value_of(self, cell: PlanPageCell) -> CellValue | None:
        measured = self.matrix.assignment.values.get((cell.row.pk, cell.point.pk), {})
        return _value([measured[run.pk] for run in cell.runs if run.is_counted and run.pk in measured])

    @cached_property
    def waiting(self) -> dict[int, dict[Cell, list[int]]]:
        """Return the rounds that are still to be made, by host and cell; read once for all hosts."""
        return find_waiting(self.matrix, self.execution.retries if self.execution else 0)

    @cached_property
    def next_places(self) -> set[tuple[int, int]]:
        """Return the cells (ids of row and point) that each host takes next."""
        if not self.execution or self.execution.has_ended:
            return set()
        rows = {row.position: row for row in self.plan.rows.all()}
        points = {point.position: point for point in self.matrix.points}
        steps = [find_next_step(self.plan, of_host) for of_host in self.waiting.values()]
        return {(rows[step.row].pk, points[step.point].pk) for step in steps if step}

    @cached_property
    def hosts(self) -> list[HostProgress]:
        """Return a sentence for each host of the part that is shown, in the order of its rows."""
        rows = [row.row for row in self.part]
        hosts = {
            row.configuration.target.host_id: row.configuration.target.host
            for row in rows
            if row.configuration and row.configuration.target
        }
        runs = {run.host_id: run for run in self.open_runs}
        reasons = waiting_reasons(self.open_runs)
        return [
            HostProgress(host, runs.get(pk), self._sentence(pk, runs.get(pk), reasons)) for pk, host in hosts.items()
        ]

    def _sentence(self, host_id: int, run: Run | None, reasons: dict[int, str]) -> str:
        if run is not None and not hasattr(run, "planned_run"):
            what = run.preparation_run
            kind = PREPARATIONS[what.preparation.kind].label
            return f"{run.state_words}: preparation {kind}, run {what.number}. {reasons.get(run.pk, '')}".strip()
        if run is not None:
            where = f"{self._place(run.planned_run)}, round {run.planned_run.round}"
            return f"{run.state_words}: {where}. {self.guard_waits.get(run.pk) or reasons.get(run.pk, '')}".strip()
        if wait := self.waits.get(host_id):
            return f"waits since {wait.since:%H:%M} UTC. {wait.reason}"
        if not self.execution or self.execution.has_ended:
            return "nothing is started"
        if not self.execution.is_running:
            return f"{self.execution.state}: nothing more is started"
        left = any(self.waiting.get(host_id, {}).values())
        return "its next step is started in a moment" if left else "nothing is left to do"

    def _place(self, planned: PlannedRun) -> str:
        row: PlanConfiguration = next(row for row in self.plan.rows.all() if row.pk == planned.row_id)
        point: PlanPoint = next(point for point in self.matrix.points if point.pk == planned.point_id)
        return f"{row.label}, {point}"

    @cached_property
    def rounds(self) -> tuple[int, int]:
        """Return how many rounds of all cells are done, and how many are needed as far as is known."""
        progress = [cell.progress for cell in self.matrix.cells if cell.state != NOT_RUN]
        return sum(min(entry.done, entry.needed) for entry in progress), sum(entry.needed for entry in progress)

    @property
    def fraction(self) -> float:
        done, needed = self.rounds
        return done / needed if needed else 0.0

    @cached_property
    def ends_at(self) -> datetime | None:
        """Return when the plan will probably end; None where the time of some rounds is not known."""
        rest = self.matrix.remaining
        if not rest or rest.unknown or self.state != "running":
            return None
        return timezone.now() + timedelta(seconds=rest.seconds + self.extra.seconds)

    @cached_property
    def last_judged(self) -> PlannedRun | None:
        """Return the newest run of the plan whose guards left evidence."""
        judged = PlannedRun.objects.filter(row__plan=self.plan).exclude(evidence=[])
        newest = judged.select_related("row__configuration", "point", "run").order_by(
            F("judged_at").desc(nulls_last=True)
        )
        return newest.first()  # type: ignore[no-any-return]

    @cached_property
    def report(self) -> tuple[list[str], list[ReportComparison]]:
        """Return the configurations of the report that the plan repeats, and its values beside ours."""
        if not self.plan.repeats_id:
            return [], []
        means = {
            (cell.row.pk, cell.point.pk): value.mean for cell in self.matrix.cells if (value := self._value_of(cell))
        }
        return compare_with_report(self.plan, means)

    @cached_property
    def failed(self) -> list[PlanPageCell]:
        return [cell for cell in self.matrix.cells if cell.state == "failed"]

    @property
    def can_retry(self) -> bool:
        return bool(self.execution and self.execution.state != State.CANCELLED and self.failed)


def _value(values: Sequence[float]) -> CellValue | None:
    if not values:
        return None
    mean = fmean(values)
    is_interval = len(values) >= LEAST_FOR_INTERVAL
    return CellValue(mean, half_width(values, CONFIDENCE) * mean if is_interval else None, len(values))
