"""A file that fits into the controller's cache: the second knee of a curve over file sizes."""

from apps.comparison.caveats.file_fit import fitting
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading


def check(reading: Reading) -> str | None:
    """Check whether the files fit into the controller's cache, which O_DIRECT and syncing do not bypass."""
    cache = reading.of("controller_cache")
    return fitting(reading, float(cache), "controller cache") if isinstance(cache, int | float) else None


RULE = CaveatRule(
    name="controller_cache",
    title="File not larger than the controller's cache",
    text="The whole file fits into the cache of the RAID controller, so even a synced or direct value may be that "
    "memory's speed and not the disks'.",
    of_reading=check,
)
