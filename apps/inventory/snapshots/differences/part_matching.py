"""Which part of one snapshot is which of the other: by the numbers it carries, then by its name, then by its place."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from apps.inventory.snapshots.differences.parts import Parts, SnapshotPart

Key = Callable[[SnapshotPart], Hashable | None]


@dataclass
class Pairs:
    """Parts of two snapshots as pairs (before, after).

    `number` gives both sides of a pair the same number, others one of their own.
    """

    pairs: list[tuple[SnapshotPart, SnapshotPart]] = field(default_factory=list)
    gone: list[SnapshotPart] = field(default_factory=list)
    come: list[SnapshotPart] = field(default_factory=list)

    def numbers(self) -> tuple[dict[Hashable, int], dict[Hashable, int]]:
        old = {one.key: number for number, (one, _) in enumerate(self.pairs)}
        new = {one.key: number for number, (_, one) in enumerate(self.pairs)}
        old |= {one.key: -1 - place * 2 for place, one in enumerate(self.gone)}
        new |= {one.key: -2 - place * 2 for place, one in enumerate(self.come)}
        return old, new


def paired(before: Iterable[SnapshotPart], after: Iterable[SnapshotPart], keys: Iterable[tuple[Key, Key]]) -> Pairs:
    """Pair old and new parts by each key in turn, where it identifies one part on either side.

    A key is a pair of functions, one for old and one for new parts.
    """
    found = Pairs(gone=list(before), come=list(after))
    for of_old, of_new in keys:
        old, new = _once(found.gone, of_old), _once(found.come, of_new)
        for key in [one for one in old if one in new]:
            found.pairs.append((old[key], new[key]))
            found.gone.remove(old[key])
            found.come.remove(new[key])
    return found


def _once(parts: list[SnapshotPart], key: Key) -> dict[Hashable, SnapshotPart]:
    keys = [key(one) for one in parts]
    counts = Counter(keys)
    return {key: one for key, one in zip(keys, parts, strict=True) if key is not None and counts[key] == 1}


def _by(*names: str) -> tuple[Key, Key]:
    """Return the key made of these fields, all of which must be filled; blanks and case are ignored."""

    def key(one: SnapshotPart) -> Hashable | None:
        values = tuple(str(one.state.get(name) or "").strip().lower() for name in names)
        return values if all(values) else None

    return key, key


def _by_name(one: SnapshotPart) -> Hashable | None:
    return one.state.get("name"), one.state.get("round")


def pair_arrays(before: Parts, after: Parts) -> Pairs:
    """Pair arrays by UUID, then by name and round, then the ones at the top."""

    def place(one: SnapshotPart) -> Hashable | None:
        top = one.places[0]
        return (top.array is None, top.position) if top.array is None else None

    named = (_by_name, _by_name)
    return paired(before.arrays.values(), after.arrays.values(), [_by("uuid"), named, (place, place)])


def pair_controllers(before: Parts, after: Parts) -> Pairs:
    keys = [_by("serial"), _by("address"), _by("name"), _by("model"), (_only, _only)]
    return paired(before.controllers.values(), after.controllers.values(), keys)


def _only(_: SnapshotPart) -> Hashable | None:
    return True


def pair_disks(before: Parts, after: Parts, arrays: Pairs) -> Pairs:
    """Pair disks by WWN, then by serial number, by name and model, by place and by device name.

    Name and model count only for disks without WWN and serial number. Disks with other numbers at the same place are
    paired last: such a disk was replaced.
    """
    old, new = arrays.numbers()

    def place_in(numbers: dict[Hashable, int]) -> Key:
        return lambda one: (numbers.get(one.places[0].array), one.places[0].position)

    def bare(one: SnapshotPart) -> Hashable | None:
        if one.state.get("serial") or one.state.get("wwn"):
            return None
        return one.state.get("device_name") or None, one.state.get("model")

    def kinds(one: SnapshotPart) -> Hashable | None:
        key = bare(one)
        return key if key and key != (None, None) and isinstance(key, tuple) and key[0] else None

    keys = [_by("wwn"), _by("serial"), (kinds, kinds), (place_in(old), place_in(new)), _by("device_name")]
    return paired(before.disks.values(), after.disks.values(), keys)


def is_another(old: SnapshotPart, new: SnapshotPart) -> bool:
    """Return whether two states are of different disks, by WWN, else by serial number, else by model."""
    for name in ("wwn", "serial", "model"):
        mine, other = (str(one.state.get(name) or "").strip().lower() for one in (old, new))
        if mine and other:
            return mine != other
    return False
