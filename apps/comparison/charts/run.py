"""Charts of one run: latency histogram and percentiles, and values over time."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint, ChartSeries, Tile
from apps.comparison.charts.kinds import KINDS
from apps.comparison.charts.palette import ink_on, shade_colour
from apps.comparison.charts.time_series import Track, describe_tracks
from apps.core.units import ColumnUnit, human, plain, significant, unit_for
from apps.runs.metrics import Metric

if TYPE_CHECKING:
    from apps.runs.series.intervals import IntervalTable
    from apps.runs.series.latencies import LatencySummary

PERCENT = ColumnUnit(0.01, "%")
NINES = ("0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %")
LATENCY = "latency"
HEAT_COLUMNS, HEAT_ROWS = 60, 24


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


def heat(name: str, intervals: "IntervalTable", title: str) -> Chart:
    """Build the histogram over time as a heat map: completions by seconds along x and bands of latency along y.

    Neighbouring intervals and bins are joined until `HEAT_COLUMNS` and `HEAT_ROWS` are enough; the bands are equally
    wide on a logarithmic axis.
    """
    columns, rows, counts = _join(intervals)
    most = max((count for line in counts for count in line), default=0)
    tiles = tuple(
        _heat_tile(column, row, count, most)
        for column, line in enumerate(counts)
        for row, count in enumerate(line)
        if count
    )
    x, y = Axis("seconds", "even", labels=columns), Axis(LATENCY, "even", labels=rows)
    z = Axis("completions", "log", base_unit="")
    total = plain(sum(map(sum, counts)))
    words = [f"{name}, {total} completions in {len(columns)} intervals, from {rows[0]} to {rows[-1]}"]
    return Chart(ChartKind.HEAT, title, x, y, (), _describe(ChartKind.HEAT, title, words), tiles=tiles, z=z)


def _heat_tile(column: int, row: int, count: int, most: int) -> Tile:
    shade = math.log(count) / math.log(most) if most > 1 else 1.0
    fill = shade_colour(shade)
    return Tile(column, row, plain(count), float(count), shade, fill, ink_on(fill))


def _join(intervals: "IntervalTable") -> tuple[tuple[str, ...], tuple[str, ...], list[list[int]]]:
    """Return the labels of columns and rows, and the counts, column by column."""
    counts = np.asarray(intervals.counts, dtype=np.int64)
    step = -(-len(counts) // HEAT_COLUMNS)
    starts = np.arange(0, len(counts), step)
    ends = np.minimum(starts + step, len(counts)) - 1
    counts = np.add.reduceat(counts, starts, axis=0)
    logs = np.log10(np.maximum(np.asarray(intervals.bins, dtype=np.float64), 1))
    rows = min(HEAT_ROWS, len(logs))
    edges = np.linspace(logs[0], logs[-1], rows + 1)
    bands = np.clip(np.searchsorted(edges, logs, side="right") - 1, 0, rows - 1)
    joined = np.zeros((len(counts), rows), dtype=np.int64)
    np.add.at(joined.T, bands, counts.T)
    middles = 10 ** ((edges[:-1] + edges[1:]) / 2)
    names = tuple(human(round(ns), "ns") for ns in middles.tolist())
    return tuple(significant(float(intervals.times_s[end])) for end in ends.tolist()), names, joined.tolist()


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
    return (
        f"{KINDS[kind].title}: {title}. {'; '.join(parts)}."
        if parts
        else f"{KINDS[kind].title}: {title}. Nothing was measured."
    )
