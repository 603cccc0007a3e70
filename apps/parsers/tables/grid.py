"""A table as it stands in a text: its rows and columns, and what can be said about them without knowing what they mean."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from apps.parsers.tables.cells import Marks, get_shape

SINGLE_BLANKS = " "
ALIGNED = "  "
PIPES = "|"
_SOME = 20_000
_LONGEST_SHOWN = 150


@dataclass(frozen=True, slots=True)
class CellRow:
    """A row, and its line in the file."""

    line: int
    cells: tuple[str, ...]
    problem: str = ""  # why its cells can not be separated; such a row is never read


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column. `kind`: size, name, number, pair, empty. `decimal` and `thousands`: what the marks of its numbers can be."""

    index: int
    heading: str
    kind: str
    decimal: tuple[str, ...] = (".",)
    thousands: tuple[str, ...] = ("",)
    unit: str = ""  # as printed in the heading
    confidence: float = 0.0
    marks: Marks = field(default_factory=Marks, compare=False)  # what its numbers prove


class GridRows(Sequence[CellRow]):
    """The rows, split on access, so that a million of them use no more memory than their lines.

    `shows_blanks`: whether the last cells of a short row are blank, as spreadsheets write them.
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
    def __getitem__(self, place: int) -> CellRow: ...
    @overload
    def __getitem__(self, place: slice) -> "GridRows": ...
    def __getitem__(self, place: int | slice) -> "CellRow | GridRows":
        if isinstance(place, slice):
            return GridRows(self._records[place], self._numbers[place], self._split, self._width, self._shows_blanks)
        return self._make_row(self._records[place], self._numbers[place])

    def __iter__(self) -> Iterator[CellRow]:
        return map(self._make_row, self._records, self._numbers)

    def forms(self) -> Iterator[tuple[CellRow, int]]:
        """Yield a row of each shape, and how many of some thousand rows have it; its digits are not those of the file."""
        for begin in range(0, len(self._records), _SOME):
            for form, count in Counter(map(get_shape, self._records[begin : begin + _SOME])).items():
                yield self._make_row(form, 0), count

    def _make_row(self, record: str, line: int) -> CellRow:
        try:
            cells = tuple(self._split(record))
        except ValueError as error:
            return CellRow(line, (), str(error))
        if len(cells) > self._width:
            if any(cells[self._width :]):
                return CellRow(line, cells, f"{len(cells)} cells, expected {self._width}")
            return CellRow(line, cells[: self._width])
        missing = self._width - len(cells)
        if missing and not self._shows_blanks:
            return CellRow(line, cells, f"{len(cells)} cells of {self._width}, and nothing shows which are empty")
        return CellRow(line, cells + ("",) * missing)


@dataclass(frozen=True, slots=True)
class TableGrid:
    """A table before its columns are mapped.

    `delimiter`: a tab, `;`, `,`, `|` (Markdown and wikis), `ALIGNED` columns or `SINGLE_BLANKS`, where nothing shows
    which cells of a short row are empty. `unclear`: the first numbers that differ with a decimal comma and with
    thousands commas, as (line, heading, printed).
    """

    delimiter: str
    columns: tuple[GridColumn, ...]
    header: tuple[CellRow, ...]
    rows: GridRows
    decimal: tuple[str, ...]  # for the table as a whole; two are ambiguous, none a contradiction
    thousands: tuple[str, ...]
    unclear: tuple[tuple[int, str, str], ...]
    caption: str  # the lines right above the table
    confidence: float
    is_unsure_of_headings: bool = (
        False  # the first row may be headings (1, 2, 4) or values, and the user has not decided
    )

    @property
    def first_line(self) -> int:
        """Return the number of its first line."""
        return self.header[0].line if self.header else self.rows[0].line

    @property
    def excerpt(self) -> str:
        """Return its headings, for messages; its first row where it has none."""
        headings = [column.heading for column in self.columns if column.heading]
        first = self.header[0].cells if self.header else self.rows[0].cells
        return ", ".join(headings or first)[:_LONGEST_SHOWN]

    @property
    def last_line(self) -> int:
        """Return the number of its last line."""
        return self.rows[-1].line
