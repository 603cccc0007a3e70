"""MegaCli: `-PDList`, `-LDInfo`, `-LDPDInfo`, `-CfgDsply`, `-AdpAllInfo`, `-AdpBbuCmd`, `-EncInfo`, `-AdpGetPciInfo` (4.x to 8.x).

    Enclosure Device ID: 32

Source: MegaCli's User Guide. Content, one per adapter: {"adapter": 0, "fields": {…}, "virtual_drives": […],
"physical_drives": […]}; a drive listed under a virtual one carries its number as `Virtual Drive`, and `-AdpAllInfo` has
"sections": {"Settings": {…}} too: of names that stand in several of them, "fields" has the first. `-EncInfo` has
"enclosures": [{fields}]. `-ShowSummary` is `megacli_summary`'s. Blanks before the colon vary, `Slot Number` counts from 0, sizes
are binary (`465.761 GB [0x3a386030 Sectors]`).

MegaCli `-ShowSummary` (LSI, 8.x): a card, its battery, its drives and its volumes in short.

    Hardware
            Controller
                     ProductName       : LSI MegaRAID SAS 9260-8i(Bus 0, Dev 0)

Source: MegaCli's User Guide. Content: that of `megacli`, empty but for "summary": {"System": {fields}, "controllers":
[{"Controller": {fields}, "BBU": {…}, …, "physical_drives": […], "virtual_drives": […]}]}, names as printed: it names no
adapter and no slot apart (they stand in `Connector`), so that its drives are not those of MegaCli's other lists. The
title behind the battery's state may stand on its line.

MegaCli: `-LDPDInfo`, `-PDList`, `-LDInfo`, `-AdpAllInfo`, `-AdpBbuCmd`.

A level is `Primary-5, Secondary-0, RAID Level Qualifier-3`; several spans of one are 10, 50 or 60. `Inquiry Data` of a
SATA drive is serial, model and firmware in one line: 20, 40 and 8 characters, blanks at the ends lost. Sizes count in 1024.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
from apps.inventory.discovery.tool_output import (
    MARGIN,
    Block,
    Content,
    blanked,
    count,
    field,
    is_prompt,
    parse_blocks,
    put,
    typed,
)
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
from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.source_text import SourceText

_SUMMARY = "megacli summary"
_LIKE_SUMMARY = re.compile(rf"^{MARGIN}System\s*\n[>#\s]{{0,40}}Operating System: ", re.MULTILINE)
_SUMMARY_BEGIN = re.compile(r"System\s*$")
_FIRST = re.compile(r"\s{1,40}Operating System: ")
_PARTS = ("Hardware", "Storage", "Exit Code")
_TITLE_BEHIND = re.compile(r"\s{4,80}(PD|BBU|Enclosure|Controller)\s*$")
_LISTS = {"PD": ("physical_drives", "Connector"), "Virtual Drives": ("virtual_drives", "Virtual drive")}


def has_summary(text: SourceText) -> bool:
    return "ProductName" in text.text and _LIKE_SUMMARY.search(text.by_lines) is not None


def parse_summaries(text: SourceText) -> ParsedFile:
    return parse_blocks(text, _SUMMARY, _summary_blocks, _read_summary, "System, and Operating System: below it")


def _summary_blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield each block from `System` to the exit code, or to an unindented line that is no part of it."""
    index = 0
    while index < len(lines):
        if not (_SUMMARY_BEGIN.match(lines[index]) and any(map(_FIRST.match, lines[index + 1 : index + 2]))):
            index += 1
            continue
        first = last = index
        index += 1
        while index < len(lines) and not is_prompt(lines[index]):
            line = lines[index]
            if line.strip() and line[0] not in " \t" and not line.startswith(_PARTS):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _read_summary(lines: Sequence[str]) -> tuple[str, Content]:
    content: Content = {"System": {}, "controllers": []}
    here, title = content["System"], ""
    for line in _unglued(lines[1:]):
        found = field(line)
        if line.startswith(_PARTS):
            title = ""
        elif found is None:
            title = line.strip()
            here = _summary_part(content, title)
        elif title in _LISTS and found[0] == _LISTS[title][1]:
            here = {found[0]: found[1]}
            _summary_controller(content)[_LISTS[title][0]].append(here)
        else:
            put(here, found[0], typed(*found))
    if not content["controllers"]:
        raise ValueError("Hardware, and a Controller below it")
    listed: Content = {"adapter": None, "fields": {}, "virtual_drives": [], "physical_drives": [], "summary": content}
    return "; ".join(map(_summary_of_card, content["controllers"])), listed


def _unglued(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines that are not blank; a title that stands behind a value is a line of its own."""
    for line in lines:
        match = _TITLE_BEHIND.search(line) if ":" in line else None
        if match and field(line[: match.start()]) and line[: match.start()].rstrip()[-1:] != ":":
            yield line[: match.start()]
            yield match[1]
        elif line.strip():
            yield line.rstrip()


def _summary_part(content: Content, title: str) -> Content:
    """Return the dictionary for the fields below a title."""
    if title == "Controller":
        content["controllers"].append({"physical_drives": [], "virtual_drives": []})
    part: Content = {}
    if title not in _LISTS:
        put(_summary_controller(content), title, part)
    return part


def _summary_controller(content: Content) -> Content:
    if not content["controllers"]:
        content["controllers"].append({"physical_drives": [], "virtual_drives": []})
    found: Content = content["controllers"][-1]
    return found


def _summary_of_card(card: Content) -> str:
    about = card.get("Controller")
    parts = [str(about[key]) for key in ("ProductName", "Status") if about.get(key)] if isinstance(about, dict) else []
    for key, what in (("virtual_drives", "virtual drive"), ("physical_drives", "physical drive")):
        if drives := card[key]:
            states = sorted({str(one["State"]) for one in drives if one.get("State")})
            parts.append(count(len(drives), what) + (f" ({', '.join(states)})" if states else ""))
    return ", ".join(parts)


NAME = "megacli"
TITLE = "MegaCli"
_LIKE = re.compile(
    rf"^{MARGIN}(?:Adapter:? #?\d+(?: -- Virtual (?:Drive|Disk) Information:?)?\s*$|Enclosure Device ID: ?(?:\d|N/A)"
    r"|(?:CacheCade )?Virtual (?:Drive|Disk): \d+ \(Target Id: \d|BBU status for Adapter: \d"
    r"|Number of enclosures on adapter \d|PCI information for Controller \d)",
    re.MULTILINE,
)
_KNOWN = (
    "Enclosure Device ID",
    "Firmware state",
    "RAID Level",
    "Virtual Drive: ",
    "Virtual Disk: ",
    "BBU status for Adapter",
    "Product Name",
    "Slot Number",
    "Number of enclosures on adapter",
    "PCI information for Controller",
)
_ADAPTER = re.compile(
    r"(?:Adapter:? #?(\d{1,3})(?: -- .*)?|BBU status for Adapter: (\d{1,3})"
    r"|\s{0,8}Number of enclosures on adapter (\d{1,3}) -- \d{1,3}|PCI information for Controller (\d{1,3}))\s*$"
)
_ENCLOSURE = re.compile(r"\s{0,8}Enclosure \d{1,3}:\s*$")
_VIRTUAL = re.compile(r"(?:CacheCade )?Virtual (?:Drive|Disk) ?: ?(\d{1,5})(?: \((.*)\))?\s*$")
_PD = re.compile(r"PD: \d{1,4} Information|Physical Disk: \d{1,4}\s*$|(?:Physical|Virtual) Disk Information:\s*$")
_GROUP = re.compile(r"DISK GROUPS?: \d{1,4}\s*$")
_IN_HEXADECIMAL = "PCI Info"
_PHYSICAL = re.compile(r"Enclosure Device ID ?:")
_RULE = re.compile(r"\s*[=-]{3,}\s*$")
_UNDER_TITLE = re.compile(r"\s{8,40}=+\s*$")
_PORT = re.compile(r"(\d{1,3})\s{1,20}([0-9a-f]{16})\s*$")
_FIELD = re.compile(
    r"\s*(?:[A-Z]|is[A-Z])[^:=\n]{0,80}[:=]|\s*[=-]{3,}\s*$|PD: \d+ Information|Exit Code"
    r"|\s*[A-Z][\w ./]{2,60}\s*$|\d{1,3}\s{1,20}[0-9a-f]{16}\s*$"
)
_WRAPPED = re.compile(r"\s{0,8}(?:0x[0-9a-fA-F]{1,16}|\[0x[0-9a-fA-F]{1,16} Sectors\]|Sectors\])\s*$")  # by a mail


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if has_summary(text):
        return 1.0
    if not any(word in text.text for word in _KNOWN) or not _LIKE.search(text.by_lines):
        return 0.0
    return 1.0 if "Enclosure Device ID:" in text.text or "Target Id:" in text.text else 0.8


def parse(text: SourceText) -> ParsedFile:
    if not has_summary(text):
        return _listed(text)
    summaries = parse_summaries(text)
    try:
        listed = _listed(text)
    except ParseError:
        return summaries
    inventory = sorted((*listed.inventory, *summaries.inventory), key=lambda one: one.line or 0)
    return ParsedFile(inventory=tuple(inventory), broken=(*listed.broken, *summaries.broken))


def _listed(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "Adapter #0, and drives below it")


def _begins(line: str) -> bool:
    return bool(_ADAPTER.match(line) or _VIRTUAL.match(line) or _PHYSICAL.match(line))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the block of each adapter; a list that was cut before its adapter begins with its first drive."""
    index = 0
    while index < len(lines):
        if not _begins(lines[index]):
            index += 1
            continue
        first = last = index
        index += 1
        while index < len(lines) and not _ADAPTER.match(lines[index]) and not is_prompt(lines[index]):
            line = lines[index]
            if line.strip() and not (_FIELD.match(line) or _WRAPPED.match(line)):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _unwrapped(lines: Sequence[str]) -> list[str]:
    found = list(lines[:1])
    for line in lines[1:]:
        if _WRAPPED.match(line):
            found[-1] = f"{found[-1].rstrip()} {line.strip()}"
        else:
            found.append(line)
    return found


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    lines = _unwrapped(lines)
    head = _ADAPTER.match(lines[0])
    content: Content = {
        "adapter": int(next(filter(None, head.groups()))) if head else None,
        "fields": {},
        "virtual_drives": [],
        "physical_drives": [],
    }
    title = _IN_HEXADECIMAL if head and head[4] else ""
    here: Content = content.setdefault("sections", {}).setdefault(title, {}) if title else content["fields"]
    virtual = None
    for index, line in enumerate(lines[1:] if head else lines, start=1 if head else 0):
        if index + 1 < len(lines) and _UNDER_TITLE.match(lines[index + 1]) and line.strip():
            title = line.strip().removesuffix(":")
            here = content.setdefault("sections", {}).setdefault(title, {})
            continue
        if _GROUP.match(line):
            here, virtual = content["fields"], None
        if match := _VIRTUAL.match(line):
            virtual = int(match[1])
            here = {"Virtual Drive": virtual, **_target(match[2] or "")}
            content["virtual_drives"].append(here)
            continue
        if _ENCLOSURE.match(line):
            here = {}
            content.setdefault("enclosures", []).append(here)
            continue
        if _PHYSICAL.match(line):
            here = {} if virtual is None else {"Virtual Drive": virtual}
            content["physical_drives"].append(here)
        if (found := _field(line)) and not _PD.match(line):
            value = found[1] if title == _IN_HEXADECIMAL else typed(*found)
            put(here, found[0], value)
            if title:
                content["fields"].setdefault(found[0], value)
    if not any(content.get(key) for key in ("fields", "virtual_drives", "physical_drives", "enclosures")):
        raise ValueError("fields of the adapter or its drives")
    return _summary(content), content


def _field(line: str) -> tuple[str, str] | None:
    """Parse `Battery State: Optimal`, `Max Error = 2 %` or a port's address in a table of two columns."""
    if match := _PORT.match(line):
        return f"Port {match[1]}", match[2]
    return None if _RULE.match(line) else field(line) if ":" in line else field(line, "=")


def _target(text: str) -> Content:
    found = field(text)
    return {found[0]: typed(*found)} if found else {}


def _summary(content: Content) -> str:
    virtual, physical = content["virtual_drives"], content["physical_drives"]
    states = sorted({str(one["State"]) for one in virtual if one.get("State")})
    parts = [str(content["fields"].get("Product Name", ""))]
    parts += [count(len(virtual), "virtual drive") + (f" ({', '.join(states)})" if states else "")] if virtual else []
    parts += [count(len(physical), "physical drive")] if physical else []
    parts += [count(len(content["enclosures"]), "enclosure")] if content.get("enclosures") else []
    name = f"adapter {content['adapter']}" if content["adapter"] is not None else "adapter"
    return f"{name}: " + (", ".join(filter(None, parts)) or count(len(content["fields"]), "field"))


TOOL = "megacli"
_PRIMARY = re.compile(r"Primary-(\d), Secondary-(\d)")
_POSITION = re.compile(r"DiskGroup: (\d{1,4}), Span: (\d{1,3}), Arm: (\d{1,3})")
_LONGEST_SCSI, _WHOLE_SATA = 48, 68  # characters of an inquiry
_SCSI_LENGTHS = (36, 44, 48)  # with serial numbers of 8, 16 and 20
_STATES = (("online", "online"), ("hotspare", "spare"), ("rebuild", "rebuilding"), ("fail", "failed"), ("unconfigured(bad", "failed"),
           ("offline", "failed"), ("unconfigured", "unconfigured"), ("jbod", "jbod"), ("missing", "missing"))  # fmt: skip


def discover(printed: str) -> Cards:
    """Parse the output of MegaCli.

    Raises:
        UnreadableError: for text that is not output of MegaCli.
    """
    found = Buildings(TOOL)
    for content in contents(TOOL, printed, (parse,)):
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
    """Return the number of drives in all spans.

    Old versions leave out `per span` but still count the drives of one span: six drives of 500 GB are 2, `Span
    Depth:3`, 1.4 TB.
    """
    each = slot_number(fields.get("Number Of Drives per span"))
    count = slot_number(fields.get("Number Of Drives"))
    if each is None:
        return count * max(spans or 1, 1) if count else None
    return each * spans if each and spans else None


def _mirrors_pairs(level: str, count: int | None) -> bool:
    """Return whether RAID 1 is of more than two drives, which on these controllers is pairs in a stripe.

    Eight drives of 960 GB give 3.84 TB.
    """
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
    """Parse inquiry data to (vendor, model, serial, firmware).

    SAS has vendor (8 characters), model (16), firmware (4), serial; SATA has serial, model, firmware. Old versions do
    not tell which it is: the latter is longer.
    """
    line = str(value if isinstance(value, str) else "")[:200].strip()
    is_scsi = kind == "SAS" or (not kind and len(line) <= _LONGEST_SCSI)
    vendor, model, firmware, serial = line[:8].strip(), line[8:24].strip(), line[24:28], line[28:].strip()
    has_columns = "  " in line or " " not in f"{vendor}{model}" or len(line) in _SCSI_LENGTHS
    if is_scsi and has_columns and serial and " " not in f"{vendor}{firmware}{serial}" and vendor and model:
        return "" if vendor == "ATA" else told(vendor, 40), told(model), told(serial, 80), told(firmware, 60)
    words = line.split()  # the copied text lost blanks
    if kind == "SAS" and len(words) == 2 and len(words[0]) > len("VENDOR 8"):
        words = [words[0][:8], words[0][8:], words[1]]
    if is_scsi and len(words) >= 3:
        tail = "".join(words[2:])
        return "" if words[0] == "ATA" else told(words[0], 40), told(words[1]), told(tail[4:], 80), told(tail[:4], 60)
    return ("", told(line), "", "") if kind == "SAS" else _sata(line)


def _sata(line: str) -> tuple[str, str, str, str]:
    """Parse SATA inquiry data to (vendor, model, serial, firmware).

    The 20 characters of the serial lost their leading blanks, so where the model begins is known only if the maker's
    name tells, or if the serial keeps the blanks behind it.
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
    """Set the spans of the volumes by volume, span and arm.

    Where positions are not printed, the drives under one volume are one span.
    """
    positions = card.card.get("positions", {})
    listed: dict[str, dict[int, list[tuple[int, str]]]] = {}
    for place, values in card.drives.values.items():
        if values.get("volume") and values.get("state") not in ("spare",):
            _, span, arm = positions.get(place, (0, 0, 0))
            listed.setdefault(values["volume"], {}).setdefault(span, []).append((arm, place))
    for number, spans in listed.items():
        found = tuple(tuple(place for _, place in sorted(spans[span])) for span in sorted(spans))
        card.volumes.put(number, spans=found)
