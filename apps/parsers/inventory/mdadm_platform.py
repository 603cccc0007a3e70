"""mdadm `--detail-platform`: what the firmware of Intel's RAID can do, and its controllers with what is attached to them.

     I/O Controller : /sys/devices/pci0000:00/0000:00:17.0 (SATA)
              Port0 : /dev/sdb (S0001)

Source: mdadm's super-intel.c. Content: fields as in `mdadm`, and "controllers": [{"controller", "ports": {"Port0": …},
"nvme": […]}]; a port without a device is None. A firmware with several controllers prints a block for each kind.
"""

import re
from collections.abc import Sequence

from apps.parsers.inventory.printed import Content, count, field, put, typed

_HEAD = re.compile(r"\s{0,40}Platform : \S")
_SECOND = re.compile(r"\s{0,40}(?:Version|RAID Levels) : ")
_FIELD = re.compile(r"\s{0,40}[A-Z0-9][\w/ ]{1,30} : ")
_PORT = re.compile(r"Port\d{1,3}")


def end(lines: Sequence[str], index: int) -> int:
    """Behind the last line of the platform that begins at `index`; `index` where none does."""
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


def read(lines: Sequence[str]) -> tuple[str, Content]:
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
    """A mail wrapped the line before: `(SATA)`, `(S0001)`."""
    return line.strip().startswith("(") and line.strip().endswith(")")


def _joined(lines: Sequence[str]) -> list[str]:
    whole: list[str] = []
    for line in lines:
        if whole and _is_rest(line):
            whole[-1] = f"{whole[-1].rstrip()} {line.strip()}"
        else:
            whole.append(line)
    return whole
