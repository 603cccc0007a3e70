"""fio's latency bins: the arithmetic that the parser and merged histograms share.

fio sorts latencies into bins that are exact up to 127 ns and then 64 to each power of two (under 1.6 % wide). json+
prints for every bin that is not empty its middle, `plat_idx_to_val` in stat.c, in ns, and the count. Bins of all fio
3.x are the same, so bins of several jobs or repetitions add up exactly; their percentiles do not.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Bins = Sequence[Sequence[int]]  # [[ns, count], …], ascending


def _columns(bins: Bins) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    table = np.asarray(bins, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def percentiles(bins: Bins, wanted: Sequence[float]) -> list[int | None]:
    """The value of the first bin with which at least `p` % of all are counted, as fio's `calc_clat_percentiles` takes
    it.

    Percent, 0 to 100, in; ns out; None for each where nothing was counted. fio computes the threshold in the C type
    long double, and so does this: at 99.9 % of 1,000 the last bit decides between two bins.
    """
    values, counts = _columns(bins)
    total = int(counts.sum())
    if not total:
        return [None] * len(wanted)
    reached = np.cumsum(counts)
    thresholds = np.asarray(wanted, dtype=np.longdouble) / np.longdouble(100) * np.longdouble(total)
    places = np.searchsorted(reached.astype(np.longdouble), thresholds, side="left")
    return [int(values[min(place, len(values) - 1)]) for place in places.tolist()]


def percentile(bins: Bins, wanted: float) -> int | None:
    return percentiles(bins, [wanted])[0]


def merge(*several: Bins) -> list[list[int]]:
    """One histogram that counts what all of them counted."""
    tables = [np.asarray(bins, dtype=np.int64).reshape(-1, 2) for bins in several]
    if not tables:
        return []
    both = np.concatenate(tables)
    values, where = np.unique(both[:, 0], return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, where, both[:, 1])
    return np.stack([values, counts], axis=1).tolist()  # type: ignore[no-any-return]


def ascending(bins: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(bins))


BITS = 6  # FIO_IO_U_PLAT_BITS: 64 bins to a power of two
GROUPS = 29  # of 64 bins each; 19 before fio 2.99, which counted µs


def middle(index: int) -> int:
    """The value that bin `index` of fio's table stands for: `plat_idx_to_val` in stat.c."""
    if index < 2 << BITS:
        return index
    error_bits = (index >> BITS) - 1
    base = 1 << (error_bits + BITS)
    return int(base + (index % (1 << BITS) + 0.5) * (1 << error_bits))
