"""The share of completions by their latency."""

from typing import TYPE_CHECKING

from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import colour_of, dash_of, height, name_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        colour = colour_of(palette, series.tone)
        xs = [place(chart, point) for point in series.points]
        ys = [height(chart.y, point) or 0.0 for point in series.points]
        axes.fill_between(xs, ys, step="mid", color=colour, alpha=0.35, lw=0)
        (line,) = axes.step(xs, ys, where="mid", color=colour, lw=1.4, ls=dash_of(series.tone))
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


KIND = DrawnKind(ChartKind.HISTOGRAM, "Histogram", draw)
