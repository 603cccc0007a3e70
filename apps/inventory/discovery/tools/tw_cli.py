"""tw_cli of 3ware's controllers (9.x): `/c0 show all`, `unitstatus`, `drivestatus`, `info`.

    u0    RAID-5    VERIFYING      -       16%     256K    5587.9    RiW    ON

Source: 3ware's CLI Guide (9.5.x). Content: {"controllers": {"/c0": {"Model": "9750-4i", …}}, "tables": [{"kind":
"Unit" | "VPort" | "Port" | "Name" | "Ctl", "rows": […]}]}, columns by the names that the version prints. `Size(GB)` is
counted in 1024.

tw_cli of 3ware: `/cX show all`, `/cX show unitstatus`, `/cX show drivestatus`. Units over ports.

A unit's drives are those whose `Unit` column names it, in the order of their ports. `Size(GB)` and `931.51 GB` count in
1024; `Blocks` are sectors of 512 bytes. Which controller an `info c0 …` is about stands in the command only.
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
    table,
    typed,
)
from apps.inventory.discovery.tool_text import contents, dictionary, interface_named, rows, size_of, state_of, told
from apps.inventory.discovery.tool_values import whole
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

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
    """Return whether the table continues after blank lines, which a page put between all of its lines."""
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


def discover(printed: str) -> Cards:
    """Parse the output of tw_cli.

    Raises:
        UnreadableError: for text that is not output of tw_cli.
    """
    found = Buildings(TOOL)
    number = 0
    for content in contents(TOOL, printed, (parse,)):
        for name, fields in list(dictionary(content["controllers"]).items())[:200]:
            if match := re.match(r"/c(\d{1,3})", str(name)):
                number = int(match[1])
                if "/" not in str(name)[1:]:
                    _about(found.card(number), dictionary(fields))
        for listed in rows(content["tables"]):
            for row in rows(listed["rows"]):
                _row(found.card(number), listed["kind"], row)
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
