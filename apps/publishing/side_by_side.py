"""The side-by-side table as plain data in base units, and as a document for people."""

from typing import Any

import msgspec

from apps.comparison.side_by_side.asked import Asked
from apps.comparison.side_by_side.html import point_of
from apps.comparison.side_by_side.table import Cell, Place, Row
from apps.comparison.side_by_side.table import Table as SideBySide
from apps.comparison.words import operation_of
from apps.lib import units
from apps.lib.tables import Document, Footer, Section, Table
from apps.publishing.documents import made

PLACE = ("operation", "metric", "unit", "file_size", "block_size", "threads", "iodepth", "section")
FIGURES = (
    "n", "without", "mean", "stdev", "half_interval", "minimum", "maximum", "low", "high", "in_ram",
    "ratio", "ratio_low", "ratio_high", "p", "verdict", "partly_in_ram",
)  # fmt: skip


def shown(found: SideBySide, asked: Asked, permalink: str) -> dict[str, Any]:
    return {
        "columns": [{"id": one.id, "name": one.name, "ram": one.ram} for one in found.columns],
        "baseline": found.baseline.id if found.baseline else None,
        "last": asked.last,
        "rows": _rows(found),
        "permalink": permalink,
    }


def _rows(found: SideBySide) -> list[dict[str, Any]]:
    return [
        {
            **_place(row.place),
            "unit": row.metric.unit,
            "higher_is_better": row.metric.higher_is_better,
            "cells": [_cell(cell) for cell in cells if cell],
        }
        for row, cells in zip(found.rows, found.cells(), strict=True)
    ]


def _place(place: Place) -> dict[str, Any]:
    found = msgspec.structs.asdict(place)
    return found | {"parts": list(place.parts)}


def _cell(cell: Cell) -> dict[str, Any]:
    found = cell.judgement
    return {
        "column": cell.column, "n": cell.n, "without": cell.without, "mean": cell.mean, "stdev": cell.stdev,
        "half_interval": cell.half, "minimum": cell.low, "maximum": cell.high, "low": cell.bound_low,
        "high": cell.bound_high, "in_ram": cell.in_ram, "partly_in_ram": cell.partly_in_ram,
        "ratio": found and found.ratio, "ratio_low": found and found.low, "ratio_high": found and found.high,
        "p": found and found.p, "verdict": found and found.verdict,
    }  # fmt: skip


def document(found: SideBySide, permalink: str) -> Document:
    titles = ["Measure", *(one.name for one in found.columns)]
    rows = [
        [_measure(row), *(_text(row, cell) for cell in cells)]
        for row, cells in zip(found.rows, found.cells(), strict=True)
    ]
    said = [f"Means of the last runs; ratios are to {found.baseline.name}."] if found.baseline else []
    return Document(
        title="Side by side",
        paragraphs=tuple(said),
        sections=(Section("Values", table=Table.of(titles, rows, numbers=titles[1:])),),
        footer=Footer(made(f"{len(found.rows)} measures of {len(found.columns)} columns", None), permalink),
        data=_flat(found),
    )


def _measure(row: Row) -> str:
    unit = f" ({row.unit.label})" if row.unit.label else ""
    parts = [f"{operation_of(row.place.operation)} {row.metric.label}{unit}", point_of(row.place)]
    return " · ".join(filter(None, parts))


def _text(row: Row, cell: Cell | None) -> str:
    """`182 ± 3.1 (n = 5; 0.54× worse; may be memory)`."""
    if cell is None:
        return "not measured"
    memory = "may be memory" if cell.in_ram else "may be partly memory" if cell.partly_in_ram else ""
    if cell.mean is None:
        bounds = units.bounds(cell.bound_low, cell.bound_high, row.unit.text)
        return (f"{bounds} ({memory})" if memory else bounds) if bounds else "no number"
    half = f" ± {row.unit.text(cell.half)}" if cell.half is not None else ""
    judged = f"; {units.significant(cell.judgement.ratio)}× {cell.judgement.verdict}" if cell.judgement else ""
    return f"{row.unit.text(cell.mean)}{half} (n = {cell.n}{judged}{f'; {memory}' if memory else ''})"


def _flat(found: SideBySide) -> Table:
    names = {one.id: one.name for one in found.columns}
    rows = []
    for plain in _rows(found):
        place = [plain[name] for name in PLACE]
        parts = "; ".join(plain["parts"])
        rows += [[names[cell["column"]], *place, *(cell[name] for name in FIGURES), parts] for cell in plain["cells"]]
    return Table.of(("column", *PLACE, *FIGURES, "parts"), rows)
