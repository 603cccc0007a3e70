"""What the marks of all kinds of pictures share: places, heights, colours, dashes and intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from apps.comparison.charts.chart import Axis, Chart, ChartPoint, ChartSeries, ValueForm
from apps.comparison.charts.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUP = 0.8  # of a place that bars or boxes of all series fill together
MARKS = ("o", "s", "^", "D", ">", "h", "<", "v")
DASHES: tuple[Any, ...] = ("-", (0, (7, 3)), (0, (8, 3, 2, 3)), (0, (3, 2)))


def name_of(series: ChartSeries) -> str:
    return f"{series.label} (baseline)" if series.is_baseline else series.label


def colour_of(palette: Palette, tone: int) -> str:
    return palette.series[tone % len(palette.series)]


def mark_of(tone: int) -> str:
    """Return the mark of a series; the second eight begin at the next mark, so that no pair of colour and mark comes twice."""
    return MARKS[(tone + tone // len(MARKS)) % len(MARKS)]


def dash_of(tone: int) -> Any:
    return DASHES[(tone + tone // len(MARKS)) % len(DASHES)]


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


NARROWEST = 0.009  # of the axis: a mark on a narrower bar would cover its neighbours


def draw_feet(axes: "Axes", xs: Sequence[float], series: ChartSeries, width: float, palette: Palette) -> None:
    """Put the mark of a series below its bars or boxes, so that they are told apart without colours.

    Below the axis: inside the frame it would be taken for a value.
    """
    places = max((point.place for point in series.points), default=0.0) + 1
    there = [x for x, point in zip(xs, series.points, strict=True) if point.form is not ValueForm.MISSING]
    if there and width / places >= NARROWEST:
        (feet,) = axes.plot(
            there, [-0.022] * len(there), ls="none", marker=mark_of(series.tone), ms=5, mew=1.1,
            mfc=palette.surface, mec=colour_of(palette, series.tone), clip_on=False,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
        axes.tick_params(axis="x", pad=14)
        feet.set_gid(f"feet-{series.tone}")


def make_handle(palette: Palette, series: ChartSeries, style: dict[str, Any]) -> tuple[Any, str]:
    """Return the legend's handle of bars or boxes: their face with their mark on it."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    mark = Line2D(
        [], [], ls="none", marker=mark_of(series.tone), ms=5, mew=1.1, mfc=palette.surface,
        mec=colour_of(palette, series.tone),
    )  # fmt: skip
    return (Patch(**style), mark), name_of(series)
