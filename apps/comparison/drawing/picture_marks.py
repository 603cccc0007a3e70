"""The marks of a picture: lines, bars, boxes, tiles. Numbers are the chart's; here is only how they look."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from apps.comparison.drawing.chart import Axis, Chart, Form, Kind, Point, Series
from apps.comparison.drawing.description import ENOUGH_FOR_BOX
from apps.comparison.drawing.palette import Palette
from apps.comparison.drawing.picture_curves import bands, curves, steps, trend
from apps.comparison.drawing.picture_frame import Handle, cut
from apps.comparison.drawing.picture_places import MARKS, colour_of, dash_of, height, name_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VAGUE: Any = (0, (2, 5))
GROUP = 0.8  # of a place that bars or boxes of all series fill together
MOST_TEXTS = 400  # tiles that still have room for their value


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    """Draws the marks; gives what a legend needs."""
    how: dict[Kind, Callable[[Axes, Chart, Palette], list[Handle]]] = {
        Kind.LINE: _lines,
        Kind.BAR: _bars,
        Kind.PAIRED: _bars,
        Kind.BOX: _boxes,
        Kind.HEAT: _tiles,
        Kind.MATRIX: _tiles,
        Kind.HISTOGRAM: steps,
        Kind.CURVE: curves,
        Kind.TIME: bands,
        Kind.TREND: trend,
    }
    return how[chart.kind](axes, chart, palette)


def _lines(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        colour, mark = colour_of(palette, series.tone), MARKS[series.tone % len(MARKS)]
        width = 2.6 if series.is_baseline else 1.6
        _connect(axes, chart, series, {"color": colour, "lw": width, "ls": dash_of(series.tone)})
        _errors(axes, chart, series.points, [place(chart, one) for one in series.points], colour)
        for point in series.points:
            _mark(axes, chart, point, series.tone, mark, colour, palette)
        (handle,) = axes.plot([], [], color=colour, marker=mark, ms=6, lw=width, ls=dash_of(series.tone))
        handles.append((handle, name_of(series)))
    return handles


def _connect(axes: "Axes", chart: Chart, series: Series, style: dict[str, Any]) -> None:
    """No line of full strength leads to what is not one measured figure."""
    there = [(place(chart, one), y, one) for one in series.points if (y := height(chart.y, one)) is not None]
    for number, ((x1, y1, first), (x2, y2, second)) in enumerate(pairwise(there)):
        vague = any(one.form is not Form.VALUE or one.is_approximate for one in (first, second))
        (line,) = axes.plot([x1, x2], [y1, y2], **{**style, "ls": VAGUE if vague else style["ls"]}, zorder=2)
        line.set_gid(f"series-{series.tone}-from-{number}")


def _errors(axes: "Axes", chart: Chart, points: Sequence[Point], xs: Sequence[float], colour: str) -> None:
    for x, point in zip(xs, points, strict=True):
        y = height(chart.y, point)
        if y is not None and point.low is not None and point.high is not None:
            low, high = chart.y.number(point.low), chart.y.number(point.high)
            axes.errorbar(
                [x], [y], [[y - low], [high - y]], fmt="none", ecolor=colour, elinewidth=1.3, capsize=3, zorder=3
            )


def _mark(axes: "Axes", chart: Chart, point: Point, tone: int, mark: str, colour: str, palette: Palette) -> None:
    y = height(chart.y, point)
    if y is None or point.form is Form.RANGE:
        return
    bound = {Form.AT_LEAST: "^", Form.AT_MOST: "v"}.get(point.form)
    (drawn,) = axes.plot(
        [place(chart, point)], [y], ls="none", marker=bound or mark, ms=8 if bound else 5.5, mec=colour, mew=1.3,
        mfc=palette.surface if point.is_hollow else colour, zorder=3.5,
    )  # fmt: skip
    drawn.set_gid(f"point-{tone}-{point.place:g}")


def _bars(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    from matplotlib.patches import Patch

    width = GROUP / max(len(chart.series), 1)
    for number, series in enumerate(chart.series):
        colour = colour_of(palette, series.tone)
        xs = [one.place - GROUP / 2 + width * (number + 0.5) for one in series.points]
        for x, point in zip(xs, series.points, strict=True):
            _bar(axes, chart, point, series.tone, x, width * 0.92, colour, palette)
        _errors(axes, chart, series.points, xs, palette.ink)
    if chart.kind is Kind.PAIRED:
        _notes(axes, chart, palette)
    return [(Patch(color=colour_of(palette, one.tone)), name_of(one)) for one in chart.series]


def _bar(
    axes: "Axes", chart: Chart, point: Point, tone: int, x: float, width: float, colour: str, palette: Palette
) -> None:
    y = height(chart.y, point)
    if y is None:
        axes.text(x, 0.01, f" {point.reason}", rotation=90, va="bottom", ha="center", fontsize=7, color=palette.ink_2,
                  style="italic", transform=axes.get_xaxis_transform())  # fmt: skip
    elif point.form is not Form.RANGE:
        is_bound = point.form is not Form.VALUE
        face = palette.surface if point.is_hollow or is_bound else colour
        (bar,) = axes.bar(
            [x], [y], width, facecolor=face, edgecolor=colour, lw=1.2, zorder=2, hatch="//" if is_bound else ""
        )
        bar.set_gid(f"point-{tone}-{point.place:g}")


def _notes(axes: "Axes", chart: Chart, palette: Palette) -> None:
    """A pair's ratio above the higher of its bars."""
    for points in zip(*(series.points for series in chart.series), strict=True):
        tops = [top for one in points if (top := _top(chart.y, one)) is not None]
        note = next((one.note for one in points if one.note), "")
        if tops and note:
            axes.annotate(note, (points[0].place, max(tops)), (0, 3), textcoords="offset points", ha="center", va="bottom",
                          fontsize=8, color=palette.ink)  # fmt: skip


def _top(axis: Axis, point: Point) -> float | None:
    at = height(axis, point)
    return at if at is None or point.high is None else max(at, axis.number(point.high))


def _boxes(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    from matplotlib.patches import Patch

    width = GROUP / max(len(chart.series), 1)
    for number, series in enumerate(chart.series):
        colour = colour_of(palette, series.tone)
        for point in series.points:
            x = point.place - GROUP / 2 + width * (number + 0.5)
            _box(axes, chart.y, point, x, width * 0.8, colour, palette)
    return [
        (Patch(facecolor="none", edgecolor=colour_of(palette, one.tone), lw=1.5), name_of(one)) for one in chart.series
    ]


def _box(axes: "Axes", y: Axis, point: Point, x: float, width: float, colour: str, palette: Palette) -> None:
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
        [x] * len(dots), [y.number(one) for one in dots], ls="none", marker="o", ms=4, mec=colour, mfc=face, zorder=3
    )


def _bounds(axes: "Axes", y: Axis, point: Point, x: float, colour: str) -> None:
    if point.form is Form.RANGE:
        low, high = y.number(point.low or 0.0), y.number(point.high or 0.0)
        axes.errorbar([x], [low], [[0.0], [high - low]], fmt="none", ecolor=colour, capsize=4, ls=":")
    elif (at := height(y, point)) is not None:
        axes.plot([x], [at], marker="^" if point.form is Form.AT_LEAST else "v", ms=7, color=colour)


def _tiles(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    from matplotlib.patches import Rectangle

    for tile in chart.tiles:
        is_hole = tile.value is None
        axes.add_patch(
            Rectangle(
                (tile.column - 0.48, tile.row - 0.48), 0.96, 0.96, facecolor="none" if is_hole else tile.fill,
                edgecolor=palette.line_strong if is_hole else "none", hatch="///" if is_hole else None, lw=0.6,
                gid=f"tile-{tile.column}-{tile.row}", alpha=0.45 if is_hole else None,
            )
        )  # fmt: skip
        if len(chart.tiles) <= MOST_TEXTS:
            style: dict[str, Any] = (
                {
                    "style": "italic",
                    "color": palette.ink,
                    "fontsize": 7,
                    "bbox": {"fc": palette.surface, "ec": "none", "pad": 1.5},
                }
                if is_hole
                else {"color": tile.ink}
            )
            axes.text(tile.column, tile.row, cut(tile.text, 14), ha="center", va="center", **{"fontsize": 8, **style})
    return []
