"""Latency percentiles and bars from histogram bins, for a run's page, charts and exports.

Bins of several jobs or runs are added up before a percentile is taken; percentiles are never averaged.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet

from apps.parsers.fio.bins import LAST_BIN, Bins, compute_percentiles, merge_bins
from apps.runs.models import Histogram, Run

PERCENTS = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
CURVE = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 97, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.999)
BARS = 48
MOST_JOBS = 6  # that are shown one by one


@dataclass(frozen=True)
class LatencySummary:
    """Percentiles of one operation's latency bins, in ns. `curve`: (percent, its place on an axis of nines, ns).

    `end` is the last bin of fio's table, which counts everything that is longer: percentiles in it are lower bounds.
    """

    name: str
    kind: str
    count: int
    percentiles: Sequence[int | None]
    largest: int
    curve: Sequence[tuple[float, float, int | None]]
    bars: Sequence[tuple[float, int]]
    end: int = LAST_BIN

    @property
    def label(self) -> str:
        """Name and kind: fio prints bins of clat and of lat for one operation."""
        return f"{self.name} ({self.kind})"


def job_name(run: Run, section: int) -> str:
    return run.sections_apart.get(section, "")


def latencies_of(run: Run, rows: QuerySet[Histogram] | None = None) -> list[LatencySummary]:
    """Return completion latencies where the tool printed bins: per section and operation, and for all sections together.

    `rows` are some of the run's histograms; without them all are taken.
    """
    histograms = [
        histogram
        for histogram in (run.histograms.all() if rows is None else rows).defer("intervals")
        if histogram.bins and histogram.kind in ("clat", "lat")
    ]
    together: dict[tuple[str, str], list[Histogram]] = {}
    for histogram in histograms:
        together.setdefault((histogram.operation, histogram.kind), []).append(histogram)
    return [latency for some in together.values() for latency in _of_operation(run, some)]


def _of_operation(run: Run, histograms: Sequence[Histogram]) -> Iterable[LatencySummary]:
    jobs = [
        latency_of(f"{job_name(run, histogram.section)} {histogram.operation}".strip(), histogram.kind, histogram.bins)
        for histogram in histograms
    ]
    if len(histograms) < 2:
        return jobs
    first = histograms[0]
    every = latency_of(
        f"{first.operation}, all jobs", first.kind, merge_bins(*(histogram.bins for histogram in histograms))
    )
    return [every, *jobs] if len(jobs) <= MOST_JOBS else [every]


def latency_of(name: str, kind: str, bins: Bins) -> LatencySummary:
    curve = zip(CURVE, compute_percentiles(bins, CURVE), strict=True)
    return LatencySummary(
        name=name,
        kind=kind,
        count=sum(count for _, count in bins),
        percentiles=compute_percentiles(bins, PERCENTS),
        largest=bins[-1][0],
        curve=[(percent, nines(percent), value) for percent, value in curve],
        bars=_bars(bins),
    )


def nines(percent: float) -> float:
    """Return the position of a percentile on an axis of nines: 0, 1, 2, 3 for 0, 90, 99, 99.9 %."""
    return -math.log10(1 - percent / 100)


def _bars(bins: Bins) -> list[tuple[float, int]]:
    """Return bins merged into at most `BARS` bars of equal width on a log axis, as (ns at the middle, count)."""
    table = np.asarray(bins, dtype=np.float64)
    logs = np.log10(np.maximum(table[:, 0], 1))
    low, high = float(logs.min()), float(logs.max())
    counts, edges = np.histogram(logs, bins=BARS, range=(low, max(high, low + 0.3)), weights=table[:, 1])
    middles = 10 ** ((edges[:-1] + edges[1:]) / 2)
    return [(round(middle), int(count)) for middle, count in zip(middles.tolist(), counts.tolist(), strict=True)]


def merged(histograms: Iterable[Histogram]) -> list[list[int]]:
    """Return the summed bins of several histograms, [[ns, count], …] in ascending order."""
    return merge_bins(*(histogram.bins for histogram in histograms))
