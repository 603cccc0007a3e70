"""The disks under the run are no warmer than allowed, by the sensors that the kernel shows to everybody.

These are the hwmon devices of nvme and of drivetemp (SATA, SAS), in thousandths of a degree. A disk behind a RAID controller, and one
whose driver is not loaded, has none; then it is not checked.
"""

import glob
from typing import Any, Dict, List, Optional

from .. import mount
from ..disk import text_of
from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite, number

KIND, LABEL = "temperature", "temperature"
COLDEST, HOTTEST = -273.0, 1000.0  # °C, of a limit
# nvme's sensor is a child of the controller, which is the namespace's `device`; drivetemp's one of the SCSI device.
SENSORS = ("device/hwmon/hwmon*", "device/hwmon*", "device/device/hwmon/hwmon*", "device/device/hwmon*")


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Read the sensors of all disks below the directory."""
    disks = mount.disks_below(site.path)[0]
    if disks is None:
        return HostFinding(NOT_CHECKED, "the kernel does not name the disks of this filesystem", {}, {})
    if not disks:
        return HostFinding(NOT_CHECKED, "the filesystem lies on no disk", {}, {})
    return judge({disk: degrees(disk, "input") for disk in sorted(disks)}, _limits(asked, sorted(disks)))


def judge(read: Dict[str, Optional[float]], limits: Dict[str, Optional[float]]) -> HostFinding:
    """Compare °C of each disk with its limit; None is what could not be read."""
    known = {disk: value for disk, value in read.items() if value is not None}
    most = {disk: value for disk, value in limits.items() if value is not None}
    words = [f"{disk} {known[disk]:g} °C" for disk in known]
    hot = [disk for disk in known if disk in most and known[disk] > most[disk]]
    unread = [disk for disk in read if disk not in known]
    unlimited = [disk for disk in known if disk not in most]
    if hot:
        text = ", ".join(f"{disk} {known[disk]:g} °C, at most {most[disk]:g} °C" for disk in hot)
        return HostFinding(FAILED, text, known, most)
    if unread:
        words.append(f"no sensor of {', '.join(unread)} can be read without root (nvme or drivetemp)")
    if unlimited:
        words.append(f"no limit is known of {', '.join(unlimited)}")
    outcome = NOT_CHECKED if unread or unlimited else PASSED
    return HostFinding(outcome, ", ".join(words), known, most)


def _limits(asked: Dict[str, Any], disks: List[str]) -> Dict[str, Optional[float]]:
    """Return the limit that was asked for, else each drive's own warning threshold."""
    celsius = number(asked, "celsius", COLDEST, HOTTEST)
    if celsius is not None:
        return dict.fromkeys(disks, celsius)
    return {disk: degrees(disk, "max") for disk in disks}


def degrees(disk: str, what: str) -> Optional[float]:
    """Return °C of a disk's first sensor: `input` is the reading, `max` its warning threshold. None: not to be read."""
    for pattern in SENSORS:
        for sensor in sorted(glob.glob(f"{mount.SYS}/class/block/{disk}/{pattern}")):
            text = text_of(f"{sensor}/temp1_{what}")
            if text.lstrip("-").isdigit():
                return int(text) / 1000.0
    return None
