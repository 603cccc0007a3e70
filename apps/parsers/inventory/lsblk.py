"""lsblk: JSON (`-J`, with any columns), pairs (`-P`), and text as a tree (UTF-8 or ASCII), a list (`-l`) or raw (`-r`).

    sda               8:0    0   20G  0 disk

Source: util-linux's lsblk.c and libsmartcols (print.c); before 2.33 JSON has strings for numbers and booleans. Content:
JSON as it is; pairs and text {"blockdevices": […]} in a flat list, keys in lower case, and `parent` for a device that
stands below another in the tree. Sizes are as printed: rounded and counted in 1024 without `-b`. jc reads the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.parsers.inventory import lsblk_aligned, lsblk_folded, lsblk_mailed, util_linux
from apps.parsers.inventory.printed import MARGIN, Block, Content, blanked, count, inventory
from apps.parsers.shape import Broken, ParsedFile, ParsedInventory, ParseError
from apps.parsers.source_text import SourceText

NAME = "lsblk"
TITLE = "lsblk"
KEY = "blockdevices"
_COLUMNS = frozenset(
    re.findall(
        r"\S+",
        "NAME KNAME PATH MAJ:MIN FSAVAIL FSSIZE FSTYPE FSUSED FSUSE% FSVER MOUNTPOINT MOUNTPOINTS FSROOTS LABEL UUID PTUUID "
        "PTTYPE PARTTYPE PARTTYPENAME PARTLABEL PARTUUID PARTFLAGS PARTN RA RO RM HOTPLUG MODEL SERIAL SIZE STATE OWNER GROUP "
        "MODE ALIGNMENT MIN-IO OPT-IO PHY-SEC LOG-SEC ROTA SCHED RQ-SIZE TYPE DISC-ALN DISC-GRAN DISC-MAX DISC-ZERO WSAME "
        "WWN RAND PKNAME HCTL TRAN SUBSYSTEMS REV VENDOR ZONED DAX START MQ ID-LINK ID DISK-SEQ ZONE-SZ ZONE-WGRAN ZONE-APP "
        "ZONE-NR ZONE-OMAX ZONE-AMAX MAJ MIN",
    )
)
_HEADER = re.compile(r"^[>#\s]{0,40}(?:K?NAME|PATH) +[A-Z][^\n]{1,2000}$", re.MULTILINE)
_PAIRS = re.compile(  # its columns stand as somebody asked for them, the name not always first
    rf'^{MARGIN}(?:K?NAME="[^"\n]*" [A-Z:_%-]+="'
    r"|(?:ALIGNMENT|DISC-[A-Z]{3,4}|FSTYPE|GROUP|HOTPLUG|LABEL|MAJ[:_-]MIN|MODEL|MOUNTPOINTS?|PATH|PKNAME|RM|RO|ROTA|SERIAL|SIZE"
    r'|STATE|TRAN|TYPE|UUID|VENDOR|WWN)="[^"\n]*" (?:[^\n]{0,4000}? )?K?NAME=")',
    re.MULTILINE,
)
_USUAL = "NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT"
_JSON = re.compile(r'"blockdevices"\s*:\s*\[')
_TREE = re.compile(r"[^\w/]{0,200}(?=[\w/])")
_ARROW = re.compile(r"(?<=\s)<[=-]{2,}[^\n]*")  # somebody points at a row
_LEFT_OUT = re.compile(r"\s*(?:\.{1,3}|…|\[(?:\.{3}|…|snip)\]|<snip>)\s*$")
_NAME = re.compile(r"\S+(?: \(dm-\d+\))?")  # old ones tell the kernel's name beside it
_NUMBER = re.compile(r"(?<=\s)\d{1,7}(:)\d{1,9}(?=\s|$)")
_ROW = re.compile(r"[^\w/]{0,200}+\S{1,200}+(?: \(dm-\d{1,5}\))?\s{1,200}+\d{1,7}:\d{1,9}(?=\s|$)")
_TYPE = re.compile(r"(?<=\s)(?:disk|part|lvm|crypt|loop|rom|mpath|raid\d{1,2})(?=\s|$)")
_BRANCH = re.compile(r"[\s│|]{0,100}(?:[├└]─|[|`]-)\S")
_DEVICE = re.compile(  # prose has no more than one blank between words
    r"(?:/dev/\S{1,200}|(?:sd|vd|xvd|hd)[a-z]{1,3}\d{0,3}|nvme\d{1,4}n\d{1,4}(?:p\d{1,4})?|(?:md|dm-|loop|sr|zram|bcache|mmcblk|nbd)\d{1,4}(?:p\d{1,4})?)"
    r"(?:(?: \S{1,200})? {2,}\S| (?:\d[\d.,]{0,20}[BKMGTPE]|disk|part|lvm|crypt|loop|rom|mpath|raid\d{1,2})(?:\s|$))"
)
_MOST_SHIFTED = 4
_FLAG = re.compile("[01]")
_SIZE = re.compile(r"\d[\d.,]{0,20}[BKMGTPEZY]?")
_WORD = re.compile(r"[a-z][\w-]{0,20}")
_CELLS = {
    "rm": _FLAG, "ro": _FLAG, "rota": _FLAG, "size": _SIZE, "fsavail": _SIZE, "fsuse%": re.compile(r"\d{1,3}%|-"),
    "type": _WORD, "tran": _WORD, "uuid": re.compile(r"\S+"),
}  # fmt: skip


def looks_like(text: SourceText) -> float:
    found = util_linux.looks_like(text, _JSON, _HEADER, _PAIRS, _is_header, _read_text)
    return found or (0.8 if any(_bare_blocks(blanked(text).lines)) else 0.0)


def parse(text: SourceText) -> ParsedFile:
    bare, broken = _bare(blanked(text))
    try:
        found = util_linux.parse(text, NAME, KEY, _summary, _is_header, _PAIRS, _read_text, _is_rest, _is_sure)
    except ParseError:
        if not bare:
            raise
        return ParsedFile(inventory=tuple(bare), broken=tuple(broken))
    devices = sorted((*found.inventory, *bare), key=lambda one: one.line or 0)
    return replace(found, inventory=tuple(devices), broken=(*found.broken, *broken))


def _bare(text: SourceText) -> tuple[list[ParsedInventory], list[Broken]]:
    """Rows without their heading."""
    found, broken = [], []
    for first, end in _bare_blocks(text.lines):
        try:
            devices = _read_text([_USUAL, *util_linux.without_margin(text.lines[first:end])])
        except ValueError as error:
            line = text.lines[first].strip()[:200]
            broken.append(Broken(f"{NAME}: not readable", text.number(first), line, str(error)))
        else:
            found.append(inventory(text, NAME, (first, end), _summary(devices), {KEY: devices}))
    return found, broken


def _bare_blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Where rows of the usual columns stand outside of any table; there may be blank lines between them."""
    tables = util_linux.tables(lines, _is_header, _is_sure)
    begin, behind = next(tables, (len(lines), 0))
    index = 0
    while index < len(lines):
        if index >= begin:
            index = max(index, behind)
            begin, behind = next(tables, (len(lines), 0))
            continue
        if not lsblk_aligned.is_bare(lines[index]):
            index += 1
            continue
        first = last = index
        while index < begin and index <= last + 2:
            last = index if lsblk_aligned.is_bare(lines[index]) else last
            if last < index and lines[index].strip():
                break
            index += 1
        yield first, last + 1


def _is_header(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and words[0] in ("NAME", "KNAME", "PATH") and set(words) <= _COLUMNS


def _is_row(header: str, line: str) -> bool:
    """Sure only where the heading has the numbers of devices, or the row a branch of the tree."""
    columns = header.split()
    if columns[1] == "MAJ:MIN":
        return _ROW.match(line) is not None
    return bool(_BRANCH.match(line) or _DEVICE.match(line)) or (
        "MAJ:MIN" in columns and _NUMBER.search(line) is not None
    )


def _is_sure(header: str, line: str) -> bool:
    return _is_row(header, line) or _BRANCH.match(line) is not None


def _read_text(lines: Sequence[str]) -> list[Content]:
    plain = (_ARROW.sub("", lsblk_aligned.ungarbled(line)) for line in util_linux.without_margin(lines))
    lines = lsblk_aligned.unwrapped(list(plain))
    mailed = lsblk_mailed.devices([line for line in lines if not _LEFT_OUT.match(line)])
    if mailed is not None:
        return _with_parents(mailed, _rows(lines))
    lines = lsblk_folded.unfolded(lines)
    if set(lines[1].split()) <= _COLUMNS and not _is_rest(
        lines[0], lines[1]
    ):  # with them every row, each at a place of its own
        raise ValueError("headings on one line")
    rows = _until_odd([line for line in lines if not _is_rest(lines[0], line)])
    told_apart = None if util_linux.is_raw(rows) else lsblk_aligned.devices(rows)
    devices = told_apart or util_linux.rows(NAME, _straightened(rows))
    if "maj:min" in devices[0]:
        devices = util_linux.while_true(devices, lambda one: re.fullmatch(r"\d{1,7}:\d{1,9}", str(one.get("maj:min"))))
    devices = util_linux.while_true(devices, lambda one: _NAME.fullmatch(_called(one)) and _may_be(one))
    _more_mounts(devices, lines)
    return _with_parents(devices, _rows(lines))


def _rows(lines: Sequence[str]) -> list[str]:
    """The first line of each, and where some were left out."""
    return [line for line in lines[1:] if _LEFT_OUT.match(line) or not _is_rest(lines[0], line)]


def _may_be(device: Content) -> bool:
    """False where a cell has slipped into another column, as pages that join blanks make it look."""
    return all(not device.get(key) or form.fullmatch(str(device[key])) for key, form in _CELLS.items())


def _until_odd(lines: Sequence[str]) -> list[str]:
    """Up to the first line that is none of the table: without a number of a device, or with a first word too long for its column."""
    if util_linux.is_raw(lines):
        return list(lines)
    header = lines[0]
    width = header.find(f" {header.split()[1]}")
    for place, line in enumerate(lines[1:], start=1):
        is_odd = (
            not _is_row(header, line) if "MAJ:MIN" in header else " " not in line[: width + 1] and len(line) > width
        )
        if is_odd:
            return list(lines[:place])
    return list(lines)


def _straightened(lines: Sequence[str]) -> list[str]:
    """Without the tree. Some print what stands deeper in it some places to the right of its heading; the colons of `8:0` tell how
    many, or where `part` begins. Without either it is the one blank that makes the tree's width odd.
    """
    has_numbers = "MAJ:MIN" in lines[0]
    found_marks = map((_NUMBER if has_numbers else _TYPE).search, lines)
    colons = [match.start(1 if has_numbers else 0) if match else -1 for match in found_marks]
    straight = next((colon for colon, line in zip(colons, lines, strict=True) if colon > 0 and line[0].isalnum()), -1)
    found = []
    for colon, line in zip(colons, lines, strict=True):
        tree = _TREE.match(line)
        shift = colon - straight if straight > 0 and tree else len(tree[0]) % 2 if straight < 0 and tree else 0
        if tree and 0 < shift <= min(_MOST_SHIFTED, sum(map(str.isspace, tree[0]))):
            line = " " * (tree.end() - shift) + line[tree.end() :]
        elif tree:
            line = " " * tree.end() + line[tree.end() :]
        found.append(line)
    return found


def _is_rest(header: str, line: str) -> bool:
    """Whether a line has nothing but one more place where the device above is mounted: below the others, or wrapped by a mail.
    Also the rest of a row that has a name too long for its column, and where somebody left rows out or put a blank line.
    """
    if not line.strip() or lsblk_folded.is_empty_rest(header, line) or lsblk_folded.is_folded(header, line):
        return True
    if _LEFT_OUT.match(line) or lsblk_aligned.is_wrapped(header, line) or lsblk_mailed.is_rest(header, line):
        return True
    place = header.find("MOUNTPOINT")
    if place < 0 or not line.strip():
        return False
    is_wrapped = line.startswith("/") and " " not in line.strip() and "MAJ:MIN" in header
    return is_wrapped or (
        line.lstrip(lsblk_folded.BESIDE).startswith(("/", "[SWAP]")) and not line[:place].strip(lsblk_folded.BESIDE)
    )


def _more_mounts(devices: Sequence[Content], lines: Sequence[str]) -> None:
    """A wrapped one is the only one: where its row has another, words may have been lost, and it is left out."""
    place = -1
    for line in lines[1:]:
        is_rest = _is_rest(lines[0], line)
        place += not is_rest
        is_mount = line.lstrip(lsblk_folded.BESIDE).startswith(("/", "[")) and not _LEFT_OUT.match(line)
        if is_rest and is_mount and 0 <= place < len(devices):
            several = devices[place].get("mountpoints")
            if isinstance(several, list) and (not line.startswith("/") or not several):
                several.append(line.strip(lsblk_folded.BESIDE))
            elif not devices[place].get("mountpoint", True):
                devices[place]["mountpoint"] = line.strip(lsblk_folded.BESIDE)


def _with_parents(devices: list[Content], lines: Sequence[str]) -> list[Content]:
    """Behind rows that were left out, nobody knows what a row is below."""
    above: list[tuple[int, str]] = []
    waiting = iter(devices)
    for line in lines:
        if _LEFT_OUT.match(line):
            above = []
        elif (device := next(waiting, None)) is not None:
            match = _TREE.match(line)
            depth = match.end() if match else 0
            above = [(place, name) for place, name in above if place < depth]
            if above and depth:
                device["parent"] = above[-1][1]
            above.append((depth, _called(device)))
    return devices


def _called(device: Content) -> str:
    path = str(device.get("path") or "")
    return str(device.get("name") or device.get("kname") or (path if path.startswith("/dev/") else ""))


def _summary(devices: Sequence[Any]) -> str:
    found = [device for device in devices if isinstance(device, dict)]
    disks = [device for device in found if device.get("type") == "disk"]
    shown = ", ".join(f"{_called(disk)} {disk.get('size') or ''}".strip() for disk in disks[:4])
    more = f", {len(disks) - 4} more" if len(disks) > 4 else ""
    return f"{count(len(found), 'block device')}" + (f": {shown}{more}" if shown else "")
