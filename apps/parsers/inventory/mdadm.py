"""mdadm `--detail`, `--examine` (also of Intel's and DDF's containers), `--detail --export`, `--detail --scan`; 1.x to 4.x.

    /dev/md0:
            Raid Level : raid5

Source of the layouts: mdadm's Detail.c, Examine.c and super0.c, super1.c, super-intel.c. Content: fields under their
names in lower case with underscores, as jc gives them, and `device_table`; arrays inside a container under
`[their name]`. Sizes are KiB in `Array Size` and `Used Dev Size` (Detail.c), sectors in `--examine` where it says so.
jc reads a block that is cut clean of prompts and prose; sections in brackets are no part of its format.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jc

from apps.parsers.inventory import mdadm_bitmap, mdadm_imsm, mdadm_platform, mdadm_scan, mdadm_table
from apps.parsers.inventory.printed import (
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
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "mdadm"
TITLE = "mdadm --detail, --examine"
_HEAD = re.compile(r"(\s{0,40})`?([^\s()`]{1,200}):`?\s*$")
_BARE = re.compile(
    r"(\s{0,40})((?:[shv]d|xvd)[a-z]{1,3}\d{0,3}|(?:nvme|md|dm-|loop|mmcblk)\d[\w-]{0,20})\s*$"
)  # as a shell's loop names it
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
_SECTION = mdadm_imsm.SECTION
_OTHER = re.compile(r"\s{6,}\(?\S")  # a value that goes on
_EXPORT = re.compile(r"MD_[A-Z0-9_]{1,60}=")
_SLOTS = re.compile(
    r"\s*(?:(?:failed|empty|\d{1,6})(?:[,)]\s?|\s*$))++$"
)  # of `Array Slot : 2 (failed, 1, …`, which has hundreds
_MOST_SLOTS = 300  # lines
_LEFT_OUT = re.compile(r"\s*(?:\.{3}|…|\[(?:\.{3}|…|snip)\])\s*$")  # lines, by who copied it
_BESIDE = (  # the last ones where somebody looked for some fields only
    "RaidDevice", "Magic : ", "Raid Devices : ", "Total Devices : ", "Member Arrays : ", "Array UUID : ", "Array Size : ", " active sync ",
)  # fmt: skip
_OTHERS = (
    "Platform : ", "Filename : ", "Events : ", "Update Time : ", "Array State : ", "Device Role : ", "Container : ", mdadm_imsm.MAGIC,
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
    return 0.8 if ("ARRAY " in whole and any(map(mdadm_scan.LINE.match, text.lines))) else 0.0


def parse(text: SourceText) -> ParsedFile:
    expected = "a device with its fields, such as /dev/md0: and Version : 1.2"
    found = parse_blocks(text, NAME, _blocks, _read, expected)
    return replace(found, broken=(*found.broken, *filter(None, map(mdadm_table.cut, found.inventory))))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    index = 0
    while index < len(lines):
        end = _block_end(lines, index) if _may_begin(lines[index]) else index
        if end > index:
            yield index, end
        index = max(end, index + 1)


def _may_begin(line: str) -> bool:
    """Whether one of the words stands there that the first line of any block has: a text of very many lines is looked through fast."""
    return ":" in line or "ARRAY" in line or "MD_" in line or "mdadm " in line or _BARE.match(line) is not None


def _block_end(lines: Sequence[str], index: int) -> int:
    """Behind the block that begins at `index`, which is the answer where none does."""
    end = index
    while end < len(lines) and _EXPORT.match(lines[end]):
        end += 1
    if "ARRAY" in lines[index]:
        end = max(end, mdadm_scan.end(lines, index))
    return end if end > index else _device_end(lines, index)


def _device_end(lines: Sequence[str], index: int) -> int:
    """Behind what is told of a device; `index` where nothing begins. Its name may be missing."""
    line = lines[index]
    if _has_first(lines, index) and (head := _HEAD.match(line) or _BARE.match(line)):
        return _end(lines, index + 1, _width(head[1]))
    first = index + bool("mdadm " in line and _CALLED.search(line))
    if first < len(lines) and _HEADLESS.match(lines[first]) and any(map(_LEVEL.match, lines[first + 1 : first + 10])):
        return _end(lines, first + 1, 0)
    if " : " not in line:
        return index
    return max(mdadm_bitmap.end(lines, index), mdadm_platform.end(lines, index))


def _has_first(lines: Sequence[str], index: int) -> bool:
    """Whether a device's first field stands soon below its name, before another head."""
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
    """`margin`: what a page put before every line."""
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
    """Without the margin; tabs stand for the blanks that were there before it."""
    begun = line.lstrip()
    return " " * (_width(line[: len(line) - len(begun)]) - margin) + begun


def _is_own(line: str) -> bool:
    return bool(_OTHER.match(line) or _FIELD.match(line) or _TABLE.match(line) or _SECTION.match(line))


def _is_rest(lines: Sequence[str], index: int) -> bool:
    """Whether a mail wrapped the line before: what is open there is closed here, a row gets its device, or fields go on behind."""
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
    if _EXPORT.match(lines[0]):
        content: Content = {}
        for line in lines:
            key, _, value = line.partition("=")
            put(content, key, typed(key, value.strip()))
        return (
            f"{content.get('MD_DEVNAME', 'array')}: {content.get('MD_LEVEL', '')} of {content.get('MD_DEVICES', '?')} devices",
            content,
        )
    if mdadm_scan.LINE.match(lines[0]):
        return mdadm_scan.read(lines)
    if mdadm_platform.is_platform(lines):
        return mdadm_platform.read(lines)
    if mdadm_bitmap.is_bitmap(lines):
        return mdadm_bitmap.read(lines)
    lines = _joined(_with_head([line for line in lines if not _LEFT_OUT.match(line)]))
    if mdadm_imsm.is_member(lines):
        return mdadm_imsm.read(lines[0].removesuffix(":"), lines[1:])
    content = _with_sections(lines) if any(map(_SECTION.match, lines)) else _by_jc(lines)
    if not content.keys() & _TELLING:
        raise ValueError("a Raid Level")
    return _summary(content), content


def _with_head(lines: Sequence[str]) -> list[str]:
    """Without a page's margin, and the device's name first: as the command above gives it where mdadm's own line is missing."""
    head, called = _HEAD.match(lines[0]) or _BARE.match(lines[0]), _CALLED.search(lines[0])
    if head:
        return [f"{head[2]}:", *(_level(line, _width(head[1])) for line in lines[1:])]
    name = called[1] if called else ""
    return [f"{name}:", *(_level(line, 0) for line in lines[bool(called) :])]


def _by_jc(lines: Sequence[str]) -> Content:
    rest, members = mdadm_table.members(lines)
    try:
        found = jc.parse("mdadm", "\n".join(map(str.rstrip, rest)) + "\n", quiet=True, raw=True)
    except Exception as error:  # whatever jc makes of odd lines
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
