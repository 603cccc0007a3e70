"""What it takes to send an answer: its size, and the most memory that Python's objects took meanwhile."""

import gc
import tracemalloc
from collections.abc import Callable, Iterable


def sent(make: Callable[[], Iterable[bytes]]) -> tuple[int, int]:
    """(bytes of all pieces, bytes of memory at most beyond what was taken before). Nothing of the pieces is kept."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        size = sum(map(len, make()))
        return size, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
