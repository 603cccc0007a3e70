"""A host's arrays as trees of members down to the disks, for what they survive and what they span. No queries."""

import re
from collections.abc import Callable, Iterable, Mapping

from apps.inventory.models import Array, ArrayMember, Disk
from apps.inventory.topology.geometry import is_gone, is_idle
from apps.inventory.topology.redundancy import Group, Leaf, Node
from apps.inventory.topology.shared_paths import carrier
from apps.inventory.topology.stack import MAX_DEPTH
from apps.inventory.vocabulary import RaidImplementation

MOST_LEAVES, MOST_COPIES = 10_000, 16
_COPIES = re.compile(r"(?:near|far|offset)[= ](\d+)|(\d+) (?:near|far|offset)")


def place_of(disk: Disk) -> str:
    """Return what a disk shares with others: its slot's controller number, else its controller's name."""
    return carrier(disk.slot_controller, disk.controller.name if disk.controller else "")


def trees(
    arrays: Iterable[Array],
    members: Iterable[ArrayMember],
    disks: Mapping[int, Disk],
    place: Callable[[Disk], str] = place_of,
) -> dict[int, Group]:
    """Return the tree of each array by its id.

    Spares and journals are left out; arrays in a circle, or too deep or large, have no members.
    """
    by_array: dict[int, list[ArrayMember]] = {}
    for member in members:
        by_array.setdefault(member.array_id, []).append(member)
    builder = _ArrayTreeBuilder({array.pk: array for array in arrays}, by_array, disks, place)
    return {pk: builder.group(pk, ())[0] for pk in builder.arrays}


class _ArrayTreeBuilder:
    def __init__(
        self,
        arrays: dict[int, Array],
        members: dict[int, list[ArrayMember]],
        disks: Mapping[int, Disk],
        place: Callable[[Disk], str],
    ) -> None:
        self.arrays, self.members, self.disks, self.place = arrays, members, disks, place
        self.built: dict[int, tuple[Group, int]] = {}

    def group(self, pk: int, above: tuple[int, ...]) -> tuple[Group, int]:
        """Return the tree of an array and how many leaves it has; a tree that is too large or deep is cut."""
        array = self.arrays[pk]
        if pk in self.built:
            return self.built[pk]
        if pk in above or len(above) >= MAX_DEPTH:
            return _group(array, ()), 0
        results = [self._node(member, (*above, pk)) for member in self.members.get(pk, ()) if not is_idle(member.state)]
        nodes = tuple(node for node, _ in results if node)
        count = sum(leaves for _, leaves in results)
        self.built[pk] = (_group(array, nodes), count) if count <= MOST_LEAVES else (_group(array, ()), 0)
        return self.built[pk]

    def _node(self, member: ArrayMember, above: tuple[int, ...]) -> tuple[Node | None, int]:
        if member.disk_id is not None:
            disk = self.disks.get(member.disk_id)
            return Leaf(member.disk_id, self.place(disk) if disk else "", is_gone(member.state)), 1
        if member.member_array_id in self.arrays:
            return self.group(member.member_array_id, above)
        return None, 0


def _group(array: Array, members: tuple[Node, ...]) -> Group:
    copies = [int(near or other) for near, other in _COPIES.findall(array.layout)]
    nested = any(isinstance(member, Group) for member in members)
    is_printed = array.implementation == RaidImplementation.SOFTWARE or nested
    is_near = "far" not in array.layout and "offset" not in array.layout
    return Group(array.level, members, min(max([2, *copies]), MOST_COPIES), is_near, is_printed)
