"""The graph of a host's parts and what leads to what, from left to right, without the database.

far ends → switches → NICs → host → controllers and path sections → places → disks → arrays → filesystems → targets
"""

from dataclasses import dataclass, field
from typing import Any

HOST = "host"


@dataclass(frozen=True)
class DrawingPart:
    """A part to draw; parts with the same `look` can be drawn as one box, and `plural` is the word for many of them."""

    key: str
    kind: str
    name: str
    detail: str = ""
    state: str = ""
    look: tuple[Any, ...] = ()
    plural: str = ""
    page: tuple[str, int] | None = None  # (kind of page, id)


@dataclass
class Graph:
    parts: dict[str, DrawingPart] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)  # (left, right), each once

    def put(self, part: DrawingPart, *left: str | None) -> str:
        self.parts.setdefault(part.key, part)
        self.join(part.key, *left)
        return part.key

    def join(self, right: str, *left: str | None) -> None:
        """Add an edge from each `left` to `right`; edges with ends that are not drawn go when the graph is finished."""
        for key in left:
            if key and key != right:
                self.edges[key, right] = None

    def finished(self) -> "Graph":
        """Return the graph without edges to missing parts and without edges that close a circle."""
        self.edges = {(a, b): None for a, b in self.edges if a in self.parts and b in self.parts}
        outside = set(in_order(self))
        self.edges = {(a, b): None for a, b in self.edges if a in outside or b in outside}
        return self


def in_order(graph: Graph) -> list[str]:
    """Return the parts' keys so that each follows all that lead to it; parts on or behind a circle are missing."""
    left_of = dict.fromkeys(graph.parts, 0)
    for _, right in graph.edges:
        left_of[right] += 1
    beside = neighbours(graph.edges)
    results = [key for key, count in left_of.items() if not count]
    for key in results:  # the list grows during the loop
        for right in beside.get(key, ()):
            left_of[right] -= 1
            if not left_of[right]:
                results.append(right)
    return results


def neighbours(edges: "dict[tuple[str, str], None]", *, to_the_left: bool = False) -> dict[str, list[str]]:
    """Map each part to the parts to its right (or left)."""
    results: dict[str, list[str]] = {}
    for left, right in edges:
        key, other = (right, left) if to_the_left else (left, right)
        results.setdefault(key, []).append(other)
    return results
