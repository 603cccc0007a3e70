"""`mdadm --detail` of each md device: its own UUID, and which member has which place.

Its UUID is printed in four groups, lsblk's in five: the same 128 bits. Containers (`imsm`) are no arrays themselves.
"""

import re
from collections.abc import Collection, Mapping
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


_PARTITION = re.compile(r"(.*\d)p\d{1,4}")
_KERNELS = re.compile(r"md(?:_d)?\d{1,6}")
_ROLE = re.compile(r"MD_DEVICE_(.{1,60})_(ROLE|DEV)")


@dataclass(frozen=True)
class MdDetail:
    """What mdadm reports of an array.

    `name` is below /dev, such as `md0` or `md/backup`; else it is md's own name. `former` is the name under which mdadm
    reported it, where the kernel's is another one.
    """

    name: str
    uuid: str = ""
    version: str = ""
    array: MdArray | None = None
    places: dict[str, int] = field(default_factory=dict)
    former: str = ""

    @property
    def devices(self) -> frozenset[str]:
        """Return the names of the members' devices."""
        return frozenset(one.device for one in self.array.members) if self.array else frozenset()


@dataclass(frozen=True)
class MdDetails:
    """The arrays by name; `left_out` has a sentence for each kind of report in which none could be found."""

    by_name: dict[str, MdDetail]
    left_out: tuple[str, ...] = ()

    @property
    def empty_because(self) -> str:
        """Return why nothing of this can go into the inventory; '' where there are arrays."""
        return "" if self.by_name else "; ".join(self.left_out)


def discover(printed: str) -> MdDetails:
    """Parse the output of `mdadm --detail` and `--examine`, also with `--export`; `--scan` in the text is left out.

    For a partition of an array (md0p1) mdadm prints the array's own details with the partition's size.

    Raises:
        UnreadableError: for text that is not output of mdadm.
    """
    found: dict[str, MdDetail] = {}
    left_out: dict[str, None] = {}
    for content in contents(TOOL, printed, (report.parse,)):
        if not isinstance(content, dict):
            continue
        detail = _any_detail(content)
        if detail is None:
            left_out[_why_none(content)] = None
        elif len(found) < MAX_ARRAYS or detail.name in found:
            found[detail.name] = _together(found.get(detail.name), detail) if _is_examined(content) else detail
    return MdDetails(_without_partitions(found), tuple(filter(None, left_out)))


def _why_none(content: dict[str, Any]) -> str:
    """Return why a report has no array for the inventory; '' for containers, which are none."""
    level = told(content.get("raid_level") or content.get("MD_LEVEL"), 20)
    if level == "container" or "platform" in content or "filename" in content:
        return ""
    if "MD_LEVEL" in content or "MD_UUID" in content:
        return (
            "mdadm --export does not tell which array this is: there is no MD_DEVNAME, no MD_NAME and no command line with its "
            "device; bring mdadm --detail"
        )
    if "arrays" in content:
        return "mdadm --scan lists names and UUIDs alone; bring mdadm --detail of each array, or /proc/mdstat"
    if "raid_level" not in content:
        return ""
    return "mdadm --examine does not tell the name of the array; bring mdadm --detail, or /proc/mdstat"


def _any_detail(content: dict[str, Any]) -> MdDetail | None:
    if "MD_LEVEL" in content or "MD_UUID" in content:
        return _exported(content)
    return _examined(content) if _is_examined(content) else _detail(content)


def _is_examined(content: dict[str, Any]) -> bool:
    """Return whether the report is one about a member of an array, not about the array."""
    return "MD_DEV_UUID" in content or "magic" in content or "array_uuid" in content


def _examined(content: dict[str, Any]) -> MdDetail | None:
    """Return the array as the superblock of one member describes it; None where it does not name it.

    Version 1 has the array's name, which may begin with a host's, version 0.90 the number of its device.
    """
    minor, level = whole(content.get("preferred_minor")), told(content.get("raid_level"), 20)
    label = told(content.get("name"), 80).partition(" ")[0] or (f"md{minor}" if minor is not None else "")
    if not label or level not in _LEVELS:
        return None
    member = name(content.get("device"), 60).removeprefix("/dev/")
    role = re.search(r"\d{1,6}$", told(content.get("device_role"), 40))
    members = [({"raid_device": int(role[0]) if role else None, "number": int(role[0]) if role else 0}, member)]
    array = _array(label, level, {**content, "state": "", "active_devices": None}, members)
    places = {member: int(role[0])} if role and member else {}
    unknown = "spare" if "spare" in told(content.get("device_role"), 40) else ""
    array = replace(array, activity="", members=tuple(replace(one, state=unknown) for one in array.members))
    uuid = _uuid(content.get("array_uuid") or content.get("uuid"))
    return MdDetail(label, uuid, told(content.get("version"), 20), array, places)


def _together(before: MdDetail | None, detail: MdDetail) -> MdDetail:
    """Return what the superblocks of two members of an array tell together."""
    if before is None or not (before.array and detail.array) or before.uuid != detail.uuid:
        return detail
    members = {one.device: one for one in (*before.array.members, *detail.array.members)}
    places = before.places | detail.places
    ordered = sorted(members.values(), key=lambda one: (places.get(one.device, 1 << 20), one.device))
    return replace(before, array=replace(before.array, members=tuple(ordered)), places=places)


def _without_partitions(found: dict[str, MdDetail]) -> dict[str, MdDetail]:
    """Return the arrays alone: a partition is left out where its array is there, else it stands for it without a size."""
    arrays: dict[str, MdDetail] = {}
    for label, detail in found.items():
        match = _PARTITION.fullmatch(label)
        base = found.get(match[1]) if match else None
        if match and base and base.uuid == detail.uuid:
            continue
        if match and _KERNELS.fullmatch(match[1]) and base is None:
            array = replace(detail.array, name=match[1], size=None) if detail.array else None
            detail = replace(detail, name=match[1], array=array)
        arrays.setdefault(detail.name, detail)
    return arrays


def _detail(content: dict[str, Any]) -> MdDetail | None:
    kname = name(content.get("device"), 60).removeprefix("/dev/")
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


def _exported(content: dict[str, Any]) -> MdDetail | None:
    """Return the array of `mdadm --detail --export`, which prints no state and no sizes; None where nothing names it.

    MD_DEVNAME is its name below /dev/md/, MD_NAME the one in its superblock, which may begin with a host's name.
    """
    level, called = told(content.get("MD_LEVEL"), 20), told(content.get("MD_DEVNAME"), 50)
    asked = name(content.get("device"), 60).removeprefix("/dev/")
    below = called if _KERNELS.fullmatch(called) else f"md/{called}" if called else ""
    kname = (asked if _KERNELS.fullmatch(asked) else "") or below or (asked if asked.startswith("md") else "")
    kname = kname or told(content.get("MD_NAME"), 60)
    examined = content["device"] if "MD_DEV_UUID" in content and "device" in content else ""
    if not kname or level not in _LEVELS:
        return None
    parts: dict[str, dict[str, str]] = {}
    for key, value in content.items():
        if match := _ROLE.fullmatch(key):
            parts.setdefault(match[1], {})[match[2]] = str(value)
    parts |= {"examined": {"DEV": examined}} if examined else {}
    roles = {part["DEV"].removeprefix("/dev/"): part.get("ROLE", "") for part in parts.values() if "DEV" in part}
    places = {device: int(role) for device, role in roles.items() if role.isdecimal() and len(role) < 6}
    members = tuple(
        MdMember(device, places.get(device, 0), "in sync" if device in places else "spare" if role == "spare" else "")
        for device, role in sorted(roles.items(), key=lambda item: (places.get(item[0], 1 << 20), item[0]))
    )
    version = told(content.get("MD_METADATA"), 20)
    raid = whole(content.get("MD_DEVICES"))
    array = MdArray(kname, "", "", level, members, metadata=version, raid_devices=raid)
    return MdDetail(kname, _uuid(content.get("MD_UUID")), version, array, places)


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


def with_kernel_names(
    details: MdDetails | None, members: Mapping[str, Collection[str]], uuids: Mapping[str, str]
) -> MdDetails | None:
    """Return the details under the kernel's names, where they are under others (`md/backup`, `box:0`).

    `members` has the devices of each md array that the host is known to have, by the kernel's name for it, and `uuids`
    the UUID of those of which it is known. Where two have the same devices, nothing tells which of them a detail is about, and it is left out.
    """
    if details is None:
        return None
    named: dict[str, MdDetail] = {}
    for label, detail in details.by_name.items():
        knames = [label]
        if not _KERNELS.fullmatch(label):
            knames = (
                [kname for kname, uuid in uuids.items() if detail.uuid and uuid == detail.uuid]
                or [kname for kname, devices in members.items() if detail.devices and detail.devices == set(devices)]
                or [kname for kname, devices in members.items() if detail.devices and detail.devices < set(devices)]
                or [label]
            )
        if len(knames) == 1:
            array = replace(detail.array, name=knames[0]) if detail.array else None
            former = label if label != knames[0] else ""
            named.setdefault(knames[0], replace(detail, name=knames[0], array=array, former=former))
    return MdDetails(named, details.left_out)


def with_arrays(md: MdStat | None, details: MdDetails | None) -> MdStat | None:
    """Return mdstat's arrays with those added that only mdadm reported."""
    if details is None:
        return md
    known = md.by_name() if md else {}
    more = tuple(one.array for one in details.by_name.values() if one.array and one.name not in known)
    md = md or MdStat()
    return replace(md, arrays=(*md.arrays, *more))
