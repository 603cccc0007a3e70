"""A plan's searches for saturation: the ladder of every row, from its cells and what their runs measured."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from apps.core.units import human, plain, size
from apps.runs.models import Sample
from apps.studies.models import Plan, PlanConfiguration, PlanPoint
from apps.studies.plans.progress import FAILED, HeldRun, Progress
from apps.studies.plans.run_assignment import Place
from apps.studies.plans.saturation.ladder import CAPPED, PASSED, STUCK, Ladder, LadderLoad, LoadResult, search

NOT_OF_A_LOAD = ("disk", "sync", "mixed", "trim")  # operations that are no reads or writes of their own
NS_PER_MS = 1e6


class SearchedCell(Protocol):
    """A `PlanPageCell`, as far as a search looks at it."""

    @property
    def row(self) -> PlanConfiguration: ...
    @property
    def point(self) -> PlanPoint: ...
    @property
    def reason(self) -> str: ...
    @property
    def progress(self) -> Progress: ...
    @property
    def runs(self) -> Sequence[HeldRun]: ...


class SearchedRow(Protocol):
    """A `PlanPageRow`, as far as a search looks at it."""

    @property
    def row(self) -> PlanConfiguration: ...
    @property
    def cells(self) -> Sequence[SearchedCell]: ...


@dataclass(frozen=True)
class RowLadder:
    """The search of one configuration for one pattern, size and engine; `points` are those of `ladder.results`."""

    row: PlanConfiguration
    points: tuple[PlanPoint, ...]
    ladder: Ladder
    percentile: int
    name: str = ""  # of the kind of load, where a row has several

    @property
    def label(self) -> str:
        return f"{self.row.label}, {self.name}" if self.name else self.row.label

    @property
    def statement(self) -> str:
        """Return the answer, or how far the search is, in a sentence or two."""
        parts = [self._best(), self._end()]
        return " ".join(filter(None, parts))

    def _best(self) -> str:
        ladder, bound = self.ladder, f"p{self.percentile} ≤ {_ns(self.ladder.bound)}"
        if ladder.best is None:
            return "" if not any(result.is_measured for result in ladder.results) else f"No point is within {bound}."
        best = ladder.results[ladder.best]
        first = "Highest IOPS within" if ladder.state in (PASSED, CAPPED) else "So far the highest IOPS within"
        rounds = f", median of {best.rounds} rounds" if best.rounds > 1 else ""
        return f"{first} {bound}: {_iops(best)} at {best.load.words}{rounds}."

    def _end(self) -> str:
        ladder = self.ladder
        if ladder.state == STUCK and ladder.problem is not None:
            stuck = ladder.results[ladder.problem]
            why = "failed" if stuck.is_failed else f"has no p{self.percentile} of completion latency"
            return f"The search ended without an answer: {stuck.load.words} {why}."
        if ladder.passed is not None:
            past = ladder.results[ladder.passed]
            gave = f"gave p{self.percentile} {_ns(past.latency)}."
            is_next = ladder.best is not None and ladder.passed == ladder.best + 1
            return f"The next point, {past.load.words}, {gave}" if is_next else f"The point at {past.load.words} {gave}"
        if ladder.state == CAPPED:
            last = [result for result in ladder.results if result.is_measured]
            if not last:
                return "No point was measured."
            end = f"capped at {last[-1].load.words}, p{self.percentile} {_ns(last[-1].latency)}"
            return f"The latency never passed the bound: {end}."
        open_point = ladder.results[ladder.open] if ladder.open is not None else None
        return f"Now or next: {open_point.load.words}." if open_point else ""


@dataclass
class SaturationSearch:
    """All searches of a plan; without any where its rule is another one. The samples are read with one query."""

    plan: Plan
    rows: Sequence[SearchedRow]
    ladders: list[RowLadder] = field(init=False, default_factory=list)
    closed: dict[Place, str] = field(init=False, default_factory=dict)
    held_back: set[Place] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        rule = self.plan.rule
        if rule.kind != "saturation" or self.plan.is_from_report:
            return
        percentile = rule.data["percentile"]
        runs = [run.pk for row in self.rows for cell in row.cells for run in cell.runs if run.is_counted]
        loads = read_loads(runs, percentile)
        for row in self.rows:
            groups = _grouped(row.cells)
            for cells in groups:
                results = [_result(cell, loads) for cell in cells]
                ladder = search(results, rule.data["bound_ms"] * NS_PER_MS, rule.data["least_points"])
                name = _kind_of_load(cells[0].point) if len(groups) > 1 else ""
                points = tuple(cell.point for cell in cells)
                self._add(RowLadder(row.row, points, ladder, percentile, name))

    def _add(self, found: RowLadder) -> None:
        self.ladders.append(found)
        ladder = found.ladder
        self.held_back |= {(found.row.pk, found.points[place].pk) for place in ladder.held_back}
        if ladder.passed is None:
            return
        past = ladder.results[ladder.passed]
        words = (
            f"p{found.percentile} {_ns(past.latency)} at {past.load.words} is beyond the bound of {_ns(ladder.bound)}."
        )
        self.closed |= {
            (found.row.pk, found.points[place].pk): f"{found.label}: {words} Nothing heavier is measured."
            for place in ladder.closed
        }


def read_loads(runs: Collection[int], percentile: int) -> dict[int, tuple[float, float]]:
    """Return the IOPS in 1/s and the percentile of completion latency in ns of each run that has both.

    Reads and writes of a run count together: IOPS are added up, and of the latencies the highest counts.
    """
    latency = f"clat_p{percentile}"
    samples = Sample.objects.filter(run__in=list(runs), measure__metric__in=("iops", latency))
    iops: dict[int, float] = defaultdict(float)
    slowest: dict[int, float] = {}
    values = samples.exclude(measure__operation__in=NOT_OF_A_LOAD).values_list("run_id", "measure__metric", "value")
    for run, metric, value in values:
        if value is None:
            continue
        if metric == "iops":
            iops[run] += value
        else:
            slowest[run] = max(slowest.get(run, 0.0), value)
    return {run: (iops[run], slowest[run]) for run in slowest if run in iops}


def _grouped(cells: Iterable[SearchedCell]) -> list[list[SearchedCell]]:
    """Return the cells of each ladder: those that differ in depth and jobs alone, in their order."""
    groups: dict[Any, list[SearchedCell]] = {}
    for cell in cells:
        point = cell.point
        job = tuple(sorted((point.job or {}).items()))
        groups.setdefault((point.file_size, point.ram_multiple, point.block_size, job), []).append(cell)
    return list(groups.values())


def _kind_of_load(point: PlanPoint) -> str:
    pattern = str((point.job or {}).get("rw", point.tool))
    return f"{pattern} {point.ram_multiple:g} × RAM" if point.ram_multiple else f"{pattern} {size(point.file_size)}"


def _result(cell: SearchedCell, loads: dict[int, tuple[float, float]]) -> LoadResult:
    load = LadderLoad(cell.point.iodepth or 1, cell.point.threads or 1)
    values = [loads[run.pk] for run in cell.runs if run.is_counted and run.pk in loads]
    progress = cell.progress
    return LoadResult(
        load,
        iops=median(value[0] for value in values) if values else None,
        latency=median(value[1] for value in values) if values else None,
        rounds=len(values),
        is_done=progress.done >= progress.needed,
        is_failed=progress.state == FAILED,
        is_left_out=bool(cell.reason),
    )


def _iops(result: LoadResult) -> str:
    return plain(round(result.iops or 0.0))


def _ns(value: float | None) -> str:
    return human(value, "ns")
