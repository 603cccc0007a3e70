"""A study's plans as pages and REST show them: the matrix with states, the order, guards in words, what remains."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from apps.core.units import size
from apps.runs.metrics import point_text
from apps.runs.workload import WorkloadError, guess_seconds, planned_seconds
from apps.studies.models import Guard, Plan, PlanCell, PlanConfiguration, PlanPoint, Study
from apps.studies.plans.matrix import CacheFinding, Matrix, MatrixColumn, MatrixRow, cache_findings
from apps.studies.plans.order import ORDER_WORDS, OrderPicture, Step, sequence
from apps.studies.plans.point_match import DemandDifference
from apps.studies.plans.progress import NOT_RUN, STATES, Estimate, HeldRun, Progress, WaitingCell, estimate, progress_of
from apps.studies.plans.run_assignment import Assignment, NotCounted, Place, StudysRuns, assign_runs, runs_of
from apps.studies.plans.saturation.row_ladders import RowLadder, SaturationSearch
from apps.studies.plans.stopping_rule import is_enough
from apps.studies.plans.workload import unlike_options, workload_at


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

    @property
    def state(self) -> str:
        return self.progress.state

    @property
    def jobs(self) -> list[dict[str, Any]] | None:
        return self.workload["jobs"] if self.workload else None

    @property
    def can_be_started(self) -> bool:
        """Return whether the cell can be started by hand: fio can run it in the directory that the host's agent offers."""
        configuration = self.row.configuration
        return bool(
            not self.reason
            and not self.is_held_back
            and self.workload
            and configuration
            and configuration.target
            and configuration.target.is_agents_own
        )

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

    def __post_init__(self) -> None:
        left_out = {(cell.row_id, cell.point_id): cell.reason for cell in self.plan.cells.all() if cell.reason}
        names = {row.pk: row.name for row in self.plan.rows.all()}
        points = {point.pk: point.name for point in self.plan.points.all()}
        self.matrix = Matrix(
            [_row(row) for row in self.plan.rows.all()],
            [MatrixColumn(point.name, point.file_size, point.ram_multiple) for point in self.plan.points.all()],
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
        values = [known[run.pk] for run in runs if run.is_counted and run.pk in known]
        progress = progress_of(
            runs,
            rule.least,
            rule.most,
            reason=cell.reason,
            are_means=plan.are_means,
            is_report=plan.is_from_report,
            is_enough=rule.is_fixed or is_enough(rule, values),
        )
        note, size = plan_cell.note if plan_cell else "", cell.file_size
        left_out = bool(plan_cell and plan_cell.reason)
        return PlanPageCell(row, point, size, cell.reason, note, progress, runs, _workload(point, size), left_out)

    @property
    def points(self) -> list[PlanPoint]:
        return list(self.plan.points.all())

    @cached_property
    def columns(self) -> list[tuple[PlanPoint, str]]:
        """Return each point with what it asks for beyond its label, and with fio's options that tell it from others."""
        options = {pk: options_text(values) for pk, values in unlike_options(self.points).items()}
        return [
            (point, ", ".join(filter(None, [point_words(point), options.get(point.pk, "")]))) for point in self.points
        ]

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
        return cache_findings(self.matrix, rule["factor"], rule.get("tolerance", 0.0)) if rule else []

    @cached_property
    def remaining(self) -> Estimate | None:
        """Return how long the rest takes; None for a report, which is over."""
        waiting = [_waiting(cell) for cell in self.cells if not cell.reason]
        if self.plan.is_from_report or not any(cell.rounds for cell in waiting):
            return None
        return estimate(waiting)

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
    """Add who vouches for a plan's statement, as in `The host is closed to users (asked for; not checked).`."""
    body, stop = (text[:-1], ".") if text.endswith(".") else (text, "")
    return f"{body} ({_(standing)}){stop}"


def fact_words(fact: str) -> str:
    """Return what a plan asks for in words, in the reader's language: `ioengine` → `I/O engine`."""
    words = {
        "tool": _("tool"), "operation": _("operation"), "target": _("target"), "host": _("host"),
        "file_size": _("file size"), "block_size": _("block size"), "threads": _("parallel jobs"),
        "iodepth": _("I/O depth"), "rw": _("fio's pattern"), "direct": _("direct I/O"), "sync": _("sync"),
        "ioengine": _("I/O engine"), "runtime": _("runtime in seconds"), "rwmixread": _("share of reads"),
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
    return "–" if value is None else str(value)


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
    # Without a runtime the row's own runs know better than a guess.
    seconds = guess_seconds(cell.workload) if cell.workload and planned_seconds(cell.workload) is not None else None
    host = cell.row.host
    return WaitingCell(cell.row.name, host.name if host else "", cell.file_size, cell.remaining, past, seconds)
