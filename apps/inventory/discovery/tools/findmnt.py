"""findmnt: JSON (`-J`), pairs (`-P`), and text as a tree (UTF-8 or ASCII) or a list (`-l`), with any columns.

    ├─/sys                                sysfs                 sysfs      rw,nosuid,nodev

Source: util-linux's findmnt.c. Content: JSON as it is; pairs and text {"filesystems": […]} in a flat list, keys in
lower case. jc reads the text; it takes pairs for text and misreads them, so they are read here.

findmnt's usual columns as a mail program folds them: the words of a row on up to four lines, the last ones its options.

TARGET                SOURCE
          FSTYPE OPTIONS
├─/srv                /dev/mapper/a[/@srv]
          btrfs  rw,noatime

Options begin with `rw` or `ro` (the kernel prints them first), and no other word of a row does, so they tell where it ends.

`findmnt -J -b -o TARGET,SOURCE,FSTYPE,OPTIONS,SIZE,USED,AVAIL,UUID,LABEL,MAJ:MIN`: what is mounted where.

    {"filesystems": [{"target": "/", "source": "/dev/sda2[/@]", "fstype": "btrfs", "options": "rw", "children": […]}]}

A source in brackets is the part of the filesystem that is mounted: a btrfs subvolume, or the folder of a bind mount.
A target printed twice is mounted over: the later one is on top. Older versions know no SIZE and print numbers as
strings; `findmnt -l` is a table of TARGET SOURCE FSTYPE OPTIONS with blanks inside names as  , others have any columns.
Sizes in bytes, rounded without `-b`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from apps.inventory.discovery import util_linux
from apps.inventory.discovery.looks import ToolLook
from apps.inventory.discovery.tool_output import MARGIN, Content, count, unescaped
from apps.inventory.discovery.tool_text import contents, rows
from apps.inventory.discovery.tool_values import UnreadableError, json_object, name, nodes, pairs, size, text
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

_HEADINGS = ["TARGET", "SOURCE", "FSTYPE", "OPTIONS"]
_BRANCH = re.compile(r"[│|\s]*+(?:[├└]─|`-|(?<=\|)-)?")
_OPTIONS = re.compile(r"(?:rw|ro)(?:,\S*)?$")
_REST = re.compile(r"(?:rw|ro)(?:[,\s]|$)|[\s│|]++[^\s│├└|`-]|/\S+\s+[a-z]\S*\s*$")
_FOLDED = re.compile(r"[\s│|]*+(?:rw|ro)(?:[,\s]|$)|(?:[│|]|\s{2})[\s│|]*+[^\s│├└|`/-]\S*\s+(?:rw|ro)(?:[,\s]|$)")
_ROW = re.compile(r"[\s│|]*+(?:[├└]─|`-|(?<=\|)-)/")


def is_row(header: str, line: str) -> bool:
    """Return whether the line is surely a row, which is so only for a branch of the tree."""
    return _ROW.match(line) is not None


def is_rest(header: str, line: str) -> bool:
    """Return whether a line can be the continuation of the line above."""
    words = header.split()
    return words == _HEADINGS[: len(words)] and _REST.match(line) is not None


def unfolded(lines: Sequence[str]) -> list[Content] | None:
    """Return the rows of a folded table up to the first line that is none; None where nothing was folded.

    Also None where the columns are not the usual four.
    """
    headings = lines[0].split()
    body = lines[1:]
    if body and headings + body[0].split() == _HEADINGS:
        headings, body = _HEADINGS, body[1:]
    if headings != _HEADINGS or not any(map(_FOLDED.match, body)):
        return None
    return list(_rows(body))


def _rows(lines: Sequence[str]) -> Iterator[Content]:
    row: list[str] = []
    for line in lines:
        for word in line[match.end() if (match := _BRANCH.match(line)) else 0 :].split():
            row.append(word)
            if _OPTIONS.match(word):
                if len(row) != len(_HEADINGS) or not row[0].startswith("/"):
                    return
                yield {heading.lower(): unescaped(cell) for heading, cell in zip(_HEADINGS, row, strict=True)}
                row = []
            elif len(row) == len(_HEADINGS):
                return


NAME = "findmnt"
TITLE = "findmnt"
KEY = "filesystems"
_COLUMNS = frozenset(
    re.findall(
        r"\S+",
        "ACTION AVAIL FREQ FSROOT FSTYPE FS-OPTIONS ID LABEL MAJ:MIN NEW-OPTIONS NEW-TARGET OLD-OPTIONS OLD-TARGET OPTIONS "
        "OPT-FIELDS PARENT PARTLABEL PARTUUID PASSNO PROPAGATION SIZE SOURCE SOURCES TARGET TID UNIQ-ID USED USE% UUID "
        "VFS-OPTIONS DELETED INO.TOTAL INO.USED INO.AVAIL INO.USE%",
    )
)
_HEADER = re.compile(
    rf"^{MARGIN}(?:(?:TARGET|SOURCE) +[A-Z]|[A-Z][A-Z:%. -]{{0,200}} TARGET\b)[^\n]{{0,2000}}$", re.MULTILINE
)
_PAIRS = re.compile(rf'^{MARGIN}(?:TARGET|SOURCE)="[^"\n]*" [A-Z:_%-]+="', re.MULTILINE)
_TREE_ROW = re.compile(r"([\s│├└─|`-]{0,200})(/.*)")
_JSON = re.compile(r'"filesystems"\s*:\s*\[')


def looks_like(text: SourceText) -> float:
    return util_linux.looks_like(text, _JSON, _HEADER, _PAIRS, _is_header, _read_text)


def parse(text: SourceText) -> ParsedFile:
    return util_linux.parse(text, NAME, KEY, _summary, _is_header, _PAIRS, _read_text, is_rest, is_row)


def _is_header(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and "TARGET" in words and set(words) <= _COLUMNS


def _read_text(lines: Sequence[str]) -> list[Content]:
    folded = unfolded(lines)
    if folded:
        return folded
    if lines[0].startswith("TARGET"):
        rows = takewhile(bool, map(_TREE_ROW.match, lines[1:]))
        lines = [lines[0], *(" " * len(row[1]) + row[2] for row in rows if row)]
    found = util_linux.rows(NAME, lines) if len(lines) > 1 else []
    return util_linux.while_true(found, lambda one: str(one.get("target") or "").startswith("/"))


def _summary(mounts: Sequence[Any]) -> str:
    found = list(_flat(mounts))
    root = next((one for one in found if one.get("target") == "/"), None)
    shown = f": / is {root['fstype']} on {root['source']}" if root and root.get("fstype") and root.get("source") else ""
    return count(len(found), "mount") + shown


def _flat(mounts: Sequence[Any]) -> Iterator[Content]:
    waiting = list(reversed(mounts))
    while waiting:
        mount = waiting.pop()
        if isinstance(mount, dict):
            yield mount
            children = mount.get("children")
            waiting.extend(reversed(children if isinstance(children, list) else []))


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
    earlier: frozenset[str] = frozenset()  # mount points that only an earlier look listed

    def with_earlier(self, before: "Mounts", look: ToolLook) -> "Mounts":
        """Return the mounts with those of the looks before, which this partial `look` did not look for."""
        mine = {mount.target for mount in self.mounts}
        rest = tuple(mount for mount in before.mounts if mount.target not in mine)
        return Mounts((*rest, *self.mounts), self.warnings, frozenset(mount.target for mount in rest))

    def holder_of(self, path: str) -> Mount | None:
        """Return the mount that `path` lies on: the one with the longest target that `path` begins with."""
        holders = (mount for mount in self.mounts if mount.holds(path))
        return max(holders, key=lambda mount: len(mount.target), default=None)


def discover(printed: str) -> Mounts:
    """Parse the output of findmnt as pairs, JSON or a table; odd entries become warnings.

    Raises:
        UnreadableError: if there is no list of filesystems at all.
    """
    head = printed.lstrip()[:1000].partition("\n")[0]
    if head.startswith("TARGET=") or head.split()[:4] == _USUAL:
        lines = printed.strip().splitlines()[:MAX_MOUNTS]
        return _gathered([_row(line) for line in lines if not line.startswith("TARGET ")])
    if '"filesystems"' not in printed and "{" not in printed:  # any other columns
        tables = contents(TOOL, printed, (parse,))
        return _gathered([row for table in tables for row in rows(table.get("filesystems"))][:MAX_MOUNTS])
    document = json_object(TOOL, printed)
    if not isinstance(document.get("filesystems"), list):
        raise UnreadableError(TOOL, f"the keys {sorted(document)[:5]}", "filesystems with a list")
    return _gathered([entry for entry, _ in nodes(TOOL, document["filesystems"], MAX_MOUNTS)])


def _row(line: str) -> dict[str, Any]:
    """Parse a line of the table, drawn as a tree or not, or a line of pairs."""
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
