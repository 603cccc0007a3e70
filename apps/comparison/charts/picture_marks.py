"""The marks of a picture: lines, bars, boxes, tiles, histograms and curves."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint, ChartSeries, ValueForm
from apps.comparison.charts.description import ENOUGH_FOR_BOX
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VAGUE: Any = (0, (2, 5))
GROUP = 0.8  # of a place that bars or boxes of all series fill together
MOST_TEXTS = 400  # tiles that still have room for their value


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    """Draw the marks of a chart and return the legend's handles."""
    how: dict[ChartKind, Callable[[Axes, Chart, Palette], list[Handle]]] = {
        ChartKind.LINE: _lines,
        ChartKind.BAR: _bars,
        ChartKind.PAIRED: _bars,
        ChartKind.BOX: _boxes,
        ChartKind.HEAT: _tiles,
        ChartKind.MATRIX: _tiles,
        ChartKind.HISTOGRAM: steps,
        ChartKind.CURVE: curves,
        ChartKind.TIME: bands,
        ChartKind.TREND: trend,
    }
    return how[chart.kind](axes, chart, palette)


def _lines(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        colour, mark = colour_of(palette, series.tone), mark_of(series.tone)
        width = 2.6 if series.is_baseline else 1.6
        _connect(axes, chart, series, {"color": colour, "lw": width, "ls": dash_of(series.tone)})
        _errors(axes, chart, series.points, [place(chart, mark) for mark in series.points], colour)
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


def _errors(axes: "Axes", chart: Chart, points: Sequence[ChartPoint], xs: Sequence[float], colour: str) -> None:
    for x, point in zip(xs, points, strict=True):
        y = height(chart.y, point)
        if y is not None and point.low is not None and point.high is not None:
            low, high = chart.y.number(point.low), chart.y.number(point.high)
            axes.errorbar(
                [x], [y], [[y - low], [high - y]], fmt="none", ecolor=colour, elinewidth=1.3, capsize=3, zorder=3
            )


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


def _bars(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    width = GROUP / max(len(chart.series), 1)
    for number, series in enumerate(chart.series):
        colour = colour_of(palette, series.tone)
        xs = [point.place - GROUP / 2 + width * (number + 0.5) for point in series.points]
        for x, point in zip(xs, series.points, strict=True):
            _bar(axes, chart, point, series.tone, x, width * 0.92, colour, palette)
        _errors(axes, chart, series.points, xs, palette.ink)
        _feet(axes, xs, series, width, palette)
    if chart.kind is ChartKind.PAIRED:
        _notes(axes, chart, palette)
    return [_of_legend(palette, drawn, {"color": colour_of(palette, drawn.tone)}) for drawn in chart.series]


NARROWEST = 0.009  # of the axis: a mark on a narrower bar would cover its neighbours


def _feet(axes: "Axes", xs: Sequence[float], series: ChartSeries, width: float, palette: Palette) -> None:
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


def _of_legend(palette: Palette, series: ChartSeries, style: dict[str, Any]) -> Handle:
    """Return the legend's handle of bars or boxes: their face with their mark on it."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    mark = Line2D(
        [], [], ls="none", marker=mark_of(series.tone), ms=5, mew=1.1, mfc=palette.surface,
        mec=colour_of(palette, series.tone),
    )  # fmt: skip
    return (Patch(**style), mark), name_of(series)


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


def _boxes(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    width = GROUP / max(len(chart.series), 1)
    for number, series in enumerate(chart.series):
        colour = colour_of(palette, series.tone)
        xs = [point.place - GROUP / 2 + width * (number + 0.5) for point in series.points]
        for x, point in zip(xs, series.points, strict=True):
            _box(axes, chart.y, point, x, width * 0.8, colour, palette)
        _feet(axes, xs, series, width, palette)
    return [
        _of_legend(palette, drawn, {"facecolor": "none", "edgecolor": colour_of(palette, drawn.tone), "lw": 1.5})
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


def steps(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        colour = colour_of(palette, series.tone)
        xs = [place(chart, point) for point in series.points]
        ys = [height(chart.y, point) or 0.0 for point in series.points]
        axes.fill_between(xs, ys, step="mid", color=colour, alpha=0.35, lw=0)
        (line,) = axes.step(xs, ys, where="mid", color=colour, lw=1.4, ls=dash_of(series.tone))
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


def curves(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
    handles: list[Handle] = []
    for series in chart.series:
        there = [(place(chart, point), y) for point in series.points if (y := height(chart.y, point)) is not None]
        (line,) = axes.plot(
            [x for x, _ in there], [y for _, y in there], color=colour_of(palette, series.tone), lw=1.8,
            ls=dash_of(series.tone), marker=mark_of(series.tone), ms=3.5,
        )  # fmt: skip
        line.set_gid(f"series-{series.tone}")
        handles.append((line, name_of(series)))
    return handles


def bands(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
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


def trend(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
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
