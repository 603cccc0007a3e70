"""A host's storage as one tree to draw: controller → disks → array → array → filesystem → target.

An array lies on many disks, so disks of one controller that are in the same arrays stand together, and an array is
drawn in full where it is met first;
where it is met again (another controller, another leg of a RAID-50) its name stands beside the disks. A zero-channel
card stands under the HBA that it sits on; a storage path leads to the array behind it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from apps.dashboard.addresses import page_of
from apps.inventory.drawing import words
from apps.inventory.findings.machine import name_of_array, name_of_disk
from apps.inventory.findings.parts import listed
from apps.inventory.vocabulary import ControllerKind, RaidLevel
from apps.lib import units

MAX_DEPTH, LARGE = 32, 200
Thing = dict[str, Any]
LEVELS, KINDS = dict(RaidLevel.choices), dict(ControllerKind.choices)


@dataclass
class Node:
    kind: str
    links: list[tuple[str, str]]  # (name, address); several where equal disks stand together
    detail: str = ""
    state: str = ""
    within: list[tuple[str, str]] = field(default_factory=list)  # arrays over it that are drawn in full elsewhere
    children: list["Node"] = field(default_factory=list)


def tree(topology: Thing) -> list[Node]:
    """The nodes under the host. In a large host arrays stand by themselves, each with the names of its members."""
    return _Builder(topology).nodes()


class _Builder:
    def __init__(self, topology: Thing) -> None:
        self.topology = topology
        self.depth = 0
        every = [disk for one in topology["controllers"] for disk in one["disks"]] + topology["disks"]
        self.names = {disk["id"]: name_of_disk(disk) for disk in every}
        self.is_large = len(self.names) > LARGE
        self.drawn: set[int] = set()
        self.cards: dict[int, list[Thing]] = {}  # HBA → the zero-channel cards on it
        for one in topology["controllers"]:
            self.cards.setdefault(one["sits_on"] or 0, []).append(one)
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
        found = [self._controller(one) for one in self.cards.pop(0, [])]
        found += self._disks(self.topology["disks"])
        found += [self._path(one) for one in self.topology["storage_paths"]]
        found += [self._array(one) for one in self.topology["arrays"] if one["id"] not in self.drawn]
        loose = [one for one in self.topology["filesystems"] if not one["disk"] and not one["array"]]
        found += [self._filesystem(one) for one in sorted(loose, key=lambda one: not one["targets"])]
        found += [_target(one) for one in self.topology["targets"] if not one["disk"] and not one["array"]]
        left = [one for some in list(self.cards.values()) for one in some]  # cards that sit on each other
        self.cards.clear()
        return found + [self._controller(one) for one in left]

    def _controller(self, one: Thing) -> Node:
        maker = " ".join(filter(None, [one["vendor"], one["model"]]))
        detail = _joined(
            KINDS.get(one["kind"] or ""), maker if maker != one["name"] else "", _cache(one["cache_bytes"])
        )
        cards = [self._controller(card) for card in self.cards.pop(one["id"], [])]
        children = [*cards, *self._disks(one["disks"])]
        return Node("controller", [_link("controller", one["name"], one)], detail, children=children)

    def _path(self, one: Thing) -> Node:
        told = "; ".join(f"{part['name']}: {words.section(part)[1]}" for part in one["sections"])
        behind = [self._array(array) for array in self.topology["arrays"] if array["id"] == one["array"]]
        return Node("path", [(one["name"], "#network")], told, children=behind)

    def _disks(self, disks: Iterable[Thing]) -> list[Node]:
        """Disks of one kind in the same arrays as one node."""
        ordered = sorted(disks, key=lambda one: (self._key(one), one["device_name"] or "", one["id"]))
        return [self._some(list(group)) for _, group in groupby(ordered, key=self._key)]

    def _key(self, disk: Thing) -> tuple[str, ...]:
        over = self.over.get(("disk", disk["id"]), [])
        arrays = sorted(str(one["id"]) for one in over if one["what"] == "array")
        alone = not arrays or len(arrays) < len(over)  # something lies on this disk alone
        if self.is_large:
            arrays, alone = [], bool(over) and len(arrays) < len(over)
        own = f"{disk['device_name'] or ''} {disk['id']}" if alone else ""
        return (words.place(disk), *arrays, own, disk["model"] or "", str(disk["capacity_bytes"]))

    def _some(self, disks: list[Thing]) -> Node:
        first = disks[0]
        links = [_link("disk", name_of_disk(one), one) for one in disks]
        kind = "solid state" if first["is_solid_state"] else (f"{first['rpm']} rpm" if first["rpm"] else "")
        each = f"{len(disks)} ×" if len(disks) > 1 else ""
        slots = [words.slot(one).removeprefix("slot ") for one in disks if one["slot_number"] is not None]
        detail = _joined(
            " ".join(filter(None, [each, first["vendor"], first["model"]])),
            words.place(first),
            f"slot{'s' * (len(slots) > 1)} {listed(slots)}" if slots else "",
            first["generation"] or first["interface"],
            kind,
            words.sold(first["capacity_bytes"]),
        )
        state = max(words.state_of_disk(one) for one in disks)
        node = Node("disk" if len(disks) == 1 else "disks", links, detail, state)
        self._over(node, "disk", first["id"])
        return node

    def _over(self, node: Node, layer: str, pk: int) -> None:
        """What lies on it: below the node, or a reference to where it is drawn."""
        for one in self.over.get((layer, pk), []):
            if one["what"] != "array":
                node.children.append(self._filesystem(one) if one["what"] == "filesystem" else _target(one))
            elif one["id"] in self.drawn or self.depth >= MAX_DEPTH or (layer == "disk" and self.is_large):
                node.within.append(_link("array", name_of_array(one), one))
            else:
                node.children.append(self._array(one))

    def _array(self, one: Thing) -> Node:
        node = Node("array", [_link("array", name_of_array(one), one)])
        self.depth += 1
        self.drawn.add(one["id"])
        chunk = f"chunk {units.size(one['chunk_size'])}" if one["chunk_size"] else ""
        members = len(one["members"]) or one["member_count"]
        size = words.sold(one["capacity_bytes"])
        maker = one["software"] or (one["implementation"] if one["implementation"] == "hardware" else "")
        node.detail = _joined(
            LEVELS.get(one["level"], one["level"]),
            f"{members} members" if members else "",
            maker,
            chunk,
            size,
            self._names(one),
        )
        node.state = (one["state"] or "") if one["is_present"] else "gone"
        self._over(node, "array", one["id"])
        self.depth -= 1
        return node

    def _names(self, array: Thing) -> str:
        """In a large host, whose disks do not say what they are in."""
        if not self.is_large:
            return ""
        return " ".join(self.names.get(member["disk"], "") for member in array["members"]).strip()

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
    return name, page_of(route, one["id"])


def _cache(size: int | None) -> str:
    return f"cache {units.size(size)}" if size else ""


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)
