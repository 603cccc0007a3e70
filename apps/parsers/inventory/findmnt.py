"""findmnt: JSON (`-J`), pairs (`-P`), and text as a tree (UTF-8 or ASCII) or a list (`-l`), with any columns.

    ├─/sys                                sysfs                 sysfs      rw,nosuid,nodev

Source: util-linux's findmnt.c. Content: JSON as it is; pairs and text {"filesystems": […]} in a flat list, keys in
lower case. jc reads the text; it takes pairs for text and misreads them, so they are read here.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from apps.parsers.inventory import findmnt_folded, util_linux
from apps.parsers.inventory.printed import MARGIN, Content, count
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

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
_TREE = re.compile(r"([\s│├└─|`-]{0,200})(/.*)")
_JSON = re.compile(r'"filesystems"\s*:\s*\[')


def looks_like(text: SourceText) -> float:
    return util_linux.looks_like(text, _JSON, _HEADER, _PAIRS, _is_header, _read_text)


def parse(text: SourceText) -> ParsedFile:
    return util_linux.parse(
        text, NAME, KEY, _summary, _is_header, _PAIRS, _read_text, findmnt_folded.is_rest, findmnt_folded.is_row
    )


def _is_header(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and "TARGET" in words and set(words) <= _COLUMNS


def _read_text(lines: Sequence[str]) -> list[Content]:
    folded = findmnt_folded.unfolded(lines)
    if folded:
        return folded
    if lines[0].startswith("TARGET"):
        rows = takewhile(bool, map(_TREE.match, lines[1:]))
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
