"""A file that fits into RAM: the value may be memory, not disk."""

from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading
from apps.comparison.words import text_of
from apps.lib.units import exact

_NAMES_ONLY = ("create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand")
NO_FILE_DATA = (*_NAMES_ONLY, "net_send", "net_receive")


def past_the_cache(reading: Reading) -> bool:
    """O_DIRECT goes past the page cache."""
    return reading.of("sync") == "direct" or reading.of("direct") in (True, 1, "1", "true")


def check(reading: Reading) -> str | None:
    touched, ram = reading.bytes_touched, reading.ram
    if not touched or not ram or touched > ram or past_the_cache(reading) or reading.operation in NO_FILE_DATA:
        return None
    several = f" of {reading.threads} threads together" if (reading.threads or 1) > 1 else ""
    sizes = f"{exact(touched, 'B')} ≤ {exact(int(ram), 'B')}; {touched / ram:.2f} × RAM"
    return f"file size{several} {text_of('file_size', touched)} ≤ RAM {text_of('ram', ram)} ({sizes})"


RULE = Rule(
    name="ram_cache",
    title="File not larger than RAM",
    text="The whole file fits into the page cache, so the value may be the speed of memory and not of the disks.",
    of_reading=check,
)
