"""Which cells may be memory and not disk: the rule of `caveats.ram_cache` for all cells at once. Pure; arrays."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import msgspec

from apps.comparison.caveats.fitting import NO_FILE_DATA


class Memory(msgspec.Struct, frozen=True, gc=False):
    """What files are held against, bytes: the page cache that they went through (RAM; 0 for O_DIRECT), and what the plan
    asks them to have at least (0 without a plan). Of several runs the most: a file that fits in one of them is marked.
    """

    cached: float = 0.0
    asked: float = 0.0


NONE = Memory()


def touched(operation: str, file_size: int | None, threads: int | None) -> float:
    """Bytes of all files: each thread has its own. Infinite where they are not known, or no file's data are measured."""
    return file_size * (threads or 1) if file_size and operation not in NO_FILE_DATA else inf


def marks(
    sizes: Sequence[float], columns: Sequence[Memory], cells: Mapping[tuple[int, int], Memory]
) -> tuple[Any, Any]:
    """Where a file fits into memory, and where it is larger and yet less than the plan asks: two arrays, rows × columns.

    `sizes`: what `touched` says of each row; `cells`, by row and column: what is held against where it is not the column's.
    """
    import numpy as np

    files = np.array(sizes, dtype=float)[:, None]
    cached, asked = (
        np.tile(np.array(each, dtype=float), (len(sizes), 1))
        for each in ([one.cached for one in columns], [one.asked for one in columns])
    )
    for at, one in cells.items():
        cached[at], asked[at] = one.cached, one.asked
    in_ram = files <= cached
    return in_ram, (files < asked) & ~in_ram
