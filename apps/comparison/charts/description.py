"""Descriptions and captions of charts, made from their data, for screen readers and alt texts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from apps.comparison.cells import Comparison, Withheld
from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint, ChartSeries, ValueForm
from apps.comparison.charts.kinds import KINDS
from apps.comparison.labels import label_of
from apps.core.units import significant


def described(chart: Chart, comparison: Comparison) -> Chart:
    parts = [_what(chart, comparison), _ends(chart), _odd(chart)]
    return replace(chart, description=" ".join(filter(None, parts)))


def _what(chart: Chart, comparison: Comparison) -> str:
    names = list(comparison.series)
    shown = len(chart.series) or len(names)
    of_all = f"{shown} of {len(names)}" if shown < len(names) else str(len(names))
    count = f"{of_all} series by {', '.join(label_of(name) for name in comparison.question.series)}"
    unit = f", in {chart.value_axis.unit.label}" if chart.value_axis.unit.label else ""
    scale = "; logarithmic scale" if chart.value_axis.is_log else ""
    places = f"{len(comparison.xs)} place{'' if len(comparison.xs) == 1 else 's'}"
    return f"{KINDS[chart.kind].title}: {chart.title}{unit}, {count}, {places}{scale}."


def _ends(chart: Chart) -> str:
    figures = [(value, where) for value, where in _figures(chart)]
    if not figures:
        return "Nothing has a value."
    axis = chart.value_axis
    least, most = min(figures), max(figures)
    if least[0] == most[0]:
        return (
            f"All are {_text(axis, most[0])}."
            if len(figures) > 1
            else f"Its value is {_text(axis, most[0])}, {most[1]}."
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
    holes = sum(tile.value is None for tile in chart.tiles) + sum(point.form is ValueForm.MISSING for point in points)
    parts = [
        (holes, "without a value"),
        (
            sum(point.form in (ValueForm.RANGE, ValueForm.AT_LEAST, ValueForm.AT_MOST) for point in points),
            "with bounds only",
        ),
        (sum(point.is_hollow for point in points), "hollow: may be memory, not disk"),
    ]
    counted = [f"{count} {words}" for count, words in parts if count]
    return f"Of the cells {', '.join(counted)}." if counted else ""


def caption_of(kind: ChartKind, series: Sequence[ChartSeries], y: Axis) -> str:
    """Return a caption that explains the marks that the chart has."""
    points = [point for drawn in series for point in drawn.points]
    explain = KINDS[kind].caption
    texts = explain(points) if explain else "Bars at the marks: 95 % interval." if _has_interval(points) else ""
    hollow = "Hollow: may be memory, not disk." if any(point.is_hollow for point in points) else ""
    below = sum(point.value is not None and point.value <= 0 for point in points) if y.is_log else 0
    zeros = (
        f"{below} value{'s' if below > 1 else ''} of 0 or less have no place on a logarithmic axis." if below else ""
    )
    return " ".join(filter(None, [texts, hollow, zeros]))


def fairness_of(comparison: Comparison, kind: ChartKind) -> Iterator[str]:
    """Yield sentences about series that are not drawn, and about cells that have no interval or ratio because they are unlike."""
    drawn = comparison.drawn
    if len(drawn) < len(comparison.series):
        yield f"{len(drawn)} of {len(comparison.series)} series are drawn."
    cells = [cell for cell in comparison.cells if cell.series in drawn]
    if any(cell.unlike > 1 for cell in cells):
        of_box = "A box of unlike configurations shows how they differ, and no spread of repetitions."
        yield of_box if kind is ChartKind.BOX else "A mark of unlike configurations has no interval."
    if kind is ChartKind.PAIRED and any(cell.withheld is Withheld.CONFOUNDED for cell in cells):
        yield "A ratio with * is of cells that differ in more than what is compared."


def _has_interval(points: Sequence[ChartPoint]) -> bool:
    return any(point.form is ValueForm.VALUE and point.low is not None for point in points)
