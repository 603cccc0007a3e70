"""lspci in every layout: one line per device, `-v` to `-vvv`, `-n`, `-nn`, `-k`, `-D`, `-mm`, `-mmv` (pciutils 2.x, 3.x).

    03:00.0 RAID bus controller [0104]: Broadcom / LSI MegaRAID SAS 2008 [1000:0073] (rev 03)

Source of the layouts: pciutils' lspci.c (show_terse, show_verbose, show_machine). Content: {"devices": [{"slot",
"class", "class_id", "name", "id", "rev", "details": {"Kernel driver in use": …, "LnkSta": …}}]}; in `-mm` and `-mmv`
the vendor and device are apart. Hex dumps (`-x`) are left out. Wrapped lines are put together: see `lspci_wrapped`.

Lines of lspci that a terminal or a mail program wrapped, and details that a page shows without their tab.

    00:01.0 Host bridge: Example Corporation 9000 Series Dummy Host
    Bridge (rev 02)

lspci prints a device at the beginning of a line and its details behind a tab, so that other lines at the beginning are
the rest of the one before, where that one had no room for their first word. How much room there was, the other lines
show: a line that no other one is as long as was not wrapped as far as anybody can tell, unless what follows is
printed only at the end of a device (`(rev 02)`, `[8086:2922]`) or in its details (`FastB2B- ParErr-`). A terminal
cuts inside words, always at one place.

lspci (`-D -vmm -nn -k`, also `-v`): the cards that carry storage or network, with model, maker and driver.

Without `-D` the domain 0000 is left out of an address. In `-v` maker and device are one name; what a subsystem is called
is the sold name (`PERC H310 Mini`), the device the maker's own (`MegaRAID SAS 2008`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.looks import ToolLook
from apps.inventory.discovery.tool_output import (
    MARGIN,
    Block,
    Content,
    blanked,
    count,
    field,
    has_block,
    is_prompt,
    parse_blocks,
    put,
)
from apps.inventory.discovery.tool_text import contents, dictionary, pci_of, rows, told
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

_NARROWEST, _WIDEST = 40, 132
_TERMINAL = 80
_EARLY = 72
_SURELY_CUT = 3  # lines of one length were cut, not wrapped
_REVISION_END = re.compile(r"\(rev [0-9a-f]{2}\)$")
_LAST = re.compile(r"(?:\((?:rev [0-9a-f]{2}|prog-if [0-9a-f]{2}[^()]{0,40})\)|\[[0-9a-f]{4}:[0-9a-f]{4}\])\s*$")
_BITS = re.compile(r"(?:[<>]?[A-Z][A-Za-z0-9]{2,14}[+-](?: |$)){1,20}$")
_TAIL = re.compile(r"\((?:rev [0-9a-f]{2}\)|prog-if [0-9a-f]{2})|\[[0-9a-f]{4}:[0-9a-f]{4}\]")
_NO_PROSE = re.compile(r"[\w\[(][^\n]{0,78}[^\s.:?!,]\s*$")
_DUMP = re.compile(r"[0-9a-f]{2,3}: (?:[0-9a-f]{2} ){3}")  # the hexadecimal dump of `-x`
_DETAIL = re.compile(
    r"(?:Subsystem|Flags|Control|Status|Latency|Interrupt|Region \d|Capabilities|Kernel driver in use|Kernel modules|DeviceName"
    r"|Physical Slot|NUMA node|IOMMU group|Bus|(?:I/O|Memory|Prefetchable memory) behind bridge): |(?:Memory|I/O ports|Expansion ROM) at "
)
_ANY_DETAIL = re.compile(r"[A-Z][\w /]{1,30}:(?: |$)|(?:Memory|I/O ports|Expansion ROM) at ")
Is = Callable[[str], bool]


def line_widths(lines: Sequence[str], starts: Is) -> tuple[int, int]:
    """Return the lengths of the two longest lines among the devices and what is indented below them."""
    longest, second, is_inside = 0, 0, False
    for line in filter(None, lines):
        is_inside = starts(line) or (is_inside and (not line.strip() or line[0] in "\t "))
        if is_inside:
            length = len(line.rstrip())
            longest, second = max(longest, length), max(second, min(longest, length))
    return longest, second


def is_detail(line: str) -> bool:
    return _DETAIL.match(line) is not None


def goes_on(lines: Sequence[str], index: int, longest: tuple[int, int], starts: Is) -> bool:
    """Return whether the line at `index` continues the one before; `longest` are the lengths from `line_widths`."""
    before, line = lines[index - 1].rstrip(), lines[index]
    if not before or is_prompt(line):
        return False
    if _TAIL.match(line) or _BITS.match(line):
        return True
    if _REVISION_END.search(before):
        return False
    if _LAST.search(line[-200:]):
        return True
    if len(before) >= _NARROWEST and lines[index - 1][len(before) :] == " " and _NO_PROSE.match(line):
        return True  # lspci leaves no blank at the end of a line, programs that fold mails do
    if _is_between(lines, index, longest[0], starts):
        return True
    width = longest[1] if len(before) == longest[0] else longest[0]
    if not (_NARROWEST <= len(before) <= width <= _WIDEST):
        return False
    return len(before) + 1 + len(line.split(None, 1)[0]) > width


def _is_between(lines: Sequence[str], index: int, longest: int, starts: Is) -> bool:
    """Return whether a mail program that folds only lines that are too long, but early, left the line there.

    Another device or detail must follow it.
    """
    before, line = lines[index - 1].rstrip(), lines[index]
    following = lines[index + 1] if index + 1 < len(lines) else ""
    if not (following.startswith(("\t", "  ")) or is_detail(following) or _DUMP.match(following) or starts(following)):
        return False
    has_no_room = len(before) + 1 + len(line.split(None, 1)[0]) > _EARLY and len(before) + 1 + len(line) > longest
    return before.endswith(",") or (len(before) <= _TERMINAL and has_no_room)


def joined(lines: Sequence[str], is_own: Is) -> Iterator[str]:
    """Yield the lines of a block as lspci printed them, rejoining wrapped ones.

    `is_own` tells of a line that it begins an entry and is not the rest of another.
    """
    rests = list(_rests(lines, is_own))
    cut = _cut(lines, rests)
    whole = ""
    before = ""
    for line, is_rest in zip(lines, rests, strict=True):
        if is_rest:
            is_cut = len(before.rstrip()) == cut and before[-1:] != " "
            whole += line.rstrip() if is_cut else f" {line.strip()}"
        elif whole:
            yield whole
        whole = whole if is_rest else line.rstrip()
        before = line
    if whole:
        yield whole


def _rests(lines: Sequence[str], is_own: Is) -> Iterator[bool]:
    before, has_details = "", False
    for line in lines:
        if not line.strip() or is_own(line):
            has_details = False
            yield False
        elif line[0] in "\t ":
            yield line[0] == " " and line[1:2] not in " \t" and len(before) == _TERMINAL
        else:
            has_details = has_details or is_detail(line)
            yield not (has_details and _ANY_DETAIL.match(line))
        before = line


def _cut(lines: Sequence[str], rests: Sequence[bool]) -> int:
    """Return the width at which a terminal cut the lines; 0 where they were wrapped between words.

    Lines that were cut are of one length, but for one that was cut behind a blank, which copying loses. The ports of a
    card differ in nothing but their slots, so that they are of one length wherever they were wrapped.
    """
    before = [lines[index - 1].rstrip() for index, is_rest in enumerate(rests) if is_rest and not rests[index - 1]]
    longest = max(map(len, before), default=0)
    as_long = {line.partition(" ")[2] for line in before if len(line) == longest}
    is_cut = all(len(line) >= longest - 1 for line in before) and (longest == _TERMINAL or len(as_long) >= _SURELY_CUT)
    return longest if is_cut else 0


NAME = "lspci"
TITLE = "lspci"
_SLOT = r"(?:[0-9a-fA-F]{2,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
_DEVICE = re.compile(rf"({_SLOT}) (?:((?:[A-Z]|3D )[^:\"\n]{{2,80}}?)(?: \[([0-9a-f]{{4}})\])?|([0-9a-f]{{4}})): (.+)")
_MACHINE = re.compile(rf"({_SLOT}) (\"[^\n]+)")
_KEYED = re.compile(rf"(?:Slot|Device):\s*({_SLOT})\s*$")
_QUOTED = re.compile(r'"([^"]*)"|(-[rp])(\S*)')
_IDS = re.compile(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]")
_BARE_IDS = re.compile(r"([0-9a-f]{4}:[0-9a-f]{4})(?=\s|$)")
_END = re.compile(r" \((?:rev ([0-9a-f]{2})|prog-if ([0-9a-f]{2})(?: \[([^\])]{1,60})\])?[^)]*)\)")
_ID = re.compile(r" \[([0-9a-f]{4})\]$")
_HEX = re.compile(r"[0-9a-f]{2,3}: (?:[0-9a-f]{2} ){3}")
_KEYS = (
    "Class",
    "Vendor",
    "Device",
    "SVendor",
    "SDevice",
    "Rev",
    "ProgIf",
    "Driver",
    "Module",
    "NUMANode",
    "PhySlot",
    "IOMMUGroup",
    "DTNode",
)
_SURE = re.compile(
    rf"^{MARGIN}(?:{_SLOT} \"?(?:Class [0-9a-f]{{4}}|Unassigned class|(?:[A-Z]|3D )[\w ()/-]{{0,60}}"
    r"(?:bridge|[Cc]ontroller|device|[Ii]nterface|adapter|peripheral|memory|[Mm]odem|[Pp]rocessor|accelerators?|IOMMU|SMBus|PIC|System"
    rf"|counters|[Ss]tation|Channel|Band|Instrumentation|\(IEEE 1394\)))(?: \[[0-9a-f]{{4}}\])?(?::|\")"
    rf"|(?:Slot|Device):\s+{_SLOT}\s*$)"
    rf"|^{MARGIN}{_SLOT} [0-9a-f]{{4}}: [0-9a-f]{{4}}:[0-9a-f]{{4}}\b",
    re.MULTILINE,
)
_STORAGE = re.compile(r"RAID|SATA|SAS|SCSI|IDE|Non-Volatile|Fibre|storage", re.IGNORECASE)


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    return 1.0 if _SURE.search(text.by_lines) and has_block(text, _blocks) else 0.0


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "a device such as 00:1f.2 SATA controller: …")


def _starts(line: str) -> bool:
    return ":" in line and bool(_DEVICE.match(line) or _MACHINE.match(line) or _KEYED.match(line))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    widths = line_widths(lines, _starts)
    index = 0
    while index < len(lines):
        if not (lines[index] and _starts(lines[index])):
            index += 1
            continue
        first = last = index
        has_details = False  # at the beginning of the line, as what a page is copied from shows them
        while index < len(lines):
            line = lines[index]
            is_new = not line.strip() or _starts(line)
            has_details = not is_new and (has_details or is_detail(line))
            if not (is_new or has_details or _belongs(line) or goes_on(lines, index, widths, _starts)):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _belongs(line: str) -> bool:
    return line[0] in "\t " or _is_key(line) or _is_noise(line)


def _is_key(line: str) -> bool:
    return line.split(":", 1)[0] in _KEYS


def _is_noise(line: str) -> bool:
    return line.startswith(("pcilib:", "lspci:")) or bool(_HEX.match(line))


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    devices: list[Content] = []
    for line in joined(lines, lambda one: _starts(one) or _is_key(one) or _is_noise(one)):
        if _starts(line):
            devices.append(_device(line))
        elif not _is_noise(line):
            _detail(devices[-1], line)
    storage = [
        str(device.get("name") or device.get("device"))
        for device in devices
        if _STORAGE.search(str(device.get("class")))
    ]
    return f"{count(len(devices), 'PCI device')}" + (f", storage: {'; '.join(storage[:3])}" if storage else ""), {
        "devices": devices
    }


def _device(line: str) -> Content:
    if match := _KEYED.match(line):
        return {"slot": match[1]}
    if match := _MACHINE.match(line):
        return {"slot": match[1], **_machine(match[2])}
    match = _DEVICE.match(line)
    assert match  # `_starts` has matched the line
    slot, kind, kind_id, bare, rest = match.groups()
    name = rest
    device: Content = {"slot": slot, "class": kind or "", "class_id": kind_id or bare or ""}
    ends = list(_END.finditer(rest))
    for end in ends:
        device |= {
            key: value for key, value in (("rev", end[1]), ("prog_if", end[2]), ("prog_if_name", end[3])) if value
        }
    name = rest[: ends[0].start()] if ends else rest
    ids = list((_BARE_IDS if bare else _IDS).finditer(name))
    if ids:
        device["id"] = ids[-1][1]
        name = name[: ids[-1].start()]
    return {**device, "name": name.strip()}


def _machine(rest: str) -> Content:
    """Parse the machine-readable form `"class" "vendor" "device" -r03 -p01 "svendor" "sdevice"`."""
    device: Content = {}
    keys = iter(("class", "vendor", "device", "svendor", "sdevice"))
    for quoted, option, value in _QUOTED.findall(rest):
        if option:
            device["rev" if option == "-r" else "prog_if"] = value
        elif key := next(keys, ""):
            device |= _with_id(key, quoted)
    return device


def _with_id(key: str, value: str) -> Content:
    match = _ID.search(value)
    return {key: value[: match.start()], f"{key}_id": match[1]} if match else {key: value}


def _detail(device: Content, line: str) -> None:
    found = field(line)
    if line[0] not in "\t " and _is_key(line):
        if found:
            for key, value in _with_id(found[0].lower(), found[1]).items():
                put(device, key, value)
        return
    details: dict[str, Any] = device.setdefault("details", {})
    if found and not found[0].startswith(("[", "<")) and len(found[0]) <= 40:
        put(details, *found)
    else:
        details.setdefault("lines", []).append(line.strip())


TOOL = "lspci"
MAX_DEVICES = 4096
_KINDS = (
    ("raid", r"raid"), ("nvme", r"non-volatile memory"), ("fc", r"fibre channel"), ("hba", r"sata|serial attached scsi|scsi storage"),
    ("ide", r"\bide\b"), ("network", r"ethernet|infiniband|network controller|fabric"),
)  # fmt: skip
_KINDS_BY_CLASS = {
    "0104": "raid", "0108": "nvme", "0c04": "fc", "0106": "hba", "0107": "hba", "0100": "hba", "0101": "ide", "0200": "network", "0207": "network",
}  # fmt: skip
_LINK = re.compile(r"Speed (\d{1,3}(?:\.\d)?) ?GT/s(?: \(\w{1,20}\))?,\s{0,10}Width x(\d{1,2})")
_LINK_GENERATIONS = {2.5: "1.0", 5.0: "2.0", 8.0: "3.0", 16.0: "4.0", 32.0: "5.0", 64.0: "6.0"}  # GT/s of a lane
_MOST_LANES = 32
# A maker's name ends with its legal form, of which it may have several (`Technology Co., Ltd.`), or else with
# `Technology`; some makers have neither. Checked against every device of pci.ids.
_PLAIN_MAKERS = (
    "Broadcom / LSI", "LSI Logic / Symbios Logic", "LSI Logic", "Broadcom", "Adaptec", "IBM", "Dell EMC", "Dell",
    "SK hynix", "Western Digital", "SanDisk", "Solidigm", "Microsemi / PMC / IDT", "Hewlett Packard Enterprise",
    "Silicon Integrated Systems [SiS]", "Solarflare Communications", "Cavium QLogic", "Qualcomm Atheros",
)  # fmt: skip
_LEGAL_FORM = (
    r"(?:Corporation|Corp|Company|Co|Limited|L[Tt][Dd]|Incorporated|[Ii]nc|LLC|L\.L\.C|GmbH|AG|PLC|plc|S\.?A|B\.?V|N\.?V"
    r"|S\.?r\.?l|Oyj?|AB|A/S|KG|SE)(?![\w/-])\.?"
)
_MAKER = re.compile(
    rf"({'|'.join(f'{re.escape(name)}(?= (?!Corp|Inc)[^(/])' for name in _PLAIN_MAKERS)}"
    rf"|.{{2,60}}?[ ,]{_LEGAL_FORM}(?:(?:,? ?| and ){_LEGAL_FORM}| and subsidiaries)*"
    r"(?: \[[^\]]{1,20}\]| \([^)]{1,40}\)| / \w{1,20})?"
    r"|.{2,60}?(?:Technology|Technologies)(?![\w-])(?: / \w{1,20})?)\s+(.+)"
)


@dataclass(frozen=True)
class PciCard:
    """A PCI card: `kind` is raid, hba, nvme, fc, ide or network, `address` such as 0000:03:00.0.

    `bus` is the link as it runs (`PCIe 3.0 x8`), which may be slower than what the card can.
    """

    address: str
    kind: str
    vendor: str = ""
    model: str = ""
    sold_as: str = ""
    driver: str = ""
    bus: str = ""


@dataclass(frozen=True)
class PciCards:
    cards: tuple[PciCard, ...]

    def with_earlier(self, before: "PciCards", look: ToolLook) -> "PciCards":
        """Return the cards with those of the looks before, which this partial `look` did not look for."""
        return PciCards(tuple((before.by_address() | self.by_address()).values()))

    def by_address(self) -> dict[str, PciCard]:
        return {card.address: card for card in self.cards}


def discover(printed: str) -> PciCards:
    """Parse the output of lspci.

    Raises:
        UnreadableError: for text that is not output of lspci.
    """
    devices = [one for content in contents(TOOL, printed, (parse,)) for one in rows(content.get("devices"))]
    found = (_card(one) for one in devices[:MAX_DEVICES])
    return PciCards(tuple({one.address: one for one in found if one}.values()))


def _card(device: dict[str, Any]) -> PciCard | None:
    address, kind = pci_of(device.get("slot")), _kind(device)
    if not address or not kind:
        return None
    details = dictionary(device.get("details"))
    vendor, model = told(device.get("vendor"), 120), told(device.get("device"))
    if not vendor and (match := _MAKER.fullmatch(told(device.get("name")))):
        vendor, model = match[1][:120], match[2]
    driver = told(device.get("driver") or details.get("Kernel driver in use"), 60)
    bus = link_of(details.get("LnkSta"), details.get("LnkCap"))
    return PciCard(address, kind, vendor, model or told(device.get("name")), _sold(device, details), driver, bus)


def link_of(state: object, capability: object = "") -> str:
    """Return the PCI Express link as it runs: `Speed 8GT/s (ok), Width x4 (downgraded)` → `PCIe 3.0 x4`.

    From 3.6 on pciutils compares it with LnkCap and says so: ok (left out from 3.9 on), downgraded, overdriven or strange. ''
    where there is no link (`Speed unknown, Width x0`), and where it is faster or wider than LnkCap allows.
    """
    runs, can = _LINK.search(told(state, 200)), _LINK.search(told(capability, 200))
    generation = _LINK_GENERATIONS.get(float(runs[1])) if runs else None
    if not runs or not generation or not 0 < int(runs[2]) <= _MOST_LANES:
        return ""
    if can and (float(runs[1]) > float(can[1]) or int(runs[2]) > int(can[2])) and "overdriven" not in told(state, 200):
        return ""
    return f"PCIe {generation} x{int(runs[2])}"


def _kind(device: dict[str, Any]) -> str:
    if known := _KINDS_BY_CLASS.get(told(device.get("class_id"), 10)):
        return known
    name = told(device.get("class"), 80).lower()
    return next((kind for kind, pattern in _KINDS if re.search(pattern, name)), "")


def _sold(device: dict[str, Any], details: dict[str, Any]) -> str:
    name = " ".join(filter(None, (told(device.get("svendor"), 60), told(device.get("sdevice"), 90))))
    name = name or re.sub(r"\s*\[[0-9a-f:]{9}\]$", "", told(details.get("Subsystem"), 160))
    return "" if re.search(r"\bDevice\b|Subsystem", name) else name
