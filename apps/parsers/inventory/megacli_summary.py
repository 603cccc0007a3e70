"""MegaCli `-ShowSummary` (LSI, 8.x): a card, its battery, its drives and its volumes in short.

    Hardware
            Controller
                     ProductName       : LSI MegaRAID SAS 9260-8i(Bus 0, Dev 0)

Source: MegaCli's User Guide. Content: that of `megacli`, empty but for "summary": {"System": {fields}, "controllers":
[{"Controller": {fields}, "BBU": {…}, …, "physical_drives": […], "virtual_drives": […]}]}, names as printed: it names no
adapter and no slot apart (they stand in `Connector`), so that its drives are not those of MegaCli's other lists. The
title behind the battery's state may stand on its line.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.printed import MARGIN, Block, Content, count, field, is_prompt, parse_blocks, put, typed
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

TOOL = "megacli summary"
_LIKE = re.compile(rf"^{MARGIN}System\s*\n[>#\s]{{0,40}}Operating System: ", re.MULTILINE)
_BEGIN = re.compile(r"System\s*$")
_FIRST = re.compile(r"\s{1,40}Operating System: ")
_PARTS = ("Hardware", "Storage", "Exit Code")
_TITLE_BEHIND = re.compile(r"\s{4,80}(PD|BBU|Enclosure|Controller)\s*$")
_LISTS = {"PD": ("physical_drives", "Connector"), "Virtual Drives": ("virtual_drives", "Virtual drive")}


def is_there(text: SourceText) -> bool:
    return "ProductName" in text.text and _LIKE.search(text.by_lines) is not None


def parse_summaries(text: SourceText) -> ParsedFile:
    return parse_blocks(text, TOOL, _blocks, _read, "System, and Operating System: below it")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """From `System` to the exit code, or to what is not indented and no part of it."""
    index = 0
    while index < len(lines):
        if not (_BEGIN.match(lines[index]) and any(map(_FIRST.match, lines[index + 1 : index + 2]))):
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


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    content: Content = {"System": {}, "controllers": []}
    here, title = content["System"], ""
    for line in _unglued(lines[1:]):
        found = field(line)
        if line.startswith(_PARTS):
            title = ""
        elif found is None:
            title = line.strip()
            here = _part(content, title)
        elif title in _LISTS and found[0] == _LISTS[title][1]:
            here = {found[0]: found[1]}
            _controller(content)[_LISTS[title][0]].append(here)
        else:
            put(here, found[0], typed(*found))
    if not content["controllers"]:
        raise ValueError("Hardware, and a Controller below it")
    listed: Content = {"adapter": None, "fields": {}, "virtual_drives": [], "physical_drives": [], "summary": content}
    return "; ".join(map(_summary, content["controllers"])), listed


def _unglued(lines: Sequence[str]) -> Iterator[str]:
    """Lines with something on them; a title that stands behind a value is a line of its own."""
    for line in lines:
        match = _TITLE_BEHIND.search(line) if ":" in line else None
        if match and field(line[: match.start()]) and line[: match.start()].rstrip()[-1:] != ":":
            yield line[: match.start()]
            yield match[1]
        elif line.strip():
            yield line.rstrip()


def _part(content: Content, title: str) -> Content:
    """Where the fields below a title go."""
    if title == "Controller":
        content["controllers"].append({"physical_drives": [], "virtual_drives": []})
    part: Content = {}
    if title not in _LISTS:
        put(_controller(content), title, part)
    return part


def _controller(content: Content) -> Content:
    if not content["controllers"]:
        content["controllers"].append({"physical_drives": [], "virtual_drives": []})
    found: Content = content["controllers"][-1]
    return found


def _summary(card: Content) -> str:
    about = card.get("Controller")
    parts = [str(about[key]) for key in ("ProductName", "Status") if about.get(key)] if isinstance(about, dict) else []
    for key, what in (("virtual_drives", "virtual drive"), ("physical_drives", "physical drive")):
        if drives := card[key]:
            states = sorted({str(one["State"]) for one in drives if one.get("State")})
            parts.append(count(len(drives), what) + (f" ({', '.join(states)})" if states else ""))
    return ", ".join(parts)
