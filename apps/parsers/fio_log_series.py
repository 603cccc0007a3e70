"""A column of whole numbers as the seconds or values that they stand for, made when somebody looks at them.

    Scaled(ms, since=1_700_000_000_000, divisor=1000.0)[:2]    # array([0., 0.001])

As float64 at once, the ten million lines of a log of an hour would take twice to eight times as much memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

_PIECE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    numbers: NDArray[np.integer[Any]]
    since: int = 0
    scale: float = 1.0
    divisor: float = 1.0

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> NDArray[np.float64]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return (self.numbers[place].astype(np.int64) - self.since) * self.scale / self.divisor
        return (int(self.numbers[place]) - self.since) * self.scale / self.divisor

    def __iter__(self) -> Iterator[float]:
        for begin in range(0, len(self), _PIECE):
            yield from self[begin : begin + _PIECE].tolist()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)
