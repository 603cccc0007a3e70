"""A chart in a sentence or two, made from its data: for screen readers, alt texts and captions."""

from collections.abc import Sequence
from dataclasses import replace

from apps.comparison.cells import Comparison
from apps.comparison.drawing.chart import Axis, Chart, Form, Kind, Point, Series
from apps.comparison.words import label_of
from apps.lib.units import significant

WHAT = {
    Kind.LINE: "Line chart",
    Kind.BAR: "Bar chart",
    Kind.PAIRED: "Paired bars",
    Kind.BOX: "Box plot",
    Kind.HEAT: "Heat map",
    Kind.MATRIX: "Matrix",
    Kind.HISTOGRAM: "Histogram",
    Kind.CURVE: "Percentile curve",
    Kind.TIME: "Chart over time",
    Kind.TREND: "Trend",
}
ENOUGH_FOR_BOX = 5  # with fewer values quartiles say little, and the values themselves are drawn


def described(chart: Chart, comparison: Comparison) -> Chart:
    parts = [_what(chart, comparison), _ends(chart), _odd(chart)]
    return replace(chart, description=" ".join(filter(None, parts)))


def _what(chart: Chart, comparison: Comparison) -> str:
    names = list(comparison.series)
    count = f"{len(names)} series by {', '.join(label_of(name) for name in comparison.question.series)}"
    unit = f", in {chart.value_axis.unit.label}" if chart.value_axis.unit.label else ""
    scale = "; logarithmic scale" if chart.value_axis.is_log else ""
    places = f"{len(comparison.xs)} place{'' if len(comparison.xs) == 1 else 's'}"
    return f"{WHAT[chart.kind]}: {chart.title}{unit}, {count}, {places}{scale}."


def _ends(chart: Chart) -> str:
    found = [(value, where) for value, where in _figures(chart)]
    if not found:
        return "Nothing has a value."
    axis = chart.value_axis
    least, most = min(found), max(found)
    if least[0] == most[0]:
        return (
            f"All are {_text(axis, most[0])}." if len(found) > 1 else f"Its value is {_text(axis, most[0])}, {most[1]}."
        )
    return f"Highest {_text(axis, most[0])}, {most[1]}; lowest {_text(axis, least[0])}, {least[1]}."


def _figures(chart: Chart) -> list[tuple[float, str]]:
    tiles = [
        (tile.value, f"{chart.y.labels[tile.row]} at {chart.x.labels[tile.column]}")
        for tile in chart.tiles
        if tile.value is not None
    ]
    points = [(p.value, f"{s.label} at {p.label}") for s, p in chart.points if p.value is not None]
    return [*tiles, *points]


def _text(axis: Axis, value: float) -> str:
    return f"{significant(axis.number(value))} {axis.unit.label}".strip()


def _odd(chart: Chart) -> str:
    points = [point for _, point in chart.points]
    holes = sum(tile.value is None for tile in chart.tiles) + sum(one.form is Form.MISSING for one in points)
    said = [
        (holes, "without a value"),
        (sum(one.form in (Form.RANGE, Form.AT_LEAST, Form.AT_MOST) for one in points), "with bounds only"),
        (sum(one.is_hollow for one in points), "hollow: may be memory, not disk"),
    ]
    counted = [f"{count} {words}" for count, words in said if count]
    return f"Of the cells {', '.join(counted)}." if counted else ""


def caption_of(kind: Kind, series: Sequence[Series], y: Axis) -> str:
    """What marks mean, as far as they are there."""
    points = [point for one in series for point in one.points]
    said = {
        Kind.BOX: "Box: quartiles and median; whiskers: 1.5 times its height at most; dots: values beyond."
        + (f" With fewer than {ENOUGH_FOR_BOX} values all are dots." if _has_few(points) else ""),
        Kind.PAIRED: "The number above a pair is the ratio to the baseline.",
    }.get(kind, "Bars at the marks: 95 % interval." if _has_interval(points) else "")
    hollow = "Hollow: may be memory, not disk." if any(one.is_hollow for one in points) else ""
    below = sum(one.value is not None and one.value <= 0 for one in points) if y.is_log else 0
    zeros = (
        f"{below} value{'s' if below > 1 else ''} of 0 or less have no place on a logarithmic axis." if below else ""
    )
    return " ".join(filter(None, [said, hollow, zeros]))


def _has_interval(points: Sequence[Point]) -> bool:
    return any(one.form is Form.VALUE and one.low is not None for one in points)


def _has_few(points: Sequence[Point]) -> bool:
    return any(0 < len(one.values) < ENOUGH_FOR_BOX for one in points)
