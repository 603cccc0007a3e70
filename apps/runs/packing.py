"""Series as packed arrays: float64 seconds, then float64 values, little-endian, zlib. One row per series, never one per
value.
"""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

BUCKETS = 1000
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


def part_of(packed: bytes | memoryview, start: float, end: float, buckets: int = BUCKETS) -> list[list[float]]:
    """The overview of `start` to `end` (seconds, both included) alone: for looking closer."""
    times, values = unpack(packed)
    inside = (times >= start) & (times <= end)
    return overview(times[inside], values[inside], buckets)


def _as_rows(table: Array) -> list[list[float]]:
    return [[*row[:4], int(row[4])] for row in table.tolist()]


def unpacked_points(packed: bytes | memoryview) -> Sequence[tuple[float, float]]:
    """(seconds, value) pairs, for exports."""
    times, values = unpack(packed)
    return list(zip(times.tolist(), values.tolist(), strict=True))
