"""Series as packed arrays: float64 seconds, then float64 values, little-endian, zlib. One row per series, never one per
value.
"""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

BUCKETS = 1000
MOST_POINTS = 4000
_LEVEL = 1  # of zlib: a sixth of level 6's time for a twelfth more bytes; every level is unpacked alike
_FLOAT = np.dtype("<f8")
Array = NDArray[np.float64]


def pack(times_s: ArrayLike, values: ArrayLike) -> bytes:
    """The `packed` of a Series. Both columns have one length, or it is a ValueError."""
    columns = [np.asarray(column, dtype=_FLOAT).ravel() for column in (times_s, values)]
    if len(columns[0]) != len(columns[1]):
        raise ValueError(f"found {len(columns[0])} times and {len(columns[1])} values, expected as many of both")
    return zlib.compress(b"".join(column.tobytes() for column in columns), _LEVEL)


def unpack(packed: bytes | memoryview) -> tuple[Array, Array]:
    """Seconds and values."""
    both = np.frombuffer(zlib.decompress(packed), dtype=_FLOAT)
    if len(both) % 2:
        raise ValueError(f"found {len(both)} numbers, expected pairs")
    half = len(both) // 2
    return both[:half], both[half:]


def overview(times_s: ArrayLike, values: ArrayLike, buckets: int = BUCKETS) -> list[list[float]]:
    """At most `buckets` rows of [seconds of the first, minimum, mean, maximum, count]: stalls and peaks stay visible.

    Missing values (NaN) are left out; a bucket of nothing else is left out too.
    """
    times, column = (np.asarray(one, dtype=np.float64).ravel() for one in (times_s, values))
    kept = ~np.isnan(column)
    times, column = times[kept], column[kept]
    if not len(column):
        return []
    starts = np.unique(np.linspace(0, len(column), min(buckets, len(column)), endpoint=False).astype(np.int64))
    counts = np.diff(np.append(starts, len(column)))
    rows = [
        times[starts],
        np.minimum.reduceat(column, starts),
        np.add.reduceat(column, starts) / counts,
        np.maximum.reduceat(column, starts),
        counts.astype(np.float64),
    ]
    return _as_rows(np.stack(rows, axis=1))


def window(
    times_s: ArrayLike, values: ArrayLike, start: float, end: float, buckets: int = MOST_POINTS // 2
) -> tuple[Array, Array]:
    """What a drawing of `start` to `end` (seconds, both included) shows: each of the equally long `buckets` gives the
    point of its smallest and that of its largest value, as they came. At most `MOST_POINTS`; all there are where they
    are no more. Missing values (NaN) are left out.
    """
    times, column = (np.asarray(one, dtype=np.float64).ravel() for one in (times_s, values))
    kept = ~np.isnan(column) & (times >= start) & (times <= end)
    times, column = times[kept], column[kept]
    if np.any(np.diff(times) < 0):
        order = np.argsort(times, kind="stable")
        times, column = times[order], column[order]
    buckets = max(1, min(buckets, MOST_POINTS // 2))
    if len(column) <= 2 * buckets:
        return times, column
    shown = _extremes(column, _bucket_starts(times, start, end, buckets))
    return times[shown], column[shown]


def _bucket_starts(times: Array, start: float, end: float, buckets: int) -> NDArray[np.intp]:
    """Where in the ordered times each bucket begins that holds something."""
    edges = np.linspace(start, end, buckets, endpoint=False)
    starts = np.searchsorted(times, edges, side="left")
    return np.unique(np.append(starts[starts < len(times)], 0))


def _extremes(column: Array, starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """The places of the first smallest and the first largest value of each bucket, in their order."""
    counts = np.diff(np.append(starts, len(column)))
    found = []
    for reduced in (np.minimum.reduceat(column, starts), np.maximum.reduceat(column, starts)):
        places = np.flatnonzero(column == np.repeat(reduced, counts))
        found.append(places[np.searchsorted(places, starts)])
    return np.unique(np.concatenate(found))


def _as_rows(table: Array) -> list[list[float]]:
    return [[*row[:4], int(row[4])] for row in table.tolist()]


def unpacked_points(packed: bytes | memoryview) -> Sequence[tuple[float, float]]:
    """(seconds, value) pairs, for exports."""
    times, values = unpack(packed)
    return list(zip(times.tolist(), values.tolist(), strict=True))
