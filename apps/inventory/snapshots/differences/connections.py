"""The ways of two snapshots: storage paths section by section, and cable by cable to the far end of a network test."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from apps.inventory.snapshots.differences.fields import field_changes
from apps.inventory.snapshots.differences.parts import Content
from apps.inventory.snapshots.differences.shape import ADDED, ORDER, REMOVED, SnapshotDifference

KEYS = frozenset({"storage_paths", "network"})
_GROUP = "network"
_WORDS = {
    "count": "links",
    "standby_count": "links that stand by",
    "bytes_per_second": "printed bandwidth",
    "to": "leads to",
}


def connection_changes(before: Content, after: Content) -> Iterator[SnapshotDifference]:
    """Yield the differences of the storage paths and the network between two contents."""
    yield from _paths(before.get("storage_paths") or [], after.get("storage_paths") or [])
    yield from _network(before.get("network") or {}, after.get("network") or {})


def _paths(before: list[Content], after: list[Content]) -> Iterator[SnapshotDifference]:
    yield from _order("", "storage paths", before, after)
    for name, old, new in _paired(before, after):
        if old is None or new is None:
            yield _whole(f"storage path {name}", old, new)
        else:
            yield from _order(name, "sections", old["sections"], new["sections"])
            for section, was, now in _paired(old["sections"], new["sections"]):
                yield from _part(f"{name}: {section}", was, now)


def _network(before: Content, after: Content) -> Iterator[SnapshotDifference]:
    old, new = before.get("nic"), after.get("nic")
    yield from _part(f"NIC {(new or old or {}).get('name', '')}", old, new)
    ways = zip_longest(before.get("way") or [], after.get("way") or [])
    for number, (was, now) in enumerate(ways, start=1):
        cable = f"cable {number} to {(now or was)['to']}"
        yield from _part(cable, _but_nic(was), _but_nic(now))
        if was and now:
            yield from _part(f"far NIC of {cable}", was.get("nic"), now.get("nic"))


def _part(part: str, old: Content | None, new: Content | None) -> Iterator[SnapshotDifference]:
    if old is None and new is None:
        return
    if old is None or new is None:
        yield _whole(part, old, new)
        return
    for one in field_changes(_GROUP, part, old, new):
        yield one if one.what else replace(one, what=_WORDS.get(one.field, ""))


def _whole(part: str, old: Content | None, new: Content | None) -> SnapshotDifference:
    return (
        SnapshotDifference(_GROUP, part, REMOVED, before=part)
        if new is None
        else SnapshotDifference(_GROUP, part, ADDED, after=part)
    )


def _order(part: str, what: str, before: list[Content], after: list[Content]) -> Iterator[SnapshotDifference]:
    """Yield a difference where the same parts stand in another order; a way is read from the host on."""
    old, new = ([name for (name, _), _ in _numbered(parts)] for parts in (before, after))
    if old != new and sorted(old) == sorted(new):
        yield SnapshotDifference(_GROUP, part, ORDER, what, ", ".join(old), ", ".join(new))


def _paired(before: list[Content], after: list[Content]) -> Iterator[tuple[str, Content | None, Content | None]]:
    """Yield parts paired by name; those of one name in their order."""
    old, new = dict(_numbered(before)), dict(_numbered(after))
    for key in [*old, *(one for one in new if one not in old)]:
        yield key[0], old.get(key), new.get(key)


def _numbered(parts: Iterable[Content]) -> Iterator[tuple[tuple[str, int], Content]]:
    seen: Counter[str] = Counter()
    for part in parts:
        name = str(part.get("name") or "")
        yield (name, seen[name]), part
        seen[name] += 1


def _but_nic(cable: Content | None) -> dict[str, Any] | None:
    return None if cable is None else {name: value for name, value in cable.items() if name != "nic"}
