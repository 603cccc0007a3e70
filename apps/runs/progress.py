"""A run's progress out of fio's status documents, for the live page. Pure: bytes in, JSON out; no database, no clock.

    point = latest_point(chunk)                        # the newest whole document in a chunk, or None
    shape = live(previous_point, point, started_at)    # {"t", "jobs", "bandwidth", "iops", "progress"}

`previous_point` may come from the chunk before, or through `pack_point` and `unpack_point` from wherever it was kept.
"""

from collections import deque
from typing import Any

import msgspec

from apps.parsers.fio_documents import TOTALS, decoded
from apps.parsers.fio_progress import Interval, ProgressPoint, intervals, point_of, points
from apps.parsers.shape import ParseError

__all__ = [
    "Interval",
    "ProgressPoint",
    "difference",
    "from_document",
    "last_points",
    "latest_point",
    "live",
    "pack_point",
    "points",
    "unpack_point", ]  # fmt: skip

difference = intervals  # (previous | None, current) -> list[Interval]: what each job did between two documents


def from_document(document: bytes) -> ProgressPoint:
    """One whole status document. Bins are skipped unread, so it takes well under a millisecond. `ParseError` if it is
    none.
    """
    found = decoded(TOTALS, document)
    if found is None:
        start = document[:60].decode("utf-8", "replace")
        raise ParseError("no whole status document", found=start, expected="fio's JSON")
    return point_of(found)


def last_points(chunk: bytes, before: bytes = b"") -> list[ProgressPoint]:
    """The newest two whole documents in a chunk, or in the chunk before it and this one; fewer where there are not as
    many.
    """
    newest: deque[ProgressPoint] = deque(maxlen=2)
    for part in (before, chunk):
        try:
            newest.extend(points(part))
        except ParseError:
            continue  # progress is lossy by design; the result is read again as a whole at the end
    return list(newest)


def latest_point(chunk: bytes) -> ProgressPoint | None:
    found = last_points(chunk)
    return found[-1] if found else None


def live(previous: ProgressPoint | None, current: ProgressPoint, started_at: float | None = None) -> dict[str, Any]:
    """What the live page shows of the last interval; `started_at` in seconds since 1970 by the host's clock, which
    fio's documents also have.

    {"t": seconds since the start, "progress": 0 to 1, "bandwidth": {"read": B/s, "write": B/s}, "iops": {"read": 1/s,
    "write": 1/s}, "jobs": [{"name", "operation", "bandwidth": B/s, "iops": 1/s, "latency_mean": ns, "done": 0 to 1}]}

    A job that did not run in the interval has null figures, a stalled one zeros.
    """
    moved = intervals(previous, current)
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


def _job(one: Interval) -> dict[str, Any]:
    figures = {name: one.values[name] for name in ("bandwidth", "iops", "latency_mean")}
    return {"name": one.name, "operation": one.operation, **figures, "done": round(one.done, 4)}


def _waiting(point: ProgressPoint) -> list[dict[str, Any]]:
    """Jobs behind a stonewall, or laying out their files."""
    nothing: dict[str, Any] = {"operation": "", "bandwidth": None, "iops": None, "latency_mean": None, "done": 0.0}
    return [{"name": job.name, **nothing, "operation": job.planned} for job in point.jobs if not job.totals]


def _sums(moved: list[Interval], metric: str) -> dict[str, float]:
    sums = {"read": 0.0, "write": 0.0}
    for one in moved:
        sums[one.direction] = sums.get(one.direction, 0.0) + (one.values[metric] or 0.0)
    return sums


def pack_point(point: ProgressPoint) -> bytes:
    """Small enough for a cache entry per attempt."""
    return msgspec.msgpack.encode(point)


def unpack_point(packed: bytes) -> ProgressPoint | None:
    """None where the bytes are of an older version: the next interval then counts from the start."""
    try:
        return msgspec.msgpack.decode(packed, type=ProgressPoint)
    except msgspec.MsgspecError:
        return None
