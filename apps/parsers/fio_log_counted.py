"""I/Os that stand in a log one by one, counted by the second: an IOPS log without `log_avg_msec` has a line for each.

The last second is seldom whole. What there is of it, half a second at least, is divided by its own length, and less
belongs to the second before: 300 I/Os of a run of a tenth of a second are 3,000 IOPS. Seconds are counted from the run's
beginning, but from the first line where that is later: some clocks began long before the run (`log_unix_epoch`,
`log_alternate_epoch`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.parsers.narrow import Integers

Floats = NDArray[np.float64]

_SECOND_MS = 1000
_SHORTEST_MS = 500
_PIECE = 1 << 20  # rows


@dataclass(frozen=True, slots=True)
class Seconds:
    """The seconds of all that a log covers, in which every direction is counted."""

    first_ms: int
    last_ms: int

    def counted(self, times_ms: Integers) -> tuple[Floats, Floats]:
        """Ends, ms on the log's own clock, and I/Os a second."""
        begin = self.first_ms if self.first_ms >= _SECOND_MS else 0
        covered = self.last_ms - begin
        counts = np.zeros(covered // _SECOND_MS + 1)
        for at in range(0, len(times_ms), _PIECE):
            some = (times_ms[at : at + _PIECE].astype(np.int64) - begin) // _SECOND_MS
            counts += np.bincount(some, minlength=len(counts))
        ends = np.arange(1, len(counts) + 1, dtype=np.float64) * _SECOND_MS
        ends[-1] = covered + 1
        if len(counts) > 1 and ends[-1] - ends[-2] < _SHORTEST_MS:
            counts[-2] += counts[-1]
            counts, ends = counts[:-1], np.delete(ends, -2)
        return begin + ends, counts * _SECOND_MS / np.diff(ends, prepend=0)
