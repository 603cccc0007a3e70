"""findmnt's usual columns as a mail program folds them: the words of a row on up to four lines, the last ones its options.

TARGET                SOURCE
          FSTYPE OPTIONS
├─/srv                /dev/mapper/a[/@srv]
          btrfs  rw,noatime

Options begin with `rw` or `ro` (the kernel prints them first), and no other word of a row does, so they tell where it ends.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.printed import Content, unescaped

_HEADINGS = ["TARGET", "SOURCE", "FSTYPE", "OPTIONS"]
_BRANCH = re.compile(r"[│|\s]*+(?:[├└]─|`-|(?<=\|)-)?")
_OPTIONS = re.compile(r"(?:rw|ro)(?:,\S*)?$")
_REST = re.compile(r"(?:rw|ro)(?:[,\s]|$)|[\s│|]++[^\s│├└|`-]|/\S+\s+[a-z]\S*\s*$")
_FOLDED = re.compile(r"[\s│|]*+(?:rw|ro)(?:[,\s]|$)|(?:[│|]|\s{2})[\s│|]*+[^\s│├└|`/-]\S*\s+(?:rw|ro)(?:[,\s]|$)")
_ROW = re.compile(r"[\s│|]*+(?:[├└]─|`-|(?<=\|)-)/")


def is_row(header: str, line: str) -> bool:
    """Sure only of a branch of the tree."""
    return _ROW.match(line) is not None


def is_rest(header: str, line: str) -> bool:
    """Whether a line may go on with the one above."""
    words = header.split()
    return words == _HEADINGS[: len(words)] and _REST.match(line) is not None


def unfolded(lines: Sequence[str]) -> list[Content] | None:
    """The rows up to what is none; None where nothing was folded, or the columns are others."""
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
