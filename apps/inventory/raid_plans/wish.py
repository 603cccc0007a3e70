"""The wish for arrays, and the disks that they can be made of."""

from dataclasses import dataclass

from apps.inventory.topology.geometry import least_members

LEVELS = ("0", "1", "5", "6", "10", "50", "60")
TITLES = {level: f"RAID {level}" for level in LEVELS}
INNER = {"50": "5", "60": "6"}  # nested: a RAID 0 over groups of this level
FILESYSTEMS = ("xfs", "ext4", "none")
CHUNKED = ("0", "5", "6", "10")
CHUNK = 512 * 1024  # mdadm's own default since 3.1
ALIKE = 0.01  # sizes that differ by less than this count as the same
MOST_ARRAYS, MOST_COMPARED = 64, 3


class RaidPlanError(ValueError):
    """There is no such plan; the message says what was found and what was expected."""


@dataclass(frozen=True)
class RaidCandidate:
    """A disk that may be used.

    An unknown `controller` or `enclosure` is ""; `size` is in bytes. `path` is what commands call it, with `is_lasting`
    False for names that change from boot to boot.
    """

    key: int
    name: str
    size: int | None
    controller: str
    enclosure: str
    path: str
    is_lasting: bool


@dataclass(frozen=True)
class RaidWish:
    """A wish for arrays.

    `members` are those of each array without spares, None for as many as there are. `groups` is for RAID 50 and 60, in
    each array.
    """

    level: str
    arrays: int = 1
    members: int | None = None
    groups: int = 2
    spares: int = 0
    chunk: int = CHUNK
    filesystem: str = "xfs"
    name: str = "data"

    @property
    def inner_level(self) -> str:
        """Return the level of the groups that disks are in: RAID 5 for RAID 50."""
        return INNER.get(self.level, self.level)

    @property
    def group_count(self) -> int:
        """Return the number of groups in all arrays together; an array that is not nested is one group."""
        return self.arrays * (self.groups if self.level in INNER else 1)

    @property
    def least(self) -> int:
        """Return the fewest members that a group can have; at least 2, as RAID 0 of one disk is no array."""
        return max(2, least_members(self.inner_level, "") or 2)

    @property
    def step(self) -> int:
        """Return the number that the members of a group must be a multiple of."""
        return 2 if self.inner_level == "10" else 1

    def problem(self) -> str:
        """Return a sentence why the wish is not valid; '' if it is."""
        if self.level not in LEVELS:
            return f"Found level “{self.level}”, expected one of {', '.join(LEVELS)}."
        if self.arrays * (self.groups if self.level in INNER else 1) > MOST_ARRAYS:
            return f"Found {self.arrays} arrays of {self.groups} groups, expected at most {MOST_ARRAYS} groups in all."
        if self.level in INNER and self.groups < 2:
            return f"Found {self.groups} groups, expected at least 2 for {TITLES[self.level]}."
        if self.level == "0" and self.spares:
            return "Found spares for RAID 0, expected none: it has nothing to rebuild from."
        if self.chunk < 4096 or self.chunk & (self.chunk - 1):
            return f"Found a chunk of {self.chunk} bytes, expected a power of two from 4 KiB."
        return ""
