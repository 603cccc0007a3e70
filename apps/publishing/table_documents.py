"""A printed table of a report as a document. Nothing is computed here."""

from datetime import datetime

from apps.lib.tables import Document, Footer, Section
from apps.publishing.documents import made
from apps.studies.tables.building import PrintedTable
from apps.studies.tables.flat import as_read, data_of

MOST_REMARKS = 12  # the permalink has all


def of_table(table: PrintedTable, newest: datetime | None, permalink: str) -> Document:
    data = data_of(table)
    samples = sum(len(cell.samples) for row in table.rows for cell in row.cells)
    return Document(
        title=table.title,
        paragraphs=(),
        sections=(Section(heading_of(table), table=as_read(table)), *_remarks(table)),
        footer=Footer(made(f"{samples} samples", newest), permalink),
        data=data,
    )


def heading_of(table: PrintedTable) -> str:
    lines = f"lines {table.form.source_lines} of the report" if table.form.source_lines else ""
    return ", ".join(filter(None, [table.form.unit, lines])) or "Table"


def _remarks(table: PrintedTable) -> list[Section]:
    """Notes of the whole table, then each doubtful cell, the repaired ones by number alone where they are many."""
    found = table.remarks
    shown = [f"{one.row}, {one.column}: {one.cell.kind}. {one.cell.remark}" for one in found[:MOST_REMARKS]]
    more = [f"and {len(found) - MOST_REMARKS} more cells with remarks"] if len(found) > MOST_REMARKS else []
    items = (*table.form.notes, *shown, *more)
    return [Section("Remarks", items)] if items else []
