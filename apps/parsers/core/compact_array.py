"""Columns of whole numbers, held in as few bytes as they need.

A fio log may have ten million rows; as Python objects each number would take 48 bytes, here it takes five or six a row.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
_DTYPES = tuple((1 << 8 * kind.itemsize, kind) for kind in map(np.dtype, (np.uint8, np.uint16, np.uint32)))


class RowLines(Sequence[int]):
    """The line number of each row of a table, as a sequence.

    Most rows stand on consecutive lines, so that only the beginning and end of each such stretch is stored.
    """

    def __init__(self) -> None:
        self.above = 0  # lines of the file above the part whose lines are numbered here
        self._begins: list[int] = []  # the first row of each stretch
        self._stretches: list[range | Integers] = []
        self._rows = 0

    def add(self, numbers: range | NDArray[np.int64]) -> None:
        """Append the line numbers of further rows, ascending."""
        if not isinstance(numbers, range) and int(numbers[-1] - numbers[0]) + 1 == len(numbers):
            numbers = range(int(numbers[0]), int(numbers[-1]) + 1)
        last = self._stretches[-1] if self._stretches else None
        if isinstance(numbers, range) and isinstance(last, range) and last.stop == numbers.start:
            self._stretches[-1] = range(last.start, numbers.stop)
        else:
            self._begins.append(self._rows)
            self._stretches.append(
                numbers if isinstance(numbers, range) else numbers.astype(_choose_dtype(int(numbers[-1])))
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


class CompactArray:
    """An array of non-negative whole numbers that widens its dtype when a larger number is stored.

    Its shape is `(most,)`, or `(most, width)` where a `width` is given.
    """

    def __init__(self, most: int, width: int = 0) -> None:
        self.width = width
        self.numbers: Integers = np.empty((most, width) if width else most, dtype=np.uint8)

    def put(self, at: int, part: NDArray[np.int64]) -> None:
        """Store `part` from row `at` on; `numbers` is copied to a wider dtype where a value of `part` needs it."""
        dtype = _choose_dtype(int(part.max()) if part.size else 0)
        if dtype.itemsize > self.numbers.dtype.itemsize:
            before, self.numbers = self.numbers, np.empty(self.numbers.shape, dtype=dtype)
            self.numbers[:at] = before[:at]
        self.numbers[at : at + len(part)] = part


def _choose_dtype(largest: int) -> np.dtype[Any]:
    """Return the smallest dtype that holds `largest`.

    The widest is signed (int64): NumPy turns uint64 combined with int64 into floats.
    """
    return next((kind for limit, kind in _DTYPES if largest < limit), np.dtype(np.int64))
