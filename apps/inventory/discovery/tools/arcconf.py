"""arcconf of Adaptec, Microsemi and IBM ServeRAID: `GETCONFIG`, `GETSTATUS` (old wording and new).

       Controller Model                         : Adaptec 6805E

Source: Adaptec's Command Line Utility guides. Content: {"Controllers found": 1, "Controller information": {fields,
"Controller Version Information": {…}}, "Logical device information": {"Logical device number 0": {…}}, "Physical Device
information": {"Device #0": {…}}}, names as printed. Between two lines of dashes stands a section's name; an indented
one belongs to the device above it. Sizes are MB of 1024 × 1024.

arcconf `GETCONFIG n AL`: Adaptec, Microsemi, IBM ServeRAID 8k. Logical devices by segments, drives by connector or slot.

    Segment 0 : Present (Controller:1,Enclosure:0,Slot:22) S19HNSAD431909K
    Segment 0 : Present (2861588MB, SATA, HDD, Enclosure:0, Slot:0) WD-WMC4N0D4C3EC

Several controllers are several outputs; their number stands in a segment's words or is the place among the outputs.
`Group 1, Segment 0` is the first drive of the second span. Sizes are MB of 1024 × 1024.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
    pci_of,
    size_of,
    slot_number,
    state_of,
    told,
    wwn_of,
)
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

NAME = "arcconf"
TITLE = "arcconf"
_BEGIN = re.compile(r"Controllers [Ff]ound: (\d{1,3})\s*$")
_LIKE = re.compile(rf"^{MARGIN}Controllers [Ff]ound: \d+\s*$", re.MULTILINE)
_HEADLESS = re.compile(r"Controller [Ii]nformation\s*$")  # copied without the line above it
_MODEL = re.compile(r"\s*(?:Controller Status|Controller Model)\s*: \S")
_PART = re.compile(r"\s*(?:Device #\d{1,4}|Logical [Dd]evice [Nn]umber \d{1,4})\s*$")  # of a device copied alone
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
_HALF = re.compile(r"[A-Z][\w /-]{2,60}\s*$")  # the first line of a name that has two
_REST = re.compile(r"\s*\S[^:\n]{0,60}  : \S")
_SECTION = re.compile(  # of its own, where a page lost the blanks that tell them from a device's
    r"(?:Controller|Logical device|Physical device|Array|Connector|Task|maxCache) information", re.IGNORECASE
)
# at the margin: an indented one is a whole block in prose, which is read without its margin
_DEVICES = re.compile(r"(?:Logical|Physical) device information\s*$", re.IGNORECASE)
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
    """Return whether an output begins here.

    It begins with its own line, with the dashes over the controller, or with a device alone (`with_parts`).
    """
    line = lines[index]
    if "---" not in line and not line.startswith("Controllers") and "evice " not in line and "nformation" not in line:
        return False  # rules out most lines fast
    if with_parts and _PART.match(line):
        return any(map(_OF_PART.match, lines[index + 1 : index + 3]))
    if _BEGIN.match(line):
        return True
    is_title = _DASHES.match(lines[index]) and index + 2 < len(lines) and _HEADLESS.match(lines[index + 1])
    if not is_title or not _DASHES.match(lines[index + 2]):
        return False
    is_below = any(_BEGIN.match(line) for line in lines[max(0, index - 3) : index])
    return not is_below and any(map(_MODEL.match, lines[index + 3 : index + 8]))


def _begins_section(lines: Sequence[str], index: int) -> bool:
    """Return whether a section alone begins here, as `GETCONFIG n LD` prints it below the number of controllers."""
    if "nformation" not in lines[index] or not _DEVICES.match(lines[index]):
        return False
    below = [line for line in lines[index + 1 : index + 6] if line.strip()]
    return bool(below) and _is_dashes(below[0]) and any(map(_PART.match, below[1:3]))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield each block from `Controllers found` to the end of its sections, an empty one included."""
    index = 0
    # dashes behind a margin are those of a whole output, whose devices are no parts
    with_parts = not any(line[:1].isspace() and _is_dashes(line) for line in lines)
    while index < len(lines):
        if not _begins(lines, index, with_parts=with_parts) and not _begins_section(lines, index):
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
    if _DEVICES.match(lines[0]):
        lines = ["-" * 30, *lines]  # those above a title, which were not copied
    head = _BEGIN.match(lines[0])
    content: Content = {"Controllers found": int(head[1])} if head else {}
    section = item = here = content
    around: Content | None = None  # the part whose Phy or Segment `here` is
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
    """Return the section for a device whose section's title was not copied."""
    title = next((title for word, title in _SECTIONS.items() if section is content and name.startswith(word)), "")
    found: Content = content.setdefault(title, {}) if title else section
    return found


def _is_section(line: str, is_flat: bool) -> bool:
    return bool(_SECTION.match(line)) if is_flat else line[0] not in " \t"


def _below(parent: Content, name: str) -> Content:
    """Add an empty part of that name and return it."""
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
    """Return the value of a field, whatever letters of its name are capitals."""
    return next((str(value) for key, value in part.items() if key.lower() == name.lower()), "")


TOOL = "arcconf"
_SEGMENT = re.compile(r"(?:Group (\d{1,3}), )?Segment (\d{1,4})", re.IGNORECASE)
_VOLUME = re.compile(r"Logical device number (\d{1,5})", re.IGNORECASE)
_AT = re.compile(
    r"\((?:[^()]{0,60},\s?)?(?:(?:Enclosure|Connector):(\d+),\s{0,100}(?:Slot|Device):(\d+)|(?:Channel:)?(\d+), ?(?:Device:)?(\d+))\)"
)
_LOCATION = re.compile(r"(?:Enclosure|Connector) (\d+|Direct Attached), (?:Slot|Device) (\d+)")
_HALVED = re.compile(r"(?=\S*\d)\S{8}")  # the first part of a SATA drive's name, where a vendor is asked for
_DRIVE_WORDS = re.compile(r"\w{1,20} \(([\d,.]{1,12} ?[KMGT]B),\s?(\w{2,8}),\s?(SSD|HDD)?")
_MEDIA = {"SSD": True, "HDD": False}
_SEGMENT_STATES = {"present": "online", "rebuilding": "rebuilding", "missing": "missing", "failed": "failed"}
_PRESENT = re.compile(r"Present \(.{0,100}\) (\S{1,60})")
_STATES = {"online": "online", "ready": "unconfigured", "hot spare": "spare", "hot-spare": "spare", "failed": "failed",
           "rebuilding": "rebuilding", "raw": "jbod", "raw (pass through)": "jbod", "online (jbod)": "jbod", "defunct": "failed",
           "missing": "missing"}  # fmt: skip


class _AnyCase(dict[str, Any]):
    """Fields by their names in any capitals, which change from version to version (`Installed memory`, `Installed Memory`)."""

    def __init__(self, plain: dict[str, Any]) -> None:
        super().__init__({name: _AnyCase(one) if isinstance(one, dict) else one for name, one in plain.items()})
        self._names = {name.lower(): name for name in self}

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(self._names.get(name.lower(), name), default)

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(self._names.get(name.lower(), name))


def discover(printed: str) -> Cards:
    """Parse the output of arcconf.

    Raises:
        UnreadableError: for text that is not output of arcconf.
    """
    found = Buildings(TOOL)
    serials: dict[str, int] = {}
    for content in map(_AnyCase, contents(TOOL, printed, (parse,))):
        about = dictionary(content.get("Controller information"))
        serial = told(about.get("Controller Serial Number"), 120) or told(about.get("Controller Model"))
        number = serials.setdefault(serial, len(serials) + 1) if serial else max(1, len(serials))
        card = found.card(number)
        _about(card, about)
        for key, value in list(dictionary(content.get("Physical Device information")).items())[:10_000]:
            for one in value if isinstance(value, list) else [value]:  # numbers recur on other channels
                _drive(card, told(key, 40), dictionary(one))
        for key, value in list(dictionary(content.get("Logical device information")).items())[:10_000]:
            if match := _VOLUME.fullmatch(str(key)):
                _volume(card, match[1], dictionary(value))
    return Cards(found.done())


def _about(card: Building, about: dict[str, Any]) -> None:
    versions = dictionary(about.get("Controller Version Information"))
    memory = told(about.get("Installed memory"), 40)
    card.put(
        model=told(about.get("Controller Model")), serial=told(about.get("Controller Serial Number"), 120),
        vendor="IBM" if "IBM" in told(about.get("Controller Model")) else "Adaptec" if about else "",
        firmware=told(versions.get("Firmware"), 60), cache_bytes=size_of(memory), pci=pci_of(about.get("PCI Address")),
        bus=_bus(about),
    )  # fmt: skip
    for name, kind in (("Controller Battery Information", "battery"), ("Controller ZMM Information", "non-volatile"),
                       ("Controller Cache Backup Unit Information", "non-volatile")):  # fmt: skip
        part = dictionary(about.get(name))
        state = text_of(part, "Status", "Overall Backup Unit Status")
        if state:
            card.put(cache_protection="none" if "not installed" in state.lower() else kind, protection_state=state)


def text_of(fields: dict[str, Any], *names: str) -> str:
    return next((told(fields[name], 60) for name in names if told(fields.get(name), 60)), "")


def _bus(about: dict[str, Any]) -> str:
    width = re.match(r"\d{1,2}", told(about.get("Hot bus link width") or about.get("Host bus link width"), 30))
    speed = {"2500": "1.0", "5000": "2.0", "8000": "3.0", "16000": "4.0"}.get(
        told(about.get("Host bus speed"), 20).split(" ")[0]
    )
    is_express = told(about.get("Host bus type"), 20) == "PCIe"
    return f"PCIe {speed} x{width[0]}" if is_express and width and speed else ""


def _place(first: str, second: str) -> str:
    return f"{int(first)},{int(second)}"


def _drive(card: Building, key: str, fields: dict[str, Any]) -> None:
    if (
        "hard drive" not in told(fields.get("Device is a"), 60).lower()
        and "ssd" not in told(fields.get("Device is a"), 60).lower()
    ):
        if told(fields.get("Device is a"), 60) == "Enclosure services device":
            card.shelves.put(
                told(fields.get("Enclosure ID"), 10),
                vendor=told(fields.get("Vendor"), 40),
                model=told(fields.get("Model"), 60),
            )
        return
    location = _LOCATION.search(told(fields.get("Reported Location"), 60))
    channel = told(fields.get("Reported Channel,Device(T:L)") or fields.get("Reported Channel,Device"), 40).split("(")[
        0
    ]
    speed, state = told(fields.get("Transfer Speed"), 40), told(fields.get("State"), 40).lower()
    kind, ssd = interface_named(speed), told(fields.get("SSD"), 10)
    maker, model = told(fields.get("Vendor"), 40), told(fields.get("Model"))
    if kind == "SATA" and _HALVED.fullmatch(maker):
        maker, model = "", maker + model
    is_slot = "Slot" in told(fields.get("Reported Location"), 60)
    card.drives.put(
        channel or key, vendor="" if maker in ("ATA", "*MISSING*") else maker, model=model,
        serial=told(fields.get("Serial number"), 80), wwn=drives_wwn_of(fields.get("World-wide name")), interface=kind,
        generation=generation_of(kind, speed), firmware=told(fields.get("Firmware"), 60), is_solid_state={"Yes": True, "No": False}.get(ssd),
        capacity_bytes=size_of(fields.get("Total Size") or fields.get("Size")), state=_STATES.get(state, "spare" if "spare" in state else ""),
        shelf=location[1] if location and is_slot and location[1].isdigit() else "", slot=slot_number(location[2]) if location else None,
        health={"No": "passed", "Yes": "failed"}.get(told(fields.get("S.M.A.R.T."), 10), ""),
    )  # fmt: skip
    if location and location[1].isdigit():
        card.card.setdefault("at", {})[_place(location[1], location[2])] = channel or key


def _volume(card: Building, number: str, fields: dict[str, Any]) -> None:
    write = text_of(fields, "Write-cache status", "Write-cache mode", "Write-cache setting").lower()
    read = text_of(fields, "Read-cache status", "Read-cache mode", "Read-cache setting").lower()
    spans = _spans(card, fields)
    card.volumes.put(
        f"v{number}", name=text_of(fields, "Logical device name"), level=_level(fields, len(spans)),
        capacity_bytes=size_of(fields.get("Size")), chunk_size=size_of(text_of(fields, "Stripe-unit size", "Interface Stripe-unit size")),
        state=state_of(text_of(fields, "Status of logical device")),
        write_policy="write back" if write.startswith(("on", "enabled")) else "write through" if write.startswith(("off", "disabled")) else "",
        read_policy="read ahead" if read.startswith(("on", "enabled")) else "no read ahead" if read.startswith(("off", "disabled")) else "",
        device=told(fields.get("Disk Name"), 60), spans=spans, naa=wwn_of(fields.get("Volume Unique Identifier")),
    )  # fmt: skip


def _level(fields: dict[str, Any], spans: int) -> str:
    printed = text_of(fields, "RAID level") or str(fields.get("RAID level", ""))[:20]
    match = re.match(r"(\d{1,2}(?:EE?)?)(?: |$)", printed)  # also `6 Reed-Solomon`, `5EE`
    return "jbod" if "simple" in printed.lower() else f"RAID{match[1]}" if match else ""


def _spans(card: Building, fields: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    places = _serials(card)
    groups: dict[int, dict[int, str]] = {}
    segments = dictionary(fields.get("Logical device segment information")) or fields
    for key, value in list(segments.items())[:10_000]:
        match, at = _SEGMENT.fullmatch(str(key)), _AT.search(told(value, 200))
        if match and at:
            serial = told(told(value, 200).rpartition(")")[2], 80)  # some versions print none
            place = places.get(serial) or _known_as(card, at, serial)
            groups.setdefault(int(match[1] or 0), {})[int(match[2])] = place
            _segment(card, place, told(value, 200))
    found = tuple(tuple(groups[group][place] for place in sorted(groups[group])) for group in sorted(groups))
    return found or _by_serial(places, dictionary(fields.get("Array Physical Device Information")))


def _serials(card: Building) -> dict[str, str]:
    """Map serial numbers to the places of their drives; those that two drives have are left out."""
    listed = [(drive["serial"], place) for place, drive in card.drives.values.items() if drive.get("serial")]
    counted = Counter(serial for serial, _ in listed)
    return {serial: place for serial, place in listed if counted[serial] == 1}


def _by_serial(places: dict[str, str], listed: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return the places of an array's drives as one span, found by their serial numbers.

    SmartRAID cards list the drives below each volume, but without their spans.
    """
    printed = (_PRESENT.fullmatch(told(value, 200)) for value in list(listed.values())[:10_000])
    members = tuple(places[match[1]] for match in printed if match and match[1] in places)
    return (members,) if members else ()


def _known_as(card: Building, at: "re.Match[str]", serial: str) -> str:
    """Note the drive at that place and return the place by which the card knows it."""
    place = _place(at[1] or at[3], at[2] or at[4])
    known = card.card.get("at", {}).get(place, place)
    slot = int(at[2] or at[4])
    card.drives.put(known, serial="" if card.drives.of(known).get("serial") else told(serial, 80), slot=slot)
    return str(known)


def _segment(card: Building, place: str, printed: str) -> None:
    """Add what the words of a segment tell of its drive where no list of drives has told it.

    They are its state, and in newer versions its size in MB, its interface and its medium: `Present (457862MB, SATA, SSD, …`.
    """
    words = _DRIVE_WORDS.match(printed)
    values: dict[str, Any] = {"state": _SEGMENT_STATES.get(printed.split(" ", 1)[0].lower(), "")}
    if words:
        kind = interface_named(words[2])
        values |= {"capacity_bytes": size_of(words[1]), "interface": kind, "is_solid_state": _MEDIA.get(words[3])}
    known = card.drives.of(place)
    card.drives.put(place, **{name: value for name, value in values.items() if known.get(name) in (None, "")})
