"""Bars; a value that may show memory is hollow, a bound is hatched."""

from typing import TYPE_CHECKING

from apps.comparison.charts.chart import Chart, ChartKind, ChartPoint, ValueForm
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import GROUP, colour_of, draw_feet, draw_intervals, height, make_handle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    width = GROUP / max(len(chart.series), 1)
    for number, series in enumerate(chart.series):
        colour = colour_of(palette, series.tone)
        xs = [point.place - GROUP / 2 + width * (number + 0.5) for point in series.points]
        for x, point in zip(xs, series.points, strict=True):
            _bar(axes, chart, point, series.tone, x, width * 0.92, colour, palette)
        draw_intervals(axes, chart, series.points, xs, palette.ink)
        draw_feet(axes, xs, series, width, palette)
    return [make_handle(palette, drawn, {"color": colour_of(palette, drawn.tone)}) for drawn in chart.series]


def _bar(
    axes: "Axes", chart: Chart, point: ChartPoint, tone: int, x: float, width: float, colour: str, palette: Palette
) -> None:
    y = height(chart.y, point)
    if y is None:
        axes.text(x, 0.01, f" {point.reason}", rotation=90, va="bottom", ha="center", fontsize=7, color=palette.ink_2,
                  style="italic", transform=axes.get_xaxis_transform())  # fmt: skip
    elif point.form is not ValueForm.RANGE:
        is_bound = point.form is not ValueForm.VALUE
        face = palette.surface if point.is_hollow or is_bound else colour
        (bar,) = axes.bar(
            [x], [y], width, facecolor=face, edgecolor=colour, lw=1.2, zorder=2, hatch="//" if is_bound else ""
        )
        bar.set_gid(f"point-{tone}-{point.place:.15g}")


KIND = DrawnKind(ChartKind.BAR, "Bar chart", draw, "Bars")
