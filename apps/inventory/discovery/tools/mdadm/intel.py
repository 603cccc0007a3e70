"""mdadm `--examine` of a member of Intel's containers: its own fields, `[Volume0]` for each volume, and every disk.

          Magic : Intel Raid ISM Cfg Sig. 1.3.00
  Disk00 Serial : S000
          State : active
[Volume0]:
     RAID Level : 5

Source: mdadm's super-intel.c (examine_super_imsm). The examined disk comes before the volumes, the others behind them. Content:
fields as in `mdadm`, `[Volume0]`: {…}, "disk_list": [{"disk", "serial", "state", "id", "usable_size"}].

mdadm `--detail-platform`: what the firmware of Intel's RAID can do, and its controllers with what is attached to them.

     I/O Controller : /sys/devices/pci0000:00/0000:00:17.0 (SATA)
              Port0 : /dev/sdb (S0001)

Source: mdadm's super-intel.c. Content: fields as in `mdadm`, and "controllers": [{"controller", "ports": {"Port0": …},
"nvme": […]}]; a port without a device is None. A firmware with several controllers prints a block for each kind.
"""

import re
from collections.abc import Sequence

from apps.inventory.discovery.tool_output import Content, count, field, put, typed

MAGIC = "Intel Raid ISM Cfg Sig."
SECTION = re.compile(r"\[(\S[^\]]{0,80})\]:\s*$|\s?(Bad Block Management Log|Migration Record Information):\s*$")
_DISK = re.compile(r"\s*(Disk\S{1,8}) Serial : (.*)")


def is_member(lines: Sequence[str]) -> bool:
    return any(MAGIC in line for line in lines[:4])


def read_member(name: str, lines: Sequence[str]) -> tuple[str, Content]:
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


_HEAD = re.compile(r"\s{0,40}Platform : \S")
_SECOND = re.compile(r"\s{0,40}(?:Version|RAID Levels) : ")
_FIELD = re.compile(r"\s{0,40}[A-Z0-9][\w/ ]{1,30} : ")
_PORT = re.compile(r"Port\d{1,3}")


def platform_end(lines: Sequence[str], index: int) -> int:
    """Return the index after the last line of the platform that begins at `index`; `index` if none does."""
    if not (_HEAD.match(lines[index]) and any(map(_SECOND.match, lines[index + 1 : index + 3]))):
        return index
    behind = index + 1
    while (
        behind < len(lines)
        and not _HEAD.match(lines[behind])
        and (_FIELD.match(lines[behind]) or _is_rest(lines[behind]))
    ):
        behind += 1
    return behind


def is_platform(lines: Sequence[str]) -> bool:
    return bool(_HEAD.match(lines[0]))


def read_platform(lines: Sequence[str]) -> tuple[str, Content]:
    content: Content = {"controllers": []}
    for key, value in filter(None, (field(line) for line in _joined(lines))):
        controllers = content["controllers"]
        if key == "I/O Controller":
            controllers.append({"controller": value, "ports": {}, "nvme": []})
        elif controllers and _PORT.fullmatch(key):
            controllers[-1]["ports"][key] = None if "no device attached" in value else value
        elif controllers and key in ("NVMe under VMD", "NVMe Device"):
            controllers[-1]["nvme"].append(value)
        else:
            put(content, key.lower().replace(" ", "_"), typed(key, value))
    attached = sum(len(one["nvme"]) + sum(map(bool, one["ports"].values())) for one in content["controllers"])
    told = f"{content['platform']} {content.get('version', '')}".strip()
    return f"{told}: {count(len(content['controllers']), 'controller')}, {count(attached, 'device')}", content


def _is_rest(line: str) -> bool:
    """Return whether a mail wrapped the line before, leaving for example `(SATA)` or `(S0001)` here."""
    return line.strip().startswith("(") and line.strip().endswith(")")


def _joined(lines: Sequence[str]) -> list[str]:
    whole: list[str] = []
    for line in lines:
        if whole and _is_rest(line):
            whole[-1] = f"{whole[-1].rstrip()} {line.strip()}"
        else:
            whole.append(line)
    return whole
