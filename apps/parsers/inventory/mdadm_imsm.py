"""mdadm `--examine` of a member of Intel's containers: its own fields, `[Volume0]` for each volume, and every disk.

          Magic : Intel Raid ISM Cfg Sig. 1.3.00
  Disk00 Serial : S000
          State : active
[Volume0]:
     RAID Level : 5

Source: mdadm's super-intel.c (examine_super_imsm). The examined disk comes before the volumes, the others behind them. Content:
fields as in `mdadm`, `[Volume0]`: {…}, "disk_list": [{"disk", "serial", "state", "id", "usable_size"}].
"""

import re
from collections.abc import Sequence

from apps.parsers.inventory.printed import Content, count, field, put, typed

MAGIC = "Intel Raid ISM Cfg Sig."
SECTION = re.compile(r"\[(\S[^\]]{0,80})\]:\s*$|\s?(Bad Block Management Log|Migration Record Information):\s*$")
_DISK = re.compile(r"\s*(Disk\S{1,8}) Serial : (.*)")


def is_member(lines: Sequence[str]) -> bool:
    return any(MAGIC in line for line in lines[:4])


def read(name: str, lines: Sequence[str]) -> tuple[str, Content]:
    content: Content = {"device": name} if name else {}
    here = content
    for line in lines:
        if section := SECTION.match(line):
            here = content.setdefault(f"[{section[1]}]" if section[1] else _key(section[2]), {})
        elif disk := _DISK.match(line):
            here = {"disk": disk[1], "serial": disk[2].strip()}
            content.setdefault("disk_list", []).append(here)
        elif found := field(line):
            put(here, _key(found[0]), typed(found[0], found[1]))
    return _summary(content), content


def _key(printed: str) -> str:
    return printed.lower().replace(" ", "_")


def _summary(content: Content) -> str:
    volumes = [f"{key[1:-1]} RAID {value.get('raid_level', '?')}" for key, value in content.items() if key[0] == "["]
    disks = f"{content['disks']} disks" if isinstance(content.get("disks"), int) else ""
    return f"{content.get('device') or 'a device'}: " + ", ".join(
        filter(None, [disks, count(len(volumes), "volume"), *volumes[:4]])
    )
