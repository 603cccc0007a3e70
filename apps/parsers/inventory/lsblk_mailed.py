"""`lsblk -f` as a mail program folds it: the heading ends before the free space or earlier, and so does each row.

NAME   FSTYPE FSVER LABEL UUID
FSAVAIL FSUSE% MOUNTPOINTS
sda
└─sda1 btrfs        Data1 01020304-0506-0708-090a-0b0c0d0e0f10
  2.7T    51% /srv/Data1

What is left on a row's first line stands below its headings; what went to the next ones is told by its form.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.lsblk_aligned import ROW_NAME
from apps.parsers.inventory.lsblk_folded import BESIDE
from apps.parsers.inventory.printed import Content, unescaped

_HEADINGS = {"FSTYPE", "FSVER", "LABEL", "UUID", "FSAVAIL", "FSUSE%", "MOUNTPOINT", "MOUNTPOINTS"}  # behind the name
_NAME = re.compile(ROW_NAME)
_UUID = r"[0-9A-Za-z]{4,12}(?:-[0-9A-Za-z]{2,12}){1,8}|[0-9A-F]{16}|\d{15,20}"
_REST = re.compile(
    rf"[\s│|]{{0,300}}+(?:({_UUID})(?:\s+|$))?(?:(?:(\d[\d.,]{{0,9}}[BKMGTPE]?)\s+)?(\d{{1,3}}%)(?:\s+|$))?((?:[/\[]\S*(?:\s+|$)){{0,50}})$"
)


def is_rest(header: str, line: str) -> bool:
    """Whether a row, or the heading, may go on there."""
    return _is_folded(header) and (set(line.split()) < _HEADINGS or bool(_REST.match(line)))


def devices(lines: Sequence[str]) -> list[Content] | None:
    """A device for each row up to what is none, keys in lower case; None where the heading is not folded."""
    if not _is_folded(lines[0]) or not set(lines[1].split()) < _HEADINGS:
        return None
    return list(_devices(lines[0], lines[1].split(), lines[2:]))


def _is_folded(header: str) -> bool:
    words = header.split()
    return words[:2] == ["NAME", "FSTYPE"] and words[-1][:10] != "MOUNTPOINT" and set(words[1:]) < _HEADINGS


def _devices(header: str, more: Sequence[str], lines: Sequence[str]) -> Iterator[Content]:
    above = [match.start() for match in re.finditer(r"\S+", header)][1:]
    keys = [word.lower() for word in (*header.split(), *more)]
    place = 0
    while place < len(lines):
        cells = _cells(lines[place], above)
        place += 1
        if cells is None:
            return
        if not any(cells[1:]) and place < len(lines) and (below := _below(lines[place], above)):
            cells, place = [cells[0], *below], place + 1
        device = dict.fromkeys(keys) | dict(zip(keys, cells, strict=False))
        mounted: list[str] = []
        while place < len(lines) and is_rest(header, lines[place]) and (match := _REST.match(lines[place])):
            told = dict(zip(("uuid", "fsavail", "fsuse%"), match.groups(), strict=False))
            device |= {key: value for key, value in told.items() if value and key in device}
            mounted += map(unescaped, match[4].split())
            place += 1
        key = keys[-1]
        yield device | {key: mounted if key == "mountpoints" else next(iter(mounted), None)}


def _cells(line: str, above: Sequence[int]) -> list[str | None] | None:
    """What stands below each of the headings; None where something stands between two of them."""
    match = _NAME.match(line)
    if not match or line[match.end() : above[0]].strip():
        return None
    if match.end() >= above[0] and not line[match.end() :].strip():
        return [match[2], *[None] * len(above)]
    rest = _standing(line, above)
    return rest and [match[2], *rest]


def _below(line: str, above: Sequence[int]) -> list[str | None] | None:
    """What stands on the next line behind a name that was too long for its column, as a narrow terminal has it."""
    rest = None if line[: above[0]].strip(BESIDE) else _standing(line, above)
    return rest if rest and any(rest) else None


def _standing(line: str, above: Sequence[int]) -> list[str | None] | None:
    cells: list[str | None] = []
    for begin, end in zip(above, [*above[1:], None], strict=True):
        cell = line[begin:end]
        if cell.strip() and (cell[0] == " " or line[begin - 1] != " "):
            return None
        cells.append(unescaped(cell.strip()) or None)
    return cells
