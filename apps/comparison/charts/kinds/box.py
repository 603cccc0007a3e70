"""Box plots: quartiles, median and what lies beyond the whiskers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint, ValueForm
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle
from apps.comparison.charts.picture_marks import GROUP, colour_of, draw_feet, height, make_handle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ENOUGH_FOR_BOX = 5  # with fewer values quartiles say little, and the values themselves are drawn


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    width = GROUP / max(len(chart.series), 1)
    for number, series in enumerate(chart.series):
        colour = colour_of(palette, series.tone)
        xs = [point.place - GROUP / 2 + width * (number + 0.5) for point in series.points]
        for x, point in zip(xs, series.points, strict=True):
            _box(axes, chart.y, point, x, width * 0.8, colour, palette)
        draw_feet(axes, xs, series, width, palette)
    return [
        make_handle(palette, drawn, {"facecolor": "none", "edgecolor": colour_of(palette, drawn.tone), "lw": 1.5})
        for drawn in chart.series
    ]


def _box(axes: "Axes", y: Axis, point: ChartPoint, x: float, width: float, colour: str, palette: Palette) -> None:
    box = point.box
    if box is None:
        _bounds(axes, y, point, x, colour)
        return
    if len(point.values) >= ENOUGH_FOR_BOX:
        names = {"whislo": box.low, "q1": box.q1, "med": box.median, "q3": box.q3, "whishi": box.high}
        stats = {name: y.number(value) for name, value in names.items()}
        style = {"color": colour, "lw": 1.3}
        axes.bxp([stats], [x], widths=[width], showfliers=False, manage_ticks=False, patch_artist=True, zorder=2,
                 boxprops={"facecolor": f"{colour}40", "edgecolor": colour, "lw": 1.3}, medianprops={**style, "lw": 2.2},
                 whiskerprops=style, capprops=style)  # fmt: skip
    dots = box.beyond if len(point.values) >= ENOUGH_FOR_BOX else point.values
    face = palette.surface if point.is_hollow else colour
    axes.plot(
        [x] * len(dots), [y.number(dot) for dot in dots], ls="none", marker="o", ms=4, mec=colour, mfc=face, zorder=3
    )


def _bounds(axes: "Axes", y: Axis, point: ChartPoint, x: float, colour: str) -> None:
    if point.form is ValueForm.RANGE:
        low, high = y.number(point.low or 0.0), y.number(point.high or 0.0)
        axes.errorbar([x], [low], [[0.0], [high - low]], fmt="none", ecolor=colour, capsize=4, ls=":")
    elif (at := height(y, point)) is not None:
        axes.plot([x], [at], marker="^" if point.form is ValueForm.AT_LEAST else "v", ms=7, color=colour)


def caption(points: Sequence[ChartPoint]) -> str:
    has_few = any(0 < len(point.values) < ENOUGH_FOR_BOX for point in points)
    few = f" With fewer than {ENOUGH_FOR_BOX} values all are dots." if has_few else ""
    return f"Box: quartiles and median; whiskers: 1.5 times its height at most; dots: values beyond.{few}"


KIND = DrawnKind(ChartKind.BOX, "Box plot", draw, "Box plot", caption=caption)
