"""A study's plans as pages and REST show them: the matrix with states, the order, guards in words, what remains."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any

from django.utils.translation import gettext as _

from apps.core.units import size
from apps.inventory.models import Target
from apps.parsers.fio.job_options.table import BY_NAME, DEFAULT
from apps.runs.metrics import point_text
from apps.runs.workload import WorkloadError, files_bytes, guess_seconds, planned_seconds
from apps.studies.models import Guard, Plan, PlanCell, PlanConfiguration, PlanPoint, Study
from apps.studies.models.plan import GUARD_FAILED, GUARD_NOT_CHECKED, GUARD_PASSED
from apps.studies.plans.cell_values import RunValues, operations_of, series_of
from apps.studies.plans.guards import limits_of_idle, sets_limits_of_idle
from apps.studies.plans.matrix import CacheFinding, Matrix, MatrixColumn, MatrixRow, cache_findings
from apps.studies.plans.order import ORDER_WORDS, OrderPicture, Step, sequence
from apps.studies.plans.point_match import DemandDifference
from apps.studies.plans.progress import NOT_RUN, STATES, Estimate, HeldRun, Progress, WaitingCell, estimate, progress_of
from apps.studies.plans.run_assignment import Assignment, NotCounted, Place, StudysRuns, assign_runs, runs_of
from apps.studies.plans.saturation.row_ladders import RowLadder, SaturationSearch
from apps.studies.plans.stopping_rule import half_width, is_enough, is_met
from apps.studies.plans.workload import unlike_options_of_jobs, workload_at

CELL_METRICS = ("bandwidth", "iops", "latency_mean", "clat_p99")  # that a cell's runs are read for where it is shown
CONFIDENCE = 0.95
LEAST_FOR_INTERVAL = 3
GUARD_OUTCOMES = (GUARD_PASSED, GUARD_FAILED, GUARD_NOT_CHECKED)


@dataclass(frozen=True)
class CellValue:
    """The mean of a cell's runs in the base unit of the metric, with half of its 95 % interval from three runs on."""

    mean: float
    half_width: float | None
    n: int


def mean_of(values: Sequence[float]) -> CellValue | None:
    """Return the mean of the values of runs; None without any."""
    if not values:
        return None
    mean, is_interval = fmean(values), len(values) >= LEAST_FOR_INTERVAL
    return CellValue(mean, half_width(values, CONFIDENCE) * mean if is_interval else None, len(values))


@dataclass(frozen=True)
class JobValue:
    """What one job of a point, by its place and in words, measured."""

    job: int
    words: str
    value: CellValue


@dataclass(frozen=True)
class OperationValue:
    """What a cell's runs measured of one operation, and each job where the point has several.

    `value` is that of all jobs together; None where they have none, as of rates of jobs that begin at different times.
    """

    operation: str
    value: CellValue | None
    jobs: Sequence[JobValue] = ()


@dataclass(frozen=True)
class PointSizes:
    """A plan's point as `apps.runs.metrics` puts it into words."""

    file_size: int | None
    block_size: int | None
    threads: int | None
    iodepth: int | None


@dataclass(frozen=True)
class PlanPageCell:
    row: PlanConfiguration
    point: PlanPoint
    file_size: int | None
    reason: str
    note: str
    progress: Progress
    runs: Sequence[HeldRun]
    workload: dict[str, Any] | None
    is_left_out: bool = False  # somebody said so; else its reason follows from its row or its host
    is_held_back: bool = False  # its turn comes when the points before it are measured
    is_rule_missed: bool = False  # its last round is done, and the stopping rule does not hold
    measured: Sequence[RunValues] = ()  # of the runs that count, oldest first

    @cached_property
    def operations(self) -> list[str]:
        """Return the operations that its runs measured, by name."""
        return operations_of(self.measured)

    def value_of(self, metric: str, operation: str = "") -> CellValue | None:
        """Return what the runs that count measured of an operation, of the first by name where none is named."""
        name = operation or next(iter(self.operations), "")
        return mean_of(series_of(self.measured, name, metric))

    def operation_values(self, metric: str) -> list["OperationValue"]:
        """Return what the runs that count measured, of each operation that has told the metric."""
        values = [(name, self.value_of(metric, name), self._job_values(metric, name)) for name in self.operations]
        return [OperationValue(name, value, jobs) for name, value, jobs in values if value or jobs]

    def _job_values(self, metric: str, operation: str) -> list["JobValue"]:
        """Return what each job of a point of several measured of an operation."""
        columns: dict[int, list[float]] = {}
        for entry in (entry for run in self.measured for entry in run.jobs if entry.operation == operation):
            if metric in entry.values:
                columns.setdefault(entry.job, []).append(entry.values[metric])
        means = [(job, mean_of(columns[job])) for job in sorted(columns)]
        words = [job_text(job) for job in self.point.jobs or ()]
        return [JobValue(job, words[job], mean) for job, mean in means if mean]

    @property
    def state(self) -> str:
        return self.progress.state

    @property
    def files_bytes(self) -> int | None:
        """Return the bytes of its test file; of jobs that run at the same time those of all their files."""
        return files_bytes(self.workload) if self.point.jobs and self.workload else self.file_size

    @property
    def jobs(self) -> list[dict[str, Any]] | None:
        return self.workload["jobs"] if self.workload else None

    @property
    def can_be_started(self) -> bool:
        """Return whether the cell can be started by hand: fio can run it in the directory that the host's agent offers."""
        return bool(self._is_wanted and self.target and self.target.is_agents_own)

    @property
    def is_target_gone(self) -> bool:
        """Return whether the cell could be started if its host still offered its target, or offered it again."""
        target = self.target
        return bool(self._is_wanted and target and not target.is_agents_own and target.gone_at)

    @property
    def target(self) -> Target | None:
        return self.row.configuration.target if self.row.configuration else None

    @property
    def _is_wanted(self) -> bool:
        return bool(not self.reason and not self.is_held_back and self.workload)

    @property
    def remaining(self) -> int:
        return 0 if self.reason else max(0, self.progress.needed - self.progress.done)


@dataclass(frozen=True)
class PlanPageRow:
    row: PlanConfiguration
    cells: list[PlanPageCell]


@dataclass
class PlanPage:
    """One plan with all that is said about it."""

    plan: Plan
    found: StudysRuns
    matrix: Matrix = field(init=False)
    _workloads: dict[tuple[int, int | None], dict[str, Any] | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        left_out = {(cell.row_id, cell.point_id): cell.reason for cell in self.plan.cells.all() if cell.reason}
        names = {row.pk: row.name for row in self.plan.rows.all()}
        points = {point.pk: point.name for point in self.plan.points.all()}
        self.matrix = Matrix(
            [_row(row) for row in self.plan.rows.all()],
            [column_of(point) for point in self.plan.points.all()],
            {(names[row], points[point]): reason for (row, point), reason in left_out.items()},
        )

    @cached_property
    def assignment(self) -> Assignment:
        sizes = {
            (row.pk, point.pk): self.matrix.cell(row.name, point.name).file_size
            for row in self.plan.rows.all()
            for point in self.points
        }
        return assign_runs(self.plan, sizes, self.found)

    @property
    def held(self) -> dict[Place, list[HeldRun]]:
        """Return the runs of each row and point, oldest first."""
        return self.assignment.held

    @property
    def not_counted(self) -> list[NotCounted]:
        """Return runs of the plan's configurations that count for none of its cells."""
        return self.assignment.not_counted

    @cached_property
    def not_counted_of(self) -> dict[Place, int]:
        """Return for each row and point how many runs are nearest to this cell and count for none."""
        counted: dict[Place, int] = {}
        for not_counted in self.not_counted:
            place = not_counted.row.pk, not_counted.point.pk
            counted[place] = counted.get(place, 0) + len(not_counted.runs)
        return counted

    @cached_property
    def rows(self) -> list[PlanPageRow]:
        """Return the rows with their cells; those that a search for saturation has not reached are held back or not run."""
        return [
            PlanPageRow(row.row, [self._as_searched(cell) for cell in row.cells]) for row in self._rows_before_search
        ]

    def _as_searched(self, cell: PlanPageCell) -> PlanPageCell:
        place = cell.row.pk, cell.point.pk
        if reason := self._search.closed.get(place):
            return replace(cell, reason=reason, progress=replace(cell.progress, state=NOT_RUN))
        return replace(cell, is_held_back=True) if place in self._search.held_back else cell

    @cached_property
    def _search(self) -> SaturationSearch:
        return SaturationSearch(self.plan, self._rows_before_search)

    @property
    def ladders(self) -> list[RowLadder]:
        """Return the searches for saturation, one for each row and kind of load; empty where the plan is no such one."""
        return self._search.ladders

    @cached_property
    def _rows_before_search(self) -> list[PlanPageRow]:
        cells = {(cell.row_id, cell.point_id): cell for cell in self.plan.cells.all()}
        return [
            PlanPageRow(row, [self._cell(row, point, cells.get((row.pk, point.pk))) for point in self.points])
            for row in self.plan.rows.all()
        ]

    def _cell(self, row: PlanConfiguration, point: PlanPoint, plan_cell: PlanCell | None) -> PlanPageCell:
        plan, cell = self.plan, self.matrix.cell(row.name, point.name)
        runs, rule = self.held[row.pk, point.pk], plan.rule
        known = self.assignment.values.get((row.pk, point.pk), {})
        measured = [known[run.pk] for run in runs if run.is_counted and run.pk in known]
        series = [series_of(measured, name, CELL_METRICS[0]) for name in operations_of(measured)]
        judged = [values for values in series if values] or [[]]
        progress = progress_of(
            runs,
            rule.least,
            rule.most,
            reason=cell.reason,
            are_means=plan.are_means,
            is_report=plan.is_from_report,
            is_enough=rule.is_fixed or all(is_enough(rule, values) for values in judged),
        )
        note, size = plan_cell.note if plan_cell else "", cell.file_size
        left_out = bool(plan_cell and plan_cell.reason)
        return PlanPageCell(
            row, point, size, cell.reason, note, progress, runs, self._workload_of(point, size), left_out,
            is_rule_missed=not cell.reason
            and any(len(values) >= rule.most and not is_met(rule, values) for values in judged),
            measured=measured,
        )  # fmt: skip

    def _workload_of(self, point: PlanPoint, file_size: int | None) -> dict[str, Any] | None:
        """Return what fio is asked for; checked once for all hosts whose file is of one size."""
        key = (point.pk, file_size)
        if key not in self._workloads:
            self._workloads[key] = _workload(point, file_size)
        return self._workloads[key]

    @property
    def points(self) -> list[PlanPoint]:
        return list(self.plan.points.all())

    @cached_property
    def columns(self) -> list[tuple[PlanPoint, str]]:
        """Return each point with what it asks for beyond its label, and with fio's options that tell it from others."""
        unlike = unlike_options_of_jobs(self.points)
        return [(point, column_words(point, unlike.get(point.pk, ()))) for point in self.points]

    @cached_property
    def cells(self) -> list[PlanPageCell]:
        return [cell for row in self.rows for cell in row.cells]

    @cached_property
    def steps(self) -> list[Step]:
        """Return all steps of the least number of rounds; a rule that looks at the values may ask for more."""
        return self.matrix.steps(self.plan.order, self.plan.rule.least, self.plan.seed or 0)

    @cached_property
    def first_round(self) -> list[tuple[Step, PlanConfiguration, PlanPoint]]:
        """Return what is done first: a whole round, or the first configuration's steps where the order is sequential."""
        rows, points = list(self.plan.rows.all()), self.points
        first = [step for step in self.steps if step.round == 1]
        return [(step, rows[step.row], points[step.point]) for step in first]

    @cached_property
    def guard_outcomes(self) -> dict[str, dict[str, int]]:
        """Return for each kind of guard how the runs that count were found: outcome → runs, by their evidence."""
        outcomes: dict[str, dict[str, int]] = {}
        counted = [run.pk for cell in self.cells for run in cell.runs if run.round and run.is_counted]
        for planned in (self.found.planned[pk] for pk in counted if pk in self.found.planned):
            for kind, outcome in planned.outcomes.items():
                of_kind = outcomes.setdefault(kind, dict.fromkeys(GUARD_OUTCOMES, 0))
                of_kind[outcome] = of_kind.get(outcome, 0) + 1
        return outcomes

    def standing_of(self, guard: Guard) -> str:
        """Return who vouches for a guard: what the runs that count have found, or that it was only asked for."""
        outcomes = self.guard_outcomes.get(guard.kind)
        if outcomes is None or guard.is_statement or self.plan.is_from_report:
            return _(guard.standing)
        words = {
            GUARD_PASSED: _("%(number)s passed"),
            GUARD_FAILED: _("%(number)s failed"),
            GUARD_NOT_CHECKED: _("%(number)s not checked"),
        }
        found = [words[name] % {"number": outcomes[name]} for name in GUARD_OUTCOMES if outcomes[name]]
        return _("asked for; of the runs that count: %(outcomes)s") % {"outcomes": ", ".join(found)}

    @property
    def guards(self) -> list[tuple[Guard, str]]:
        """Return the guards, each with its sentence and with what was found of it, in the reader's language."""
        return [(guard, with_standing(guard_text(guard), self.standing_of(guard))) for guard in self.plan.guards.all()]

    @property
    def picture(self) -> OrderPicture | None:
        steps = [step for step, _, _ in self.first_round]
        is_repeated = self.plan.rule.most > 1 and self.plan.order != "sequential"
        labels = [row.label for row in self.plan.rows.all()], [str(point) for point in self.points]
        return sequence(steps, *labels, is_repeated=is_repeated)

    @property
    def order_words(self) -> str:
        return ORDER_WORDS[self.plan.order]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """State → cells, those that occur."""
        states = [cell.state for cell in self.cells]
        return [(state, states.count(state)) for state in STATES if state in states]

    @cached_property
    def reason_numbers(self) -> dict[str, int]:
        """Return the number of each reason in the list below the matrix."""
        return {reason: number for number, (reason, _) in enumerate(self.reasons, 1)}

    @cached_property
    def reasons(self) -> list[tuple[str, list[PlanPageCell]]]:
        """Return why cells are not run, each reason once, with its cells."""
        return _together((cell.reason, cell) for cell in self.cells)

    @cached_property
    def notes(self) -> list[tuple[str, list[PlanPageCell]]]:
        """Return the notes on single cells, each once, with its cells."""
        return _together((cell.note, cell) for cell in self.cells)

    @cached_property
    def cache(self) -> list[CacheFinding]:
        rule = next((guard.parameters for guard in self.plan.guards.all() if guard.kind == "cache_rule"), None)
        together = {
            (cell.row.name, cell.point.name): cell.files_bytes or 0
            for cell in self.cells
            if cell.point.jobs and cell.workload
        }
        return cache_findings(self.matrix, rule["factor"], rule.get("tolerance", 0.0), together) if rule else []

    @cached_property
    def remaining(self) -> Estimate | None:
        """Return how long the rest takes; None for a report, which is over."""
        waiting = [_waiting(cell) for cell in self._cells_to_run]
        if self.plan.is_from_report or not any(cell.rounds for cell in waiting):
            return None
        return estimate(waiting)

    @cached_property
    def seconds_left(self) -> dict[Place, float]:
        """Return how long the rest of each cell takes, without those that are over or of which nothing is known."""
        cells = zip(self._cells_to_run, self.remaining.of_cells if self.remaining else (), strict=False)
        return {(cell.row.pk, cell.point.pk): seconds for cell, seconds in cells if seconds}

    @property
    def _cells_to_run(self) -> list[PlanPageCell]:
        return [cell for cell in self.cells if not cell.reason]

    @property
    def is_begun(self) -> bool:
        return any(cell.runs for cell in self.cells)

    @property
    def can_be_started(self) -> bool:
        return any(cell.can_be_started for cell in self.cells)

    @property
    def has_jobs(self) -> bool:
        return any(cell.workload for cell in self.cells)


def target_host(row: PlanConfiguration) -> int | None:
    """Return the id of the host on which the steps of a row run."""
    target = row.configuration.target if row.configuration else None
    return target.host_id if target else None


def plans_of_study(study: Study) -> list[PlanPage]:
    """Return every plan of a study, in a constant number of queries."""
    plans = list(Plan.objects.whole().filter(study=study))
    runs_found = runs_of(study) if plans else StudysRuns({}, {}, {})
    return [PlanPage(plan, runs_found) for plan in plans]


def guard_text(guard: Guard) -> str:
    """Return what a guard requires, in the reader's language."""
    if guard.kind == "idle" and sets_limits_of_idle(guard.parameters):
        words = _(
            "At most %(load)s tasks or cores are busy on the host, and its disks and its network move at most %(rate)s each."
        )
        return words % limits_of_idle(guard.parameters)
    if guard.kind != "cache_rule":
        return _(guard.sentence)
    within = guard.parameters.get("tolerance", 0.0)
    parameters = {"factor": f"{guard.parameters['factor']:g}", "percent": f"{100 * within:.0f}"}
    if within:
        return (
            _(
                "File size at least %(factor)s × RAM, within %(percent)s %%, so that the page cache does not shape the result."
            )
            % parameters
        )
    return _("File size at least %(factor)s × RAM, so that the page cache does not shape the result.") % parameters


def with_standing(text: str, standing: str) -> str:
    """Add who vouches for a plan's statement, as in `The array is settled (asked for; not checked).`.

    `standing` is a phrase of the catalogues, or in the reader's language already.
    """
    body, stop = (text[:-1], ".") if text.endswith(".") else (text, "")
    return f"{body} ({_(standing)}){stop}"


def fact_words(fact: str) -> str:
    """Return what a plan asks for in words, in the reader's language: `ioengine` → `I/O engine`."""
    words = {
        "tool": _("tool"), "operation": _("operation"), "target": _("target"), "host": _("host"),
        "file_size": _("file size"), "block_size": _("block size"), "threads": _("parallel jobs"),
        "iodepth": _("I/O depth"), "rw": _("fio's pattern"), "direct": _("direct I/O"), "sync": _("sync"),
        "ioengine": _("I/O engine"), "runtime": _("runtime in seconds"), "rwmixread": _("share of reads"),
        "jobs_at_once": _("jobs at the same time"), "job_results": _("jobs with a result of their own"),
    }  # fmt: skip
    return words.get(fact, fact.replace("_", " "))


def difference_text(difference: DemandDifference) -> str:
    """Return a difference such as `block size: not known; the plan asks for 1 MiB`."""
    value = _("not known") if difference.found is None else _value_text(difference.fact, difference.found)
    parameters = {
        "fact": fact_words(difference.fact),
        "found": value,
        "asked": _value_text(difference.fact, difference.asked),
    }
    return _("%(fact)s: %(found)s; the plan asks for %(asked)s") % parameters


def _value_text(fact: str, value: Any) -> str:
    if fact in ("file_size", "block_size"):
        return size(value)
    if fact == "direct" or isinstance(value, bool):
        return _("yes") if value else _("no")
    option = BY_NAME.get(fact)
    if option and isinstance(value, list | float) and option.kind.accepts(value):
        return str(option.kind.spell(value))  # a list as fio writes it: 1m,2m
    if value is None:
        return DEFAULT if option and option.is_rare else "–"
    return str(value)


def not_counted_text(not_counted: NotCounted) -> str:
    """Return why runs count for none of their row's cells, as a sentence about the nearest cell."""
    parameters = {
        "runs": len(not_counted.runs), "configuration": not_counted.row.label, "point": not_counted.point,
        "differences": ", ".join(map(difference_text, not_counted.differences)),
    }  # fmt: skip
    return _("%(configuration)s, %(point)s: runs not counted: %(runs)s. %(differences)s.") % parameters


def size_words(point: PlanPoint) -> str:
    """Return `4 × RAM`, `100 MiB`, or an empty text."""
    if point.ram_multiple is not None:
        return f"{point.ram_multiple:g} × RAM"
    return size(point.file_size) if point.file_size else ""


def column_of(point: Any) -> MatrixColumn:
    """Return the column of a point, written or stored."""
    own = [job["file_size"] for job in point.jobs or () if "file_size" in job]
    return MatrixColumn(point.name, point.file_size, point.ram_multiple, max(own, default=0))


def column_words(point: PlanPoint, unlike: Sequence[Mapping[str, Any]]) -> str:
    """Return what a point asks for beyond its label, with fio's options by which its jobs differ from others."""
    if not point.jobs:
        return ", ".join(filter(None, [point_words(point), *map(options_text, unlike)]))
    options = [options_text(values) for values in unlike] or [""] * len(point.jobs)
    shared = f"{point.ram_multiple:g} × RAM file" if point.ram_multiple is not None else f"{size(point.file_size)} file"
    jobs = []
    for job, words in zip(point.jobs, options, strict=True):
        text = ", ".join(filter(None, [job_text(job), "" if "file_size" in job else shared]))
        jobs.append(f"{text} ({words})" if words else text)
    return f"{point.tool} {' + '.join(jobs)}"


def job_text(job: Mapping[str, Any]) -> str:
    """Return one of several jobs of a point in words: `randread, 4 KiB blocks, depth 32`."""
    count = job.get("numjobs", 1)
    sizes = PointSizes(job.get("file_size"), job["block_size"], count if count > 1 else None, job.get("iodepth", 1))
    return f"{job['rw']}, {point_text(sizes)}"


def point_words(point: PlanPoint) -> str:
    """Return what a point asks for beyond its label: `4 × RAM file, 1 MiB blocks, 8 jobs, fio`."""
    file_size = f"{point.ram_multiple:g} × RAM file" if point.ram_multiple is not None else ""
    text = point_text(PointSizes(point.file_size, point.block_size, point.threads, point.iodepth))
    others = [f"{word} {value}" for word, value in point.labels.items()]
    pattern = f"{point.tool} {point.job['rw']}" if point.job else point.tool
    return ", ".join(filter(None, [pattern, file_size, text, *others]))


def options_text(options: Mapping[str, Any]) -> str:
    """Return fio's options in words: `direct I/O: no, sync: fsync`."""
    return ", ".join(f"{fact_words(name)}: {_value_text(name, value)}" for name, value in options.items())


def _together(pairs: Iterable[tuple[str, PlanPageCell]]) -> list[tuple[str, list[PlanPageCell]]]:
    grouped: dict[str, list[PlanPageCell]] = {}
    for text, cell in pairs:
        if text:
            grouped.setdefault(text, []).append(cell)
    return list(grouped.items())


def _row(row: PlanConfiguration) -> MatrixRow:
    host = row.host
    return MatrixRow(
        row.name,
        host.name if host else "",
        host.ram_bytes if host else None,
        row.largest_file_size,
        row.limit_reason,
        row.reason,
    )


def _workload(point: PlanPoint, file_size: int | None) -> dict[str, Any] | None:
    try:
        return workload_at(point, file_size)
    except WorkloadError:  # a multiple of a small host's RAM may be less than one block: such a cell has no job
        return None


def _waiting(cell: PlanPageCell) -> WaitingCell:
    past = [run.seconds for run in cell.runs if run.seconds is not None and run.state == "finished"]
    guessed = guess_seconds(cell.workload) if cell.workload else None
    # Without a runtime the row's own runs know better than a guess.
    asked = guessed if cell.workload and planned_seconds(cell.workload) is not None else None
    host = cell.row.host
    return WaitingCell(cell.row.name, host.name if host else "", cell.file_size, cell.remaining, past, asked, guessed)
