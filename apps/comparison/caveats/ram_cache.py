"""A file that fits into RAM, or is smaller than the plan asks for beside it: the value may be memory, not disk."""

from apps.comparison.caveats.fitting import fitting, short_of
from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading


def past_the_cache(reading: Reading) -> bool:
    """O_DIRECT goes past the page cache."""
    return reading.of("sync") == "direct" or reading.of("direct") in (True, 1, "1", "true")


def check(reading: Reading) -> str | None:
    if past_the_cache(reading):
        return None
    asked = reading.evidence.cache_rule
    return fitting(reading, reading.ram, "RAM") or (short_of(reading, asked) if asked else None)


RULE = Rule(
    name="ram_cache",
    title="May be memory, not disk",
    text="The file fits into the page cache, in whole or in part, so the value may be the speed of memory and not of the "
    "disks.",
    of_reading=check,
)
