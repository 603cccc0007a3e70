"""A run's results as its page shows them: samples in groups, percentiles from bins, and the points of its charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from apps.comparison.drawing.as_json import as_json
from apps.comparison.drawing.track import Track
from apps.comparison.run_charts import description_over_time, latency_charts, series_name
from apps.lib import units
from apps.lib.reader_base import base
from apps.runs.latencies import Latency
from apps.runs.live_series import LIVE
from apps.runs.metrics import DISK, METRICS, OPERATIONS, Metric, what
from apps.runs.models import Provenance, Quality, Run, Sample, Series
from apps.runs.points import point_text
from apps.runs.sections import name_of

MOST_SAMPLES = 2_000
ORDER = {name: place for place, name in enumerate(METRICS)}
OPERATION_ORDER = {name: place for place, name in enumerate(OPERATIONS)}
SHORT = 2  # rows: groups of so few are one table


@dataclass(frozen=True)
class Row:
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
        """What the tool says of the processor beside this value."""
        cpu = getattr(self.provenance, "cpu", None)
        return units.human(cpu, "fraction") if cpu is not None else ""

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
        return units.bounds(low, high, partial(units.human, unit=self.metric.unit, base=base()))


@dataclass(frozen=True)
class Group:
    """The samples of one operation in one section of the tool's output; `point` where all of them share it."""

    operation: str
    name: str  # of the operation: of which disk, too
    section: str
    point: str
    rows: Sequence[Row]

    @property
    def has_points(self) -> bool:
        """Whether each row has to say its own."""
        return not self.point and any(row.point for row in self.rows)

    @property
    def has_cpu(self) -> bool:
        """Whether the values have to say it: fio's is a metric of its own."""
        return all(row.metric.name != "cpu" for row in self.rows)


def samples_of(run: Run) -> list[Group]:
    """At most `MOST_SAMPLES` of them, in one query; the REST interface has all."""
    found = Sample.objects.filter(run=run).select_related("measure", "point", "provenance")[:MOST_SAMPLES]
    ordered = sorted(found, key=_place)
    return [
        _group(run, section, operation, list(rows))
        for (_, section, _, operation), rows in groupby(ordered, key=lambda one: _place(one)[:4])
    ]


@dataclass(frozen=True)
class Together:
    """Short groups as one table, and which of its columns something stands in."""

    has_points: bool
    has_cpu: bool
    has_notes: bool


def together(groups: Sequence[Group]) -> Together | None:
    """Where there are several groups of a row or two each, as of a Bonnie or dd."""
    if len(groups) < 2 or any(len(group.rows) > SHORT for group in groups):
        return None
    rows = [row for group in groups for row in group.rows]
    has_points = any(group.point or group.has_points for group in groups)
    return Together(has_points, any(row.cpu for row in rows), any(row.note for row in rows))


def _place(one: Sample) -> tuple[bool, int, int, str, int, int, int]:
    """In the field's order, the disks below the jobs."""
    point, operation = one.point, one.measure.operation
    return (
        operation == DISK, one.section, OPERATION_ORDER.get(operation, 99), operation, ORDER.get(one.measure.metric, 99),
        point.file_size or 0, point.block_size or 0,
    )  # fmt: skip


def _group(run: Run, section: int, operation: str, samples: list[Sample]) -> Group:
    points = [point_text(one.point) for one in samples]
    shared = points[0] if len(set(points)) == 1 else ""
    rows = [
        Row(
            one.measure.definition, one.value, "" if shared else point, getattr(one, "provenance", None), one.printed,
            one.source_line, "" if operation == DISK else _note(one),
        )
        for one, point in zip(samples, points, strict=True)
    ]  # fmt: skip
    name = what(operation, _note(samples[0])).replace("_", " ")
    return Group(operation, name, name_of(run.sections_apart, operation, section), shared, rows)


def _note(one: Sample) -> str:
    return getattr(getattr(one, "provenance", None), "note", "")


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
        "latency": [as_json(one) for one in latency_charts(run, latencies)] if latencies else [],
    }


@dataclass(frozen=True)
class Charted:
    """A chart over time, and what it says in words."""

    metric: Metric
    description: str
    has_values: bool


def charted(run: Run, series: Sequence[Series]) -> list[Charted]:
    """One for each metric that there is, in the order of `METRICS`; while the run goes on, for each that may come."""
    there = {one.metric for one in series if one.overview}
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
    """The table beside the charts over time."""
    return [_summary(series_name(run, one, series), one) for one in series if one.overview]


@dataclass(frozen=True)
class ShownLog:
    run: Run
    caption: str
    series: Sequence[SeriesSummary]


def logs_of(runs: Sequence[Run]) -> list[ShownLog]:
    """What the logs beside a report have over time; one query, none where there are no logs."""
    series: dict[int, list[Series]] = {run.pk: [] for run in runs}
    for one in Series.objects.filter(run__in=runs).defer("packed") if runs else ():
        series[one.run_id].append(one)
    return [ShownLog(run, run.labels.get("caption") or f"run {run.pk}", summaries(run, series[run.pk])) for run in runs]


def _summary(name: str, one: Series) -> SeriesSummary:
    track = Track(name, one.overview)
    return SeriesSummary(name, METRICS[one.metric], one.count, track.low, track.mean, track.high)
