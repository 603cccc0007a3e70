"""Charts of one run: latency histogram and percentiles, and values over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint, ChartSeries
from apps.comparison.charts.description import WHAT
from apps.comparison.charts.time_series import Track, describe_tracks
from apps.core.units import ColumnUnit, human, plain, significant, unit_for
from apps.runs.metrics import Metric

if TYPE_CHECKING:
    from apps.runs.series.latencies import LatencySummary

PERCENT = ColumnUnit(0.01, "%")
NINES = ("0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %")
LATENCY = "latency"


def histogram(latencies: "Sequence[LatencySummary]", title: str) -> Chart:
    """Build the histogram of latencies: shares of an operation's completions in bars of equal width on a logarithmic axis."""
    series = tuple(ChartSeries(latency.label, tuple(_bars(latency)), tone) for tone, latency in enumerate(latencies))
    x = Axis(LATENCY, "log", base_unit="ns")
    y = Axis("completions (%)", "linear", PERCENT, base_unit="fraction")
    return Chart(
        ChartKind.HISTOGRAM,
        title,
        x,
        y,
        series,
        _describe(ChartKind.HISTOGRAM, title, [_middle(latency) for latency in latencies]),
    )


def _bars(latency: "LatencySummary") -> list[ChartPoint]:
    return [
        ChartPoint(float(ns), human(ns, "ns"), count / latency.count if latency.count else 0.0, n=count)
        for ns, count in latency.bars
    ]


def _middle(latency: "LatencySummary") -> str:
    return f"{latency.label}, {plain(latency.count)} completions, half within {human(latency.percentiles[0], 'ns')}"


def curve(latencies: "Sequence[LatencySummary]", title: str) -> Chart:
    """Build the latency by percentile on an axis of nines, so that the slow tail has room."""
    unit = unit_for([value for latency in latencies for _, _, value in latency.curve], "ns")
    series = tuple(
        ChartSeries(
            latency.label,
            tuple(
                ChartPoint(nines, f"{percent:g} %", float(value), n=latency.count)
                for percent, nines, value in latency.curve
                if value is not None
            ),
            tone,
        )
        for tone, latency in enumerate(latencies)
    )
    x = Axis("percent of completions", "nines", labels=NINES)
    y = Axis(f"{LATENCY} ({unit.label})", "log", unit, base_unit="ns")
    return Chart(
        ChartKind.CURVE,
        title,
        x,
        y,
        series,
        _describe(ChartKind.CURVE, title, [_tail(latency) for latency in latencies]),
    )


def _tail(latency: "LatencySummary") -> str:
    wanted = {percent: value for percent, _, value in latency.curve}
    return f"{latency.label}, 99 % within {human(wanted[99], 'ns')} and 99.99 % within {human(wanted[99.99], 'ns')}"


def over_time(metric: Metric, tracks: Sequence[Track], title: str, base: int = 1000) -> Chart:
    """Build the chart of values over time: the mean of each moment with min and max, in seconds along x."""
    tracks = [track for track in tracks if len(track.rows)]
    unit = unit_for([row[2] for track in tracks for row in track.rows], metric.unit, base)
    series = tuple(
        ChartSeries(
            latency.name,
            tuple(
                ChartPoint(row[0], f"{significant(row[0])} s", row[2], row[1], row[3], n=int(row[4]))
                for row in latency.rows
            ),
            tone,
        )
        for tone, latency in enumerate(tracks)
    )
    y_title = f"{metric.label} ({unit.label})" if unit.label else metric.label
    x, y = Axis("seconds"), Axis(y_title, "linear", unit, base_unit=metric.unit)
    caption = "Line: mean of each moment; shade: from the least to the most."
    return Chart(ChartKind.TIME, title, x, y, series, described_over_time(metric, tracks, title, base), caption)


def described_over_time(metric: Metric, tracks: Sequence[Track], title: str, base: int = 1000) -> str:
    """Return the description of `over_time` without drawing it."""
    there = [track for track in tracks if len(track.rows)]
    return _describe(ChartKind.TIME, title, [describe_tracks(metric, there, base)] if there else [])


def _describe(kind: ChartKind, title: str, parts: Sequence[str]) -> str:
    return f"{WHAT[kind]}: {title}. {'; '.join(parts)}." if parts else f"{WHAT[kind]}: {title}. Nothing was measured."
