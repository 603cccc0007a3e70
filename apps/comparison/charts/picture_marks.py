"""What the marks of all kinds of pictures share: places, heights, colours, dashes and intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from apps.comparison.charts.chart import Axis, Chart, ChartPoint, ChartSeries, ValueForm
from apps.comparison.charts.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUP = 0.8  # of a place that bars or boxes of all series fill together
MARKS = ("o", "s", "^", "D", ">", "h", "<", "v")
DASHES: tuple[Any, ...] = ("-", (0, (6, 3)), (0, (2, 3)), (0, (8, 3, 2, 3)))


def name_of(series: ChartSeries) -> str:
    return f"{series.label} (baseline)" if series.is_baseline else series.label


def colour_of(palette: Palette, tone: int) -> str:
    return palette.series[tone % len(palette.series)]


def dash_of(tone: int) -> Any:
    return DASHES[tone // 8 % len(DASHES)]


def place(chart: Chart, point: ChartPoint) -> float:
    return chart.x.number(point.place) if chart.x.scale in ("linear", "log") else point.place


def height(axis: Axis, point: ChartPoint) -> float | None:
    """Return where a point's mark stands; for a range the middle of its bounds."""
    if point.form is ValueForm.MISSING:
        return None
    if point.form is ValueForm.RANGE:
        return (axis.number(point.low or 0.0) + axis.number(point.high or 0.0)) / 2
    heights = {ValueForm.VALUE: point.value, ValueForm.AT_LEAST: point.low, ValueForm.AT_MOST: point.high}[point.form]
    return axis.number(heights or 0.0)


def draw_intervals(axes: "Axes", chart: Chart, points: Sequence[ChartPoint], xs: Sequence[float], colour: str) -> None:
    for x, point in zip(xs, points, strict=True):
        y = height(chart.y, point)
        if y is not None and point.low is not None and point.high is not None:
            low, high = chart.y.number(point.low), chart.y.number(point.high)
            axes.errorbar(
                [x], [y], [[y - low], [high - y]], fmt="none", ecolor=colour, elinewidth=1.3, capsize=3, zorder=3
            )
