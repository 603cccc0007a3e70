"""Which cells may be memory and not disk: the rule of `caveats.ram_cache` for all cells at once. Pure; arrays."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import msgspec

from apps.comparison.caveats.file_fit import NO_FILE_DATA


class MemorySizes(msgspec.Struct, frozen=True, gc=False):
    """What files are held against, in bytes.

    These are the page cache that they went through (RAM; 0 for O_DIRECT), and what the plan asks them to have at least
    (0 without a plan). Of several runs the most: a file that fits in one of them is marked.
    """

    cached: float = 0.0
    asked: float = 0.0


NONE = MemorySizes()


def touched(operation: str, file_size: int | None, threads: int | None) -> float:
    """Return bytes of all files, one for each thread.

    They are infinite where they are not known or no file's data are measured.
    """
    return file_size * (threads or 1) if file_size and operation not in NO_FILE_DATA else inf


def marks(
    sizes: Sequence[float], columns: Sequence[MemorySizes], cells: Mapping[tuple[int, int], MemorySizes]
) -> tuple[Any, Any]:
    """Return two arrays (rows × columns): where a file fits into memory, and where it is larger but below what the plan asks.

    `sizes` are those of `touched` for each row; `cells`, by row and column, replace the column's memory.
    """
    import numpy as np

    files = np.array(sizes, dtype=float)[:, None]
    cached, planned = (
        np.tile(np.array(each, dtype=float), (len(sizes), 1))
        for each in ([column.cached for column in columns], [column.asked for column in columns])
    )
    for at, memory in cells.items():
        cached[at], planned[at] = memory.cached, memory.asked
    in_ram = files <= cached
    return in_ram, (files < planned) & ~in_ram
