"""`sysfs`: the agent's own JSON of what the kernel's device tree says and no tool prints.

    {"block": {"sda": "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda"}, "nvme": {"nvme0": "…"},
     "net": {"eth0": {"path": "…", "driver": "ixgbe", "speed": 10000, "mtu": 1500, "address": "…"}},
     "pci": {"0000:00:1f.2": {"driver": "ahci", "speed": "8.0 GT/s PCIe", "width": "8"}},
     "enclosures": {"0:0:12:0": {"vendor": "…", "model": "…", "slots": {"Slot 01": {"slot": 1, "disk": "sda"}}}}}

Speeds of NICs are in Mb/s, -1 where there is no link; those of PCI cards are what the link runs at now.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from apps.inventory.discovery.tool_text import dictionary, pci_of, slot_number, told
from apps.inventory.discovery.tool_values import json_object, name, text, whole

TOOL = "sysfs"
MAX_THINGS = 8192
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_GENERATIONS = {
    "2.5": "1.0",
    "5.0": "2.0",
    "5": "2.0",
    "8.0": "3.0",
    "8": "3.0",
    "16.0": "4.0",
    "16": "4.0",
    "32.0": "5.0",
    "64.0": "6.0",
}


@dataclass(frozen=True)
class Seat:
    """A slot of an enclosure that the kernel knows through SES."""

    enclosure: str
    slot: int


@dataclass(frozen=True)
class Housing:
    name: str
    vendor: str = ""
    model: str = ""
    slots: int = 0


@dataclass(frozen=True)
class Port:
    """A network interface with a device behind it."""

    name: str
    pci: str = ""
    driver: str = ""
    bits_per_second: int | None = None
    mtu: int | None = None
    mac: str = ""


@dataclass(frozen=True)
class DeviceTree:
    """The device tree.

    `pci_of` maps the kernel name of a disk, or nvme0, to its PCI function; `buses` maps a PCI function to `PCIe 3.0
    x8`.
    """

    pci_of: dict[str, str] = field(default_factory=dict)
    buses: dict[str, str] = field(default_factory=dict)
    drivers: dict[str, str] = field(default_factory=dict)
    ports: tuple[Port, ...] = ()
    housings: tuple[Housing, ...] = ()
    seats: dict[str, Seat] = field(default_factory=dict)


def discover(printed: str) -> DeviceTree:
    found = json_object(TOOL, printed)
    paths = {**_items(found, "block"), **_items(found, "nvme")}
    cards = {pci_of(key): dictionary(value) for key, value in _items(found, "pci").items() if pci_of(key)}
    housings, seats = _enclosures(_items(found, "enclosures"))
    return DeviceTree(
        pci_of={name(key, 60): pci for key, value in paths.items() if (pci := last_pci(value))},
        buses={key: bus for key, value in cards.items() if (bus := _bus(value))},
        drivers={key: told(value.get("driver"), 60) for key, value in cards.items()},
        ports=tuple(port for key, value in _items(found, "net").items() if (port := _port(key, dictionary(value)))),
        housings=housings, seats=seats,
    )  # fmt: skip


def _items(found: dict[str, Any], key: str) -> dict[str, Any]:
    return dict(list(dictionary(found.get(key)).items())[:MAX_THINGS])


def last_pci(path: object) -> str:
    """Return the PCI address nearest to the device in a sysfs path; those before it are bridges. '' without one."""
    found = list(_PCI.finditer(text(path, 1000)))
    return found[-1][0] if found else ""


def _bus(card: dict[str, Any]) -> str:
    speed = text(card.get("speed"), 40).split(" ")[0]
    width = whole(card.get("width"))
    generation = _GENERATIONS.get(speed)
    return f"PCIe {generation} x{width}" if generation and width and width <= 32 else ""


def _port(key: str, value: dict[str, Any]) -> Port | None:
    label, path = name(key, 60), text(value.get("path"), 1000)
    if not label or not path or "/virtual/" in path:
        return None
    speed, mtu = whole(value.get("speed")), whole(value.get("mtu"))
    return Port(
        label, last_pci(path), told(value.get("driver"), 60), speed * 10**6 if speed and speed < 10**7 else None,
        mtu if mtu and mtu < 2**20 else None, name(value.get("address"), 40),
    )  # fmt: skip


def _enclosures(found: dict[str, Any]) -> tuple[tuple[Housing, ...], dict[str, Seat]]:
    housings, seats = [], {}
    for key, value in list(found.items())[:256]:
        slots = dictionary(dictionary(value).get("slots"))
        label = f"enclosure {name(key, 40)}"
        for one in list(slots.values())[:1024]:
            number, disk = slot_number(dictionary(one).get("slot")), name(dictionary(one).get("disk"), 60)
            if disk and number is not None:
                seats[disk] = Seat(label, number)
        housings.append(
            Housing(
                label,
                told(dictionary(value).get("vendor"), 120),
                told(dictionary(value).get("model")),
                min(len(slots), 1024),
            )
        )
    return tuple(housings), seats
