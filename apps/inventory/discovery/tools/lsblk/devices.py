"""`lsblk -J -O -b` of util-linux 2.27 to 2.41: disks, partitions and what is stacked on them.

    {"blockdevices": [{"name": "sda", "kname": "sda", "type": "disk", "size": 480103981056, "children": [{…}]}]}

A device with several parents (md, LVM) is printed once below each; here it is one device with all its parents.
Oddities: before 2.33 numbers and booleans are strings; before 2.37 there is one `mountpoint`, later a list that may
hold null; `-p` puts /dev/ before names; a flat list (`-l`) tells parents by `pkname`; with few columns there is
neither, and a partition's disk is known from the kernel's rule for names only. `-P` prints pairs. Without `-b` sizes
are rounded (223.6G) and in units of 1024; so are those of tables, as `lsblk` alone prints them. Sizes in bytes. Nothing here
says which PCI device a disk hangs on.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from apps.inventory.discovery.looks import DISKS, ToolLook
from apps.inventory.discovery.tool_text import contents, rows
from apps.inventory.discovery.tool_values import (
    UnreadableError,
    flag,
    json_object,
    name,
    nodes,
    pairs,
    size,
    text,
    whole,
)
from apps.inventory.discovery.tools.lsblk import listing
from apps.inventory.discovery.tools.lsblk.kinds import disk_of, with_kinds

TOOL = "lsblk"
MAX_DEVICES = 8192
_WITH_KERNEL_NAME = re.compile(r"(\S{1,200}) \((dm-\d{1,5})\)")
_PAIRS = re.compile(r'\s*(?:[A-Z][A-Z0-9:_%-]{0,30}="[^"\n]*"\s+)*?K?NAME="')


@dataclass(frozen=True)
class Device:
    """A block device; '' and None mean not printed, `parents` are the kernel names of what it lies on."""

    kname: str
    name: str = ""
    path: str = ""
    numbers: str = ""  # major:minor
    type: str = ""
    size: int | None = None
    parents: tuple[str, ...] = ()
    tran: str = ""
    subsystems: str = ""
    hctl: str = ""
    rota: bool | None = None
    vendor: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    rev: str = ""
    phy_sec: int | None = None
    log_sec: int | None = None
    min_io: int | None = None
    opt_io: int | None = None
    fstype: str = ""
    uuid: str = ""
    label: str = ""
    mountpoints: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockDevices:
    """The block devices of a host. `earlier` are kernel names that only an earlier look listed."""

    devices: tuple[Device, ...]
    warnings: tuple[str, ...] = ()
    earlier: frozenset[str] = frozenset()

    def with_earlier(self, before: "BlockDevices", look: ToolLook) -> "BlockDevices":
        """Return the devices with those of the looks before, where `look` is what this one looked at.

        Not those that this look would have listed, nor what it shows under another name.
        """
        mine, known = self.by_kname(), before.by_kname()
        numbers = {number for device in self.devices for number in (device.serial, device.wwn) if number}
        rest: dict[str, Device] = {}
        for device in before.devices:
            is_gone = device.type == "disk" and look.lists(DISKS, device.kname)
            has_moved = bool(numbers & {device.serial, device.wwn})
            is_below = bool(device.parents) and not any(parent in mine or parent in rest for parent in device.parents)
            if device.kname not in mine and not (is_gone or has_moved or is_below):
                rest[device.kname] = device
        seen = [_completed(device, known[name]) if name in known else device for name, device in mine.items()]
        return BlockDevices((*seen, *rest.values()), self.warnings, frozenset(rest))

    def by_kname(self) -> dict[str, Device]:
        return {device.kname: device for device in self.devices}

    def by_any_name(self) -> dict[str, str]:
        """Map major:minor and every path that means a device to the device's kernel name."""
        names: dict[str, str] = {}
        for device in self.devices:
            aliases = [device.numbers, device.path, f"/dev/{device.kname}", f"/dev/mapper/{device.name}"]
            if device.type == "lvm":  # vg--a-lv is /dev/vg-a/lv
                aliases.append("/dev/" + device.name.replace("--", "\0").replace("-", "/", 1).replace("\0", "-"))
            for alias in aliases:
                names.setdefault(alias, device.kname)
        names.pop("", None)
        return names


def _completed(device: Device, before: Device) -> Device:
    """Return the device with what an earlier look printed of it, unless that was another device of this name."""
    for number in ("serial", "wwn", "uuid"):
        now, then = getattr(device, number), getattr(before, number)
        if now and then and now != then:
            return device
    empty = {name: value for name, value in vars(before).items() if getattr(device, name) in ("", None, ())}
    return replace(device, **empty)


def discover(printed: str) -> BlockDevices:
    """Parse the output of lsblk as pairs, JSON or a table; odd entries become warnings.

    Raises:
        UnreadableError: if there is no list of devices at all.
    """
    if _PAIRS.match(printed[:4000]):
        found = [(pairs(line), None) for line in printed.splitlines()[:MAX_DEVICES] if line.strip()]
        return _gathered(found, len(printed.splitlines()) > MAX_DEVICES)
    if '"blockdevices"' not in printed and "{" not in printed:
        return _of_table(printed)
    document = json_object(TOOL, printed)
    if not isinstance(document.get("blockdevices"), list):
        raise UnreadableError(TOOL, f"the keys {sorted(document)[:5]}", "blockdevices with a list")
    tree = list(nodes(TOOL, document["blockdevices"], MAX_DEVICES + 1))
    return _gathered(tree[:MAX_DEVICES], len(tree) > MAX_DEVICES)


def _of_table(printed: str) -> BlockDevices:
    """Parse a flat list that tells which device each is drawn below.

    Old versions put the kernel's name of a mapping behind its own.
    """
    found: list[tuple[dict[str, Any], dict[str, Any] | None]] = []
    for row in (
        one for content in contents(TOOL, printed, (listing.parse,)) for one in rows(content.get("blockdevices"))
    ):
        called = _WITH_KERNEL_NAME.fullmatch(text(row.get("name"), 255))
        named = {"name": called[1], "kname": called[2]} if called else {}
        above = _WITH_KERNEL_NAME.sub(r"\2", text(row.get("parent"), 255))
        found.append(({"pkname": above, **row, **named}, None))
    return _gathered(found[:MAX_DEVICES], len(found) > MAX_DEVICES)


def _gathered(entries: Iterable[tuple[dict[str, Any], dict[str, Any] | None]], is_cut: bool) -> BlockDevices:
    """Return one device per kernel name, with the parents of all its appearances."""
    devices: dict[str, Device] = {}
    nameless, untyped = 0, set[str]()
    for entry, above in entries:
        device = _device(entry, above)
        if not device.kname:
            nameless += 1
            continue
        untyped.update([] if "type" in entry else [device.kname])
        known = devices.setdefault(device.kname, device)
        devices[device.kname] = replace(known, parents=tuple(dict.fromkeys(known.parents + device.parents)))
    warnings = [f"{TOOL}: {nameless} entries have no name, expected name or kname"] if nameless else []
    if is_cut:
        warnings.append(f"{TOOL}: more than {MAX_DEVICES} devices, the rest was not read")
    typed = with_kinds(devices, untyped)
    return BlockDevices(tuple(_with_guessed_disk(device, typed) for device in typed.values()), tuple(warnings))


def _device(entry: dict[str, Any], above: dict[str, Any] | None) -> Device:
    parents = [_kname(above)] if above else []
    parents.append(_bare(entry.get("pkname")))
    kname = _kname(entry)
    return Device(
        kname=kname,
        name=_bare(entry.get("name")) or kname,
        path=name(entry.get("path"), 255) or f"/dev/{kname}",
        numbers=name(entry.get("maj:min"), 20),
        type=name(entry.get("type"), 20).lower(),
        size=size(entry.get("size")),
        parents=tuple(dict.fromkeys(parent for parent in parents if parent and parent != kname)),
        tran=name(entry.get("tran"), 20).lower(),
        subsystems=name(entry.get("subsystems"), 80),
        hctl=name(entry.get("hctl"), 60),
        rota=flag(entry.get("rota")),
        mountpoints=_mountpoints(entry),
        vendor=text(entry.get("vendor"), 120),
        model=text(entry.get("model"), 120),
        serial=name(entry.get("serial"), 80),
        wwn=name(entry.get("wwn"), 80),
        rev=text(entry.get("rev"), 60),
        phy_sec=whole(entry.get("phy-sec")),
        log_sec=whole(entry.get("log-sec")),
        min_io=whole(entry.get("min-io")),
        opt_io=whole(entry.get("opt-io")),
        fstype=text(entry.get("fstype"), 40),
        uuid=name(entry.get("uuid"), 80),
        label=text(entry.get("label"), 120),
    )


def _kname(entry: dict[str, Any]) -> str:
    return _bare(entry.get("kname")) or _bare(entry.get("name"))


def _bare(value: object) -> str:
    return name(value, 128).removeprefix("/dev/mapper/").removeprefix("/dev/")


def _mountpoints(entry: dict[str, Any]) -> tuple[str, ...]:
    listed = entry.get("mountpoints")
    found = [entry.get("mountpoint"), *(listed[:1000] if isinstance(listed, list) else [listed])]
    return tuple(dict.fromkeys(point for point in (name(value, 500) for value in found) if point))


def _with_guessed_disk(device: Device, devices: dict[str, Device]) -> Device:
    """Add the disk of a partition by its name (sda1 lies on sda) if no parent was printed."""
    disk = disk_of(device.kname)
    if device.parents or device.type != "part" or disk not in devices:
        return device
    return replace(device, parents=(disk,))
