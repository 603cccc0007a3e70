"""A rebuilt table as plain tables: as it is read, and cell by cell in base units."""

from apps.core.tables import Column, Table
from apps.studies.report.tables import PrintedTable

DATA = (
    "row", "column", "text", "remark", "configuration", "operation", "metric", "file_size", "block_size", "value", "low",
    "high", "cpu", "printed", "quality", "missing_reason", "sample", "run",
)  # fmt: skip


def as_read(table: PrintedTable) -> Table:
    """Return the table as it is read, with its rows of headings; a cell over several columns is in the first of them."""
    rows, spans = [], {}
    for number, row in enumerate(table.rows):
        cells = [row.head]
        for cell in row.cells:
            if cell.span > 1:
                spans[number, len(cells)] = cell.span
            cells += [cell.text, *[""] * (cell.span - 1)]
        rows.append(tuple(cells))
    first, *others = table.columns
    columns = (Column(first, is_head=True), *(Column(title, not table.form.from_slots) for title in others))
    return Table(columns, tuple(rows), heads=table.heads, spans=spans)


def data_of(table: PrintedTable) -> Table:
    """Return one row for each sample of a cell; a cell of text alone has one row without a sample."""
    rows: list[tuple[str | int | float | None, ...]] = []
    titles = table.columns
    for row in table.rows:
        at = 1
        for cell in row.cells:
            place = (row.head, titles[at], cell.text, cell.kind)
            rows += [
                (
                    *place, sample.configuration, sample.operation, sample.metric, sample.file_size, sample.block_size, sample.value, sample.low,
                    sample.high, sample.cpu, sample.printed, sample.quality, sample.missing_reason, sample.id, sample.run,
                )
                for sample in cell.samples
            ] or [(*place, *[None] * (len(DATA) - len(place)))]  # fmt: skip
            at += cell.span
    return Table.of(DATA, rows)
