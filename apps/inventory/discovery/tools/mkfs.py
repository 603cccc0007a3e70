"""How a filesystem was made: `tune2fs -l` and `xfs_info` of each, one behind the other with the command before each.

    $ tune2fs -l /dev/sda1
    Block size:               4096
    $ xfs_info /data
    data     =                       bsize=4096   blocks=262144, imaxpct=25

The options are written as mkfs would take them. ext counts stride and stripe width in blocks, so does xfs_info sunit and
swidth. The inventory keeps bytes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from apps.inventory.discovery.tool_values import UnreadableError, text, whole

EXT, XFS = "tune2fs", "xfs_info"
MAX_LINES = 100_000
_HEAD = re.compile(r"\$ (?:tune2fs -l|xfs_info) (\S{1,500})")
_FIELD = re.compile(r"([A-Z][\w ()-]{2,40}):\s+(.*)")
_PAIR = re.compile(r"([a-z][a-z0-9-]{1,20})=(\d{1,18})\b")
_MOMENTARY = ("needs_recovery", "(none)", "orphan_present")


@dataclass(frozen=True)
class Made:
    """How a filesystem was made; sizes are in bytes, `stripe_unit` is 0 where it was made without."""

    options: str = ""
    block_size: int | None = None
    stripe_unit: int | None = None
    stripe_width: int | None = None


@dataclass(frozen=True)
class MadeFilesystems:
    """How filesystems were made, by the device or mount point that the tool was asked about."""

    by_place: dict[str, Made]


def discover_ext(printed: str) -> MadeFilesystems:
    return _gathered(EXT, printed, _ext)


def discover_xfs(printed: str) -> MadeFilesystems:
    return _gathered(XFS, printed, _xfs)


def _gathered(tool: str, printed: str, read: Callable[[list[str]], Made]) -> MadeFilesystems:
    found: dict[str, list[str]] = {}
    here: list[str] | None = None
    for line in printed.splitlines()[:MAX_LINES]:
        if head := _HEAD.match(line[:600]):
            here = found.setdefault(text(head[1], 500), [])
        elif here is not None and len(here) < 500:
            here.append(line[:4000])
    if not found:
        raise UnreadableError(tool, next(iter(printed.strip().splitlines()), ""), f"$ {tool} and a device", 1)
    made = {place: one for place, lines in found.items() if (one := read(lines)).block_size}
    if not made:
        said = next((line for lines in found.values() for line in lines if line.strip()), "nothing")
        raise UnreadableError(tool, said, "a filesystem that may be read")
    return MadeFilesystems(made)


def _ext(lines: list[str]) -> Made:
    fields = {match[1]: text(match[2], 2000) for line in lines if (match := _FIELD.match(line))}
    block = whole(fields.get("Block size"))
    stride, width = whole(fields.get("RAID stride")) or 0, whole(fields.get("RAID stripe width")) or 0
    features = [one for one in fields.get("Filesystem features", "").split() if one not in _MOMENTARY]
    options = [f"-b {block}"] if block else []
    options += [f"-I {fields['Inode size']}"] if whole(fields.get("Inode size")) else []
    options += [f"-E stride={stride},stripe-width={width}"] if stride or width else []
    options += [f"-O {','.join(sorted(features))}"] if features else []
    block = block if block and block < 2**31 else None
    return Made(" ".join(options), block, *((stride * block, width * block) if block else (None, None)))


def _xfs(lines: list[str]) -> Made:
    sections: dict[str, dict[str, int]] = {}
    here = ""
    for line in lines:
        name, equals, _ = line.partition("=")
        here = (name.strip() or here) if equals else here
        sections.setdefault(here, {}).update({key: int(value) for key, value in _PAIR.findall(line)})
    meta, data, log = (sections.get(name, {}) for name in ("meta-data", "data", "log"))
    block = data.get("bsize")
    block = block if block and block < 2**31 else None
    unit, width = data.get("sunit", 0), data.get("swidth", 0)
    stripes = f",sunit={unit * (block or 0) // 512},swidth={width * (block or 0) // 512}" if unit else ""
    checked = ",".join(f"{key}={meta[key]}" for key in ("crc", "finobt", "rmapbt", "reflink", "bigtime") if key in meta)
    options = [f"-b size={block}"] if block else []
    options += [f"-i size={meta['isize']}"] if "isize" in meta else []
    options += [f"-d agcount={meta['agcount']}{stripes}"] if "agcount" in meta else []
    options += [f"-m {checked}"] if checked else []
    options += [f"-l size={log['blocks']}b,version={log['version']}"] if {"blocks", "version"} <= set(log) else []
    return Made(
        " ".join(options), block, whole(unit * block) if block else None, whole(width * block) if block else None
    )
