"""The charts of one run, from the database: latency from its bins, values over time from its overviews."""

from collections.abc import Sequence

from apps.comparison.drawing.chart import Chart
from apps.comparison.drawing.of_run import curve, described_over_time, histogram, over_time
from apps.comparison.drawing.track import Track
from apps.runs.latencies import Latency, job_name
from apps.runs.metrics import METRICS
from apps.runs.models import Run, Series
from apps.runs.packing import part_of

SOURCES = {"progress": "status lines", "fio_log": "log", "report": "intervals", "observer": "observer"}
Part = tuple[float, float, int]  # first second, last second, buckets


def latency_charts(run: Run, latencies: Sequence[Latency]) -> list[Chart]:
    """The histogram and the percentile curve."""
    return [
        histogram(latencies, f"Latency of run {run.pk}: share of completions"),
        curve(latencies, f"Latency of run {run.pk} by percentile"),
    ]


def chart_over_time(
    run: Run, metric: str, series: Sequence[Series], part: Part | None = None, base: int = 1000
) -> Chart:
    """Of one metric; `series`: all of the run, or names would not be told apart. With `part`, `packed` is read."""
    return over_time(METRICS[metric], _tracks(run, metric, series, part), _title(run, metric), base)


def description_over_time(run: Run, metric: str, series: Sequence[Series], base: int = 1000) -> str:
    """What `chart_over_time` says of itself."""
    return described_over_time(METRICS[metric], _tracks(run, metric, series), _title(run, metric), base)


def _title(run: Run, metric: str) -> str:
    return f"{METRICS[metric].label} of run {run.pk} over time"


def _tracks(run: Run, metric: str, series: Sequence[Series], part: Part | None = None) -> list[Track]:
    return [
        Track(series_name(run, one, series), part_of(one.packed, *part) if part else one.overview)
        for one in series
        if one.metric == metric
    ]


def series_name(run: Run, one: Series, all_of_run: Sequence[Series]) -> str:
    """Job and operation; with its source, where another source tells the same."""
    name = f"{job_name(run, one.section)} {one.operation}".strip()
    place = (one.section, one.operation, one.metric)
    same = [each for each in all_of_run if (each.section, each.operation, each.metric) == place]
    return f"{name} ({SOURCES.get(one.source, one.source)})" if len(same) > 1 else name
