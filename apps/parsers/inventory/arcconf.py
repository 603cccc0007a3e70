"""arcconf of Adaptec, Microsemi and IBM ServeRAID: `GETCONFIG`, `GETSTATUS` (old wording and new).

       Controller Model                         : Adaptec 6805E

Source: Adaptec's Command Line Utility guides. Content: {"Controllers found": 1, "Controller information": {fields,
"Controller Version Information": {…}}, "Logical device information": {"Logical device number 0": {…}}, "Physical Device
information": {"Device #0": {…}}}, names as printed. Between two lines of dashes stands a section's name; an indented
one belongs to the device above it. Sizes are MB of 1024 × 1024.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.printed import Block, Content, count, field, is_prompt, parse_blocks, put, typed
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "arcconf"
TITLE = "arcconf"
_BEGIN = re.compile(r"Controllers found: (\d{1,3})\s*$")
_LIKE = re.compile(r"^[>#\s]{0,4}Controllers found: \d+\s*$", re.MULTILINE)
_DASHES = re.compile(r"\s*-{20,}\s*$")
_ITEM = re.compile(
    r"\s*((?:Logical [Dd]evice number|Device|Channel|Array Number|Array|Phy|Connector|Enclosure|Segment|Task"
    r"|maxCache [\w ]{1,40}[Nn]umber) ?#? ?\d{1,5})\s*:?\s*$"
)
_SUB_ITEM = re.compile(r"(?:Phy|Segment) ?#")
_FIELD = re.compile(r"\s*\S[^\n]{0,100}?:(?:\s|$)")
_SENTENCE = re.compile(r"\s{3,}Device is an? (.*\S)")
_TITLED = re.compile(r"([A-Z][\w ]{2,60}):\s*$")
_LOGICAL = re.compile(r"Logical [Dd]evice number")


def looks_like(text: SourceText) -> float:
    return 1.0 if _LIKE.search(text.text) else 0.0


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "Controllers found: 1")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """From `Controllers found` to the end of the sections, an empty one included."""
    index = 0
    while index < len(lines):
        if not _BEGIN.match(lines[index]):
            index += 1
            continue
        first = last = index
        index += 1
        while index < len(lines) and not _BEGIN.match(lines[index]) and not is_prompt(lines[index]):
            line = lines[index]
            if line.strip() and line[0] not in " \t" and not _is_known(lines, index):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _is_known(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    is_section = index > 0 and bool(_DASHES.match(lines[index - 1]))
    return (
        is_section
        or bool(_DASHES.match(line) or _ITEM.match(line) or _TITLED.match(line) or _FIELD.match(line))
        or line.startswith("Command completed")
    )


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    head = _BEGIN.match(lines[0])
    content: Content = {"Controllers found": int(head[1]) if head else None}
    section = item = here = content
    around: Content | None = None  # what `here` is a Phy or a Segment of
    for index, line in enumerate(lines[1:], start=1):
        if not line.strip() or _DASHES.match(line):
            continue
        is_between = _DASHES.match(lines[index - 1]) and index + 1 < len(lines) and _DASHES.match(lines[index + 1])
        match = _ITEM.match(line)
        if (is_between and line[0] not in " \t") or (_TITLED.match(line) and not match):
            section = item = here = _below(content, line.strip().removesuffix(":"))
            around = None
        elif is_between:
            here, around = _below(item, line.strip()), None
        elif match and _SUB_ITEM.match(match[1]):
            around = around if around is not None else here if here is not section else item
            here = _below(around, match[1])
        elif match:
            item = here = _below(section, match[1])
            around = None
        else:
            _take(here, line)
    return _summary(content), content


def _below(parent: Content, name: str) -> Content:
    """A part of that name."""
    part: Content = {}
    put(parent, name, part)
    return part


def _take(here: Content, line: str) -> None:
    if found := field(line) if _FIELD.match(line) else None:
        put(here, found[0], typed(*found))
    elif match := _SENTENCE.match(line):
        put(here, "Device is a", match[1])


def _summary(content: Content) -> str:
    controller = content.get("Controller information")
    model = str(controller.get("Controller Model", "")).strip() if isinstance(controller, dict) else ""
    logical = content.get("Logical device information")
    physical = content.get("Physical Device information")
    parts = [model]
    if isinstance(logical, dict):
        states = sorted(
            {
                str(part.get("Status of logical device"))
                for key, part in logical.items()
                if _LOGICAL.match(key) and isinstance(part, dict)
            }
        )
        parts.append(
            f"{count(sum(map(bool, map(_LOGICAL.match, logical))), 'logical device')}"
            + (f" ({', '.join(states)})" if states else "")
        )
    if isinstance(physical, dict):
        parts.append(count(sum(key.startswith("Device #") for key in physical), "physical device"))
    return ", ".join(filter(None, parts)) or ", ".join(key for key in content if key != "_name")
