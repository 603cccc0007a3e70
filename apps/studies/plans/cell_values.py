"""What a run measured for a plan's cell: each operation by itself, of each job, and of all jobs that ran together.

A reader's and a writer's figures are never put into one. Where several jobs of a point do the same operation, its value
is what `group_reporting` would print for them: all bytes, or I/Os, over the longest of their run times; of mean
latencies that over all I/Os; of percentiles the highest. Jobs that begin at different times have no rate together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from apps.runs.metrics import is_percentile
from apps.studies.plans.point_match import CellDemand, MeasuredPoint, RunFacts, find_sections, matching_points

BANDWIDTH, IOPS, MOVED = "bandwidth", "iops", "io_bytes"
RATES = (BANDWIDTH, IOPS)
Values = Mapping[str, float]  # by metric, in its base unit


@dataclass(frozen=True)
class JobValues:
    """What one job of a point, by its place in it, measured of one operation."""

    job: int
    operation: str
    values: Values


@dataclass(frozen=True)
class RunValues:
    """What a run measured for a cell: of each operation by its name, and of each job where the point has several."""

    operations: Mapping[str, Values]
    jobs: Sequence[JobValues] = ()

    def of(self, operation: str, metric: str) -> float | None:
        """Return the value of an operation; None where the run has not told it."""
        return self.operations.get(operation, {}).get(metric)


def values_of(demand: CellDemand, run: RunFacts) -> RunValues:
    """Return what a run that counts for a cell measured of what the cell asks for."""
    if demand.jobs:
        return _of_jobs(demand, run)
    points = matching_points(demand, run)
    operations = sorted({point.operation for point in points if _values(point)})
    if not demand.operations:  # of a tool's whole output only the first by name, with a bandwidth if some have one
        operations = sorted(operations, key=lambda name: not any(_has_rate(point, name) for point in points))[:1]
    of = {name: [point for point in points if point.operation == name] for name in operations}
    return RunValues({name: _of_sections(entries) for name, entries in of.items()})


def _has_rate(point: MeasuredPoint, operation: str) -> bool:
    return point.operation == operation and point.bandwidth is not None


def _values(point: MeasuredPoint) -> dict[str, float]:
    own = {BANDWIDTH: point.bandwidth, MOVED: point.moved, **point.others}
    return {name: value for name, value in own.items() if value is not None}


def _of_sections(points: Sequence[MeasuredPoint]) -> dict[str, float]:
    """Return what sections that measured the same thing measured: their mean, of percentiles the highest."""
    return {name: _together(name, values) for name, values in _columns(map(_values, points)).items()}


def _together(metric: str, values: Sequence[float]) -> float:
    return max(values) if is_percentile(metric) else fmean(values)


def _columns(rows: Iterable[Values]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return columns


def _of_jobs(demand: CellDemand, run: RunFacts) -> RunValues:
    jobs = []
    for number, section in enumerate(find_sections(demand, run)):
        points = [point for point in run.points if point.section == section]
        for name in demand.jobs[number].operations:
            own = _of_sections([point for point in points if point.operation == name])
            jobs.append(JobValues(number, name, own))
    begins = [job.begins_at for job in demand.jobs]
    operations = {}
    for name in sorted({entry.operation for entry in jobs}):
        entries = [entry for entry in jobs if entry.operation == name]
        is_at_once = len({begins[entry.job] for entry in entries}) == 1
        operations[name] = add_up([entry.values for entry in entries], is_at_once=is_at_once)
    return RunValues(operations, jobs)


def add_up(jobs: Sequence[Values], *, is_at_once: bool = True) -> dict[str, float]:
    """Return what jobs of one operation did together; without what cannot be told of them all.

    Args:
        jobs: Of each its values, among them `bandwidth` (B/s) and `io_bytes`, from which its run time follows.
        is_at_once: They began at the same time.
    """
    if len(jobs) == 1:
        return dict(jobs[0])
    times = [_run_time(values) for values in jobs]
    known = [time for time in times if time is not None]
    is_timed = is_at_once and len(known) == len(jobs) and max(known) > 0
    together: dict[str, float] = {}
    for name, values in _columns(jobs).items():
        if len(values) < len(jobs):
            continue
        if is_percentile(name):
            together[name] = max(values)
        elif name == MOVED:
            together[name] = sum(values)
        elif not is_timed:
            continue
        elif name in RATES:
            together[name] = sum(rate * time for rate, time in zip(values, known, strict=True)) / max(known)
        elif (moved := sum(_moved(jobs, known))) > 0:
            together[name] = sum(value * n for value, n in zip(values, _moved(jobs, known), strict=True)) / moved
    return together


def _moved(jobs: Sequence[Values], times: Sequence[float]) -> list[float]:
    """Return the I/Os of each job."""
    return [values.get(IOPS, 0.0) * time for values, time in zip(jobs, times, strict=True)]


def _run_time(values: Values) -> float | None:
    """Return the seconds in which a job moved its bytes; 0 of one that moved none, None where that is not known."""
    moved, rate = values.get(MOVED), values.get(BANDWIDTH)
    if moved is None or rate is None:
        return None
    return moved / rate if rate else 0.0 if not moved else None


def series_of(runs: Iterable[RunValues], operation: str, metric: str) -> list[float]:
    """Return the values of an operation, one of each run that has told it."""
    return [value for run in runs if (value := run.of(operation, metric)) is not None]


def operations_of(runs: Iterable[RunValues]) -> list[str]:
    """Return the operations that runs measured, by name."""
    return sorted({name for run in runs for name in run.operations})
