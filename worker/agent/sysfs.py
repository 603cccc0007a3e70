"""What the kernel's device tree says and no tool prints: on which card a disk hangs, how fast the card's link runs, in which slot
of a JBOD a disk sits, and the settings that matter to tests. Only files below /sys and /proc/sys are read."""

import os
from typing import Any, Dict

from .tools import listed, text_of

SETTINGS = (
    "net/core/rmem_max", "net/core/wmem_max", "net/core/rmem_default", "net/core/wmem_default", "net/core/netdev_max_backlog",
    "net/core/default_qdisc", "net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem", "net/ipv4/tcp_mem", "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_window_scaling", "net/ipv4/tcp_timestamps", "net/ipv4/tcp_sack", "vm/dirty_ratio", "vm/dirty_background_ratio",
    "vm/dirty_bytes", "vm/dirty_background_bytes", "vm/dirty_expire_centisecs", "vm/dirty_writeback_centisecs", "vm/swappiness",
    "vm/vfs_cache_pressure", "vm/min_free_kbytes", "vm/nr_hugepages", "vm/zone_reclaim_mode", "fs/aio-max-nr",
    "dev/raid/speed_limit_min", "dev/raid/speed_limit_max", "kernel/numa_balancing",
)  # fmt: skip


def settings() -> str:
    """As `sysctl` prints them."""
    read = ((name, text_of(f"/proc/sys/{name}")) for name in SETTINGS)
    return "".join(f"{name.replace('/', '.')} = {' '.join(value.split())}\n" for name, value in read if value)


def device_tree() -> Dict[str, Any]:
    """Paths below /sys/devices of block devices, NVMe controllers and NICs; links of PCI cards; slots of enclosures."""
    return {
        "block": {name: _path(f"block/{name}") for name in listed("/sys/block")},
        "nvme": {name: _path(f"class/nvme/{name}") for name in listed("/sys/class/nvme")},
        "net": {
            name: _nic(name) for name in listed("/sys/class/net") if os.path.exists(f"/sys/class/net/{name}/device")
        },
        "pci": _cards(),
        "enclosures": _enclosures(),
    }


def _path(name: str) -> str:
    return os.path.realpath(f"/sys/{name}")[len("/sys/devices/") :]


def _driver(device: str) -> str:
    path = f"{device}/driver"
    return os.path.basename(os.path.realpath(path)) if os.path.exists(path) else ""


def _nic(name: str) -> Dict[str, Any]:
    here = f"/sys/class/net/{name}"
    return {
        "path": _path(f"class/net/{name}"),
        "driver": _driver(f"{here}/device"),
        "speed": _number(f"{here}/speed"),
        "mtu": _number(f"{here}/mtu"),
        "address": text_of(f"{here}/address"),
    }


def _number(path: str) -> Any:
    text = text_of(path)
    return int(text) if text.lstrip("-").isdigit() else None


def _cards() -> Dict[str, Any]:
    """Storage (class 01), network (02) and Fibre Channel or InfiniBand (0c): what else there is is none of ours."""
    found = {}
    for address in sorted(os.listdir("/sys/bus/pci/devices")) if os.path.isdir("/sys/bus/pci/devices") else []:
        here = f"/sys/bus/pci/devices/{address}"
        if text_of(f"{here}/class")[:4] in ("0x01", "0x02", "0x0c"):
            speed, width = text_of(f"{here}/current_link_speed"), text_of(f"{here}/current_link_width")
            found[address] = {"driver": _driver(here), "speed": speed, "width": width}
    return found


def _enclosures() -> Dict[str, Any]:
    """SES: each component that has a slot, and the disk in it."""
    found = {}
    root = "/sys/class/enclosure"
    for address in sorted(os.listdir(root)) if os.path.isdir(root) else []:
        slots = {}
        for name in sorted(os.listdir(f"{root}/{address}")):
            place = f"{root}/{address}/{name}"
            if os.path.exists(f"{place}/slot"):
                disks = listed(f"{place}/device/block")
                slots[name] = {"slot": _number(f"{place}/slot"), "disk": disks[0] if disks else None}
        device = f"{root}/{address}/device"
        found[address] = {"vendor": text_of(f"{device}/vendor"), "model": text_of(f"{device}/model"), "slots": slots}
    return found
