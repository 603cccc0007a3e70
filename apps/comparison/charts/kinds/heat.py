"""A heat map: sizes or counts on both axes, the value as a colour."""

from typing import TYPE_CHECKING, Any

from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle, cut
from apps.comparison.readings import POINT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TEXTS = 400  # tiles that still have room for their value


def why_not(comparison: Comparison) -> str:
    """Return what a heat map would need, or an empty text."""
    by = comparison.question.series
    if comparison.x in POINT and len(by) == 1 and by[0] in POINT and by[0] != comparison.x:
        return ""
    return "a heat map needs sizes (or counts) on both axes, such as file size along and series by block size"


def draw(axes: "Axes", chart: Chart, palette: Palette) -> list[Handle]:
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


KIND = DrawnKind(ChartKind.HEAT, "Heat map", draw, "Heat map", why_not)
