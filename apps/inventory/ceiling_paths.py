"""What lies between the host and its disks: host buses, Fibre Channel, the sections of a SAN path, a network."""

import re
from collections import Counter
from collections.abc import Iterator

from apps.inventory.ceiling_disks import Carriers, Content
from apps.inventory.ceiling_network import network_ways
from apps.inventory.ceiling_parts import Part, through_host
from apps.inventory.ceiling_rates import bus_rate, link_rate, mb, rate_in_words
from apps.inventory.sharing import links_in_use

NETWORK_FILESYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "beegfs", "9p")
_SECTION = re.compile(r"(?:(\d+) ?[×x*] ?)?(.+)")
_FC = re.compile(r"FC[- ]?\d+", re.IGNORECASE)


def buses(carriers: Carriers, direction: str, unknown: list[str]) -> Iterator[Part]:
    """The controllers' host buses together. An NVMe disk's bus is its link; that is counted there."""
    controllers = [one for one in carriers.controllers.values() if one.get("kind") not in ("nvme", "virtio")]
    if carriers.is_whole and any(one.controller is None and one.interface != "NVMe" for one in carriers.disks):
        unknown.append("the controller, or its host bus")
        return
    rates = [(one, bus_rate(str(one.get("bus") or ""))) for one in controllers]
    if missing := [str(one.get("name")) for one, rate in rates if rate is None]:
        unknown.append(f"the host bus of {', '.join(missing)}")
    elif rates and len(rates) == len(carriers.controllers):
        counted = Counter(rate for _, rate in rates if rate)
        total = sum(rate.value * count for rate, count in counted.items())
        told = " + ".join(f"{n} × {mb(rate.value)} {rate.name} ({rate.sum})" for rate, n in counted.items())
        yield through_host(Part("host bus", total, f"{told} = {mb(total)}"), carriers, direction)


def fc_channels(carriers: Carriers, unknown: list[str]) -> Iterator[Part]:
    """The host's Fibre Channel ports, where the path begins."""
    controllers = [one for one in carriers.controllers.values() if one.get("kind") == "fc"]
    if not controllers or len(controllers) < len(carriers.controllers):
        return
    parts = [_section(f"{one.get('ports') or ''}×{one.get('bus')}") for one in controllers]
    known = [part for part, one in zip(parts, controllers, strict=True) if part and one.get("ports")]
    if len(known) < len(controllers):
        unknown.append(f"the FC channels of {', '.join(str(one.get('name')) for one in controllers)}")
        return
    total = sum(value for value, _ in known)
    yield Part("FC channels", total, f"{' + '.join(text for _, text in known)} = {mb(total)}")


def sections(content: Content, unknown: list[str]) -> Iterator[Part]:
    """Each section of the one path to the disks; several paths stand side by side, each as wide as its narrowest section.
    Sections that labels tell of are bounds too.
    """
    ways = [[part for one in path["sections"] if (part := _of_section(one, unknown))] for path in _paths(content)]
    if len(ways) == 1:
        yield from ways[0]
    elif ways and all(ways):
        yield _side_by_side([min(way, key=lambda part: part.value) for way in ways])
    for name, told in sorted((content["target"].get("labels") or {}).items()):
        if name.startswith("path"):
            if found := _section(str(told)):
                yield Part(name, found[0], f"{found[1]} = {mb(found[0])}")
            else:
                unknown.append(f"{name}: {told}")


def _paths(content: Content) -> list[Content]:
    found: list[Content] = content.get("storage_paths") or []
    return [path for path in found if path["sections"]]


def _side_by_side(narrowest: list[Part]) -> Part:
    total = sum(part.value for part in narrowest)
    told = " + ".join(f"{mb(part.value)} ({part.name})" for part in narrowest)
    return Part("storage paths", total, f"{told} = {mb(total)}", "Of each path its narrowest section counts.")


def _of_section(section: Content, unknown: list[str]) -> Part | None:
    """By its links in use; by the printed bandwidth only where the kind of link is not known."""
    standby, in_use, printed = section.get("standby_count", 0), links_in_use(section), section.get("bytes_per_second")
    found = _section(f"{in_use} × {section.get('link', '')}") if section.get("link") else None
    if not found and not printed:
        unknown.append(f"what {section['name']} carries")
        return None
    why = f"{standby} more only stand{'s' * (standby == 1)} by." if standby else ""
    if not found:
        return Part(section["name"], float(printed or 0), f"{mb(printed or 0)} as printed", why)
    if printed and printed != found[0]:
        why = f"{why} Printed is {mb(printed)}; the links' own rate counts.".strip()
    return Part(section["name"], found[0], f"{found[1]} = {mb(found[0])}", why)


def _section(told: str) -> tuple[float, str] | None:
    """`4 × FC-2G`, `2 x 10 Gb/s`, `PCIe 3.0 x8`: bytes/s, and the product in words."""
    found = _SECTION.fullmatch(told.strip())
    if not found:
        return None
    count, link = int(found[1] or 1), found[2]
    rate = link_rate("FC", link) if _FC.search(link) else bus_rate(link) or rate_in_words(link)
    if rate is None or rate.is_guess:
        return None
    how = f" ({rate.sum})" if rate.sum else ""
    return count * rate.value, f"{count} × {mb(rate.value)} {rate.name}{how}"


def network(content: Content, unknown: list[str]) -> list[Part]:
    """Where the target lies behind one: its NIC and the cables to its peer, else what labels say of it."""
    if content.get("network"):
        return list(network_ways(content["network"], unknown))
    target, filesystem = content["target"], content.get("filesystem") or {}
    is_remote = target.get("kind") == "network" or filesystem.get("type") in NETWORK_FILESYSTEMS
    told = (target.get("labels") or {}).get("network") or (
        is_remote and (content["host"].get("labels") or {}).get("network")
    )
    if not told:
        if is_remote:
            unknown.append("how fast the network is")
        return []
    found = _section(str(told))
    if not found:
        unknown.append(f"network: {told}")
        return []
    return [Part("network", found[0], f"{found[1]} = {mb(found[0])}")]
