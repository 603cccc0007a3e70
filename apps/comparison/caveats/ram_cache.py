"""A file that fits into RAM: the value may be memory, not disk."""

from apps.comparison.caveats.fitting import fitting
from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading


def past_the_cache(reading: Reading) -> bool:
    """O_DIRECT goes past the page cache."""
    return reading.of("sync") == "direct" or reading.of("direct") in (True, 1, "1", "true")


def check(reading: Reading) -> str | None:
    return None if past_the_cache(reading) else fitting(reading, reading.ram, "RAM")


RULE = Rule(
    name="ram_cache",
    title="File not larger than RAM",
    text="The whole file fits into the page cache, so the value may be the speed of memory and not of the disks.",
    of_reading=check,
)
