"""A host's storage as one tree to draw: controller → disks → array → array → filesystem → target.

An array lies on many disks, so disks of one controller that are in the same arrays stand together, and an array is
drawn in full where it
is met first; where it is met again (another controller, another leg of a RAID-50) stands a reference to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.urls import reverse

from apps.inventory.vocabulary import ControllerKind, RaidLevel
from apps.lib import units

Thing = dict[str, Any]
LEVELS, KINDS = dict(RaidLevel.choices), dict(ControllerKind.choices)


@dataclass
class Node:
    kind: str
    links: list[tuple[str, str]]  # (name, address); several where equal disks stand together
    detail: str = ""
    state: str = ""
    is_again: bool = False
    children: list["Node"] = field(default_factory=list)


def tree(topology: Thing) -> list[Node]:
    """The nodes under the host."""
    return _Builder(topology).nodes()


class _Builder:
    def __init__(self, topology: Thing) -> None:
        self.topology = topology
        self.drawn: set[int] = set()
        self.over: dict[tuple[str, int], list[Thing]] = {}  # what lies directly on a disk or an array
        for array in topology["arrays"]:
            for member in array["members"]:
                self._lies_on(member, array | {"what": "array"})
        for filesystem in topology["filesystems"]:
            self._lies_on(filesystem, filesystem | {"what": "filesystem"})
        for target in topology["targets"]:
            self._lies_on(target, target | {"what": "target"})

    def _lies_on(self, place: Thing, thing: Thing) -> None:
        for layer in ("array", "disk"):
            if place[layer]:
                things = self.over.setdefault((layer, place[layer]), [])
                if not any(one["what"] == thing["what"] and one["id"] == thing["id"] for one in things):
                    things.append(thing)
                return

    def nodes(self) -> list[Node]:
        found = [self._controller(one) for one in self.topology["controllers"]]
        found += self._disks(self.topology["disks"])
        found += [self._array(one) for one in self.topology["arrays"] if one["id"] not in self.drawn]
        loose = [one for one in self.topology["filesystems"] if not one["disk"] and not one["array"]]
        found += [self._filesystem(one) for one in sorted(loose, key=lambda one: not one["targets"])]
        return found + [_target(one) for one in self.topology["targets"] if not one["disk"] and not one["array"]]

    def _controller(self, one: Thing) -> Node:
        maker = " ".join(filter(None, [one["vendor"], one["model"]]))
        detail = _joined(
            KINDS.get(one["kind"] or ""), maker if maker != one["name"] else "", _cache(one["cache_bytes"])
        )
        return Node("controller", [_link("controller", one["name"], one)], detail, children=self._disks(one["disks"]))

    def _disks(self, disks: Iterable[Thing]) -> list[Node]:
        """Disks of one kind in the same arrays as one node."""
        ordered = sorted(disks, key=lambda one: (self._key(one), one["device_name"] or "", one["id"]))
        return [self._some(list(group)) for _, group in groupby(ordered, key=self._key)]

    def _key(self, disk: Thing) -> tuple[str, ...]:
        over = self.over.get(("disk", disk["id"]), [])
        arrays = sorted(str(one["id"]) for one in over if one["what"] == "array")
        alone = not arrays or len(arrays) < len(over)  # something lies on this disk alone
        own = f"{disk['device_name'] or ''} {disk['id']}" if alone else ""
        return (*arrays, own, disk["model"] or "", str(disk["capacity_bytes"]))

    def _some(self, disks: list[Thing]) -> Node:
        first = disks[0]
        links = [_link("disk", one["device_name"] or one["serial"] or f"disk {one['id']}", one) for one in disks]
        size = units.size(first["capacity_bytes"]) if first["capacity_bytes"] else ""
        kind = "solid state" if first["is_solid_state"] else (f"{first['rpm']} rpm" if first["rpm"] else "")
        each = f"{len(disks)} ×" if len(disks) > 1 else ""
        detail = _joined(
            " ".join(filter(None, [each, first["vendor"], first["model"]])),
            first["generation"] or first["interface"],
            kind,
            size,
        )
        state = "" if all(one["is_present"] for one in disks) else "gone"
        node = Node("disk" if len(disks) == 1 else "disks", links, detail, state)
        node.children = self._on("disk", first["id"])
        return node

    def _on(self, layer: str, pk: int) -> list[Node]:
        draw = {"array": self._array, "filesystem": self._filesystem, "target": _target}
        return [draw[one["what"]](one) for one in self.over.get((layer, pk), [])]

    def _array(self, one: Thing) -> Node:
        node = Node("array", [_link("array", one["name"], one)], is_again=one["id"] in self.drawn)
        if node.is_again:
            node.detail = "drawn in full above"
            return node
        self.drawn.add(one["id"])
        chunk = f"chunk {units.size(one['chunk_size'])}" if one["chunk_size"] else ""
        members = len(one["members"]) or one["member_count"]
        size = units.size(one["capacity_bytes"]) if one["capacity_bytes"] else ""
        maker = one["software"] or (one["implementation"] if one["implementation"] == "hardware" else "")
        node.detail = _joined(
            LEVELS.get(one["level"], one["level"]), f"{members} members" if members else "", maker, chunk, size
        )
        node.state = (one["state"] or "") if one["is_present"] else "gone"
        node.children = self._on("array", one["id"])
        return node

    def _filesystem(self, one: Thing) -> Node:
        size = units.human(one["size_bytes"], "B") if one["size_bytes"] else ""
        name = one["mount_point"] or one["device_name"] or one["type"]
        node = Node("filesystem", [_link("filesystem", name, one)], _joined(one["type"], size))
        node.state = "" if one["is_present"] else "gone"
        node.children = [_target(target) for target in one["targets"]]
        return node


def _target(one: Thing) -> Node:
    return Node(
        "target",
        [_link("target", one["name"], one)],
        _joined(one["path"], "offered by the agent" if one["is_agents_own"] else ""),
    )


def _link(route: str, name: str, one: Thing) -> tuple[str, str]:
    return name, reverse(route, args=[one["id"]])


def _cache(size: int | None) -> str:
    return f"cache {units.size(size)}" if size else ""


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)
