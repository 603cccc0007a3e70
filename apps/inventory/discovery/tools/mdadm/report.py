"""mdadm `--detail`, `--examine` (also of Intel's and DDF's containers), `--detail --export`, `--detail --scan`; 1.x to 4.x.

    /dev/md0:
            Raid Level : raid5

Source of the layouts: mdadm's Detail.c, Examine.c and super0.c, super1.c, super-intel.c. Content: fields under their
names in lower case with underscores, as jc gives them, and `device_table`; arrays inside a container under
`[their name]`. Sizes are KiB in `Array Size` and `Used Dev Size` (Detail.c), sectors in `--examine` where it says so.
jc reads a block that is cut clean of prompts and prose; sections in brackets are no part of its format.

mdadm `--examine-bitmap` (`-X`): the write-intent bitmap of an array's member.

        Filename : /dev/sdb
           Magic : 6d746962
       Chunksize : 64 MB

Source: mdadm's bitmap.c (ExamineBitmap, ExamineBitmapInternal). Content: fields as in `mdadm`; what a cluster's bitmap tells of each
of its nodes is in "slots": [{"node_slot", "events", …}].

mdadm `--detail --scan` and `--examine --scan`, and mdadm.conf: a line for each array, a second one for spares and, with `-v`, for
its members.

ARRAY /dev/md0 level=raid1 num-devices=2 metadata=1.2 UUID=0a1b:2c3d
   spares=1   devices=/dev/sda1,/dev/sdb1

Source: mdadm's Detail.c and Examine.c. Content: {"arrays": [{"device", …the words as they are}]}; a container may have no device.

The members that mdadm `--detail` and `--examine` (superblock 0.90) list in a table, told apart by words: pages shift its columns.

    Number   Major   Minor   RaidDevice State
       0       8       17        0      active sync   /dev/sdb1

Source: mdadm's Detail.c and super0.c. The latter puts each row's place before its number, and `this` before the row of
the device itself, which is listed below once more. Containers and arrays that are not assembled have no State.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.inventory.discovery.tool_output import (
    Block,
    Content,
    blanked,
    count,
    field,
    has_block,
    is_prompt,
    parse_blocks,
    put,
    typed,
)
from apps.inventory.discovery.tools.mdadm.intel import (
    MAGIC,
    SECTION,
    is_member,
    is_platform,
    platform_end,
    read_member,
    read_platform,
)
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory
from apps.parsers.core.source_text import SourceText

_BITMAP_HEAD = re.compile(r"\s{0,40}Filename : \S")
_BITMAP_MAGIC = re.compile(r"\s{0,40}Magic : ")
_BITMAP_FIELD = re.compile(r"\s{0,40}[A-Z][A-Za-z ]{1,20} : ")


def bitmap_end(lines: Sequence[str], index: int) -> int:
    """Return the index after the last line of the bitmap that begins at `index`; `index` if none does."""
    if not (_BITMAP_HEAD.match(lines[index]) and any(map(_BITMAP_MAGIC.match, lines[index + 1 : index + 2]))):
        return index
    behind = index + 1
    while behind < len(lines) and _BITMAP_FIELD.match(lines[behind]) and not _BITMAP_HEAD.match(lines[behind]):
        behind += 1
    return behind


def is_bitmap(lines: Sequence[str]) -> bool:
    return bool(_BITMAP_HEAD.match(lines[0]))


def read_bitmap(lines: Sequence[str]) -> tuple[str, Content]:
    content: Content = {}
    here = content
    for key, value in filter(None, map(field, lines)):
        if key == "Node Slot":
            here = {}
            content.setdefault("slots", []).append(here)
        put(here, key.lower().replace(" ", "_"), typed(key, value))
    chunk = f", chunk {content['chunksize']}" if content.get("chunksize") else ""
    return f"{content['filename']}: bitmap{chunk}", content


SCAN_LINE = re.compile(r"\s{0,40}(?:ARRAY|INACTIVE-ARRAY) \S+ .*\b(?:UUID|metadata|level|container)=")
_MORE_OF_SCAN = re.compile(  # also lines that a mail program wrapped
    r"\s{0,40}(?:(?:UUID|auto|container|devices|level|member|metadata|name|num-devices|spare-group|spares)=\S+(?:\s+|$))+$"
)


def scan_end(lines: Sequence[str], index: int) -> int:
    """Return the index after the last of the arrays that begin at `index`; `index` if none does."""
    behind = index
    while behind < len(lines) and (
        SCAN_LINE.match(lines[behind]) or (behind > index and _MORE_OF_SCAN.match(lines[behind]))
    ):
        behind += 1
    return behind


def read_scan(lines: Sequence[str]) -> tuple[str, Content]:
    arrays: list[Content] = []
    for words in map(str.split, lines):
        if words[0] in ("ARRAY", "INACTIVE-ARRAY"):
            arrays.append({"inactive": True} if words[0] != "ARRAY" else {})
            words = words[1:]
            if "=" not in words[0] or words[0].startswith("/"):
                arrays[-1] = {"device": words.pop(0)} | arrays[-1]
        arrays[-1].update((key, value) for key, _, value in (word.partition("=") for word in words))
    return count(len(arrays), "array"), {"arrays": arrays}


_TABLE_HEAD = re.compile(r"\s*Number\s+Major\s+Minor\s+RaidDevice(\s+State)?\s*$")
_TABLE_ROW = re.compile(
    r"\s*(this\s+|\d{1,6}\s+(?=\S+\s+\d+\s+\d+\s+[\d-]))?(\d{1,6}|-)\s+(\d{1,6}|-)\s+(\d{1,7}|-)\s+(\d{1,6}|-)(?=\s|$)(.*)$"
)
_TABLE_KEYS = ("number", "major", "minor", "raid_device")


def table_members(lines: Sequence[str]) -> tuple[list[str], list[Content]]:
    """Return the lines outside the member table, and the rows of the table."""
    head = next(
        (place for place, line in enumerate(lines) if _TABLE_HEAD.match(line) or _TABLE_ROW.match(line)), len(lines)
    )
    has_head = head < len(lines) and bool(_TABLE_HEAD.match(lines[head]))  # a grep may have dropped it
    rest, found = list(lines[:head]), []
    for line in lines[head + has_head :]:
        match = _TABLE_ROW.match(line)
        if not match:
            rest.append(line)
        elif not (match[1] or "").startswith("this"):
            found.append(_member(match, " State" in lines[head]))
    return rest, found


def _member(match: re.Match[str], has_state: bool) -> Content:
    words = match[6].split()
    device = words.pop() if words and words[-1].startswith("/") else None
    member: Content = {key: typed(key, value) for key, value in zip(_TABLE_KEYS, match.groups()[1:5], strict=True)}
    if has_state or words:
        member["state"] = " ".join(words) or None
    return {**member, "device": device}


def cut_table(one: ParsedInventory) -> Broken | None:
    """Return an error if places of an assembled array have no row, None if not; mdadm lists missing ones too."""
    table, places = (one.content.get(key) for key in ("device_table", "raid_devices"))
    found = sum(
        isinstance(row.get("raid_device"), int) for row in table or ()
    )  # some versions print a wrong place for a missing one
    if not found or not isinstance(places, int) or found >= places:
        return None
    shown, expected = count(found, "place"), f"{places}, as it says in Raid Devices"
    return Broken("mdadm: members are missing", one.last_line or 1, shown, expected)


NAME = "mdadm"
TITLE = "mdadm --detail, --examine"
_HEAD = re.compile(r"(\s{0,40})`?([^\s()`]{1,200}):`?\s*$")
_BARE = re.compile(
    r"(\s{0,40})((?:[shv]d|xvd)[a-z]{1,3}\d{0,3}|(?:nvme|md|dm-|loop|mmcblk)\d[\w-]{0,20})\s*$"
)  # as a shell loop prints it before each report
_HEADLESS = re.compile(r"\s{0,40}(?:Version|Magic) : \S")
_LEVEL = re.compile(r"\s{0,40}Raid Level : \S")
_CALLED = re.compile(r"mdadm [^\n]{0,100}?(?:--detail|--examine|-D|-E)\b[^/\n]{0,40}(/dev/[^\s:]{1,100}):?\s*$")
_FIRST = re.compile(r"\s*(?:Version|Magic|MBR Magic|Raid Level) : ")
_SOUGHT = re.compile(  # the first of what somebody looked for, below a device's name; arrays that were not started begin with Container
    r"\s*(?:(?:Array|Device) UUID|Array State|Container|Device Role|Events|Update Time|(?:Raid|Total) Devices) : "
)
_FIELD = re.compile(
    r"(?!Personalities )\s*[A-Z][\w /.\-\[\]'()]{1,40} : |\s*[A-Z][\w ]{1,30} :$|\s*[a-z][a-z ]{2,20}\[\d{1,4}\] : "
)
_TABLE = re.compile(r"\s*(?:this|Number|\d+|-)\s+(?:Major|\d+|-)\s+(?:Minor|\d+|-)\s+(?:RaidDevice|\d+|-)(?:\s|$)")
_SECTION = SECTION
_OTHER = re.compile(r"\s{6,}\(?\S")  # a value that continues
_EXPORT = re.compile(r"MD_[A-Z][\w!-]{0,80}=")
_EXPORTED = re.compile(r"mdadm [^\n]{0,100}?(?<!\S)(/dev/[^\s:]{1,100})(?: [^\n]{0,60})?$")
_PARTITION = re.compile(r"(/dev/md.*\d)p\d{1,4}")
_SLOTS = re.compile(
    r"\s*(?:(?:failed|empty|\d{1,6})(?:[,)]\s?|\s*$))++$"
)  # of `Array Slot : 2 (failed, 1, …`, which has hundreds
_MOST_SLOTS = 300  # lines
_LEFT_OUT = re.compile(r"\s*(?:\.{3}|…|\[(?:\.{3}|…|snip)\])\s*$")  # a mark that lines were left out of the copy
_BESIDE = (  # the last ones where somebody looked for some fields only
    "RaidDevice", "Magic : ", "Raid Devices : ", "Total Devices : ", "Member Arrays : ", "Array UUID : ", "Array Size : ", " active sync ",
)  # fmt: skip
_OTHERS = (
    "Platform : ", "Filename : ", "Events : ", "Update Time : ", "Array State : ", "Device Role : ", "Container : ", MAGIC,
)  # fmt: skip
_TELLING = {
    "raid_level", "magic", "mbr_magic", "container", "array_uuid", "device_uuid", "array_state", "device_role", "events", "raid_devices",
    "total_devices", "update_time",
}  # fmt: skip
_NUMBERS = re.compile(
    r"(?:raid|total|active|working|failed|spare)_devices|preferred_minor|events|number|major|minor|raid_device"
)


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    whole = text.text
    is_array = "Raid Level : " in whole or "Raid Level[0] : " in whole
    if is_array and any(word in whole for word in _BESIDE):
        return 1.0 if has_block(text, _blocks) else 0.0
    if any(word in whole for word in _OTHERS) and has_block(text, _blocks):
        return 1.0
    if "MD_LEVEL=" in whole or "MD_METADATA=" in whole:
        return 0.9
    return 0.8 if ("ARRAY " in whole and any(map(SCAN_LINE.match, text.lines))) else 0.0


def parse(text: SourceText) -> ParsedFile:
    expected = "a device with its fields, such as /dev/md0: and Version : 1.2"
    found = parse_blocks(text, NAME, _blocks, _read, expected)
    arrays = _without_partitions(found.inventory)
    return replace(found, inventory=arrays, broken=(*found.broken, *filter(None, map(cut_table, arrays))))


def _without_partitions(reports: Sequence[ParsedInventory]) -> tuple[ParsedInventory, ...]:
    """Return the reports without those of an array's partitions, which are the array's own with another size."""
    uuids = {one.content.get("device"): one.content.get("uuid") for one in reports if isinstance(one.content, dict)}

    def is_partition(one: ParsedInventory) -> bool:
        match = _PARTITION.fullmatch(str(one.content.get("device")))
        uuid = one.content.get("uuid")
        return bool(match and uuid and uuids.get(match[1]) == uuid)

    return tuple(one for one in reports if not is_partition(one))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    index = 0
    while index < len(lines):
        end = _block_end(lines, index) if _may_begin(lines[index]) else index
        if end > index:
            yield index, end
        index = max(end, index + 1)


def _may_begin(line: str) -> bool:
    """Return whether the line has a word that the first line of any block has.

    This is fast, for texts with very many lines.
    """
    return ":" in line or "ARRAY" in line or "MD_" in line or "mdadm " in line or _BARE.match(line) is not None


def _block_end(lines: Sequence[str], index: int) -> int:
    """Return the index after the block that begins at `index`; `index` if none does."""
    first = index + ("mdadm " in lines[index] and _EXPORTED.search(lines[index]) is not None)
    end = first
    while end < len(lines) and _EXPORT.match(lines[end]):
        end += 1
    end = end if end > first else index
    if "ARRAY" in lines[index]:
        end = max(end, scan_end(lines, index))
    return end if end > index else _device_end(lines, index)


def _device_end(lines: Sequence[str], index: int) -> int:
    """Return the index after the report on a device; `index` if none begins. The device's name may be missing."""
    line = lines[index]
    if _has_first(lines, index) and (head := _HEAD.match(line) or _BARE.match(line)):
        return _end(lines, index + 1, _width(head[1]))
    first = index + bool("mdadm " in line and _CALLED.search(line))
    if first < len(lines) and _HEADLESS.match(lines[first]) and any(map(_LEVEL.match, lines[first + 1 : first + 10])):
        return _end(lines, first + 1, 0)
    if " : " not in line:
        return index
    return max(bitmap_end(lines, index), platform_end(lines, index))


def _has_first(lines: Sequence[str], index: int) -> bool:
    """Return whether a device's first field is soon below its name, before another head."""
    near = lines[index + 1 : index + 4]
    if " : " not in "\n".join(near):
        return False
    for line in near:
        if _FIRST.match(line) or (_SOUGHT.match(line) and ("/dev/" in lines[index] or _BARE.match(lines[index]))):
            return True
        if _HEAD.match(line) or _BARE.match(line) or "Platform : " in line:
            break
    return False


def _end(lines: Sequence[str], index: int, margin: int) -> int:
    """Return the index after the block's last line; `margin` is the indentation that a page gave every line."""
    end = index
    while index < len(lines):
        if lines[index].strip():
            line = _level(lines[index], margin)
            if not (_is_own(line) or _is_rest(lines, index) or _LEFT_OUT.match(line)):
                break
            end = end if _LEFT_OUT.match(line) else index + 1
        index += 1
    return end


def _width(blanks: str) -> int:
    return len(blanks.expandtabs())


def _level(line: str, margin: int) -> str:
    """Return the line without the margin; tabs become the blanks that they stood for."""
    begun = line.lstrip()
    return " " * (_width(line[: len(line) - len(begun)]) - margin) + begun


def _is_own(line: str) -> bool:
    return bool(_OTHER.match(line) or _FIELD.match(line) or _TABLE.match(line) or _SECTION.match(line))


def _is_rest(lines: Sequence[str], index: int) -> bool:
    """Return whether a mail wrapped the line before.

    What is open there is closed here, a row gets its device, or fields continue behind.
    """
    before, line = lines[index - 1], lines[index].strip()
    if _SLOTS.match(line):
        begun = range(index - 1, max(-1, index - _MOST_SLOTS), -1)
        before = next((lines[place] for place in begun if not _SLOTS.match(lines[place])), "")
        return bool(_FIELD.match(before)) and before.count("(") > before.count(")")
    if not (_FIELD.match(before) or _TABLE.match(before)) or is_prompt(line) or _BARE.match(line):
        return False
    if before.count("(") > before.count(")"):
        return ")" in line
    if line.startswith("/dev/") and " " not in line:
        return not line.endswith(":") and "/dev/" not in before
    return index + 1 < len(lines) and bool(_FIELD.match(lines[index + 1]) or _TABLE.match(lines[index + 1]))


def _joined(lines: Sequence[str]) -> list[str]:
    whole: list[str] = []
    for index, line in enumerate(lines):
        if index > 1 and line.strip() and not _is_own(line) and _is_rest(lines, index):
            whole[-1] = f"{whole[-1].rstrip()} {line.strip()}"
        else:
            whole.append(line)
    return whole


def _read(lines: Sequence[str]) -> tuple[str, Any]:
    if _EXPORT.match(lines[-1]):
        return _read_export(lines)
    if SCAN_LINE.match(lines[0]):
        return read_scan(lines)
    if is_platform(lines):
        return read_platform(lines)
    if is_bitmap(lines):
        return read_bitmap(lines)
    lines = _joined(_with_head([line for line in lines if not _LEFT_OUT.match(line)]))
    if is_member(lines):
        return read_member(lines[0].removesuffix(":"), lines[1:])
    content = _with_sections(lines) if any(map(_SECTION.match, lines)) else _by_jc(lines)
    if not content.keys() & _TELLING:
        raise ValueError("a Raid Level")
    return _summary(content), content


def _read_export(lines: Sequence[str]) -> tuple[str, Content]:
    """Read `--export`, behind the command line where one stands above it; it tells the device, which may be in no field."""
    called = None if _EXPORT.match(lines[0]) else _EXPORTED.search(lines[0])
    content: Content = {"device": called[1]} if called else {}
    for line in lines[bool(called) :]:
        key, _, value = line.partition("=")
        put(content, key, typed(key, value.strip()))
    label = content.get("MD_DEVNAME") or content.get("device") or content.get("MD_NAME") or "array"
    return f"{label}: {content.get('MD_LEVEL', '')} of {content.get('MD_DEVICES', '?')} devices", content


def _with_head(lines: Sequence[str]) -> list[str]:
    """Return the lines without a page's margin, with the device's name first.

    Where mdadm's own line is missing, the name is taken from the command above.
    """
    head, called = _HEAD.match(lines[0]) or _BARE.match(lines[0]), _CALLED.search(lines[0])
    if head:
        return [f"{head[2]}:", *(_level(line, _width(head[1])) for line in lines[1:])]
    name = called[1] if called else ""
    return [f"{name}:", *(_level(line, 0) for line in lines[bool(called) :])]


def _by_jc(lines: Sequence[str]) -> Content:
    rest, members = table_members(lines)
    import jc  # imported late, as most processes read no such output

    try:
        found = jc.parse("mdadm", "\n".join(map(str.rstrip, rest)) + "\n", quiet=True, raw=True)
    except Exception as error:  # jc raises all kinds of errors for odd lines
        raise ValueError(f"a block that jc reads ({type(error).__name__})") from None
    if not isinstance(found, dict) or not found:
        raise ValueError("a device with its fields")
    content = _named(lines) | {key: _number(key, value) for key, value in found.items() if key != "device_table"}
    of_ddf = [{key: _number(key, value) for key, value in member.items()} for member in found.get("device_table") or []]
    content["device_table"] = members or of_ddf
    return content


def _named(lines: Sequence[str]) -> Content:
    name = lines[0].strip().removesuffix(":")
    return {"device": name} if name else {}


def _number(key: str, value: Any) -> Any:
    return typed(key, value) if isinstance(value, str) and _NUMBERS.fullmatch(key) else value


def _with_sections(lines: Sequence[str]) -> Content:
    content = _named(lines)
    here = content
    for line in lines[1:]:
        if match := _SECTION.match(line):
            here = content.setdefault(f"[{match[1]}]", {})
        elif found := field(line):
            key = found[0].lower().replace(" ", "_")
            put(here, key, typed(key, found[1]) if not here.get(key) else found[1])
    return content


def _summary(content: Content) -> str:
    level = content.get("raid_level", "")
    total = content.get("raid_devices", content.get("total_devices", ""))
    state = str(content.get("state", "")).strip()
    chunk = content.get("chunk_size", "")
    parts = [f"{level} of {total} devices" if total != "" else str(level), state, f"chunk {chunk}" if chunk else ""]
    disks = [key.rpartition("_")[2] for key in content if re.fullmatch(r"raid_level_\d{1,4}", key)]
    if disks:  # DDF: the virtual disks of a container
        named = [f"{content.get(f'name_{one}', one)} {content[f'raid_level_{one}']}".strip() for one in disks]
        parts = [f"container of {count(len(disks), 'virtual disk')}", *named[:4]]
    if "mbr_magic" in content and not level:
        parts = [f"MBR with {count(sum(key.startswith('partition') for key in content), 'partition')}"]
    if not any(parts):
        parts = [str(content.get("device_role", "")), f"events {content['events']}" if "events" in content else ""]
    told = ", ".join(part for part in parts if part)
    return f"{content.get('device') or 'a device'}: {told or count(len(content) - 2, 'field')}"
