"""What a kind of chart says of itself: see `apps/comparison/charts/kinds/`, one module for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import Chart, ChartKind, ChartPoint
from apps.comparison.charts.palette import Palette
from apps.comparison.charts.picture_frame import Handle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def nothing(comparison: Comparison) -> str:
    """Return what a kind needs that fits every comparison."""
    return ""


@dataclass(frozen=True)
class DrawnKind:
    """A kind of chart.

    Attributes:
        kind: Its name in addresses and in REST.
        title: What it is called in descriptions for screen readers.
        draw: Draws the marks of a picture, and returns the handles of its legend.
        label: Its name in Compare's list of chart types; empty where it is not offered there.
        why_not: Says what a comparison lacks for it, or returns an empty text.
        caption: Explains its marks; without it bars at marks are explained where there are some.
    """

    kind: ChartKind
    title: str
    draw: "Callable[[Axes, Chart, Palette], list[Handle]]"
    label: str = ""
    why_not: Callable[[Comparison], str] = nothing
    caption: Callable[[Sequence[ChartPoint]], str] | None = None
