"""omreport of Dell OpenManage: `storage controller`, `vdisk`, `pdisk controller=n`, `enclosure`, `battery`, with or without
`-fmt ssv`.

Which drives a virtual disk has is told only by `pdisk vdisk=n`, by the disk's name; without it a virtual disk has its
level and device, no members. Sizes are printed with their exact bytes. Drives are `0:1:3`: connector, enclosure, slot.
A controller is known by its slot; of several that are `Embedded`, the later ones by their name as well. Some versions put no
blank before the slot: `PERC H730P Mini(Embedded)`.
"""

import re
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
from apps.inventory.discovery.tool_text import (
    contents,
    generation_of,
    interface_named,
    is_ssd,
    rows,
    size_of,
    slot_number,
    state_of,
    told,
)

TOOL = "omreport"
_CARD = re.compile(r"Controller\s+(\S.{0,79}?) ?\((?:Slot )?(\w[\w ]{0,20})\)\s*$")
_BELONGING = "List of Physical Disks belonging to "
_STATES = {"online": "online", "ready": "unconfigured", "failed": "failed", "rebuilding": "rebuilding", "removed": "missing",
           "non-raid": "jbod", "foreign": "unconfigured", "offline": "failed", "missing": "missing"}  # fmt: skip
_NAMED = re.compile(r"PERC|SAS|BOSS|CERC|HBA|AHCI|MARVELL", re.IGNORECASE)


def parse(printed: str) -> Cards:
    """Raises `UnreadableError` for what is no output of omreport."""
    found = Buildings(TOOL)
    belonging: list[tuple[Building, str, list[dict[str, Any]]]] = []
    for content in contents(TOOL, printed, ("omreport",)):
        place = _CARD.search(told(content["title"]))
        for section in rows(content["sections"]):
            place = _CARD.search(told(section["title"])) or place
            card = _card(found, place[2].strip(), place[1]) if place else None
            for row in rows(section["rows"]):
                _row(card, found, row)
            name = told(section.get("above"), 120).removeprefix(_BELONGING)
            if card and name:
                belonging.append((card, name, rows(section["rows"])))
    for card, name, drives in belonging:
        _members(card, name, drives)
    return Cards(found.done())


def _card(found: Buildings, slot: str, model: str) -> Building:
    """Also `BOSS-S1 (Embedded)` beside `PERC H730P Mini (Embedded)`."""
    name, key = told(model), slot or "Embedded"
    card = found.card(key)
    if card.card.get("model", name) != name:
        card = found.card(f"{key} {name}")
    card.put(model=name, vendor="Dell")
    return card


def _row(card: Building | None, found: Buildings, row: dict[str, Any]) -> None:
    if "Cache Memory Size" in row or "Connectors" in row or "Number of Connectors" in row:
        slot = told(row.get("Slot ID"), 20).removeprefix("PCI Slot ").removeprefix("Slot ")
        _about(card or _card(found, slot, told(row.get("Name"))), row)
    elif card is None:
        return
    elif "Layout" in row:
        _volume(card, row)
    elif "Product ID" in row and "Capacity" in row:
        _drive(card, row)
    elif "Service Tag" in row and "Connector" in row:
        card.shelves.put(told(row.get("ID"), 20), model=told(row.get("Name"), 60), vendor="Dell")
    elif "Recharge Count" in row or "Learn State" in row:
        card.put(cache_protection="battery", protection_state=told(row.get("State"), 60))


def _members(card: Building, name: str, drives: list[dict[str, Any]]) -> None:
    """Where the name is that of one virtual disk of the controller."""
    numbers = [number for number, volume in card.volumes.values.items() if volume.get("name") == name]
    places = [
        told(row.get("ID"), 20) for row in drives if told(row.get("Hot Spare"), 20) not in ("Dedicated", "Global")
    ]
    if len(numbers) == 1 and any(places):
        card.volumes.put(numbers[0], spans=(tuple(filter(None, places)),))


def _about(card: Building, row: dict[str, Any]) -> None:
    memory = told(row.get("Cache Memory Size"), 40)
    card.put(
        model=told(row.get("Name")), vendor="Dell", firmware=told(row.get("Firmware Version"), 60), cache_bytes=size_of(memory),
        kind="raid" if "PERC" in told(row.get("Name")) else "hba", ports=slot_number(row.get("Number of Connectors")),
        has_no_cache=memory.startswith("0 "),
    )  # fmt: skip


def _volume(card: Building, row: dict[str, Any]) -> None:
    number = slot_number(row.get("ID"))
    if number is None:
        return
    card.volumes.put(
        f"v{number}", name=told(row.get("Name"), 60), level=told(row.get("Layout"), 20).replace("-", ""),
        capacity_bytes=size_of(row.get("Size")), device=told(row.get("Device Name"), 60), state=state_of(row.get("State")),
        chunk_size=size_of(row.get("Stripe Element Size") or row.get("Strip Element Size")), target=number,
        write_policy=told(row.get("Write Policy"), 40).lower(), read_policy=told(row.get("Read Policy"), 40).lower(),
    )  # fmt: skip


def _drive(card: Building, row: dict[str, Any]) -> None:
    place = told(row.get("ID"), 20)
    shelf, _, slot = place.rpartition(":")
    kind, spare = interface_named(row.get("Bus Protocol") or row.get("Type")), told(row.get("Hot Spare"), 20)
    block = size_of(row.get("Sector Size"))
    is_failing = told(row.get("Failure Predicted"), 10)
    card.drives.put(
        place, vendor=re.sub(r"\(tm\)$", "", told(row.get("Vendor ID"), 40)), model=told(row.get("Product ID")),
        serial=told(row.get("Serial No."), 80), firmware=told(row.get("Revision"), 60), interface=kind,
        generation=generation_of(kind, row.get("Capable Speed")), is_solid_state=is_ssd(row.get("Media")),
        capacity_bytes=size_of(row.get("Capacity")), logical_block_bytes=block, shelf=shelf, slot=slot_number(slot),
        state="spare" if spare in ("Dedicated", "Global") else _STATES.get(told(row.get("State"), 30).lower(), ""),
        health={"No": "passed", "Yes": "failed"}.get(is_failing, ""),
    )  # fmt: skip
