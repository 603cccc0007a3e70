"""A run's results as its page shows them: samples in groups, percentiles from bins, and the points of its charts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from apps.lib import units
from apps.parsers.fio_bins import percentiles
from apps.runs.metrics import METRICS, Metric
from apps.runs.models import Histogram, Provenance, Quality, Run, Sample, Series
from apps.runs.points import point_text

PERCENTS = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
CURVE = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 97, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.999)
BARS = 48
MOST_SAMPLES = 2_000
ORDER = {name: place for place, name in enumerate(METRICS)}


@dataclass(frozen=True)
class Row:
    """One sample: what it measures, at which point, and where it was read."""

    metric: Metric
    value: float | None
    point: str
    provenance: Provenance | None

    @property
    def quality(self) -> str:
        """Nothing for an exact value; else how far it can be trusted, or why there is none."""
        if self.provenance is None:
            return ""
        if self.provenance.missing_reason:
            return self.provenance.missing_reason
        return "" if self.provenance.quality == Quality.EXACT else self.provenance.get_quality_display()

    @property
    def bounds(self) -> str:
        low, high = (getattr(self.provenance, name, None) for name in ("low", "high"))
        if low is None and high is None:
            return ""
        words = [units.human(bound, self.metric.unit) if bound is not None else "…" for bound in (low, high)]
        return " to ".join(words)


@dataclass(frozen=True)
class Group:
    """The samples of one operation in one section of the tool's output; `point` where all of them share it."""

    operation: str
    section: str
    point: str
    rows: Sequence[Row]


def job_name(run: Run, section: int) -> str:
    jobs = run.workload.jobs if run.workload else []
    return str(jobs[section]["name"]) if section < len(jobs) and len(jobs) > 1 else ""


def samples_of(run: Run) -> list[Group]:
    """At most `MOST_SAMPLES` of them, in one query; the REST interface has all."""
    found = Sample.objects.filter(run=run).select_related("measure", "point", "provenance")[:MOST_SAMPLES]
    ordered = sorted(found, key=_place)
    return [_group(run, *key, list(rows)) for key, rows in groupby(ordered, key=lambda one: _place(one)[:2])]


def _place(one: Sample) -> tuple[int, str, int, int, int]:
    point = one.point
    return (
        one.section, one.measure.operation, ORDER.get(one.measure.metric, 99), point.file_size or 0,
        point.block_size or 0,
    )  # fmt: skip


def _group(run: Run, section: int, operation: str, samples: list[Sample]) -> Group:
    points = [point_text(one.point) for one in samples]
    shared = points[0] if len(set(points)) == 1 else ""
    rows = [
        Row(one.measure.definition, one.value, "" if shared else point, getattr(one, "provenance", None))
        for one, point in zip(samples, points, strict=True)
    ]
    return Group(operation, job_name(run, section), shared, rows)


@dataclass(frozen=True)
class Latency:
    """Percentiles of one operation's latency bins, in ns."""

    name: str
    kind: str
    count: int
    percentiles: Sequence[int | None]
    largest: int
    curve: Sequence[tuple[float, int | None]]
    bars: Sequence[tuple[float, int]]


def latencies_of(run: Run) -> list[Latency]:
    """Completion latency where the tool printed bins, one row for each section and operation."""
    found: Iterable[Histogram] = run.histograms.all()
    return [_latency(run, one) for one in found if one.bins and one.kind in ("clat", "lat")]


def _latency(run: Run, one: Histogram) -> Latency:
    name = f"{job_name(run, one.section)} {one.operation}".strip()
    return Latency(
        name=name,
        kind=one.kind,
        count=sum(count for _, count in one.bins),
        percentiles=percentiles(one.bins, PERCENTS),
        largest=one.bins[-1][0],
        curve=list(zip(CURVE, percentiles(one.bins, CURVE), strict=True)),
        bars=_bars(one.bins),
    )


def _bars(bins: Sequence[Sequence[int]]) -> list[tuple[float, int]]:
    """fio's many bins in at most `BARS` of equal width on a log axis: (ns at the bar's middle, count)."""
    table = np.asarray(bins, dtype=np.float64)
    logs = np.log10(np.maximum(table[:, 0], 1))
    low, high = float(logs.min()), float(logs.max())
    counts, edges = np.histogram(logs, bins=BARS, range=(low, max(high, low + 0.3)), weights=table[:, 1])
    middles = 10 ** ((edges[:-1] + edges[1:]) / 2)
    return [(round(middle), int(count)) for middle, count in zip(middles.tolist(), counts.tolist(), strict=True)]


def chart_data(run: Run, latencies: Sequence[Latency], series: Sequence[Series]) -> dict[str, Any]:
    """What the page's script draws: nothing in it that the tables beside the charts do not say."""
    return {
        "series": [
            {
                "id": one.pk,
                "name": series_name(run, one, series),
                "metric": one.metric,
                "unit": METRICS[one.metric].unit,
                "count": one.count,
                "points": [[row[0], row[2], row[1], row[3]] for row in one.overview],
            }
            for one in series
        ],
        "latency": [{"name": one.name, "curve": one.curve, "bars": one.bars} for one in latencies],
    }


SOURCES = {"progress": "status lines", "fio_log": "log", "report": "intervals", "observer": "observer"}


def series_name(run: Run, one: Series, all_of_run: Sequence[Series]) -> str:
    """Job and operation; with its source, where another source tells the same."""
    name = f"{job_name(run, one.section)} {one.operation}".strip()
    same = [
        each
        for each in all_of_run
        if (each.section, each.operation, each.metric) == (one.section, one.operation, one.metric)
    ]
    return f"{name} ({SOURCES.get(one.source, one.source)})" if len(same) > 1 else name


def charted(series: Sequence[Series]) -> list[Metric]:
    """One chart over time for each metric that there is, in the order of `METRICS`."""
    present = {one.metric for one in series if one.overview}
    return [metric for name, metric in METRICS.items() if name in present]


@dataclass(frozen=True)
class SeriesSummary:
    name: str
    metric: Metric
    count: int
    low: float
    mean: float
    high: float


def summaries(run: Run, series: Sequence[Series]) -> list[SeriesSummary]:
    """The table beside the charts over time."""
    return [_summary(series_name(run, one, series), one) for one in series if one.overview]


def _summary(name: str, one: Series) -> SeriesSummary:
    rows = one.overview
    total = sum(row[4] for row in rows)
    mean = sum(row[2] * row[4] for row in rows) / total
    return SeriesSummary(
        name, METRICS[one.metric], one.count, min(row[1] for row in rows), mean, max(row[3] for row in rows)
    )
