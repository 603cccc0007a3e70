"""lspci (`-D -vmm -nn -k`, also `-v`): the cards that carry storage or network, with model, maker and driver.

Without `-D` the domain 0000 is left out of an address. In `-v` maker and device are one name; what a subsystem is called
is the sold name (`PERC H310 Mini`), the device the maker's own (`MegaRAID SAS 2008`).
"""

import re
from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.tool_text import contents, dictionary, pci_of, rows, told

TOOL = "lspci"
MAX_DEVICES = 4096
_KINDS = (
    ("raid", r"raid"), ("nvme", r"non-volatile memory"), ("fc", r"fibre channel"), ("hba", r"sata|serial attached scsi|scsi storage"),
    ("ide", r"\bide\b"), ("network", r"ethernet|infiniband|network controller|fabric"),
)  # fmt: skip
_IDS = {
    "0104": "raid", "0108": "nvme", "0c04": "fc", "0106": "hba", "0107": "hba", "0100": "hba", "0101": "ide", "0200": "network", "0207": "network",
}  # fmt: skip
_MAKER = re.compile(
    r"(Broadcom / LSI|.{2,60}?(?:Corporation|Corp\.|Co\.,? Ltd\.?|, Inc\.?(?: \[[^\]]{1,20}\])?|Inc\.?|Ltd\.?|Technology|Technologies))\s+(.+)"
)


@dataclass(frozen=True)
class PciCard:
    """`kind`: raid, hba, nvme, fc, ide or network. `address`: 0000:03:00.0."""

    address: str
    kind: str
    vendor: str = ""
    model: str = ""
    sold_as: str = ""
    driver: str = ""


@dataclass(frozen=True)
class PciCards:
    cards: tuple[PciCard, ...]

    def by_address(self) -> dict[str, PciCard]:
        return {card.address: card for card in self.cards}


def parse(printed: str) -> PciCards:
    """Raises `UnreadableError` for what is no output of lspci."""
    devices = [one for content in contents(TOOL, printed, ("lspci",)) for one in rows(content.get("devices"))]
    found = (_card(one) for one in devices[:MAX_DEVICES])
    return PciCards(tuple({one.address: one for one in found if one}.values()))


def _card(device: dict[str, Any]) -> PciCard | None:
    address, kind = pci_of(device.get("slot")), _kind(device)
    if not address or not kind:
        return None
    details = dictionary(device.get("details"))
    vendor, model = told(device.get("vendor"), 120), told(device.get("device"))
    if not vendor and (match := _MAKER.fullmatch(told(device.get("name")))):
        vendor, model = match[1][:120], match[2]
    driver = told(device.get("driver") or details.get("Kernel driver in use"), 60)
    return PciCard(address, kind, vendor, model or told(device.get("name")), _sold(device, details), driver)


def _kind(device: dict[str, Any]) -> str:
    if known := _IDS.get(told(device.get("class_id"), 10)):
        return known
    name = told(device.get("class"), 80).lower()
    return next((kind for kind, pattern in _KINDS if re.search(pattern, name)), "")


def _sold(device: dict[str, Any], details: dict[str, Any]) -> str:
    name = " ".join(filter(None, (told(device.get("svendor"), 60), told(device.get("sdevice"), 90))))
    name = name or re.sub(r"\s*\[[0-9a-f:]{9}\]$", "", told(details.get("Subsystem"), 160))
    return "" if re.search(r"\bDevice\b|Subsystem", name) else name
