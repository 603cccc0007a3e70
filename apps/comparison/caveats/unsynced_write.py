"""A buffered write that nothing forced to the disk before the clock stopped."""

from functools import lru_cache

from apps.comparison.caveats.above_ceiling import WRITES
from apps.comparison.caveats.ram_cache import past_the_cache
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.labels import text_of
from apps.comparison.readings import Reading
from apps.parsers.dd.format import WITHOUT_SYNC


def check(reading: Reading) -> str | None:
    is_synced = reading.of("sync") != "none" and reading.section_name != WITHOUT_SYNC
    if reading.operation not in WRITES or is_synced or past_the_cache(reading):
        return None
    return _sentence(reading.bytes_touched, reading.ram)


@lru_cache(maxsize=256)  # the same sizes come back in thousands of readings
def _sentence(touched: int | None, ram: float | None) -> str:
    share = ""
    if touched and ram:
        held = min(touched, ram)
        part = f"{text_of('ram', held)} of {text_of('file_size', touched)} ({held / touched:.0%})"
        share = f"; up to {part} may still be in RAM"
    return f"sync = none, not direct: no fsync, fdatasync, dsync or O_DIRECT before the clock stopped{share}"


RULE = CaveatRule(
    name="unsynced_write",
    title="Write not synced",
    text="Data that was still in memory when the clock stopped counts as written, so the value can be too high.",
    of_reading=check,
)
