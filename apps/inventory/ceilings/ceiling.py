"""The upper bound that a target's topology sets for reads and for writes, with the sum behind it.

    ceiling_of(snapshot.content).write.value    # bytes/s; None where nothing is known that bounds it

It is the least of: the disks' media, their links and channels, the controllers' host buses, every section of a SAN
path, and the network. Where a part is not known it sets no bound, or the widest one there is, and `unknown` names it.

Paths and NICs that the inventory holds come first. Labels say what it does not: a disk's `media_rate` (`180 MB/s`) and
`channel`; a target's or host's `network` (`10 Gb/s`); a target's sections of a SAN path, each a label that begins with
`path`: `path server to controllers` = `4 × FC-2G`.

What the network between a target and its peer can carry: its NIC, each cable on the way, and the NIC at the other end.

What lies between the host and its disks: host buses, Fibre Channel, the sections of a SAN path, a network.

What the disks' media and links carry: own links, lanes of a controller that has fewer, and channels that are shared.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from apps.core.quantities import written
from apps.core.units import bit_rate
from apps.inventory.ceilings.disks import VIRTUAL, Carrier, Carriers, Content, carriers_of
from apps.inventory.ceilings.parts import READ, WRITE, CeilingPart, through_host
from apps.inventory.ceilings.rates import Rate, bus_rate, link_rate, mb, rate_in_words
from apps.inventory.topology.shared_paths import links_in_use


def network_ways(network: Content, unknown: list[str]) -> Iterator[CeilingPart]:
    """Yield a ceiling part for the NIC and for each cable and interface on the way to the peer.

    `network` is a snapshot's `{nic, way}`. What has no known rate sets no bound; when nothing is known, `unknown` says
    so.
    """
    nic = network["nic"]
    here = str(nic.get("name"))
    results = [_part(f"network interface {here}", nic)]
    for cable in network["way"]:
        far, there = cable.get("nic"), str(cable.get("to"))
        results.append(_part(f"cable {here} to {there}", cable))
        if far:
            results.append(_part(f"interface at the other end, {there}", far))
        here = there
    known = [part for part in results if part]
    yield from known
    if not network["way"]:
        unknown.append("which cables lead to the other end")
    if not known:
        unknown.append("how fast the network is")


def _part(name: str, link: Content) -> CeilingPart | None:
    """Return the ceiling part of a link; a row may stand for several alike ones, such as a bond or parallel cables."""
    rate, count = link.get("bits_per_second"), int(link.get("count") or 1)
    if not rate:
        return None
    value = count * rate / 8
    return CeilingPart(name, value, f"{count} × {bit_rate(rate)} ÷ 8 = {mb(value)}")


NETWORK_FILESYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "beegfs", "9p")
_SECTION = re.compile(r"(?:(\d+) ?[×x*] ?)?(.+)")
_FC = re.compile(r"FC[- ]?\d+", re.IGNORECASE)


def buses(carriers: Carriers, direction: str, unknown: list[str]) -> Iterator[CeilingPart]:
    """Yield the bound that the controllers' host buses set together.

    The bus of an NVMe disk is its link, which `links` counts, so NVMe and virtio controllers are left out here.
    """
    controllers = [
        controller for controller in carriers.controllers.values() if controller.get("kind") not in ("nvme", "virtio")
    ]
    if carriers.is_whole and any(disk.controller is None and disk.interface != "NVMe" for disk in carriers.disks):
        unknown.append("the controller, or its host bus")
        return
    rates = [(controller, bus_rate(str(controller.get("bus") or ""))) for controller in controllers]
    if missing := [str(one.get("name")) for one, rate in rates if rate is None]:
        unknown.append(f"the host bus of {', '.join(missing)}")
    elif rates and len(rates) == len(carriers.controllers):
        counted = Counter(rate for _, rate in rates if rate)
        total = sum(rate.value * count for rate, count in counted.items())
        message = " + ".join(f"{n} × {mb(rate.value)} {rate.name} ({rate.sum})" for rate, n in counted.items())
        yield through_host(CeilingPart("host bus", total, f"{message} = {mb(total)}"), carriers, direction)


def fc_channels(carriers: Carriers, unknown: list[str]) -> Iterator[CeilingPart]:
    """Yield the bound of the host's Fibre Channel ports when every controller is a Fibre Channel adapter."""
    controllers = [controller for controller in carriers.controllers.values() if controller.get("kind") == "fc"]
    if not controllers or len(controllers) < len(carriers.controllers):
        return
    parts = [_section(f"{controller.get('ports') or ''}×{controller.get('bus')}") for controller in controllers]
    known = [part for part, one in zip(parts, controllers, strict=True) if part and one.get("ports")]
    if len(known) < len(controllers):
        unknown.append(f"the FC channels of {', '.join(str(controller.get('name')) for controller in controllers)}")
        return
    total = sum(value for value, _ in known)
    yield CeilingPart("FC channels", total, f"{' + '.join(text for _, text in known)} = {mb(total)}")


def section_parts(content: Content, unknown: list[str]) -> Iterator[CeilingPart]:
    """Yield the bounds of the storage paths' sections, and of the sections that the target's `path…` labels name.

    Each section of a single path is a bound. Several paths stand side by side, each as wide as its narrowest section.
    """
    ways = [
        [part for section in path["sections"] if (part := _of_section(section, unknown))] for path in _paths(content)
    ]
    if len(ways) == 1:
        yield from ways[0]
    elif ways and all(ways):
        yield _side_by_side([min(way, key=lambda part: part.value) for way in ways])
    for name, told in sorted((content["target"].get("labels") or {}).items()):
        if name.startswith("path"):
            if section := _section(str(told)):
                yield CeilingPart(name, section[0], f"{section[1]} = {mb(section[0])}")
            else:
                unknown.append(f"{name}: {told}")


def _paths(content: Content) -> list[Content]:
    storage_paths: list[Content] = content.get("storage_paths") or []
    return [path for path in storage_paths if path["sections"]]


def _side_by_side(narrowest: list[CeilingPart]) -> CeilingPart:
    total = sum(part.value for part in narrowest)
    message = " + ".join(f"{mb(part.value)} ({part.name})" for part in narrowest)
    return CeilingPart("storage paths", total, f"{message} = {mb(total)}", "Of each path its narrowest section counts.")


def _of_section(section: Content, unknown: list[str]) -> CeilingPart | None:
    """Return the bound of a section: by its links in use, or by the printed bandwidth if the link is not known."""
    standby, in_use, printed = section.get("standby_count", 0), links_in_use(section), section.get("bytes_per_second")
    result = _section(f"{in_use} × {section.get('link', '')}") if section.get("link") else None
    if not result and not printed:
        unknown.append(f"what {section['name']} carries")
        return None
    why = f"{standby} more only stand{'s' * (standby == 1)} by." if standby else ""
    if not result:
        return CeilingPart(section["name"], float(printed or 0), f"{mb(printed or 0)} as printed", why)
    if printed and printed != result[0]:
        why = f"{why} Printed is {mb(printed)}; the links' own rate counts.".strip()
    return CeilingPart(section["name"], result[0], f"{result[1]} = {mb(result[0])}", why)


def _section(message: str) -> tuple[float, str] | None:
    """Parse `4 × FC-2G`, `2 x 10 Gb/s` or `PCIe 3.0 x8` to (bytes/s, the product in words)."""
    match = _SECTION.fullmatch(message.strip())
    if not match:
        return None
    count, link = int(match[1] or 1), match[2]
    rate = link_rate("FC", link) if _FC.search(link) else bus_rate(link) or rate_in_words(link)
    if rate is None or rate.is_guess:
        return None
    how = f" ({rate.sum})" if rate.sum else ""
    return count * rate.value, f"{count} × {mb(rate.value)} {rate.name}{how}"


def network_parts(content: Content, unknown: list[str]) -> list[CeilingPart]:
    """Return the network bounds of a target that is reached over a network, else an empty list.

    They come from the target's NIC and the cables to its peer, else from the label `network` of the target or host.
    """
    if content.get("network"):
        return list(network_ways(content["network"], unknown))
    target, filesystem = content["target"], content.get("filesystem") or {}
    is_remote = target.get("kind") == "network" or filesystem.get("type") in NETWORK_FILESYSTEMS
    network = (target.get("labels") or {}).get("network") or (
        is_remote and (content["host"].get("labels") or {}).get("network")
    )
    if not network:
        if is_remote:
            unknown.append("how fast the network is")
        return []
    section = _section(str(network))
    if not section:
        unknown.append(f"network: {network}")
        return []
    return [CeilingPart("network", section[0], f"{section[1]} = {mb(section[0])}")]


SHARED = ("SCSI", "FC", "PATA")  # one channel or loop carries many disks
SEVERAL_WAYS = ("FC",)  # a disk may be reached over many channels at once


@dataclass(frozen=True)
class _Group:
    """`count` alike links that are passed by `disks` disks, of which `data` carry the user's own bytes."""

    rate: Rate
    noun: str
    count: int
    disks: int
    data: Fraction
    why: str = ""

    def value(self, direction: str) -> float:
        return self.count * self.rate.value * (float(self.data / self.disks) if direction == WRITE else 1.0)

    def text(self, direction: str) -> str:
        message = f"{self.count} × {mb(self.rate.value)} {self.noun}"
        if direction != WRITE or self.data == self.disks:
            return message
        return f"{message} × {float(self.data):g}/{self.disks} that carry data"


def _summed(name: str, groups: Sequence[_Group], direction: str) -> CeilingPart:
    total = sum(group.value(direction) for group in groups)
    sums = " + ".join(group.text(direction) for group in groups)
    why = " ".join(dict.fromkeys(group.why for group in groups if group.why))
    return CeilingPart(name, total, f"{sums} = {mb(total)}", why)


def media(carriers: Carriers, direction: str, unknown: list[str]) -> Iterator[CeilingPart]:
    """Yield the bound that the disks' media set together, if the rate of every disk's medium is known."""
    known = [(disk, _media_rate(disk.disk)) for disk in carriers.disks]
    rates = [(one, rate) for one, rate in known if rate]
    if len(rates) < len(known) or not known or not carriers.is_whole:
        unknown.append("how fast the disks' media are")
        return
    groups = [
        _group_of([one for one, _ in some], Rate(value, ""), "media")
        for value, some in groupby(sorted(rates, key=lambda pair: -pair[1].value), key=lambda pair: pair[1].value)
    ]
    yield _summed("media", groups, direction)


def _media_rate(disk: Content) -> Rate | None:
    """Return the rate of a disk's medium: the field, else the label `media_rate`."""
    if disk.get("media_bytes_per_second"):
        return Rate(float(disk["media_bytes_per_second"]), "")
    return rate_in_words(str((disk.get("labels") or {}).get("media_rate", "")))


def _group_of(disks: Sequence[Carrier], rate: Rate, noun: str, count: int | None = None, why: str = "") -> _Group:
    data = sum((disk.share for disk in disks), Fraction(0))
    return _Group(rate, noun, len(disks) if count is None else count, len(disks), data, why)


def links(carriers: Carriers, direction: str, unknown: list[str]) -> Iterator[CeilingPart]:
    """Yield the bound of the disks' own links, which the controller's lanes and shared channels limit."""
    if not carriers.disks or not carriers.is_whole:
        return
    groups: list[_Group] = []
    for (rate, interface), disks in _by_link(carriers.disks).items():
        if rate is None or (interface in SEVERAL_WAYS and not all(map(_ports, disks))):
            unknown.append(_unknown_link(interface))
            return
        if rate.is_guess:
            unknown.append(f"the generation of the {interface} links: taken as the fastest, {rate.name}")
        groups += _passed(disks, rate, interface, unknown)
    yield _summed("disk links", groups, direction)


def _unknown_link(interface: str) -> str:
    if interface == VIRTUAL:
        return "what lies under the hypervisor's virtual disks"
    if interface in SEVERAL_WAYS:
        return f"how many {interface} channels lead to the disks"
    return f"the generation and lanes of the {interface} disks" if interface else "how the disks are attached"


def _by_link(disks: Sequence[Carrier]) -> dict[tuple[Rate | None, str], list[Carrier]]:
    results: dict[tuple[Rate | None, str], list[Carrier]] = {}
    for disk in disks:
        rate = link_rate(disk.interface, str(disk.disk.get("link_generation") or disk.disk.get("generation") or ""))
        if rate is None and disk.interface == "NVMe" and disk.controller:
            rate = bus_rate(str(disk.controller.get("bus") or ""))
        results.setdefault((rate, disk.interface), []).append(disk)
    return results


def _passed(disks: Sequence[Carrier], rate: Rate, interface: str, unknown: list[str]) -> list[_Group]:
    """Return the groups of links that the data pass.

    A controller whose lanes are fewer than its disks is a group of its own, as are shared channels; all other links are
    one group.
    """
    if interface in SHARED:
        return [_channels(some, rate, interface, unknown) for some in _by_controller(disks)]
    own, groups = list[Carrier](), list[_Group]()
    for some in _by_controller(disks):
        # only `lanes`: a SAS port is a connector with several of them
        lanes = (some[0].controller or {}).get("lanes") if interface != "NVMe" else None
        if lanes and lanes < len(some):
            groups.append(_group_of(some, rate, f"{rate.name} lanes of {_name(some)} for {len(some)} disks", lanes))
        else:
            own += some
    return [*groups, _own_links(own, rate)] if own else groups


def _own_links(disks: Sequence[Carrier], rate: Rate) -> _Group:
    noun = f"{rate.name} {'lanes' if rate.name.startswith('SAS') else 'links'}"
    why = f"Each disk has a link of its own: their sum is the bound, not one link's {mb(rate.value)}."
    return _group_of(disks, rate, f"{noun} ({rate.sum})" if rate.sum else noun, why=why if len(disks) > 1 else "")


def _by_controller(disks: Sequence[Carrier]) -> list[list[Carrier]]:
    results: dict[str, list[Carrier]] = {}
    for disk in disks:
        results.setdefault(str(disk.controller.get("name")) if disk.controller else "", []).append(disk)
    return list(results.values())


def _name(disks: Sequence[Carrier]) -> str:
    controller = disks[0].controller or {}
    return str(controller.get("name") or "the controller")


def _ports(carrier: Carrier) -> int:
    return int((carrier.controller or {}).get("ports") or 0)


def _channels(disks: Sequence[Carrier], rate: Rate, interface: str, unknown: list[str]) -> _Group:
    """Return the group of disks behind a card's channels.

    Counted are the channels known to be used; where that is not known, all that there are, or one for each disk.
    """
    named = {disk.disk.get("channel") or (disk.disk.get("labels") or {}).get("channel") for disk in disks}
    ports = _ports(disks[0])
    if None not in named:
        count = len(named)
    elif interface in SEVERAL_WAYS:
        count = ports
    else:
        count = min(len(disks), ports or len(disks))
        given = f"{ports} channels" if ports else "a channel for each"
        if count > 1:
            unknown.append(f"which channel of {_name(disks)} each disk is on: taken as {given}")
    noun = f"{rate.name} {'channels' if count > 1 else 'channel'}"
    if count >= len(disks):
        return _group_of(disks, rate, noun, count)
    return _group_of(disks, rate, f"{noun} shared by {len(disks)} disks", count, "The disks of a channel share it.")


MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Bound:
    """A bound with the parts that set it, the narrowest and therefore deciding one first."""

    parts: tuple[CeilingPart, ...] = ()

    @property
    def decides(self) -> CeilingPart | None:
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
        """Return the ceiling for the REST interface: bandwidths in bytes/s, in sentences in units of `base`."""
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
    """Return the ceiling of a snapshot's content, whether frozen or made now by `snapshots.content_of`.

    Missing facts never raise; they are listed in the ceiling's `unknown`.
    """
    if content["target"].get("kind") == "network":
        return _of_network(content)
    carriers = carriers_of(content) if content.get("storage") else Carriers(is_whole=False)
    unknown = list(carriers.unknown)
    network = network_parts(content, unknown)
    sections = [*section_parts(content, unknown), *fc_channels(carriers, unknown)]
    bounds = {
        direction: [
            *media(carriers, direction, unknown),
            *links(carriers, direction, unknown),
            *buses(carriers, direction, unknown),
            *(through_host(part, carriers, direction) for part in sections),
            *network,
        ]
        for direction in (READ, WRITE)
    }
    if not content.get("storage"):
        unknown.append(_without_disks(content))
    return Ceiling(_bound(bounds[READ]), _bound(bounds[WRITE]), _bound(network), tuple(dict.fromkeys(unknown)))


def _of_network(content: Content) -> Ceiling:
    """Return the ceiling of a test against a peer, which touches no disk: sending is bound as receiving is."""
    unknown: list[str] = []
    bound = _bound(network_parts(content, unknown))
    return Ceiling(bound, bound, bound, tuple(dict.fromkeys(unknown)))


def _bound(parts: Sequence[CeilingPart]) -> Bound:
    return Bound(tuple(sorted(parts, key=lambda part: part.value)))


def _without_disks(content: Content) -> str:
    kind = (content.get("filesystem") or {}).get("type")
    if kind in MEMORY_FILESYSTEMS:
        return f"no disks: {kind} lies in memory"
    return "which disks lie under this target"
