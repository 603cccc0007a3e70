"""The frame of a picture: axes, ticks, reference lines, title and legend."""

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ReferenceLine
from apps.comparison.charts.palette import RAMP, Palette
from apps.core.units import human, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_LABEL = 30  # letters of a label at an axis
LETTER = 6.2  # pixels, about
Handle = tuple[Any, str]


def frame(figure: "Figure", axes: "Axes", chart: Chart, palette: Palette, legend: Sequence[Handle]) -> None:
    pixels = figure.get_figwidth() * figure.dpi
    _along(axes, chart, pixels)
    _upwards(axes, chart)
    _references(axes, chart, palette)
    _colours(axes, palette, is_tiled=bool(chart.tiles))
    _words(figure, axes, chart, palette, pixels)
    if not chart.points and not chart.tiles:
        axes.text(0.5, 0.5, "Nothing was measured.", color=palette.ink_2, ha="center", transform=axes.transAxes)
    if chart.tiles:
        _ramp(figure, axes, chart, palette)
    elif legend:
        _legend(figure, chart, legend, palette, pixels)


def cut(text: str, most: int = LONGEST_LABEL) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _along(axes: "Axes", chart: Chart, pixels: float) -> None:
    x = chart.x
    if x.scale == "even":
        _even(axes.xaxis, [cut(label) for label in x.labels], pixels * 0.85 / max(len(x.labels), 1))
        axes.set_xlim(-0.5, max(len(x.labels), 1) - 0.5)
    elif x.scale == "nines":
        axes.set_xticks(range(len(x.labels)), x.labels)
        axes.set_xlim(0, len(x.labels) - 1)
    elif x.scale == "time":
        _dates(axes)
    else:
        _true(axes, "x", x)
        if x.places:
            _at_places(axes, x, pixels * 0.85)


def _at_places(axes: "Axes", x: Axis, pixels: float) -> None:
    """Set the ends of a true axis, and ticks at the places of it that have room for their label."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    low, high = (x.number(end) for end in (x.low or 0.0, x.high or 1.0))
    axes.set_xlim(low, high)
    at = (x.apart if place is None else place for place in x.places)
    marks = [(x.number(place), cut(label)) for place, label in zip(at, x.labels, strict=True) if place is not None]
    if not x.is_log:  # numbers in equal steps, and a name for what stands apart
        if x.apart is None:
            return
        marks = [(at, tick(at, x)) for at in axes.get_xticks() if low <= at <= x.number(_most(x))] + marks[-1:]
    shown = _with_room(marks, lambda at: pixels * _share(at, low, high, is_log=x.is_log))
    axes.xaxis.set_major_locator(FixedLocator([at for at, _ in shown]))
    axes.xaxis.set_major_formatter(FixedFormatter([label for _, label in shown]))
    axes.xaxis.set_minor_locator(NullLocator())


def _most(x: Axis) -> float:
    return max(place for place in x.places if place is not None)


def _share(at: float, low: float, high: float, *, is_log: bool) -> float:
    return math.log(at / low) / math.log(high / low) if is_log else (at - low) / (high - low)


def _with_room(marks: Sequence[tuple[float, str]], pixel: Callable[[float], float]) -> list[tuple[float, str]]:
    """Return the marks whose labels do not overlap: the last, the first, and of the others those with room, from the left."""
    shown: list[tuple[float, str]] = []
    for at, label in [*marks[-1:], *marks[:-1]]:
        half = len(label) * LETTER / 2 + 4
        if all(abs(pixel(at) - pixel(other)) > half + len(name) * LETTER / 2 for other, name in shown):
            shown.append((at, label))
    return sorted(shown)


def _dates(axes: "Axes") -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    first, last = axes.get_xlim()
    if last - first < 0.5:  # one run, or some of one hour: half a day on either side
        axes.set_xlim(first - 0.5, last + 0.5)
    locator = AutoDateLocator(maxticks=9)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _even(axis: Any, labels: Sequence[str], slot: float) -> None:
    """Set the labels of an even axis, turned where they would overlap."""
    axis.set_ticks(range(len(labels)), labels)
    if axis.axis_name == "x" and labels and max(map(len, labels)) * LETTER > slot:
        axis.set_tick_params(rotation=35)
        for label in axis.get_ticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _upwards(axes: "Axes", chart: Chart) -> None:
    y = chart.y
    if y.scale == "even":
        _even(axes.yaxis, [cut(label) for label in y.labels], 0)
        axes.set_ylim(-0.5, max(len(y.labels), 1) - 0.5)
        if chart.kind is ChartKind.MATRIX:
            axes.invert_yaxis()
        return
    _true(axes, "y", y)
    if not y.is_log:
        axes.margins(y=0.07)
        if chart.kind is not ChartKind.TREND:  # there a tenth more or less is what people look for
            axes.set_ylim(bottom=0 if _least(chart) >= 0 else None)
    limits = [None if bound is None else y.number(bound) for bound in (y.low, y.high)]
    if limits != [None, None]:
        axes.set_ylim(*limits)


def _least(chart: Chart) -> float:
    values = (value for _, p in chart.points for value in (p.value, p.low, *p.values) if value is not None)
    return min(values, default=0.0)


def _true(axes: "Axes", which: str, axis: Axis) -> None:
    """Set numbers along a true axis; on a logarithmic one 1, 2 and 5 and their multiples of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log" if axis.is_log else "linear")
    drawn = getattr(axes, f"{which}axis")
    if axis.is_log:
        limits = zip((axis.low, axis.high), getattr(axes, f"get_{which}lim")(), strict=True)
        low, high = (drawn_at if value is None else axis.number(value) for value, drawn_at in limits)
        decades = math.log10(high / low) if low > 0 else 9
        drawn.set_major_locator(LogLocator(10, subs=(1, 2, 5) if decades < 3 else (1,)))
        drawn.set_minor_formatter(NullFormatter())
    drawn.set_major_formatter(FuncFormatter(lambda value, _: tick(value, axis)))


def tick(value: float, axis: Axis) -> str:
    """Return a tick's text, such as `0.5`, `200`, or `12 µs` where the axis has no unit of its own."""
    if axis.base_unit and not axis.unit.label:
        return human(value, axis.base_unit)
    return f"{value:.4g}" if abs(value) < 1000 else significant(value)


def _references(axes: "Axes", chart: Chart, palette: Palette) -> None:
    left, right = axes.get_xlim()
    for region in chart.regions:
        low = left if region.low is None else _at(chart, region.low)
        high = right if region.high is None else _at(chart, region.high)
        is_apart = region.what == "apart"  # a place of the axis, and no warning
        colour, alpha = (palette.line_strong, 0.14) if is_apart else (palette.warn, 0.08)
        axes.axvspan(low, high, color=colour, alpha=alpha, lw=0, zorder=0, gid=f"region-{region.what}")
    axes.set_xlim(left, right)
    for number, line in enumerate(chart.lines):
        colour = palette.warn if line.tone is None else palette.series[line.tone % len(palette.series)]
        style: dict[str, Any] = {"color": colour, "lw": 1.2, "ls": (0, (6, 3)), "zorder": 1.5}
        (_upright if line.axis == "x" else _level)(axes, chart, line, number, style, palette)


def _at(chart: Chart, place: float) -> float:
    return chart.x.number(place) if chart.x.scale in ("linear", "log") else place


def _upright(
    axes: "Axes", chart: Chart, line: ReferenceLine, number: int, style: dict[str, Any], palette: Palette
) -> None:
    """Draw an upright line; labels alternate in height so that lines side by side do not overlap."""
    at = _at(chart, line.at)
    drawn = axes.axvline(at, **style, gid=f"line-{line.what}-{number}")
    is_right = axes.transAxes.inverted().transform(drawn.get_transform().transform((at, 0)))[0] > 0.75
    axes.text(at, 0.985 - 0.05 * (number % 4), f" {line.label} ", color=palette.ink_2, fontsize=7.5, va="top",
              ha="right" if is_right else "left", transform=axes.get_xaxis_transform(), zorder=4)  # fmt: skip


def _level(
    axes: "Axes", chart: Chart, line: ReferenceLine, number: int, style: dict[str, Any], palette: Palette
) -> None:
    """Draw a level line with its label at the right and at the left in turn, so that labels do not overlap."""
    at, is_right = chart.y.number(line.at), number % 2 == 0
    axes.axhline(at, **style, gid=f"line-{line.what}-{number}")
    axes.text(0.995 if is_right else 0.005, at, cut(line.label, 60), color=palette.ink_2, fontsize=7.5, va="bottom",
              ha="right" if is_right else "left", transform=axes.get_yaxis_transform(), zorder=4)  # fmt: skip


def _colours(axes: "Axes", palette: Palette, *, is_tiled: bool) -> None:
    axes.set_facecolor(palette.surface)
    axes.tick_params(colors=palette.ink_2, which="both", length=0 if is_tiled else 3)
    for spine in axes.spines.values():
        spine.set_color(palette.line_strong)
        spine.set_visible(not is_tiled)
    if is_tiled:
        axes.grid(visible=False)
        return
    axes.grid(color=palette.line, lw=0.8)
    axes.set_axisbelow(True)


def _words(figure: "Figure", axes: "Axes", chart: Chart, palette: Palette, pixels: float) -> None:
    letters = int(pixels / LETTER)
    title = textwrap.fill(cut(chart.title, 3 * letters), max(20, int(letters * 0.8)))
    figure.suptitle(title, x=0.01, ha="left", color=palette.ink, fontsize=11.5, fontweight="bold")
    told = [textwrap.fill(chart.caption, letters)] if chart.caption else []
    if chart.caveats:
        told.append(textwrap.fill(f"Caveats: {'; '.join(chart.caveats)}", letters))
    if told:
        axes.set_title("\n".join(told), loc="left", fontsize=8, color=palette.ink_2)
    axes.set_xlabel(cut(chart.x.title, letters), color=palette.ink_2)
    axes.set_ylabel(cut(chart.y.title, 60), color=palette.ink_2)


def _legend(figure: "Figure", chart: Chart, handles: Sequence[Handle], palette: Palette, pixels: float) -> None:
    """Draw the legend below the axes, with one handle for each named series."""
    from matplotlib.lines import Line2D

    letters = int(pixels / LETTER) - 8
    rest = [(Line2D([], [], ls="none"), chart.unnamed)] if chart.unnamed else []
    legend = [*handles[: chart.named], *rest]
    names = [cut(name, letters) for _, name in legend]
    columns = max(1, min(len(names), letters // (max(map(len, names)) + 6)))
    drawn = figure.legend(
        [handle for handle, _ in legend], names, loc="outside lower left", ncols=columns, frameon=False, fontsize=8.5,
        labelcolor=palette.ink,
    )  # fmt: skip
    drawn.set_gid("legend")


def _ramp(figure: "Figure", axes: "Axes", chart: Chart, palette: Palette) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    z = chart.value_axis
    values = [z.number(tile.value) for tile in chart.tiles if tile.value is not None]
    if len(set(values)) < 2:
        return
    norm = (LogNorm if z.is_log and min(values) > 0 else Normalize)(min(values), max(values))
    bar = figure.colorbar(
        ScalarMappable(norm, LinearSegmentedColormap.from_list("spindle", list(RAMP))), ax=axes, pad=0.02
    )
    bar.set_label(z.title, color=palette.ink_2)
    if z.is_log:
        bar.ax.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value, z)))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.tick_params(colors=palette.ink_2, which="both")
    bar.outline.set_visible(False)
