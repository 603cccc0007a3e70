"""A report's table from its definition and the samples. What a cell says is what was printed, where something was."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.lib.printed_text import printed_as
from apps.lib.tables import Head, placed
from apps.lib.units import in_both_bases
from apps.runs.metrics import METRICS
from apps.studies.tables.form import CellForm, RowForm, TableForm
from apps.studies.tables.found import Found, Samples

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
    """`kind`: doubtful, repaired, approximate, from the text, bound, range, not readable, not available, not measured, missing; empty
    where the figure stands as it is.
    """

    text: str
    kind: str = ""
    remark: str = ""
    samples: tuple[Found, ...] = ()
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
class Remark:
    row: str
    column: str
    cell: PrintedCell


@dataclass(frozen=True)
class PrintedTable:
    form: TableForm
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
        """More columns than an upright sheet of paper has room for."""
        return self.form.width > MOST_UPRIGHT

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings above each other as one: `Sequential Output · Block · K/sec`. The first is that of the rows' heads."""
        return column_titles(self.heads, self.form.width + 1)

    @property
    def remarks(self) -> list[Remark]:
        """Every cell that is not simply what was printed."""
        return [
            Remark(row.head, column, cell)
            for row in self.rows
            for column, cell in zip(_at_columns(self.columns, row), row.cells, strict=True)
            if cell.kind
        ]

    @property
    def counts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for one in self.remarks:
            found[one.cell.kind] = found.get(one.cell.kind, 0) + 1
        return found


def rebuilt(form: TableForm, samples: Samples, layout: Sequence[tuple[str, Sequence[str]]] = ()) -> PrintedTable:
    """`layout`: the enclosure's rows from top to bottom, (label, slots) with slots such as `c0d7`."""
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
    found, at = [], 1
    for cell in row.cells:
        found.append(columns[at])
        at += cell.span
    return found


def _slots(label: str, slots: Sequence[str]) -> PrintedRow:
    """As the grid prints it: `Disk 7` for c0d7, and an empty cell for a gap."""
    disks = [found[2] if (found := _DISK.fullmatch(slot or "")) else "" for slot in slots]
    return PrintedRow(label, tuple(PrintedCell(f"Disk {disk}" if disk else "") for disk in disks))


def _row(form: TableForm, row: RowForm, samples: Samples) -> PrintedRow:
    return PrintedRow(row.head, tuple(_cell(form, one, samples) for one in row.cells))


def _cell(form: TableForm, cell: CellForm, samples: Samples) -> PrintedCell:
    if cell.text is not None:
        return PrintedCell(cell.text, span=cell.span)
    found = [samples.at(pick) for pick in cell.picks]
    there = tuple(one for one in found if one is not None)
    if len(there) < len(found):
        return _nothing(cell, there)
    if all(_is_missing(one) for one in there):
        return PrintedCell(_missing_text(form, there[0]), *_why(there[0]), there, cell.span)
    texts = [_text(form, cell, one, place) for place, one in enumerate(there)]
    kind, remark = next((said for one in there if (said := _why(one))[0]), ("", ""))
    exact = _exact(there[0]) if len(there) == 1 and cell.part != "cpu" else ""
    return PrintedCell(" / ".join(texts), kind, remark, there, cell.span, exact)


def _exact(one: Found) -> str:
    value = in_both_bases(one.value, METRICS[one.metric].unit) if one.value is not None else ""
    return "; ".join(filter(None, [value, printed_as(one.printed, one.source_line)]))


def _nothing(cell: CellForm, there: tuple[Found, ...]) -> PrintedCell:
    if cell.absent:
        return PrintedCell("", "not measured", cell.absent, there, cell.span)
    return PrintedCell("–", "missing", "The study has no such sample.", there, cell.span)


def _is_missing(one: Found) -> bool:
    """One bound is what was printed; two bounds with a reason are where a lost figure lies."""
    is_bound = (one.low is None) != (one.high is None)
    return one.value is None and not is_bound and (bool(one.missing_reason) or one.low is None)


def _missing_text(form: TableForm, one: Found) -> str:
    return LOST if one.low is not None or "recoverable" in one.missing_reason else form.missing


def _why(one: Found) -> tuple[str, str]:
    """The kind of a cell and what is to be said of it."""
    if _is_missing(one):
        is_lost = one.low is not None or "recoverable" in one.missing_reason
        said = "; ".join(filter(None, [one.missing_reason, one.note]))
        return ("not readable" if is_lost else "not available"), said or "The report has no figure here."
    if one.value is None and one.low is not None:
        return ("range" if one.high is not None else "bound"), one.note
    return DOUBTFUL if one.alternatives else KINDS.get(one.quality, ""), one.note


def _text(form: TableForm, cell: CellForm, one: Found, place: int) -> str:
    if cell.part == "cpu":
        without = NO_CPU if one.value is None else ""
        return without if one.cpu is None else f"{round(one.cpu * 100, 1):g}"
    if one.value is None:
        return _bounds(form, cell, one)
    text = _printed(form, one, place)
    if cell.tight:
        return "".join(one.printed.split())
    is_marked = one.quality == "approximate" and form.approximate and not text.startswith(form.approximate.strip())
    return f"{form.approximate}{text}" if is_marked else text


def _printed(form: TableForm, one: Found, place: int) -> str:
    """The printed figure without its unit, in the report's decimals; where none was kept, from the value."""
    text = _bare(one.printed)
    parts = [part.strip() for part in text.split(" / ")]
    text = parts[place] if len(parts) > place and len(parts) > 1 else text
    if not _NUMBER.search(text):
        text = f"{(one.value or 0.0) / form.factor:.10g}"
    return text.replace(".", form.decimal) if form.decimal != "." else text


def _bare(printed: str) -> str:
    """`632.3 /sec` → `632.3`; what has no figure before its unit stays as it is."""
    cut = _UNIT.sub("", printed.strip())
    return cut if _NUMBER.search(cut) else printed.strip()


def _bounds(form: TableForm, cell: CellForm, one: Found) -> str:
    """A range as it was printed, or between its bounds; of one bound what stood there, such as `+++++`."""
    printed = _bare(one.printed)
    if one.high is None or one.low is None:
        return printed.split()[0] if printed and not _NUMBER.search(printed) else f"> {one.low or 0:g}"
    if _RANGE.search(printed):
        return printed
    low, high = (f"{bound / form.factor:.{cell.decimals or 0}f}" for bound in (one.low, one.high))
    return f"{low}{form.dash if cell.dash is None else cell.dash}{high}"
