"""Runs as marks over months, levels as lines with a break between two of them."""

from typing import TYPE_CHECKING, Any

from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import colour_of, height, name_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    """Draw runs as marks, outliers as hollow ones, and levels as lines with a break between two of them."""
    runs, levels = chart.series
    colour, level = (colour_of(palette, part.tone) for part in (runs, levels))
    for number, point in enumerate(runs.points):
        style: dict[str, Any] = {
            "marker": "D" if point.is_hollow else "o",
            "mfc": palette.surface if point.is_hollow else colour,
        }
        (mark,) = axes.plot(
            [place(chart, point)], [height(chart.y, point) or 0.0], ls="none", ms=4, mec=colour, zorder=3, **style
        )
        mark.set_gid(f"run-{number}")
    for number, (start, end) in enumerate(zip(levels.points[::2], levels.points[1::2], strict=True)):
        xs, ys = zip(*((place(chart, point), height(chart.y, point) or 0.0) for point in (start, end)), strict=True)
        (line,) = axes.plot(xs, ys, color=level, lw=2.4, zorder=4)
        line.set_gid(f"level-{number}")
    marks, lines = axes.plot([], [], "o", color=colour, ms=4)[0], axes.plot([], [], color=level, lw=2.4)[0]
    return [(marks, name_of(runs)), (lines, name_of(levels))]


KIND = DrawnKind(ChartKind.TREND, "Trend", draw)
