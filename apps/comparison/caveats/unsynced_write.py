"""A buffered write that nothing forced to the disk before the clock stopped."""

from apps.comparison.caveats.ram_cache import past_the_cache
from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading
from apps.comparison.words import text_of

WRITES = ("write", "randwrite", "rewrite", "char_write", "record_rewrite", "fwrite", "frewrite", "pwrite", "copy")


def check(reading: Reading) -> str | None:
    if reading.operation not in WRITES or reading.of("sync") != "none" or past_the_cache(reading):
        return None
    touched, ram = reading.bytes_touched, reading.ram
    if touched and ram:
        held = min(touched, ram)
        part = f"{text_of('ram', held)} of {text_of('file_size', touched)} ({held / touched:.0%})"
        share = f"; up to {part} may still be in RAM"
    else:
        share = ""
    return f"sync = none, not direct: no fsync, fdatasync, dsync or O_DIRECT before the clock stopped{share}"


RULE = Rule(
    name="unsynced_write",
    title="Write not synced",
    text="Data that was still in memory when the clock stopped counts as written, so the value can be too high.",
    of_reading=check,
)
