"""A table as it stands in a text: its rows and columns, and what can be said about them without knowing what they mean."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from apps.parsers.tables.cells import Marks, shape

SINGLE_BLANKS = " "
ALIGNED = "  "
PIPES = "|"
_SOME = 20_000
_LONGEST_SHOWN = 150


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    cells: tuple[str, ...]
    problem: str = ""  # why its cells cannot be told apart; such a row is never read


@dataclass(frozen=True, slots=True)
class Column:
    """`kind`: size, name, number, pair, empty. `decimal` and `thousands`: what the marks of its numbers can be."""

    index: int
    heading: str
    kind: str
    decimal: tuple[str, ...] = (".",)
    thousands: tuple[str, ...] = ("",)
    unit: str = ""  # as printed in the heading
    confidence: float = 0.0
    marks: Marks = field(default_factory=Marks, compare=False)  # what its numbers prove


class Rows(Sequence[Row]):
    """The rows, split when they are looked at: a million of them cost no more than their lines.

    `shows_blanks`: whether a short row is one whose last cells are blank, as spreadsheets write them.
    """

    def __init__(
        self,
        records: Sequence[str],
        numbers: Sequence[int],
        split: Callable[[str], Sequence[str]],
        width: int,
        shows_blanks: bool = True,
    ) -> None:
        self._records, self._numbers = records, numbers
        self._split, self._width, self._shows_blanks = split, width, shows_blanks

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> "Rows": ...
    def __getitem__(self, place: int | slice) -> "Row | Rows":
        if isinstance(place, slice):
            return Rows(self._records[place], self._numbers[place], self._split, self._width, self._shows_blanks)
        return self._row(self._records[place], self._numbers[place])

    def __iter__(self) -> Iterator[Row]:
        return map(self._row, self._records, self._numbers)

    def forms(self) -> Iterator[tuple[Row, int]]:
        """A row of each shape, with how many of some thousand rows have it; its digits are not those of the file."""
        for begin in range(0, len(self._records), _SOME):
            for form, count in Counter(map(shape, self._records[begin : begin + _SOME])).items():
                yield self._row(form, 0), count

    def _row(self, record: str, line: int) -> Row:
        try:
            cells = tuple(self._split(record))
        except ValueError as error:
            return Row(line, (), str(error))
        if len(cells) > self._width:
            if any(cells[self._width :]):
                return Row(line, cells, f"{len(cells)} cells, expected {self._width}")
            return Row(line, cells[: self._width])
        missing = self._width - len(cells)
        if missing and not self._shows_blanks:
            return Row(line, cells, f"{len(cells)} cells of {self._width}, and nothing shows which are empty")
        return Row(line, cells + ("",) * missing)


@dataclass(frozen=True, slots=True)
class Grid:
    """`delimiter`: a tab, `;`, `,`, `|` (markdown and wikis), `ALIGNED` columns or `SINGLE_BLANKS`, where nothing shows
    which cells of a short row are empty. `unclear`: numbers that are one thing with a decimal comma and another with
    thousands commas, as (line, heading, printed), the first of them.
    """

    delimiter: str
    columns: tuple[Column, ...]
    header: tuple[Row, ...]
    rows: Rows
    decimal: tuple[str, ...]  # of the table as a whole; two are ambiguous, none a contradiction
    thousands: tuple[str, ...]
    unclear: tuple[tuple[int, str, str], ...]
    caption: str  # the lines right above the table
    confidence: float
    is_unsure_of_headings: bool = (
        False  # the first row can be headings (1, 2, 4) as well as values, and nobody said which
    )

    @property
    def first_line(self) -> int:
        return self.header[0].line if self.header else self.rows[0].line

    @property
    def shown(self) -> str:
        """Its headings, for messages; its first row where it has none."""
        headings = [column.heading for column in self.columns if column.heading]
        first = self.header[0].cells if self.header else self.rows[0].cells
        return ", ".join(headings or first)[:_LONGEST_SHOWN]

    @property
    def last_line(self) -> int:
        return self.rows[-1].line
