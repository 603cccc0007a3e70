"""Definitions of a report's tables, as they stand in tables.yaml; `docs/how-to/claims.md` has those of its conclusions.

name: crs4-t-write                     title, source_lines: of the report
title: file write per block
unit: Kbyte/sec                        as it stands behind the printed figures; factor: base units in one of it
factor: 1024
decimal: ","                           the report's decimal mark; a point where left out
missing: N.A.                          what stands in cells of samples without a value
approximate: "~ "                      what stands before approximate figures
heads:                                 rows of headings, the corner included; a text, or {text, span, down}
- [file size MB, sata 3ware]
pick: {operation: write}               what all cells have in common
columns:                               one for each cell of a row, where rows have no cells of their own
- {pick: {configuration: sata-3ware-raid5}, absent: the host stops at 2 GB}
rows:
- {head: "100", pick: {file_size: 104857600}}
- {head: R 6 file, cells: [{pair: [{…}, {…}]}, {text: N.A.}, {pick: {…}, part: cpu, span: 2}]}
from_slots: true                       instead of rows: the physical layout of the host's enclosure
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.core.tables import Head
from apps.studies.report.sample_selection import NAMES, Pick

PARTS = ("value", "cpu")
KEYS = {
    "name", "title", "source_lines", "unit", "factor", "decimal", "missing", "approximate", "heads", "pick", "columns",
    "rows", "from_slots", "notes", "dash",
}  # fmt: skip
CELL_KEYS = {"pick", "pair", "text", "part", "span", "absent", "decimals", "dash", "tight"}


class FormError(ValueError):
    """A definition that says something that there is not: found, expected, where."""

    def __init__(self, where: str, value: object, expected: str) -> None:
        super().__init__(f"{where}: found {value!r}, expected {expected}")


@dataclass(frozen=True)
class CellDefinition:
    """Which samples a cell prints: one, a pair, or none but a text."""

    picks: tuple[Pick, ...] = ()
    text: str | None = None
    part: str = "value"
    span: int = 1
    absent: str = ""
    decimals: int | None = None
    dash: str | None = None
    tight: bool = False  # the figure with its unit, nothing between: 9192us


@dataclass(frozen=True)
class RowDefinition:
    head: str
    cells: tuple[CellDefinition, ...]


@dataclass(frozen=True)
class TableDefinition:
    name: str
    title: str
    heads: tuple[tuple[Head, ...], ...]
    rows: tuple[RowDefinition, ...]
    unit: str = ""
    factor: float = 1.0
    decimal: str = "."
    missing: str = "N.A."
    approximate: str = ""
    dash: str = " – "
    source_lines: str = ""
    notes: tuple[str, ...] = ()
    from_slots: bool = False

    @property
    def width(self) -> int:
        """Return the number of cells in a row without its head; a head over several rows counts in its first one."""
        return sum(head.span for head in self.heads[0]) - 1 if self.heads else 4


def table_form(entry: Mapping[str, Any]) -> TableDefinition:
    """Parse an entry of tables.yaml.

    Raises:
        FormError: It does not fit.
    """
    name = str(entry.get("name") or "")
    if not name:
        raise FormError("a table", entry.get("title"), "a name")
    _known(name, entry, KEYS)
    form = TableDefinition(
        name=name,
        title=str(entry.get("title", name)),
        heads=tuple(tuple(_head(head) for head in row) for row in entry.get("heads", ())),
        rows=tuple(_row(name, entry, row) for row in entry.get("rows", ())),
        unit=str(entry.get("unit", "")),
        factor=float(entry.get("factor", 1)),
        notes=tuple(map(str, entry.get("notes", ()))),
        from_slots=bool(entry.get("from_slots")),
        **{
            key: str(entry[key])
            for key in ("decimal", "missing", "approximate", "source_lines", "dash")
            if key in entry
        },
    )
    _check_widths(form)
    return form


def _head(data: object) -> Head:
    return Head(**data) if isinstance(data, Mapping) else Head(str(data))


def _row(name: str, entry: Mapping[str, Any], row: Mapping[str, Any]) -> RowDefinition:
    where, common = f"{name}, row {row.get('head', '')!r}", entry.get("pick", {})
    if "cells" in row:
        cells = [_cell(where, {**common, **row.get("pick", {})}, entry) for entry in row["cells"]]
    else:
        cells = [_cell(where, {**common, **row.get("pick", {})}, column) for column in entry.get("columns", ())]
    return RowDefinition(str(row.get("head", "")), tuple(cells))


def _cell(where: str, common: Pick, cell: Mapping[str, Any]) -> CellDefinition:
    _known(where, cell, CELL_KEYS)
    if "text" in cell:
        return CellDefinition(text=str(cell["text"]), span=int(cell.get("span", 1)))
    if cell.get("part", "value") not in PARTS:
        raise FormError(where, cell["part"], f"one of: {', '.join(PARTS)}")
    picks = tuple({**common, **pick} for pick in cell.get("pair", [cell.get("pick", {})]))
    for pick in picks:
        _known(where, pick, set(NAMES))
    return CellDefinition(picks, **{key: cell[key] for key in CELL_KEYS - {"pick", "pair", "text"} if key in cell})


def _known(where: str, entry: Iterable[str], names: set[str]) -> None:
    if strange := sorted(set(entry) - names):
        raise FormError(where, strange[0], f"one of: {', '.join(sorted(names))}")


def _check_widths(form: TableDefinition) -> None:
    for row in form.rows:
        if (width := sum(cell.span for cell in row.cells)) != form.width:
            raise FormError(f"{form.name}, row {row.head!r}", f"{width} cells", f"{form.width}, as its headings have")
