"""What the page and the REST answer of a running plan show: progress, hosts, cells with values, guards."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import F
from django.utils import timezone

from apps.agents.queue import find_time_left, waiting_reasons
from apps.comparison.like_for_like.selection import QuestionReference, parse_reference
from apps.comparison.question import QuestionError
from apps.core.units import multiple, size
from apps.inventory.models import Host
from apps.inventory.target_identity import words_of
from apps.plans.estimates.plan_estimate import PlanEstimate, estimate_page
from apps.plans.grid.axes import GridShape, find_shapes
from apps.plans.grid.plan_grid import PlanGrid
from apps.plans.host_limits import (
    Refusal,
    find_largest_files,
    find_refused_cells,
    find_refused_preparations_of,
    refusal_sentences,
)
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
from apps.plans.results.failed_runs import FailedRun, find_failed_runs, find_failed_steps
from apps.plans.scheduler import find_waiting
from apps.plans.services import find_start_problems
from apps.plans.steps import find_next_step
from apps.runs.host_guards.evidence import describe_wait, entry_of, waiting_entry
from apps.runs.metrics import METRICS, Metric, is_percentile
from apps.runs.models import Attempt, Run
from apps.runs.series.progress import LiveFigure, live_figures
from apps.runs.states import Priority, State
from apps.runs.workload import may_some_be_cached
from apps.studies.models import Plan, PlanConfiguration, PlannedRun, PlanPoint
from apps.studies.models.plan import worst_outcome
from apps.studies.plans.matrix import MatrixColumn, file_size_for
from apps.studies.plans.order import Cell, Step
from apps.studies.plans.plan_page import CELL_METRICS, OperationValue, PlanPage, PlanPageCell, target_host
from apps.studies.plans.progress import NOT_RUN
from apps.studies.plans.run_assignment import runs_of

MOST_CELLS = 400  # of a matrix that are shown at once: a browser gets them again every two seconds
MOST_GRID_CELLS = 2400  # of grids, whose cells are a number each
PLACE = re.compile(r"\d{1,18}-\d{1,18}", re.ASCII)

ALWAYS_OFFERED = CELL_METRICS[:2]
MOST_FAILED = 50  # runs that do not count, of which the newest are shown
FRESH_FIGURE_S = 20  # for so long a figure that a host has sent is that of now


@dataclass(frozen=True)
class ExecutionCell:
    """A cell with what it measured and what happens to it now."""

    cell: PlanPageCell
    values: Sequence[OperationValue]  # of each operation that its runs measured
    run: Run | None  # under way
    is_next: bool
    waits: str  # why its next step is held back
    seconds_left: float | None = None  # of a plan that runs, where it is known
    now: Sequence[LiveFigure] = ()  # what the run under way does now, of each operation
    run_seconds_left: float | None = None
    has_failed_step: bool = False  # of any round, which is not made again by itself or not yet
    is_cached: bool = False  # its files fit into the host's memory, and it goes through the page cache

    @property
    def guard_outcome(self) -> str:
        """Return the worst outcome of the guards of its counted runs; empty where no run has evidence."""
        return worst_outcome(run.guard_outcome for run in self.cell.runs if run.is_counted)

    @property
    def problem(self) -> str:
        """Return why the newest run of a failed cell does not count."""
        newest = self.cell.runs[-1] if self.cell.state == "failed" and self.cell.runs else None
        return "" if newest is None else newest.failed_guard or f"run {newest.pk} {newest.state}"

    @property
    def failed_round(self) -> int:
        """Return the round of the newest run of a failed cell; 0 where it was made for none."""
        return self.cell.runs[-1].round if self.cell.state == "failed" and self.cell.runs else 0

    @property
    def is_now(self) -> bool:
        """Return whether the newest figure is fresh enough to be called that of now."""
        return bool(self.now) and self.now[0].age < FRESH_FIGURE_S

    @property
    def is_of_several(self) -> bool:
        """Return whether it has figures of several operations, so that each is named."""
        return len({*(entry.operation for entry in self.values), *(entry.operation for entry in self.now)}) > 1

    @property
    def has_jobs(self) -> bool:
        """Return whether its figures are of several jobs, each of which has its own."""
        return any(entry.jobs for entry in self.values)

    @property
    def is_without_guards(self) -> bool:
        """Return whether runs count that came from elsewhere, so that no guard was looked at."""
        return any(run.is_counted and not run.round for run in self.cell.runs)


@dataclass(frozen=True)
class ExecutionRow:
    row: PlanConfiguration
    cells: list[ExecutionCell]

    @property
    def filesystem(self) -> str:
        """Return what the row's target lies on as its host reports it: `ext4 on /dev/sda1`; empty where it has not."""
        target = self.row.configuration.target if self.row.configuration else None
        return words_of({**target.lies_on, "uuid": ""}) if target else ""


@dataclass(frozen=True)
class MatrixHead:
    """A column's point, what it asks for in words, and its file beside the RAM of the hosts where that is known."""

    point: PlanPoint
    words: str
    file_size: str


@dataclass(frozen=True)
class TimeLeft:
    """Seconds until a plan that runs has all its rounds; `guessed`: how many of these rounds are only guessed."""

    seconds: float
    guessed: int = 0


@dataclass(frozen=True)
class HostProgress:
    """What one host does for the plan now, in a sentence, and how many seconds its rest takes, where that is known.

    `waits_since`: where it waits, and the sentence says why.
    """

    host: Host
    run: Run | None
    sentence: str
    waits_since: datetime | None = None
    seconds_left: float | None = None


@dataclass(frozen=True)
class MatrixView:
    """What of the matrix is shown, as the address of the page says it; each is empty for the usual.

    Args:
        number: Of the part of the rows.
        metric: What the cells show.
        grid: The options that are rows and columns of grids (`GridShape.name`); empty: a table of all points.
        cell: The cell of a grid that is shown in full (`GridCell.place`).
    """

    number: str = ""
    metric: str = CELL_METRICS[0]
    grid: str = ""
    cell: str = ""

    @property
    def beside_cell(self) -> list[tuple[str, str]]:
        """Return the names and texts of all but the cell, without those that are as usual."""
        pairs = [
            ("metric", self.metric if self.metric != CELL_METRICS[0] else ""),
            ("grid", self.grid),
            ("page", self.number if self.number not in ("", "1") else ""),
        ]
        return [pair for pair in pairs if pair[1]]

    @property
    def query(self) -> str:
        """Return it as the query of an address: `?metric=iops&page=2`; empty where all is as usual."""
        cell = [("cell", self.cell)] if self.grid and self.cell else []
        query = urlencode([*self.beside_cell, *cell])
        return f"?{query}" if query else ""


def read_view(typed: Mapping[str, str]) -> MatrixView:
    """Return what an address asks for; what is not known is as usual."""
    cell, grid = typed.get("cell", ""), typed.get("grid", "")[:80]
    return MatrixView(
        typed.get("page", "")[:9], find_metric(typed.get("metric")), grid, cell if PLACE.fullmatch(cell) else ""
    )


class ExecutionPage:
    """A plan's own page; everything is read once, in a number of statements that does not grow with the plan.

    Of a large plan's matrix it shows one part, `MOST_CELLS` at most (of grids `MOST_GRID_CELLS`), and the hosts of that
    part.
    """

    def __init__(self, plan: Plan, view: "MatrixView | None" = None) -> None:
        self.plan = plan
        self.view = view or MatrixView()
        self.metric: Metric = METRICS[self.view.metric]
        self.execution: Execution | None = execution_of(plan)
        self.matrix = PlanPage(plan, runs_of(plan.study, plan_id=plan.pk, metrics=CELL_METRICS[1:]))

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
        return list(open_runs(self.plan.pk).select_related(*related).order_by("pk"))

    @cached_property
    def open_steps(self) -> list[Run]:
        """Return those of the runs under way that were made for a cell."""
        return [run for run in self.open_runs if hasattr(run, "planned_run")]

    @property
    def metrics(self) -> list[Metric]:
        """Return the metrics that the matrix can show: latencies where some run has told them, or one is chosen."""
        assignment = self.matrix.assignment
        recorded = {*ALWAYS_OFFERED, *(name for name in CELL_METRICS if assignment.has_metric(name))}
        return [METRICS[name] for name in CELL_METRICS if name in recorded or name == self.metric.name]

    def _address(self, **changes: str) -> str:
        """Return the query of the page as it is shown now, with these changes."""
        return replace(self.view, **changes).query

    @property
    def own_address(self) -> str:
        return self._address(number=str(self.part.number))

    @property
    def metric_links(self) -> list[tuple[Metric, str, bool]]:
        """Return each metric, the query that shows it, and whether it is shown."""
        number = str(self.part.number)
        return [
            (metric, self._address(metric=metric.name, number=number) or "?", metric == self.metric)
            for metric in self.metrics
        ]

    @cached_property
    def shapes(self) -> list[GridShape]:
        """Return the grids that the matrix can be shown in."""
        return find_shapes(self.matrix.points)

    @cached_property
    def shape(self) -> GridShape | None:
        """Return the grids that it is shown in; None: it is a table of all points."""
        return next((shape for shape in self.shapes if shape.name == self.view.grid), None)

    @property
    def shape_links(self) -> list[tuple[str, str, str, bool]]:
        """Return the ways to lay the cells out: name, label, the query that shows it, and whether it is shown."""
        if not self.shapes:
            return []
        ways = [("", "Table"), *((shape.name, f"Grid: {shape.label}") for shape in self.shapes)]
        shown = self.shape.name if self.shape else ""
        return [
            (name or "table", label, self._address(grid=name, number="", cell="") or "?", name == shown)
            for name, label in ways
        ]

    @cached_property
    def grid(self) -> PlanGrid | None:
        """Return the grids of the part that is shown; None where it is a table."""
        if self.shape is None:
            return None
        return PlanGrid(self.shape, list(self.part), self.metric, self._runs_of_cells, self.figures, self.view.cell)

    @cached_property
    def chosen_entry(self) -> ExecutionCell | None:
        """Return the cell of the grids that is shown in full."""
        cell = self.grid.find_chosen() if self.grid else None
        return self._cell(cell, self._runs_of_cells.get((cell.row.pk, cell.point.pk))) if cell else None

    @cached_property
    def question(self) -> QuestionReference | None:
        """Return the question of Compare that the plan was made for, if there is one still."""
        try:
            return parse_reference(self.plan.question) if self.plan.question else None
        except QuestionError:  # of another version
            return None

    @cached_property
    def attempts(self) -> dict[int, Attempt]:
        """Return the newest attempt of each run under way."""
        found = Attempt.objects.filter(run__in=[run.pk for run in self.open_steps]).order_by("number")
        return {attempt.run_id: attempt for attempt in found}

    @property
    def together_words(self) -> str:
        """Return what the value of jobs that run at the same time is."""
        return "the slowest of" if is_percentile(self.metric.name) else "together of"

    @cached_property
    def figures(self) -> dict[int, list[LiveFigure]]:
        """Return what each run under way does now, by its id; empty for metrics that fio tells only at the end."""
        running = [run.pk for run in self.open_steps if run.state == State.RUNNING]
        return live_figures(running, self.metric.name)

    @cached_property
    def parallel_hosts(self) -> int:
        """Return on how many hosts the plan runs at the same time."""
        return len(
            {target_host(row.row) for row in self.matrix.rows if any(not cell.reason for cell in row.cells)} - {None}
        )

    @cached_property
    def round_words(self) -> str:
        """Return `Round 4 of 10`, of what runs now or is next; empty where rounds do not follow one another."""
        rule = self.plan.rule
        if not self._is_under_way or rule.most == 1 or self.plan.order == "sequential":
            return ""
        numbers = {run.planned_run.round for run in self.open_steps} or {step.round for step in self.next_steps}
        if not numbers:
            return ""
        of = f"{rule.most}" if rule.is_fixed else f"{rule.least} to {rule.most}"
        return f"Round {_span(sorted(numbers), str)} of {of}"

    @cached_property
    def columns(self) -> list[MatrixHead]:
        return [MatrixHead(point, words, self._file_beside_ram(point)) for point, words in self.matrix.columns]

    def _file_beside_ram(self, point: PlanPoint) -> str:
        """Return a file as a multiple of the hosts' RAM, or such a multiple in bytes; empty where no RAM is known."""
        known = sorted(self._known_ram)
        if not known or (point.file_size is None and point.ram_multiple is None):
            return ""
        where = " where RAM is known" if self._is_some_ram_unknown else ""
        if point.jobs:
            return f"{_span(self._files_in_ram(point) or [0.0], multiple)}\u00a0× RAM together{where}"
        if point.ram_multiple is not None:
            column = MatrixColumn(point.name, None, point.ram_multiple)
            return f"{_span([file_size_for(column, ram) or 0 for ram in known], size)}{where}"
        return f"{_span([(point.file_size or 0) / ram for ram in reversed(known)], multiple)}\u00a0× RAM{where}"

    def _files_in_ram(self, point: PlanPoint) -> list[float]:
        """Return all files of a point's jobs as multiples of the RAM of each host where that is known, from the least."""
        at = self.matrix.points.index(point)
        cells = [row.cells[at] for row in self.matrix.rows]
        known = [(cell.files_bytes, cell.row.host.ram_bytes) for cell in cells if cell.row.host]
        return sorted({files / ram for files, ram in known if files and ram})

    @cached_property
    def _known_ram(self) -> set[int]:
        return {row.row.host.ram_bytes for row in self.matrix.rows if row.row.host and row.row.host.ram_bytes}

    @cached_property
    def _is_some_ram_unknown(self) -> bool:
        return any(not (row.row.host and row.row.host.ram_bytes) for row in self.matrix.rows)

    @property
    def priorities(self) -> list[str]:
        return [priority.label for priority in Priority]

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
        accepted = [attempt for attempt in self.attempts.values() if attempt.state == State.ACCEPTED]
        waits = {attempt.run_id: waiting_entry(map(entry_of, attempt.guards)) for attempt in accepted}
        return {pk: f"Waits for {describe_wait(entry)}." for pk, entry in waits.items() if entry}

    @cached_property
    def extra(self) -> ExtraTime:
        """Return the time that guards and preparations add to what is left."""
        rows = {row.position: row.pk for row in self.plan.rows.all()}
        points = {point.position: point.pk for point in self.matrix.points}
        left_out = {(cell.row.pk, cell.point.pk) for cell in self.refused_cells}
        by_id = {
            host: {
                place: rounds
                for (row, point), rounds in cells.items()
                if (place := (rows[row], points[point])) not in left_out
            }
            for host, cells in self.waiting.items()
        }
        largest = find_largest_files(self.matrix, self.refused_cells)
        preparations, guards = list(self.plan.preparations.all()), self.plan.guards.all()
        return estimate_extra(preparations, guards, by_id, self.preparation_progress, largest)

    @cached_property
    def start_problems(self) -> list[str]:
        return find_start_problems(self.matrix)

    @cached_property
    def left_out_at_start(self) -> list[str]:
        """Return which cells a start would leave out because their host allows less, in sentences; empty where it runs."""
        return [] if self.start_problems else refusal_sentences(refusal for _, refusal in self._refused)

    @cached_property
    def _refused(self) -> list[tuple[PlanPageCell, Refusal]]:
        return [] if self._is_under_way else find_refused_cells(self.matrix)

    @property
    def refused_cells(self) -> list[PlanPageCell]:
        """Return the cells that a start would leave out because their host allows less; none where the plan runs."""
        return [cell for cell, _ in self._refused]

    @cached_property
    def refused_preparations(self) -> list[Refusal]:
        """Return the preparations that hosts would refuse, at which the plan would pause; none where it runs."""
        if self.plan.is_from_report or self._is_under_way:
            return []
        return find_refused_preparations_of(self.matrix, self.refused_cells)

    @property
    def refused_preparations_words(self) -> list[str]:
        return refusal_sentences(self.refused_preparations)

    @cached_property
    def waits(self) -> dict[int, HostWait]:
        return {wait.host_id: wait for wait in self.execution.waits.all()} if self.execution else {}

    @cached_property
    def part(self) -> Any:
        """Return the part of the matrix's rows that is shown, as a page of Django's paginator."""
        most = MOST_GRID_CELLS if self.shape else MOST_CELLS
        return Paginator(self.matrix.rows, max(1, most // max(1, len(self.matrix.points)))).get_page(self.view.number)

    @cached_property
    def _runs_of_cells(self) -> dict[tuple[int, int], Run]:
        """Return the runs under way by the ids of row and point."""
        return {(run.planned_run.row_id, run.planned_run.point_id): run for run in self.open_steps}

    @cached_property
    def rows(self) -> list[ExecutionRow]:
        """Return the rows of the part that is shown."""
        runs = self._runs_of_cells
        return [
            ExecutionRow(row.row, [self._cell(cell, runs.get((cell.row.pk, cell.point.pk))) for cell in row.cells])
            for row in self.part
        ]

    def _cell(self, cell: PlanPageCell, run: Run | None) -> ExecutionCell:
        place = cell.row.pk, cell.point.pk
        wait = self.waits.get(target_host(cell.row) or 0)
        waits = wait.reason if wait and wait.step.startswith(f"{place[0]}/{place[1]}/") else ""
        waits = self._why_it_waits(run) if run else waits
        left = self.matrix.seconds_left.get(place) if self._is_under_way else None
        ram = cell.row.host.ram_bytes if cell.row.host else None
        return ExecutionCell(
            cell, cell.operation_values(self.metric.name), run, place in self.next_places, waits, left,
            now=self.figures.get(run.pk, ()) if run else (),
            run_seconds_left=find_time_left(run, self.attempts.get(run.pk)) if run else None,
            has_failed_step=place in self.failed_places,
            is_cached=not cell.reason and may_some_be_cached(cell.jobs or (), ram),
        )  # fmt: skip

    def _why_it_waits(self, run: Run) -> str:
        """Return for what a step's run waits, on its host or for it; empty where it runs."""
        return self.guard_waits.get(run.pk) or self.waiting_reasons.get(run.pk, "")

    @cached_property
    def waiting_reasons(self) -> dict[int, str]:
        return waiting_reasons(self.open_runs)

    @cached_property
    def waiting(self) -> dict[int, dict[Cell, list[int]]]:
        """Return the rounds that are still to be made, by host and cell; read once for all hosts."""
        return find_waiting(self.matrix, self.execution.retries if self.execution else 0)

    @cached_property
    def next_steps(self) -> list[Step]:
        """Return the step that each host takes next."""
        steps = [find_next_step(self.plan, of_host) for of_host in self.waiting.values()] if self._is_under_way else []
        return [step for step in steps if step]

    @cached_property
    def next_places(self) -> set[tuple[int, int]]:
        """Return the cells (ids of row and point) that each host takes next."""
        rows = {row.position: row for row in self.plan.rows.all()}
        points = {point.position: point for point in self.matrix.points}
        return {(rows[step.row].pk, points[step.point].pk) for step in self.next_steps}

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
        return [self._progress(host, runs.get(pk)) for pk, host in hosts.items()]

    def _progress(self, host: Host, run: Run | None) -> HostProgress:
        wait = self.waits.get(host.pk)
        left = self._left_by_host.get(host.name)
        if run is None and wait:
            return HostProgress(host, None, wait.reason, wait.since, left)
        return HostProgress(host, run, self._sentence(host.pk, run), seconds_left=left)

    @property
    def _is_under_way(self) -> bool:
        return bool(self.execution and not self.execution.has_ended)

    def _sentence(self, host_id: int, run: Run | None) -> str:
        if run is not None and not hasattr(run, "planned_run"):
            what = run.preparation_run
            kind = PREPARATIONS[what.preparation.kind].label
            return f"{run.state_words}: preparation {kind}, run {what.number}. {self.waiting_reasons.get(run.pk, '')}".strip()
        if run is not None:
            where = f"{self._place(run.planned_run)}, round {run.planned_run.round}"
            return f"{run.state_words}: {where}. {self._why_it_waits(run)}".strip()
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
        return sum(entry.done for entry in progress), sum(max(entry.done, entry.needed) for entry in progress)

    @property
    def fraction(self) -> float:
        done, needed = self.rounds
        return done / needed if needed else 0.0

    @cached_property
    def estimate(self) -> PlanEstimate | None:
        """Return what the rest takes by earlier runs elsewhere, sizes and ceilings: all there is before the first runs."""
        return estimate_page(self.matrix)

    @cached_property
    def _estimate_of_unknown(self) -> PlanEstimate | None:
        """Return the estimate of a plan that runs, where its own runs do not tell how long some rounds take."""
        rest = self.matrix.remaining
        return self.estimate if rest and rest.unknown and self._is_under_way else None

    @cached_property
    def time_left(self) -> TimeLeft | None:
        """Return how long a plan that runs still takes, guards and preparation too; None where that is not known."""
        rest = self.matrix.remaining
        if not rest or not self._is_under_way:
            return None
        if not rest.unknown:
            return TimeLeft(rest.seconds + self.extra.seconds)
        ahead = self._estimate_of_unknown
        return TimeLeft(ahead.seconds + self.extra.seconds, ahead.guessed) if ahead else None

    @cached_property
    def _left_by_host(self) -> Mapping[str, float]:
        rest = self.matrix.remaining
        if not rest or not self._is_under_way:
            return {}
        ahead = self._estimate_of_unknown
        return {entry.host.name: entry.seconds for entry in ahead.hosts} if ahead else rest.by_host

    @cached_property
    def ends_at(self) -> datetime | None:
        """Return when the plan will probably end; None where the time of some rounds is not known, or a host waits."""
        if self.time_left is None or self.state != "running" or self.waits:
            return None
        return timezone.now() + timedelta(seconds=self.time_left.seconds)

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
            (cell.row.pk, cell.point.pk): value.mean
            for cell in self.matrix.cells
            if (value := cell.value_of(CELL_METRICS[0]))
        }
        return compare_with_report(self.plan, means)

    @cached_property
    def failed_runs(self) -> list[FailedRun]:
        """Return the runs that have ended and do not count for their step."""
        return find_failed_runs(self.matrix.cells)

    @property
    def failed_runs_words(self) -> str:
        """Return how many runs do not count and how they ended, as in `5 runs do not count: 3 failed, 2 interrupted`."""
        if not self.failed_runs:
            return ""
        count = len(self.failed_runs)
        states = Counter(
            "finished, not as asked" if e.run.state == "finished" else e.run.state for e in self.failed_runs
        )
        how = ", ".join(f"{number} {state}" for state, number in states.most_common())
        return f"{count} run{'' if count == 1 else 's'} do{'es' if count == 1 else ''} not count: {how}"

    @property
    def newest_failed_runs(self) -> list[FailedRun]:
        """Return those of them that are shown, the newest first."""
        return self.failed_runs[: -MOST_FAILED - 1 : -1]

    @property
    def took(self) -> float | None:
        """Return how many seconds passed from the plan's start to its end, also where it rested between; None where it has not ended."""
        execution = self.execution
        return (execution.ended_at - execution.started_at).total_seconds() if execution and execution.ended_at else None

    @cached_property
    def failed_steps(self) -> list[FailedRun]:
        return find_failed_steps(self.failed_runs)

    @cached_property
    def failed_places(self) -> set[tuple[int, int]]:
        """Return the cells (ids of row and point) that have a failed step."""
        return {(entry.cell.row.pk, entry.cell.point.pk) for entry in self.failed_steps}

    @property
    def can_retry(self) -> bool:
        return bool(self.execution and self.execution.state != State.CANCELLED and self.failed_steps)


def find_metric(name: str | None) -> str:
    """Return the metric of this name that a matrix can show, or the bandwidth."""
    return name if name in CELL_METRICS else CELL_METRICS[0]


def _span(values: Sequence[Any], text: Callable[[Any], str]) -> str:
    """Return the least and the most of sorted values in words, or the one of them."""
    least, most = text(values[0]), text(values[-1])
    return least if least == most else f"{least}–{most}"
