"""arcconf of Adaptec, Microsemi and IBM ServeRAID: `GETCONFIG`, `GETSTATUS` (old wording and new).

       Controller Model                         : Adaptec 6805E

Source: Adaptec's Command Line Utility guides. Content: {"Controllers found": 1, "Controller information": {fields,
"Controller Version Information": {…}}, "Logical device information": {"Logical device number 0": {…}}, "Physical Device
information": {"Device #0": {…}}}, names as printed. Between two lines of dashes stands a section's name; an indented
one belongs to the device above it. Sizes are MB of 1024 × 1024.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.printed import (
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
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "arcconf"
TITLE = "arcconf"
_BEGIN = re.compile(r"Controllers [Ff]ound: (\d{1,3})\s*$")
_LIKE = re.compile(rf"^{MARGIN}Controllers [Ff]ound: \d+\s*$", re.MULTILINE)
_HEADLESS = re.compile(r"Controller [Ii]nformation\s*$")  # copied without the line above it
_MODEL = re.compile(r"\s*(?:Controller Status|Controller Model)\s*: \S")
_PART = re.compile(r"\s*(?:Device #\d{1,4}|Logical [Dd]evice [Nn]umber \d{1,4})\s*$")  # of what somebody looked for
_OF_PART = re.compile(
    r"\s*(?:Device is an? |(?:State|Supported|Reported (?:Channel|Location)[^:]{0,30}|Status of [Ll]ogical [Dd]evice|RAID level"
    r"|Logical [Dd]evice name)\s*:)"
)
_DASHES = re.compile(r"\s*-{20,}\s*$")
_ITEM = re.compile(
    r"\s*((?:Logical [Dd]evice [Nn]umber|Device|Channel|Array Number|Array|Phy|Connector|Enclosure|Segment|Task"
    r"|maxCache [\w ]{1,40}[Nn]umber) ?#? ?\d{1,5})\s*:?\s*$"
)
_SUB_ITEM = re.compile(r"(?:Phy|Segment) ?#")
_FIELD = re.compile(r"\s*\S[^\n]{0,100}?:(?:\s|$)")
_SENTENCE = re.compile(r"\s*Device is an? (.*\S)")
_MORE = re.compile(r"\s*(?:Device is an? |No (?:logical|physical) |Initiator at |Command completed)")
_TITLED = re.compile(r"([A-Z][\w ]{1,60}\w):\s*$")
_LOGICAL = re.compile(r"Logical [Dd]evice number")
_HALF = re.compile(r"[A-Z][\w /-]{2,60}\s*$")  # of a name that has two lines
_REST = re.compile(r"\s*\S[^:\n]{0,60}  : \S")
_SECTION = re.compile(  # of its own, where a page lost the blanks that tell them from a device's
    r"(?:Controller|Logical device|Physical device|Array|Connector|Task|maxCache) information", re.IGNORECASE
)
_TITLES = {  # a version writes them with capitals; whoever reads on knows them by these
    name.lower(): name
    for name in ("Controller information", "Logical device information", "Physical Device information")
}

_SECTIONS = {"Logical": "Logical device information", "Device #": "Physical Device information"}


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if _LIKE.search(text.by_lines):
        return 1.0
    is_part = any(word in text.text for word in ("ontroller Model", "Device #", "evice number", "evice Number"))
    return 0.9 if is_part and any(_blocks(text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "Controllers found: 1")


def _begins(lines: Sequence[str], index: int, *, with_parts: bool = False) -> bool:
    """Whether an output begins here: with its own line, with the dashes over the controller, or with a device alone (`with_parts`)."""
    line = lines[index]
    if "---" not in line and not line.startswith("Controllers") and "evice " not in line:
        return False  # nearly always
    if with_parts and _PART.match(line):
        return any(map(_OF_PART.match, lines[index + 1 : index + 3]))
    if _BEGIN.match(line):
        return True
    is_title = _DASHES.match(lines[index]) and index + 2 < len(lines) and _HEADLESS.match(lines[index + 1])
    if not is_title or not _DASHES.match(lines[index + 2]):
        return False
    is_below = any(_BEGIN.match(line) for line in lines[max(0, index - 3) : index])
    return not is_below and any(map(_MODEL.match, lines[index + 3 : index + 8]))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """From `Controllers found` to the end of the sections, an empty one included."""
    index = 0
    # dashes behind a margin are those of a whole output, whose devices are no parts
    with_parts = not any(line[:1].isspace() and _is_dashes(line) for line in lines)
    while index < len(lines):
        if not _begins(lines, index, with_parts=with_parts):
            index += 1
            continue
        first = last = index
        index += 1
        while index < len(lines) and not _begins(lines, index) and not is_prompt(lines[index]):
            line = lines[index]
            if line.strip() and line[0] not in " \t" and not _is_known(lines, index):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _is_known(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    if ":" in line and _FIELD.match(line):
        return True
    if _is_dashes(line) or (index > 0 and _is_dashes(lines[index - 1])):
        return True
    if _ITEM.match(line) or _MORE.match(line):
        return True
    return bool(_HALF.match(line) and any(map(_REST.match, lines[index + 1 : index + 2])))


def _is_dashes(line: str) -> bool:
    return "---" in line and _DASHES.match(line) is not None


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    head = _BEGIN.match(lines[0])
    content: Content = {"Controllers found": int(head[1])} if head else {}
    section = item = here = content
    around: Content | None = None  # what `here` is a Phy or a Segment of
    is_flat = not any(line[:1] in (" ", "\t") for line in lines)
    for index, line in enumerate(lines[bool(head) :], start=int(bool(head))):
        if not line.strip() or _DASHES.match(line):
            continue
        is_between = _DASHES.match(lines[index - 1]) and index + 1 < len(lines) and _DASHES.match(lines[index + 1])
        match = _ITEM.match(line)
        if (is_between and _is_section(line, is_flat)) or (_TITLED.match(line) and not match):
            title = line.strip().removesuffix(":")
            section = item = here = _below(content, _TITLES.get(title.lower(), title))
            around = None
        elif is_between:
            here, around = _below(item, line.strip()), None
        elif match and _SUB_ITEM.match(match[1]):
            around = around if around is not None else here if here is not section else item
            here = _below(around, match[1])
        elif match:
            name = match[1].replace("Device Number", "device number")
            item = here = _below(_section_of(name, section, content), name)
            around = None
        else:
            _take(here, line)
    return _summary(content), content


def _section_of(name: str, section: Content, content: Content) -> Content:
    """That of a device whose section's name was not copied."""
    title = next((title for word, title in _SECTIONS.items() if section is content and name.startswith(word)), "")
    found: Content = content.setdefault(title, {}) if title else section
    return found


def _is_section(line: str, is_flat: bool) -> bool:
    return bool(_SECTION.match(line)) if is_flat else line[0] not in " \t"


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
    controller, logical, physical = (content.get(name) for name in _TITLES.values())
    parts = [str(controller.get("Controller Model", "")).strip() if isinstance(controller, dict) else ""]
    if isinstance(logical, dict):
        units = [part for key, part in logical.items() if _LOGICAL.match(key) and isinstance(part, dict)]
        states = sorted({state for one in units if (state := _value(one, "Status of logical device"))})
        parts.append(f"{count(len(units), 'logical device')}" + (f" ({', '.join(states)})" if states else ""))
    if isinstance(physical, dict):
        parts.append(count(sum(key.startswith("Device #") for key in physical), "physical device"))
    return ", ".join(filter(None, parts)) or ", ".join(key for key in content if key != "_name")


def _value(part: Content, name: str) -> str:
    """Whatever letters of the name are capitals."""
    return next((str(value) for key, value in part.items() if key.lower() == name.lower()), "")
