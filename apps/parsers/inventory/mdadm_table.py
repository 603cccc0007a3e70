"""The members that mdadm `--detail` and `--examine` (superblock 0.90) list in a table, told apart by words: pages shift its columns.

    Number   Major   Minor   RaidDevice State
       0       8       17        0      active sync   /dev/sdb1

Source: mdadm's Detail.c and super0.c. The latter puts each row's place before its number, and `this` before the row of
the device itself, which is listed below once more. Containers and arrays that are not assembled have no State.
"""

import re
from collections.abc import Sequence

from apps.parsers.inventory.printed import Content, count, typed
from apps.parsers.shape import Broken, ParsedInventory

_HEAD = re.compile(r"\s*Number\s+Major\s+Minor\s+RaidDevice(\s+State)?\s*$")
_ROW = re.compile(
    r"\s*(this\s+|\d{1,6}\s+(?=\S+\s+\d+\s+\d+\s+[\d-]))?(\d{1,6}|-)\s+(\d{1,6}|-)\s+(\d{1,7}|-)\s+(\d{1,6}|-)(?=\s|$)(.*)$"
)
_KEYS = ("number", "major", "minor", "raid_device")


def members(lines: Sequence[str]) -> tuple[list[str], list[Content]]:
    """The lines without the table, and its rows; what is no row stays with the lines."""
    head = next((place for place, line in enumerate(lines) if _HEAD.match(line) or _ROW.match(line)), len(lines))
    has_head = head < len(lines) and bool(_HEAD.match(lines[head]))  # somebody's grep may have left it out
    rest, found = list(lines[:head]), []
    for line in lines[head + has_head :]:
        match = _ROW.match(line)
        if not match:
            rest.append(line)
        elif not (match[1] or "").startswith("this"):
            found.append(_member(match, " State" in lines[head]))
    return rest, found


def _member(match: re.Match[str], has_state: bool) -> Content:
    words = match[6].split()
    device = words.pop() if words and words[-1].startswith("/") else None
    member: Content = {key: typed(key, value) for key, value in zip(_KEYS, match.groups()[1:5], strict=True)}
    if has_state or words:
        member["state"] = " ".join(words) or None
    return {**member, "device": device}


def cut(one: ParsedInventory) -> Broken | None:
    """Told where places of an assembled array have no row: mdadm lists those that are missing too."""
    table, places = (one.content.get(key) for key in ("device_table", "raid_devices"))
    found = sum(
        isinstance(row.get("raid_device"), int) for row in table or ()
    )  # some versions print a wrong place for a missing one
    if not found or not isinstance(places, int) or found >= places:
        return None
    shown, expected = count(found, "place"), f"{places}, as it says in Raid Devices"
    return Broken("mdadm: members are missing", one.last_line or 1, shown, expected)
