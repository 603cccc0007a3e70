"""Files out, piece by piece: JSON, CSV of one kind, and a zip of CSV files, one for each kind that has rows.

A spreadsheet runs text that begins like a formula; such text goes out with an apostrophe before it, and comes in without.
"""

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from apps.inventory.exchange.document import AT_ONCE, FORMAT, VERSION, Outgoing, Row
from apps.inventory.exchange.registry import FileKind

GUARDED = tuple("=+-@\t\r\n＝＋－＠'")
SOME_DAY = (2000, 1, 1, 0, 0, 0)  # a fixed date, so that the same inventory gives the same file


def json_pieces(outgoing: Outgoing) -> Iterator[bytes]:
    """Yield the export as one JSON object: `format`, `version`, and for each kind a list of its rows."""
    yield f'{{\n "format": {json.dumps(FORMAT)},\n "version": {VERSION}'.encode()
    for kind in outgoing.wanted:
        yield f',\n "{kind.name}": ['.encode()
        mark = ""
        for row in outgoing.rows(kind):
            yield f"{mark}\n  {_indented(row)}".encode()
            mark = ","
        yield b"\n ]" if mark else b"]"
    yield b"\n}"


def _indented(row: Row) -> str:
    """Return the row as indented JSON.

    Every line end is one of the layout, since those inside texts are escaped.
    """
    return json.dumps(row, indent=1, ensure_ascii=False).replace("\n", "\n  ")


def csv_pieces(kind: FileKind, rows: Iterator[Row]) -> Iterator[bytes]:
    """Yield a CSV file: the names of the columns, then the rows (from `Outgoing.rows`)."""
    yield _lines([kind.columns])
    while some := list(islice(rows, AT_ONCE)):
        yield _lines([_cell(row.get(column)) for column in kind.columns] for row in some)


def zip_pieces(outgoing: Outgoing) -> Iterator[bytes]:
    """Yield a zip file with a CSV file for each kind that has rows.

    It can be streamed: each member's size stands behind the member, as nobody can seek back in a response.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind in outgoing.wanted:
            rows = outgoing.rows(kind)
            for first in islice(rows, 1):
                yield from _member(archive, sink, kind, chain([first], rows))
    yield sink.taken()


def _member(archive: zipfile.ZipFile, sink: "_Sink", kind: FileKind, rows: Iterator[Row]) -> Iterator[bytes]:
    entry = zipfile.ZipInfo(f"{kind.name}.csv", SOME_DAY)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(entry, "w") as member:
        for piece in csv_pieces(kind, rows):
            member.write(piece)
            yield sink.taken()


class _Sink(io.RawIOBase):
    """Collects written bytes until they are taken."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._kept += data
        return len(data)

    def taken(self) -> bytes:
        result = bytes(self._kept)
        self._kept.clear()
        return result


def _lines(rows: Iterable[list[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(GUARDED) else text
