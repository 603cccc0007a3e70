"""Series as packed arrays: float64 seconds, then float64 values, little-endian, zlib.

One row per series, never one per value.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

BUCKETS = 1000
_PIECE = 1 << 18  # numbers at once
_LEVEL = 1  # of zlib: a sixth of level 6's time for a twelfth more bytes; every level is unpacked alike
_FLOAT = np.dtype("<f8")
Array = NDArray[np.float64]


def pack(times_s: ArrayLike, values: ArrayLike) -> bytes:
    """Return times and values packed for `Series.packed`.

    Raises:
        ValueError: The columns differ in length.
    """
    columns = [_column(item) for item in (times_s, values)]
    if len(columns[0]) != len(columns[1]):
        raise ValueError(f"found {len(columns[0])} times and {len(columns[1])} values, expected as many of both")
    packer = zlib.compressobj(_LEVEL)
    return b"".join(
        [*(packer.compress(piece.tobytes()) for column in columns for piece in _pieces(column)), packer.flush()]
    )


def _column(numbers: ArrayLike) -> Any:
    """Return the numbers as an array.

    A lazy column stays as it is, because a long one would take much memory at once.
    """
    makes_them = hasattr(numbers, "__array__") and not isinstance(numbers, np.ndarray)
    return numbers if makes_them else np.asarray(numbers, dtype=_FLOAT).ravel()


def _pieces(column: Any) -> Iterator[Array]:
    return (np.asarray(column[begin : begin + _PIECE], dtype=_FLOAT) for begin in range(0, len(column), _PIECE))


def unpack(packed: bytes | memoryview) -> tuple[Array, Array]:
    """Return the seconds and the values of a packed series."""
    both = np.frombuffer(zlib.decompress(packed), dtype=_FLOAT)
    if len(both) % 2:
        raise ValueError(f"found {len(both)} numbers, expected pairs")
    half = len(both) // 2
    return both[:half], both[half:]


def overview(times_s: ArrayLike, values: ArrayLike, buckets: int = BUCKETS) -> list[list[float]]:
    """Return at most `buckets` rows of [seconds of the first, minimum, mean, maximum, count], so that stalls and peaks stay visible.

    Missing values (NaN) are left out, and so are buckets without any value.
    """
    times, column = _column(times_s), _column(values)
    if any(np.isnan(piece).any() for piece in _pieces(column)):
        times, column = (np.asarray(item, dtype=np.float64) for item in (times, column))
        is_number = ~np.isnan(column)
        times, column = times[is_number], column[is_number]
    if not len(column):
        return []
    starts = np.unique(np.linspace(0, len(column), min(buckets, len(column)), endpoint=False).astype(np.int64))
    step = max(1, _PIECE * len(starts) // len(column))  # buckets at once
    parts = [
        _buckets(times, column, starts[at : at + step + 1], len(column), step) for at in range(0, len(starts), step)
    ]
    return _as_rows(np.concatenate(parts))


def _buckets(times: Any, column: Any, starts: NDArray[np.int64], end: int, most: int) -> Array:
    """Return the first `most` buckets that begin at `starts`; the next start, or `end`, ends the last one."""
    begin = int(starts[0])
    end = int(starts[most]) if len(starts) > most else end
    starts = starts[:most] - begin
    some, seconds = (np.asarray(item[begin:end], dtype=np.float64) for item in (column, times))
    counts = np.diff(np.append(starts, end - begin))
    rows = [
        seconds[starts],
        np.minimum.reduceat(some, starts),
        np.add.reduceat(some, starts) / counts,
        np.maximum.reduceat(some, starts),
        counts.astype(np.float64),
    ]
    return np.stack(rows, axis=1)


def part_of(packed: bytes | memoryview, start: float, end: float, buckets: int = BUCKETS) -> list[list[float]]:
    """Return the overview of the seconds from `start` to `end`, both included, for zooming in."""
    times, values = unpack(packed)
    inside = (times >= start) & (times <= end)
    return overview(times[inside], values[inside], buckets)


def _as_rows(table: Array) -> list[list[float]]:
    return [[*row[:4], int(row[4])] for row in table.tolist()]


def unpacked_points(packed: bytes | memoryview) -> Sequence[tuple[float, float]]:
    """Return (seconds, value) pairs for exports."""
    times, values = unpack(packed)
    return list(zip(times.tolist(), values.tolist(), strict=True))
