"""MegaCli: `-LDPDInfo`, `-PDList`, `-LDInfo`, `-AdpAllInfo`, `-AdpBbuCmd`.

A level is `Primary-5, Secondary-0, RAID Level Qualifier-3`; several spans of one are 10, 50 or 60. `Inquiry Data` of a
SATA drive is serial, model and firmware in one line: 20, 40 and 8 characters, blanks at the ends lost. Sizes count in 1024.
"""

import re
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
from apps.inventory.discovery.tool_text import (
    contents,
    dictionary,
    generation_of,
    interface_named,
    is_ssd,
    rows,
    size_of,
    slot_number,
    slower,
    state_of,
    told,
    wwn_of,
)

TOOL = "megacli"
_PRIMARY = re.compile(r"Primary-(\d), Secondary-(\d)")
_POSITION = re.compile(r"DiskGroup: (\d{1,4}), Span: (\d{1,3}), Arm: (\d{1,3})")
_LONGEST_SCSI, _WHOLE_SATA = 48, 68  # characters of an inquiry
_SCSI_LENGTHS = (36, 44, 48)  # with serial numbers of 8, 16 and 20
_STATES = (("online", "online"), ("hotspare", "spare"), ("rebuild", "rebuilding"), ("fail", "failed"), ("unconfigured(bad", "failed"),
           ("offline", "failed"), ("unconfigured", "unconfigured"), ("jbod", "jbod"), ("missing", "missing"))  # fmt: skip


def parse(printed: str) -> Cards:
    """Raises `UnreadableError` for what is no output of MegaCli."""
    found = Buildings(TOOL)
    for content in contents(TOOL, printed, ("megacli",)):
        card = found.card(content["adapter"] if content["adapter"] is not None else 0)
        _about(card, dictionary(content["fields"]))
        for volume in rows(content["virtual_drives"]):
            _volume(card, volume)
        for drive in rows(content["physical_drives"]):
            _drive(card, drive)
    for card in found.by_number.values():
        _spans(card)
    return Cards(found.done())


def _about(card: Building, fields: dict[str, Any]) -> None:
    memory = told(fields.get("Memory Size"), 40)
    card.put(
        model=told(fields.get("Product Name")), serial=told(fields.get("Serial No"), 120), cache_bytes=size_of(memory),
        firmware=told(fields.get("FW Version"), 60), has_no_cache=memory == "0MB",
        cache_protection={"Present": "battery", "Absent": "none"}.get(told(fields.get("BBU"), 20), ""),
        ports=slot_number(fields.get("Backend Port Count")),
    )  # fmt: skip
    if "Battery State" in fields or "BatteryType" in fields:
        kind = "non-volatile" if "CVPM" in told(fields.get("BatteryType"), 40) else "battery"
        card.put(cache_protection=kind, protection_state=told(fields.get("Battery State"), 60))


def _volume(card: Building, fields: dict[str, Any]) -> None:
    number = slot_number(fields.get("Virtual Drive"))
    policy = told(fields.get("Current Cache Policy"), 200)
    spans = slot_number(fields.get("Span Depth"))
    count = _count(fields, spans)
    primary = _PRIMARY.search(told(fields.get("RAID Level"), 120))
    level = primary[1] if primary else ""
    is_spanned = (spans or 0) > 1 or (primary is not None and primary[2] == "3") or _mirrors_pairs(level, count)
    card.volumes.put(
        f"v{number}", name=told(fields.get("Name"), 60), target=slot_number(fields.get("Target Id")),
        level=f"RAID{level}0" if is_spanned and level in ("1", "5", "6") else f"RAID{level}" if level else "",
        chunk_size=size_of(fields.get("Strip Size") or fields.get("Stripe Size")), member_count=count, span_depth=spans,
        capacity_bytes=size_of(fields.get("Size")), state=state_of(fields.get("State")),
        write_policy=_policy(policy, (("WriteBack", "write back"), ("WriteThrough", "write through"))),
        read_policy=_policy(policy, (("ReadAheadNone", "no read ahead"), ("ReadAd", "adaptive read ahead"), ("ReadAhead", "read ahead"))),
    )  # fmt: skip


def _count(fields: dict[str, Any], spans: int | None) -> int | None:
    """Old versions leave out `per span`, and count those of a span all the same: six drives of 500 GB are 2, `Span Depth:3`, 1.4 TB."""
    each = slot_number(fields.get("Number Of Drives per span"))
    count = slot_number(fields.get("Number Of Drives"))
    if each is None:
        return count * max(spans or 1, 1) if count else None
    return each * spans if each and spans else None


def _mirrors_pairs(level: str, count: int | None) -> bool:
    """What these controllers call RAID 1 of more than two drives is pairs in a stripe: eight drives of 960 GB give 3.84 TB."""
    return level == "1" and (count or 0) > 2


def _policy(printed: str, words: tuple[tuple[str, str], ...]) -> str:
    return next((name for word, name in words if word in printed), "")


def _drive(card: Building, fields: dict[str, Any]) -> None:
    slot, shelf = slot_number(fields.get("Slot Number")), told(fields.get("Enclosure Device ID"), 20)
    if slot is None:
        return
    place, kind = f"{shelf}:{slot}", interface_named(fields.get("PD Type"))
    printed = told(fields.get("Firmware state"), 60)
    state = next((name for word, name in _STATES if word in printed.lower()), "")
    vendor, model, serial, firmware = _inquiry(kind, fields.get("Inquiry Data"))
    volume = slot_number(fields.get("Virtual Drive"))
    card.drives.put(
        place, vendor=vendor, model=model, serial=serial, firmware=told(fields.get("Device Firmware Level"), 60) or firmware,
        wwn=wwn_of(fields.get("WWN")), interface=kind, generation=generation_of(kind, fields.get("Device Speed")),
                link_generation=slower(generation_of(kind, fields.get("Device Speed")), generation_of(kind, fields.get("Link Speed"))),
        is_solid_state=is_ssd(fields.get("Media Type")), capacity_bytes=size_of(fields.get("Raw Size")), shelf=shelf,
        slot=slot, state=state, volume=f"v{volume}" if volume is not None else "",
        health={"No": "passed", "Yes": "failed"}.get(told(fields.get("Drive has flagged a S.M.A.R.T alert"), 10), ""),
    )  # fmt: skip
    if shelf:
        card.shelves.put(shelf)
    if match := _POSITION.search(told(fields.get("Drive's position") or fields.get("Drive's postion"), 80)):
        card.card.setdefault("positions", {})[place] = tuple(map(int, match.groups()))


def _inquiry(kind: str, value: object) -> tuple[str, str, str, str]:
    """(vendor, model, serial, firmware). SAS: vendor 8, model 16, firmware 4, serial; SATA: serial, model, firmware. Old
    versions do not tell which it is: the latter is longer.
    """
    line = str(value if isinstance(value, str) else "")[:200].strip()
    is_scsi = kind == "SAS" or (not kind and len(line) <= _LONGEST_SCSI)
    vendor, model, firmware, serial = line[:8].strip(), line[8:24].strip(), line[24:28], line[28:].strip()
    has_columns = "  " in line or " " not in f"{vendor}{model}" or len(line) in _SCSI_LENGTHS
    if is_scsi and has_columns and serial and " " not in f"{vendor}{firmware}{serial}" and vendor and model:
        return "" if vendor == "ATA" else told(vendor, 40), told(model), told(serial, 80), told(firmware, 60)
    words = line.split()  # a copy that lost blanks
    if kind == "SAS" and len(words) == 2 and len(words[0]) > len("VENDOR 8"):
        words = [words[0][:8], words[0][8:], words[1]]
    if is_scsi and len(words) >= 3:
        tail = "".join(words[2:])
        return "" if words[0] == "ATA" else told(words[0], 40), told(words[1]), told(tail[4:], 80), told(tail[:4], 60)
    return ("", told(line), "", "") if kind == "SAS" else _sata(line)


def _sata(line: str) -> tuple[str, str, str, str]:
    """The serial's 20 characters lost their leading blanks, so where the model begins is known only where something tells, or
    where a serial keeps the blanks behind it.
    """
    if len(line) == _WHOLE_SATA and re.fullmatch(r"\S{4,19} +", line[:20]):
        return "", told(line[20:60]), told(line[:20], 80), told(line[60:], 60)
    body, _, firmware = line.strip().rpartition(" ")
    match = re.match(
        r"(\S{4,20}?)\s*((?:ATA\s+)?(?:Hitachi|WDC|SAMSUNG|Samsung|INTEL|TOSHIBA|Crucial|KINGSTON|MICRON|Micron|SanDisk)[ _].*|ST\d{3,}\S+)$",
        body.strip(),
    )
    if not match:
        return "", told(body or firmware), "", ""
    vendor, model = "", re.sub(r"^ATA\s+", "", match[2])
    return vendor, told(model), told(match[1], 80), told(firmware, 60)


def _spans(card: Building) -> None:
    """By volume, span and arm; where positions are not printed, drives under one volume are one span."""
    positions = card.card.get("positions", {})
    listed: dict[str, dict[int, list[tuple[int, str]]]] = {}
    for place, values in card.drives.values.items():
        if values.get("volume") and values.get("state") not in ("spare",):
            _, span, arm = positions.get(place, (0, 0, 0))
            listed.setdefault(values["volume"], {}).setdefault(span, []).append((arm, place))
    for number, spans in listed.items():
        found = tuple(tuple(place for _, place in sorted(spans[span])) for span in sorted(spans))
        card.volumes.put(number, spans=found)
