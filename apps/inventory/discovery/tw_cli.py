"""tw_cli of 3ware: `/cX show all`, `/cX show unitstatus`, `/cX show drivestatus`. Units over ports.

A unit's drives are those whose `Unit` column names it, in the order of their ports. `Size(GB)` and `931.51 GB` count in
1024; `Blocks` are sectors of 512 bytes. Which controller an `info c0 …` is about stands in the command only.
"""

import re
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
from apps.inventory.discovery.printed import whole
from apps.inventory.discovery.tool_text import contents, dictionary, interface_named, rows, size_of, state_of, told

TOOL = "tw_cli"
_STATES = (
    ("ok", "online"),
    ("verify", "online"),
    ("initializing", "online"),
    ("degraded", "failed"),
    ("rebuild", "rebuilding"),
    ("not-present", "missing"),
    ("error", "failed"),
)
_SPEEDS = {"2.5": "1.0", "5.0": "2.0", "8.0": "3.0"}
_WRITES = {"RiW": "write back", "RbW": "write back", "W": "write back", "ON": "write back", "Ri": "write through",
           "Rb": "write through", "OFF": "write through"}  # fmt: skip


def parse(printed: str) -> Cards:
    """Raises `UnreadableError` for what is no output of tw_cli."""
    found = Buildings(TOOL)
    number = 0
    for content in contents(TOOL, printed, ("tw_cli",)):
        for name, fields in list(dictionary(content["controllers"]).items())[:200]:
            if match := re.match(r"/c(\d{1,3})", str(name)):
                number = int(match[1])
                if "/" not in str(name)[1:]:
                    _about(found.card(number), dictionary(fields))
        for table in rows(content["tables"]):
            for row in rows(table["rows"]):
                _row(found.card(number), table["kind"], row)
    for card in found.by_number.values():
        _members(card)
    return Cards(found.done())


def _about(card: Building, fields: dict[str, Any]) -> None:
    lanes = re.match(r"\d{1,2}", told(fields.get("Controller Bus Width"), 20))
    speed = _SPEEDS.get(told(fields.get("Controller Bus Speed"), 30).split(" ")[0])
    is_express = told(fields.get("Controller Bus Type"), 20) == "PCIe"
    card.put(
        model=told(fields.get("Model")), vendor="3ware", serial=told(fields.get("Serial Number"), 120),
        firmware=told(fields.get("Firmware Version"), 60), cache_bytes=size_of(fields.get("Available Memory")),
        bus=f"PCIe {speed} x{lanes[0]}" if is_express and speed and lanes else told(fields.get("Controller Bus Type"), 20),
    )  # fmt: skip


def _row(card: Building, kind: str, row: dict[str, Any]) -> None:
    if kind == "Unit":
        _unit(card, row)
    elif kind in ("Port", "VPort"):
        _port(card, kind, row)
    elif kind == "Name" and row.get("BBUReady") is not None:
        card.put(cache_protection="battery", protection_state=told(row.get("Status"), 60))


def _unit(card: Building, row: dict[str, Any]) -> None:
    kind, number = told(row.get("UnitType"), 30), told(row.get("Unit"), 20)
    if not re.fullmatch(r"u\d{1,4}", number):
        return
    if kind == "SPARE":
        card.card.setdefault("spares", []).append(number)
        return
    card.volumes.put(
        number, level="jbod" if kind in ("JBOD", "SINGLE") else kind.replace("-", ""), state=state_of(row.get("Status")),
        chunk_size=size_of(f"{told(row.get('Stripe'), 20)}B"), write_policy=_WRITES.get(told(row.get("Cache"), 20), ""),
        capacity_bytes=size_of(f"{told(row.get('Size(GB)'), 20)} GB"), target=whole(number[1:]),
    )  # fmt: skip


def _port(card: Building, kind: str, row: dict[str, Any]) -> None:
    place, status = told(row.get(kind), 20), told(row.get("Status"), 40)
    if not re.fullmatch(r"p\d{1,4}", place) or status == "NOT-PRESENT":
        return
    blocks = whole(row.get("Blocks"))
    unit = told(row.get("Unit"), 20)
    card.drives.put(
        place, model=told(row.get("Model")), serial=told(row.get("Serial"), 80), interface=interface_named(row.get("Type")),
        capacity_bytes=blocks * 512 if blocks else size_of(row.get("Size")), slot=whole(place[1:]),
        state=next((name for word, name in _STATES if status.lower().startswith(word)), ""), volume=unit,
    )  # fmt: skip


def _members(card: Building) -> None:
    ports = sorted(card.drives.values.items(), key=lambda item: int(item[0][1:]))
    for place, values in ports:
        if values.get("volume") in card.card.get("spares", []) and values.get("state") == "online":
            card.drives.put(place, state="spare")
    for number in card.volumes.values:
        places = tuple(place for place, values in ports if values.get("volume") == number)
        if places:
            card.volumes.put(number, spans=(places,))
