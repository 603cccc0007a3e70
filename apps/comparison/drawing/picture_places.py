"""Where a mark stands in a picture, and the looks that tell series apart: colour, mark and dash."""

from typing import Any

from apps.comparison.drawing.chart import Axis, Chart, Form, Point, Series
from apps.comparison.drawing.palette import Palette

MARKS = ("o", "s", "^", "D", ">", "h", "<", "v")
DASHES: tuple[Any, ...] = ("-", (0, (6, 3)), (0, (2, 3)), (0, (8, 3, 2, 3)))


def name_of(series: Series) -> str:
    return f"{series.label} (baseline)" if series.is_baseline else series.label


def colour_of(palette: Palette, tone: int) -> str:
    return palette.series[tone % len(palette.series)]


def dash_of(tone: int) -> Any:
    return DASHES[tone // 8 % len(DASHES)]


def place(chart: Chart, point: Point) -> float:
    return chart.x.number(point.place) if chart.x.scale in ("linear", "log") else point.place


def height(axis: Axis, point: Point) -> float | None:
    """Where its mark stands: a range's in the middle of its bounds, without one being drawn."""
    if point.form is Form.MISSING:
        return None
    if point.form is Form.RANGE:
        return (axis.number(point.low or 0.0) + axis.number(point.high or 0.0)) / 2
    found = {Form.VALUE: point.value, Form.AT_LEAST: point.low, Form.AT_MOST: point.high}[point.form]
    return axis.number(found or 0.0)
