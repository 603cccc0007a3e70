"""Histograms over time as they are stored: the completions of each interval in each bin.

    packed = pack_intervals([1.0, 2.0], [500, 700], [[3, 0], [2, 9]])
    unpack_intervals(packed).counts                # array([[3, 0], [2, 9]])

Packed are two numbers of 8 bytes (intervals, bins), the ends of the intervals in seconds (float64), the bins in ns and the
counts, interval by interval (unsigned 64 bits), all little-endian, as one zlib stream.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_WHOLE, _FLOAT = np.dtype("<u8"), np.dtype("<f8")
_LEVEL = 6  # most counts are 0


@dataclass(frozen=True, slots=True)
class IntervalTable:
    """Seconds (n), bins in ns (m) and counts (n × m)."""

    times_s: NDArray[np.float64]
    bins: NDArray[np.uint64]
    counts: NDArray[np.uint64]

    def rows(self) -> list[tuple[float, list[list[int]]]]:
        """Return each interval's end in seconds, with its bins that are not empty as [ns, count]."""
        bins = self.bins.tolist()
        return [
            (second, [[ns, count] for ns, count in zip(bins, counts, strict=True) if count])
            for second, counts in zip(self.times_s.tolist(), self.counts.tolist(), strict=True)
        ]


def pack_intervals(times_s: ArrayLike, bins: ArrayLike, counts: ArrayLike) -> bytes:
    """Return the columns packed for `Histogram.intervals`.

    Raises:
        ValueError: The counts are not of as many intervals and bins.
    """
    times, values = np.asarray(times_s, dtype=_FLOAT), np.asarray(bins, dtype=_WHOLE)
    table = np.asarray(counts, dtype=_WHOLE)
    if table.shape != (len(times), len(values)):
        raise ValueError(f"found counts of {table.shape}, expected {len(times)} intervals and {len(values)} bins")
    sizes = np.array(table.shape, dtype=_WHOLE)
    return zlib.compress(b"".join(column.tobytes() for column in (sizes, times, values, table)), _LEVEL)


def unpack_intervals(packed: bytes | memoryview) -> IntervalTable:
    """Return the columns of a packed table."""
    data = zlib.decompress(packed)
    rows, width = (int(size) for size in np.frombuffer(data, dtype=_WHOLE, count=2))
    times = np.frombuffer(data, dtype=_FLOAT, count=rows, offset=16)
    bins = np.frombuffer(data, dtype=_WHOLE, count=width, offset=16 + 8 * rows)
    counts: Any = np.frombuffer(data, dtype=_WHOLE, offset=16 + 8 * (rows + width))
    return IntervalTable(times, bins, counts.reshape(rows, width))
