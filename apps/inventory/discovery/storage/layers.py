"""From the readings of lsblk and mdstat to disks and the arrays on them, however deep they are nested.

Partitions, multipath devices and LVM's inner parts are seen through. Everything else that lies on other devices is an
array: md, LVM, dm-crypt (level single over one member), bcache, and the pools of btrfs, ZFS and bcachefs that span
several devices.

The level of an LVM volume, as far as lsblk's numbers tell.

A striped volume asks for I/O of one stripe at least (`min-io`) and of all stripes at best (`opt-io`); a linear one
passes on what its disks ask for. A RAID volume lies on `_rimage_N` parts, and its size against theirs tells how many
carry data.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain

from apps.inventory.discovery.models import NOTHING, FoundArray, FoundMember, FoundStorage, Layer, Nothing
from apps.inventory.discovery.storage.drives import drives, is_disk, is_loop
from apps.inventory.discovery.tools.lsblk.devices import BlockDevices, Device
from apps.inventory.discovery.tools.mdstat import MdArray, MdStat

_PARTS = "rimage|rmeta|mimage|mlog|tdata|tmeta|cdata|cmeta|cvol|corig|vdata|pmspare"
_INSIDE = re.compile(rf".*(_({_PARTS})(_\d+)?|-tpool|-real|-cow)")
_BOOKKEEPING = re.compile(r".*(_(rmeta|mlog|tmeta|cmeta|pmspare)(_\d+)?|-cow)")
_IMAGE = re.compile(r".*_[rm]image_\d+")


def is_inside(device: Device) -> bool:
    """Return whether a device is one that LVM made for its own use, which is passed through and not shown."""
    return device.type == "lvm" and bool(_INSIDE.fullmatch(device.name))


def is_bookkeeping(device: Device) -> bool:
    """Return whether a device is LVM metadata, which holds no data of the volume."""
    return device.type == "lvm" and bool(_BOOKKEEPING.fullmatch(device.name))


def level_and_chunk(volume: Device, devices: Mapping[str, Device], members: int) -> tuple[str, int | None]:
    """Return a volume's RAID level and chunk in bytes; level '' where two levels or none would fit."""
    parents = [devices[parent] for parent in volume.parents if parent in devices]
    images = [parent for parent in parents if _IMAGE.fullmatch(parent.name)]
    if images:
        return _raid_level(volume, images), None
    if members < 2:
        return "linear", None
    if any(is_inside(parent) for parent in parents):
        return "", None
    stripe, asked_below = volume.min_io or 0, max((parent.min_io or 0 for parent in parents), default=0)
    if stripe > asked_below and (volume.opt_io or 0) == stripe * len(parents):
        return "0", stripe
    return "linear", None


def _raid_level(volume: Device, images: list[Device]) -> str:
    size, count = images[0].size, len(images)
    if not size or not volume.size:
        return ""
    # lvmraid(7): RAID 5 has at least three images, RAID 6 five, RAID 10 an even number from four on.
    carrying: dict[str, float] = {
        "1": 1,
        "0": count,
        "5": count - 1 if count > 2 else 0,
        "6": count - 2 if count > 4 else 0,
    }
    carrying["10"] = count / 2 if count > 3 and count % 2 == 0 else 0
    fitting = [level for level, data in carrying.items() if data and abs(volume.size / size - data) < 0.02]
    return fitting[0] if len(fitting) == 1 else ""


POOLS = {"btrfs": "btrfs", "zfs_member": "ZFS", "bcachefs": "bcachefs"}
_SOFTWARE = {"lvm": "LVM", "crypt": "dm-crypt", "dmraid": "dmraid", "vdo": "VDO"}
_LEVELS = {"raid0": "0", "raid1": "1", "raid4": "4", "raid5": "5", "raid6": "6", "raid10": "10", "linear": "linear"}
MD_TYPES = {*_LEVELS, "md"}
_STATES = {
    "clean": "clean", "degraded": "degraded", "recovering": "degraded", "failed": "failed", "inactive": "failed",
    "resyncing": "resyncing", "reshaping": "resyncing", "checking": "resyncing",
}  # fmt: skip
# No machine comes near these; they bound what a hostile one can make.
_MAX_SEEN = 1024  # devices looked through from one device
MAX_ARRAYS = 1024
MAX_PLACES = 16_384  # members of all arrays together


class Layers:
    """The block devices of one host.

    `hardware` are device names that a person entered as arrays of a RAID controller.
    """

    def __init__(self, block: BlockDevices, md: MdStat | None, hardware: Mapping[str, str] | None = None) -> None:
        self.devices = block.by_kname()
        self.md = {array.name: array for array in md.arrays if not array.is_container} if md else {}
        self.containers = {array.name for array in md.arrays if array.is_container} if md else set()
        self.hardware = hardware or {}
        self._by_name = block.by_any_name()
        self._below: dict[str, list[tuple[Layer, str]]] = {}
        self._warnings: list[str] = []

    def storage(self, mounted: Iterable[str] = ()) -> FoundStorage:
        """Return the disks and arrays of the host.

        `mounted` are the kernel names of devices with a stored filesystem; a loop device counts only below one of
        those.
        """
        bounded = self._bounded(chain(map(self._array, self._stacked), self._pools.values()))
        arrays = self._acyclic(bounded)
        used = {place.layer.name for array in arrays for place in array.members}
        used |= {layer.name for kname in mounted for layer, _ in self.rests_on(kname)}
        wanted = [
            device
            for device in self.devices.values()
            if device.kname not in self.hardware and (is_disk(device) or (is_loop(device) and device.kname in used))
        ]
        multipaths = {parent: d.kname for d in self.devices.values() if d.type == "mpath" for parent in d.parents}
        return FoundStorage(drives(wanted, multipaths), arrays, self._warnings)

    def device_of(self, numbers: str, source: str) -> str:
        """Return the kernel name of a mounted device by major:minor, path, mapper name or /dev/vg/lv; else ''."""
        path = source.split(":")[0] if source.startswith("/dev/") else source
        return self._by_name.get(numbers) or self._by_name.get(path, "")

    def layer_of(self, kname: str, fstype: str = "", source: str = "") -> Layer | None:
        """Return what a filesystem on this device lies on: its pool, else the one disk or array below; else None."""
        device = self.devices.get(kname)
        key = source.split("/")[0] if fstype == "zfs" else device.uuid if device else ""
        if pool := self._pools.get(key):
            return Layer("array", pool.name)
        if fstype == "zfs":
            kname = next((d.kname for d in self.devices.values() if d.fstype == "zfs_member" and d.label == key), "")
        below = {layer for layer, _ in self.rests_on(kname)}
        return below.pop() if len(below) == 1 else None

    def rests_on(self, kname: str) -> list[tuple[Layer, str]]:
        """Return the disks and arrays below a device, each with the partition between; a disk or array is its own."""
        if kname not in self._below:
            self._below[kname] = self._look_below(kname)
        return self._below[kname]

    def _look_below(self, kname: str) -> list[tuple[Layer, str]]:
        found: dict[tuple[Layer, str], None] = {}
        seen: set[str] = set()
        waiting = [(kname, "")]
        while waiting and len(seen) < _MAX_SEEN:
            name, partition = waiting.pop(0)
            if name in seen:
                continue
            seen.add(name)
            device = self.devices.get(name)
            if layer := self._layer(name, device):
                found[layer, partition] = None
            elif device and not is_bookkeeping(device):
                partition = partition or (name if device.type in ("part", "md") else "")
                waiting.extend((parent, partition) for parent in device.parents)
        return list(found)

    def _layer(self, kname: str, device: Device | None) -> Layer | None:
        if kname in self.hardware:
            return Layer("array", self.hardware[kname])
        if kname in self._stacked_names:
            return Layer("array", self._stacked_names[kname])
        if device and (is_disk(device) or is_loop(device)):
            return Layer("disk", self._first_names.get(kname, kname))
        return None

    @cached_property
    def _first_names(self) -> dict[str, str]:
        """Map each device name to the name that its drive is known by."""
        multipaths = {parent: d.kname for d in self.devices.values() if d.type == "mpath" for parent in d.parents}
        found = drives((device for device in self.devices.values() if is_disk(device)), multipaths)
        return {alias: disk.device_name for disk in found for alias in disk.aliases}

    @cached_property
    def _stacked(self) -> list[Device]:
        """Return the devices that are arrays, and those that only mdstat knows (inactive ones)."""
        listed = [device for device in self.devices.values() if self._is_array(device)]
        known = {device.kname for device in listed}
        return listed + [
            Device(name, name, f"/dev/{name}" if name.startswith("md") else "", type="md")
            for name in self.md
            if name not in known
        ]

    @cached_property
    def _stacked_names(self) -> dict[str, str]:
        return {device.kname: device.name[:120] for device in self._stacked}

    def _is_array(self, device: Device) -> bool:
        if device.kname in self.containers or device.kname in self.hardware:
            return False
        if device.kname in self.md or device.type in _LEVELS:
            return True
        if device.type == "md":  # its level could not be read; md0p1 is a partition
            return not re.search(r"\dp\d+$", device.kname)
        if device.type in ("part", "mpath", "loop", "rom") or is_inside(device):
            return False
        return bool(device.parents) or device.type in _SOFTWARE

    def _array(self, device: Device) -> FoundArray:
        md = self.md.get(device.kname)
        if md or device.type in MD_TYPES:
            return self._md_array(device, md)
        members = self._members(device.kname, device.parents)
        kind = device.kname.rstrip("0123456789") if device.type == "disk" else device.type
        array = FoundArray(
            name=device.name[:120],
            device_name=device.path[:120],
            software=_SOFTWARE.get(kind, kind),
            level="single" if len(members) == 1 and kind not in ("lvm", "md") else "",
            capacity_bytes=device.size,
            members=members,
            member_count=len(members) or None,
        )
        if device.type != "lvm":
            return array
        level, chunk = level_and_chunk(device, self.devices, len(members))
        inferred = frozenset({"level", "chunk_size"})
        return replace(array, level=level, chunk_size=chunk or _no_chunk(level), inferred=inferred)

    def _md_array(self, device: Device, md: MdArray | None) -> FoundArray:
        level = _LEVELS.get(md.level if md and md.level else device.type, "")
        is_started = md is not None and md.activity != "inactive"
        below = [member.device for member in md.members] if md else list(device.parents)
        states = {member.device: member.state for member in md.members} if md else {}
        uuids = {self.devices[name].uuid for name in below if name in self.devices and _is_md_part(self.devices[name])}
        return FoundArray(
            name=device.name[:120],
            device_name=device.path[:120],
            software="md",
            level=level,
            uuid=uuids.pop() if len(uuids) == 1 else "",
            chunk_size=(md.chunk_size if md else None) or _no_chunk(level),
            layout=(md.layout if md else "") or (NOTHING if level in ("0", "1", "linear") else ""),
            state=_STATES.get(md.state, "") if md else "",
            # of an array that is not started, md prints the size of its members together and calls them all spares
            capacity_bytes=(md.size if md and is_started else None) or device.size,
            members=self._members(device.kname, below, states if is_started else None),
            member_count=(md.raid_devices if md else None) or len(below) or None,
        )

    def _members(
        self, kname: str, below: Iterable[str], states: Mapping[str, str] | None = None
    ) -> tuple[FoundMember, ...]:
        states = states or {}
        places = {
            (layer, partition): FoundMember(layer, partition, states.get(name, ""))
            for name in below
            for layer, partition in self.rests_on(name)
            if layer != Layer("array", self._stacked_names.get(kname, kname))
        }
        return tuple(places.values())

    @cached_property
    def _pools(self) -> dict[str, FoundArray]:
        """Return the filesystems over several devices by UUID, or for ZFS by the pool's name.

        How they spread data is not printed.
        """
        groups: dict[tuple[str, str], list[Device]] = defaultdict(list)
        for device in self.devices.values():
            key = device.label if device.fstype == "zfs_member" else device.uuid
            if device.fstype in POOLS and key:
                groups[device.fstype, key].append(device)
        taken = set(self._stacked_names.values())
        wide = {place: group for place, group in groups.items() if len(group) > 1}
        return {key: self._pool(fstype, key, group, taken) for (fstype, key), group in wide.items()}

    def _pool(self, fstype: str, key: str, group: list[Device], taken: set[str]) -> FoundArray:
        software, label = POOLS[fstype], group[0].label
        name = (label or f"{software} {key[:8]}")[:100]
        name = f"{name} ({software})" if name in taken else name
        taken.add(name)
        members = self._members(name, [device.kname for device in group])
        return FoundArray(name, label, software, uuid=group[0].uuid, members=members, member_count=len(group))

    def _bounded(self, arrays: Iterable[FoundArray]) -> list[FoundArray]:
        taken: list[FoundArray] = []
        places = 0
        for array in arrays:
            places += len(array.members)
            if len(taken) == MAX_ARRAYS or places > MAX_PLACES:
                limits = f"{MAX_ARRAYS} arrays or {MAX_PLACES} members"
                self._warnings.append(f"lsblk: found more than {limits}, the rest was not taken over")
                break
            taken.append(array)
        return taken

    def _acyclic(self, arrays: list[FoundArray]) -> list[FoundArray]:
        """Return the arrays, without any nesting if it goes round in a circle, which only a faulty report can print."""
        below = {a.name: {m.layer.name for m in a.members if m.layer.kind == "array"} for a in arrays}
        try:
            TopologicalSorter(below).prepare()
        except CycleError:
            self._warnings.append("lsblk: arrays lie on each other in a circle, their nesting was not taken over")
            return [replace(a, members=tuple(m for m in a.members if m.layer.kind == "disk")) for a in arrays]
        return arrays


def _is_md_part(device: Device) -> bool:
    return device.fstype == "linux_raid_member" and bool(device.uuid)


def _no_chunk(level: str) -> Nothing | None:
    """Return NOTHING for levels that do not cut data into chunks."""
    return NOTHING if level in ("1", "linear", "single") else None
