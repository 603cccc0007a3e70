"""What happened to parts as wholes: added, removed, replaced, moved, renamed, put in another order."""

from collections.abc import Hashable, Iterator
from typing import Any

from apps.inventory.snapshots.differences.fields import field_changes
from apps.inventory.snapshots.differences.part_matching import Pairs, is_another
from apps.inventory.snapshots.differences.parts import Parts, SnapshotPart, SnapshotPlace
from apps.inventory.snapshots.differences.shape import (
    ADDED,
    CHANGED,
    MOVED,
    ORDER,
    REMOVED,
    RENAMED,
    REPLACED,
    SnapshotDifference,
)

_SLOT = ("enclosure", "slot_controller", "slot_number")
_IDENTITY = ("vendor", "model", "serial", "wwn")
Numbers = dict[Hashable, int]


def whole_parts(pairs: Pairs) -> Iterator[SnapshotDifference]:
    for one in pairs.gone:
        yield SnapshotDifference(one.kind, one.name, REMOVED, before=one.name)
    for one in pairs.come:
        yield SnapshotDifference(one.kind, one.name, ADDED, after=one.name)


class DiskPlaces:
    """Two snapshots' arrays, to say where a part sits and whether that is the same place."""

    def __init__(self, before: Parts, after: Parts, arrays: Pairs) -> None:
        self.old_arrays, self.new_arrays = before.arrays, after.arrays
        self.old, self.new = arrays.numbers()

    def same(self, old: SnapshotPlace, new: SnapshotPlace) -> bool:
        return self._number(self.old, old) == self._number(self.new, new) and old.position == new.position

    def same_array(self, old: SnapshotPlace, new: SnapshotPlace) -> bool:
        return self._number(self.old, old) == self._number(self.new, new)

    def name(self, place: SnapshotPlace, arrays: dict[Any, SnapshotPart]) -> str:
        return f"place {place.position} of {arrays[place.array].name}" if place.array else "the top of the stack"

    @staticmethod
    def _number(numbers: Numbers, place: SnapshotPlace) -> int | None:
        return None if place.array is None else numbers.get(place.array)

    def moved(self, old: SnapshotPart, new: SnapshotPart, reordered: set[Any]) -> Iterator[SnapshotDifference]:
        """Yield a difference if a part moved, and those of its partition and state in the same array.

        Moved means into another array, or to another place of one whose members are not merely in another order.
        """
        first, second = old.places[0], new.places[0]
        if not self.same(first, second) and not (self.same_array(first, second) and second.array in reordered):
            before, after = self.name(first, self.old_arrays), self.name(second, self.new_arrays)
            yield SnapshotDifference(new.kind, new.name, MOVED, "place", before, after)
        if self.same_array(first, second):
            where = f" in {self.new_arrays[second.array].name}" if second.array else ""
            for word in ("partition", "state"):
                was, now = getattr(first, word), getattr(second, word)
                if was != now:
                    label = f"{'member state' if word == 'state' else word}{where}"
                    yield SnapshotDifference(new.kind, new.name, CHANGED, word, was or "–", now or "–", what=label)


def order_changes(
    pairs: Pairs, members: tuple[Numbers, Numbers], names: "tuple[Parts, Parts]"
) -> Iterator[tuple[Any, SnapshotDifference]]:
    """Yield (array's key, difference) for arrays that have the same members in another order."""
    old_numbers, new_numbers = members
    for old, new in pairs.pairs:
        was, now = [old_numbers[key] for key in old.members], [new_numbers[key] for key in new.members]
        if was != now and sorted(was) == sorted(now):
            before, after = (
                ", ".join(_member(parts, key) for key in one.members)
                for one, parts in zip((old, new), names, strict=True)
            )
            yield new.key, SnapshotDifference("array", new.name, ORDER, "members", before, after, what="member order")


def _member(parts: Parts, key: Any) -> str:
    return (parts.arrays.get(key) or parts.disks[key]).name


def disk_changes(old: SnapshotPart, new: SnapshotPart, places: DiskPlaces) -> Iterator[SnapshotDifference]:
    """Yield the differences of a disk: replaced, renamed, moved to another slot, or changed in other fields.

    Replaced means that another disk, going by its numbers, is in the same place.
    """
    if is_another(old, new):
        where = places.name(new.places[0], places.new_arrays)
        yield SnapshotDifference("disk", where, REPLACED, before=_described(old), after=_described(new))
        yield from field_changes("disk", where, old.state, new.state, (*_IDENTITY, *_SLOT, "device_name", "absent"))
        return
    was, now = old.state.get("device_name"), new.state.get("device_name")
    if was and now and was != now:
        yield SnapshotDifference("disk", new.name, RENAMED, "device_name", was, now)
    yield from _slot(old, new)
    leave = [*(("device_name",) if was and now else ()), *(_SLOT if _slot_of(old) and _slot_of(new) else ())]
    yield from field_changes("disk", new.name, old.state, new.state, leave)


def _slot(old: SnapshotPart, new: SnapshotPart) -> Iterator[SnapshotDifference]:
    was, now = _slot_of(old), _slot_of(new)
    if was and now and was != now:
        yield SnapshotDifference("disk", new.name, MOVED, "slot", was, now)


def _slot_of(disk: SnapshotPart) -> str:
    """Return a disk's slot as `JBOD 1, c0d3`; '' where it is not known."""
    state = disk.state
    if state.get("slot_number") is None:
        return str(state.get("enclosure") or "")
    card = state.get("slot_controller")
    slot = f"c{card}d{state['slot_number']}" if card is not None else f"d{state['slot_number']}"
    return ", ".join(filter(None, [state.get("enclosure"), slot]))


def _described(disk: SnapshotPart) -> str:
    state = disk.state
    number = state.get("serial") or state.get("wwn")
    words = [state.get("vendor"), state.get("model"), f"serial {number}" if number else ""]
    return " ".join(str(word) for word in words if word) or disk.name
