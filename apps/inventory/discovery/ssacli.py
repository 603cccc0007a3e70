"""ssacli, hpssacli, hpacucli: `ctrl all show config detail`. Controllers with arrays, logical and physical drives.

A drive is `1I:1:2` (port, box, bay). A logical drive takes all data drives of its array, in the printed order;
the parity groups of a RAID 50 or 60 are counted. New versions count sizes in 1000, old ones too where
they print `GB`; none tells.
"""

import re
from collections.abc import Iterator
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
from apps.inventory.discovery.tool_text import (
    contents,
    dictionary,
    drives_wwn_of,
    generation_of,
    interface_named,
    is_ssd,
    pci_of,
    rows,
    size_of,
    slot_number,
    state_of,
    told,
    wwn_of,
)

TOOL = "ssacli"
_HEAD = re.compile(r"(.*?) in (?:Slot (\w+)|(.*?))(?: \(.*)?")
_STATES = (("fail", "failed"), ("rebuild", "rebuilding"), ("missing", "missing"))
_ROLES = (("spare", "spare"), ("unassigned", "unconfigured"), ("hba mode", "jbod"))
_LEVEL = re.compile(r"(?:raid)?(0|1\+0|10|1|50|5|60|6|adg)(?:\(?(?:adg|adm|triple)\)?)?")
_LEVELS = {"1+0": "RAID10", "adg": "RAID6"}
_SERIAL = re.compile(r"\(sn: ([^()]{1,60})\)")
_ARRAY = re.compile(r"[Aa]rray:? (\w+)(?: \(.*)?")
_CAGE = re.compile(r"(?:Internal|External) Drive Cage at Port (\w+), Box (\d+)")


def parse(printed: str) -> Cards:
    """Raises `UnreadableError` for what is no output of these tools."""
    found = Buildings(TOOL)
    for content in contents(TOOL, printed, ("ssacli",)):
        head = _HEAD.fullmatch(told(content["title"]))
        if head:
            card = found.card(head[2] or told(head[3], 15))
            _about(card, told(head[1]), dictionary(content["fields"]), _is_hba(content))
            if serial := _SERIAL.search(content["title"]):
                card.put(serial=told(serial[1], 60))
            _parts(card, content)
    return Cards(found.done())


def _is_hba(content: dict[str, Any]) -> bool:
    """Also by its drives, where it has no arrays beside them."""
    titles = [part["title"] for part in content["parts"]]
    return "HBA Mode" in content["title"] or ("HBA Drives" in titles and not any(map(_ARRAY.fullmatch, titles)))


def _about(card: Building, model: str, fields: dict[str, Any], is_hba: bool) -> None:
    size = told(fields.get("Total Cache Size"), 40)
    source = told(fields.get("Cache Backup Power Source"), 40).lower()
    board = told(fields.get("Cache Board Present"), 20)
    card.put(
        model=model, vendor="HPE" if model.startswith("HPE") else "HP", serial=told(fields.get("Serial Number"), 120),
        kind="hba" if is_hba else "", firmware=told(fields.get("Firmware Version"), 60),
        driver=told(fields.get("Driver Name"), 60), has_no_cache=board == "False",
        pci=pci_of(fields.get("PCI Address (Domain:Bus:Device.Function)")),
        bus=told(fields.get("Negotiated PCIe Data Rate"), 60).split(" (")[0],
        cache_bytes=size_of(f"{size} GB" if re.fullmatch(r"[\d.]+", size) else size),
        cache_protection="battery" if "batter" in source else "non-volatile" if "capacitor" in source else "",
        protection_state=told(fields.get("Battery/Capacitor Status"), 60),
    )  # fmt: skip


def _parts(card: Building, content: dict[str, Any]) -> None:
    for node, array in _nodes(content):
        fields = dictionary(node["fields"])
        if cage := _CAGE.match(node["title"]):
            card.shelves.put(f"{cage[1]}:{cage[2]}", slots=slot_number(fields.get("Drive Bays")))
        elif node.get("kind", "").lower() in ("physicaldrive", "ssdphysicaldrive"):
            _drive(card, node, fields, array)
        elif node.get("kind") == "logicaldrive":
            words = [told(word, 60) for word in node.get("words", [])]
            _volume(card, told(node["name"], 20), {"Size": (words + [""])[0], "Fault Tolerance": (words + ["", ""])[1].removeprefix("RAID "),
                                                 "Status": words[2] if len(words) > 2 else ""}, array)  # fmt: skip
        elif node["title"].startswith("Logical Drive: "):
            _volume(card, told(node["title"].removeprefix("Logical Drive: "), 20), fields, array)
    _spans(card)


def _nodes(top: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each node with the name of the array that it is in."""
    waiting = [(top, "")]
    while waiting:
        node, array = waiting.pop()
        named = _ARRAY.fullmatch(str(node["title"]))
        inside = named[1] if named else "" if node["title"] in ("Unassigned", "unassigned") else array
        yield node, inside
        waiting.extend((part, inside) for part in reversed(rows(node["parts"])))


def _drive(card: Building, node: dict[str, Any], fields: dict[str, Any], array: str) -> None:
    place, words = told(node["name"], 40), [told(word, 60) for word in node.get("words", [])]
    interface = told(fields.get("Interface Type") or (words[1] if len(words) > 1 else ""), 60)
    kind, status = interface_named(interface), told(fields.get("Status") or (words[3] if len(words) > 3 else ""), 60)
    maker, _, model = re.sub(r"\s+", " ", str(fields.get("Model", ""))[:200]).strip().partition(" ")
    role = told(fields.get("Drive Type"), 40).lower() + " ".join(words[4:]).lower()
    port, box = told(fields.get("Port"), 10) or place.split(":")[0], told(fields.get("Box"), 10)
    shelf = f"{port}:{box}" if box else place.rpartition(":")[0]
    is_predicted = "predictive" in status.lower()  # it still works
    state = next((name for word, name in _STATES if word in status.lower() and not is_predicted), "")
    rate = fields.get("PHY Maximum Link Rate") or fields.get("PHY Transfer Rate")
    blocks = told(fields.get("Logical/Physical Block Size") or fields.get("Native Block Size"), 20).partition("/")[0]
    card.drives.put(
        place, vendor="" if maker == "ATA" else told(maker, 40), model=told(model), serial=told(fields.get("Serial Number"), 80),
        wwn=drives_wwn_of(fields.get("WWID")), firmware=told(fields.get("Firmware Revision"), 60), interface=kind,
        generation=generation_of(kind, rate), is_solid_state=is_ssd(interface), rpm=_whole(fields.get("Rotational Speed")),
        capacity_bytes=size_of(fields.get("Size") or (words[2] if len(words) > 2 else ""), 1000),
        logical_block_bytes=_whole(blocks), shelf=shelf, slot=slot_number(fields.get("Bay") or place.rpartition(":")[2]),
        state=state or next((name for word, name in _ROLES if word in role), "online" if array else ""),
        health={"OK": "passed"}.get(status, "failed" if state == "failed" or is_predicted else ""), volume=array,
    )  # fmt: skip


def _whole(value: object) -> int | None:
    shown = told(value, 20)
    return int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 10 else None


def _volume(card: Building, number: str, fields: dict[str, Any], array: str) -> None:
    caching = told(fields.get("Caching"), 20)
    card.volumes.put(
        f"v{number}", level=_level(told(fields.get("Fault Tolerance"), 40)),
        name=told(fields.get("Logical Drive Label"), 60), capacity_bytes=size_of(fields.get("Size"), 1024),
        chunk_size=size_of(fields.get("Strip Size")), state=state_of(fields.get("Status")),
        naa=wwn_of(fields.get("Unique Identifier")), device=told(fields.get("Disk Name"), 60),
        write_policy={"Enabled": "write back", "Disabled": "write through"}.get(caching, ""),
        span_depth=sum(name.startswith("Parity Group ") for name in fields) or None,
    )  # fmt: skip
    if array:
        card.card.setdefault("arrays", {}).setdefault(array, []).append(f"v{number}")


def _level(tolerance: str) -> str:
    """`1`, `RAID 1+0`, `6 (ADG)`; three copies (`1ADM`, `1 (Triple)`) are of the level of two."""
    match = _LEVEL.fullmatch(tolerance.lower().replace(" ", ""))
    return _LEVELS.get(match[1], f"RAID{match[1]}") if match else ""


def _spans(card: Building) -> None:
    for array, numbers in dictionary(card.card.get("arrays")).items():
        members = [(place, one.get("state")) for place, one in card.drives.values.items() if one.get("volume") == array]
        data = tuple(place for place, state in members if state != "spare")
        spares = tuple(place for place, state in members if state == "spare")
        for number in dict.fromkeys(numbers):
            card.volumes.put(number, spans=(data,) if data else (), spares=spares, shares_drives=len(set(numbers)) > 1)
