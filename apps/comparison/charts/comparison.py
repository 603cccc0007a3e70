"""The chart of a comparison, built from the cells' numbers without computing new ones."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.comparison.cells import Comparison, ComparisonCell
from apps.comparison.charts.chart import (
    Axis,
    BoxPlot,
    Chart,
    ChartKind,
    ChartPoint,
    ChartSeries,
    Region,
    Tile,
    ValueForm,
)
from apps.comparison.charts.description import caption_of, described, fairness_of
from apps.comparison.charts.palette import ink_on, shade_colour
from apps.comparison.charts.references import BANDWIDTH, ceilings, memory_lines
from apps.comparison.charts.registry import numbers, scale_along, usual, why_not, why_not_along
from apps.comparison.compare import series_name
from apps.comparison.grid import ComparisonGrid, grid
from apps.comparison.labels import IN_BYTES, TIME, label_of
from apps.comparison.likeness import explain_unlike
from apps.comparison.readings import Reading
from apps.core import units
from apps.core.units import ColumnUnit

# The rule whose cells are drawn hollow: they may show memory.
HOLLOW = "ram_cache"
TILED = (ChartKind.HEAT, ChartKind.MATRIX)
APART = "apart"  # what the strip for unknown places of x is called among a chart's regions
Key = tuple[Any, str]


def chart_of(comparison: Comparison, readings: Sequence[Reading] = (), table: ComparisonGrid | None = None) -> Chart:
    """Build the chart that the question asks for, or the usual one where the comparison cannot be drawn so (see `refusals`).

    `readings` are those it was made from, for RAM, caches and ceilings; `table` is its grid, where there is one.
    """
    table = table or grid(comparison)
    kind = kind_of(comparison)
    x = _x_axis(comparison, table, kind)
    y = Axis(_with_unit(comparison.metric.label, table.unit), comparison.question.scale, table.unit,
             base_unit=comparison.metric.unit)  # fmt: skip
    tiled = kind in TILED
    chart = _tiled(comparison, table, kind, x, y) if tiled else _with_series(comparison, readings, table, kind, x, y)
    return replace(described(chart, comparison), caveats=caveat_lines(comparison))


def caveat_lines(comparison: Comparison) -> tuple[str, ...]:
    """Return the comparison's caveats with the number of cells that each is about: `Few runs: 3 of 12 cells`."""
    total = sum(1 for cell in comparison.cells if cell.n)
    return tuple(f"{caveat.title}: {len(caveat.cells)} of {total} cells" for caveat in comparison.caveats)


def kind_of(comparison: Comparison) -> ChartKind:
    kind = ChartKind(comparison.question.chart) if comparison.question.chart else None
    return usual(comparison) if kind is None or why_not(comparison, kind) else kind


def refusals(comparison: Comparison) -> list[str]:
    """Return sentences that say why the chart is not the one that was asked for."""
    question = comparison.question
    sentences = [
        why_not(comparison, ChartKind(question.chart)) if question.chart else "",
        why_not_along(comparison, question.axis),
    ]
    return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences if sentence]


def _x_axis(comparison: Comparison, table: ComparisonGrid, kind: ChartKind) -> Axis:
    scale = scale_along(comparison, kind)
    places = tuple(float(x) if isinstance(x, int | float) and not isinstance(x, bool) else None for x in comparison.xs)
    unit = _unit_along(comparison, scale)
    has_unknown = None in comparison.xs and (comparison.x == TIME or bool(numbers(comparison)))
    low, apart, high = _ends(places, scale, has_unknown)
    return Axis(
        _with_unit(table.x_label, unit), scale, unit, _labels(table), places,
        apart=apart, base_unit="B" if comparison.x in IN_BYTES else "", low=low, high=high,
    )  # fmt: skip


GAP, ROOM = 0.15, 0.03  # of the length of a true axis: between the last number and what has none, and at both ends


def _ends(
    places: Sequence[float | None], scale: str, has_unknown: bool
) -> tuple[float | None, float | None, float | None]:
    """Return where an axis begins, where what has no number stands, and where the axis ends.

    On an even axis, whose ends are its labels', what has no number stands at the last of them.
    """
    if scale == "even":
        return None, float(len(places) - 1) if has_unknown else None, None
    known = [place for place in places if place is not None]
    least, most = min(known), max(known)
    if scale == "log":
        length = math.log(most / least) or math.log(4)
        room, apart = math.exp(ROOM * length), most * math.exp(GAP * length)
        return least / room, apart if has_unknown else None, (apart if has_unknown else most) * room
    length = (most - least) or abs(most) or 1.0
    room, apart = ROOM * length, most + GAP * length
    return least - room, apart if has_unknown else None, (apart if has_unknown else most) + room


def _unit_along(comparison: Comparison, scale: str) -> ColumnUnit:
    """Return the unit of a linear axis of sizes; along others stand the sizes as the table writes them."""
    if comparison.x not in IN_BYTES or scale != "linear":
        return ColumnUnit(1, "")
    sizes = numbers(comparison)  # whole in KiB they are called so, whatever the values are in
    return units.unit_for(sizes, "B", comparison.question.base if any(size % 1024 for size in sizes) else 1024)


def _with_unit(title: str, unit: ColumnUnit) -> str:
    return f"{title} ({unit.label})" if unit.label else title


def _labels(table: ComparisonGrid) -> tuple[str, ...]:
    """Return the labels of x, rounded as in the table unless two places would then be equal."""
    labels = tuple(row.x for row in table.rows)
    return labels if len(set(labels)) == len(labels) else tuple(row.exact_x for row in table.rows)


def _tiled(comparison: Comparison, table: ComparisonGrid, kind: ChartKind, x: Axis, y: Axis) -> Chart:
    by = ", ".join(label_of(name) for name in comparison.question.series)
    rows = Axis(by, "even", labels=comparison.series)
    return Chart(kind, table.title, x, rows, (), z=y, tiles=tiles_of(comparison, table, y.is_log))


def _with_series(
    comparison: Comparison, readings: Sequence[Reading], table: ComparisonGrid, kind: ChartKind, x: Axis, y: Axis
) -> Chart:
    drawn = comparison.drawn
    by_series = _by_series(comparison, readings)
    readings = (
        readings if len(drawn) == len(comparison.series) else [one for some in by_series.values() for one in some]
    )
    hollow = {key for caveat in comparison.caveats if caveat.rule == HOLLOW for key in caveat.cells}
    cells = {(cell.x, cell.series): cell for cell in comparison.cells}
    series = tuple(
        ChartSeries(name, _points(comparison, cells, name, hollow, x, kind), tone, name == comparison.baseline)
        for tone, name in enumerate(drawn)
    )
    lines, regions = memory_lines(comparison.x, x, readings) if kind is ChartKind.LINE else ([], [])
    if x.apart is not None:
        regions = [*regions, _beside(x)]
    tops = [cell.figure for cell in comparison.cells if cell.figure is not None and cell.series in drawn]
    bounds, sentence = ceilings(
        comparison.operation,
        comparison.metric.name,
        y,
        by_series if comparison.metric.name == BANDWIDTH else {},
        max(tops, default=0.0),
        comparison.question.base,
    )
    caption = " ".join(filter(None, [caption_of(kind, series, y), *fairness_of(comparison, kind), sentence]))
    return Chart(kind, table.title, x, y, series, caption=caption, lines=(*lines, *bounds), regions=tuple(regions))


def _beside(x: Axis) -> Region:
    """Return the strip at the edge where what has no number stands, as broad as twice the room to the axis' end."""
    at = x.apart or 0.0
    if x.scale == "even":
        return Region(at - 0.5, None, "unknown", APART)
    end = x.high or at
    return Region(at * at / end if x.is_log else 2 * at - end, None, "unknown", APART)


def _by_series(comparison: Comparison, readings: Sequence[Reading]) -> dict[str, list[Reading]]:
    """Return the readings of the series that are drawn.

    Nothing where all are and no ceiling can come of it, because naming thousands takes time.
    """
    drawn = comparison.drawn
    by_name: dict[str, list[Reading]] = {name: [] for name in drawn}
    is_whole = len(drawn) == len(comparison.series)
    has_ceilings = comparison.metric.name == BANDWIDTH and any(reading.machine is not None for reading in readings)
    if is_whole and not has_ceilings:
        return by_name
    for reading in readings:
        if (name := series_name(reading, comparison.question.series)) in by_name:
            by_name[name].append(reading)
    return by_name


def _points(
    comparison: Comparison, cells: Mapping[Key, ComparisonCell], name: str, hollow: set[Key], x: Axis, kind: ChartKind
) -> tuple[ChartPoint, ...]:
    """Return the points of one series; what has no number stands apart from those that have one."""
    marks = []
    for index, at in enumerate(comparison.xs):
        number = float(index) if x.scale == "even" else x.places[index]
        place = number if number is not None else x.apart
        if place is not None:
            is_apart = at is None and x.apart is not None
            marks.append(_point(cells[at, name], place, x.labels[index], (at, name) in hollow, kind, is_apart))
    return tuple(marks)


def _point(
    cell: ComparisonCell, place: float, label: str, is_hollow: bool, kind: ChartKind, is_apart: bool
) -> ChartPoint:
    form = _form(cell)
    has_figure = form is ValueForm.VALUE
    return ChartPoint(
        place,
        label,
        value=cell.figure if has_figure else None,
        low=cell.ci_low if has_figure else cell.low,
        high=cell.ci_high if has_figure else cell.high,
        n=cell.n,
        form=form,
        is_approximate="approximate" in cell.quality,
        is_hollow=is_hollow,
        reason=cell.missing,
        modes=tuple(mode.value for mode in cell.modes),
        outliers=tuple(outlier.value for outlier in cell.outliers),
        values=cell.values if kind is ChartKind.BOX else (),
        box=box_of(cell.values) if kind is ChartKind.BOX else None,
        note=_ratio(cell) if kind is ChartKind.PAIRED else "",
        warning=_unfair(cell) if kind is ChartKind.PAIRED else "",
        is_apart=is_apart,
    )


def _form(cell: ComparisonCell) -> ValueForm:
    if cell.figure is not None:
        return ValueForm.VALUE
    if cell.low is not None and cell.high is not None:
        return ValueForm.RANGE
    if cell.low is not None:
        return ValueForm.AT_LEAST
    return ValueForm.AT_MOST if cell.high is not None else ValueForm.MISSING


def _ratio(cell: ComparisonCell) -> str:
    return "" if cell.ratio is None else f"{units.significant(cell.ratio)}×"


def _unfair(cell: ComparisonCell) -> str:
    """Return what else differs, or is not known, where a ratio is of unlike cells."""
    return explain_unlike(cell.confounders, cell.unknown)


REACH = 1.5  # times the box's height


def box_of(values: Sequence[float]) -> BoxPlot | None:
    """Return quartiles by linear interpolation (type 7 of Hyndman and Fan 1996, NumPy's default), or None for too few values."""
    import numpy as np

    if not values:
        return None
    ordered = sorted(values)
    q1, median, q3 = (float(quartile) for quartile in np.quantile(ordered, (0.25, 0.5, 0.75)))
    reach = REACH * (q3 - q1)
    inside = [value for value in ordered if q1 - reach <= value <= q3 + reach]
    beyond = tuple(value for value in ordered if not q1 - reach <= value <= q3 + reach)
    return BoxPlot(inside[0], q1, median, q3, inside[-1], statistics.fmean(ordered), beyond)


def tiles_of(comparison: Comparison, table: ComparisonGrid, is_log: bool) -> tuple[Tile, ...]:
    """Return one tile for every x and series; one without a value says why."""
    values = [cell.figure for cell in comparison.cells if cell.figure is not None]
    columns = {x: column for column, x in enumerate(comparison.xs)}
    rows = {name: row for row, name in enumerate(comparison.series)}
    texts = [figure.value or figure.reason for row in table.rows for figure in row.figures]
    return tuple(
        _tile(columns[cell.x], rows[cell.series], text, cell.figure, values, is_log)
        for cell, text in zip(comparison.cells, texts, strict=True)
    )


def _tile(column: int, row: int, text: str, value: float | None, values: list[float], is_log: bool) -> Tile:
    if value is None:
        return Tile(column, row, text)
    shade = share(value, min(values), max(values), is_log)
    fill = shade_colour(shade)
    return Tile(column, row, text, value, shade, fill, ink_on(fill))


def share(value: float, least: float, most: float, is_log: bool) -> float:
    """Return where a value lies from 0 (least) to 1 (most); 1 everywhere where nothing differs."""
    if most <= least:
        return 1.0
    if is_log and least > 0:
        return math.log(value / least) / math.log(most / least)
    return (value - least) / (most - least)
