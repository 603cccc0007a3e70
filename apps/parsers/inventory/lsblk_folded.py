"""lsblk's rows on a narrow terminal: a name that is too long for its column stands on a line of its own, its row below it.

NAME FSTYPE FSVER LABEL UUID                                 MOUNTPOINTS
├─sda1
│    vfat   FAT32       51B3-05FD                            /boot/efi
"""

import re
from collections.abc import Sequence

_BESIDE = "\t │|"
_NAME_ALONE = re.compile(r"[^\w/]{0,200}[\w/]\S{0,200}\s*$")
_WIDEST = 8  # a name column of a table that was folded is no wider


def is_folded(header: str, line: str) -> bool:
    """Whether the line has cells, but nothing in the name's column."""
    width = _width(header)
    if not 0 < width <= _WIDEST or line[:width].strip(_BESIDE) or not line.strip(_BESIDE):
        return False
    first = len(line) - len(line.lstrip(_BESIDE))
    return any(match.start() == first for match in re.finditer(r"\S+", header))


def unfolded(lines: Sequence[str]) -> list[str]:
    """With a name's column that is wide enough for all of them; as they are where no row is folded."""
    header, width = lines[0], _width(lines[0])
    folded = [
        place
        for place in range(2, len(lines))
        if is_folded(header, lines[place])
        and _NAME_ALONE.match(lines[place - 1])
        and len(lines[place - 1].rstrip()) > width - 1
    ]
    if not folded:
        return list(lines)
    wide = max(len(lines[place - 1].rstrip()) for place in folded) + 1
    found: list[str] = []
    for place, line in enumerate(lines):
        if place in folded:
            found[-1] = lines[place - 1].rstrip().ljust(wide) + line[width:]
        elif place + 1 in folded:
            found.append("")  # with the row below
        else:
            found.append(line[:width].ljust(wide) + line[width:])
    return found


def _width(header: str) -> int:
    words = header.split()
    return header.find(f" {words[1]}") + 1 if len(words) > 1 else 0
