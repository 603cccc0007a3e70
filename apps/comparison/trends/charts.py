"""What the charts draw, as plain data: the same numbers as the tables and the pictures."""

from collections.abc import Sequence
from typing import Any

from apps.comparison.drawing.of_trend import DAY, between, remarks
from apps.comparison.trends.models import TrendMark, Watch
from apps.comparison.trends.shape import Measured, Trend
from apps.comparison.trends.words import signed
from apps.lib import units
from apps.lib.reader_base import base

MOST_ROWS = 100


def chart_data(found: Trend, watch: Watch) -> dict[str, Any]:
    """Times in ms since 1970. `steps` are the segments' medians, as pairs of ends."""
    unit = units.unit_for([one.value for one in found.points], watch.metric.unit, base())
    times = [one.at.timestamp() * 1000 for one in found.points]
    said = remarks(found)
    return {
        "unit": unit.label,
        "y": f"{watch.metric.label} ({unit.label})" if unit.label else watch.metric.label,
        "points": [
            {
                "x": times[place], "y": one.value / unit.factor, "run": one.run, "outlier": place in found.outliers,
                "remark": said[place],
            }
            for place, one in enumerate(found.points)
        ],
        "steps": [
            [{"x": times[at], "y": y / unit.factor} for at, y in ((one.start, one.first), (one.end - 1, one.last))]
            for one in found.segments
        ],
        "changes": [
            {"x": _ms(found, one.place), "text": f"{signed(one.size)}", "direction": one.direction}
            for one in found.changes
        ],
        "marks": [{"x": _ms(found, place), "text": mark.text} for place, mark in found.marks],
    }  # fmt: skip


def _ms(found: Trend, place: int) -> float:
    return between(found.points, place) * DAY * 1000


def mark_rows(marks: Sequence[TrendMark], found: Trend) -> list[dict[str, Any]]:
    """Each mark with the first run after it, for the table."""
    places = {mark.id: place for place, mark in found.marks}
    rows = []
    for one in marks:
        place = places.get(one.pk, len(found.points))
        rows.append({"mark": one, "run": found.points[place].run if place < len(found.points) else None})
    return rows


def run_rows(found: Trend) -> list[tuple[Measured, str]]:
    """The newest runs with a remark, newest first."""
    return list(zip(found.points, remarks(found), strict=True))[: -MOST_ROWS - 1 : -1]
