"""Synchronous writes of small blocks: the clock measures how long one takes, not how much goes through."""

from apps.comparison.caveats.above_ceiling import WRITES
from apps.comparison.caveats.rule import BANDWIDTH, CaveatRule
from apps.comparison.labels import text_of
from apps.comparison.readings import Reading
from apps.core.quantities import quantity
from apps.core.units import plain

PER_BLOCK = ("dsync", "sync")  # O_DSYNC and O_SYNC wait after each write; one fdatasync at the end does not
LONG = 0.1  # seconds for a block; then the milliseconds of waiting for the disk no longer matter


def check(reading: Reading) -> str | None:
    size, value = reading.block_size, reading.value
    if reading.operation not in WRITES or reading.of("sync") not in PER_BLOCK or not size or not value:
        return None
    seconds = size * (reading.threads or 1) / value
    if seconds >= LONG:
        return None
    count = f"{plain(-(-reading.file_size // size))} waits, " if reading.file_size else ""
    each = f"{text_of('block_size', size)} ÷ {quantity(value / (reading.threads or 1), 'B/s')}"
    return f"{reading.of('sync')} after every block: {count}one each {quantity(seconds * 1e9, 'ns')} ({each})"


RULE = CaveatRule(
    name="sync_per_block",
    title="Synced block by block",
    text="Every block waits until it is on stable storage, so with small blocks this is the latency of one write and "
    "not the bandwidth of the disks.",
    of_reading=check,
    metrics=BANDWIDTH,
)
