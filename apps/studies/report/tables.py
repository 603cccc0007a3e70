"""A report's table, rebuilt from its definition and the samples; cells show what was printed, where something was."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.core.tables import Head, placed
from apps.core.text import printed_as
from apps.core.units import in_both_bases
from apps.runs.metrics import METRICS
from apps.studies.report.sample_selection import ReportSample, Samples
from apps.studies.report.table_definitions import CellDefinition, RowDefinition, TableDefinition

KINDS = {
    "ocr_repaired": "repaired", "approximate": "approximate", "read_from_text": "from the text",
    "lower_bound": "bound", "rounded": "rounded",
}  # fmt: skip
LOST = "not readable"
DOUBTFUL = "doubtful"  # another reading of what is printed is as possible
_NUMBER = re.compile(r"[-−]?\d+(?:[.,]\d+)?")
_RANGE = re.compile(r"\d\s*[-–]\s*\d")
_DISK = re.compile(r"c(\d+)d(\d+)")
_UNIT = re.compile(r"\s*/?[A-Za-z]\S*$")
MOST_UPRIGHT = 12
NO_CPU = "+++"  # what bonnie++ prints for the CPU of a test that was too short for a rate


@dataclass(frozen=True)
class PrintedCell:
    """A cell of a printed table.

    `kind`: doubtful, repaired, approximate, from the text, bound, range, not readable, not available, not measured,
    missing; empty where the figure stands as it is.
    """

    text: str
    kind: str = ""
    remark: str = ""
    samples: tuple[ReportSample, ...] = ()
    span: int = 1
    exact: str = ""  # what stands behind a figure that is one sample: its value in both bases, and where it was printed

    @property
    def run(self) -> int | None:
        return self.samples[0].run if self.samples else None


@dataclass(frozen=True)
class PrintedRow:
    head: str
    cells: tuple[PrintedCell, ...]


@dataclass(frozen=True)
class CellRemark:
    row: str
    column: str
    cell: PrintedCell


@dataclass(frozen=True)
class PrintedTable:
    form: TableDefinition
    heads: tuple[tuple[Head, ...], ...]
    rows: tuple[PrintedRow, ...]

    @property
    def name(self) -> str:
        return self.form.name

    @property
    def title(self) -> str:
        return self.form.title

    @property
    def is_wide(self) -> bool:
        """Return whether the table has more columns than a sheet of paper in portrait format has room for."""
        return self.form.width > MOST_UPRIGHT

    @property
    def columns(self) -> tuple[str, ...]:
        """Return stacked headings as one: `Sequential Output · Block · K/sec`; the first is that of the rows' heads."""
        return column_titles(self.heads, self.form.width + 1)

    @property
    def remarks(self) -> list[CellRemark]:
        """Return every cell that is not simply what was printed."""
        return [
            CellRemark(row.head, column, cell)
            for row in self.rows
            for column, cell in zip(_at_columns(self.columns, row), row.cells, strict=True)
            if cell.kind
        ]

    @property
    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for remark in self.remarks:
            counts[remark.cell.kind] = counts.get(remark.cell.kind, 0) + 1
        return counts


def rebuilt(form: TableDefinition, samples: Samples, layout: Sequence[tuple[str, Sequence[str]]] = ()) -> PrintedTable:
    """Rebuild a report's table from its samples.

    `layout` has the enclosure's rows from top to bottom, as (label, slots) with slots such as `c0d7`.
    """
    if form.from_slots:
        return PrintedTable(form, form.heads, tuple(_slots(label, slots) for label, slots in layout))
    return PrintedTable(form, form.heads, tuple(_row(form, row, samples) for row in form.rows))


def column_titles(heads: Sequence[Sequence[Head]], width: int) -> tuple[str, ...]:
    stacks: list[list[str]] = [[] for _ in range(width)]
    for _row, at, head in placed(heads):
        for stack in stacks[at : at + head.span]:
            stack.append(head.text)
    return tuple(" · ".join(dict.fromkeys(filter(None, stack))) for stack in stacks)


def _at_columns(columns: Sequence[str], row: PrintedRow) -> list[str]:
    rows_found, at = [], 1
    for cell in row.cells:
        rows_found.append(columns[at])
        at += cell.span
    return rows_found


def _slots(label: str, slots: Sequence[str]) -> PrintedRow:
    """Return a row as the grid prints it: `Disk 7` for c0d7, and an empty cell for a gap."""
    disks = [match[2] if (match := _DISK.fullmatch(slot or "")) else "" for slot in slots]
    return PrintedRow(label, tuple(PrintedCell(f"Disk {disk}" if disk else "") for disk in disks))


def _row(form: TableDefinition, row: RowDefinition, samples: Samples) -> PrintedRow:
    return PrintedRow(row.head, tuple(_cell(form, cell, samples) for cell in row.cells))


def _cell(form: TableDefinition, cell: CellDefinition, samples: Samples) -> PrintedCell:
    if cell.text is not None:
        return PrintedCell(cell.text, span=cell.span)
    samples_found = [samples.at(pick) for pick in cell.picks]
    there = tuple(sample for sample in samples_found if sample is not None)
    if len(there) < len(samples_found):
        return _nothing(cell, there)
    if all(_is_missing(sample) for sample in there):
        return PrintedCell(_missing_text(form, there[0]), *_why(there[0]), there, cell.span)
    texts = [_text(form, cell, sample, place) for place, sample in enumerate(there)]
    kind, remark = next((text for sample in there if (text := _why(sample))[0]), ("", ""))
    exact = _exact(there[0]) if len(there) == 1 and cell.part != "cpu" else ""
    return PrintedCell(" / ".join(texts), kind, remark, there, cell.span, exact)


def _exact(sample: ReportSample) -> str:
    value = in_both_bases(sample.value, METRICS[sample.metric].unit) if sample.value is not None else ""
    return "; ".join(filter(None, [value, printed_as(sample.printed, sample.source_line)]))


def _nothing(cell: CellDefinition, there: tuple[ReportSample, ...]) -> PrintedCell:
    if cell.absent:
        return PrintedCell("", "not measured", cell.absent, there, cell.span)
    return PrintedCell("–", "missing", "The study has no such sample.", there, cell.span)


def _is_missing(sample: ReportSample) -> bool:
    """Return whether a figure is missing: one bound was printed, but two bounds with a reason enclose a lost figure."""
    is_bound = (sample.low is None) != (sample.high is None)
    return sample.value is None and not is_bound and (bool(sample.missing_reason) or sample.low is None)


def _missing_text(form: TableDefinition, sample: ReportSample) -> str:
    return LOST if sample.low is not None or "recoverable" in sample.missing_reason else form.missing


def _why(sample: ReportSample) -> tuple[str, str]:
    """Return the kind of a cell and its remark."""
    if _is_missing(sample):
        is_lost = sample.low is not None or "recoverable" in sample.missing_reason
        text = "; ".join(filter(None, [sample.missing_reason, sample.note]))
        return ("not readable" if is_lost else "not available"), text or "The report has no figure here."
    if sample.value is None and sample.low is not None:
        return ("range" if sample.high is not None else "bound"), sample.note
    return DOUBTFUL if sample.alternatives else KINDS.get(sample.quality, ""), sample.note


def _text(form: TableDefinition, cell: CellDefinition, sample: ReportSample, place: int) -> str:
    if cell.part == "cpu":
        without = NO_CPU if sample.value is None else ""
        return without if sample.cpu is None else f"{round(sample.cpu * 100, 1):g}"
    if sample.value is None:
        return _bounds(form, cell, sample)
    text = _printed(form, sample, place)
    if cell.tight:
        return "".join(sample.printed.split())
    is_marked = sample.quality == "approximate" and form.approximate and not text.startswith(form.approximate.strip())
    return f"{form.approximate}{text}" if is_marked else text


def _printed(form: TableDefinition, sample: ReportSample, place: int) -> str:
    """Return the printed figure without its unit, in the report's decimals; where none was stored, from the value."""
    text = _bare(sample.printed)
    parts = [part.strip() for part in text.split(" / ")]
    text = parts[place] if len(parts) > place and len(parts) > 1 else text
    if not _NUMBER.search(text):
        text = f"{(sample.value or 0.0) / form.factor:.10g}"
    return text.replace(".", form.decimal) if form.decimal != "." else text


def _bare(printed: str) -> str:
    """Drop the unit: `632.3 /sec` → `632.3`; a text without a figure before its unit stays."""
    cut = _UNIT.sub("", printed.strip())
    return cut if _NUMBER.search(cut) else printed.strip()


def _bounds(form: TableDefinition, cell: CellDefinition, sample: ReportSample) -> str:
    """Return a range as printed, or between its bounds; of one bound what was printed, such as `+++++`."""
    printed = _bare(sample.printed)
    if sample.high is None or sample.low is None:
        return printed.split()[0] if printed and not _NUMBER.search(printed) else f"> {sample.low or 0:g}"
    if _RANGE.search(printed):
        return printed
    low, high = (f"{bound / form.factor:.{cell.decimals or 0}f}" for bound in (sample.low, sample.high))
    return f"{low}{form.dash if cell.dash is None else cell.dash}{high}"
