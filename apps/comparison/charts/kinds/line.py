"""Lines along numbers, days or steps; an interval is a bar at its mark."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import Chart, ChartKind, ChartPoint, ChartSeries, ValueForm
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import colour_of, dash_of, draw_intervals, height, mark_of, name_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes


VAGUE: Any = (0, (2, 5))


def why_not(comparison: Comparison) -> str:
    """Return what lines would need, or an empty text."""
    return "lines need at least two places along the axis" if len(comparison.xs) < 2 else ""


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        colour, mark = colour_of(palette, series.tone), mark_of(series.tone)
        width = 2.6 if series.is_baseline else 1.6
        _connect(axes, chart, series, {"color": colour, "lw": width, "ls": dash_of(series.tone)})
        draw_intervals(axes, chart, series.points, [place(chart, mark) for mark in series.points], colour)
        for point in series.points:
            _mark(axes, chart, point, series.tone, mark, colour, palette)
        (handle,) = axes.plot([], [], color=colour, marker=mark, ms=6, lw=width, ls=dash_of(series.tone))
        handles.append((handle, name_of(series)))
    return handles


def _connect(axes: "Axes", chart: Chart, series: ChartSeries, style: dict[str, Any]) -> None:
    """Draw the line between points, faint where it leads to what is not one measured figure."""
    there = [(place(chart, point), y, point) for point in series.points if (y := height(chart.y, point)) is not None]
    for number, ((x1, y1, first), (x2, y2, second)) in enumerate(pairwise(there)):
        if second.is_apart:
            continue
        vague = any(point.form is not ValueForm.VALUE or point.is_approximate for point in (first, second))
        (line,) = axes.plot([x1, x2], [y1, y2], **{**style, "ls": VAGUE if vague else style["ls"]}, zorder=2)
        line.set_gid(f"series-{series.tone}-from-{number}")


def _mark(axes: "Axes", chart: Chart, point: ChartPoint, tone: int, mark: str, colour: str, palette: Palette) -> None:
    y = height(chart.y, point)
    if y is None or point.form is ValueForm.RANGE:
        return
    bound = {ValueForm.AT_LEAST: "^", ValueForm.AT_MOST: "v"}.get(point.form)
    (drawn,) = axes.plot(
        [place(chart, point)], [y], ls="none", marker=bound or mark, ms=8 if bound else 5.5, mec=colour, mew=1.3,
        mfc=palette.surface if point.is_hollow else colour, zorder=3.5,
    )  # fmt: skip
    drawn.set_gid(f"point-{tone}-{point.place:.15g}")


KIND = DrawnKind(ChartKind.LINE, "Line chart", draw, "Lines", why_not)
