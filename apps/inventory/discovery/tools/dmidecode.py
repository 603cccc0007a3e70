"""dmidecode 2.x and 3.x, also in part (`-t memory`, without its header), and 2.2's layout with the type on its own line.

    Handle 0x1100, DMI type 17, 40 bytes
    Memory Device
            Size: 16384 MB

Source: dmidecode.c (dmi_table_decode); 2.7 and older end the type's line with a point, 2.2 indents by one more tab.
Content: {"version", "smbios", "announced", "notes", "structures": [{"handle", "type", "bytes", "title", "fields": {…}}]}; values as printed,
lists (`Characteristics`) as lists. jc is not used: it fails on the last two and on parts.

dmidecode: who made the machine, and its memory modules. Makers leave words such as `To Be Filled By O.E.M.`, which say nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.inventory.discovery.tool_output import MARGIN, Block, Content, blanked, count, parse_blocks, put
from apps.inventory.discovery.tool_text import contents, dictionary, rows, told
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory
from apps.parsers.core.source_text import SourceText

NAME = "dmidecode"
TITLE = "dmidecode"
_VERSION = re.compile(r"\s{0,16}(?:# )?dmidecode (\d[\w.\-]{0,20})")
_HANDLE = re.compile(r"\s{0,8}Handle (0x[0-9A-Fa-f]{4,8})(?:, DMI type (\d{1,3}), (\d{1,5}) bytes\.?)?\s*$")
_TYPE = re.compile(r"\s+DMI type (\d{1,3}), (\d{1,5}) bytes\.?\s*$")
_SMBIOS = re.compile(r"\s{0,16}(?:# )?(?:SMBIOS|Legacy DMI) (\d[\d.]{0,10}) present\.")
_HEADER = re.compile(
    r"#|Getting SMBIOS|SMBIOS|Legacy DMI|\d+ structures? occupying|Table at |End Of Table|Invalid entry|Wrong DMI"
)
_ABOVE = re.compile(
    r"\s{0,16}(?:Getting SMBIOS|Scanning |(?:SMBIOS|Legacy DMI|DMI|SYSID|PNP BIOS) (?:\d[\d.]* )?present|\d+ structures? occupying"
    r"|(?:DMI t|T)able at 0x)"
)
_ANNOUNCED = re.compile(r"\s{0,16}(\d{1,5}) structures? occupying \d")  # only without `-t`, and not in SMBIOS 3
_WRONG = re.compile(r"\s{0,16}(?:# )?(?:Wrong DMI structures|Invalid entry length)")
_SAYS_NOTHING = re.compile(
    r"(?:Not Specified|To Be Filled.*|System (?:manufacturer|Product Name)|Default string|Unknown)\s*$", re.IGNORECASE
)
_ANY = re.compile(rf"^{MARGIN}Handle 0x[0-9A-Fa-f]{{4}}(?:, DMI type \d|\s*$)", re.MULTILINE)


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if "Handle 0x" not in text.text or "DMI type " not in text.text:
        return 0.0
    return 1.0 if _ANY.search(text.by_lines) else 0.0


def parse(text: SourceText) -> ParsedFile:
    found = parse_blocks(text, NAME, _blocks, _read, "Handle 0x0000, DMI type 0, 24 bytes")
    return replace(found, broken=(*found.broken, *filter(None, map(_cut, found.inventory))))


def _cut(one: ParsedInventory) -> Broken | None:
    """Return an error if structures are missing, None if not.

    Where the table has fewer than it announces, dmidecode itself says so.
    """
    announced, count_ = one.content.get("announced"), len(one.content["structures"])
    if announced is None or count_ >= announced or one.content.get("notes"):
        return None
    found, expected = f"{count(count_, 'structure')}", f"{announced}, as it says at its beginning"
    return Broken("dmidecode: structures are missing", one.last_line or 1, found, expected)


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield each block from the header, or the first handle, to what is neither.

    Another version line begins another output.
    """
    index = end = 0
    while index < len(lines):
        if not (_VERSION.match(lines[index]) or _HANDLE.match(lines[index])):
            index += 1
            continue
        first = last = index
        begin = _above(lines, index, end)
        may_be_title = has_handle = False
        while index < len(lines) and not (index > first and _VERSION.match(lines[index])):
            line = lines[index]
            if _HANDLE.match(line):
                may_be_title = has_handle = True
            elif not line.strip():
                may_be_title = False
            elif line[0] not in "\t " and not _HEADER.match(line) and has_handle and not may_be_title:
                break
            last = index if line.strip() else last
            index += 1
        if has_handle:
            yield begin, last + 1
        end = last + 1


def _above(lines: Sequence[str], index: int, end: int) -> int:
    """Return where the header begins if its first line, with the version, was left out or moved.

    `end` is the end of the output before.
    """
    begin = index
    for place in range(index - 1, max(end, index - 9) - 1, -1):
        if _ABOVE.match(lines[place]):
            begin = place
        elif lines[place].strip():
            break
    return begin


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    version = next((match[1] for line in lines[:5] if (match := _VERSION.match(line))), "")
    smbios = next((match[1] for line in lines[:10] if (match := _SMBIOS.match(line))), "")
    starts = [index for index, line in enumerate(lines) if _HANDLE.match(line)]
    parts = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    structures = [_structure(part) for part in parts]
    content: Content = {"version": version, "smbios": smbios, "structures": structures}
    if announced := next(filter(None, map(_ANNOUNCED.match, lines[:20])), None):
        content["announced"] = int(announced[1])
    if notes := [line.strip() for line in lines if _WRONG.match(line)]:
        content["notes"] = notes
    return _summary(structures), content


def _structure(lines: Sequence[str]) -> Content:
    head = _HANDLE.match(lines[0])
    assert head  # the part begins with it
    kind, size, body = head[2], head[3], list(lines[1:])
    if kind is None and body and (match := _TYPE.match(body[0])):
        kind, size, body = match[1], match[2], body[1:]
    margin = lines[0][: _indent(lines[0])]
    body = [
        line.expandtabs(8).rstrip() for line in body if line.strip() and not _HEADER.match(line.removeprefix(margin))
    ]
    structure = {"handle": head[1], "type": int(kind) if kind else None, "bytes": int(size) if size else None}
    groups = _groups(body)
    return {**structure, **groups[0], **({"also": groups[1:]} if groups[1:] else {})}


def _groups(body: Sequence[str]) -> list[Content]:
    """Return the titles with their fields; on-board devices have a title each.

    A page may have lost the indentation of all of them.
    """
    if not body:
        return [{"title": "", "fields": {}}]
    if ":" in "".join(body[1:]) and all(_indent(line) == _indent(body[0]) for line in body):
        return [{"title": body[0].strip(), "fields": _fields(body[1:])}]
    starts = [place for place, line in enumerate(body) if _indent(line) == _indent(body[0])]
    parts = [body[start:end] for start, end in zip(starts, [*starts[1:], len(body)], strict=True)]
    return [{"title": part[0].strip(), "fields": _fields(part[1:])} for part in parts]


def _fields(lines: Sequence[str]) -> Content:
    """Parse fields; a field without a value has its list below, indented further."""
    fields: Content = {}
    depth = min((_indent(line) for line in lines), default=0)
    key = ""
    for line in lines:
        name, mark, value = line.strip().partition(":")
        if _indent(line) > depth and key:
            if not isinstance(fields[key], list):
                fields[key] = [fields[key]] if fields[key] else []
            fields[key].append(line.strip())
        elif mark:
            key = name.strip()
            put(fields, key, value.strip())
        else:
            fields.setdefault("lines", []).append(line.strip())
    return fields


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _summary(structures: list[Content]) -> str:
    system: Content = next((one["fields"] for one in structures if one["type"] == 1), {})
    board: Content = next((one["fields"] for one in structures if one["type"] == 2), {})
    machine = _named(system) or _named(board)
    return ", ".join(filter(None, [machine, count(len(structures), "structure")]))


def _named(fields: Content) -> str:
    """Return manufacturer and product, whose fields have other names in dmidecode 2.0."""
    words = (fields.get("Manufacturer") or fields.get("Vendor"), fields.get("Product Name") or fields.get("Product"))
    return " ".join(str(word) for word in words if word and not _SAYS_NOTHING.match(str(word)))


TOOL = "dmidecode"
_UNTOLD = ("Other", "RAM", "<OUT OF SPEC>")  # the last one of a dmidecode that is older than the memory


@dataclass(frozen=True)
class Hardware:
    """The machine's hardware.

    `ram_type` is like `8 × 16 GB DDR4 2666 MT/s`, with the fastest speed that the modules run at.
    """

    vendor: str = ""
    model: str = ""
    serial: str = ""
    board: str = ""
    ram_type: str = ""


def discover(printed: str) -> Hardware:
    """Parse the output of dmidecode.

    Raises:
        UnreadableError: for text that is not output of dmidecode.
    """
    structures = [one for content in contents(TOOL, printed, (parse,)) for one in rows(content.get("structures"))]
    system, board = _first(structures, 1), _first(structures, 2)
    modules = [dictionary(one.get("fields")) for one in structures if one.get("type") == 17]
    named = (
        told(board.get("Manufacturer") or board.get("Vendor"), 90),
        told(board.get("Product Name") or board.get("Product"), 90),
    )
    return Hardware(
        vendor=told(system.get("Manufacturer") or system.get("Vendor"), 120),
        model=told(system.get("Product Name") or system.get("Product")),
        serial=_serial(system.get("Serial Number")), board=" ".join(filter(None, named)), ram_type=_memory(modules),
    )  # fmt: skip


def _serial(value: object) -> str:
    """Return the serial number; '' for the 0 that VirtualBox prints."""
    found = told(value, 120)
    return "" if found == "0" else found


def _first(structures: list[dict[str, Any]], kind: int) -> dict[str, Any]:
    return next((dictionary(one.get("fields")) for one in structures if one.get("type") == kind), {})


def _memory(modules: list[dict[str, Any]]) -> str:
    kinds: Counter[str] = Counter()
    for module in modules:
        size = told(module.get("Size"), 30)
        if match := re.fullmatch(r"(\d{1,9}) (MB|GB|TB)", size):
            amount = f"{int(match[1]) // 1024} GB" if match[2] == "MB" and int(match[1]) % 1024 == 0 else size
            speed = told(
                module.get("Configured Memory Speed") or module.get("Configured Clock Speed") or module.get("Speed"), 30
            )
            kind = told(module.get("Type"), 30)
            kinds[" ".join(filter(None, (amount, "" if kind in _UNTOLD else kind, speed)))] += 1
    return ", ".join(f"{count} × {what}" for what, count in kinds.most_common(4))[:100]
