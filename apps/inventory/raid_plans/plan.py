"""A plan as a whole: its groups, what they hold and survive, what small writes cost, and what to be told about it."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.inventory import redundancy
from apps.inventory.raid_plans import commands
from apps.inventory.raid_plans.sizes import capacity_of, data_offset, used_of
from apps.inventory.raid_plans.spreading import Group, Spread, spread
from apps.inventory.raid_plans.wish import INNER, TITLES, Candidate, Wish
from apps.inventory.slots.spans import natural

SMALL_WRITES = {
    "0": "A small write costs one write.",
    "1": "A small write costs one write on each member.",
    "5": "A small write costs two reads and two writes: old data and parity are read, new ones written.",
    "6": "A small write costs three reads and three writes: old data and both parities are read, new ones written.",
    "10": "A small write costs two writes, one for each copy.",
}


@dataclass(frozen=True)
class Plan:
    """`capacity` in bytes of one array, None where a size is not known. `arithmetic` says how it comes about. `any_disks` may fail
    whichever they are, `best_case` of the right ones, in each array; `bears` and `breaks`: controllers whose loss the data survive or not.
    """

    wish: Wish
    groups: tuple[Group, ...]
    left_out: tuple[tuple[Candidate, str], ...]
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
    def arrays(self) -> list[tuple[Group, ...]]:
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
        """Fraction of the members' bytes that can be used."""
        return self.capacity * self.wish.arrays / self.raw if self.capacity and self.raw else None


def plan(wish: Wish, disks: Sequence[Candidate]) -> Plan:
    """Raises `PlanError` where there are too few disks."""
    found = spread(wish, disks)
    each = len(found.groups) // wish.arrays
    trees = [tree_of(wish, found.groups[start : start + each]) for start in range(0, len(found.groups), each)]
    capacity, arithmetic = _capacity(wish, found.groups[:each])
    lost = _loss(trees)
    sizes = [disk.size for group in found.groups for disk in group.members]
    return Plan(
        wish,
        found.groups,
        found.left_out,
        capacity,
        sum(filter(None, sizes)) if None not in sizes else None,
        arithmetic,
        _least([redundancy.survives_any(tree) for tree in trees]),
        _least([redundancy.survives_at_best(tree) for tree in trees]),
        tuple(place for place, is_safe in lost if is_safe),
        tuple(place for place, is_safe in lost if not is_safe),
        tuple(_notes(wish, found)),
        tuple(commands.commands(wish, found.groups)) if _can_be_named(found.groups) else (),
    )


def tree_of(wish: Wish, groups: Sequence[Group]) -> redundancy.Group:
    inner = [
        redundancy.Group(wish.inner_level, tuple(redundancy.Leaf(disk.key, disk.controller) for disk in group.members))
        for group in groups
    ]
    return redundancy.Group("0", tuple(inner)) if wish.level in INNER else inner[0]


def _least(values: Sequence[int | None]) -> int | None:
    return None if None in values else min(value for value in values if value is not None)


def _loss(trees: Sequence[redundancy.Group]) -> list[tuple[str, bool]]:
    """Controller → whether all arrays survive its loss."""
    found: dict[str, bool] = {}
    for tree in trees:
        for place, is_safe in redundancy.places_lost(tree).items():
            found[place] = found.get(place, True) and is_safe is True
    return sorted(found.items(), key=lambda pair: natural(pair[0]))


def _capacity(wish: Wish, groups: Sequence[Group]) -> tuple[int | None, str]:
    """Of one array; all have the same number of members of one size, within 1 %."""
    known = [[disk.size for disk in group.members if disk.size] for group in groups]
    if any(len(sizes) < len(group.members) for sizes, group in zip(known, groups, strict=True)):
        return None, "The disks' sizes are not known."
    held = [capacity_of(wish.inner_level, sizes, wish.chunk) for sizes in known]
    if min(held) == 0:
        return None, "The disks are smaller than md's metadata and one chunk."
    total = capacity_of("0", held, wish.chunk) if wish.level in INNER else held[0]
    return total, _arithmetic(wish, known[0], held)


def _arithmetic(wish: Wish, sizes: Sequence[int], held: Sequence[int]) -> str:
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


def _notes(wish: Wish, found: Spread) -> list[str]:
    notes = []
    unknown = sum(not disk.controller for group in found.groups for disk in group.members)
    if unknown:
        notes.append(
            f"The controller of {unknown} of the disks is not known, so how they are spread is not known either."
        )
    elif (worst := max(group.most_on_one for group in found.groups)) > 1:
        names = sorted({name for group in found.groups for name in group.by_controller}, key=natural)
        many = f"{len(names)} controllers" if len(names) > 1 else "one controller"
        notes.append(f"The disks are on {many}, so up to {worst} members of a group share one.")
    else:
        notes.append("No two members of a group share a controller.")
    if len({disk.size for group in found.groups for disk in group.members}) > 1:
        notes.append("Sizes differ by less than 1 %; what is more than the smallest is not used, but by RAID 0.")
    fleeting = [disk.name for group in found.groups for disk in (*group.members, *group.spares) if not disk.is_lasting]
    if fleeting:
        notes.append(
            f"No serial or WWN is known of {_few(fleeting)}: kernel names may change from boot to boot. Check them first."
        )
    if not _can_be_named(found.groups):
        notes.append("Some disks have neither a device name nor a serial or WWN, so there are no commands to show.")
    if wish.inner_level == "0":
        notes.append("RAID 0 loses everything with one disk.")
    return notes


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _can_be_named(groups: Sequence[Group]) -> bool:
    return all(disk.path for group in groups for disk in (*group.members, *group.spares))
