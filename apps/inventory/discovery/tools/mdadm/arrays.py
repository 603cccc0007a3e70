"""`mdadm --detail` of each md device: its own UUID, and which member has which place.

Its UUID is printed in four groups, lsblk's in five: the same 128 bits. Containers (`imsm`) are no arrays themselves.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from apps.inventory.discovery.tool_text import contents, rows, told
from apps.inventory.discovery.tool_values import name, whole
from apps.inventory.discovery.tools.mdadm import report
from apps.inventory.discovery.tools.mdstat import MdArray, MdMember, MdStat

TOOL = "mdadm"
MAX_ARRAYS = 1024
_LEVELS = ("raid0", "raid1", "raid4", "raid5", "raid6", "raid10", "linear")
_STATES = (
    ("faulty", "faulty"),
    ("rebuilding", "rebuilding"),
    ("spare", "spare"),
    ("journal", "journal"),
    ("writemostly", "write-mostly"),
)
_ACTIONS = (("recovering", "recovery"), ("resyncing", "resync"), ("reshaping", "reshape"), ("checking", "check"))


@dataclass(frozen=True)
class MdDetail:
    name: str
    uuid: str = ""
    version: str = ""
    array: MdArray | None = None
    places: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MdDetails:
    by_name: dict[str, MdDetail]


def discover(printed: str) -> MdDetails:
    """Parse the output of `mdadm --detail`; `--examine` and `--scan` in the text are skipped.

    Raises:
        UnreadableError: for text that is not output of mdadm.
    """
    found: dict[str, MdDetail] = {}
    for content in contents(TOOL, printed, (report.parse,)):
        detail = _detail(content) if isinstance(content, dict) else None
        if detail and len(found) < MAX_ARRAYS:
            found[detail.name] = detail
    return MdDetails(found)


def _detail(content: dict[str, Any]) -> MdDetail | None:
    kname = name(content.get("device"), 60).removeprefix("/dev/").replace("md/", "md_")
    level = told(content.get("raid_level"), 20)
    if not kname.startswith("md") or level not in _LEVELS:
        return None
    if "inactive" in told(content.get("state"), 120) and whole(content.get("raid_devices")) is None:
        level = ""  # mdadm prints raid0 for any array that is not assembled
    members = [(row, name(row.get("device"), 60).removeprefix("/dev/")) for row in rows(content.get("device_table"))]
    places = {
        device: place for row, device in members if device and (place := whole(row.get("raid_device"))) is not None
    }
    return MdDetail(
        kname,
        _uuid(content.get("uuid")),
        told(content.get("version"), 20),
        _array(kname, level, content, members),
        places,
    )


def _uuid(value: object) -> str:
    digits = re.sub(r"[^0-9a-f]", "", name(value, 80).lower())
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])) if len(digits) == 32 else ""


def _array(kname: str, level: str, content: dict[str, Any], members: list[tuple[dict[str, Any], str]]) -> MdArray:
    """Return the array as mdstat would show it, for hosts whose mdstat is not known."""
    state, chunk = (
        told(content.get("state"), 120),
        re.fullmatch(r"(\d{1,9})([KM])", told(content.get("chunk_size"), 20)),
    )
    blocks = re.match(r"\d{1,15}", told(content.get("array_size"), 60))
    raid, active = whole(content.get("raid_devices")), whole(content.get("active_devices"))
    layout = told(content.get("layout"), 40)
    return MdArray(
        kname, "broken" if "FAILED" in state else "inactive" if "inactive" in state else "active", "", level,
        tuple(MdMember(device, whole(row.get("number")) or 0, _state(row)) for row, device in members if device),
        int(blocks[0]) * 1024 if blocks else None, told(content.get("version"), 20),
        int(chunk[1]) * (1024 if chunk[2] == "K" else 1024**2) if chunk else None, "" if layout.startswith("-") else layout,
        "", raid, active if active is not None else raid, next((name for word, name in _ACTIONS if word in state), ""),
    )  # fmt: skip


def _state(row: dict[str, Any]) -> str:
    printed = told(row.get("state"), 80)
    return next((state for word, state in _STATES if word in printed), "in sync")


def with_arrays(md: MdStat | None, details: MdDetails | None) -> MdStat | None:
    """Return mdstat's arrays with those added that only mdadm reported."""
    if details is None:
        return md
    known = md.by_name() if md else {}
    more = tuple(one.array for one in details.by_name.values() if one.array and one.name not in known)
    md = md or MdStat()
    return replace(md, arrays=(*md.arrays, *more))
