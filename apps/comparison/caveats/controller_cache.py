"""A file that fits into the controller's cache: the second knee of a curve over file sizes."""

from apps.comparison.caveats.fitting import fitting
from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading


def check(reading: Reading) -> str | None:
    """O_DIRECT and syncing do not go past this cache."""
    cache = reading.of("controller_cache")
    return fitting(reading, float(cache), "controller cache") if isinstance(cache, int | float) else None


RULE = Rule(
    name="controller_cache",
    title="File not larger than the controller's cache",
    text="The whole file fits into the cache of the RAID controller, so even a synced or direct value may be that "
    "memory's speed and not the disks'.",
    of_reading=check,
)
