"""ssacli, hpssacli, hpacucli (HP and HPE Smart Array, 7.x to 6.x of ssacli): `show`, `show status`, `show config detail`.

    physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 6001.1 GB, OK)

Source: HPE's Smart Storage Administrator CLI guide. Content, one per controller: {"title", "fields", "parts": […]} as
indented; a drive in a sentence is {"kind": "physicaldrive", "name": "1I:1:1", "words": ["port 1I:box 1:bay 1", "SAS",
"6001.1 GB", "OK"]}. Sizes count in 1000 in new versions, in 1024 in old ones, which print no difference.

Text whose nesting is its indentation, as ssacli prints it: a line that others are indented under is their parent.

Array: A                         → {"title": "Array: A", "fields": {"Status": "OK"}, "parts": []}
   Status: OK

ssacli, hpssacli, hpacucli: `ctrl all show config detail`. Controllers with arrays, logical and physical drives.

A drive is `1I:1:2` (port, box, bay). A logical drive takes all data drives of its array, in the printed order;
the parity groups of a RAID 50 or 60 are counted. New versions count sizes in 1000, old ones too where
they print `GB`; none tells.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from apps.inventory.discovery.cards import Building, Buildings, Cards
from apps.inventory.discovery.tool_output import (
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
from apps.inventory.discovery.tool_text import (
    contents,
    dictionary,
    drives_wwn_of,
    generation_of,
    interface_named,
    is_ssd,
    pci_of,
    rows,
    size_of,
    slot_number,
    state_of,
    told,
    wwn_of,
)
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

DEEPEST = 12


def outline(lines: Sequence[str], is_title: Callable[[str], bool]) -> list[Content]:
    """Return the top nodes of an outline by indentation.

    A line is the title of a node when `is_title` says so, when it is no field, or when there are lines below it.
    """
    filled = [(len(line) - len(line.lstrip()), line.strip()) for line in lines if line.strip()]
    top: Content = {"parts": []}
    above: list[tuple[int, Content]] = [(-1, top)]
    for place, (depth, text) in enumerate(filled):
        while above[-1][0] >= depth:
            above.pop()
        following = filled[place + 1][0] if place + 1 < len(filled) else 0
        found = field(text) if ":" in text and not is_title(text) else None
        parent = above[-1][1]
        if found and (following <= depth or found[1] == "" or len(above) > DEEPEST) and "fields" in parent:
            put(parent["fields"], found[0], typed(*found))
            continue
        node: Content = {"title": text, "fields": {}, "parts": []}
        parent["parts"].append(node)
        if len(above) <= DEEPEST:
            above.append((depth, node))
    parts: list[Content] = top["parts"]
    return parts


NAME = "ssacli"
TITLE = "ssacli, hpssacli, hpacucli"
_CONTROLLER = (
    r"(?:(?:HPE? |Dynamic |Smart |MSA|RAID Array |NS\d|MR\d|SR\d)[^\n:=]{0,80}?"
    r" in [A-Z]\w{1,40}(?: \w{1,40}){0,4}(?: {1,40}\([^()\n]{1,60}\)){0,3})"
)
_HAS_SERIAL = re.compile(r"\(sn: [^()\n]{1,60}\)\s*$")
_BEGIN = re.compile(rf"{_CONTROLLER}\s*$")
_LIKE = re.compile(rf"^{MARGIN}{_CONTROLLER}\s*$", re.MULTILINE)
_DRIVE = re.compile(
    r"(physicaldrive|logicaldrive|ssdphysicaldrive|array) (\S{1,40})(?: \((.*?)\))?(?:\s+<[<=*-].*)?$", re.IGNORECASE
)
_INSIDE = re.compile(
    r"^[> \t]{0,40}(?:physicaldrive|logicaldrive|array|HBA Drives|unassigned|Controller Status:|Bus Interface:|Slot:)",
    re.MULTILINE | re.IGNORECASE,
)
_DEPTHS = (  # the depths of titles in blanks, for pages that lost the indentation
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
    """Yield each controller's line with what is indented below it.

    A line with the controller's serial number may stand alone (`ctrl all show`).
    """
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
        if last > first or _HAS_SERIAL.search(lines[first]):
            yield first, last + 1


def _is_flat(line: str) -> bool:
    """Return whether an unindented line belongs to a controller."""
    return not _BEGIN.match(line) and bool(_depth(line) or _FLAT.match(line) or _SENTENCE.match(line))


def _depth(line: str) -> int:
    return next((level for pattern, level in _DEPTHS if pattern.match(line.strip())), 0)


def _indented(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with the indentation that the tool prints.

    A drive in a sentence stands below an array, or below a group of a logical drive.
    """
    above = 0
    for line in lines:
        level = _depth(line)
        if not level and _SENTENCE.match(line):
            yield " " * (_MOST_DEEP if above == _DEPTHS[2][1] else _DEPTHS[1][1]) + line
            continue
        yield " " * (level or (min(above, _DEPTHS[1][1]) + 3)) + line
        above = level or above


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    if not any(line[:1] in (" ", "\t") for line in lines):
        lines = [lines[0], *_indented(lines[1:])]
    (content,) = outline(
        [line.expandtabs(8) for line in [lines[0].strip(), *lines[1:]]], lambda text: _DRIVE.match(text) is not None
    )
    drives: dict[str, set[str]] = {"physicaldrive": set(), "logicaldrive": set()}
    for node in _all_nodes(content):
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


def _all_nodes(top: Content) -> Iterator[Content]:
    waiting = [top]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node["parts"]))


def _take_apart(node: Content) -> None:
    if match := _DRIVE.match(str(node["title"])):
        words: list[Any] = [word.strip() for word in match[3].split(",")] if match[3] else []
        node |= {"kind": match[1], "name": match[2], "words": words}


TOOL = "ssacli"
_HEAD = re.compile(r"(.*?) in (?:Slot (\w+)|(.*?))(?: \(.*)?")
_STATES = (("fail", "failed"), ("rebuild", "rebuilding"), ("missing", "missing"))
_ROLES = (("spare", "spare"), ("unassigned", "unconfigured"), ("hba mode", "jbod"))
_LEVEL = re.compile(r"(?:raid)?(0|1\+0|10|1|50|5|60|6|adg)(?:\(?(?:adg|adm|triple)\)?)?")
_LEVELS = {"1+0": "RAID10", "adg": "RAID6"}
_SERIAL = re.compile(r"\(sn: ([^()]{1,60})\)")
_ARRAY = re.compile(r"[Aa]rray:? (\w+)(?: \(.*)?")
_CAGE = re.compile(r"(?:Internal|External) Drive Cage at Port (\w+), Box (\d+)")


def discover(printed: str) -> Cards:
    """Parse the output of ssacli, hpssacli or hpacucli.

    Raises:
        UnreadableError: for text that is not output of these tools.
    """
    found = Buildings(TOOL)
    for content in contents(TOOL, printed, (parse,)):
        head = _HEAD.fullmatch(told(content["title"]))
        if head:
            card = found.card(head[2] or told(head[3], 15))
            _about(card, told(head[1]), dictionary(content["fields"]), _is_hba(content))
            if serial := _SERIAL.search(content["title"]):
                card.put(serial=told(serial[1], 60))
            _parts(card, content)
    return Cards(found.done())


def _is_hba(content: dict[str, Any]) -> bool:
    """Return whether the card is an HBA, by its title or because it has HBA drives and no arrays beside them."""
    titles = [part["title"] for part in content["parts"]]
    return "HBA Mode" in content["title"] or ("HBA Drives" in titles and not any(map(_ARRAY.fullmatch, titles)))


def _about(card: Building, model: str, fields: dict[str, Any], is_hba: bool) -> None:
    size = told(fields.get("Total Cache Size"), 40)
    source = told(fields.get("Cache Backup Power Source"), 40).lower()
    board = told(fields.get("Cache Board Present"), 20)
    card.put(
        model=model, vendor="HPE" if model.startswith("HPE") else "HP", serial=told(fields.get("Serial Number"), 120),
        kind="hba" if is_hba else "", firmware=told(fields.get("Firmware Version"), 60),
        driver=told(fields.get("Driver Name"), 60), has_no_cache=board == "False",
        pci=pci_of(fields.get("PCI Address (Domain:Bus:Device.Function)")),
        bus=told(fields.get("Negotiated PCIe Data Rate"), 60).split(" (")[0],
        cache_bytes=size_of(f"{size} GB" if re.fullmatch(r"[\d.]+", size) else size),
        cache_protection="battery" if "batter" in source else "non-volatile" if "capacitor" in source else "",
        protection_state=told(fields.get("Battery/Capacitor Status"), 60),
    )  # fmt: skip


def _parts(card: Building, content: dict[str, Any]) -> None:
    for node, array in _nodes(content):
        fields = dictionary(node["fields"])
        if cage := _CAGE.match(node["title"]):
            card.shelves.put(f"{cage[1]}:{cage[2]}", slots=slot_number(fields.get("Drive Bays")))
        elif node.get("kind", "").lower() in ("physicaldrive", "ssdphysicaldrive"):
            _drive(card, node, fields, array)
        elif node.get("kind") == "logicaldrive":
            words = [told(word, 60) for word in node.get("words", [])]
            _volume(card, told(node["name"], 20), {"Size": (words + [""])[0], "Fault Tolerance": (words + ["", ""])[1].removeprefix("RAID "),
                                                 "Status": words[2] if len(words) > 2 else ""}, array)  # fmt: skip
        elif node["title"].startswith("Logical Drive: "):
            _volume(card, told(node["title"].removeprefix("Logical Drive: "), 20), fields, array)
    _spans(card)


def _nodes(top: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each node with the name of the array that it is in."""
    waiting = [(top, "")]
    while waiting:
        node, array = waiting.pop()
        named = _ARRAY.fullmatch(str(node["title"]))
        inside = named[1] if named else "" if node["title"] in ("Unassigned", "unassigned") else array
        yield node, inside
        waiting.extend((part, inside) for part in reversed(rows(node["parts"])))


def _drive(card: Building, node: dict[str, Any], fields: dict[str, Any], array: str) -> None:
    place, words = told(node["name"], 40), [told(word, 60) for word in node.get("words", [])]
    interface = told(fields.get("Interface Type") or (words[1] if len(words) > 1 else ""), 60)
    kind, status = interface_named(interface), told(fields.get("Status") or (words[3] if len(words) > 3 else ""), 60)
    maker, _, model = re.sub(r"\s+", " ", str(fields.get("Model", ""))[:200]).strip().partition(" ")
    role = told(fields.get("Drive Type"), 40).lower() + " ".join(words[4:]).lower()
    port, box = told(fields.get("Port"), 10) or place.split(":")[0], told(fields.get("Box"), 10)
    shelf = f"{port}:{box}" if box else place.rpartition(":")[0]
    is_predicted = "predictive" in status.lower()  # it still works
    state = next((name for word, name in _STATES if word in status.lower() and not is_predicted), "")
    rate = fields.get("PHY Maximum Link Rate") or fields.get("PHY Transfer Rate")
    blocks = told(fields.get("Logical/Physical Block Size") or fields.get("Native Block Size"), 20).partition("/")[0]
    card.drives.put(
        place, vendor="" if maker == "ATA" else told(maker, 40), model=told(model), serial=told(fields.get("Serial Number"), 80),
        wwn=drives_wwn_of(fields.get("WWID")), firmware=told(fields.get("Firmware Revision"), 60), interface=kind,
        generation=generation_of(kind, rate), is_solid_state=is_ssd(interface), rpm=_whole(fields.get("Rotational Speed")),
        capacity_bytes=size_of(fields.get("Size") or (words[2] if len(words) > 2 else ""), 1000),
        logical_block_bytes=_whole(blocks), shelf=shelf, slot=slot_number(fields.get("Bay") or place.rpartition(":")[2]),
        state=state or next((name for word, name in _ROLES if word in role), "online" if array else ""),
        health={"OK": "passed"}.get(status, "failed" if state == "failed" or is_predicted else ""), volume=array,
    )  # fmt: skip


def _whole(value: object) -> int | None:
    shown = told(value, 20)
    return int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 10 else None


def _volume(card: Building, number: str, fields: dict[str, Any], array: str) -> None:
    caching = told(fields.get("Caching"), 20)
    card.volumes.put(
        f"v{number}", level=_level(told(fields.get("Fault Tolerance"), 40)),
        name=told(fields.get("Logical Drive Label"), 60), capacity_bytes=size_of(fields.get("Size"), 1024),
        chunk_size=size_of(fields.get("Strip Size")), state=state_of(fields.get("Status")),
        naa=wwn_of(fields.get("Unique Identifier")), device=told(fields.get("Disk Name"), 60),
        write_policy={"Enabled": "write back", "Disabled": "write through"}.get(caching, ""),
        span_depth=sum(name.startswith("Parity Group ") for name in fields) or None,
    )  # fmt: skip
    if array:
        card.card.setdefault("arrays", {}).setdefault(array, []).append(f"v{number}")


def _level(tolerance: str) -> str:
    """Return the level for `1`, `RAID 1+0` or `6 (ADG)`; three copies (`1ADM`, `1 (Triple)`) count as two do."""
    match = _LEVEL.fullmatch(tolerance.lower().replace(" ", ""))
    return _LEVELS.get(match[1], f"RAID{match[1]}") if match else ""


def _spans(card: Building) -> None:
    for array, numbers in dictionary(card.card.get("arrays")).items():
        members = [(place, one.get("state")) for place, one in card.drives.values.items() if one.get("volume") == array]
        data = tuple(place for place, state in members if state != "spare")
        spares = tuple(place for place, state in members if state == "spare")
        for number in dict.fromkeys(numbers):
            card.volumes.put(number, spans=(data,) if data else (), spares=spares, shares_drives=len(set(numbers)) > 1)
