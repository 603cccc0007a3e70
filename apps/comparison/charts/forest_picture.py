"""A forest plot as SVG or PNG, drawn by Matplotlib with the rows that the page has."""

import textwrap
from typing import TYPE_CHECKING

from apps.comparison.charts.palette import THEMES, Palette
from apps.comparison.charts.picture import DOTS, render_figure, set_up
from apps.comparison.charts.picture_frame import LETTER
from apps.comparison.like_for_like.forest import Forest, ForestRow, tick_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 26  # pixels
LINE = 15  # of a caveat below the axis
AROUND = 110  # above and below the rows
LEAST_HEIGHT, MOST_HEIGHT = 240, 1600


def height_of(plot: Forest) -> int:
    """Return the height in pixels that the rows need."""
    rows = AROUND + ROW * len(plot.rows) + LINE * len(plot.caveats)
    return min(MOST_HEIGHT, max(LEAST_HEIGHT, rows))


def render_forest(
    plot: Forest, title: str, description: str, form: str, *, width: int, height: int, theme: str
) -> bytes:
    """Return the plot in one of the picture's forms.

    Raises:
        ValueError: There is no such form, size or theme.
    """
    told = " ".join([description, *(f"{line}." for line in plot.caveats)])
    return render_figure(
        lambda: _figure(plot, title, (width, height), theme), form, (width, height), theme, (title, told)
    )


def _figure(plot: Forest, title: str, size: tuple[int, int], theme: str) -> "Figure":
    set_up()
    from matplotlib.figure import Figure

    palette = THEMES[theme]
    figure = Figure(figsize=(size[0] / DOTS, size[1] / DOTS), dpi=DOTS, layout="constrained", facecolor=palette.surface)
    axes = figure.add_subplot(facecolor=palette.surface)
    for place, row in enumerate(plot.rows):
        _draw(axes, len(plot.rows) - 1 - place, row, palette)
    axes.axvline(1.0, color=palette.line_strong, linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(plot.low, plot.high)
    axes.set_ylim(-0.7, len(plot.rows) - 0.3)
    axes.set_xticks(plot.ticks, [tick_text(tick) for tick in plot.ticks])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(plot.rows)), [_label(row) for row in reversed(plot.rows)])
    axes.tick_params(colors=palette.ink_2, length=0)
    axes.grid(axis="x", color=palette.line, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(title, color=palette.ink, fontsize=10, loc="left")
    if plot.caveats:
        letters = int(size[0] / LETTER)
        lines = [textwrap.fill(line, letters, subsequent_indent="   ") for line in plot.caveats]
        figure.supxlabel("\n".join(lines), x=0.01, ha="left", color=palette.ink_2, fontsize=8)
    return figure


def _label(row: ForestRow) -> str:
    return f"{row.label} [{row.marks}]" if row.marks else row.label


def _draw(axes: "Axes", y: int, row: ForestRow, palette: Palette) -> None:
    if row.is_combined and row.low and row.high:
        axes.fill(
            [row.low, row.ratio, row.high, row.ratio], [y, y + 0.28, y, y - 0.28], color=palette.series[1], zorder=3
        )
        return
    colour = palette.series[0]
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [y, y], color=colour, linewidth=1.6, zorder=2)
    hollow = palette.surface if row.low is None else colour
    axes.plot([row.ratio], [y], marker="s", markersize=5.5, color=colour, markerfacecolor=hollow, zorder=3)
