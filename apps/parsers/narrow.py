"""Columns of whole numbers in as few bytes as they need: ten millions of rows of a log, of five or six bytes each instead of 48."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
_KINDS = tuple((1 << 8 * kind.itemsize, kind) for kind in map(np.dtype, (np.uint8, np.uint16, np.uint32)))


class Lines(Sequence[int]):
    """The line of each row. Most follow each other, and of such it is only noted where they begin and end."""

    def __init__(self) -> None:
        self.above = 0  # lines that stand before those that were counted
        self._begins: list[int] = []  # the first row of each stretch
        self._stretches: list[range | Integers] = []
        self._rows = 0

    def add(self, numbers: range | NDArray[np.int64]) -> None:
        if not isinstance(numbers, range) and int(numbers[-1] - numbers[0]) + 1 == len(numbers):
            numbers = range(int(numbers[0]), int(numbers[-1]) + 1)
        last = self._stretches[-1] if self._stretches else None
        if isinstance(numbers, range) and isinstance(last, range) and last.stop == numbers.start:
            self._stretches[-1] = range(last.start, numbers.stop)
        else:
            self._begins.append(self._rows)
            self._stretches.append(
                numbers if isinstance(numbers, range) else numbers.astype(_narrowest(int(numbers[-1])))
            )
        self._rows += len(numbers)

    def __len__(self) -> int:
        return self._rows

    @overload
    def __getitem__(self, row: int) -> int: ...
    @overload
    def __getitem__(self, row: slice) -> list[int]: ...
    def __getitem__(self, row: int | slice) -> int | list[int]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        stretch = bisect_right(self._begins, row) - 1
        return int(self._stretches[stretch][row - self._begins[stretch]]) + self.above


class Narrow:
    """Whole numbers from 0 on, of as few bytes each as they need; of several columns where there is a `width`."""

    def __init__(self, most: int, width: int = 0) -> None:
        self.width = width
        self.numbers: Integers = np.empty((most, width) if width else most, dtype=np.uint8)

    def put(self, at: int, part: NDArray[np.int64]) -> None:
        wanted = _narrowest(int(part.max()) if part.size else 0)
        if wanted.itemsize > self.numbers.dtype.itemsize:
            before, self.numbers = self.numbers, np.empty(self.numbers.shape, dtype=wanted)
            self.numbers[:at] = before[:at]
        self.numbers[at : at + len(part)] = part


def _narrowest(largest: int) -> np.dtype[Any]:
    """Eight bytes have a sign: what is computed with such without one becomes a float."""
    return next((kind for limit, kind in _KINDS if largest < limit), np.dtype(np.int64))
