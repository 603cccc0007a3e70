"""Progress between two of fio's status documents, which hold running totals: their difference is the last interval.

A status document every second costs fio nothing measurable, whereas its own logs cost 18 % of a CPU-bound run's IOPS.

Peculiarities, seen in fio 3.33 and in `__show_running_run_stats` of its source:

- A job behind a stonewall is listed from the start with zeros, and a finished one stays listed and does not change.
- A direction's `runtime` (ms) counts only from the first byte on, and then as wall-clock time also while nothing
  completes.
- At the end of `ramp_time` the totals start again from zero.
- fio 2.2 prints the time in whole seconds and no `elapsed`; 2.1 prints neither, so its documents can not be
  distinguished from several runs.
- `unified_rw_reporting` has the totals of all directions alone, or beside them, where they would count twice.
- `elapsed` is whole seconds, rounded up; `timestamp_ms` is exact but is the host's clock, which may be set during a
  run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from apps.parsers.core.models import ParsedSeries
from apps.parsers.core.numbers import read_number
from apps.parsers.fio.json.documents import TOTALS, AnyJob, DirectionTotals, FioDocument, JobTotals
from apps.parsers.fio.json.search import find_documents
from apps.parsers.fio.options import Load, get_directions

DIRECTIONS = ("read", "write", "trim")
SUM = "mixed"  # sum of all directions: alone with unified_rw_reporting=1, beside them with `both`
SHORTEST_MS = 50  # a shorter interval says more about the ms that times are printed in than about the disk
CLOCK_STEP_MS = 3000
WHOLE_SECONDS_MS = 1100  # largest error of the difference of two times in whole seconds
METRICS = ("bandwidth", "iops", "latency_mean", "clat_mean")


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of one direction of one job since its start: bytes, ms, I/Os, and the sums of latencies in ns with their counts."""

    io_bytes: float = 0
    runtime_ms: float = 0
    ios: float = 0
    latency_ns: float = 0
    latencies: float = 0
    clat_ns: float = 0
    clats: float = 0


@dataclass(frozen=True, slots=True)
class JobPoint:
    """The state of one job in a status document."""

    name: str
    load: Load
    done: float  # 0 to 1
    weight: float | None  # planned seconds
    operations: dict[str, str]  # direction → operation
    totals: dict[str, Totals]  # by direction, only those that moved data
    planned: str = ""  # the operations in its options, as `randread + randwrite`


@dataclass(frozen=True, slots=True)
class ProgressPoint:
    """One status document. `at_ms` is the host's clock in ms since 1970; `elapsed_s` is fio's own count, rounded up."""

    at_ms: float | None
    elapsed_s: float | None
    jobs: tuple[JobPoint, ...]

    @property
    def began_ms(self) -> float | None:
        """Return when fio began at the earliest; up to a second too early, because `elapsed` is rounded up."""
        if self.at_ms is None or self.elapsed_s is None:
            return None
        began = self.at_ms - self.elapsed_s * 1000
        return began if began >= 0 else None

    @property
    def done(self) -> float:
        """Return the share of the whole that is done, 0 to 1; jobs are weighted by their planned time."""
        known = [job.weight for job in self.jobs if job.weight]
        usual = sum(known) / len(known) if known else 1.0
        weights = [job.weight or usual for job in self.jobs]
        total = sum(weights)
        return sum(w * job.done for w, job in zip(weights, self.jobs, strict=True)) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Interval:
    """One direction of one job in the last interval: B/s, 1/s, ns. None where it did not run."""

    name: str
    direction: str
    operation: str
    section: int
    done: float
    values: dict[str, float | None] = field(default_factory=dict)


def make_point(document: FioDocument[AnyJob]) -> ProgressPoint:
    """Return the state of all jobs in a document."""
    alone = make_lone_point(document)
    pairs = zip(document.get_entries(), document.make_loads(), strict=True)
    jobs = (_make_job_point(job, load, alone.elapsed_s) for job, load in pairs)
    return ProgressPoint(alone.at_ms, alone.elapsed_s, tuple(jobs))


def make_lone_point(document: FioDocument[AnyJob]) -> ProgressPoint:
    """Return the times of a document that is compared with no other, without its jobs."""
    elapsed = next(
        (seconds for job in document.get_entries() if (seconds := read_number(job.elapsed)) is not None), None
    )
    return ProgressPoint(document.at_ms, elapsed, ())


def iterate_points(data: bytes) -> Iterator[ProgressPoint]:
    """Yield every whole document in these bytes, in order; an incomplete document at the end is left out."""
    for _, _, document in find_documents(data, TOTALS):
        yield make_point(document)


def _make_totals(direction: DirectionTotals) -> Totals:
    ios = read_number(direction.total_ios) or 0.0
    sums = []
    for latency in (direction.lat_ns, direction.clat_ns):
        count = (read_number(latency.N) or 0.0 if latency.N is not None else ios) if latency else 0.0
        sums += [(read_number(latency.mean) or 0.0) * count if latency else 0.0, count]
    return Totals(read_number(direction.io_bytes) or 0.0, read_number(direction.runtime) or 0.0, ios, *sums)


def _make_job_point(job: JobTotals, load: Load, elapsed: float | None) -> JobPoint:
    all_totals = {
        name: _make_totals(direction) for name in (*DIRECTIONS, SUM) if (direction := getattr(job, name)) is not None
    }
    moved = {name: totals for name, totals in all_totals.items() if totals.ios or totals.io_bytes}
    if len(moved) > 1:
        moved.pop(SUM, None)
    weight = load.runtime_s + load.ramp_s if load.runtime_s else None
    operations = {name: load.operation(name) for name in (*DIRECTIONS, SUM)}
    own_directions = get_directions(load.rw) or ()
    planned = " + ".join(operations[name] for name in DIRECTIONS if name in own_directions)
    return JobPoint(job.jobname, load, _compute_done(moved, load, job.eta, elapsed), weight, operations, moved, planned)


def _compute_done(moved: dict[str, Totals], load: Load, eta: float | int | None, elapsed: float | None) -> float:
    """Return the done share of a job: by its time or by its bytes, whichever is further, else by fio's own estimate."""
    if not moved:
        return 0.0
    parts = []
    if load.runtime_s:
        parts.append(max(totals.runtime_ms for totals in moved.values()) / 1000 / load.runtime_s)
    size = load.io_size or load.file_size
    if size and not load.time_based:
        jobs = (load.threads or 1) if load.grouped else 1
        parts.append(sum(totals.io_bytes for totals in moved.values()) / (size * jobs * load.loops))
    if not parts and elapsed and eta is not None and 0 <= eta < 10**6:
        parts.append(elapsed / (elapsed + eta))
    return min(1.0, max(parts, default=0.0))


def compute_intervals(previous: ProgressPoint | None, current: ProgressPoint) -> list[Interval]:
    """Return what each job did in each direction between two documents; since the start where `previous` is None."""
    wall = None
    if previous and previous.at_ms is not None and current.at_ms is not None:
        wall = current.at_ms - previous.at_ms
    before = previous.jobs if previous and len(previous.jobs) == len(current.jobs) else ()
    result = []
    for section, job in enumerate(current.jobs):
        for direction, totals in job.totals.items():
            start = before[section].totals.get(direction) if before else None
            values = _compute_difference(start or Totals(), totals, wall)
            result.append(Interval(job.name, direction, job.operations[direction], section, job.done, values))
    return result


def is_continued(before: ProgressPoint, after: ProgressPoint) -> bool:
    """Return whether documents without `elapsed` belong to one run: its jobs ran for as long as passed between them.

    Another run of the same jobs takes all of its time again.
    """
    if before.at_ms is None or after.at_ms is None:
        return False
    steps = []
    for old, new in zip(before.jobs, after.jobs, strict=True):
        pairs = [(old.totals.get(name, Totals()), new.totals.get(name, Totals())) for name in (*DIRECTIONS, SUM)]
        if any(b.io_bytes < a.io_bytes or b.ios < a.ios or b.runtime_ms < a.runtime_ms for a, b in pairs):
            return False
        steps.append(max(b.runtime_ms - a.runtime_ms for a, b in pairs))
    passed = after.at_ms - before.at_ms
    return max(steps) > SHORTEST_MS and max(steps) - WHOLE_SECONDS_MS <= passed <= sum(steps) + WHOLE_SECONDS_MS


def _compute_difference(start: Totals, end: Totals, wall_ms: float | None) -> dict[str, float | None]:
    if end.ios < start.ios or end.io_bytes < start.io_bytes:
        start = Totals()  # the ramp is over, or fio started again
    time = end.runtime_ms - start.runtime_ms
    # bytes at the end of a stall belong to this interval, although runtime then counts the whole stall
    span = min(time, wall_ms) if wall_ms is not None and wall_ms > 0 and start.ios == 0 else time
    if span < SHORTEST_MS:
        return dict.fromkeys(METRICS)
    ios = end.ios - start.ios
    return {
        "bandwidth": (end.io_bytes - start.io_bytes) * 1000 / span,
        "iops": ios * 1000 / span,
        "latency_mean": _compute_mean(end.latency_ns - start.latency_ns, end.latencies - start.latencies),
        "clat_mean": _compute_mean(end.clat_ns - start.clat_ns, end.clats - start.clats),
    }


def _compute_mean(total: float, count: float) -> float | None:
    return max(0.0, total / count) if count > 0 else None


def make_series(history: Sequence[ProgressPoint]) -> list[ParsedSeries]:
    """Return bandwidth, IOPS and mean latencies over the seconds since fio began, by section and operation.

    `history` are the points of all documents in their order.
    """
    columns: dict[tuple[int, str, str], tuple[list[float], list[float]]] = {}
    for previous, current, seconds in zip([None, *history[:-1]], history, _compute_seconds(history), strict=True):
        for interval in compute_intervals(previous, current):
            for metric, value in interval.values.items():
                if value is not None:
                    times, values = columns.setdefault((interval.section, interval.operation, metric), ([], []))
                    times.append(seconds)
                    values.append(value)
    return [
        ParsedSeries(name, metric, section, "progress", tuple(times), tuple(values))
        for (section, name, metric), (times, values) in columns.items()
    ]


def _compute_seconds(history: Sequence[ProgressPoint]) -> list[float]:
    """Return when each document was written, in seconds since fio's start.

    They are exact to the ms, or whole seconds where the clock was set in between.
    """
    at = [point.at_ms for point in history if point.at_ms is not None]
    begins = [point.began_ms for point in history if point.began_ms is not None]
    steady = len(at) == len(history) == len(begins) and all(a <= b for a, b in pairwise(at))
    if steady and max(begins) - min(begins) < CLOCK_STEP_MS:
        zero = max(begins)  # each is rounded down by up to a second, so that the latest is the most exact
        return [round((ms - zero) / 1000, 3) for ms in at]
    if len(at) == len(history) and not begins and all(a <= b for a, b in pairwise(at)):
        first = max((totals.runtime_ms for job in history[0].jobs for totals in job.totals.values()), default=0.0)
        return [round((ms - at[0] + first) / 1000, 3) for ms in at]
    return [point.elapsed_s if point.elapsed_s is not None else float(n) for n, point in enumerate(history)]
