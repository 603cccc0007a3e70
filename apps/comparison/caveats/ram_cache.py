"""A file that fits into RAM, or is smaller than the plan asks for beside it: the value may be memory, not disk."""

from apps.comparison.caveats.file_fit import fitting, short_of
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading


def past_the_cache(reading: Reading) -> bool:
    """Return whether the run bypassed the page cache by O_DIRECT."""
    return reading.of("sync") == "direct" or reading.of("direct") in (True, 1, "1", "true")


def check(reading: Reading) -> str | None:
    if past_the_cache(reading):
        return None
    rule = reading.evidence.cache_rule
    return fitting(reading, reading.ram, "RAM") or (short_of(reading, rule) if rule else None)


RULE = CaveatRule(
    name="ram_cache",
    title="May be memory, not disk",
    text="The file fits into the page cache, in whole or in part, so the value may be the speed of memory and not of the "
    "disks.",
    of_reading=check,
)
