"""What the tools say of a host as a whole.

Which mounts are filesystems that a benchmark could be about.

Network interfaces with a device behind them: from the device tree, `ip`, ethtool and lspci.
"""

from collections.abc import Iterable
from typing import Any

from apps.inventory.discovery.models import NOTHING, FoundNic
from apps.inventory.discovery.readings import Readings
from apps.inventory.discovery.tools.findmnt import Mount, Mounts
from apps.inventory.discovery.tools.links import IpLink
from apps.inventory.discovery.tools.mkfs import Made
from apps.inventory.discovery.tools.sysfs import Port


def host_values(readings: Readings) -> dict[str, Any]:
    """Return the value of each field of the host; fields that no tool reported are left out."""
    values: dict[str, Any] = {}
    if cpu := readings.cpuinfo:
        values |= {"cpu_model": cpu.model, "cpu_count": cpu.count, "cpu_sockets": cpu.sockets}
        values["cpu_cache_bytes"] = cpu.cache_bytes
    if readings.meminfo:
        values["ram_bytes"] = readings.meminfo.total_bytes
    if readings.os_release:
        values["os"] = readings.os_release.pretty_name
    if uname := readings.uname:
        values |= {"kernel": uname.release, "architecture": uname.machine}
    if readings.sysctl and readings.sysctl.values:
        values["sysctl"] = readings.sysctl.values
    return values | _of_machine(readings)


def _of_machine(readings: Readings) -> dict[str, Any]:
    """Return the machine's facts: the agent's own, overridden by dmidecode, which needs root and knows more."""
    values: dict[str, Any] = {}
    if machine := readings.machine:
        environment = machine.environment(readings.cpuinfo.has_hypervisor if readings.cpuinfo else None)
        values |= {"fqdn": machine.fqdn, "board": machine.board, "environment": environment}
        values |= {"vendor": machine.vendor, "model": machine.model}
        values["hypervisor"] = NOTHING if environment == "native" else machine.hypervisor
    if made := readings.dmidecode:
        told = {
            "vendor": made.vendor,
            "model": made.model,
            "serial": made.serial,
            "board": made.board,
            "ram_type": made.ram_type,
        }
        values |= {name: value for name, value in told.items() if value}
    return values


MAX_KEPT = 512
# Read-only images; a snap-heavy desktop mounts fifty of them.
_IMAGES = ("squashfs", "iso9660", "udf", "erofs", "cramfs", "romfs")


def is_on_disk(mount: Mount) -> bool:
    """Return whether a mount is on a block device or a ZFS pool and not a bind mount of one of its folders.

    Subvolumes of btrfs count as mounts of their own.
    """
    if mount.fstype in _IMAGES or mount.fstype.startswith("fuse."):
        return False
    if mount.fstype == "zfs":
        return True
    return mount.source.startswith("/dev/") and (not mount.root or mount.fstype == "btrfs")


def kept(mounts: Mounts, paths: Iterable[str]) -> list[Mount]:
    """Return the mounts to store: those on disks, and those that hold one of `paths`, even on tmpfs or NFS.

    `paths` are those of the targets and the agent's directory. At most `MAX_KEPT` mounts are returned.
    """
    holders = {mount.target: mount for mount in map(mounts.holder_of, paths) if mount}
    on_disk = {mount.target: mount for mount in mounts.mounts if is_on_disk(mount)}
    return list((holders | on_disk).values())[:MAX_KEPT]


def made_of(mount: Mount, readings: Readings) -> Made | None:
    """Return how a mounted filesystem was made, or None where no tool reported it.

    ext is looked up by its device, XFS by device or mount point, a ZFS dataset by its name.
    """
    if mount.fstype == "zfs":
        options = readings.zfs.options.get(mount.source) if readings.zfs else None
        return Made(options) if options else None
    tool = readings.xfs_info if mount.fstype == "xfs" else readings.tune2fs if mount.fstype.startswith("ext") else None
    if tool is None:
        return None
    return tool.by_place.get(mount.source) or tool.by_place.get(mount.target)


MAX_NICS = 512


def nics(readings: Readings) -> list[FoundNic] | None:
    """Return the host's network interfaces; None where no tool reported any kind of link."""
    if readings.sysfs is None and readings.ip is None:
        return None
    links = {link.name: link for link in (readings.ip.links if readings.ip else ())}
    ports = {port.name: port for port in (readings.sysfs.ports if readings.sysfs else ())}
    names = list(ports) if readings.sysfs else list(links)
    return [_nic(name, ports.get(name), links.get(name), readings) for name in names[:MAX_NICS]]


def _nic(name: str, port: Port | None, link: IpLink | None, readings: Readings) -> FoundNic:
    port, link = port or Port(name), link or IpLink(name)
    told = readings.ethtool.by_name.get(name) if readings.ethtool else None
    pci = port.pci or link.pci or (told.pci if told else "")
    card = readings.lspci.by_address().get(pci) if readings.lspci else None
    return FoundNic(
        name=name, vendor=card.vendor if card else "", model=card.model if card else "",
        driver=(told.driver if told else "") or port.driver, firmware=told.firmware if told else "",
        bus=readings.sysfs.buses.get(pci, "") if readings.sysfs else "", address=pci, mac=port.mac or link.mac,
        bits_per_second=(told.bits_per_second if told else None) or port.bits_per_second, mtu=port.mtu or link.mtu,
    )  # fmt: skip
