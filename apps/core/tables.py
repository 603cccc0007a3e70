"""Documents as plain data: headings, tables, pictures. Each dialect of `apps/wiki/dialects` writes them in its own markup."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Cell = str | int | float | None


@dataclass(frozen=True)
class Head:
    """A heading over `span` columns and `down` rows of headings."""

    text: str
    span: int = 1
    down: int = 1


def placed(rows: Iterable[Iterable[Head]]) -> Iterator[tuple[int, int, Head]]:
    """Yield (row, first column, heading) for rows of headings that may span columns and rows."""
    taken: set[tuple[int, int]] = set()
    for number, row in enumerate(rows):
        at = 0
        for head in row:
            while (number, at) in taken:
                at += 1
            taken |= {(number + down, at + right) for down in range(head.down) for right in range(head.span)}
            yield number, at, head


@dataclass(frozen=True)
class Column:
    title: str
    is_number: bool = False  # right-aligned
    is_head: bool = False  # its cells are the headings of their rows


@dataclass(frozen=True)
class Table:
    """Cells are text as people read it, or bare numbers where a program reads them (`Document.data`).

    `heads` are several rows of headings; `columns` say the same in one row, for dialects that know no merged cells.
    `spans`: (row, column) of a cell that goes over several columns → over how many; the cells that it covers are empty.
    `is_quoted`: headings and cells are somebody else's, as they printed them, and are not put in other words.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    heads: tuple[tuple[Head, ...], ...] = ()
    spans: Mapping[tuple[int, int], int] = field(default_factory=dict)
    is_quoted: bool = False

    @classmethod
    def of(
        cls,
        titles: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        numbers: Sequence[str] = (),
        caption: str = "",
        row_heads: bool = False,
    ) -> "Table":
        """Return a table of rows; with `row_heads`, the first column holds the rows' headings."""
        return cls(columns_of(titles, numbers, row_heads), tuple(tuple(row) for row in rows), caption)

    @property
    def headings(self) -> tuple[tuple[Head, ...], ...]:
        """Return the rows of headings; empty where no column has a title."""
        is_titled = any(column.title for column in self.columns)
        return self.heads or ((tuple(Head(column.title) for column in self.columns),) if is_titled else ())

    def each(self) -> Iterator[tuple[Cell, ...]]:
        """Return the rows one after another."""
        return iter(self.rows)

    def cells(self) -> Iterator[list[tuple[Column, Cell, int]]]:
        """Yield, row by row, (column, cell, span) without the cells that a wide one covers."""
        for number, row in enumerate(self.each()):
            cells, free = [], 0
            for at, (column, cell) in enumerate(zip(self.columns, row, strict=True)):
                if at >= free:
                    span = self.spans.get((number, at), 1)
                    cells.append((column, cell, span))
                    free = at + span
            yield cells


def columns_of(titles: Sequence[str], numbers: Sequence[str] = (), row_heads: bool = False) -> tuple[Column, ...]:
    return tuple(Column(title, title in numbers, row_heads and at == 0) for at, title in enumerate(titles))


@dataclass(frozen=True)
class LongTable(Table):
    """A table longer than memory: `make` begins its rows anew each time, `rows` is empty.

    `digest` stands for the rows where documents are compared: other rows, another digest.
    """

    make: Callable[[], Iterator[tuple[Cell, ...]]] = field(kw_only=True, repr=False, compare=False)
    digest: str = field(kw_only=True)

    def each(self) -> Iterator[tuple[Cell, ...]]:
        return self.make()


@dataclass(frozen=True)
class Picture:
    """A picture by its address; `words` say what is to be seen, for those who do not see it.

    `file`: its name where it is a file of the wiki itself, which then shows it; empty where it is only linked.
    """

    address: str
    words: str
    file: str = ""


@dataclass(frozen=True)
class Section:
    """`level` 3 stands below the section of level 2 before it."""

    heading: str
    items: tuple[str, ...] = ()
    table: Table | None = None
    paragraphs: tuple[str, ...] = ()
    picture: Picture | None = None
    level: int = 2


@dataclass(frozen=True)
class Footer:
    """When and from what data the document was made, and the address that gives it again."""

    text: str
    address: str
    link: str = "Permalink"


@dataclass(frozen=True)
class Document:
    """A page for a wiki. `data` is the same as one flat table in base units, with all digits, for CSV."""

    title: str
    paragraphs: tuple[str, ...]
    sections: tuple[Section, ...]
    footer: Footer
    data: Table
