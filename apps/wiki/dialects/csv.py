"""CSV (RFC 4180) of the document's data: base units, all digits, nothing but the table.

A spreadsheet reads text that begins like a formula as a formula; such text gets an apostrophe before it (OWASP).
Numbers stay numbers.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice

from apps.core.tables import Cell, Document
from apps.core.units import machine

_AT_ONCE = 500  # rows in one piece
_FORMULA = tuple("=+-@＝＋－＠\t\r\n\0")


def escape(cell: Cell) -> str:
    if not isinstance(cell, str):
        return machine(cell)
    text = cell.replace("\0", "\ufffd")
    return f"'{text}" if cell.startswith(_FORMULA) or cell.lstrip().startswith(_FORMULA) else text


def lines(rows: Iterable[Iterable[Cell]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([escape(cell) for cell in row] for row in rows)
    return out.getvalue()


def pieces(document: Document) -> Iterator[str]:
    yield lines([[column.title for column in document.data.columns]])
    rows = document.data.each()
    while some := list(islice(rows, _AT_ONCE)):
        yield lines(some)
