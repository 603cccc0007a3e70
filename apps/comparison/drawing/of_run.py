"""One run's latency bins and values over time as charts. Pure: the bins and the overviews come in as plain values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from apps.comparison.drawing.chart import Axis, Chart, Kind, Point, Series
from apps.comparison.drawing.description import WHAT
from apps.comparison.drawing.track import Track, said
from apps.lib.units import ColumnUnit, human, plain, significant, unit_for
from apps.runs.metrics import Metric

if TYPE_CHECKING:
    from apps.runs.latencies import Latency

PERCENT = ColumnUnit(0.01, "%")
NINES = ("0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %")
LATENCY = "latency"


def histogram(latencies: "Sequence[Latency]", title: str) -> Chart:
    """What share of its operation's completions took how long: bars of equal width on a logarithmic axis."""
    series = tuple(Series(one.label, tuple(_bars(one)), tone) for tone, one in enumerate(latencies))
    x = Axis(LATENCY, "log", base_unit="ns")
    y = Axis("completions (%)", "linear", PERCENT, base_unit="fraction")
    return Chart(Kind.HISTOGRAM, title, x, y, series, _said(Kind.HISTOGRAM, title, [_middle(one) for one in latencies]))


def _bars(one: "Latency") -> list[Point]:
    return [
        Point(float(ns), human(ns, "ns"), count / one.count if one.count else 0.0, n=count) for ns, count in one.bars
    ]


def _middle(one: "Latency") -> str:
    return f"{one.label}, {plain(one.count)} completions, half within {human(one.percentiles[0], 'ns')}"


def curve(latencies: "Sequence[Latency]", title: str) -> Chart:
    """Latency by percentile on an axis of nines, so that the slow tail has room."""
    unit = unit_for([value for one in latencies for _, _, value in one.curve], "ns")
    series = tuple(
        Series(
            one.label,
            tuple(
                Point(nines, f"{percent:g} %", float(value), n=one.count)
                for percent, nines, value in one.curve
                if value is not None
            ),
            tone,
        )
        for tone, one in enumerate(latencies)
    )
    x = Axis("percent of completions", "nines", labels=NINES)
    y = Axis(f"{LATENCY} ({unit.label})", "log", unit, base_unit="ns")
    return Chart(Kind.CURVE, title, x, y, series, _said(Kind.CURVE, title, [_tail(one) for one in latencies]))


def _tail(one: "Latency") -> str:
    wanted = {percent: value for percent, _, value in one.curve}
    return f"{one.label}, 99 % within {human(wanted[99], 'ns')} and 99.99 % within {human(wanted[99.99], 'ns')}"


def over_time(metric: Metric, tracks: Sequence[Track], title: str, base: int = 1000) -> Chart:
    """The mean of each moment, with its least and most. Seconds along x."""
    tracks = [one for one in tracks if len(one.rows)]
    unit = unit_for([row[2] for one in tracks for row in one.rows], metric.unit, base)
    series = tuple(
        Series(
            one.name,
            tuple(Point(row[0], f"{significant(row[0])} s", row[2], row[1], row[3], n=int(row[4])) for row in one.rows),
            tone,
        )
        for tone, one in enumerate(tracks)
    )
    y_title = f"{metric.label} ({unit.label})" if unit.label else metric.label
    x, y = Axis("seconds"), Axis(y_title, "linear", unit, base_unit=metric.unit)
    caption = "Line: mean of each moment; shade: from the least to the most."
    return Chart(Kind.TIME, title, x, y, series, described_over_time(metric, tracks, title, base), caption)


def described_over_time(metric: Metric, tracks: Sequence[Track], title: str, base: int = 1000) -> str:
    """What `over_time` says of itself, without drawing it."""
    there = [one for one in tracks if len(one.rows)]
    return _said(Kind.TIME, title, [said(metric, there, base)] if there else [])


def _said(kind: Kind, title: str, parts: Sequence[str]) -> str:
    return f"{WHAT[kind]}: {title}. {'; '.join(parts)}." if parts else f"{WHAT[kind]}: {title}. Nothing was measured."
