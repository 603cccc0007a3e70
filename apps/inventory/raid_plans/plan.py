"""A plan as a whole: its groups, what they hold and survive, what small writes cost, and what to be told about it.

What md leaves of its members: metadata 1.2 and whole chunks, as mdadm 4 lays them out. Sizes in bytes.

The data begin behind the superblock, room for the write-intent bitmap and head room of 128 MiB, rounded up to whole MiB: 129 MiB on
disks from 128 GiB, less on smaller ones (mdadm 4.x, super1.c: validate_geometry1, choose_bm_space). RAID 0, 5, 6 and 10 use
whole chunks of a member (Create.c); RAID 1 has no chunk. md's RAID 0 also uses what is larger than the smallest member.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.inventory.raid_plans import commands
from apps.inventory.raid_plans.spread import Spread, SpreadGroup, spread
from apps.inventory.raid_plans.wish import INNER, TITLES, RaidCandidate, RaidWish
from apps.inventory.slots.spans import natural
from apps.inventory.topology import redundancy
from apps.inventory.topology.geometry import data_members

SECTOR = 512
MIB_SECTORS = 2048
HEAD_ROOM = 128 * MIB_SECTORS
_BEFORE = 24  # superblock and its surroundings, in sectors
_GIB_SECTORS = 1024 * MIB_SECTORS


def data_offset(size: int, chunk: int | None) -> int:
    """Return how many bytes at the beginning of an md member hold no data."""
    sectors = size // SECTOR
    room = HEAD_ROOM
    while room << 10 > sectors and (chunk is None or room > 2 * chunk // SECTOR):
        room >>= 1
    offset = _BEFORE + _bitmap(sectors) + room
    return -(-offset // MIB_SECTORS) * MIB_SECTORS * SECTOR


def _bitmap(sectors: int) -> int:
    if sectors < 128:
        return 0
    if sectors - 128 >= 200 * _GIB_SECTORS:
        return 256
    return 128 if sectors - 8 > 8 * _GIB_SECTORS else 8


def used_of(size: int, chunk: int | None) -> int:
    """Return how many bytes of a member hold data or parity: whole chunks, or whole KiB if there is no chunk."""
    unit = chunk or 1024
    return max(0, (size - data_offset(size, chunk)) // unit * unit)


def capacity_of(level: str, sizes: Sequence[int], chunk: int) -> int:
    """Return the capacity in bytes of an array of members of these sizes.

    `level` is 0, 1, 5, 6 or 10 (two copies).
    """
    used = [used_of(size, None if level == "1" else chunk) for size in sizes]
    least = min(used, default=0)
    if level == "0":
        return sum(used)
    if level == "1":
        return least
    if level == "10":
        return len(used) * (least // chunk) // 2 * chunk
    return int(data_members(level, len(used))) * least


SMALL_WRITES = {
    "0": "A small write costs one write.",
    "1": "A small write costs one write on each member.",
    "5": "A small write costs two reads and two writes: old data and parity are read, new ones written.",
    "6": "A small write costs three reads and three writes: old data and both parities are read, new ones written.",
    "10": "A small write costs two writes, one for each copy.",
}


@dataclass(frozen=True)
class RaidPlan:
    """A plan.

    `capacity` is in bytes of one array, None where a size is not known, and `arithmetic` says how it comes about. In
    each array `any_disks` may fail whichever they are, `best_case` if it is the right ones. `bears` and `breaks` are
    controllers whose loss the data survive or not.
    """

    wish: RaidWish
    groups: tuple[SpreadGroup, ...]
    left_out: tuple[tuple[RaidCandidate, str], ...]
    capacity: int | None
    raw: int | None
    arithmetic: str
    any_disks: int | None
    best_case: int | None
    bears: tuple[str, ...]
    breaks: tuple[str, ...]
    notes: tuple[str, ...]
    commands: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        return TITLES[self.wish.level]

    @property
    def small_writes(self) -> str:
        return SMALL_WRITES[self.wish.inner_level]

    @property
    def arrays(self) -> list[tuple[SpreadGroup, ...]]:
        each = len(self.groups) // self.wish.arrays
        return [self.groups[start : start + each] for start in range(0, len(self.groups), each)]

    @property
    def disks(self) -> int:
        return sum(len(group.members) for group in self.groups)

    @property
    def most_on_one(self) -> int:
        return max(group.most_on_one for group in self.groups)

    @property
    def efficiency(self) -> float | None:
        """Return the fraction of the members' bytes that can be used."""
        return self.capacity * self.wish.arrays / self.raw if self.capacity and self.raw else None


def plan(wish: RaidWish, disks: Sequence[RaidCandidate]) -> RaidPlan:
    """Return the plan of the arrays for a wish.

    Raises:
        RaidPlanError: if the wish is not valid or there are too few disks.
    """
    result = spread(wish, disks)
    each = len(result.groups) // wish.arrays
    trees = [tree_of(wish, result.groups[start : start + each]) for start in range(0, len(result.groups), each)]
    capacity, arithmetic = _capacity(wish, result.groups[:each])
    lost = _loss(trees)
    sizes = [disk.size for group in result.groups for disk in group.members]
    return RaidPlan(
        wish,
        result.groups,
        result.left_out,
        capacity,
        sum(filter(None, sizes)) if None not in sizes else None,
        arithmetic,
        _least([redundancy.survives_any(tree) for tree in trees]),
        _least([redundancy.survives_at_best(tree) for tree in trees]),
        tuple(place for place, is_safe in lost if is_safe),
        tuple(place for place, is_safe in lost if not is_safe),
        tuple(_notes(wish, result)),
        tuple(commands.commands(wish, result.groups)) if _can_be_named(result.groups) else (),
    )


def tree_of(wish: RaidWish, groups: Sequence[SpreadGroup]) -> redundancy.Group:
    inner = [
        redundancy.Group(wish.inner_level, tuple(redundancy.Leaf(disk.key, disk.controller) for disk in group.members))
        for group in groups
    ]
    return redundancy.Group("0", tuple(inner)) if wish.level in INNER else inner[0]


def _least(values: Sequence[int | None]) -> int | None:
    return None if None in values else min(value for value in values if value is not None)


def _loss(trees: Sequence[redundancy.Group]) -> list[tuple[str, bool]]:
    """Return (controller, whether all arrays survive its loss), sorted by controller."""
    results: dict[str, bool] = {}
    for tree in trees:
        for place, is_safe in redundancy.places_lost(tree).items():
            results[place] = results.get(place, True) and is_safe is True
    return sorted(results.items(), key=lambda pair: natural(pair[0]))


def _capacity(wish: RaidWish, groups: Sequence[SpreadGroup]) -> tuple[int | None, str]:
    """Return the capacity of one array and the arithmetic; all have as many members of one size, within 1 %."""
    known = [[disk.size for disk in group.members if disk.size] for group in groups]
    if any(len(sizes) < len(group.members) for sizes, group in zip(known, groups, strict=True)):
        return None, "The disks' sizes are not known."
    held = [capacity_of(wish.inner_level, sizes, wish.chunk) for sizes in known]
    if min(held) == 0:
        return None, "The disks are smaller than md's metadata and one chunk."
    total = capacity_of("0", held, wish.chunk) if wish.level in INNER else held[0]
    return total, _arithmetic(wish, known[0], held)


def _arithmetic(wish: RaidWish, sizes: Sequence[int], held: Sequence[int]) -> str:
    chunk = None if wish.inner_level == "1" else wish.chunk
    least = min(sizes)
    offset, used = data_offset(least, chunk), used_of(least, chunk)
    unit = "KiB" if chunk is None else f"chunks of {wish.chunk // 1024} KiB"
    member = f"{_b(least)} − {_b(offset)} for md's metadata 1.2, in whole {unit}: {_b(used)} each"
    count = len(sizes)
    how = {
        "0": f"{count} × {_b(used)}", "1": "1 of them", "10": f"{count} × {_b(used)} ÷ 2",
        "5": f"({count} − 1) × {_b(used)}", "6": f"({count} − 2) × {_b(used)}",
    }[wish.inner_level]  # fmt: skip
    nested = f"; × {len(held)} groups, less md's metadata on each" if wish.level in INNER else ""
    return f"{member}; {how} = {_b(held[0])}{nested}"


def _b(value: int) -> str:
    return f"{value:,} B".replace(",", "\u202f")


def _notes(wish: RaidWish, result: Spread) -> list[str]:
    notes = []
    unknown = sum(not disk.controller for group in result.groups for disk in group.members)
    if unknown:
        notes.append(
            f"The controller of {unknown} of the disks is not known, so how they are spread is not known either."
        )
    elif (worst := max(group.most_on_one for group in result.groups)) > 1:
        names = sorted({name for group in result.groups for name in group.by_controller}, key=natural)
        many = f"{len(names)} controllers" if len(names) > 1 else "one controller"
        notes.append(f"The disks are on {many}, so up to {worst} members of a group share one.")
    else:
        notes.append("No two members of a group share a controller.")
    if len({disk.size for group in result.groups for disk in group.members}) > 1:
        notes.append("Sizes differ by less than 1 %; what is more than the smallest is not used, but by RAID 0.")
    fleeting = [disk.name for group in result.groups for disk in (*group.members, *group.spares) if not disk.is_lasting]
    if fleeting:
        notes.append(
            f"No serial or WWN is known of {_few(fleeting)}: kernel names may change from boot to boot. Check them first."
        )
    if not _can_be_named(result.groups):
        notes.append("Some disks have neither a device name nor a serial or WWN, so there are no commands to show.")
    if wish.inner_level == "0":
        notes.append("RAID 0 loses everything with one disk.")
    return notes


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _can_be_named(groups: Sequence[SpreadGroup]) -> bool:
    return all(disk.path for group in groups for disk in (*group.members, *group.spares))
