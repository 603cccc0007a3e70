"""What the page shows of a table: every number and remark as plain text, which the template sets into its cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypedDict
from urllib.parse import quote, urlencode

from django.urls import reverse

from apps.comparison.cells import Verdict, Withheld
from apps.comparison.labels import operation_of
from apps.comparison.likeness import named
from apps.comparison.side_by_side.jobs import in_words
from apps.comparison.side_by_side.table import (
    Judgement,
    SideBySideCell,
    SideBySidePlace,
    SideBySideRow,
    SideBySideTable,
    Single,
)
from apps.core import units
from apps.core.text import printed_as

VERDICTS = {  # the class of the style sheet, and the word
    Verdict.BETTER: ("better", "better"),
    Verdict.WORSE: ("worse", "worse"),
    Verdict.NO_DIFFERENCE: ("same", "no sig. difference"),
    Verdict.TOO_FEW: ("same", "too few runs"),
}


class CellText(TypedDict):
    """One cell, as a mapping because templates look into those first: a page has thousands of them.

    `half` is of the mean's 95 % interval; `in_full` has all digits, for those who point at the cell; `run` is the one that the
    value is of; `tone` a class of the style sheet; `absence` says why there is no value.
    """

    value: str
    half: str
    in_full: str
    run: int | None
    in_ram: bool
    partly_in_ram: bool
    tone: str
    remark: str
    absence: str


EMPTY = CellText(
    value="", half="", in_full="", run=None, in_ram=False, partly_in_ram=False, tone="", remark="", absence=""
)


@dataclass(frozen=True, slots=True)
class RowText:
    """One row; `address` is the comparison that shows it with distributions, outliers and all caveats."""

    operation: str
    metric: str
    unit: str
    point: str
    address: str
    cells: list[CellText]


def rows_of(table: SideBySideTable, filters: Sequence[tuple[str, str]]) -> Iterator[RowText]:
    """Yield the rows; `filters` are those of the full comparison that has the table's columns as its series."""
    series = urlencode([("series", "label"), *filters], quote_via=quote)
    compare, single = reverse("compare"), table.figures.single
    for number, (row, cells) in enumerate(zip(table.rows, table.cells(), strict=True)):
        place = row.place
        yield RowText(
            operation_of(place.operation),
            row.metric.label,
            row.unit.label,
            point_of(place),
            f"{compare}?metric={place.metric}&operation={place.operation}&{series}",
            [cell_text(row, cell, single.get((number, column))) for column, cell in enumerate(cells)],
        )


@lru_cache(maxsize=4096)  # the same few points stand on every page
def point_of(place: SideBySidePlace) -> str:
    """Return the point of a row: `1 GiB file · 4 KiB blocks · depth 16`."""
    parts = [
        f"{units.size(place.file_size)} file" if place.file_size else "",
        f"{units.size(place.block_size)} blocks" if place.block_size else "",
        f"{place.threads} threads" if place.threads and place.threads > 1 else "",
        f"depth {place.iodepth}" if place.iodepth and place.iodepth > 1 else "",
        in_words(place.operation, place.section, place.parts),
    ]
    return " · ".join(part for part in parts if part)


def cell_text(row: SideBySideRow, cell: SideBySideCell | None, single: Single | None = None) -> CellText:
    """Return a cell in the unit of its row; `single` is the sample of a cell that has but one."""
    if cell is None:
        return {**EMPTY, "absence": "not measured"}
    if cell.mean is None:
        return _bounds(row, cell)
    judgement = cell.judgement
    return CellText(
        value=row.unit.text(cell.mean),
        half="" if cell.half is None or single else row.unit.text(cell.half),
        in_full=_in_full(row, cell, single),
        run=single.run if single else None,
        in_ram=cell.in_ram,
        partly_in_ram=cell.partly_in_ram,
        tone=VERDICTS[judgement.verdict][0] if judgement else "",
        remark=_judgement(judgement) if judgement else f"n = {cell.n}{_withheld(cell)}",
        absence="",
    )


def _in_full(row: SideBySideRow, cell: SideBySideCell, single: Single | None) -> str:
    """Return all digits of a mean and its range, or what the tool printed for the one sample."""
    behind = units.suffix(row.unit.label)
    mean, low, high = (
        units.twelve_digits(value / row.unit.factor) for value in (cell.mean, cell.low, cell.high) if value is not None
    )
    if single:
        printed = printed_as(single.printed, single.source_line)
        return "; ".join(filter(None, [f"{mean}{behind}", "n = 1", printed]))
    return f"{mean}{behind}; n = {cell.n}; from {low} to {high}{behind}"


def _bounds(row: SideBySideRow, cell: SideBySideCell) -> CellText:
    """Return a range as its bounds: no mean is made up for it."""
    value = units.bounds(cell.bound_low, cell.bound_high, row.unit.text)
    if not value:
        runs = "1 run" if cell.without == 1 else f"{cell.without} runs"
        return {**EMPTY, "absence": f"{runs} without a number"}
    in_full = units.bounds(cell.bound_low, cell.bound_high, partial(units.exact, unit=row.metric.unit))
    return {
        **EMPTY,
        "value": value,
        "in_full": in_full,
        "in_ram": cell.in_ram,
        "partly_in_ram": cell.partly_in_ram,
        "remark": "bounds only",
    }


def _judgement(judgement: Judgement) -> str:
    """Return `0.540× worse (0.500 to 0.583)`, without an interval where there are too few runs for one."""
    word = VERDICTS[judgement.verdict][1]
    interval = ""
    if judgement.low is not None and judgement.high is not None:
        low, high = units.significant(judgement.low), units.significant(judgement.high)
        interval = f" ({low}{units.NO_BREAK}to{units.NO_BREAK}{high})"
    return f"{units.significant(judgement.ratio)}×{units.NO_BREAK}{word}{interval}"


def _withheld(cell: SideBySideCell) -> str:
    """Return why a cell has no verdict, where it would have one if its runs were alike."""
    if cell.withheld == Withheld.UNLIKE:
        return f" · {cell.unlike} unlike configurations"
    if cell.withheld == Withheld.CONFOUNDED:
        verb = "differ" if len(cell.confounders) > 1 else "differs"
        return f" · not compared: {named(cell.confounders)} {verb} too"
    return " · not compared: the baseline is a mixture" if cell.withheld else ""
