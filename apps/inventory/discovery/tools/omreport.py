"""omreport of Dell OpenManage Server Administrator: `-fmt ssv`, and its own text.

    ID;Status;Name;State;Hot Spare Policy violated;Encrypted;Layout;Size;…
    ID                            : 0

Source: Dell's OMSA CLI guide; columns change by version and are told by name. Content: {"title", "sections": [{"title",
"fields": {…}, "rows": [{…}]}]}; sizes as printed with their exact bytes: `743.00 GB (797790175232 bytes)`. A section
whose title stands below `List of Physical Disks belonging to …` has that as "above". People paste what is below a title
without it.

omreport of Dell OpenManage: `storage controller`, `vdisk`, `pdisk controller=n`, `enclosure`, `battery`, with or without
`-fmt ssv`.

Which drives a virtual disk has is told only by `pdisk vdisk=n`, by the disk's name; without it a virtual disk has its
level and device, no members. Sizes are printed with their exact bytes. Drives are `0:1:3`: connector, enclosure, slot.
A controller is known by its slot; of several that are `Embedded`, the later ones by their name as well. Some versions put no
blank before the slot: `PERC H730P Mini(Embedded)`.
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
    is_prompt,
    parse_blocks,
    put,
    typed,
)
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
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

NAME = "omreport"
TITLE = "omreport"
_TITLES = (
    r"(?:List of (?:Virtual Disks|Physical Disks|Batteries|Controllers|Enclosures|Connectors|Fans|Power Supplies|Temperature Probes|EMMs)\b.*"
    r"|(?:Controller|Virtual Disk|Physical Disk|Enclosure|Battery)s?\s.{0,100}\((?:Slot )?(?:Embedded|Slot \S+|\d+|Not Available|[A-Z]\w*)\).*"
    r"|(?:Chassis|Memory|Processors?|System|BIOS|Slot|Nic|Remote Access|Firmware|Operating System|Version|Power Supplies"
    r"|Fan Probes?|Fans|Temperature Probes?|Voltage Probes?|Volts|Batteries|Intrusion|Power Consumption|SD Card"
    r"|Hardware Performance|Main System Chassis|Health)(?: (?:Information|Report|Redundancy))?\s*)"
)
_SSV = re.compile(
    rf"^{MARGIN}(?:(?:ID|Index);(?:Status|\d+\s*$)|SEVERITY;COMPONENT\s*$)|^{MARGIN}Health;\w+\s*$",
    re.MULTILINE,
)
_TEXT = re.compile(
    rf"^{MARGIN}(?:ID|Index)\s+: \S[^\n]{{0,40}}\n{MARGIN}Status\s+: (?:Ok|Critical|Non-Critical|Unknown)",
    re.MULTILINE,
)
_TITLE = re.compile(_TITLES)
_BELONGING = re.compile(r"List of Physical Disks belonging to \S.{0,100}")
_ID = re.compile(r"(?:ID|Index)\s{0,80}: \S[^\n]{0,40}$")
_STATUS = re.compile(r"Status\s{0,80}: (?:Ok|Critical|Non-Critical|Unknown)\b")
_HAS_TITLE = re.compile(rf"^{MARGIN}{_TITLES}$", re.MULTILINE)
_FIELD = re.compile(r"[A-Z][\w ().,/%#'-]{0,80}?\s*: ")
_FIRST = ("ID", "Index", "SEVERITY")


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    plain = text.by_lines
    if not (_SSV.search(plain) or _TEXT.search(plain)):
        return 0.0
    return 1.0 if _HAS_TITLE.search(plain) else 0.6


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(
        text, NAME, _blocks, _read, "ID;Status;Name;… or ID : 0 below a title such as List of Virtual Disks"
    )


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield each block from a title or heading on, as long as there are rows, fields and short titles."""
    index = 0
    while index < len(lines):
        begins = _TITLE.fullmatch(lines[index].strip()) or _SSV.match(lines[index]) or _is_record(lines, index)
        if not begins or is_prompt(lines[index]):
            index += 1
            continue
        first = last = index
        has_data = False
        while index < len(lines) and not is_prompt(lines[index]) and _may_belong(lines[index]):
            is_data = ";" in lines[index] or bool(_FIELD.match(lines[index]))
            has_data |= is_data
            last = index if is_data else last
            index += 1
        if has_data:
            yield first, last + 1
        index = max(index, first + 1)


def _is_record(lines: Sequence[str], index: int) -> bool:
    return bool(index + 1 < len(lines) and _ID.match(lines[index]) and _STATUS.match(lines[index + 1]))


def _may_belong(line: str) -> bool:
    stripped = line.strip()
    return (
        not stripped
        or ";" in stripped
        or bool(_FIELD.match(stripped))
        or (len(stripped) < 100 and not stripped.endswith((".", ":", "?")))
    )


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    sections: list[Content] = []
    header: list[str] = []
    title = first = above = ""
    here: Content = {}
    is_text = not any(";" in line for line in lines)
    for line in (line.strip() for line in lines):
        if not line:
            header = []
        elif not (";" in line or (is_text and _FIELD.match(line))):
            above = title if not here and _BELONGING.fullmatch(title) else ""
            title, header = line, []
            first = first or ("" if sections else line)  # a line above a title does not belong to it
            here = {}
        else:
            if not here:
                here = {"title": title, "fields": {}, "rows": []} | ({"above": above} if above else {})
                sections.append(here)
            header = _take_text(here, line) if is_text else _take_ssv(here, line, header)
    rows = sum(len(section["rows"]) for section in sections)
    return f"{first or 'omreport'}: {count(rows, 'row')}" + _states(sections), {"title": first, "sections": sections}


def _take_ssv(here: Content, line: str, header: list[str]) -> list[str]:
    """Read a line of semicolon-separated cells and return the header for the next line."""
    cells = [cell.strip() for cell in line.split(";")]
    if header:
        here["rows"].append({key: typed(key, cell) for key, cell in zip(header, cells, strict=False)})
        return header
    if len(cells) > 2 or (cells[0] in _FIRST and not cells[1].isdigit()):
        return cells
    put(here["fields"], cells[0], typed(cells[0], cells[1]))
    return []


def _take_text(here: Content, line: str) -> list[str]:
    key, _, value = (part.strip() for part in line.partition(":"))
    rows = here["rows"]
    if key in _FIRST:
        rows.append({})
    put(rows[-1] if rows else here["fields"], key, typed(key, value))
    return []


def _states(sections: list[Content]) -> str:
    states = [str(row[key]) for section in sections for row in section["rows"] for key in ("Status",) if row.get(key)]
    return f" ({', '.join(sorted(set(states))[:4])})" if states else ""


TOOL = "omreport"
_CARD = re.compile(r"Controller\s+(\S.{0,79}?) ?\((?:Slot )?(\w[\w ]{0,20})\)\s*$")
_BEFORE_NAME = "List of Physical Disks belonging to "
_STATES = {"online": "online", "ready": "unconfigured", "failed": "failed", "rebuilding": "rebuilding", "removed": "missing",
           "non-raid": "jbod", "foreign": "unconfigured", "offline": "failed", "missing": "missing"}  # fmt: skip
_NAMED = re.compile(r"PERC|SAS|BOSS|CERC|HBA|AHCI|MARVELL", re.IGNORECASE)


def discover(printed: str) -> Cards:
    """Parse the output of omreport.

    Raises:
        UnreadableError: for text that is not output of omreport.
    """
    found = Buildings(TOOL)
    belonging: list[tuple[Building, str, list[dict[str, Any]]]] = []
    for content in contents(TOOL, printed, (parse,)):
        place = _CARD.search(told(content["title"]))
        for section in rows(content["sections"]):
            place = _CARD.search(told(section["title"])) or place
            card = _card(found, place[2].strip(), place[1]) if place else None
            for row in rows(section["rows"]):
                _row(card, found, row)
            name = told(section.get("above"), 120).removeprefix(_BEFORE_NAME)
            if card and name:
                belonging.append((card, name, rows(section["rows"])))
    for card, name, drives in belonging:
        _members(card, name, drives)
    return Cards(found.done())


def _card(found: Buildings, slot: str, model: str) -> Building:
    """Return the card in this slot.

    Two embedded ones are told apart by model: `BOSS-S1 (Embedded)` beside `PERC H730P Mini (Embedded)`.
    """
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
    """Set the members of a volume if exactly one virtual disk of the controller has that name."""
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
