"""Rows of IOzone's table with all their figures and nothing else, as nearly all are: many at once.

What is done for a whole block of rows takes half the time of the same done row by row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from apps.parsers.iozone_banner import KIB
from apps.parsers.iozone_columns import ROW
from apps.parsers.source_text import SourceText

GREATEST = 10**15
LONGEST_ROW = 400
# reads figures, and makes sure of each of them, in a quarter of the time of float() for each
_FIGURES = msgspec.json.Decoder(list[Annotated[float, msgspec.Meta(gt=0, lt=GREATEST)]])


@dataclass(slots=True)
class Rows:
    """Rows of one width, below one another: their sizes as printed, and their figures, one row's behind the other's.

    No `numbers`, of the sizes and then of the figures, where a word is no plain number above zero.
    """

    file_sizes: list[str]
    block_sizes: list[str]
    figures: list[str]
    numbers: list[float]

    @property
    def count(self) -> int:
        return len(self.file_sizes)

    @property
    def points(self) -> list[tuple[str, str]]:
        return list(zip(self.file_sizes, self.block_sizes, strict=True))

    def part(self, start: int, end: int) -> "Rows":
        """Those from `start` up to `end`."""
        width = len(self.figures) // self.count if self.count else 0
        file_sizes, block_sizes = self.file_sizes[start:end], self.block_sizes[start:end]
        return rows_of(file_sizes, block_sizes, self.figures[start * width : end * width])

    def sizes(self) -> tuple[list[int], list[int]]:
        """Of each row's file and record, in bytes."""
        known = {size: int(size) * KIB for size in {*self.file_sizes, *self.block_sizes}}  # a table has a dozen
        return list(map(known.__getitem__, self.file_sizes)), list(map(known.__getitem__, self.block_sizes))


def read_rows(lines: Sequence[str], width: int) -> Rows:
    """The rows of `width` words that `lines` begin with."""
    words: list[str] = []
    for line in lines:
        found = line.split()
        if len(found) != width or len(line) >= LONGEST_ROW:
            break
        words += found
    file_sizes, block_sizes = words[::width], words[1::width]
    del words[::width]
    del words[:: width - 1]
    return rows_of(file_sizes, block_sizes, words)


def rows_of(file_sizes: list[str], block_sizes: list[str], figures: list[str]) -> Rows:
    return Rows(file_sizes, block_sizes, figures, plain_numbers(file_sizes + block_sizes + figures))


def plain_numbers(words: Sequence[str]) -> list[float]:
    """The words as numbers, none unless all are digits, above zero and of a sensible length."""
    text = ",".join(words)
    if not words or "." in text or "e" in text or "E" in text:
        return []
    try:
        numbers = _FIGURES.decode(f"[{text}]")
    except msgspec.MsgspecError:
        return []
    return numbers if len(numbers) == len(words) else []  # a word with a comma in it is no number


def is_like_row(line: str, width: int) -> bool:
    """Whether nearly all words are numbers, and the others have a figure in them or are but a letter."""
    words = line.split() if len(line) < LONGEST_ROW else []
    others = [word for word in words if not word.isdigit()]
    is_alike = all(len(word) == 1 or any(letter.isdigit() for letter in word) for word in others)
    return 2 < len(words) <= width and len(others) < 3 and is_alike


def ends_in_figure(text: SourceText, origin: int) -> bool:
    """Whether the text ends before the column in which the row above ends: figures are aligned to the right.

    `origin` is where the record size ends.
    """
    if len(text.lines) < 2 or text.text.endswith(("\n", "\r")):
        return False
    rows = [line.rstrip() for line in text.lines[-2:]]
    are_aligned = all(ROW(row) and len(row[:origin].split()) == 2 and row[origin - 1 :][:1].isdigit() for row in rows)
    return are_aligned and len(rows[1]) < len(rows[0])
