"""Values over the seconds of a run: the mean as a line, min to max as a shade."""

from typing import TYPE_CHECKING

from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import colour_of, dash_of, height, name_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    """Draw the mean of each moment as a line and the range from min to max as a shade."""
    handles: list[Handle] = []
    for series in chart.series:
        colour = colour_of(palette, series.tone)
        xs = [place(chart, point) for point in series.points]
        lows, highs = (
            [chart.y.number(getattr(point, end) or 0.0) for point in series.points] for end in ("low", "high")
        )
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.18, lw=0)
        (line,) = axes.plot(
            xs,
            [height(chart.y, point) or 0.0 for point in series.points],
            color=colour,
            lw=1.4,
            ls=dash_of(series.tone),
        )
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


KIND = DrawnKind(ChartKind.TIME, "Chart over time", draw)
