"""A plan's searches for saturation: the ladder of every row, from its cells and what their runs measured."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from apps.core.units import human, plain, size
from apps.parsers.fio.job_options.table import spell_value
from apps.runs.models import Sample
from apps.studies.models import Plan, PlanConfiguration, PlanPoint
from apps.studies.plans.progress import FAILED, HeldRun, Progress
from apps.studies.plans.run_assignment import Place
from apps.studies.plans.saturation.ladder import (
    CAPPED,
    PASSED,
    SAME_IOPS,
    STUCK,
    Ladder,
    LadderLoad,
    LoadResult,
    search,
)
from apps.studies.plans.workload import unlike_options

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
        return f"{first} {bound}: {_iops(best)} at {best.load.words}{rounds}.{self._lightest()}"

    def _lightest(self) -> str:
        """Return which lighter load gives as many IOPS as the best one, for more in flight only waits longer then."""
        ladder = self.ladder
        if ladder.lightest is None or ladder.lightest == ladder.best:
            return ""
        light = ladder.results[ladder.lightest]
        less = f"within {SAME_IOPS:.0%} of that".replace("%", "\u00a0%")
        return f" {light.load.words.capitalize()} already gives {_iops(light)}, {less}, at p{self.percentile} {_ns(light.latency)}."

    def _end(self) -> str:
        ladder = self.ladder
        if ladder.state == STUCK and ladder.problem is not None:
            stuck = ladder.results[ladder.problem]
            why = "failed" if stuck.is_failed else f"has no p{self.percentile} of latency"
            return f"The search ended without an answer: {stuck.load.words} {why}."
        if ladder.passed is not None:
            past = ladder.results[ladder.passed]
            gave = f"gave p{self.percentile} {_ns(past.latency)}."
            is_next = ladder.best is not None and ladder.passed == ladder.best + 1
            point = "The next point" if is_next else "The first point beyond the bound"
            return f"{point}, {past.load.words}, {gave}"
        if ladder.state == CAPPED:
            last = [result for result in ladder.results if result.is_measured]
            if not last:
                return "No point was measured."
            end = f"capped at {last[-1].load.words}, p{self.percentile} {_ns(last[-1].latency)}"
            return f"The latency never passed the bound: {end}.{self._left_out()}"
        open_point = ladder.results[ladder.open] if ladder.open is not None else None
        return f"The search has not ended: {open_point.load.words} is its next point." if open_point else ""

    def _left_out(self) -> str:
        """Return how many points heavier than the last measured one were left out, so that nobody knows what they give."""
        results = self.ladder.results
        last = max(place for place, result in enumerate(results) if result.is_measured)
        count = sum(1 for result in results[last + 1 :] if result.is_left_out)
        if not count:
            return ""
        return f" {count} heavier point{'' if count == 1 else 's'} {'was' if count == 1 else 'were'} left out."


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
        points = [cell.point for cell in self.rows[0].cells] if self.rows else []
        unlike, blocks = unlike_options(points), {point.block_size for point in points}
        for row in self.rows:
            groups = _grouped(row.cells)
            for cells in groups:
                results = [_result(cell, loads) for cell in cells]
                ladder = search(results, rule.data["bound_ms"] * NS_PER_MS, rule.data["least_points"])
                first = cells[0].point
                words = _kind_of_load(first, unlike.get(first.pk, {}), has_several_blocks=len(blocks) > 1)
                name = words if len(groups) > 1 else ""
                self._add(RowLadder(row.row, tuple(cell.point for cell in cells), ladder, percentile, name))

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
    """Return the IOPS in 1/s and the percentile of latency in ns of each run that has both.

    Reads and writes of a run count together: IOPS are added up, and of the latencies the highest counts. Latency is the
    whole of it, as for fio's own `latency_target`: completion latency (clat) leaves out how long the submission took,
    in which all the waiting is where an asynchronous engine goes through the page cache or the device's queue is full.
    It counts for results that have no percentile of the whole.
    """
    whole, completion = f"latency_p{percentile}", f"clat_p{percentile}"
    samples = Sample.objects.filter(run__in=list(runs), measure__metric__in=("iops", whole, completion))
    iops: dict[int, float] = defaultdict(float)
    slowest: dict[str, dict[int, float]] = {whole: {}, completion: {}}
    values = samples.exclude(measure__operation__in=NOT_OF_A_LOAD).values_list("run_id", "measure__metric", "value")
    for run, metric, value in values:
        if value is None:
            continue
        if metric == "iops":
            iops[run] += value
        else:
            slowest[metric][run] = max(slowest[metric].get(run, 0.0), value)
    latencies = slowest[completion] | slowest[whole]
    return {run: (iops[run], latency) for run, latency in latencies.items() if run in iops}


def _grouped(cells: Iterable[SearchedCell]) -> list[list[SearchedCell]]:
    """Return the cells of each ladder: those that differ in depth and jobs alone, in their order."""
    groups: dict[Any, list[SearchedCell]] = {}
    for cell in cells:
        point = cell.point
        job = repr(sorted((point.job or {}).items()))  # values may be lists
        groups.setdefault((point.file_size, point.ram_multiple, point.block_size, job), []).append(cell)
    return list(groups.values())


def _kind_of_load(point: PlanPoint, options: Mapping[str, Any], *, has_several_blocks: bool) -> str:
    """Return `randread 4 GiB 4 KiB ioengine=libaio`: what tells the search from the others of its row."""
    pattern = str((point.job or {}).get("rw", point.tool))
    words = [pattern, f"{point.ram_multiple:g} × RAM" if point.ram_multiple else size(point.file_size)]
    words += [size(point.block_size)] if has_several_blocks else []
    return " ".join([*words, *(f"{name}={spell_value(name, value)}" for name, value in options.items())])


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
