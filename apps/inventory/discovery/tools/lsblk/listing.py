"""lsblk: JSON (`-J`, with any columns), pairs (`-P`), and text as a tree (UTF-8 or ASCII), a list (`-l`) or raw (`-r`).

    sda               8:0    0   20G  0 disk

Source: util-linux's lsblk.c and libsmartcols (print.c); before 2.33 JSON has strings for numbers and booleans. Content:
JSON as it is; pairs and text {"blockdevices": […]} in a flat list, keys in lower case, and `parent` for a device that
stands below another in the tree. Sizes are as printed: rounded and counted in 1024 without `-b`. jc reads the text.

Rows of lsblk's usual columns told apart by their words, where names were changed, tabs lost or the tree garbled.

NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT
sda      8:0    0  931G  0 disk
`-r 253:0 0 931G 0 lvm /

Each of these columns has a word in every row but the last one, MOUNTPOINT, which has all of the rest.

`lsblk -f` as a mail program folds it: the heading ends before the free space or earlier, and so does each row.

NAME   FSTYPE FSVER LABEL UUID
FSAVAIL FSUSE% MOUNTPOINTS
sda
└─sda1 btrfs        Data1 01020304-0506-0708-090a-0b0c0d0e0f10
  2.7T    51% /srv/Data1

What is left on a row's first line stands below its headings; what went to the next ones is told by its form.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.inventory.discovery import util_linux
from apps.inventory.discovery.tool_output import MARGIN, Block, Content, blanked, count, inventory, starts, unescaped
from apps.inventory.discovery.util_linux import BESIDE, is_empty_rest, is_folded, unfolded
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory, ParseError
from apps.parsers.core.source_text import SourceText

_WORDS = {
    "MAJ:MIN": r"\d{1,7}:\d{1,9}",
    "RM": "[01]",
    "SIZE": r"\d[\d.,]{0,20}[BKMGTPE]?",
    "RO": "[01]",
    "TYPE": r"[a-z]\w{1,20}",
}
_LAST = ("MOUNTPOINT", "MOUNTPOINTS")
_ALIGNED_REST = re.compile(
    r"(?:(?:(?:RM )?\s{0,6}(?:SIZE )?RO )?TYPE(?:\s{1,6}MOUNTPOINTS?)?"
    r"|(?:[01] )?(?:disk|part|lvm|crypt|loop|rom|mpath|raid\d{1,2})(?:\s{1,6}[/\[].*)?)\s*$"
)
ROW_NAME = r"([^\w/]{0,200}+)([\w/]\S{0,200}+(?: \(dm-\d{1,5}\))?)"
_BARE = re.compile(
    r"[^\w/]{0,80}+[\w/][\w/.+-]{0,100}(?: \(dm-\d{1,5}\))?\s{1,80}\d{1,7}:\d{1,9}\s{1,8}[01]\s{1,12}\d[\d.,]{0,20}[BKMGTPE]?\s{1,8}[01] "
    r"(?:disk|part|lvm|crypt|loop|rom|mpath|md|raid\d{1,2})(?:\s{1,40}(?:/|\[SWAP\]).*)?\s*$"
)
_ENCODED = re.compile("=E2=94=(80|82|94|9C)")
_GARBLED = re.compile(r"[^A-Za-z0-9/]*â[^A-Za-z0-9/]*")
_BOXES = {"œ": "├─", "\x9c": "├─", "‚": "│", "\x82": "│", "”": "└─", "\x94": "└─"}
_BOX = re.compile("â(?:[”\x94]([œ”‚\x94\x9c\x82])(?:â(?:[”\x94][€\x80])?)?|(â))?")


def ungarbled(line: str) -> str:
    """Repair the tree characters of a line whose UTF-8 was decoded wrongly or stayed encoded in a quoted mail.

    Wrongly decoded as Latin-1 or CP1252 it is `â”œâ”€sda1` or, without control characters, `ââsda1`; still encoded it
    is `=E2=94=9C=E2=94=80sda1`.
    """
    if "=E2=94=" in line:
        return _ENCODED.sub(lambda box: bytes([0xE2, 0x94, int(box[1], 16)]).decode(), line)
    found = _GARBLED.match(line)
    if not found:
        return line
    return _BOX.sub(lambda box: _BOXES.get(box[1] or "", "├─" if box[2] else "│"), found[0]) + line[found.end() :]


def is_bare(line: str) -> bool:
    """Return whether the line is a row of the usual columns without a heading, as `lsblk -n` prints it."""
    return ":" in line and _BARE.match(line) is not None


def is_wrapped_row(header: str, line: str) -> bool:
    """Return whether the line may be the wrapped end of a row, or of the heading, in a mail."""
    return "MAJ:MIN" in header and bool(_ALIGNED_REST.match(line))


def unwrapped(lines: Sequence[str]) -> list[str]:
    """Rejoin the heading and rows that a mail wrapped; return the lines unchanged if that does not make whole rows."""
    whole = list(lines[:1])
    for line in lines[1:]:
        if is_wrapped_row(lines[0], line):
            whole[-1] = f"{whole[-1].rstrip()} {line.strip()}"
        else:
            whole.append(line)
    return whole if len(whole) < len(lines) and aligned_devices(whole) else list(lines)


def aligned_devices(lines: Sequence[str]) -> list[Content] | None:
    """Return a device for each row, with keys in lower case; None for other columns or where a row does not fit."""
    headings = lines[0].split()
    has_last = headings[-1] in _LAST
    filled = headings[1 : len(headings) - has_last]
    if not filled or filled[0] != "MAJ:MIN" or not set(filled) <= set(_WORDS) or len(lines) < 2:
        return None
    row = re.compile(
        ROW_NAME + "".join(rf"\s{{1,200}}+({_WORDS[word]})" for word in filled) + r"(?:\s{1,200}+(\S.*))?\s*$"
    )
    keys = [heading.lower() for heading in headings]
    found: list[Content] = []
    for line in lines[1:]:
        match = row.match(line)
        if not match or (match[match.re.groups] and not has_last):
            return None
        _, name, *words, rest = match.groups()
        found.append(dict(zip(keys, [name, *words, *([_mounted(keys[-1], rest)] if has_last else [])], strict=True)))
    return found


def _mounted(key: str, rest: str | None) -> str | list[str] | None:
    place = (rest or "").rstrip()
    place = place if place.startswith(("/", "[")) else ""  # anything else is a remark beside the row
    return ([place] if place else []) if key == "mountpoints" else place or None


_HEADINGS = {"FSTYPE", "FSVER", "LABEL", "UUID", "FSAVAIL", "FSUSE%", "MOUNTPOINT", "MOUNTPOINTS"}  # after the name
_MAILED_NAME = re.compile(ROW_NAME)
_UUID = r"[0-9A-Za-z]{4,12}(?:-[0-9A-Za-z]{2,12}){1,8}|[0-9A-F]{16}|\d{15,20}"
_MAILED_REST = re.compile(
    rf"[\s│|]{{0,300}}+(?:({_UUID})(?:\s+|$))?(?:(?:(\d[\d.,]{{0,9}}[BKMGTPE]?)\s+)?(\d{{1,3}}%)(?:\s+|$))?((?:[/\[]\S*(?:\s+|$)){{0,50}})$"
)


def is_mailed_rest(header: str, line: str) -> bool:
    """Return whether the line may continue a row or the heading in a mail."""
    return _is_folded(header) and (set(line.split()) < _HEADINGS or bool(_MAILED_REST.match(line)))


def mailed_devices(lines: Sequence[str]) -> list[Content] | None:
    """Return a device for each row up to the first line that is none; None if the heading is not folded.

    Keys are in lower case.
    """
    if not _is_folded(lines[0]) or not set(lines[1].split()) < _HEADINGS:
        return None
    return list(_each_mailed(lines[0], lines[1].split(), lines[2:]))


def _is_folded(header: str) -> bool:
    words = header.split()
    return words[:2] == ["NAME", "FSTYPE"] and words[-1][:10] != "MOUNTPOINT" and set(words[1:]) < _HEADINGS


def _each_mailed(header: str, more: Sequence[str], lines: Sequence[str]) -> Iterator[Content]:
    above = [match.start() for match in re.finditer(r"\S+", header)][1:]
    keys = [word.lower() for word in (*header.split(), *more)]
    place = 0
    while place < len(lines):
        cells = _mailed_cells(lines[place], above)
        place += 1
        if cells is None:
            return
        if not any(cells[1:]) and place < len(lines) and (below := _below(lines[place], above)):
            cells, place = [cells[0], *below], place + 1
        device = dict.fromkeys(keys) | dict(zip(keys, cells, strict=False))
        mounted: list[str] = []
        while (
            place < len(lines) and is_mailed_rest(header, lines[place]) and (match := _MAILED_REST.match(lines[place]))
        ):
            told = dict(zip(("uuid", "fsavail", "fsuse%"), match.groups(), strict=False))
            device |= {key: value for key, value in told.items() if value and key in device}
            mounted += map(unescaped, match[4].split())
            place += 1
        key = keys[-1]
        yield device | {key: mounted if key == "mountpoints" else next(iter(mounted), None)}


def _mailed_cells(line: str, above: Sequence[int]) -> list[str | None] | None:
    """Return the cell below each heading; None where something stands between two of them."""
    match = _MAILED_NAME.match(line)
    if not match or line[match.end() : above[0]].strip():
        return None
    if match.end() >= above[0] and not line[match.end() :].strip():
        return [match[2], *[None] * len(above)]
    rest = _standing(line, above)
    return rest and [match[2], *rest]


def _below(line: str, above: Sequence[int]) -> list[str | None] | None:
    """Return the cells of the line after a name that was too long for its column on a narrow terminal."""
    rest = None if line[: above[0]].strip(BESIDE) else _standing(line, above)
    return rest if rest and any(rest) else None


def _standing(line: str, above: Sequence[int]) -> list[str | None] | None:
    cells: list[str | None] = []
    for begin, end in zip(above, [*above[1:], None], strict=True):
        cell = line[begin:end]
        if cell.strip() and (cell[0] == " " or line[begin - 1] != " "):
            return None
        cells.append(unescaped(cell.strip()) or None)
    return cells


NAME = "lsblk"
TITLE = "lsblk"
KEY = "blockdevices"
_NAMES = {"NAME", "KNAME", "PATH"}
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
_HEADER = re.compile(
    r"^[>#\s]{0,40}(?:(?:K?NAME|PATH) +[A-Z][^\n]{1,2000}|[A-Z][A-Z:% -]{0,400} K?NAME(?: [A-Z:% -]{0,400})?)$",
    re.MULTILINE,
)
_PAIRS = re.compile(  # its columns stand as somebody asked for them, the name not always first
    rf'^{MARGIN}(?:K?NAME="[^"\n]*" [A-Z:_%-]+="'
    r"|(?:ALIGNMENT|DISC-[A-Z]{3,4}|FSTYPE|GROUP|HOTPLUG|LABEL|MAJ[:_-]MIN|MODEL|MOUNTPOINTS?|PATH|PKNAME|RM|RO|ROTA|SERIAL|SIZE"
    r'|STATE|TRAN|TYPE|UUID|VENDOR|WWN)="[^"\n]*" (?:[^\n]{0,4000}? )?K?NAME=")',
    re.MULTILINE,
)
_USUAL = "NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT"
_JSON = re.compile(r'"blockdevices"\s*:\s*\[')
_TREE = re.compile(r"[^\w/]{0,200}(?=[\w/])")
_ARROW = re.compile(r"(?<=\s)<[=-]{2,}[^\n]*")  # an arrow drawn beside a row
_LEFT_OUT = re.compile(r"\s*(?:\.{1,3}|…|\[(?:\.{3}|…|snip)\]|<snip>)\s*$")
_NAME = re.compile(r"\S+(?: \(dm-\d+\))?")  # old versions print the kernel's name beside it
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
    """Parse the rows that have no heading."""
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
    """Yield the blocks of usual rows outside of any table; there may be blank lines between them."""
    tables = util_linux.tables(lines, _is_header, _is_sure)
    begin, behind = next(tables, (len(lines), 0))
    index = 0
    while index < len(lines):
        if index >= begin:
            index = max(index, behind)
            begin, behind = next(tables, (len(lines), 0))
            continue
        if not is_bare(lines[index]):
            index += 1
            continue
        first = last = index
        while index < begin and index <= last + 2:
            last = index if is_bare(lines[index]) else last
            if last < index and lines[index].strip():
                break
            index += 1
        yield first, last + 1


def _is_header(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and not {"NAME", "KNAME", words[0]}.isdisjoint({*words} & _NAMES) and set(words) <= _COLUMNS


def _is_row(header: str, line: str) -> bool:
    """Return whether the line is surely a row.

    That takes device numbers in the heading, or a branch of the tree in the row.
    """
    columns = header.split()
    if columns[1] == "MAJ:MIN":
        return _ROW.match(line) is not None
    return bool(_BRANCH.match(line) or _DEVICE.match(line)) or (
        "MAJ:MIN" in columns and _NUMBER.search(line) is not None
    )


def _is_sure(header: str, line: str) -> bool:
    return _is_row(header, line) or _BRANCH.match(line) is not None


def _read_text(lines: Sequence[str]) -> list[Content]:
    plain = [_ARROW.sub("", ungarbled(line)) for line in lines]
    lines = unwrapped(name_first(plain))
    mailed = mailed_devices([line for line in lines if not _LEFT_OUT.match(line)])
    if mailed is not None:
        return _with_parents(mailed, _rows(lines))
    lines = unfolded(lines)
    if set(lines[1].split()) <= _COLUMNS and not _is_rest(
        lines[0], lines[1]
    ):  # with them every row, each at a place of its own
        raise ValueError("headings on one line")
    rows = _until_odd([line for line in lines if not _is_rest(lines[0], line)])
    told_apart = None if util_linux.is_raw(rows) else aligned_devices(rows)
    devices = told_apart or util_linux.rows(NAME, _straightened(rows))
    if "maj:min" in devices[0]:
        devices = util_linux.while_true(devices, lambda one: re.fullmatch(r"\d{1,7}:\d{1,9}", str(one.get("maj:min"))))
    devices = util_linux.while_true(devices, lambda one: _NAME.fullmatch(_called(one)) and _may_be(one))
    _more_mounts(devices, lines)
    return _with_parents(devices, _rows(lines))


def name_first(lines: Sequence[str]) -> list[str]:
    """Return the lines with the column of the names, in which the tree is, before all others (`lsblk -o SIZE,NAME`).

    Raises:
        ValueError: if blanks do not separate the columns.
    """
    headings = lines[0].split()
    if headings[0] in _NAMES:
        return util_linux.without_margin(lines)
    begins = starts(lines[0], lines[1:])
    if len(begins) != len(headings):
        raise ValueError("columns with blanks between them")
    edges = list(zip(begins, [*begins[1:], None], strict=True))
    cut = [[line[first:end].rstrip() for first, end in edges] for line in lines]
    place = next(at for at, heading in enumerate(headings) if heading in ("NAME", "KNAME"))
    moved = [[row[place], *(cell.strip() for cell in row[:place] + row[place + 1 :])] for row in cut]
    widths = [max(map(len, column)) + 2 for column in zip(*moved, strict=True)]
    return ["".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in moved]


def _rows(lines: Sequence[str]) -> list[str]:
    """Return the first line of each row, and the marks where rows were left out."""
    return [line for line in lines[1:] if _LEFT_OUT.match(line) or not _is_rest(lines[0], line)]


def _may_be(device: Content) -> bool:
    """Return whether the cells fit their columns; pages that join blanks shift some into the next column."""
    return all(not device.get(key) or form.fullmatch(str(device[key])) for key, form in _CELLS.items())


def _until_odd(lines: Sequence[str]) -> list[str]:
    """Return the rows up to the first line that does not belong to the table.

    Such a line has no device number, or a first word too long for its column.
    """
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
    """Return the lines without the tree.

    Some versions print what stands deeper in it some places to the right of its heading; the colons of `8:0` tell how
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
    """Return whether a line only continues the device above.

    It has one more mount point (below the others, or wrapped by a mail), or the rest of a row whose name is too long
    for its column; or it is blank or marks rows that somebody left out.
    """
    if not line.strip() or is_empty_rest(header, line) or is_folded(header, line):
        return True
    if _LEFT_OUT.match(line) or is_wrapped_row(header, line) or is_mailed_rest(header, line):
        return True
    place = header.find("MOUNTPOINT")
    if place < 0 or not line.strip():
        return False
    is_wrapped = line.startswith("/") and " " not in line.strip() and "MAJ:MIN" in header
    return is_wrapped or (line.lstrip(BESIDE).startswith(("/", "[SWAP]")) and not line[:place].strip(BESIDE))


def _more_mounts(devices: Sequence[Content], lines: Sequence[str]) -> None:
    """Add the mount points of continuing lines to their devices.

    A wrapped one is the only one: where its row has another, words may have been lost, and it is left out.
    """
    place = -1
    for line in lines[1:]:
        is_rest = _is_rest(lines[0], line)
        place += not is_rest
        is_mount = line.lstrip(BESIDE).startswith(("/", "[")) and not _LEFT_OUT.match(line)
        if is_rest and is_mount and 0 <= place < len(devices):
            several = devices[place].get("mountpoints")
            if isinstance(several, list) and (not line.startswith("/") or not several):
                several.append(line.strip(BESIDE))
            elif not devices[place].get("mountpoint", True):
                devices[place]["mountpoint"] = line.strip(BESIDE)


def _with_parents(devices: list[Content], lines: Sequence[str]) -> list[Content]:
    """Add to each device the name of the one that it is drawn below.

    After rows that were left out, nothing is known about what a row is below.
    """
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
