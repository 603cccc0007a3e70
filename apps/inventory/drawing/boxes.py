"""Alike parts of a graph drawn as one box, such as `46 × Hitachi HDS7225 250 GB`, without the database.

Parts are alike when they look alike and so does all that leads to them and all that they lead to. Up to `FEW` boxes only disks, NICs
and far hosts are put together; in larger hosts also alike arrays, filesystems, targets and controllers.
"""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass

from apps.inventory.drawing.graph import DrawingPart, Graph, in_order, neighbours

FEW = 70
OPENED = 24  # how many of a group one opening shows
MANY_CONTROLLERS = 16
_ALWAYS_GROUPED = ("disk", "nic", "far")
_NEVER_GROUPED = ("host", "switch", "path", "place")


@dataclass(frozen=True)
class Box:
    """Alike parts drawn as one box, in the order of the topology; `key` is that of the first part."""

    parts: tuple[DrawingPart, ...]

    @property
    def key(self) -> str:
        return self.parts[0].key

    @property
    def kind(self) -> str:
        return self.parts[0].kind

    @property
    def count(self) -> int:
        return len(self.parts)


@dataclass(frozen=True)
class Boxes:
    boxes: tuple[Box, ...]
    edges: dict[tuple[str, str], None]  # between keys of boxes


def boxes_of(graph: Graph, opened: Collection[str] = ()) -> Boxes:
    """Group the parts of the graph into boxes, coarser the more there are.

    `opened` are the keys of boxes whose parts are to be drawn one by one.
    """
    groups: list[list[DrawingPart]] = []
    for coarse in range(3):
        groups = _groups(graph, coarse)
        if len(groups) <= FEW:
            break
    boxes = [box for group in groups for box in _opened(group, opened)]
    whose = {part.key: box.key for box in boxes for part in box.parts}
    edges = {(whose[a], whose[b]): None for a, b in graph.edges if whose[a] != whose[b]}
    return Boxes(tuple(boxes), edges)


def _opened(group: list[DrawingPart], opened: Collection[str]) -> list[Box]:
    """Return the boxes of a group, with the first parts one by one if the group is opened.

    The key of the next box to open is that of the first part of what is left.
    """
    boxes = []
    while group and group[0].key in opened:
        boxes += [Box((part,)) for part in group[:OPENED]]
        group = group[OPENED:]
    return [*boxes, Box(tuple(group))] if group else boxes


def _groups(graph: Graph, coarse: int) -> list[list[DrawingPart]]:
    """Group the parts that look alike.

    `coarse` 0 groups only disks and NICs, 1 everything that has the same neighbours, 2 also arrays over other disks.
    """
    look = _looks(graph, coarse)
    order = in_order(graph)
    ignored = ("array",) if coarse == 2 else ()
    left = _digests(
        order, look, neighbours(graph.edges, to_the_left=True), lambda key: graph.parts[key].kind in ignored
    )
    right = _digests(order[::-1], look, neighbours(graph.edges), lambda _: False)
    groups: dict[Hashable, list[DrawingPart]] = {}
    for key, part in graph.parts.items():
        groups.setdefault((left.get(key, key), right.get(key, key)), []).append(part)
    return list(groups.values())


def _looks(graph: Graph, coarse: int) -> dict[str, Hashable]:
    controllers = sum(part.kind == "controller" for part in graph.parts.values())
    named = set(_NEVER_GROUPED)
    if controllers <= MANY_CONTROLLERS:
        named.add("controller")
    return {
        key: (part.kind, part.look, part.state)
        if part.kind in _ALWAYS_GROUPED or (coarse and part.kind not in named)
        else key
        for key, part in graph.parts.items()
    }  # fmt: skip


def _digests(
    order: list[str], look: Mapping[str, Hashable], beside: Mapping[str, list[str]], stops: Callable[[str], bool]
) -> dict[str, int]:
    """Return a number for each part, equal where it and everything on that side of it look alike."""
    numbers: dict[Hashable, int] = {}
    results: dict[str, int] = {}
    for key in order:
        others = (
            () if stops(key) else tuple(sorted(results[other] for other in beside.get(key, ()) if other in results))
        )
        results[key] = numbers.setdefault((look[key], others), len(numbers))
    return results
