"""storcli and perccli (JSON or text): cards, drives with enclosure and slot, volumes with their spans.

`/cX show all` lists drives without serial numbers; `/cX/eALL/sALL show all` adds them. TOPOLOGY says which drive is in
which span (its `Arr`), `/cX/vALL show all` strip size, the NAA and the kernel's name. Sizes count in 1024. A card
without RAID (an HBA in IT mode) prints no TOPOLOGY; its drives belong to the kernel. storcli2 is turned into these words.
"""

import re
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
from apps.inventory.discovery.printed import whole
from apps.inventory.discovery.storcli2 import as_first, is_second
from apps.inventory.discovery.tool_text import (
    LONGEST,
    contents,
    dictionary,
    generation_of,
    interface_named,
    is_ssd,
    pci_of,
    rows,
    size_of,
    slot_number,
    slower,
    state_of,
    told,
    wwn_of,
)

TOOL = "storcli"
_STATES = {
    "onln": "online", "ghs": "spare", "dhs": "spare", "ugood": "unconfigured", "ubad": "failed", "offln": "failed",
    "failed": "failed", "rbld": "rebuilding", "msng": "missing", "jbod": "jbod", "conf": "online", "ugunsp": "unconfigured",
}  # fmt: skip
_HBA = re.compile(r"mpt|itsas|lsi_sas", re.IGNORECASE)
_DRIVE = re.compile(r"Drive /c\d{1,3}(?:/e(\d{1,5}))?/s(\d{1,5})")
_VOLUME = re.compile(r"/c\d{1,3}/v(\d{1,5})")
_PROPERTIES = re.compile(r"VD(\d{1,5}) Properties")
_MEMBERS = re.compile(r"PDs for VD (\d{1,5})")
_WRITE = (("AWB", "always write back"), ("FWB", "always write back"), ("WB", "write back"), ("WT", "write through"))


def parse(printed: str) -> Cards:
    """Raises `UnreadableError` for what is no output of these tools."""
    found = Buildings(TOOL)
    for content in contents(TOOL, printed, ("storcli_json", "storcli_text"), LONGEST):
        status, data = dictionary(content.get("Command Status")), dictionary(content.get("Response Data"))
        number = slot_number(status.get("Controller"))
        if number is not None and data:
            _read(found.card(number), as_first(data) if is_second(status) else data)
    return Cards(found.done())


def _read(card: Building, data: dict[str, Any]) -> None:
    _about(card, data)
    for place in _lists(data):
        for row in place:
            if "EID:Slt" in row:
                _drive(card, row)
            elif "DG/VD" in row:
                _volume(card, row)
    for key, value in list(data.items())[:20_000]:
        if match := _DRIVE.match(str(key)):
            _detailed(card, f"{match[1] or ''}:{match[2]}", dictionary(value))
        elif match := _PROPERTIES.match(str(key)):
            _properties(card, match[1], dictionary(value))
        elif match := _VOLUME.fullmatch(str(key)):
            _of_volume(card, match[1], rows(value))
        elif match := _MEMBERS.fullmatch(str(key)):
            _members(card, match[1], rows(value))
    _topology(card, data)
    for row in rows(data.get("Enclosure LIST")):
        name = f"{row.get('EID')}"
        card.shelves.put(told(name, 20), model=told(row.get("ProdID"), 120), slots=slot_number(row.get("Slots")))


def _lists(data: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The tables, wherever the command puts them."""
    found = [rows(value) for value in list(data.values())[:20_000]]
    inner = [rows(one) for value in list(data.values())[:200] for one in list(dictionary(value).values())[:20_000]]
    return found + inner


def _about(card: Building, data: dict[str, Any]) -> None:
    about = {
        **data,
        **{
            k: v
            for name in ("Basics", "Version", "HwCfg", "Bus", "HostInterface")
            for k, v in dictionary(data.get(name)).items()
        },
    }
    memory = told(about.get("On Board Memory Size"), 40)
    driver = told(about.get("Driver Name"), 60)
    personality = told(about.get("Controller Personality") or about.get("Current Personality"), 40)
    card.put(
        model=told(about.get("Product Name") or about.get("Model")), serial=told(about.get("Serial Number"), 120),
        firmware=told(about.get("FW Version") or about.get("Firmware Version"), 60), driver=driver,
        pci=pci_of(about.get("PCI Address")), kind="hba" if _HBA.match(driver) or "HBA" in personality.upper() else "",
        cache_bytes=size_of(memory), has_no_cache=bool(re.fullmatch(r"0 ?[KMG]?B", memory)),
        ports=slot_number(about.get("Backend Port Count")),
    )  # fmt: skip
    for name, protection in (("BBU_Info", "battery"), ("Cachevault_Info", "non-volatile")):
        for row in rows(data.get(name)):
            is_state = row.get("Property") == "State"  # `/c0/cv show all` has a row for each
            card.put(cache_protection=protection, protection_state=told(row.get("Value" if is_state else "State"), 60))
    if about.get("BBU") == "Absent" and "cache_protection" not in card.card:
        card.put(cache_protection="none")


def _drive(card: Building, row: dict[str, Any]) -> None:
    place = _place(row.get("EID:Slt"))
    shelf, _, slot = place.rpartition(":")
    kind = interface_named(row.get("Intf"))
    size = size_of(row.get("Size"))
    if slot_number(slot) is None or not size:
        return  # an empty optical drive has 0 KB
    state = _STATES.get(told(row.get("State"), 20).lower(), "")
    known = card.drives.of(place)
    card.drives.put(
        place, model=told(row.get("Model")) if not known.get("serial") else "", interface=kind, shelf=shelf.strip(),
        is_solid_state=is_ssd(row.get("Med")), slot=slot_number(slot), state=state,
        capacity_bytes=known.get("capacity_bytes") or size, logical_block_bytes=size_of(row.get("SeSz")),
    )  # fmt: skip
    if shelf.strip() and kind:
        card.shelves.put(shelf.strip())


def _detailed(card: Building, place: str, parts: dict[str, Any]) -> None:
    """`Drive /c0/e252/s0 - Detailed Information`: attributes under one key, state under another."""
    for key, value in list(parts.items())[:50]:
        fields = dictionary(value)
        if str(key).endswith("Device attributes"):
            kind = card.drives.of(place).get("interface", "")
            card.drives.put(
                place, vendor=_maker(fields.get("Manufacturer Id")), model=told(fields.get("Model Number")),
                serial=told(fields.get("SN"), 80), wwn=wwn_of(fields.get("WWN")),
                firmware=told(fields.get("Firmware Revision"), 60), capacity_bytes=size_of(fields.get("Raw size")),
                rpm=whole(fields.get("Hard Disk Drive RPM")) or None,
                generation=generation_of(kind, fields.get("Device Speed")),
                link_generation=slower(generation_of(kind, fields.get("Device Speed")), generation_of(kind, fields.get("Link Speed"))),
            )  # fmt: skip
        elif "S.M.A.R.T alert flagged by drive" in fields:
            flagged = told(fields["S.M.A.R.T alert flagged by drive"], 20)
            card.drives.put(place, health={"No": "passed", "Yes": "failed"}.get(flagged, ""))


def _maker(value: object) -> str:
    found = told(value, 40)
    return "" if found.upper() == "ATA" else found


def _volume(card: Building, row: dict[str, Any]) -> None:
    group, _, number = told(row.get("DG/VD"), 20).partition("/")
    if slot_number(number) is None:
        return
    cache = told(row.get("Cache"), 20)
    write = next((name for mark, name in _WRITE if mark in cache), "")
    read = "no read ahead" if cache.startswith("NR") else "read ahead" if cache.startswith("R") else ""
    card.volumes.put(
        f"v{int(number)}", name=told(row.get("Name"), 60), level=told(row.get("TYPE"), 20),
        capacity_bytes=size_of(row.get("Size")), state=state_of(row.get("State")), write_policy=write, read_policy=read,
        target=slot_number(number),
    )  # fmt: skip
    card.card.setdefault("groups", {})[f"v{int(number)}"] = group


def _of_volume(card: Building, number: str, table: list[dict[str, Any]]) -> None:
    for row in table:
        if "DG/VD" in row:
            _volume(card, row)


def _properties(card: Building, number: str, fields: dict[str, Any]) -> None:
    if f"v{int(number)}" not in card.volumes.values:
        return
    each, spans = slot_number(fields.get("Number of Drives Per Span")), slot_number(fields.get("Span Depth"))
    card.volumes.put(
        f"v{int(number)}", chunk_size=size_of(fields.get("Strip Size")), naa=wwn_of(fields.get("SCSI NAA Id")),
        device=told(fields.get("OS Drive Name"), 60), span_depth=spans, member_count=each * spans if each and spans else None,
    )  # fmt: skip


def _members(card: Building, number: str, table: list[dict[str, Any]]) -> None:
    """Which drives a volume has; in which span each is only TOPOLOGY tells, and it counts."""
    members = tuple(_place(row.get("EID:Slt")) for row in table if not _is_spare(row))
    if any(members) and not card.volumes.of(f"v{int(number)}").get("spans"):
        card.volumes.put(f"v{int(number)}", spans=(tuple(filter(None, members)),))


def _topology(card: Building, data: dict[str, Any]) -> None:
    """Which drive is in which span of which drive group; volumes of one group share its drives. A missing drive has its
    row, without a place, a dedicated spare one without a span.
    """
    spans: dict[str, dict[str, list[str]]] = {}
    spares: dict[str, list[str]] = {}
    for row in rows(data.get("TOPOLOGY")):
        group, place = f"{row.get('DG')}", _place(row.get("EID:Slot"))
        if told(row.get("Type"), 20) != "DRIVE":
            continue
        if _is_spare(row):
            spares.setdefault(group, []).append(place)
        else:
            spans.setdefault(group, {}).setdefault(f"{row.get('Arr')}", []).append(place)
    groups = dictionary(card.card.get("groups"))
    for number, group in groups.items():
        found = tuple(tuple(filter(None, places)) for places in spans.get(group, {}).values())
        card.volumes.put(
            number, spans=found if any(found) else (), shares_drives=list(groups.values()).count(group) > 1,
            spares=tuple(filter(None, spares.get(group, ()))), member_count=sum(map(len, spans.get(group, {}).values())) or None,
        )  # fmt: skip


def _place(value: object) -> str:
    return re.sub(r"\s", "", told(value, 40))


def _is_spare(row: dict[str, Any]) -> bool:
    return told(row.get("State"), 20) in ("DHS", "GHS")
