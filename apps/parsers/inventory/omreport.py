"""omreport of Dell OpenManage Server Administrator: `-fmt ssv`, and its own text.

    ID;Status;Name;State;Hot Spare Policy violated;Encrypted;Layout;Size;…
    ID                            : 0

Source: Dell's OMSA CLI guide; columns change by version and are told by name. Content: {"title", "sections": [{"title",
"fields": {…}, "rows": [{…}]}]}; sizes as printed with their exact bytes: `743.00 GB (797790175232 bytes)`. A section
whose title stands below `List of Physical Disks belonging to …` has that as "above". People paste what is below a title
without it.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.printed import MARGIN, Block, Content, blanked, count, is_prompt, parse_blocks, put, typed
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

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
    """From a title, or a heading, as long as there are rows, fields and short titles."""
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
            first = first or ("" if sections else line)  # what stands above a title is none of its
            here = {}
        else:
            if not here:
                here = {"title": title, "fields": {}, "rows": []} | ({"above": above} if above else {})
                sections.append(here)
            header = _take_text(here, line) if is_text else _take_ssv(here, line, header)
    rows = sum(len(section["rows"]) for section in sections)
    return f"{first or 'omreport'}: {count(rows, 'row')}" + _states(sections), {"title": first, "sections": sections}


def _take_ssv(here: Content, line: str, header: list[str]) -> list[str]:
    """The header that holds for the next line."""
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
