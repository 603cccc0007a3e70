"""tw_cli of 3ware's controllers (9.x): `/c0 show all`, `unitstatus`, `drivestatus`, `info`.

    u0    RAID-5    VERIFYING      -       16%     256K    5587.9    RiW    ON

Source: 3ware's CLI Guide (9.5.x). Content: {"controllers": {"/c0": {"Model": "9750-4i", …}}, "tables": [{"kind":
"Unit" | "VPort" | "Port" | "Name" | "Ctl", "rows": […]}]}, columns by the names that the version prints. `Size(GB)` is
counted in 1024.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.printed import (
    MARGIN,
    Block,
    Content,
    blanked,
    count,
    is_prompt,
    parse_blocks,
    put,
    table,
    typed,
)
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "tw_cli"
TITLE = "tw_cli (3ware)"
_HEADER = re.compile(
    r"(?:Unit\s+UnitType\s+Status|V?Port\s+Status\s+Unit|Name\s+OnlineState|Ctl\s+Model\s+(?:\(V\))?Ports\s+Drives|Encl\s+(?:Slots|Status)|Slot\s+Status"
    r"|Fan\s+Status\s+State|TempSensor\s+Status|PowerSupply\s+Status|Alarm\s+Status)\b"
)
_ABOVE = re.compile(r"\s*-{3}(?:Speed)?-{0,10}\s*$")  # a title over two columns of a table
_LIKE = re.compile(rf"^{MARGIN}(?:{_HEADER.pattern}|/c\d+(?:/[upe]\d+)? [A-Z][\w ()-]{{2,60}} = )", re.MULTILINE)
_PROPERTY = re.compile(r"(/c\d{1,3}(?:/(?:[upe]\d{1,3}|bbu))?) ([A-Z][^\n]{1,80}?) = (.*)")
_RULE = re.compile(r"-{10,}\s*$")
_ROW = re.compile(r"(?:[cupe]\d{1,3}(?:-\d{1,3}){0,2}|bbu)\s{1,20}\S")


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    return 1.0 if _LIKE.search(text.by_lines) else 0.0


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "a table such as Unit  UnitType  Status, or /c0 Model = 9750-4i")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    index = 0
    while index < len(lines):
        if not (_HEADER.match(lines[index]) or _PROPERTY.match(lines[index])):
            index += 1
            continue
        first = last = index
        in_table = False
        while index < len(lines):
            line = lines[index]
            if _HEADER.match(line):
                in_table = True
            elif not line.strip():
                in_table = in_table and _goes_on(lines, index)
            elif _ABOVE.match(line) and index + 1 < len(lines) and _HEADER.match(lines[index + 1]):
                pass
            elif not ((in_table and _is_row(line)) or _PROPERTY.match(line)) or is_prompt(line):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    content: Content = {"controllers": {}, "tables": []}
    for index, line in enumerate(lines):
        if match := _PROPERTY.match(line):
            put(content["controllers"].setdefault(match[1], {}), match[2], typed(match[2], match[3].strip()))
        elif _HEADER.match(line):
            content["tables"].append({"kind": line.split()[0], "rows": _rows(lines, index)})
    return _summary(content), content


def _rows(lines: Sequence[str], index: int) -> list[Content]:
    end = index + 1
    while end < len(lines) and (lines[end].strip() or _goes_on(lines, end)) and not _HEADER.match(lines[end]):
        end += 1
    return table(lines[index].rstrip(), [line.rstrip() for line in lines[index + 1 : end] if not _RULE.match(line)])


def _is_row(line: str) -> bool:
    return bool(_RULE.match(line) or _ROW.match(line)) or "  " in line.strip()


def _goes_on(lines: Sequence[str], index: int) -> bool:
    """Whether the table goes on behind blank lines, which a page put between all of its lines."""
    following = next((line for line in lines[index : index + 4] if line.strip()), "")
    return bool(_RULE.match(following) or _ROW.match(following))


def _summary(content: Content) -> str:
    parts = [str(one["Model"]) for one in content["controllers"].values() if one.get("Model")]
    for kind, what in (("Unit", "unit"), ("VPort", "drive"), ("Port", "drive")):
        rows = [row for one in content["tables"] if one["kind"] == kind for row in one["rows"]]
        if rows:
            states = sorted({str(row.get("Status", "")) for row in rows})
            parts.append(f"{count(len(rows), what)} ({', '.join(states[:4])})")
    return ", ".join(parts) or count(len(content["tables"]), "table")
