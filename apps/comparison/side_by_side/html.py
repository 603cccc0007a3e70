"""The table's inside as HTML in one pass. A template takes 30 ms for 320 cells where this takes three
(`tests/benchmarks/test_p9_side_by_side.py`); whatever came from people or files is escaped here.
"""

from functools import lru_cache, partial
from html import escape

from apps.comparison.cells import Verdict
from apps.comparison.side_by_side.judging import Judgement
from apps.comparison.side_by_side.table import Cell, Column, Place, Row, Sums, Table
from apps.comparison.words import bounds_text, operation_of
from apps.lib import units

SAID = {  # the tone, and the word
    Verdict.BETTER: ("better", "better"),
    Verdict.WORSE: ("worse", "worse"),
    Verdict.NO_DIFFERENCE: ("same", "no sig. difference"),
    Verdict.TOO_FEW: ("same", "too few runs"),
}
MARK = '<sup title="The file is no larger than RAM: this may be memory">m</sup>'
SMALL, LARGE = 1e-4, 1e12  # between them twelve digits need no exponent


def inside(table: Table, link: str) -> str:
    """`<thead>` and `<tbody>`; `link` is the address of the full comparison with `{metric}` and `{operation}` to fill in."""
    heads = "".join([_head(column, table.baseline) for column in table.columns])
    link = escape(link)  # here once: what is filled in are the field's own words
    rows = "".join([_row(row, link) for row in table.rows])
    return f'<thead><tr><th scope="col">Measure</th>{heads}</tr></thead><tbody>{rows}</tbody>'


def _head(column: Column, baseline: Column | None) -> str:
    name = escape(column.name)
    named = f'<a href="{escape(column.address)}">{name}</a>' if column.address else name
    mark = ' <span class="unit">(baseline)</span>' if column is baseline else ""
    return f'<th scope="col" class="num wrap">{named}{mark}</th>'


def _row(row: Row, link: str) -> str:
    place = row.place
    address = link.format(metric=place.metric, operation=place.operation)
    unit = f' <span class="unit">{escape(row.unit.label)}</span>' if row.unit.label else ""
    operation, metric, point = escape(operation_of(place.operation)), escape(row.metric.label), point_of(place)
    # by itself, in a list of links, a link says of which row it is
    head = (
        f'<th scope="row"><a href="{address}" aria-label="{operation}, {metric}, {point}">{operation}</a>'
        f' · {metric}{unit}<span class="judgement">{point}</span></th>'
    )
    return f"<tr>{head}{''.join([_cell(cell, row) for cell in row.cells])}</tr>"


@lru_cache(maxsize=4096)  # the same few points stand on every page
def point_of(place: Place) -> str:
    """`1 GiB file · 4 KiB blocks · depth 16`, escaped by being made of numbers only."""
    parts = [
        f"{units.size(place.file_size)} file" if place.file_size else "",
        f"{units.size(place.block_size)} blocks" if place.block_size else "",
        f"{place.threads} threads" if place.threads and place.threads > 1 else "",
        f"depth {place.iodepth}" if place.iodepth and place.iodepth > 1 else "",
        f"job {place.section + 1}" if place.section else "",
    ]
    return " · ".join(part for part in parts if part)


def _cell(cell: Cell | None, row: Row) -> str:
    if cell is None:
        return '<td class="num"><span class="absent">not measured</span></td>'
    sums = cell.sums
    if sums.mean is None:
        return _without(cell, row)
    half = f' <span class="muted">± {row.unit.text(cell.half)}</span>' if cell.half is not None else ""
    judged = _judged(cell.judgement) if cell.judgement else f'<span class="judgement">n = {sums.n}</span>'
    return f'<td class="num" title="{_exact(sums, row.metric.unit)}">{row.unit.text(sums.mean)}{half}{MARK if cell.in_ram else ""}{judged}</td>'


def _exact(sums: Sums, unit: str) -> str:
    """Twelve digits, which is more than any tool measures; what they cannot show without an exponent is written in full."""
    mean, low, high = sums.mean or 0.0, sums.low or 0.0, sums.high or 0.0
    if low >= SMALL and high < LARGE:
        behind = units.suffix(unit)
        found = f"{mean:,.12g}{behind}; n = {sums.n}; from {low:,.12g} to {high:,.12g}{behind}"
        return found.replace(",", units.THIN)
    return f"{units.exact(mean, unit)}; n = {sums.n}; from {units.exact(low)} to {units.exact(high, unit)}"


def _without(cell: Cell, row: Row) -> str:
    """A range stands as its bounds: no mean is made up for it."""
    sums, unit = cell.sums, row.metric.unit
    found = bounds_text(sums.bound_low, sums.bound_high, row.unit.text)
    if not found:
        runs = "1 run" if sums.without == 1 else f"{sums.without} runs"
        return f'<td class="num"><span class="absent">{runs} without a number</span></td>'
    exact = bounds_text(sums.bound_low, sums.bound_high, partial(units.exact, unit=unit))
    return f'<td class="num" title="{exact}">{found}<span class="judgement">bounds only</span></td>'


def _judged(found: Judgement) -> str:
    ratio, low, high = found.ratio, found.low, found.high
    if low is None or high is None:
        said = f"{units.significant(ratio)}×"
    elif low > 0.001 and high < 99:  # as `units.significant` writes them, without asking it three times
        said = f"{ratio:#.3g}× ({low:#.3g} to {high:#.3g})"
    else:
        said = f"{units.significant(ratio)}× ({units.significant(low)} to {units.significant(high)})"
    tone, word = SAID[found.verdict]
    return f'<span class="judgement {tone}">{said} {word}</span>'
