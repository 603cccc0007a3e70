"""A chart as a table in base units with all digits: one row for each point or tile."""

from collections.abc import Iterator

from apps.comparison.charts.chart import Chart
from apps.core.tables import Cell, Table

TITLES = ("x", "series", "value", "low", "high", "n", "unit", "remark")


def as_table(chart: Chart) -> Table:
    return Table.of(TITLES, list(_rows(chart)), numbers=TITLES[2:6], caption=chart.title)


def _rows(chart: Chart) -> Iterator[tuple[Cell, ...]]:
    unit = chart.value_axis.base_unit
    for series, point in chart.points:
        remark = "; ".join(filter(None, [point.form.value if point.form != "value" else "", point.reason]))
        yield point.label, series.label, point.value, point.low, point.high, point.n, unit, remark
    for tile in chart.tiles:
        reason = tile.text if tile.value is None else ""
        yield (
            chart.x.labels[tile.column], chart.y.labels[tile.row], tile.value, None, None, None, unit, reason,
        )  # fmt: skip
