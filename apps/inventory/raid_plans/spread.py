"""Which disks go into which group: no controller twice in a group if it can be, else as few members on one as possible.

Seed 001: "as far as possible, have disks participating in a RAID array sit on different controllers".

Disks are chosen from the controller that has given the fewest so far, then dealt to the groups in turn, controller by controller. So
a controller's disks are spread over the groups as evenly as there is any way to do it: the sum of squares of members that share
a controller within a group is the least there is (tests hold it against all ways for small cases). Among the disks of one
controller the same holds for enclosures. The same disks always give the same plan.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from apps.inventory.raid_plans.wish import ALIKE, TITLES, RaidCandidate, RaidPlanError, RaidWish


@dataclass(frozen=True)
class SpreadGroup:
    """Disks of one redundancy group, in the order in which the array is made of them."""

    members: tuple[RaidCandidate, ...]
    spares: tuple[RaidCandidate, ...] = ()

    @property
    def by_controller(self) -> Counter[str]:
        return Counter(disk.controller for disk in self.members)

    @property
    def most_on_one(self) -> int:
        """Return the most members that share one controller; 1 is the best.

        Disks whose controller is not known count as sharing one.
        """
        return max(self.by_controller.values(), default=0)


@dataclass(frozen=True)
class Spread:
    groups: tuple[SpreadGroup, ...]
    left_out: tuple[tuple[RaidCandidate, str], ...]  # disks with the reason


def spread(wish: RaidWish, disks: Sequence[RaidCandidate]) -> Spread:
    """Choose disks for a wish and spread its groups over controllers and enclosures.

    Raises:
        RaidPlanError: if the wish is not valid or there are too few disks of one size.
    """
    if problem := wish.problem():
        raise RaidPlanError(problem)
    alike = same_size(sorted(disks, key=_order))
    others = [(disk, "of another size") for disk in disks if disk not in alike]
    count = _members(wish, len(alike), len(disks))
    chosen = choose(alike, count * wish.group_count)
    groups = deal(chosen, wish.group_count)
    rest = [disk for disk in alike if disk not in set(chosen)]
    spares = choose(rest, wish.spares * wish.group_count, Counter(disk.controller for disk in chosen))
    left = [disk for disk in rest if disk not in set(spares)]
    made = [SpreadGroup(_ordered(wish, group), tuple(spares[n :: wish.group_count])) for n, group in enumerate(groups)]
    return Spread(tuple(made), tuple([(disk, "not needed") for disk in left] + others))


def _order(disk: RaidCandidate) -> tuple[str, int, str, int]:
    return (disk.controller, len(disk.name), disk.name, disk.key)


def same_size(disks: Sequence[RaidCandidate]) -> list[RaidCandidate]:
    """Return the largest set of disks of one size (within 1 %), the larger disks where two sets are equal."""
    sets: list[list[RaidCandidate]] = []
    for disk in sorted(disks, key=lambda disk: disk.size or 0):
        if sets and (sets[-1][0].size or 0) * (1 + ALIKE) >= (disk.size or 0):
            sets[-1].append(disk)
        else:
            sets.append([disk])
    best = max(sets, key=lambda some: (len(some), some[0].size or 0), default=[])
    return [disk for disk in disks if disk in set(best)]


def _members(wish: RaidWish, alike: int, given: int) -> int:
    """Return the number of members in each group."""
    nested = wish.groups if wish.group_count > wish.arrays else 1
    fit = alike // wish.group_count - wish.spares
    count = fit - fit % wish.step if wish.members is None else wish.members // nested
    title = TITLES[wish.level]
    if wish.members is not None and wish.members % nested:
        raise RaidPlanError(f"Found {wish.members} members, expected a multiple of the {nested} groups.")
    if count % wish.step:
        raise RaidPlanError(f"Found {count} members, expected an even number for {title}.")
    if count < wish.least:
        of_all = "" if alike == given else f" of one size (of {given})"
        need = (wish.least + wish.spares) * wish.group_count
        raise RaidPlanError(f"Found {alike} free disks{of_all}, expected at least {need} for {_asked(wish)}.")
    if (count + wish.spares) * wish.group_count > alike:
        need = (count + wish.spares) * wish.group_count
        raise RaidPlanError(f"Found {alike} free disks of one size, expected {need} for {_asked(wish)}.")
    return count


def _asked(wish: RaidWish) -> str:
    many = f"{wish.arrays} × {TITLES[wish.level]}" if wish.arrays > 1 else TITLES[wish.level]
    groups = f" of {wish.groups} groups" if wish.group_count > wish.arrays else ""
    spares = f" with {wish.spares} spare{'s' * (wish.spares > 1)} each" if wish.spares else ""
    return f"{many}{groups}{spares}"


def choose(disks: Sequence[RaidCandidate], count: int, taken: Counter[str] | None = None) -> list[RaidCandidate]:
    """Choose `count` disks, each from the controller that has given the fewest, there from such an enclosure."""
    queues: dict[str, list[RaidCandidate]] = {}
    for disk in disks:
        queues.setdefault(disk.controller, []).append(disk)
    given, enclosures = Counter(taken or ()), Counter[str]()
    results: list[RaidCandidate] = []
    for _ in range(count):
        controller = min((name for name in queues if queues[name]), key=lambda name: (given[name], _natural(name)))
        queue = queues[controller]
        disk = min(queue, key=lambda item: (enclosures[item.enclosure], len(item.name), item.name, item.key))
        queue.remove(disk)
        given[controller] += 1
        enclosures[disk.enclosure] += 1
        results.append(disk)
    return results


def deal(disks: Sequence[RaidCandidate], groups: int) -> list[list[RaidCandidate]]:
    """Deal the disks out to groups in turn, controller by controller and within it enclosure by enclosure."""
    order = sorted(
        disks, key=lambda disk: (_natural(disk.controller), disk.enclosure, len(disk.name), disk.name, disk.key)
    )
    return [order[start::groups] for start in range(groups)]


def _ordered(wish: RaidWish, group: Sequence[RaidCandidate]) -> tuple[RaidCandidate, ...]:
    """Return the group in the order for md, whose RAID 10 keeps two copies on neighbours.

    Neighbours are taken from the two halves of the order by controller.
    """
    if wish.inner_level != "10":
        return tuple(group)
    half = len(group) // 2
    return tuple(disk for pair in zip(group[:half], group[half:], strict=True) for disk in pair)


def _natural(name: str) -> tuple[int, int, str]:
    return (0, int(name), "") if name.isascii() and name.isdigit() else (1, 0, name)
