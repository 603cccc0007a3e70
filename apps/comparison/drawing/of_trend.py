"""A watch's runs over time as a chart: runs as marks, the level of each segment as a line, changes and marks across."""

from collections.abc import Sequence
from datetime import UTC, datetime

from apps.comparison.drawing.chart import Axis, Chart, Kind, Line, Point, Series
from apps.comparison.drawing.description import WHAT
from apps.comparison.trends.shape import Measured, Trend
from apps.comparison.trends.words import signed
from apps.lib.units import human, unit_for
from apps.runs.metrics import Metric

DAY = 86_400.0
RUNS, LEVELS = "runs", "median of each level"
BEGUN = {"change": "first of a new level", "mark": "first after a mark"}
ODD = "outlier"


def chart_of_trend(found: Trend, metric: Metric, title: str, base: int = 1000) -> Chart:
    """Places along x are days since 1970 (UTC), values are in base units. Hollow marks are outliers."""
    unit = unit_for([one.value for one in found.points], metric.unit, base)
    y = Axis(f"{metric.label} ({unit.label})" if unit.label else metric.label, unit=unit, base_unit=metric.unit)
    series = (Series(RUNS, tuple(_runs(found))), Series(LEVELS, tuple(_levels(found)), tone=1))
    description = f"{WHAT[Kind.TREND]}: {title}. {_said(found, metric, base)}"
    caption = "Marks: runs; line: the median of each level." + (" Hollow: outliers." if found.outliers else "")
    return Chart(Kind.TREND, title, Axis("", "time"), y, series, description, caption, tuple(_across(found)))


def remarks(found: Trend) -> list[str]:
    """Of each run, in the order of time: `outlier`, `first of a new level, −11.5 % worse`."""
    begun = {one.start: BEGUN.get(one.began_by, "") for one in found.segments[1:]}
    begun |= {one.place: f"{BEGUN['change']}, {signed(one.size)} {one.direction}" for one in found.changes}
    return [
        ", ".join(filter(None, [ODD if place in found.outliers else "", begun.get(place, "")]))
        for place in range(len(found.points))
    ]


def _runs(found: Trend) -> list[Point]:
    return [
        Point(day_of(one.at), _label(one), one.value, n=1, is_hollow=place in found.outliers, reason=remark)
        for place, (one, remark) in enumerate(zip(found.points, remarks(found), strict=True))
    ]


def _levels(found: Trend) -> list[Point]:
    """Two for each segment: its ends."""
    return [
        Point(day_of(found.points[place].at), _label(found.points[place]), level, n=one.n)
        for one in found.segments
        for place, level in ((one.start, one.first), (one.end - 1, one.last))
    ]


def _label(one: Measured) -> str:
    return f"{one.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC, run {one.run}"


def _across(found: Trend) -> list[Line]:
    changes = [
        Line("x", between(found.points, one.place), f"{signed(one.size)} {one.direction}", "change")
        for one in found.changes
    ]
    return changes + [Line("x", between(found.points, place), mark.text, "mark") for place, mark in found.marks]


def between(points: Sequence[Measured], place: int) -> float:
    """Half way between the run before and this one, in days."""
    days = [day_of(points[min(max(at, 0), len(points) - 1)].at) for at in (place - 1, place)]
    return sum(days) / 2


def day_of(at: datetime) -> float:
    return at.timestamp() / DAY


def _said(found: Trend, metric: Metric, base: int) -> str:
    if not found.points:
        return "Nothing was measured."
    runs = len(found.points)
    told = [f"{runs} run{'s' * (runs > 1)}, now at {human(found.segments[-1].last, metric.unit, base)}"]
    told += [f"{signed(one.size)} at run {one.run}, {one.direction}" for one in found.changes]
    told += [f"{signed(found.drift.total)} of drift"] if found.drift else []
    return f"{'; '.join(told)}."
