"""lsblk: JSON (`-J`, with any columns), pairs (`-P`), and text as a tree (UTF-8 or ASCII), a list (`-l`) or raw (`-r`).

    sda               8:0    0   20G  0 disk

Source: util-linux's lsblk.c and libsmartcols (print.c); before 2.33 JSON has strings for numbers and booleans. Content:
JSON as it is; pairs and text {"blockdevices": […]} in a flat list, keys in lower case, and `parent` for a device that
stands below another in the tree. Sizes are as printed: rounded and counted in 1024 without `-b`. jc reads the text.
"""

import re
from collections.abc import Sequence
from typing import Any

from apps.parsers.inventory import util_linux
from apps.parsers.inventory.printed import Content, count
from apps.parsers.shape import ParsedFile
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
        "WWN RAND PKNAME HCTL TRAN SUBSYSTEMS REV VENDOR ZONED DAX START MQ ID-LINK ID DISK-SEQ",
    )
)
_HEADER = re.compile(r"^[>#\s]{0,4}K?NAME +[A-Z][^\n]{1,2000}$", re.MULTILINE)
_PAIRS = re.compile(r'^[>#\s]{0,4}K?NAME="[^"\n]*" [A-Z:_%-]+="', re.MULTILINE)
_JSON = re.compile(r'"blockdevices"\s*:\s*\[')
_TREE = re.compile(r"[\s│├└─┬|`.'-]*(?=[\w/])")


def looks_like(text: SourceText) -> float:
    return util_linux.looks_like(text, _JSON, _HEADER, _PAIRS, _is_header)


def parse(text: SourceText) -> ParsedFile:
    return util_linux.parse(text, NAME, KEY, _summary, util_linux.tables(text.lines, _is_header), _PAIRS, _read_text)


def _is_header(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and words[0] in ("NAME", "KNAME") and set(words) <= _COLUMNS


def _read_text(lines: Sequence[str]) -> list[Content]:
    devices = util_linux.rows(NAME, lines)
    if "maj:min" in devices[0]:
        devices = util_linux.while_true(devices, lambda one: re.fullmatch(r"\d{1,7}:\d{1,9}", str(one.get("maj:min"))))
    return _with_parents(devices, lines[1:])


def _with_parents(devices: list[Content], lines: Sequence[str]) -> list[Content]:
    above: list[tuple[int, str]] = []
    for device, line in zip(devices, lines, strict=False):
        match = _TREE.match(line)
        depth = match.end() if match else 0
        above = [(place, name) for place, name in above if place < depth]
        if above and depth:
            device["parent"] = above[-1][1]
        above.append((depth, str(device.get("name") or device.get("kname"))))
    return devices


def _summary(devices: Sequence[Any]) -> str:
    found = [device for device in devices if isinstance(device, dict)]
    disks = [device for device in found if device.get("type") == "disk"]
    shown = ", ".join(f"{disk.get('name') or disk.get('kname')} {disk.get('size') or ''}".strip() for disk in disks[:4])
    more = f", {len(disks) - 4} more" if len(disks) > 4 else ""
    return f"{count(len(found), 'block device')}" + (f": {shown}{more}" if shown else "")
