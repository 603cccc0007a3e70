"""The kernel counted less at the disks than the test moved: memory answered, or what was written still waited there.

Known from fio's `disk_util`, which counts at all disks below the test's files over the whole run: for all jobs and
processes of the run together, whose bytes are therefore added up. What others did there meanwhile is in it, so the disks
did at most that much for the test. Members of an array are counted beside it, which is on the safe side, too. Where fio
prints no sectors, an I/O is taken for the most that Linux asks a disk for at once. In runs of less than a second the
counters may not have moved yet.
"""

from apps.comparison.caveats.above_ceiling import READS, WRITES
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading
from apps.core.quantities import quantity

LARGEST_REQUEST = 4 << 20  # bytes; max_sectors_kb is 1,280 by default, 4,096 since Linux 6.13
LEAST_SECONDS = 1.0
ROUNDING = 1.01  # KiB/s and sectors are rounded
_DIRECTIONS = (  # operations, what the test did, what the disks did, their metrics
    (READS, "read", "reads", "disk_reads", "disk_bytes_read"), (WRITES, "wrote", "writes", "disk_writes", "disk_bytes_written"),
)  # fmt: skip


def check(reading: Reading) -> str | None:
    moved, rate = reading.beside.get("io_bytes"), reading.beside.get("bandwidth")
    if not moved or not rate or moved / rate < LEAST_SECONDS:
        return None
    for operations, did, words, counted, in_bytes in _DIRECTIONS:
        if reading.operation in operations and (count := reading.at_disks.get(counted)) is not None:
            together = sum(reading.moved.get(operation, 0.0) for operation in operations)
            return _sentence(max(moved, together), did, count, words, reading.at_disks.get(in_bytes))
    return None


def _sentence(moved: float, did: str, count: float, words: str, exact: float | None) -> str | None:
    most = count * LARGEST_REQUEST if exact is None else exact
    if moved <= most * ROUNDING:
        return None
    test = f"the test {did} {quantity(moved, 'B')}"
    if exact is not None:
        return f"{test}, its disks {quantity(exact, 'B')} ({exact / moved:.0%})"
    each = f", at most {quantity(most, 'B')} at {LARGEST_REQUEST >> 20} MiB each" if count else ""
    return f"{test}; its disks counted {count:,.0f} {words}{each}"


RULE = CaveatRule(
    name="disk_count",
    title="More than the disks did",
    text="The kernel counted less at the disks than the test moved: the rest came from memory or still waited there, or the test went "
    "past the kernel's count (user-space drivers, pass-through commands).",
    of_reading=check,
)
