"""Parts of a host and what leads to what, from left to right. Pure.

far ends → switches → NICs → host → controllers and path sections → places → disks → arrays → filesystems → targets
"""

from dataclasses import dataclass, field
from typing import Any

HOST = "host"


@dataclass(frozen=True)
class Part:
    """`look`: what two parts must have in common to be drawn as one box; `plural`: what many of them are called."""

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
    parts: dict[str, Part] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)  # (left, right), each once

    def put(self, part: Part, *left: str | None) -> str:
        self.parts.setdefault(part.key, part)
        self.join(part.key, *left)
        return part.key

    def join(self, right: str, *left: str | None) -> None:
        """Ends that are not drawn are left out when the graph is finished."""
        for key in left:
            if key and key != right:
                self.edges[key, right] = None

    def finished(self) -> "Graph":
        """Without edges to nothing and without edges that close a circle."""
        self.edges = {(a, b): None for a, b in self.edges if a in self.parts and b in self.parts}
        outside = set(in_order(self))
        self.edges = {(a, b): None for a, b in self.edges if a in outside or b in outside}
        return self


def in_order(graph: Graph) -> list[str]:
    """Every part after all that lead to it; what lies on a circle, or only behind one, is missing."""
    left_of = dict.fromkeys(graph.parts, 0)
    for _, right in graph.edges:
        left_of[right] += 1
    beside = neighbours(graph.edges)
    found = [key for key, count in left_of.items() if not count]
    for key in found:  # grows while it is read
        for right in beside.get(key, ()):
            left_of[right] -= 1
            if not left_of[right]:
                found.append(right)
    return found


def neighbours(edges: "dict[tuple[str, str], None]", *, to_the_left: bool = False) -> dict[str, list[str]]:
    """Part → parts to its right (or left)."""
    found: dict[str, list[str]] = {}
    for left, right in edges:
        key, other = (right, left) if to_the_left else (left, right)
        found.setdefault(key, []).append(other)
    return found
