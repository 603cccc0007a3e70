"""Latency by percentile, on an axis of nines."""

from typing import TYPE_CHECKING

from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import colour_of, dash_of, height, mark_of, name_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        there = [(place(chart, point), y) for point in series.points if (y := height(chart.y, point)) is not None]
        (line,) = axes.plot(
            [x for x, _ in there], [y for _, y in there], color=colour_of(palette, series.tone), lw=1.8,
            ls=dash_of(series.tone), marker=mark_of(series.tone), ms=3.5,
        )  # fmt: skip
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


KIND = DrawnKind(ChartKind.CURVE, "Percentile curve", draw)
