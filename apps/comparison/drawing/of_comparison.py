"""A comparison as a chart: the cells' numbers as they are, nothing computed but where they stand."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.comparison.cells import Cell, Comparison
from apps.comparison.compare import series_name
from apps.comparison.drawing.boxes import box_of
from apps.comparison.drawing.chart import Axis, Chart, Form, Kind, Point, Series
from apps.comparison.drawing.description import caption_of, described
from apps.comparison.drawing.kinds import numbers, usual, why_not, why_not_along
from apps.comparison.drawing.references import BANDWIDTH, ceilings, memory_lines
from apps.comparison.drawing.tiles import tiles_of
from apps.comparison.grid import Grid, grid
from apps.comparison.readings import Reading
from apps.comparison.words import label_of
from apps.lib import units
from apps.lib.units import ColumnUnit

# The rule whose cells are drawn hollow: they may show memory.
HOLLOW = "ram_cache"
TILED = (Kind.HEAT, Kind.MATRIX)
Key = tuple[Any, str]


def chart_of(comparison: Comparison, readings: Sequence[Reading] = (), table: Grid | None = None) -> Chart:
    """The chart that the question asks for; where the comparison cannot be drawn so, the usual one (`refusals` says
    why). `readings`: those it was made from, for RAM, caches and ceilings; `table`: its grid, where there is one.
    """
    table = table or grid(comparison)
    kind = kind_of(comparison)
    x = _x_axis(comparison, table, kind)
    y = Axis(_with_unit(comparison.metric.label, table.unit), comparison.question.scale, table.unit,
             base_unit=comparison.metric.unit)  # fmt: skip
    tiled = kind in TILED
    chart = _tiled(comparison, table, kind, x, y) if tiled else _with_series(comparison, readings, table, kind, x, y)
    return described(chart, comparison)


def kind_of(comparison: Comparison) -> Kind:
    asked = Kind(comparison.question.chart) if comparison.question.chart else None
    return usual(comparison) if asked is None or why_not(comparison, asked) else asked


def refusals(comparison: Comparison) -> list[str]:
    """Why the chart is not the one that was asked for, in sentences."""
    question = comparison.question
    found = [
        why_not(comparison, Kind(question.chart)) if question.chart else "",
        why_not_along(comparison, question.axis),
    ]
    return [f"{one[0].upper()}{one[1:]}." for one in found if one]


def _x_axis(comparison: Comparison, table: Grid, kind: Kind) -> Axis:
    asked = comparison.question.axis
    is_even = kind is not Kind.LINE or asked == "even" or bool(why_not_along(comparison, asked))
    places = tuple(float(x) if isinstance(x, int | float) and not isinstance(x, bool) else None for x in comparison.xs)
    unit = _unit_along(comparison, is_even)
    return Axis(
        _with_unit(table.x_label, unit), "even" if is_even else asked, unit, _labels(table), places,
        base_unit="B" if comparison.x in ("file_size", "block_size") else "",
    )  # fmt: skip


def _unit_along(comparison: Comparison, is_even: bool) -> ColumnUnit:
    is_size = comparison.x in ("file_size", "block_size", "ram", "chunk_size", "controller_cache")
    if not is_size or is_even:
        return ColumnUnit(1, "")
    sizes = numbers(comparison)  # whole in KiB they are called so, whatever the values are in
    return units.unit_for(sizes, "B", comparison.question.base if any(one % 1024 for one in sizes) else 1024)


def _with_unit(title: str, unit: ColumnUnit) -> str:
    return f"{title} ({unit.label})" if unit.label else title


def _labels(table: Grid) -> tuple[str, ...]:
    """Rounded as in the table, unless two places would then look like one."""
    labels = tuple(row.x for row in table.rows)
    return labels if len(set(labels)) == len(labels) else tuple(row.exact_x for row in table.rows)


def _tiled(comparison: Comparison, table: Grid, kind: Kind, x: Axis, y: Axis) -> Chart:
    by = ", ".join(label_of(name) for name in comparison.question.series)
    rows = Axis(by, "even", labels=comparison.series)
    return Chart(kind, table.title, x, rows, (), z=y, tiles=tiles_of(comparison, table, y.is_log))


def _with_series(
    comparison: Comparison, readings: Sequence[Reading], table: Grid, kind: Kind, x: Axis, y: Axis
) -> Chart:
    hollow = {key for caveat in comparison.caveats if caveat.rule == HOLLOW for key in caveat.cells}
    cells = {(cell.x, cell.series): cell for cell in comparison.cells}
    series = tuple(
        Series(name, _points(comparison, cells, name, hollow, x, kind), tone, name == comparison.baseline)
        for tone, name in enumerate(comparison.series)
    )
    lines, regions = memory_lines(comparison.x, x, readings) if kind is Kind.LINE else ([], [])
    tops = [cell.figure for cell in comparison.cells if cell.figure is not None]
    bounds, said = ceilings(
        comparison.operation,
        comparison.metric.name,
        y,
        _by_series(comparison, readings),
        max(tops, default=0.0),
        comparison.question.base,
    )
    caption = " ".join(filter(None, [caption_of(kind, series, y), said]))
    return Chart(kind, table.title, x, y, series, caption=caption, lines=(*lines, *bounds), regions=tuple(regions))


def _by_series(comparison: Comparison, readings: Sequence[Reading]) -> dict[str, list[Reading]]:
    """Empty where no ceiling can come of it, because naming thousands of readings takes its time."""
    found: dict[str, list[Reading]] = {name: [] for name in comparison.series}
    if comparison.metric.name != BANDWIDTH or all(one.machine is None for one in readings):
        return found
    for one in readings:
        found[series_name(one, comparison.question.series)].append(one)
    return found


def _points(
    comparison: Comparison, cells: Mapping[Key, Cell], name: str, hollow: set[Key], x: Axis, kind: Kind
) -> tuple[Point, ...]:
    """On a true axis what has no number has no place."""
    found = []
    for index, at in enumerate(comparison.xs):
        place = float(index) if x.scale == "even" else x.places[index]
        if place is not None:
            cell = cells[at, name]
            found.append(_point(cell, place, x.labels[index], (at, name) in hollow, kind))
    return tuple(found)


def _point(cell: Cell, place: float, label: str, is_hollow: bool, kind: Kind) -> Point:
    form = _form(cell)
    has_figure = form is Form.VALUE
    return Point(
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
        values=cell.values if kind is Kind.BOX else (),
        box=box_of(cell.values) if kind is Kind.BOX else None,
        note=_ratio(cell) if kind is Kind.PAIRED else "",
    )


def _form(cell: Cell) -> Form:
    if cell.figure is not None:
        return Form.VALUE
    if cell.low is not None and cell.high is not None:
        return Form.RANGE
    if cell.low is not None:
        return Form.AT_LEAST
    return Form.AT_MOST if cell.high is not None else Form.MISSING


def _ratio(cell: Cell) -> str:
    return "" if cell.ratio is None else f"{units.significant(cell.ratio)}×"
