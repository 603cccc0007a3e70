"""ssacli, hpssacli, hpacucli (HP and HPE Smart Array, 7.x to 6.x of ssacli): `show`, `show status`, `show config detail`.

    physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 6001.1 GB, OK)

Source: HPE's Smart Storage Administrator CLI guide. Content, one per controller: {"title", "fields", "parts": […]} as
indented; a drive in a sentence is {"kind": "physicaldrive", "name": "1I:1:1", "words": ["port 1I:box 1:bay 1", "SAS",
"6001.1 GB", "OK"]}. Sizes count in 1000 in new versions, in 1024 in old ones, which print no difference.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from apps.parsers.inventory.outline import outline
from apps.parsers.inventory.printed import MARGIN, Block, Content, blanked, count, is_prompt, parse_blocks
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "ssacli"
TITLE = "ssacli, hpssacli, hpacucli"
_CONTROLLER = (
    r"(?:(?:HPE? |Dynamic |Smart |MSA|RAID Array |NS\d|MR\d|SR\d)[^\n:=]{0,80}?"
    r" in [A-Z]\w{1,40}(?: \w{1,40}){0,4}(?: {1,40}\([^()\n]{1,60}\)){0,3})"
)
_SERIAL = re.compile(r"\(sn: [^()\n]{1,60}\)\s*$")
_BEGIN = re.compile(rf"{_CONTROLLER}\s*$")
_LIKE = re.compile(rf"^{MARGIN}{_CONTROLLER}\s*$", re.MULTILINE)
_DRIVE = re.compile(
    r"(physicaldrive|logicaldrive|ssdphysicaldrive|array) (\S{1,40})(?: \((.*?)\))?(?:\s+<[<=*-].*)?$", re.IGNORECASE
)
_INSIDE = re.compile(
    r"^[> \t]{0,40}(?:physicaldrive|logicaldrive|array|HBA Drives|unassigned|Controller Status:|Bus Interface:|Slot:)",
    re.MULTILINE | re.IGNORECASE,
)
_LEVELS = (  # of the titles, in blanks, where a page lost those before the lines
    (
        re.compile(
            r"(?:array: \w|array \w{1,3}(?: \(|$)|unassigned$|HBA Drives$|Physical Drives$|Port Name: |SEP |Expander \d|Enclosure "
            r"|[A-Z][^\n:]{1,60} at Port \w{1,4}, Box \d)",
            re.IGNORECASE,
        ),
        3,
    ),
    (re.compile(r"(?:Logical Drive: \S|logicaldrive \S|physicaldrive [^\s(]{1,40}$)", re.IGNORECASE), 6),
    (re.compile(r"(?:Mirror|Parity) Group \d{1,4}:"), 9),
)
_FLAT = re.compile(r"[A-Z][^\n:]{1,80}:\S{0,60}|[A-Z][^\n]{1,80}?:(?:\s|$)|None attached|Disk Partition Information")
_SENTENCE = re.compile(r"physicaldrive \S{1,40} \(", re.IGNORECASE)
_MOST_DEEP = 12


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if " in " not in text.text or not _LIKE.search(text.by_lines):
        return 0.0
    return 1.0 if _INSIDE.search(text.by_lines) or "(sn: " in text.text else 0.4


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "a controller such as Smart Array P400i in Slot 0 (Embedded)")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """A controller's line and what is indented below it; with its serial number it stands alone (`ctrl all show`)."""
    index = 0
    while index < len(lines):
        if not _BEGIN.match(lines[index]):
            index += 1
            continue
        first = last = index
        index += 1
        following = next((line for line in lines[index : index + 4] if line.strip()), " ")
        is_flat = following[0] not in " \t" and _is_flat(following)
        while index < len(lines) and (
            not lines[index].strip()
            or (lines[index][0] in " \t" and not is_prompt(lines[index]))
            or (is_flat and _is_flat(lines[index]))
        ):
            last = index if lines[index].strip() else last
            index += 1
        if last > first or _SERIAL.search(lines[first]):
            yield first, last + 1


def _is_flat(line: str) -> bool:
    """Whether a line without blanks before it is of a controller."""
    return not _BEGIN.match(line) and bool(_level(line) or _FLAT.match(line) or _SENTENCE.match(line))


def _level(line: str) -> int:
    return next((level for pattern, level in _LEVELS if pattern.match(line.strip())), 0)


def _indented(lines: Sequence[str]) -> Iterator[str]:
    """With the blanks that the tool prints: a drive in a sentence stands below an array, or below a group of a logical drive."""
    above = 0
    for line in lines:
        level = _level(line)
        if not level and _SENTENCE.match(line):
            yield " " * (_MOST_DEEP if above == _LEVELS[2][1] else _LEVELS[1][1]) + line
            continue
        yield " " * (level or (min(above, _LEVELS[1][1]) + 3)) + line
        above = level or above


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    if not any(line[:1] in (" ", "\t") for line in lines):
        lines = [lines[0], *_indented(lines[1:])]
    (content,) = outline(
        [line.expandtabs(8) for line in [lines[0].strip(), *lines[1:]]], lambda text: _DRIVE.match(text) is not None
    )
    drives: dict[str, set[str]] = {"physicaldrive": set(), "logicaldrive": set()}
    for node in _nodes(content):
        _take_apart(node)
        if (kind := str(node.get("kind", "")).lower()) in drives:
            drives[kind].add(str(node["name"]))
        elif str(node["title"]).startswith("Logical Drive: "):
            drives["logicaldrive"].add(str(node["title"]).removeprefix("Logical Drive: "))
    counted = [
        count(len(names), what)
        for what, names in zip(("physical drive", "logical drive"), drives.values(), strict=True)
        if names
    ]
    status = content["fields"].get("Controller Status")
    return ", ".join([content["title"], *([f"status {status}"] if status else []), *counted]), content


def _nodes(top: Content) -> Iterator[Content]:
    waiting = [top]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node["parts"]))


def _take_apart(node: Content) -> None:
    if match := _DRIVE.match(str(node["title"])):
        words: list[Any] = [word.strip() for word in match[3].split(",")] if match[3] else []
        node |= {"kind": match[1], "name": match[2], "words": words}
