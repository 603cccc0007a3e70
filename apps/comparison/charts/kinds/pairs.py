"""Bars of two series, with the ratio to the baseline above each pair."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.kinds import bar
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import height

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def why_not(comparison: Comparison) -> str:
    """Return what paired bars would need, or an empty text."""
    count = len(comparison.drawn)
    are = "is one" if count == 1 else f"are {count}"
    return f"paired bars need two series, and there {are}" if count != 2 else ""


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles = bar.draw(axes, chart, palette)
    _notes(axes, chart, palette)
    return handles


def _notes(axes: "Axes", chart: Chart, palette: Palette) -> None:
    """Write each pair's ratio above the higher of its bars."""
    for points in zip(*(series.points for series in chart.series), strict=True):
        tops = [top for point in points if (top := _top(chart.y, point)) is not None]
        note = next((f"{point.note}{'*' if point.warning else ''}" for point in points if point.note), "")
        if tops and note:
            axes.annotate(note, (points[0].place, max(tops)), (0, 3), textcoords="offset points", ha="center", va="bottom",
                          fontsize=8, color=palette.ink)  # fmt: skip


def _top(axis: Axis, point: ChartPoint) -> float | None:
    at = height(axis, point)
    return at if at is None or point.high is None else max(at, axis.number(point.high))


def caption(points: Sequence[ChartPoint]) -> str:
    return "The number above a pair is the ratio to the baseline."


KIND = DrawnKind(ChartKind.PAIRED, "Paired bars", draw, "Paired bars", why_not, caption)
