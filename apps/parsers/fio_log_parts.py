"""Where in a log another job begins.

With `per_job_logs=0` all jobs of a name are in one file, one behind the other: each adds its own when it ends (`flush_log`
in iolog.c), also to what an earlier run left. People put logs together too. Only the times tell: they fall back. I/Os that
end out of order are some milliseconds off; a job that begins falls back by seconds, or by most of what was before it.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from apps.parsers.narrow import Integers

_OUT_OF_ORDER_MS = 10
_SURE_MS = 1000
_MOST_JOBS = 4096
_PIECE = 1 << 18  # rows


def parts_of(times_ms: Integers) -> Sequence[tuple[int, int]]:
    """The rows of each job; all of them as one where their times make no sense."""
    begins = [0]
    for row in _falls(times_ms):
        before, first = int(times_ms[row - 1]), int(times_ms[begins[-1]])
        fall = before - int(times_ms[row])
        if fall > _SURE_MS or 2 * fall > before - first:
            begins.append(row)
        if len(begins) > _MOST_JOBS:
            return [(0, len(times_ms))]
    return list(zip(begins, [*begins[1:], len(times_ms)], strict=True))


def _falls(times_ms: Integers) -> Iterator[int]:
    """The rows that are further back than those before them."""
    for begin in range(1, len(times_ms), _PIECE):
        some = times_ms[begin - 1 : begin + _PIECE].astype(np.int64)
        yield from (np.flatnonzero(np.diff(some) < -_OUT_OF_ORDER_MS) + begin).tolist()
