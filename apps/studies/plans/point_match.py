"""Whether a run is one that a plan's cell asks for, and if not, what is different. Pure.

Every fact that the plan names must be known of the run and equal: its tool, its operations, the sizes and counts of the point, the options of
a fio job, and the target or host of the configuration. What the plan does not name may be anything.

A point of several jobs that run at the same time is met by a turn of the run that has just these jobs, each with a result
of its own. The other way round, a job that ran beside others counts for no point of one job.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.parsers.fio.job_options.table import BY_NAME, spell_value

SIZES = ("file_size", "block_size", "threads", "iodepth")
OPTIONS = ("rw", "direct", "sync", "ioengine", "runtime", "rwmixread")  # of a fio job, those that a report of fio tells
NOT_KNOWN: Any = object()  # an option of a job of which nobody says how it was
FIO_OPERATIONS = {"rw": ("read", "write"), "readwrite": ("read", "write"), "randrw": ("randread", "randwrite")}


@dataclass(frozen=True)
class CellDemand:
    """What a cell asks of a run. None and empty: the plan does not name it."""

    tool: str
    operations: Sequence[str] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)  # by a name of SIZES
    options: Mapping[str, Any] = field(default_factory=dict)
    apart: Mapping[str, Any] = field(default_factory=dict)  # further options by which the plan's points differ
    labels: Mapping[str, Any] = field(default_factory=dict)
    target: tuple[int, str] | None = None  # id and name
    host: tuple[int, str] | None = None
    is_alone: bool = False  # a job of fio that runs beside no other one
    begins_at: int = 0  # seconds after the jobs beside it, until what it does is measured
    jobs: Sequence["CellDemand"] = ()  # those that run at the same time, each with its operations, sizes and options


@dataclass(frozen=True)
class Turn:
    """What ran at the same time in a run of fio: the sections of its result, and how many jobs they are of."""

    sections: tuple[int, ...]
    jobs: int


@dataclass(frozen=True)
class MeasuredPoint:
    """One operation of one section of a run, at one point. A size is None where the tool has no such thing or does not print it."""

    operation: str
    file_size: int | None = None
    block_size: int | None = None
    threads: int | None = None
    iodepth: int | None = None
    section: int = 0
    bandwidth: float | None = None
    moved: float | None = None  # bytes
    others: Mapping[str, float] = field(default_factory=dict)  # further metrics, where they were asked for


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run.

    `sizes` and `options`: of each section what its own text says, under None what it says of all. `job_options`: of each
    section whose fio job is known all that it sets. `turns`: of fio's jobs, as far as it is known which ran together.
    """

    tool: str
    points: Sequence[MeasuredPoint] = ()
    sizes: Mapping[int | None, Mapping[str, int]] = field(default_factory=dict)
    options: Mapping[int | None, Mapping[str, Any]] = field(default_factory=dict)
    job_options: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    target: tuple[int, str] | None = None
    host: tuple[int, str] | None = None
    turns: Sequence[Turn] = ()

    def jobs_beside(self, section: int) -> int:
        """Return how many jobs ran while a section did, itself included; 1 where nothing else is known."""
        return next((turn.jobs for turn in self.turns if section in turn.sections), 1)

    def job_option(self, section: int, name: str) -> Any:
        """Return an option as fio spells it, `default` where the job does not set it; None where its job is not known."""
        job = self.job_options.get(section)
        value = NOT_KNOWN if job is None else job.get(name, BY_NAME[name].default)
        return None if value is NOT_KNOWN else spell_value(name, value)

    def option(self, section: int, name: str) -> Any:
        known = self.options.get(section) or self.options.get(None) or {}
        return known.get(name)

    def size(self, point: MeasuredPoint, name: str) -> int | None:
        """Return a size of the point; where it is not printed there, the one value of its section or of the run."""
        if (own := getattr(point, name)) is not None:
            return int(own)
        for known in (self.sizes.get(point.section), self.sizes.get(None)):
            if known and known.get(name) is not None:
                return known[name]
        others = {getattr(other, name) for other in self.points if other.section == point.section} - {None}
        return int(others.pop()) if len(others) == 1 else None


@dataclass(frozen=True)
class DemandDifference:
    """`fact` is a name of SIZES or OPTIONS, `tool`, `operation`, `target`, `host` or a label. `found` None: not known."""

    fact: str
    found: Any
    asked: Any


def operations_of_pattern(rw: str) -> tuple[str, ...]:
    """Return what fio measures of a pattern: `randrw` is random reads and random writes."""
    return FIO_OPERATIONS.get(rw, (rw,))


def differences(cell_demand: CellDemand, run: RunFacts) -> list[DemandDifference]:
    """Return what differs from the cell, of the nearest operation and section; nothing where the run counts for it."""
    results = [*_of_the_run(cell_demand, run)]
    if results:  # another tool or another place: what it measured does not matter any more
        return results
    if cell_demand.jobs:
        return _of_jobs(cell_demand, run)[0]
    missing = [name for name in cell_demand.operations if not any(point.operation == name for point in run.points)]
    if missing:
        had = ", ".join(dict.fromkeys(point.operation for point in run.points)) or None
        return [DemandDifference("operation", had, ", ".join(cell_demand.operations))]
    if not run.points:
        return [DemandDifference("operation", None, ", ".join(cell_demand.operations) or "a measurement")]
    wanted = cell_demand.operations or list(dict.fromkeys(point.operation for point in run.points))
    every = [_nearest(cell_demand, run, name) for name in wanted]
    return max(every, key=len) if cell_demand.operations else min(every, key=len)


def matching_points(cell_demand: CellDemand, run: RunFacts) -> list[MeasuredPoint]:
    """Return the points of a run by which it counts for the cell."""
    return [
        point
        for point in run.points
        if (not cell_demand.operations or point.operation in cell_demand.operations)
        and not _of_the_point(cell_demand, run, point)
    ]


def find_sections(cell_demand: CellDemand, run: RunFacts) -> list[int]:
    """Return the section of each job of a cell's point, in their order; empty where the run does not count for it."""
    differs, sections = _of_jobs(cell_demand, run)
    return [] if differs else sections


def _of_jobs(cell_demand: CellDemand, run: RunFacts) -> tuple[list[DemandDifference], list[int]]:
    """Return what differs from the jobs of a point in the nearest turn of a run, and which section is whose."""
    count = len(cell_demand.jobs)
    fitting = [turn for turn in run.turns if turn.jobs == count]
    if not fitting:
        most = max((turn.jobs for turn in run.turns), default=None)
        return [DemandDifference("jobs_at_once", most, count)], []
    every = [_of_the_turn(cell_demand, run, turn) for turn in fitting if len(turn.sections) == count]
    if not every:
        return [DemandDifference("job_results", max(len(turn.sections) for turn in fitting), count)], []
    return min(every, key=lambda entry: _distance(entry[0]))


def _of_the_turn(cell_demand: CellDemand, run: RunFacts, turn: Turn) -> tuple[list[DemandDifference], list[int]]:
    """Give each job the nearest section that no job before it has; equal jobs may have each other's."""
    left, sections, results = list(turn.sections), [], []
    for job in cell_demand.jobs:
        every = {section: _of_the_section(job, run, section) for section in left}
        nearest = min(left, key=lambda section: _distance(every[section]))
        left.remove(nearest)
        sections.append(nearest)
        results += every[nearest]
    return results, sections


def _distance(results: Sequence[DemandDifference]) -> tuple[int, int]:
    """Return how far a job is from what is asked; another operation is farther than any other option."""
    return sum(difference.fact == "operation" for difference in results), len(results)


def _of_the_section(job: CellDemand, run: RunFacts, section: int) -> list[DemandDifference]:
    points = {point.operation: point for point in run.points if point.section == section}
    if any(name not in points for name in job.operations):
        return [DemandDifference("operation", ", ".join(points) or None, ", ".join(job.operations))]
    every = [_of_the_point(job, run, points[name]) for name in job.operations]
    return max(every, key=len)


def _of_the_run(cell_demand: CellDemand, run: RunFacts) -> Iterable[DemandDifference]:
    if run.tool.strip().casefold() != cell_demand.tool.strip().casefold():
        yield DemandDifference("tool", run.tool or None, cell_demand.tool)
    for name in ("target", "host"):
        wanted, actual = getattr(cell_demand, name), getattr(run, name)
        if wanted and (actual is None or actual[0] != wanted[0]):
            yield DemandDifference(name, actual[1] if actual else None, wanted[1])
            break  # another host has another target anyway
    for name, value in cell_demand.labels.items():
        if str(run.labels.get(name, "")) != str(value):
            yield DemandDifference(name, run.labels.get(name), value)


def _nearest(cell_demand: CellDemand, run: RunFacts, operation: str) -> list[DemandDifference]:
    every = [_of_the_point(cell_demand, run, point) for point in run.points if point.operation == operation]
    return min(every, key=len)


def _of_the_point(cell_demand: CellDemand, run: RunFacts, point: MeasuredPoint) -> list[DemandDifference]:
    sizes = [(name, run.size(point, name), value) for name, value in cell_demand.sizes.items()]
    options = [(name, run.option(point.section, name), value) for name, value in cell_demand.options.items()]
    options += [(name, run.job_option(point.section, name), value) for name, value in cell_demand.apart.items()]
    if cell_demand.is_alone:
        options.append(("jobs_at_once", run.jobs_beside(point.section), 1))
    return [
        DemandDifference(name, difference, value)
        for name, difference, value in (*sizes, *options)
        if difference is None or difference != value
    ]
