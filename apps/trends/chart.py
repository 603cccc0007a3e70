"""The chart of a watch: runs as marks, the level of each segment as a line, changes and planned changes as upright lines."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint, ChartSeries, ReferenceLine
from apps.comparison.charts.kinds import KINDS
from apps.core import units
from apps.core.unit_base import base
from apps.core.units import human, unit_for
from apps.runs.metrics import Metric
from apps.trends.models import TrendMark, Watch
from apps.trends.types import MeasuredRun, Trend
from apps.trends.words import signed

DAY = 86_400.0
RUNS, LEVELS = "runs", "median of each level"
BEGUN = {"change": "first of a new level", "mark": "first after a mark"}
ODD = "outlier"


def chart_of_trend(trend: Trend, metric: Metric, title: str, base: int = 1000) -> Chart:
    """Build the chart of a trend: x in days since 1970 (UTC), y in base units, outliers as hollow marks."""
    unit = unit_for([point.value for point in trend.points], metric.unit, base)
    y = Axis(f"{metric.label} ({unit.label})" if unit.label else metric.label, unit=unit, base_unit=metric.unit)
    series = (ChartSeries(RUNS, tuple(_runs(trend))), ChartSeries(LEVELS, tuple(_levels(trend)), tone=1))
    description = f"{KINDS[ChartKind.TREND].title}: {title}. {_describe(trend, metric, base)}"
    caption = "Marks: runs; line: the median of each level." + (" Hollow: outliers." if trend.outliers else "")
    return Chart(ChartKind.TREND, title, Axis("", "time"), y, series, description, caption, tuple(_across(trend)))


def remarks(trend: Trend) -> list[str]:
    """Return a remark for each run, in order of time, such as `outlier` or `first of a new level, −11.5 % worse`."""
    begun = {segment.start: BEGUN.get(segment.began_by, "") for segment in trend.segments[1:]}
    begun |= {change.place: f"{BEGUN['change']}, {signed(change.size)} {change.direction}" for change in trend.changes}
    return [
        ", ".join(filter(None, [ODD if place in trend.outliers else "", begun.get(place, "")]))
        for place in range(len(trend.points))
    ]


def _runs(trend: Trend) -> list[ChartPoint]:
    return [
        ChartPoint(day_of(run.at), _label(run), run.value, n=1, is_hollow=place in trend.outliers, reason=remark)
        for place, (run, remark) in enumerate(zip(trend.points, remarks(trend), strict=True))
    ]


def _levels(trend: Trend) -> list[ChartPoint]:
    """Return two points for each segment: the level at its first and at its last run."""
    return [
        ChartPoint(day_of(trend.points[place].at), _label(trend.points[place]), level, n=segment.n)
        for segment in trend.segments
        for place, level in ((segment.start, segment.first), (segment.end - 1, segment.last))
    ]


def _label(run: MeasuredRun) -> str:
    return f"{units.moment(run.at)}, run {run.run}"


def _across(trend: Trend) -> list[ReferenceLine]:
    changes = [
        ReferenceLine("x", between(trend.points, change.place), f"{signed(change.size)} {change.direction}", "change")
        for change in trend.changes
    ]
    return changes + [
        ReferenceLine("x", between(trend.points, place), mark.text, "mark") for place, mark in trend.marks
    ]


def between(points: Sequence[MeasuredRun], place: int) -> float:
    """Return the time half way between the run before `place` and the run at `place`, in days since 1970."""
    days = [day_of(points[min(max(at, 0), len(points) - 1)].at) for at in (place - 1, place)]
    return sum(days) / 2


def day_of(at: datetime) -> float:
    return at.timestamp() / DAY


def _describe(trend: Trend, metric: Metric, base: int) -> str:
    if not trend.points:
        return "Nothing was measured."
    runs = len(trend.points)
    parts = [f"{runs} run{'s' * (runs > 1)}, now at {human(trend.segments[-1].last, metric.unit, base)}"]
    parts += [f"{signed(change.size)} at run {change.run}, {change.direction}" for change in trend.changes]
    parts += [f"{signed(trend.drift.total)} of drift"] if trend.drift else []
    return f"{'; '.join(parts)}."


MOST_ROWS = 100


def chart_data(trend: Trend, watch: Watch) -> dict[str, object]:
    """Return what the page's script draws: times in ms since 1970, values in the axis unit, `steps` as pairs of ends of a level."""
    unit = units.unit_for([point.value for point in trend.points], watch.metric.unit, base())
    times = [point.at.timestamp() * 1000 for point in trend.points]
    run_remarks = remarks(trend)
    return {
        "unit": unit.label,
        "y": f"{watch.metric.label} ({unit.label})" if unit.label else watch.metric.label,
        "points": [
            {
                "x": times[place], "y": point.value / unit.factor, "run": point.run, "outlier": place in trend.outliers,
                "remark": run_remarks[place],
            }
            for place, point in enumerate(trend.points)
        ],
        "steps": [
            [{"x": times[at], "y": y / unit.factor} for at, y in ((segment.start, segment.first), (segment.end - 1, segment.last))]
            for segment in trend.segments
        ],
        "changes": [
            {"x": _ms(trend, change.place), "text": f"{signed(change.size)}", "direction": change.direction}
            for change in trend.changes
        ],
        "marks": [{"x": _ms(trend, place), "text": mark.text} for place, mark in trend.marks],
    }  # fmt: skip


def _ms(trend: Trend, place: int) -> float:
    return between(trend.points, place) * DAY * 1000


def mark_rows(marks: Sequence[TrendMark], trend: Trend) -> list[dict[str, Any]]:
    """Return a table row for each mark, with the first run after it."""
    places = {mark.id: place for place, mark in trend.marks}
    rows = []
    for mark in marks:
        place = places.get(mark.pk, len(trend.points))
        rows.append({"mark": mark, "run": trend.points[place].run if place < len(trend.points) else None})
    return rows


def run_rows(trend: Trend) -> list[tuple[MeasuredRun, str]]:
    """Return the newest runs with their remarks, newest first."""
    return list(zip(trend.points, remarks(trend), strict=True))[: -MOST_ROWS - 1 : -1]
