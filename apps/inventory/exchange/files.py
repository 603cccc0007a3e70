"""Files in: JSON, CSV of one kind, and a zip of CSV files, one for each kind. `writers.py` writes them."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.inventory.exchange.document import ALWAYS, FORMAT, VERSION
from apps.inventory.exchange.registry import BY_NAME, KINDS, FileKind
from apps.inventory.exchange.values import ValueProblem, of_text
from apps.inventory.exchange.writers import GUARDED

MAX_BYTES = 20 * 1024 * 1024  # of a file, and of what is in a zip
MAX_ROWS = 5_000  # by page: a preview is made while somebody waits; the command takes any number


class FileError(ValueError):
    """The file cannot be read at all: where, what was found, what was expected."""

    def __init__(self, where: str, found: object, expected: str) -> None:
        self.where, self.found, self.expected = where, str(found)[:120], expected
        super().__init__(f"{where}: found {self.found!r}, expected {expected}")


@dataclass
class IncomingFile:
    """One row of a file.

    `where` is `disks.csv line 7` or `disks[3]`; `problems` are pairs (field, problem) of cells that could not be read.
    """

    kind: FileKind
    where: str
    values: dict[str, Any]
    problems: list[tuple[str, ValueProblem]] = field(default_factory=list)


def read(data: bytes, name: str, kind: str = "", most: int | None = MAX_ROWS) -> list[IncomingFile]:
    """Read the rows of an inventory file (JSON, CSV or zip) in the order in which they can be made.

    `kind` is that of a CSV file whose name does not say it; `most` limits the number of rows.

    Raises:
        FileError: if the file is too large or cannot be read.
    """
    if len(data) > MAX_BYTES:
        raise FileError(name, f"{len(data)} bytes", f"at most {MAX_BYTES}")
    if data[:4] == b"PK\x03\x04":
        rows = list(_of_zip(data, name))
    elif data.lstrip()[:1] in (b"{", b"["):
        rows = list(_of_json(_text(data, name), name))
    else:
        rows = list(_of_csv(_text(data, name), name, kind))
    if most is not None and len(rows) > most:
        raise FileError(
            name, f"{len(rows)} rows", f"at most {most} in one file; the command import_inventory takes more"
        )
    order = {part_kind.name: place for place, part_kind in enumerate(KINDS)}
    return sorted(rows, key=lambda row: order[row.kind.name])


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{name} byte {error.start}", data[error.start : error.start + 1].hex(), "UTF-8 text") from None


def _of_zip(data: bytes, name: str) -> Iterator[IncomingFile]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [member for member in archive.infolist() if not member.is_dir()]
            if sum(one.file_size for one in entries) > MAX_BYTES or len(entries) > len(KINDS):
                raise FileError(name, f"{len(entries)} files", f"at most {len(KINDS)} of {MAX_BYTES} bytes together")
            for entry in entries:
                with archive.open(entry) as file:
                    content = file.read(MAX_BYTES + 1)  # the size in the zip's directory may be wrong
                yield from _of_csv(_text(content[: MAX_BYTES + 1], entry.filename), entry.filename, "")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(name, error, "a zip of CSV files") from None


def _of_json(text: str, name: str) -> Iterator[IncomingFile]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise FileError(name, error, "JSON") from None
    except RecursionError:
        raise FileError(name, "lists in lists in lists …", "JSON of a few levels") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
        value = f"{document.get('format')} {document.get('version')}" if isinstance(document, dict) else "a list"
        raise FileError(name, value, f'"format": "{FORMAT}", "version": {VERSION}')
    for kind_name, rows in document.items():
        if kind_name not in ("format", "version"):
            yield from _rows_of(kind_name, rows)


def _rows_of(kind_name: str, rows: object) -> Iterator[IncomingFile]:
    kind = BY_NAME.get(kind_name)
    if kind is None:
        raise FileError(kind_name, kind_name, f"one of: {', '.join(BY_NAME)}")
    if not isinstance(rows, list):
        raise FileError(kind_name, type(rows).__name__, "a list of rows")
    for number, row in enumerate(rows):
        where = f"{kind_name}[{number}]"
        if not isinstance(row, dict):
            raise FileError(where, type(row).__name__, "a row with names and values")
        _refuse_unknown(where, row, kind)
        yield IncomingFile(kind, where, row)


def _refuse_unknown(where: str, names: Any, kind: FileKind) -> None:
    for name in names:
        if name not in kind.columns:
            raise FileError(where, name, f"one of: {', '.join(kind.columns)}")


def _of_csv(text: str, name: str, kind_name: str) -> Iterator[IncomingFile]:
    stem = name.rsplit("/", 1)[-1].removesuffix(".csv").partition(" ")[0].lower()
    kind = BY_NAME.get(kind_name) or next((part_kind for part_kind in KINDS if stem.startswith(part_kind.name)), None)
    if kind is None:
        raise FileError(name, "a table of unknown kind", f"a file name that begins with one of: {', '.join(BY_NAME)}")
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [column.strip() for column in next(lines, [])]
        _check_header(header, name, kind)
        for cells in lines:
            if any(cells):
                yield _incoming(kind, f"{name} line {lines.line_num}", header, cells)
    except csv.Error as error:
        raise FileError(f"{name} line {lines.line_num}", error, "comma-separated values (RFC 4180)") from None


def _check_header(header: list[str], name: str, kind: FileKind) -> None:
    if not any(header):
        raise FileError(f"{name} line 1", "nothing", "the names of the columns")
    _refuse_unknown(f"{name} line 1", header, kind)
    if len(set(header)) != len(header):
        raise FileError(f"{name} line 1", "a column twice", "each column once")


def _incoming(kind: FileKind, where: str, header: list[str], cells: list[str]) -> IncomingFile:
    if len(cells) != len(header):
        raise FileError(where, f"{len(cells)} cells", f"{len(header)}, as in line 1")
    row = IncomingFile(kind, where, {})
    for column, cell in zip(header, cells, strict=True):
        if column in ALWAYS and not cell.strip():
            continue
        text = cell[1:] if cell.startswith("'") and cell[1:].startswith(GUARDED) else cell
        try:
            row.values[column] = _read(kind, column, text)
        except ValueProblem as problem:
            row.problems.append((column, problem))
    return row


def _read(kind: FileKind, column: str, text: str) -> Any:
    if kind.places and column == kind.places.name:
        try:
            return json.loads(text) if text.strip() else []
        except (ValueError, RecursionError):
            raise ValueProblem(text, "a JSON list") from None
    known = kind.fields.get(column)
    return text if known is None or known.is_relation else of_text(known, text)
