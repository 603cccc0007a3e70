"""The results of a run for its page: samples in groups, percentiles from bins, and the points of its charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.time_series import Track
from apps.comparison.queries.run_charts import description_over_time, heat_charts, latency_charts, series_name
from apps.core import units
from apps.core.unit_base import base
from apps.runs.metrics import DISK, METRICS, OPERATIONS, Metric, point_text, what
from apps.runs.models import Provenance, Quality, Run, Sample, Series
from apps.runs.sections import name_of
from apps.runs.series.latencies import LatencySummary
from apps.runs.series.progress import LIVE

MOST_SAMPLES = 2_000
ORDER = {name: place for place, name in enumerate(METRICS)}
OPERATION_ORDER = {name: place for place, name in enumerate(OPERATIONS)}
SHORT = 2  # rows: groups of so few are one table


@dataclass(frozen=True)
class SampleRow:
    """One sample: what it measures, at which point, and where it was read; `note` says more of it than whose it is."""

    metric: Metric
    value: float | None
    point: str
    provenance: Provenance | None
    printed: str
    source_line: int | None
    note: str = ""

    @property
    def cpu(self) -> str:
        """Return what the tool says of the CPU beside this value."""
        cpu = getattr(self.provenance, "cpu", None)
        return units.human(cpu, "fraction") if cpu is not None else ""

    @property
    def quality(self) -> str:
        """Return why there is no value, or how far it can be trusted; empty for an exact value."""
        if self.provenance is None:
            return ""
        if self.provenance.missing_reason:
            return self.provenance.missing_reason
        return "" if self.provenance.quality == Quality.EXACT else self.provenance.get_quality_display()

    @property
    def bounds(self) -> str:
        low, high = (getattr(self.provenance, name, None) for name in ("low", "high"))
        return units.bounds(low, high, partial(units.human, unit=self.metric.unit, base=base()))


@dataclass(frozen=True)
class ResultGroup:
    """The samples of one operation in one section of the tool's output; `point` where all of them share it."""

    operation: str
    name: str  # of the operation: of which disk, too
    section: str
    point: str
    rows: Sequence[SampleRow]

    @property
    def has_points(self) -> bool:
        """Return whether each row has to show its workload point."""
        return not self.point and any(row.point for row in self.rows)

    @property
    def has_cpu(self) -> bool:
        """Return whether the rows show CPU usage; fio's is a metric of its own."""
        return all(row.metric.name != "cpu" for row in self.rows)


def samples_of(run: Run) -> list[ResultGroup]:
    """Return at most `MOST_SAMPLES` samples in groups, in one query; the REST interface has all."""
    result = Sample.objects.filter(run=run).select_related("measure", "point", "provenance")[:MOST_SAMPLES]
    ordered = sorted(result, key=_place)
    return [
        _group(run, section, operation, list(rows))
        for (_, section, _, operation), rows in groupby(ordered, key=lambda item: _place(item)[:4])
    ]


@dataclass(frozen=True)
class SampleTable:
    """Short groups as one table, and which of its columns something stands in."""

    has_points: bool
    has_cpu: bool
    has_notes: bool


def together(groups: Sequence[ResultGroup]) -> SampleTable | None:
    """Return several small groups as one, as of Bonnie or dd."""
    if len(groups) < 2 or any(len(group.rows) > SHORT for group in groups):
        return None
    rows = [row for group in groups for row in group.rows]
    has_points = any(group.point or group.has_points for group in groups)
    return SampleTable(has_points, any(row.cpu for row in rows), any(row.note for row in rows))


def _place(sample: Sample) -> tuple[bool, int, int, str, int, int, int]:
    """Return the sort key of a sample: operations in the order of `OPERATIONS`, disks last."""
    point, operation = sample.point, sample.measure.operation
    return (
        operation == DISK, sample.section, OPERATION_ORDER.get(operation, 99), operation, ORDER.get(sample.measure.metric, 99),
        point.file_size or 0, point.block_size or 0,
    )  # fmt: skip


def _group(run: Run, section: int, operation: str, samples: list[Sample]) -> ResultGroup:
    points = [point_text(sample.point) for sample in samples]
    shared = points[0] if len(set(points)) == 1 else ""
    rows = [
        SampleRow(
            sample.measure.definition, sample.value, "" if shared else point, getattr(sample, "provenance", None), sample.printed,
            sample.source_line, "" if operation == DISK else _note(sample),
        )
        for sample, point in zip(samples, points, strict=True)
    ]  # fmt: skip
    name = what(operation, _note(samples[0])).replace("_", " ")
    return ResultGroup(operation, name, name_of(run.sections_apart, operation, section), shared, rows)


def _note(sample: Sample) -> str:
    return getattr(getattr(sample, "provenance", None), "note", "")


def chart_data(run: Run, latencies: Sequence[LatencySummary], series: Sequence[Series]) -> dict[str, Any]:
    """Return what the page's script draws, which the tables beside the charts hold too."""
    return {
        "series": [
            {
                "id": item.pk,
                "name": series_name(run, item, series),
                "metric": item.metric,
                "unit": METRICS[item.metric].unit,
                "count": item.count,
                "points": [[row[0], row[2], row[1], row[3]] for row in item.overview],
            }
            for item in series
        ],
        "latency": [as_json(chart) for chart in latency_charts(run, latencies)] if latencies else [],
        "heat": [as_json(chart) | {"operation": operation} for operation, chart in heat_charts(run)]
        if latencies
        else [],
    }


@dataclass(frozen=True)
class Charted:
    """A chart over time, and what it says in words."""

    metric: Metric
    description: str
    has_values: bool


def charted(run: Run, series: Sequence[Series]) -> list[Charted]:
    """Return one chart per metric in the order of `METRICS`; while the run is running, per metric that may come."""
    there = {item.metric for item in series if item.overview}
    names = [name for name in METRICS if name in there] if run.has_ended else LIVE
    return [Charted(METRICS[name], _said(run, name, series if name in there else []), name in there) for name in names]


def _said(run: Run, name: str, series: Sequence[Series]) -> str:
    if not series and not run.has_ended:
        return f"{METRICS[name].label}. Nothing has arrived yet."
    return description_over_time(run, name, series, base())


@dataclass(frozen=True)
class SeriesSummary:
    name: str
    metric: Metric
    count: int
    low: float
    mean: float
    high: float


def summaries(run: Run, series: Sequence[Series]) -> list[SeriesSummary]:
    """Return the rows of the table beside the charts over time."""
    return [_summary(series_name(run, item, series), item) for item in series if item.overview]


@dataclass(frozen=True)
class ShownLog:
    run: Run
    caption: str
    series: Sequence[SeriesSummary]


def logs_of(runs: Sequence[Run]) -> list[ShownLog]:
    """Return the series of the logs beside a report, in one query or none."""
    series: dict[int, list[Series]] = {run.pk: [] for run in runs}
    for item in Series.objects.filter(run__in=runs).defer("packed") if runs else ():
        series[item.run_id].append(item)
    return [ShownLog(run, run.labels.get("caption") or f"run {run.pk}", summaries(run, series[run.pk])) for run in runs]


def _summary(name: str, series: Series) -> SeriesSummary:
    track = Track(name, series.overview)
    return SeriesSummary(name, METRICS[series.metric], series.count, track.low, track.mean, track.high)
