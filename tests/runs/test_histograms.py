"""Histograms of several runs as one."""

from apps.parsers.fio.bins import compute_percentile
from apps.runs.models import Histogram
from apps.runs.series.latencies import merged


def test_percentiles_of_several_runs_come_from_their_merged_bins() -> None:
    one, other = Histogram(bins=[[10, 990]]), Histogram(bins=[[10, 5], [1000, 5]])
    together = merged([one, other])
    assert together == [[10, 995], [1000, 5]]
    assert compute_percentile(together, 99) == 10
    assert compute_percentile(together, 99.9) == 1000
