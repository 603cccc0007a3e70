"""storcli and perccli (JSON or text): cards, drives with enclosure and slot, volumes with their spans.

`/cX show all` lists drives without serial numbers; `/cX/eALL/sALL show all` adds them. TOPOLOGY says which drive is in
which span (its `Arr`), `/cX/vALL show all` strip size, the NAA and the kernel's name. Sizes count in 1024. A card
without RAID (an HBA in IT mode) prints no TOPOLOGY; its drives belong to the kernel. storcli2 is turned into these words.

storcli2 and perccli2 (8.x, for controllers with the mpi3mr driver) in the words of their first generation.

    268:2   259 Conf  Failed  0 893.75 GiB SAS  SSD Enterprise 512B KRM6VVUG960G     U            1 -

What differs: a drive's `State` says what it is there for and its `Status` how it is; the persistent id is `PID`, cache
policies are `CurrentCache` (`NR,WB`), a span is `Span`; `show all` of volumes nests `VD Info`, `PDs` and `VD
Properties`, that of drives a `Drives List`. Sizes are printed in GiB and TiB.
"""

import re
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
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
from apps.inventory.discovery.tool_values import whole
from apps.inventory.discovery.tools.storcli import json
from apps.inventory.discovery.tools.storcli import text as printed_text

_SECOND_STATES = (("UConf", "UGood"), ("Conf", "Onln"), ("JBOD", "JBOD"), ("GHS", "GHS"), ("DHS", "DHS"))
_SECOND_STATUSES = {
    "failed": "Failed", "fail": "Failed", "bad": "UBad", "unusable": "UBad", "offline": "Offln", "missing": "Msng",
    "rebuild": "Rbld",
}  # fmt: skip
_NUMBER = re.compile(r"\d{1,5}/(\d{1,5})")
_PLACE = re.compile(r"(\d{0,5}) ?:(\d{1,5})")


def is_second(status: dict[str, Any]) -> bool:
    """Return whether storcli2 printed it, going by the version in the output; the first generation ends with 7.x."""
    return bool(re.match(r"00[89]\.", told(status.get("CLI Version"), 60)))


def as_first(data: dict[str, Any]) -> dict[str, Any]:
    """Return storcli2's `Response Data` as storcli 7.x would have printed it."""
    found = {key: _second_table(value) if isinstance(value, list) else value for key, value in data.items()}
    found["Enclosure LIST"] = found.get("Enclosure List") or found.get("Enclosure LIST")
    found["Cachevault_Info"], found["BBU_Info"] = _packs(data)
    for volume in rows(data.get("Virtual Drives")):
        found |= _second_volume(volume)
    for drive in rows(data.get("Drives List")):
        found |= _second_drive(drive)
    for key, value in data.items():
        if re.fullmatch(r"VD\d{1,5} Properties", key):
            found[key] = _second_properties(dictionary(value))
    hardware = dictionary(data.get("HwCfg"))
    if size := hardware.get("DDR Memory Size(MiB)"):
        found["HwCfg"] = {**hardware, "On Board Memory Size": f"{size} MiB"}
    return found


def _second_table(table: list[Any]) -> list[dict[str, Any]]:
    return [_second_row(row) for row in rows(table)]


def _second_row(row: dict[str, Any]) -> dict[str, Any]:
    if "EID:Slt" in row:
        return {**row, "State": _second_state(row)}
    if "DG/VD" in row:
        return {**row, "Cache": told(row.get("CurrentCache"), 20).replace(",", "")}
    if "Span" in row:  # of TOPOLOGY, where only drives have a status
        is_drive = told(row.get("Type"), 20) == "DRIVE"
        return {**row, "Arr": row["Span"], "DID": row.get("PID")} | ({"State": _second_state(row)} if is_drive else {})
    return row


def _second_state(row: dict[str, Any]) -> str:
    state, status = told(row.get("State"), 20), told(row.get("Status"), 20).lower()
    return _SECOND_STATUSES.get(status) or next((known for word, known in _SECOND_STATES if state.startswith(word)), "")


def _packs(data: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the energy packs with capacitors, which write the cache to flash, and the batteries."""
    packs = [{**row, "State": row.get("Status")} for row in rows(data.get("Energy Pack Info"))]
    batteries = [row for row in packs if "batt" in told(row.get("Type"), 40).lower()]
    return [row for row in packs if row not in batteries], batteries


def _second_volume(volume: dict[str, Any]) -> dict[str, Any]:
    info = dictionary(volume.get("VD Info"))
    match = _NUMBER.fullmatch(told(info.get("DG/VD"), 20))
    if not match:
        return {}
    return {
        f"/c0/v{match[1]}": [_second_row(info)],
        f"PDs for VD {match[1]}": [_second_row(row) for row in rows(volume.get("PDs"))],
        f"VD{match[1]} Properties": _second_properties(dictionary(volume.get("VD Properties"))),
    }


def _second_properties(fields: dict[str, Any]) -> dict[str, Any]:
    """Add the number of drives per span if there is one span; `Number of Drives` is that of the whole volume."""
    is_plain = f"{fields.get('Span Depth')}" == "1"
    return {**fields, "Number of Drives Per Span": fields.get("Number of Drives") if is_plain else None}


def _second_drive(drive: dict[str, Any]) -> dict[str, Any]:
    row, more = dictionary(drive.get("Drive Information")), dictionary(drive.get("Drive Detailed Information"))
    match = _PLACE.fullmatch(told(row.get("EID:Slt"), 20))
    if not match:
        return {}
    name = f"Drive /c0/e{match[1]}/s{match[2]}" if match[1] else f"Drive /c0/s{match[2]}"
    link = next(iter(rows(more.get("Path Information"))), {}).get("Negotiated Speed")
    attributes = {
        "SN": more.get("Serial Number"), "Manufacturer Id": more.get("Vendor"), "Model Number": more.get("Model"),
        "WWN": more.get("WWN"), "Firmware Revision": more.get("Firmware Revision Level"), "Raw size": more.get("Raw size"),
        "Device Speed": more.get("Capable Speed"), "Link Speed": link, "Hard Disk Drive RPM": more.get("Hard Disk Drive RPM"),
    }  # fmt: skip
    return {name: [_second_row(row)], f"{name} - Detailed Information": {f"{name} Device attributes": attributes}}


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


def discover(printed: str) -> Cards:
    """Parse the output of storcli, storcli2 or perccli, JSON or text.

    Raises:
        UnreadableError: for text that is not output of these tools.
    """
    found = Buildings(TOOL)
    for content in contents(TOOL, printed, (json.parse, printed_text.parse), LONGEST):
        status, data = dictionary(content.get("Command Status")), dictionary(content.get("Response Data"))
        number = slot_number(status.get("Controller"))
        if number is not None and data:
            _read(found.card(number), as_first(data) if is_second(status) else data)
    for card in found.by_number.values():
        _groups(card)
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
    """Return the tables, wherever the command puts them."""
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
    """Read `Drive /c0/e252/s0 - Detailed Information`, which has attributes under one key and state under another."""
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
    """Set the drives of a volume unless TOPOLOGY, which alone tells their spans, has set them."""
    members = tuple(_place(row.get("EID:Slt")) for row in table if not _is_spare(row))
    if any(members) and not card.volumes.of(f"v{int(number)}").get("spans"):
        card.volumes.put(f"v{int(number)}", spans=(tuple(filter(None, members)),))


def _topology(card: Building, data: dict[str, Any]) -> None:
    """Set which drive is in which span of which drive group; volumes of one group share its drives.

    A missing drive has its row without a place, a dedicated spare one without a span.
    """
    spans: dict[str, dict[str, list[str]]] = {}
    spares: dict[str, list[str]] = {}
    for row in rows(data.get("TOPOLOGY")):
        group, place = f"{row.get('DG')}", _place(row.get("EID:Slot"))
        if told(row.get("Type"), 20) != "DRIVE":
            _drive_group(card, group, row)
            continue
        _drive_of_topology(card, place, row)
        if _is_spare(row):
            spares.setdefault(group, []).append(place)
        else:
            spans.setdefault(group, {}).setdefault(f"{row.get('Arr')}", []).append(place)
    for group, parts in spans.items():
        if group in (known := card.card.setdefault("drive groups", {})):
            known[group]["spans"] = tuple(tuple(filter(None, places)) for places in parts.values())
            known[group]["spares"] = tuple(filter(None, spares.get(group, ())))
            known[group]["member_count"] = sum(map(len, parts.values()))
    groups = dictionary(card.card.get("groups"))
    for number, group in groups.items():
        found = tuple(tuple(filter(None, places)) for places in spans.get(group, {}).values())
        card.volumes.put(
            number, spans=found if any(found) else (), shares_drives=list(groups.values()).count(group) > 1,
            spares=tuple(filter(None, spares.get(group, ()))), member_count=sum(map(len, spans.get(group, {}).values())) or None,
        )  # fmt: skip


def _drive_group(card: Building, group: str, row: dict[str, Any]) -> None:
    """Note the level, size and state of a drive group, from the row above those of its spans and drives."""
    if slot_number(group) is not None and f"{row.get('Arr')}" == "-":
        card.card.setdefault("drive groups", {})[group] = {
            "level": told(row.get("Type"), 20), "capacity_bytes": size_of(row.get("Size")), "state": state_of(row.get("State")),
        }  # fmt: skip


def _drive_of_topology(card: Building, place: str, row: dict[str, Any]) -> None:
    """Add a drive of which TOPOLOGY tells the place, size and state, as the list of drives may not have been copied."""
    shelf, _, slot = place.rpartition(":")
    size = size_of(row.get("Size"))
    if slot_number(slot) is None or not size:
        return
    known = card.drives.of(place)
    state = _STATES.get(told(row.get("State"), 20).lower(), "")
    card.drives.put(
        place, shelf=shelf, slot=slot_number(slot), state=known.get("state") or state, capacity_bytes=known.get("capacity_bytes") or size
    )  # fmt: skip


def _groups(card: Building) -> None:
    """Add a volume for each drive group of which no volume was listed; with one, it is known what is on the group."""
    listed = set(dictionary(card.card.get("groups")).values())
    for group, values in dictionary(card.card.get("drive groups")).items():
        if group not in listed and values.get("spans") and card.card.get("kind") != "hba":
            card.volumes.put(f"dg{group}", **values)
    groups = dictionary(card.card.get("groups"))
    for number, group in groups.items():
        is_shared = list(groups.values()).count(group) > 1
        if not card.volumes.of(number).get("spans"):  # the topology may have been copied before the volumes
            parts = dictionary(card.card.get("drive groups")).get(group, {})
            places = {name: parts.get(name) for name in ("spans", "spares", "member_count")}
            card.volumes.put(number, shares_drives=is_shared, **places)
        card.volumes.put(number, former="" if is_shared else f"dg{group}")


def _place(value: object) -> str:
    return re.sub(r"\s", "", told(value, 40))


def _is_spare(row: dict[str, Any]) -> bool:
    return told(row.get("State"), 20) in ("DHS", "GHS")
