"""Latency histograms of several runs or jobs as one. Percentiles come from merged bins; they are never averaged."""

from collections.abc import Iterable

from apps.parsers.fio_bins import Bins, merge, percentile, percentiles
from apps.runs.models import Histogram

__all__ = ["Bins", "merge", "merged", "percentile", "percentiles"]


def merged(histograms: Iterable[Histogram]) -> list[list[int]]:
    """The bins of all of them together, [[ns, count], …] ascending."""
    return merge(*(histogram.bins for histogram in histograms))
