"""What changed between two snapshots, in words: `differences_of(before, after)`. Pure: two canonical contents in, changes out.

Parts are paired by serial, WWN or UUID, then by name, then by place. So a disk that was replaced (the same place, another serial) is told
apart from one that moved and from a device that got another name. What became known, or is no longer told, is marked as a change of
knowledge and not of the machine.
"""

from collections.abc import Iterator
from typing import Any

from apps.inventory.differences_of.connections import KEYS, connection_changes
from apps.inventory.differences_of.fields import field_changes
from apps.inventory.differences_of.moves import Places, disk_changes, order_changes, whole_parts
from apps.inventory.differences_of.pairing import Pairs, pair_arrays, pair_controllers, pair_disks
from apps.inventory.differences_of.parts import Content, Found, Parts, flat
from apps.inventory.differences_of.shape import ADDED, CHANGED, GROUPS, MOVED, REMOVED, RENAMED, Change

__all__ = ["Change", "differences_of"]
_WITH_RULES = {"format", "target", "host", "filesystem", "storage", "basis", *KEYS}


def differences_of(before: Content, after: Content) -> list[Change]:
    """In the order host, target, filesystem, arrays, disks, controllers, network. Empty exactly where the contents are equal."""
    if before == after:
        return []
    found = [*_upper(before, after), *_storage(before.get("storage"), after.get("storage")), *_rest(before, after)]
    found = found or list(_plain("record", "", before, after))
    return sorted(found, key=lambda one: GROUPS.index(one.group))


def _upper(before: Content, after: Content) -> Iterator[Change]:
    yield from field_changes("host", _name(after["host"], before["host"]), before["host"], after["host"])
    yield from field_changes("target", _name(after["target"], before["target"]), before["target"], after["target"])
    old, new = before.get("filesystem"), after.get("filesystem")
    if old and new:
        yield from field_changes("filesystem", _filesystem(new), old, new)
    elif old:
        yield Change("filesystem", _filesystem(old), REMOVED, before=_filesystem(old))
    elif new:
        yield Change("filesystem", _filesystem(new), ADDED, after=_filesystem(new))


def _name(*states: Content) -> str:
    return str(next((state["name"] for state in states if state.get("name")), ""))


def _filesystem(state: Content) -> str:
    return f"{state.get('type', 'filesystem')} on {state.get('mount_point') or state.get('device_name') or '?'}"


def _storage(old: Content | None, new: Content | None) -> Iterator[Change]:
    before, after = Parts(old), Parts(new)
    arrays, controllers = pair_arrays(before, after), pair_controllers(before, after)
    disks = pair_disks(before, after, arrays)
    for pairs in (arrays, disks, controllers):
        yield from whole_parts(pairs)
    for one, other in controllers.pairs:
        yield from _renamed("controller", one, other)
    yield from _placed(Places(before, after, arrays), arrays, disks, controllers, (before, after))


def _placed(
    places: Places, arrays: Pairs, disks: Pairs, controllers: Pairs, sides: tuple[Parts, Parts]
) -> Iterator[Change]:
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
    """Members' numbers: an array's are even, a disk's odd, so that none is both."""
    sides = []
    for of_arrays, of_disks in zip(arrays.numbers(), disks.numbers(), strict=True):
        sides.append({k: n * 2 for k, n in of_arrays.items()} | {k: n * 2 + 1 for k, n in of_disks.items()})
    return sides[0], sides[1]


def _renamed(group: str, old: Found, new: Found) -> Iterator[Change]:
    was, now = old.state.get("name"), new.state.get("name")
    is_renamed = bool(was and now and was != now)
    if is_renamed:
        yield Change(group, new.name, RENAMED, "name", was, now)
    yield from field_changes(group, new.name, old.state, new.state, ("name",) if is_renamed else ())


def _controller(old: Found, new: Found, controllers: Pairs, sides: tuple[Parts, Parts]) -> Iterator[Change]:
    numbers = controllers.numbers()
    was, now = numbers[0].get(old.controller), numbers[1].get(new.controller)
    if was != now:
        names = [
            parts.controllers[one.controller].name if one.controller else None
            for one, parts in zip((old, new), sides, strict=True)
        ]
        kind = MOVED if all(names) else CHANGED
        absent = ["" if name else "unknown" for name in names]
        yield Change(new.kind, new.name, kind, "controller", names[0], names[1], absent[0], absent[1])


def _rest(before: Content, after: Content) -> Iterator[Change]:
    """The ways to far ends; what has no rule of its own; and what the record says of itself."""
    yield from connection_changes(before, after)
    names = sorted({*before, *after} - _WITH_RULES)
    for name in names:
        yield from _plain("network", name.replace("_", " "), before.get(name), after.get(name))
    if before.get("basis") != after.get("basis"):
        old, new = (side.get("basis") or "frozen when the run began" for side in (before, after))
        yield Change("record", "", CHANGED, "basis", old, new)


def _plain(group: str, part: str, before: Any, after: Any) -> Iterator[Change]:
    old, new = dict(flat(before)), dict(flat(after))
    for path in [*old, *(one for one in new if one not in old)]:
        was, now = old.get(path), new.get(path)
        if was != now or (path in old) != (path in new):
            yield Change(group, part, CHANGED, path.split(" ")[-1], was, now, what=path)
