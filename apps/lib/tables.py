"""Documents as plain shapes: built once, written by one dialect each (`apps/publishing/dialects`). Nothing here knows
markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    title: str
    is_number: bool = False  # right-aligned


@dataclass(frozen=True)
class Table:
    """Cells are text as people read it, or bare numbers where a program reads them (`Document.data`)."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    @classmethod
    def of(
        cls, titles: Sequence[str], rows: Sequence[Sequence[Cell]], numbers: Sequence[str] = (), caption: str = ""
    ) -> "Table":
        columns = tuple(Column(title, title in numbers) for title in titles)
        return cls(columns, tuple(tuple(row) for row in rows), caption)


@dataclass(frozen=True)
class Picture:
    """A picture by its address; `words` say what is to be seen, for those who do not see it."""

    address: str
    words: str


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
