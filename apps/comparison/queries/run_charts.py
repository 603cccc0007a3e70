"""The charts of one run, from the database: latency from its bins, values over time from its overviews."""

from collections.abc import Sequence

from django.db.models import QuerySet

from apps.comparison.charts.chart import Chart
from apps.comparison.charts.run import curve, described_over_time, heat, histogram, over_time
from apps.comparison.charts.time_series import Track
from apps.runs.metrics import METRICS
from apps.runs.models import Histogram, Run, Series
from apps.runs.series.arrays import part_of
from apps.runs.series.intervals import unpack_intervals
from apps.runs.series.latencies import LatencySummary, job_name

SOURCES = {"progress": "status lines", "fio_log": "log", "report": "intervals", "observer": "observer"}
Part = tuple[float, float, int]  # first second, last second, buckets


def latency_charts(run: Run, latencies: Sequence[LatencySummary]) -> list[Chart]:
    """Return two charts of a run's latency: the histogram and the percentile curve."""
    return [
        histogram(latencies, f"Latency of run {run.pk}: share of completions"),
        curve(latencies, f"Latency of run {run.pk} by percentile"),
    ]


def heat_charts(run: Run, rows: QuerySet[Histogram] | None = None) -> list[tuple[str, Chart]]:
    """Return operation and heat map of each histogram over time; `rows` are some of the run's, else all are taken."""
    logged = (run.histograms.all() if rows is None else rows).filter(intervals__isnull=False)
    return [
        (
            histogram.operation,
            heat(
                f"{job_name(run, histogram.section)} {histogram.operation}".strip(),
                unpack_intervals(histogram.intervals),
                f"Latency of run {run.pk} over time: completions of {histogram.operation}",
            ),
        )
        for histogram in logged
        if histogram.intervals is not None
    ]


def chart_over_time(
    run: Run, metric: str, series: Sequence[Series], part: Part | None = None, base: int = 1000
) -> Chart:
    """Build the chart of one metric over time.

    `series` are all series of the run, or their names could not be told apart. With `part`, `packed` is read.
    """
    return over_time(METRICS[metric], _tracks(run, metric, series, part), _title(run, metric), base)


def description_over_time(run: Run, metric: str, series: Sequence[Series], base: int = 1000) -> str:
    """Return the description of `chart_over_time`."""
    return described_over_time(METRICS[metric], _tracks(run, metric, series), _title(run, metric), base)


def _title(run: Run, metric: str) -> str:
    return f"{METRICS[metric].label} of run {run.pk} over time"


def _tracks(run: Run, metric: str, series: Sequence[Series], part: Part | None = None) -> list[Track]:
    return [
        Track(series_name(run, series_row, series), part_of(series_row.packed, *part) if part else series_row.overview)
        for series_row in series
        if series_row.metric == metric
    ]


def series_name(run: Run, series: Series, all_of_run: Sequence[Series]) -> str:
    """Return job and operation of a series, with its source where another source has the same."""
    name = f"{job_name(run, series.section)} {series.operation}".strip()
    place = (series.section, series.operation, series.metric)
    same = [each for each in all_of_run if (each.section, each.operation, each.metric) == place]
    return f"{name} ({SOURCES.get(series.source, series.source)})" if len(same) > 1 else name
