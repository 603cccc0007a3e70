"""Live progress of a run: fio's status documents as points, and the series of a run that is still running.

    point = latest_point(chunk)                        # the newest complete document in a chunk, or None
    message = live(previous_point, point, started_at)  # {"t", "jobs", "bandwidth", "iops", "progress"}

`previous_point` may come from the chunk before, or from `unpack_point` of what `pack_point` stored.
"""

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from apps.core.pubsub import newest_of, remembered
from apps.parsers.core.models import ParseError
from apps.parsers.fio.json.documents import TOTALS, decode_document
from apps.parsers.fio.json.progress import (
    Interval,
    ProgressPoint,
    compute_intervals,
    iterate_points,
    make_point,
)
from apps.runs.models import Run, Series
from apps.runs.series.arrays import overview, pack

__all__ = [
    "Interval",
    "ProgressPoint",
    "difference",
    "from_document",
    "iterate_points",
    "last_points",
    "latest_point",
    "live",
    "pack_point",
    "unpack_point", ]  # fmt: skip

difference = compute_intervals  # (previous | None, current) -> list[Interval]: what each job did between two documents


def from_document(document: bytes) -> ProgressPoint:
    """Parse one complete status document, without its bins, in well under a millisecond.

    Raises:
        ParseError: It is no complete document.
    """
    content = decode_document(TOTALS, document)
    if content is None:
        start = document[:60].decode("utf-8", "replace")
        raise ParseError("no whole status document", found=start, expected="fio's JSON")
    return make_point(content)


def last_points(chunk: bytes, before: bytes = b"") -> list[ProgressPoint]:
    """Return the newest two complete documents of a chunk and the chunk before it, or fewer."""
    newest: deque[ProgressPoint] = deque(maxlen=2)
    for part in (before, chunk):
        try:
            newest.extend(iterate_points(part))
        except ParseError:
            continue  # progress is lossy by design; the result is read again as a whole at the end
    return list(newest)


def latest_point(chunk: bytes) -> ProgressPoint | None:
    newest = last_points(chunk)
    return newest[-1] if newest else None


def live(previous: ProgressPoint | None, current: ProgressPoint, started_at: float | None = None) -> dict[str, Any]:
    """Return what the live page shows of the last interval.

    {"t": seconds since the start, "progress": 0 to 1, "bandwidth": {"read": B/s, "write": B/s}, "iops": {"read": 1/s,
    "write":
    1/s}, "jobs": [{"name", "operation", "bandwidth": B/s, "iops": 1/s, "latency_mean": ns, "done": 0 to 1}]}

    A job that did not run in the interval has null figures, a stalled one zeros.

    Args:
        started_at: Seconds since 1970 by the host's clock, which fio's documents use too.
    """
    moved = compute_intervals(previous, current)
    return {
        "t": _seconds(current, started_at),
        "jobs": [*map(_job, moved), *_waiting(current)],
        "bandwidth": _sums(moved, "bandwidth"),
        "iops": _sums(moved, "iops"),
        "progress": round(current.done, 4),
    }


def _seconds(point: ProgressPoint, started_at: float | None) -> float:
    if started_at is not None and point.at_ms is not None:
        seconds = point.at_ms / 1000 - started_at
        if seconds >= 0 and (point.elapsed_s is None or abs(seconds - point.elapsed_s) < 60):
            return round(seconds, 3)
    return point.elapsed_s or 0.0


def _job(interval: Interval) -> dict[str, object]:
    figures = {name: interval.values[name] for name in ("bandwidth", "iops", "latency_mean")}
    return {"name": interval.name, "operation": interval.operation, **figures, "done": round(interval.done, 4)}


def _waiting(point: ProgressPoint) -> list[dict[str, object]]:
    """Return the jobs that wait for a stonewall or lay out their files, with null figures."""
    nothing: dict[str, object] = {"operation": "", "bandwidth": None, "iops": None, "latency_mean": None, "done": 0.0}
    return [{"name": job.name, **nothing, "operation": job.planned} for job in point.jobs if not job.totals]


def _sums(moved: list[Interval], metric: str) -> dict[str, float]:
    sums = {"read": 0.0, "write": 0.0}
    for interval in moved:
        sums[interval.direction] = sums.get(interval.direction, 0.0) + (interval.values[metric] or 0.0)
    return sums


def pack_point(point: ProgressPoint) -> bytes:
    """Return the point packed for a cache entry."""
    return msgspec.msgpack.encode(point)


def unpack_point(packed: bytes) -> ProgressPoint | None:
    """Return the point, or None for bytes of an older version: the next interval then counts from the start."""
    try:
        return msgspec.msgpack.decode(packed, type=ProgressPoint)
    except msgspec.MsgspecError:
        return None


LIVE = ("bandwidth", "iops", "latency_mean")  # metrics that a status document tells
SOURCE = "progress"
Key = tuple[int, str, str]  # section, operation, metric


def series_of(run: Run) -> list[Series]:
    """Return a run's series: saved ones without packed values after its end, else what has arrived so far."""
    return list(run.series.defer("packed")) if run.has_ended else series_so_far(run)


def series_so_far(run: Run) -> list[Series]:
    """Return the unsaved series of a running run's newest attempt, from the messages that Redis remembers.

    They are empty without Redis.
    """
    columns: dict[Key, list[tuple[float, float]]] = defaultdict(list)
    sections = {job["name"]: place for place, job in enumerate(run.workload.jobs if run.workload else [])}
    for message in newest_attempt(remembered(f"run:{run.pk}")):
        for job in message["jobs"]:
            for metric in LIVE:
                if job[metric] is not None:
                    key = sections.get(job["name"], len(sections)), job["operation"], metric
                    columns[key].append((message["t"], job[metric]))
    return [_series(run, key, columns[key]) for key in sorted(columns)]


@dataclass(frozen=True)
class LiveFigure:
    """What a run under way does now of an operation, in the metric's base unit, and when that came (s since 1970)."""

    operation: str
    value: float
    at: float

    @property
    def age(self) -> float:
        return max(time.time() - self.at, 0.0)


def live_figures(runs: Sequence[int], metric: str) -> dict[int, list[LiveFigure]]:
    """Return the newest figures of each of these runs that has told one; empty without Redis.

    There is one for each operation, by name, of all its jobs together.
    """
    messages = zip(runs, newest_of([f"run:{pk}" for pk in runs]), strict=True) if metric in LIVE else ()
    figures = {}
    for pk, message in messages:
        if message and "at" in message and (values := _values_of(message, metric)):
            figures[pk] = [LiveFigure(name, value, message["at"]) for name, value in sorted(values.items())]
    return figures


def _values_of(message: dict[str, Any], metric: str) -> dict[str, float]:
    """Return for each operation the sum over its jobs; of latencies the mean, each job counting by its I/Os."""
    of_operation: dict[str, list[dict[str, Any]]] = {}
    for job in message["jobs"]:
        if job[metric] is not None:
            of_operation.setdefault(job["operation"], []).append(job)
    values = {}
    for name, jobs in of_operation.items():
        weights = [job["iops"] or 0.0 if metric == "latency_mean" else 1.0 for job in jobs]
        total = sum(job[metric] * weight for job, weight in zip(jobs, weights, strict=True))
        if metric != "latency_mean":
            values[name] = float(total)
        elif sum(weights):
            values[name] = total / sum(weights)
    return values


def newest_attempt(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages of the newest attempt, without repeated moments: where time goes back, another attempt began."""
    newest: list[dict[str, Any]] = []
    for message in messages:
        if "t" not in message or (newest and message["t"] == newest[-1]["t"]):
            continue
        if newest and message["t"] < newest[-1]["t"]:
            newest = []
        newest.append(message)
    return newest


def _series(run: Run, key: Key, points: Sequence[tuple[float, float]]) -> Series:
    section, operation, metric = key
    times, values = zip(*points, strict=True)
    return Series(
        run=run, operation=operation, metric=metric, section=section, source=SOURCE, count=len(points),
        packed=pack(times, values), overview=overview(times, values),
    )  # fmt: skip
