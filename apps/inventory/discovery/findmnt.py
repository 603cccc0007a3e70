"""`findmnt -J -b -o TARGET,SOURCE,FSTYPE,OPTIONS,SIZE,USED,AVAIL,UUID,LABEL,MAJ:MIN`: what is mounted where.

    {"filesystems": [{"target": "/", "source": "/dev/sda2[/@]", "fstype": "btrfs", "options": "rw", "children": […]}]}

A source in brackets is the part of the filesystem that is mounted: a btrfs subvolume, or the folder of a bind mount.
A target printed twice is mounted over: the later one is on top. Older versions know no SIZE and print numbers as
strings; `findmnt -l` is a table of TARGET SOURCE FSTYPE OPTIONS with blanks inside names as \\x20, others have any columns.
Sizes in bytes, rounded without `-b`.
"""

import re
from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.printed import UnreadableError, json_object, name, nodes, pairs, size, text
from apps.inventory.discovery.tool_text import contents, rows
from apps.parsers.inventory.printed import unescaped

TOOL = "findmnt"
MAX_MOUNTS = 8192
MAX_PATH = 500
_USUAL = ["TARGET", "SOURCE", "FSTYPE", "OPTIONS"]
_TREE = re.compile(r"^[\s│├└─|`-]+(?=/)")
_BRACKETS = re.compile(r"(?P<source>[^\[]*)\[(?P<root>.*)\]")


@dataclass(frozen=True)
class Mount:
    """One mount. `root`: the folder or subvolume of the source that is mounted, '' for all of it."""

    target: str
    source: str = ""
    root: str = ""
    fstype: str = ""
    options: str = ""
    size: int | None = None
    used: int | None = None
    available: int | None = None
    uuid: str = ""
    label: str = ""
    numbers: str = ""  # major:minor

    def holds(self, path: str) -> bool:
        return path == self.target or path.startswith(self.target.rstrip("/") + "/")


@dataclass(frozen=True)
class Mounts:
    """In mount order; of two on the same target only the upper one, the one that a path leads to."""

    mounts: tuple[Mount, ...]
    warnings: tuple[str, ...] = ()

    def holder_of(self, path: str) -> Mount | None:
        """The mount that `path` lies on: the longest target that begins it."""
        holders = (mount for mount in self.mounts if mount.holds(path))
        return max(holders, key=lambda mount: len(mount.target), default=None)


def parse(printed: str) -> Mounts:
    """Raises `UnreadableError` when there is no list of filesystems at all; odd entries become warnings."""
    head = printed.lstrip()[:1000].partition("\n")[0]
    if head.startswith("TARGET=") or head.split()[:4] == _USUAL:
        lines = printed.strip().splitlines()[:MAX_MOUNTS]
        return _gathered([_row(line) for line in lines if not line.startswith("TARGET ")])
    if '"filesystems"' not in printed and "{" not in printed:  # any other columns
        tables = contents(TOOL, printed, ("findmnt",))
        return _gathered([row for table in tables for row in rows(table.get("filesystems"))][:MAX_MOUNTS])
    document = json_object(TOOL, printed)
    if not isinstance(document.get("filesystems"), list):
        raise UnreadableError(TOOL, f"the keys {sorted(document)[:5]}", "filesystems with a list")
    return _gathered([entry for entry, _ in nodes(TOOL, document["filesystems"], MAX_MOUNTS)])


def _row(line: str) -> dict[str, Any]:
    """A line of the table, drawn as a tree or not, or of pairs."""
    if line.startswith("TARGET="):
        return pairs(line)
    cells = [unescaped(cell) for cell in _TREE.sub("", line).split(maxsplit=3)]
    return dict(zip(("target", "source", "fstype", "options"), cells, strict=False))


def _gathered(entries: list[dict[str, Any]]) -> Mounts:
    top: dict[str, Mount] = {}
    odd = 0
    for entry in entries:
        mount = _mount(entry)
        if mount is None:
            odd += 1
            continue
        top.pop(mount.target, None)
        top[mount.target] = mount
    expected = f"an absolute path of at most {MAX_PATH} characters"
    return Mounts(tuple(top.values()), (f"{TOOL}: {odd} targets passed over, expected {expected}",) if odd else ())


def _mount(entry: dict[str, Any]) -> Mount | None:
    target = name(entry.get("target"), MAX_PATH)
    if not target.startswith("/"):
        return None
    printed = name(entry.get("source"), 2000)
    parts = _BRACKETS.fullmatch(printed)
    return Mount(
        target=target,
        source=(parts["source"] if parts else printed)[:255],
        root=parts["root"] if parts else "",
        fstype=text(entry.get("fstype"), 40),
        options=text(entry.get("options"), 4000),
        size=size(entry.get("size")),
        used=size(entry.get("used")),
        available=size(entry.get("avail")),
        uuid=name(entry.get("uuid"), 80),
        label=text(entry.get("label"), 120),
        numbers=name(entry.get("maj:min"), 20),
    )
