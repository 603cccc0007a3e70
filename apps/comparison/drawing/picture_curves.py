"""The marks of pictures over an axis of numbers: histogram, percentile curve, values over time, a watch's runs."""

from typing import TYPE_CHECKING, Any

from apps.comparison.drawing.chart import Chart
from apps.comparison.drawing.palette import Palette
from apps.comparison.drawing.picture_frame import Handle
from apps.comparison.drawing.picture_places import MARKS, colour_of, dash_of, height, name_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def steps(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        colour = colour_of(palette, series.tone)
        xs = [place(chart, one) for one in series.points]
        ys = [height(chart.y, one) or 0.0 for one in series.points]
        axes.fill_between(xs, ys, step="mid", color=colour, alpha=0.35, lw=0)
        (line,) = axes.step(xs, ys, where="mid", color=colour, lw=1.4, ls=dash_of(series.tone))
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


def curves(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        there = [(place(chart, one), y) for one in series.points if (y := height(chart.y, one)) is not None]
        (line,) = axes.plot(
            [x for x, _ in there], [y for _, y in there], color=colour_of(palette, series.tone), lw=1.8,
            ls=dash_of(series.tone), marker=MARKS[series.tone % len(MARKS)], ms=3.5,
        )  # fmt: skip
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


def bands(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    """The mean of each moment as a line, from the least to the most as a shade."""
    handles: list[Handle] = []
    for series in chart.series:
        colour = colour_of(palette, series.tone)
        xs = [place(chart, one) for one in series.points]
        lows, highs = ([chart.y.number(getattr(one, end) or 0.0) for one in series.points] for end in ("low", "high"))
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.18, lw=0)
        (line,) = axes.plot(
            xs, [height(chart.y, one) or 0.0 for one in series.points], color=colour, lw=1.4, ls=dash_of(series.tone)
        )
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


def trend(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    """Runs as marks, hollow ones for outliers; levels as lines, a break between two of them."""
    runs, levels = chart.series
    colour, level = (colour_of(palette, one.tone) for one in (runs, levels))
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
        xs, ys = zip(*((place(chart, one), height(chart.y, one) or 0.0) for one in (start, end)), strict=True)
        (line,) = axes.plot(xs, ys, color=level, lw=2.4, zorder=4)
        line.set_gid(f"level-{number}")
    marks, lines = axes.plot([], [], "o", color=colour, ms=4)[0], axes.plot([], [], color=level, lw=2.4)[0]
    return [(marks, name_of(runs)), (lines, name_of(levels))]
