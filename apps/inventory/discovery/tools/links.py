"""`ip -j -d link`: network interfaces with their MTU and MAC. Bridges, VLANs, tunnels and containers' ends are passed over.

    [{"ifname": "eth0", "mtu": 1500, "link_type": "ether", "address": "…", "parentbus": "pci", "parentdev": "0000:03:00.0"}]

`linkinfo.info_kind` names what is made in software; a NIC has none. Iproute2 before 5.13 prints no parent.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.tool_text import dictionary, pci_of, rows
from apps.inventory.discovery.tool_values import UnreadableError, name, whole

TOOL = "ip"
MAX_LINKS = 4096


@dataclass(frozen=True)
class IpLink:
    name: str
    mtu: int | None = None
    mac: str = ""
    pci: str = ""


@dataclass(frozen=True)
class Links:
    links: tuple[IpLink, ...]


def discover(printed: str) -> Links:
    start = printed.find("[")
    try:
        found = json.JSONDecoder(parse_constant=lambda _: None, parse_int=whole).raw_decode(printed, max(start, 0))[0]
    except (json.JSONDecodeError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise UnreadableError(TOOL, printed[:80], "a JSON list of links", 1)
    return Links(tuple(link for one in rows(found, MAX_LINKS) if (link := _link(one))))


def _link(one: dict[str, Any]) -> IpLink | None:
    label = name(one.get("ifname"), 60)
    if (
        not label
        or one.get("link_type") not in ("ether", "infiniband")
        or dictionary(one.get("linkinfo")).get("info_kind")
    ):
        return None
    mtu, mac = whole(one.get("mtu")), name(one.get("address"), 80)
    is_mac = re.fullmatch(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5,19}", mac)
    return IpLink(label, mtu if mtu and mtu < 2**20 else None, mac[:40] if is_mac else "", pci_of(one.get("parentdev")))
