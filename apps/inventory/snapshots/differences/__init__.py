"""What changed between two snapshots, in words: `differences_of(before, after)`. Pure: two canonical contents in, changes out.

Parts are paired by serial, WWN or UUID, then by name, then by place. So a disk that was replaced (the same place, another serial) is told
apart from one that moved and from a device that got another name. What became known, or is no longer told, is marked as a change of
knowledge and not of the machine.
"""

from collections.abc import Iterator
from typing import Any

from apps.inventory.snapshots.differences.connections import KEYS, connection_changes
from apps.inventory.snapshots.differences.fields import field_changes
from apps.inventory.snapshots.differences.moves import DiskPlaces, disk_changes, order_changes, whole_parts
from apps.inventory.snapshots.differences.part_matching import Pairs, pair_arrays, pair_controllers, pair_disks
from apps.inventory.snapshots.differences.parts import Content, Parts, SnapshotPart, flat
from apps.inventory.snapshots.differences.shape import (
    ADDED,
    CHANGED,
    GROUPS,
    MOVED,
    REMOVED,
    RENAMED,
    SnapshotDifference,
)

__all__ = ["SnapshotDifference", "differences_of"]
_PLACES = ("expected_place", "found_place")
_WITH_RULES = {"format", "target", "host", "filesystem", "storage", "basis", *_PLACES, *KEYS}


def differences_of(before: Content, after: Content) -> list[SnapshotDifference]:
    """Return what differs between two snapshots' contents; empty exactly where they are equal.

    The order is host, target, filesystem, arrays, disks, controllers, network.
    """
    if before == after:
        return []
    found = [*_upper(before, after), *_storage(before.get("storage"), after.get("storage")), *_rest(before, after)]
    found = found or list(_plain("record", "", before, after))
    return sorted(found, key=lambda one: GROUPS.index(one.group))


def _upper(before: Content, after: Content) -> Iterator[SnapshotDifference]:
    yield from field_changes("host", _name(after["host"], before["host"]), before["host"], after["host"])
    yield from field_changes("target", _name(after["target"], before["target"]), before["target"], after["target"])
    old, new = before.get("filesystem"), after.get("filesystem")
    if old and new:
        yield from field_changes("filesystem", _filesystem(new), old, new)
    elif old:
        yield SnapshotDifference("filesystem", _filesystem(old), REMOVED, before=_filesystem(old))
    elif new:
        yield SnapshotDifference("filesystem", _filesystem(new), ADDED, after=_filesystem(new))


def _name(*states: Content) -> str:
    return str(next((state["name"] for state in states if state.get("name")), ""))


def _filesystem(state: Content) -> str:
    return f"{state.get('type', 'filesystem')} on {state.get('mount_point') or state.get('device_name') or '?'}"


def _storage(old: Content | None, new: Content | None) -> Iterator[SnapshotDifference]:
    before, after = Parts(old), Parts(new)
    arrays, controllers = pair_arrays(before, after), pair_controllers(before, after)
    disks = pair_disks(before, after, arrays)
    for pairs in (arrays, disks, controllers):
        yield from whole_parts(pairs)
    for one, other in controllers.pairs:
        yield from _renamed("controller", one, other)
    yield from _placed(DiskPlaces(before, after, arrays), arrays, disks, controllers, (before, after))


def _placed(
    places: DiskPlaces, arrays: Pairs, disks: Pairs, controllers: Pairs, sides: tuple[Parts, Parts]
) -> Iterator[SnapshotDifference]:
    reordered = dict(order_changes(arrays, _numbers(arrays, disks), sides))
    yield from reordered.values()
    for one, other in arrays.pairs:
        yield from _renamed("array", one, other)
    for one, other in disks.pairs:
        yield from disk_changes(one, other, places)
    for one, other in [*arrays.pairs, *disks.pairs]:
        yield from places.moved(one, other, set(reordered))
        yield from _controller(one, other, controllers, sides)
        yield from _plain("network", other.name, one.more, other.more)


def _numbers(arrays: Pairs, disks: Pairs) -> tuple[dict[Any, int], dict[Any, int]]:
    """Return the members' numbers before and after: even for arrays and odd for disks, so that they differ."""
    sides = []
    for of_arrays, of_disks in zip(arrays.numbers(), disks.numbers(), strict=True):
        sides.append({k: n * 2 for k, n in of_arrays.items()} | {k: n * 2 + 1 for k, n in of_disks.items()})
    return sides[0], sides[1]


def _renamed(group: str, old: SnapshotPart, new: SnapshotPart) -> Iterator[SnapshotDifference]:
    was, now = old.state.get("name"), new.state.get("name")
    is_renamed = bool(was and now and was != now)
    if is_renamed:
        yield SnapshotDifference(group, new.name, RENAMED, "name", was, now)
    yield from field_changes(group, new.name, old.state, new.state, ("name",) if is_renamed else ())


def _controller(
    old: SnapshotPart, new: SnapshotPart, controllers: Pairs, sides: tuple[Parts, Parts]
) -> Iterator[SnapshotDifference]:
    numbers = controllers.numbers()
    was, now = numbers[0].get(old.controller), numbers[1].get(new.controller)
    if was != now:
        names = [
            parts.controllers[one.controller].name if one.controller else None
            for one, parts in zip((old, new), sides, strict=True)
        ]
        kind = MOVED if all(names) else CHANGED
        absent = ["" if name else "unknown" for name in names]
        yield SnapshotDifference(new.kind, new.name, kind, "controller", names[0], names[1], absent[0], absent[1])


def _rest(before: Content, after: Content) -> Iterator[SnapshotDifference]:
    """Yield the differences of the connections, of what has no rule of its own, and of the record itself."""
    yield from connection_changes(before, after)
    names = sorted({*before, *after} - _WITH_RULES)
    for name in names:
        yield from _plain("network", name.replace("_", " "), before.get(name), after.get(name))
    for name in _PLACES:
        if before.get(name) != after.get(name):
            yield SnapshotDifference("target", "", CHANGED, name.replace("_", " "), before.get(name), after.get(name))
    if before.get("basis") != after.get("basis"):
        old, new = (side.get("basis") or "frozen when the run began" for side in (before, after))
        yield SnapshotDifference("record", "", CHANGED, "basis", old, new)


def _plain(group: str, part: str, before: Any, after: Any) -> Iterator[SnapshotDifference]:
    old, new = dict(flat(before)), dict(flat(after))
    for path in [*old, *(one for one in new if one not in old)]:
        was, now = old.get(path), new.get(path)
        if was != now or (path in old) != (path in new):
            yield SnapshotDifference(group, part, CHANGED, path.split(" ")[-1], was, now, what=path)
