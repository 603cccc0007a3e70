"""Whether a test's files fit into a memory on their way to the disk, and the sizes in words."""

from functools import lru_cache

from apps.comparison.readings import Reading
from apps.comparison.words import text_of
from apps.lib.units import exact

_NAMES_ONLY = ("create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand")
NO_FILE_DATA = (*_NAMES_ONLY, "net_send", "net_receive", "net_request")


def fitting(reading: Reading, memory: float | None, name: str) -> str | None:
    """`file size 1 000 MiB ≤ RAM 1 GiB (…; 0.98 × RAM)`; None where it does not fit, or a size is not known."""
    touched = reading.bytes_touched
    if not touched or not memory or touched > memory or reading.operation in NO_FILE_DATA:
        return None
    return _told(touched, reading.threads or 1, memory, name)


@lru_cache(maxsize=1024)  # the same sizes come back in thousands of readings
def _told(touched: int, threads: int, memory: float, name: str) -> str:
    several = f" of {threads} threads together" if threads > 1 else ""
    sizes = f"{exact(touched, 'B')} ≤ {exact(int(memory), 'B')}; {touched / memory:.2f} × {name}"
    return f"file size{several} {text_of('file_size', touched)} ≤ {name} {text_of('ram', memory)} ({sizes})"
