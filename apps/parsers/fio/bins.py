"""Arithmetic of fio's latency bins, shared by the parser and by merged histograms.

fio sorts latencies into bins that are exact up to 127 ns and then 64 to each power of two (under 1.6 % wide). json+
prints for every bin that is not empty its middle in ns, `plat_idx_to_val` in stat.c, and the count. Bins of all fio 3.x
are the same, so bins of several jobs or repetitions add up exactly; their percentiles do not.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import ceil

import numpy as np

Bins = Sequence[Sequence[int]]  # [[ns, count], …], ascending
_UNSURE = 1e-12  # thousands of times the rounding error of a double


def compute_percentiles(bins: Bins, wanted: Sequence[float]) -> list[int | None]:
    """Return the value in ns of the first bin with which at least `p` % of all completions are counted; None where nothing was counted.

    `wanted` are percentages, 0 to 100. The rule is that of fio's `calc_clat_percentiles`, which computes the threshold
    in the C type long double, as does this: at 99.9 % of 1,000 the last bit decides between two bins.
    """
    reached = list(accumulate([count for _, count in bins]))
    total = int(reached[-1]) if reached else 0
    if not total:
        return [None] * len(wanted)
    last = len(reached) - 1
    return [int(bins[min(bisect_left(reached, _compute_threshold(share, total)), last)][0]) for share in wanted]


def _compute_threshold(share: float, total: int) -> int:
    """Return the smallest count that is at least `share` ÷ 100 × total, computed in long doubles of 64 bits."""
    about = share * total / 100  # exact enough unless it is next to a whole number
    if abs(about - round(about)) > _UNSURE * (about + 1):
        return ceil(about)
    mantissa, exponent = _get_share(share)
    product = mantissa * total  # exact, then rounded to 64 bits, half to even
    if (extra := product.bit_length() - _BITS_OF_LONG_DOUBLE) > 0:
        rest, half = product & ((1 << extra) - 1), 1 << (extra - 1)
        product >>= extra
        product += rest > half or (rest == half and product & 1)
        exponent += extra
    return product << exponent if exponent >= 0 else -(-product >> -exponent)


@lru_cache(64)
def _get_share(percent: float) -> tuple[int, int]:
    """Return `percent` ÷ 100 as a long double: a whole number and an exponent of 2."""
    numerator, denominator = (np.longdouble(percent) / np.longdouble(100)).as_integer_ratio()
    return int(numerator), 1 - int(denominator).bit_length()


def compute_percentile(bins: Bins, wanted: float) -> int | None:
    """Return one percentile; see `compute_percentiles`."""
    return compute_percentiles(bins, [wanted])[0]


def merge_bins(*several: Bins) -> list[list[int]]:
    """Return one histogram that counts what all of them counted."""
    tables = [np.asarray(bins, dtype=np.int64).reshape(-1, 2) for bins in several]
    if not tables:
        return []
    both = np.concatenate(tables)
    values, where = np.unique(both[:, 0], return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, where, both[:, 1])
    return np.stack([values, counts], axis=1).tolist()  # type: ignore[no-any-return]


def sort_bins(bins: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the bins in ascending order."""
    return tuple(sorted(bins))


_BITS_OF_LONG_DOUBLE = 64
BITS = 6  # FIO_IO_U_PLAT_BITS: 64 bins to a power of two
GROUPS = 29  # of 64 bins each, of ns
GROUPS_IN_US = 19  # before fio 2.99


def get_middle(index: int) -> int:
    """Return the value that bin `index` of fio's table stands for: `plat_idx_to_val` in stat.c."""
    if index < 2 << BITS:
        return index
    error_bits = (index >> BITS) - 1
    base = 1 << (error_bits + BITS)
    return int(base + (index % (1 << BITS) + 0.5) * (1 << error_bits))


def get_last_bin(*, in_us: bool) -> tuple[float, float, float]:
    """Return where the last bin of fio's table begins and ends and what it stands for, in ns.

    `in_us` is for fio before 2.99. It counts everything that is longer, too (`plat_val_to_idx` in stat.c).
    """
    groups, scale = (GROUPS_IN_US, 1000) if in_us else (GROUPS, 1)
    power = groups + BITS - 1
    width = 1 << (power - 1 - BITS)
    end = 1 << power
    return float((end - width) * scale), float(end * scale), float(get_middle((groups << BITS) - 1) * scale)


LAST_BIN = get_middle((GROUPS << BITS) - 1)  # ns; an I/O may have taken any time from 17.0 s on
