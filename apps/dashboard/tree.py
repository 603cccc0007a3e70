"""A host's storage as a tree to draw: controller → disks → array → array → filesystem → target.

An array lies on many disks, so disks of one controller that belong to the same arrays are grouped, and an array is drawn
in full at its first place; at any other place (another controller, another leg of a RAID 50) its name stands beside the
disks. A zero-channel card is drawn below the HBA that it sits on; a storage path leads to the array behind it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import Any

from django.urls import reverse

from apps.core import units
from apps.core.unit_base import base
from apps.inventory.drawing import words
from apps.inventory.findings.machine import name_of_array, name_of_disk
from apps.inventory.findings.parts import listed
from apps.inventory.vocabulary import ControllerKind, RaidLevel

_NO_ID = 987654321


@lru_cache
def _pattern(route: str) -> tuple[str, str]:
    before, _, after = reverse(route, args=[_NO_ID]).partition(str(_NO_ID))
    return before, after


def page_of(kind: str, pk: int) -> str:
    """Return the address of a part's page: `/disks/7/` for (`disk`, 7).

    The pattern is looked up once, for trees name thousands.
    """
    before, after = _pattern(kind)
    return f"{before}{pk}{after}"


MAX_DEPTH, LARGE = 32, 200
FOLDED_FROM = 150  # nodes
Thing = dict[str, Any]
LEVELS, KINDS = dict(RaidLevel.choices), dict(ControllerKind.choices)


@dataclass
class TreeNode:
    kind: str
    links: list[tuple[str, str]]  # (name, address); several where equal disks stand together
    detail: str = ""
    state: str = ""
    within: list[tuple[str, str]] = field(default_factory=list)  # arrays over it that are drawn in full elsewhere
    children: list["TreeNode"] = field(default_factory=list)


@dataclass
class Tree:
    nodes: list[TreeNode]

    @property
    def is_folded(self) -> bool:
        """Tell a tree so large that what is under a controller is shown only when it is opened."""
        return _count(self.nodes) > FOLDED_FROM


def tree(topology: Thing) -> Tree:
    """Return the nodes under the host. In a large host arrays stand by themselves, each with the names of its members."""
    return Tree(_TreeBuilder(topology).nodes())


def _count(nodes: Iterable[TreeNode]) -> int:
    return sum(1 + _count(node.children) for node in nodes)


class _TreeBuilder:
    def __init__(self, topology: Thing) -> None:
        self.topology = topology
        self.depth = 0
        every = [disk for item in topology["controllers"] for disk in item["disks"]] + topology["disks"]
        self.names = {disk["id"]: name_of_disk(disk) for disk in every}
        self.is_large = len(self.names) > LARGE
        self.drawn: set[int] = set()
        self.cards: dict[int, list[Thing]] = {}  # HBA → the zero-channel cards on it
        for entry in topology["controllers"]:
            self.cards.setdefault(entry["sits_on"] or 0, []).append(entry)
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
                if not any(item["what"] == thing["what"] and item["id"] == thing["id"] for item in things):
                    things.append(thing)
                return

    def nodes(self) -> list[TreeNode]:
        result = [self._controller(item) for item in self.cards.pop(0, [])]
        result += self._disks(self.topology["disks"])
        result += [self._path(item) for item in self.topology["storage_paths"]]
        result += [self._array(item) for item in self.topology["arrays"] if item["id"] not in self.drawn]
        loose = [item for item in self.topology["filesystems"] if not item["disk"] and not item["array"]]
        result += [self._filesystem(entry) for entry in sorted(loose, key=lambda item: not item["targets"])]
        result += [_target(item) for item in self.topology["targets"] if not item["disk"] and not item["array"]]
        left = [item for some in list(self.cards.values()) for item in some]  # cards that sit on each other
        self.cards.clear()
        return result + [self._controller(item) for item in left]

    def _controller(self, thing: Thing) -> TreeNode:
        maker = " ".join(filter(None, [thing["vendor"], thing["model"]]))
        detail = _joined(
            KINDS.get(thing["kind"] or ""), maker if maker != thing["name"] else "", _cache(thing["cache_bytes"])
        )
        cards = [self._controller(card) for card in self.cards.pop(thing["id"], [])]
        children = [*cards, *self._disks(thing["disks"])]
        return TreeNode("controller", [_link("controller", thing["name"], thing)], detail, children=children)

    def _path(self, thing: Thing) -> TreeNode:
        reported = "; ".join(f"{part['name']}: {words.section(part)[1]}" for part in thing["sections"])
        behind = [self._array(array) for array in self.topology["arrays"] if array["id"] == thing["array"]]
        return TreeNode("path", [(thing["name"], "#network")], reported, children=behind)

    def _disks(self, disks: Iterable[Thing]) -> list[TreeNode]:
        """Return nodes for disks, those of one kind in the same arrays as one node."""
        ordered = sorted(disks, key=lambda disk: (self._key(disk), disk["device_name"] or "", disk["id"]))
        return [self._some(list(group)) for _, group in groupby(ordered, key=self._key)]

    def _key(self, disk: Thing) -> tuple[str, ...]:
        over = self.over.get(("disk", disk["id"]), [])
        arrays = sorted(str(item["id"]) for item in over if item["what"] == "array")
        alone = not arrays or len(arrays) < len(over)  # something lies on this disk alone
        if self.is_large:
            arrays, alone = [], bool(over) and len(arrays) < len(over)
        own = f"{disk['device_name'] or ''} {disk['id']}" if alone else ""
        return (words.place(disk), *arrays, own, disk["model"] or "", str(disk["capacity_bytes"]))

    def _some(self, disks: list[Thing]) -> TreeNode:
        first = disks[0]
        links = [_link("disk", name_of_disk(disk), disk) for disk in disks]
        kind = "solid state" if first["is_solid_state"] else (f"{first['rpm']} rpm" if first["rpm"] else "")
        each = f"{len(disks)} ×" if len(disks) > 1 else ""
        slots = [words.slot(disk).removeprefix("slot ") for disk in disks if disk["slot_number"] is not None]
        detail = _joined(
            " ".join(filter(None, [each, first["vendor"], first["model"]])),
            words.place(first),
            f"slot{'s' * (len(slots) > 1)} {listed(slots)}" if slots else "",
            first["generation"] or first["interface"],
            kind,
            words.sold(first["capacity_bytes"]),
        )
        state = max(words.state_of_disk(disk) for disk in disks)
        node = TreeNode("disk" if len(disks) == 1 else "disks", links, detail, state)
        self._over(node, "disk", first["id"])
        return node

    def _over(self, node: TreeNode, layer: str, pk: int) -> None:
        """Add what lies on a layer: below the node, or as a reference to where it is drawn."""
        for item in self.over.get((layer, pk), []):
            if item["what"] != "array":
                node.children.append(self._filesystem(item) if item["what"] == "filesystem" else _target(item))
            elif item["id"] in self.drawn or self.depth >= MAX_DEPTH or (layer == "disk" and self.is_large):
                node.within.append(_link("array", name_of_array(item), item))
            else:
                node.children.append(self._array(item))

    def _array(self, thing: Thing) -> TreeNode:
        node = TreeNode("array", [_link("array", name_of_array(thing), thing)])
        self.depth += 1
        self.drawn.add(thing["id"])
        chunk = f"chunk {units.size(thing['chunk_size'])}" if thing["chunk_size"] else ""
        members = len(thing["members"]) or thing["member_count"]
        size = words.sold(thing["capacity_bytes"])
        maker = thing["software"] or (thing["implementation"] if thing["implementation"] == "hardware" else "")
        node.detail = _joined(
            LEVELS.get(thing["level"], thing["level"]),
            f"{members} members" if members else "",
            maker,
            chunk,
            size,
            self._names(thing),
        )
        node.state = (thing["state"] or "") if thing["is_present"] else "gone"
        self._over(node, "array", thing["id"])
        self.depth -= 1
        return node

    def _names(self, array: Thing) -> str:
        """Return the names of an array's disks in a large host, whose disk nodes do not name their arrays."""
        if not self.is_large:
            return ""
        return " ".join(self.names.get(member["disk"], "") for member in array["members"]).strip()

    def _filesystem(self, thing: Thing) -> TreeNode:
        size = units.human(thing["size_bytes"], "B", base()) if thing["size_bytes"] else ""
        name = thing["mount_point"] or thing["device_name"] or thing["type"]
        node = TreeNode("filesystem", [_link("filesystem", name, thing)], _joined(thing["type"], size))
        node.state = "" if thing["is_present"] else "gone"
        node.children = [_target(target) for target in thing["targets"]]
        return node


def _target(thing: Thing) -> TreeNode:
    return TreeNode(
        "target",
        [_link("target", thing["name"], thing)],
        _joined(thing["path"], "offered by the agent" if thing["is_agents_own"] else ""),
    )


def _link(route: str, name: str, thing: Thing) -> tuple[str, str]:
    return name, page_of(route, thing["id"])


def _cache(size: int | None) -> str:
    return f"cache {units.size(size)}" if size else ""


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)
