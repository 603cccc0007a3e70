"""The upper bound that a target's topology sets for reads and for writes, with the sum behind it.

    ceiling_of(snapshot.content).write.value    # bytes/s; None where nothing is known that bounds it

It is the least of: the disks' media, their links and channels, the controllers' host buses, every section of a SAN
path, and the network. Where a part is not known it sets no bound, or the widest one there is, and `unknown` names it.

Paths and NICs that the inventory holds come first. Labels say what it does not: a disk's `media_rate` (`180 MB/s`) and
`channel`; a target's or host's `network` (`10 Gb/s`); a target's sections of a SAN path, each a label that begins with
`path`: `path server to controllers` = `4 × FC-2G`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.inventory import ceiling_paths as paths
from apps.inventory.ceiling_disks import Carriers, Content, carriers_of
from apps.inventory.ceiling_links import links, media
from apps.inventory.ceiling_parts import READ, WRITE, Part, through_host
from apps.lib.quantities import written

MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Bound:
    """`parts` with the narrowest first: it decides."""

    parts: tuple[Part, ...] = ()

    @property
    def decides(self) -> Part | None:
        return self.parts[0] if self.parts else None

    @property
    def value(self) -> float | None:
        return self.parts[0].value if self.parts else None


@dataclass(frozen=True)
class Ceiling:
    read: Bound
    write: Bound
    network: Bound
    unknown: tuple[str, ...]

    @property
    def directions(self) -> tuple[tuple[str, Bound], ...]:
        return (("reads", self.read), ("writes", self.write))

    def as_json(self, base: int = 1000) -> Content:
        """For the REST interface; bandwidths in bytes/s, in sentences in units of `base`."""
        return {READ: _shown(self.read, base), WRITE: _shown(self.write, base), "unknown": list(self.unknown)}


def _shown(bound: Bound, base: int) -> Content:
    return {
        "bandwidth": bound.value,
        "decided_by": bound.decides.name if bound.decides else None,
        "parts": [
            {
                "name": p.name,
                "bandwidth": p.value,
                "arithmetic": written(p.arithmetic, base),
                "why": written(p.why, base),
            }
            for p in bound.parts
        ],
    }


def ceiling_of(content: Content) -> Ceiling:
    """`content`: a snapshot's, frozen or made now (`snapshots.content_of`). Never raises for what is missing."""
    if content["target"].get("kind") == "network":
        return _of_network(content)
    carriers = carriers_of(content) if content.get("storage") else Carriers(is_whole=False)
    unknown = list(carriers.unknown)
    network = paths.network(content, unknown)
    sections = [*paths.sections(content, unknown), *paths.fc_channels(carriers, unknown)]
    bounds = {
        direction: [
            *media(carriers, direction, unknown),
            *links(carriers, direction, unknown),
            *paths.buses(carriers, direction, unknown),
            *(through_host(part, carriers, direction) for part in sections),
            *network,
        ]
        for direction in (READ, WRITE)
    }
    if not content.get("storage"):
        unknown.append(_without_disks(content))
    return Ceiling(_bound(bounds[READ]), _bound(bounds[WRITE]), _bound(network), tuple(dict.fromkeys(unknown)))


def _of_network(content: Content) -> Ceiling:
    """A test against a peer touches no disk; what is sent is bound as what is received."""
    unknown: list[str] = []
    bound = _bound(paths.network(content, unknown))
    return Ceiling(bound, bound, bound, tuple(dict.fromkeys(unknown)))


def _bound(parts: Sequence[Part]) -> Bound:
    return Bound(tuple(sorted(parts, key=lambda part: part.value)))


def _without_disks(content: Content) -> str:
    kind = (content.get("filesystem") or {}).get("type")
    if kind in MEMORY_FILESYSTEMS:
        return f"no disks: {kind} lies in memory"
    return "which disks lie under this target"
