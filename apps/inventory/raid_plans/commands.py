"""The commands that would make a plan, for people to copy. Spindle executes nothing on a host.

mdadm(8), mkfs.xfs(8), ext4's mkfs: a stripe unit (`su`, `stride`) is one chunk, a stripe width (`sw`, `stripe-width`) the chunks
that carry data in one stripe. Devices are quoted for a shell whatever they are called.
"""

import re
import shlex
from collections.abc import Sequence

from apps.inventory.raid_plans.spread import SpreadGroup
from apps.inventory.raid_plans.wish import CHUNKED, INNER, RaidWish
from apps.inventory.topology.geometry import data_members

BLOCK = 4096
CONFIGURATION = "/etc/mdadm/mdadm.conf"  # Debian's; /etc/mdadm.conf elsewhere
_UNSAFE = re.compile(r"[^A-Za-z0-9#+.:=@_-]")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9!/._-]*")
_HEX = re.compile(r"(?:0x)?([0-9a-f]{16}(?:[0-9a-f]{16})?)", re.IGNORECASE)


def path_of(device_name: str, interface: str, model: str, serial: str, wwn: str) -> tuple[str, bool]:
    """Return (a disk's path, whether it stays valid over a boot); `("", False)` where nothing names the disk.

    Named by WWN, else by model and serial number as udev writes them, else by the kernel's name.
    """
    if interface == "NVMe" and wwn.lower().startswith(("eui.", "nvme.", "uuid.")):
        return f"/dev/disk/by-id/nvme-{_safe(wwn)}", True
    if match := _HEX.fullmatch(wwn.strip().removeprefix("naa.")):
        return f"/dev/disk/by-id/wwn-0x{match[1].lower()}", True
    bus = {"SATA": "ata", "PATA": "ata", "NVMe": "nvme"}.get(interface)
    if bus and model and serial:
        return f"/dev/disk/by-id/{bus}-{_safe(model)}_{_safe(serial)}", True
    bare = device_name.removeprefix("/dev/")
    return (f"/dev/{bare}", False) if _PLAIN.fullmatch(bare) and ".." not in bare else ("", False)


def _safe(text: str) -> str:
    """Replace blanks and unsafe characters by _, as udev does."""
    return _UNSAFE.sub("_", re.sub(r"\s+", "_", text.strip()))


def commands(wish: RaidWish, groups: Sequence[SpreadGroup]) -> list[tuple[str, str]]:
    """Return (what it is for, the command) for each command that makes the arrays, in the order to run them."""
    results: list[tuple[str, str]] = []
    each = len(groups) // wish.arrays
    for number in range(wish.arrays):
        name = wish.name if wish.arrays == 1 else f"{wish.name}{number}"
        own = groups[number * each : (number + 1) * each]
        if wish.level in INNER:
            parts = [f"{name}-{place}" for place in range(each)]
            results += [(f"Group {part}", _create(wish, part, group)) for part, group in zip(parts, own, strict=True)]
            results.append((f"Array {name} over its groups", _over(wish, name, parts)))
        else:
            results.append((f"Array {name}", _create(wish, name, own[0])))
        if wish.filesystem != "none":
            results.append((f"Filesystem on {name}", mkfs(wish, name, own)))
    scan = f"mdadm --detail --scan >> {CONFIGURATION}"
    return [*results, ("Remember the arrays at boot", scan), ("Watch the first resync", "cat /proc/mdstat")]


def _create(wish: RaidWish, name: str, group: SpreadGroup) -> str:
    level = wish.inner_level
    options = ["mdadm", "--create", _device(name), f"--level={level}", "--metadata=1.2"]
    options.append(f"--raid-devices={len(group.members)}")
    if level in CHUNKED:
        options.append(f"--chunk={wish.chunk // 1024}K")
    if level == "10":
        options.append("--layout=n2")
    if group.spares:
        options.append(f"--spare-devices={len(group.spares)}")
    return " ".join(map(shlex.quote, [*options, *(disk.path for disk in (*group.members, *group.spares))]))


def _over(wish: RaidWish, name: str, parts: Sequence[str]) -> str:
    """Return the command for the array over the groups.

    It has the groups' chunk, so that one stripe of the whole fills whole stripes of every group.
    """
    options = ["mdadm", "--create", _device(name), "--level=0", "--metadata=1.2", f"--raid-devices={len(parts)}"]
    return " ".join(map(shlex.quote, [*options, f"--chunk={wish.chunk // 1024}K", *map(_device, parts)]))


def mkfs(wish: RaidWish, name: str, groups: Sequence[SpreadGroup]) -> str:
    width = sum(int(data_members(wish.inner_level, len(group.members))) for group in groups)
    device = shlex.quote(_device(name))
    if wish.level == "1":
        return f"mkfs.{wish.filesystem} {device}"
    if wish.filesystem == "xfs":
        return f"mkfs.xfs -d su={wish.chunk // 1024}k,sw={width} {device}"
    stride = wish.chunk // BLOCK
    return f"mkfs.ext4 -b {BLOCK} -E stride={stride},stripe-width={stride * width} {device}"


def _device(name: str) -> str:
    return f"/dev/md/{name}"
