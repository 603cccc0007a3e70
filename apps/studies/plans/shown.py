"""A study's plans as pages and REST show them: the matrix with states, the order, guards in words, what remains."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from apps.lib.units import size
from apps.runs.points import point_text
from apps.runs.workload import WorkloadError, planned_seconds
from apps.studies.models import Study
from apps.studies.planning.drawing import OrderPicture, sequence
from apps.studies.planning.estimate import Estimate, Waiting, estimate
from apps.studies.planning.fio import workload_at
from apps.studies.planning.matrix import CacheFinding, Column, Matrix, Row, cache_findings
from apps.studies.planning.order import ORDER_WORDS, Step
from apps.studies.planning.progress import STATES, HeldRun, Progress, progress_of
from apps.studies.planning.stopping import is_enough
from apps.studies.plans.held import Place, StudysRuns, by_cell, runs_of, values_of
from apps.studies.plans.models import Plan, PlanCell, PlanConfiguration, PlanPoint


@dataclass(frozen=True)
class Asked:
    """A plan's point as `apps.runs.points` puts it into words."""

    file_size: int | None
    block_size: int | None
    threads: int | None
    iodepth: int | None


@dataclass(frozen=True)
class CellShown:
    row: PlanConfiguration
    point: PlanPoint
    file_size: int | None
    reason: str
    note: str
    progress: Progress
    runs: Sequence[HeldRun]
    workload: dict[str, Any] | None
    is_left_out: bool = False  # somebody said so; else its reason follows from its row or its host

    @property
    def state(self) -> str:
        return self.progress.state

    @property
    def jobs(self) -> list[dict[str, Any]] | None:
        return self.workload["jobs"] if self.workload else None

    @property
    def remaining(self) -> int:
        return 0 if self.reason else max(0, self.progress.needed - self.progress.done)


@dataclass(frozen=True)
class RowShown:
    row: PlanConfiguration
    cells: list[CellShown]


@dataclass
class PlanShown:
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
            [Column(point.name, point.file_size, point.ram_multiple) for point in self.plan.points.all()],
            {(names[row], points[point]): reason for (row, point), reason in left_out.items()},
        )

    @cached_property
    def held(self) -> dict[Place, list[HeldRun]]:
        """Row and point → runs, oldest first."""
        sizes = {
            (row.pk, point.pk): self.matrix.cell(row.name, point.name).file_size
            for row in self.plan.rows.all()
            for point in self.points
        }
        return by_cell(self.plan, sizes, self.found)

    @cached_property
    def values(self) -> dict[int, float]:
        """What the stopping rule looks at, where it looks at values."""
        runs = {run.pk for held in self.held.values() for run in held if run.state == "finished"}
        return {} if self.plan.rule.is_fixed or self.plan.is_from_report else values_of(runs)

    @cached_property
    def rows(self) -> list[RowShown]:
        said = {(one.row_id, one.point_id): one for one in self.plan.cells.all()}
        return [
            RowShown(row, [self._cell(row, point, said.get((row.pk, point.pk))) for point in self.points])
            for row in self.plan.rows.all()
        ]

    def _cell(self, row: PlanConfiguration, point: PlanPoint, said: PlanCell | None) -> CellShown:
        plan, cell = self.plan, self.matrix.cell(row.name, point.name)
        runs, rule = self.held[row.pk, point.pk], plan.rule
        values = [self.values[run.pk] for run in runs if run.pk in self.values]
        progress = progress_of(
            runs,
            rule.least,
            rule.most,
            reason=cell.reason,
            are_means=plan.are_means,
            is_report=plan.is_from_report,
            is_enough=rule.is_fixed or is_enough(rule, values),
        )
        note, size = said.note if said else "", cell.file_size
        left_out = bool(said and said.reason)
        return CellShown(row, point, size, cell.reason, note, progress, runs, _workload(point, size), left_out)

    @property
    def points(self) -> list[PlanPoint]:
        return list(self.plan.points.all())

    @cached_property
    def cells(self) -> list[CellShown]:
        return [cell for row in self.rows for cell in row.cells]

    @cached_property
    def steps(self) -> list[Step]:
        """All steps at least; a rule that looks at the values may ask for more rounds."""
        return self.matrix.steps(self.plan.order, self.plan.rule.least, self.plan.seed or 0)

    @cached_property
    def first_round(self) -> list[tuple[Step, PlanConfiguration, PlanPoint]]:
        """What is done first: a whole round, or the first configuration's steps where the order is sequential."""
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
        """Reason → its number in the list below the matrix."""
        return {reason: number for number, (reason, _) in enumerate(self.reasons, 1)}

    @cached_property
    def reasons(self) -> list[tuple[str, list[CellShown]]]:
        """Why cells are not run, each reason once, with its cells."""
        return _together((cell.reason, cell) for cell in self.cells)

    @cached_property
    def notes(self) -> list[tuple[str, list[CellShown]]]:
        """What is said beside single cells, each note once, with its cells."""
        return _together((cell.note, cell) for cell in self.cells)

    @cached_property
    def cache(self) -> list[CacheFinding]:
        rule = next((guard.parameters for guard in self.plan.guards.all() if guard.kind == "cache_rule"), None)
        return cache_findings(self.matrix, rule["factor"], rule.get("tolerance", 0.0)) if rule else []

    @cached_property
    def remaining(self) -> Estimate | None:
        """How long the rest takes; nothing for a report, which is over."""
        waiting = [_waiting(cell) for cell in self.cells if not cell.reason]
        if self.plan.is_from_report or not any(one.rounds for one in waiting):
            return None
        return estimate(waiting)

    @property
    def is_begun(self) -> bool:
        return any(cell.runs for cell in self.cells)

    @property
    def has_jobs(self) -> bool:
        return any(cell.workload for cell in self.cells)


def plans_of_study(study: Study) -> list[PlanShown]:
    """Every plan of a study, in a constant number of queries."""
    plans = list(Plan.objects.whole().filter(study=study))
    found = runs_of(study) if plans else StudysRuns({}, {}, {})
    return [PlanShown(plan, found) for plan in plans]


def size_words(point: PlanPoint) -> str:
    """`4 × RAM`, `100 MiB`, or nothing."""
    if point.ram_multiple is not None:
        return f"{point.ram_multiple:g} × RAM"
    return size(point.file_size) if point.file_size else ""


def point_words(point: PlanPoint) -> str:
    """What a point asks for, where its label does not say it: `4 × RAM file, 1 MiB blocks, 8 jobs, fio`."""
    file_size = f"{point.ram_multiple:g} × RAM file" if point.ram_multiple is not None else ""
    said = point_text(Asked(point.file_size, point.block_size, point.threads, point.iodepth))
    others = [f"{word} {value}" for word, value in point.labels.items()]
    pattern = f"{point.tool} {point.job['rw']}" if point.job else point.tool
    return ", ".join(filter(None, [pattern, file_size, said, *others]))


def _together(said: Iterable[tuple[str, CellShown]]) -> list[tuple[str, list[CellShown]]]:
    found: dict[str, list[CellShown]] = {}
    for text, cell in said:
        if text:
            found.setdefault(text, []).append(cell)
    return list(found.items())


def _row(row: PlanConfiguration) -> Row:
    host = row.host
    return Row(
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


def _waiting(cell: CellShown) -> Waiting:
    past = [run.seconds for run in cell.runs if run.seconds is not None and run.state == "finished"]
    asked = planned_seconds(cell.workload) if cell.workload else None
    host = cell.row.host
    return Waiting(cell.row.name, host.name if host else "", cell.file_size, cell.remaining, past, asked)
