"""storcli and perccli without `J`: sections of `key = value` and tables whose columns differ by version.

    EID:Slt DID State DG      Size Intf Med SED PI SeSz Model       Sp

Source: StorCLI's reference manual. Content as in its JSON: {"Command Status": {…}, "Response Data": {"Basics": {…},
"PD LIST": [{"EID:Slt": "16:0", "DID": 8, "Size": "465.25 GB", …}]}}, one per controller. Tables stand between dashes,
a section's name over `====`; explanations of abbreviations below a table are left out. People paste sections without
the head: their controller is the one that `/c0/v1` names, or none. "cut": tables that end before their last dashes, as
[{"table": its section, "line": of the output}].
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.inventory.discovery.tool_output import (
    MARGIN,
    Block,
    Content,
    blanked,
    field,
    is_prompt,
    parse_blocks,
    put,
    table,
    typed,
)
from apps.inventory.discovery.tools.storcli.json import summary
from apps.parsers.core.models import Broken, ParsedFile
from apps.parsers.core.source_text import SourceText

NAME = "storcli text"
TITLE = "storcli, perccli"
TOOL = "storcli"
_STATUS_KEYS = ("CLI Version", "Operating system", "Controller", "Status", "Description")
_SECTION = (
    r"(?:/c\d{1,3}/v\d{1,5}|(?:Drive )?/c\d{1,3}(?:/e\d{1,5})?/s\d{1,5}(?: - Detailed Information| State| Device attributes)?"
    r"|TOPOLOGY|[VP]D LIST|PDs for VD \d{1,5}) ?:[ \t]*"
)
_COLUMNS = r"(?:EID:Slt (?:DID|PID)|DG/VD TYPE|DG (?:Arr|Span) Row) "
_LIKE = re.compile(
    rf"^{MARGIN}(?:Controller = (?:\d+|All)\s*\n{MARGIN}Status = \w|CLI Version = \d"
    rf"|{_SECTION}\n{MARGIN}[=-]{{3}}|-{{10,200}}[ \t]*\n{MARGIN}{_COLUMNS})",
    re.MULTILINE,
)
_BARE = re.compile(rf"{_SECTION}$")
_UNTITLED = re.compile(_COLUMNS)
_TITLES = {"EID:Slt": "PD LIST", "DG/VD": "VD LIST", "DG": "TOPOLOGY"}  # titles of tables by their first column
_OF_DRIVE = re.compile(r"(Drive /c\d{1,3}(?:/e\d{1,5})?/s\d{1,5}) - Detailed Information")
_NUMBER = re.compile(r"(?:Drive )?/c(\d{1,3})/")
_RIGHT = ("DG", "Ctl", "EID")  # columns whose numbers are right-aligned
_BEGIN = re.compile(r"(?:Controller = (?:\d+|All)|CLI Version = .*)\s*$")
_LINE = re.compile(r"[^=|]{1,80}? ?=(?: |$)")
_UNDERLINE = re.compile(r"={3,}\s*$")
_DASHES = re.compile(r"-{10,}\s*$")
_FAR = 40  # lines of prose after which the output has ended
_LEGEND = re.compile(r"[^\s|=-][^|]{0,40}[-=][^|]{1,60}\||\S+[-=][^|]{1,60}$|.*\|\s*$")
_TITLE = re.compile(r"\S[^=|]{0,100}?\s?:?\s*$")


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    return 1.0 if (" = " in text.text or " :" in text.text) and _LIKE.search(text.by_lines) else 0.0


def parse(text: SourceText) -> ParsedFile:
    text = blanked(text)
    found = parse_blocks(text, TOOL, _blocks, _read, "Controller = 0, Status = Success")
    cut = [
        Broken(
            "storcli: a table is cut off",
            _number(text, one.line or 1, table["line"] - 1),
            table["table"],
            "a line of dashes below its last row",
        )
        for one in found.inventory
        for table in one.content.get("cut", ())
    ]
    return replace(found, broken=(*found.broken, *cut))


def _number(text: SourceText, first: int, below: int) -> int:
    """Return the number of the line `below` lines after line `first`.

    A line of the file may hold several that overwrite each other.
    """
    index = bisect_left(range(len(text.lines)), first, key=text.number)
    return text.number(min(index + below, len(text.lines) - 1))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield each block from `CLI Version` or `Controller` to a prompt or to the next such line after other lines."""
    index = 0
    while index < len(lines):
        if not ((_BEGIN.match(lines[index]) and _has_status(lines, index)) or _is_section(lines, index)):
            index += 1
            continue
        first = index
        last = _last_of_table(lines, index)
        index = last + 1
        while (
            index < len(lines)
            and index - last <= _FAR
            and not is_prompt(lines[index])
            and not _begins(lines, index, first)
        ):
            last = _last_of_table(lines, index) if _is_known(lines, index) else last
            index = max(index, last) + 1
        yield first, last + 1


def _last_of_table(lines: Sequence[str], index: int) -> int:
    """Return the last line of the table that begins at `index`, or of what a cut left of it; else `index`."""
    if index + 2 >= len(lines) or not (_DASHES.match(lines[index]) and _DASHES.match(lines[index + 2])):
        return index
    behind = next((place for place in range(index + 3, len(lines)) if not _is_row(lines[place])), len(lines))
    is_closed = behind < len(lines) and _DASHES.match(lines[behind])
    return behind if is_closed else behind - 1


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not is_prompt(line) and not _LINE.match(line) and "  " in line.strip()


def _has_status(lines: Sequence[str], index: int) -> bool:
    return any(line.startswith("Status = ") for line in lines[index + 1 : index + 4])


def _is_section(lines: Sequence[str], index: int) -> bool:
    following = lines[index + 1] if index + 1 < len(lines) else ""
    if _DASHES.match(lines[index]) and _UNTITLED.match(following):
        return any(map(_DASHES.match, lines[index + 2 : index + 3]))
    return bool(_BARE.match(lines[index]) and (_UNDERLINE.match(following) or _DASHES.match(following)))


def _begins(lines: Sequence[str], index: int, first: int) -> bool:
    """Return whether the output of another controller begins here.

    The `Controller` line among the first lines does not count, nor does the one of `Basics`.
    """
    return (
        index > first + 3 * bool(_BEGIN.match(lines[first]))
        and bool(_BEGIN.match(lines[index]))
        and _has_status(lines, index)
    )


def _is_known(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    return bool(
        _LINE.match(line) or _UNDERLINE.match(line) or _DASHES.match(line) or ("|" in line and _LEGEND.match(line))
    )


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    status: Content = {}
    data: Content = {}
    here: Content = status
    part: Content = data  # where sections go: those of a drive below its detailed information, as in the JSON
    name, index = "", 0
    cut: list[Content] = []
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if (_UNDERLINE.match(following) and _TITLE.match(line)) or (_DASHES.match(following) and _names(line)):
            name, here = line.strip().removesuffix(":").strip(), {}
            part = _part(data, part, name)
            index += bool(_UNDERLINE.match(following))
        elif _DASHES.match(line):
            title = name or _TITLES.get(following.split(" ", 1)[0], "Table")
            rows, index, is_cut = _table(lines, index)
            cut += [{"table": title, "line": index + 1}] if is_cut else []
            _place(status if name == "Detailed Status" else part, title, rows)
        elif found := field(line, "=") if _LINE.match(line) else None:
            here = _keep(found, status, part, here, name)
        index += 1
    if "Status" not in status:
        _name_controller(status, data)
    content = {"Command Status": status, "Response Data": data} | ({"cut": cut} if cut else {})
    return summary(content), content


def _names(line: str) -> bool:
    """Return whether the line is a title; a page may have taken the line below it for its own mark-up."""
    stripped = line.strip()
    return stripped.endswith(" :") and bool(_TITLE.match(line))


def _part(data: Content, part: Content, name: str) -> Content:
    """Return where a section goes.

    `Drive /c0/e252/s0 - Detailed Information` has the sections that begin with the drive's name, and its ports.
    """
    if _OF_DRIVE.fullmatch(name):
        found: Content = data.setdefault(name, {})
        return found
    if part is data or name in ("VD LIST", "PD LIST", "TOPOLOGY"):
        return data
    drive = next((match[1] for match in map(_OF_DRIVE.fullmatch, reversed(data)) if match), "")
    return part if name.startswith(f"{drive} ") or not _NUMBER.match(name) else data


def _name_controller(status: Content, data: Content) -> None:
    """Set the controller's number from the data of a paste without the tool's head."""
    if not data:
        raise ValueError("Status = Success or Failure")
    if match := next((match for match in map(_NUMBER.match, data) if match), None):
        status["Controller"] = int(match[1])


def _keep(found: tuple[str, str], status: Content, data: Content, here: Content, name: str) -> Content:
    """Store a field and return the section that it is in.

    The head's own fields end with `Description`; fields below no section belong to the controller itself.
    """
    key, value = found
    if not name:
        target = status if key in _STATUS_KEYS and key not in status else data
        put(target, key, typed(key, value))
        return here
    if name not in data or data[name] is not here:
        section = data.setdefault(name, here)
        here = section if isinstance(section, dict) else data
    put(here, key, typed(key, value))
    return here


def _table(lines: Sequence[str], index: int) -> tuple[list[Content], int, bool]:
    """Return the rows, the index of the last line, and whether the dashes that end them are missing."""
    first = index + 3
    if not any(map(_DASHES.match, lines[first - 1 : first])):
        dashes = (place for place in range(index + 1, len(lines)) if _DASHES.match(lines[place]))
        return [], next(dashes, index), False
    end = next((place for place in range(first, len(lines)) if _ends_table(lines, place)), len(lines))
    is_cut = end == len(lines) or not _DASHES.match(lines[end])
    if is_cut:
        end = next((place for place in range(first, end) if not _is_row(lines[place])), end)
    header, rows = lines[index + 1].rstrip(), [line.rstrip() for line in lines[first:end]]
    return table(header, _aligned(header, rows)), end - is_cut, is_cut


def _ends_table(lines: Sequence[str], place: int) -> bool:
    """Return whether the table ends here: at its last dashes, or before the next section if those were cut."""
    following = lines[place + 1] if place + 1 < len(lines) else ""
    is_title = _names(lines[place]) and _DASHES.match(following)
    return bool(_DASHES.match(lines[place]) or _UNDERLINE.match(following) or is_title)


def _aligned(header: str, rows: list[str]) -> list[str]:
    """Restore the first column's alignment where a page cut the blanks before a line."""
    first = next(iter(header.split()), "")
    if first not in _RIGHT or any(row[:1] == " " for row in rows) or not header.startswith(first):
        return rows
    return [" " * max(0, len(first) - len(row.split(" ", 1)[0])) + row for row in rows]


def _place(data: Content, name: str, rows: list[Content]) -> None:
    known: Any = data.get(name)
    if isinstance(known, dict):
        known.setdefault("Table", []).extend(rows)
    else:
        data[name] = [*known, *rows] if isinstance(known, list) else rows
