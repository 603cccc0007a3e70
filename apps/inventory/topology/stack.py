"""The stack of layers under a target: filesystem → arrays, nested as they are → disks → controllers → host."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from apps.inventory.models import Array, ArrayMember, Controller, Disk, Filesystem, Host, Target
from apps.inventory.topology.host_parts import HostParts
from apps.inventory.topology.tree import topology as topology

MAX_DEPTH = 32
MAX_PLACES = 10_000
_RELATED = (
    "host", "nic", "peer", "disk__controller", "array__controller", "filesystem__disk__controller",
    "filesystem__array__controller",
)  # fmt: skip


class StackError(ValueError):
    """The arrays lie on themselves, or are nested or spread beyond any limit: somebody entered them wrongly."""


@dataclass(frozen=True)
class DiskLayer:
    disk: Disk
    controller: Controller | None


@dataclass(frozen=True)
class StackPlace:
    """One member of an array, in its order."""

    position: int
    partition: str
    state: str
    layer: "Layer"


@dataclass(frozen=True)
class ArrayLayer:
    array: Array
    controller: Controller | None
    places: tuple[StackPlace, ...]


Layer = DiskLayer | ArrayLayer


@dataclass(frozen=True)
class Stack:
    """The layers under a target.

    `storage` is None if nothing is known below the filesystem (tmpfs, NFS), or for a network peer.
    """

    target: Target
    host: Host
    filesystem: Filesystem | None
    storage: Layer | None

    @property
    def arrays(self) -> list[Array]:
        """Return the arrays of the stack, each once, the uppermost first."""
        return list({layer.array.pk: layer.array for layer in self.layers() if isinstance(layer, ArrayLayer)}.values())

    @property
    def disks(self) -> list[Disk]:
        return list({layer.disk.pk: layer.disk for layer in self.layers() if isinstance(layer, DiskLayer)}.values())

    @property
    def controllers(self) -> list[Controller]:
        return list({layer.controller.pk: layer.controller for layer in self.layers() if layer.controller}.values())

    def layers(self) -> Iterator[Layer]:
        """Yield the layers from the top down, an array's members after it; a layer that is reached twice comes once."""
        seen: set[int] = set()
        waiting = [self.storage] if self.storage else []
        while waiting:
            layer = waiting.pop(0)
            if id(layer) not in seen:
                seen.add(id(layer))
                yield layer
                if isinstance(layer, ArrayLayer):
                    waiting.extend(place.layer for place in layer.places)


def stack_of(target: Target) -> Stack:
    """Return the stack of what a target lies on; two queries, and one for each level of arrays.

    Raises:
        StackError: if arrays lie on themselves.
    """
    return _stack(Target.objects.select_related(*_RELATED).get(pk=target.pk), _members_of)


def stacks_of(targets: Iterable[Target]) -> dict[int, Stack]:
    """Return the stacks of many targets by the targets' ids, in two queries; without those whose arrays lie on themselves."""
    rows = list(Target.objects.select_related(*_RELATED).filter(pk__in=[target.pk for target in targets]))
    members: dict[int, list[ArrayMember]] = defaultdict(list)
    for member in _members().filter(array__host_id__in={row.host_id for row in rows}):
        members[member.array_id].append(member)
    stacks = {}
    for row in rows:
        with suppress(StackError):
            stacks[row.pk] = _stack(row, lambda arrays: [member for pk in arrays for member in members.get(pk, ())])
    return stacks


def stack_in(parts: HostParts, target: Target) -> Stack:
    """Return what `stack_of` returns, from a host's parts that are already loaded, without a query.

    `target` is one of those parts.
    """
    return _stack(target, lambda arrays: [member for pk in arrays for member in parts.members.get(pk, ())])


MembersOf = Callable[[set[int]], Iterable[ArrayMember]]


def _stack(row: Target, members_of: MembersOf) -> Stack:
    filesystem = row.filesystem
    array = filesystem.array if filesystem else row.array
    disk = filesystem.disk if filesystem else row.disk
    storage: Layer | None = None
    if array:
        storage = _Builder(array, members_of).layer()
    elif disk:
        storage = DiskLayer(disk, disk.controller)
    return Stack(row, row.host, filesystem, storage)


class _Builder:
    """Reads the members level by level, then puts the layers together from the bottom."""

    def __init__(self, top: Array, members_of: MembersOf) -> None:
        self.top, self.members_of = top, members_of
        self.members: dict[int, list[ArrayMember]] = {}
        self.built: dict[int, tuple[ArrayLayer, int]] = {}

    def layer(self) -> ArrayLayer:
        level = {self.top.pk}
        for _ in range(MAX_DEPTH):
            if not level:
                return self._build(self.top, ())[0]
            self.members |= {pk: [] for pk in level}
            for member in self.members_of(level):
                self.members[member.array_id].append(member)
            level = self._arrays_below(level) - self.members.keys()
        raise StackError(f"{self.top.name} is nested more than {MAX_DEPTH} arrays deep, expected a handful")

    def _arrays_below(self, level: set[int]) -> set[int]:
        return {m.member_array_id for pk in level for m in self.members[pk] if m.member_array_id is not None}

    def _build(self, array: Array, above: tuple[Array, ...]) -> tuple[ArrayLayer, int]:
        """Return the layer and how many places it has in all."""
        if array in above:
            circle = " → ".join(each.name for each in (*above[above.index(array) :], array))
            raise StackError(f"Circular array definition: {circle}, expected disks at the bottom")
        if array.pk not in self.built:
            places, count = [], 0
            for member in self.members[array.pk]:
                layer, below = self._member(member, (*above, array))
                places.append(StackPlace(member.position, member.partition, member.state, layer))
                count += 1 + below
            if count > MAX_PLACES:
                raise StackError(f"{array.name} has {count} members in all, expected at most {MAX_PLACES}")
            self.built[array.pk] = (ArrayLayer(array, array.controller, tuple(places)), count)
        return self.built[array.pk]

    def _member(self, member: ArrayMember, above: tuple[Array, ...]) -> tuple[Layer, int]:
        if member.member_array:
            return self._build(member.member_array, above)
        assert member.disk  # a database constraint: a member is a disk or an array
        return DiskLayer(member.disk, member.disk.controller), 0


def _members_of(arrays: set[int]) -> list[ArrayMember]:
    return list(_members().filter(array_id__in=arrays))


def _members() -> Any:
    members = ArrayMember.objects.order_by("array_id", "position")
    return members.select_related("disk__controller", "member_array__controller")
