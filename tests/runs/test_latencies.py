"""Latency of a run: bins of several jobs are merged before a percentile is taken."""

from apps.labs.models import Lab
from apps.runs.models import Histogram
from apps.runs.series.latencies import latencies_of, nines
from tests.comparison.factories import run


def test_jobs_of_one_operation_come_one_by_one_and_together(lab: Lab) -> None:
    one = run(lab)
    fast, slow = [[1000, 99], [2000, 1]], [[8000, 90], [9000, 10]]
    for section, bins in enumerate((fast, slow)):
        Histogram.objects.create(run=one, operation="read", kind="clat", section=section, bins=bins)
    Histogram.objects.create(run=one, operation="write", kind="clat", section=0, bins=[[500, 4]])
    every, *jobs, write = latencies_of(one)
    assert (every.name, every.count, every.largest) == ("read, all jobs", 200, 9000)
    # 50, 90, 95, 99 % of the 200 together; the mean of the jobs' medians, 4500, was never measured
    assert list(every.percentiles[:4]) == [2000, 8000, 8000, 9000]
    assert [one.percentiles[0] for one in jobs] == [1000, 8000]
    assert (write.name, write.count) == ("write", 4)


def test_many_jobs_are_shown_together_only(lab: Lab) -> None:
    one = run(lab)
    for section in range(20):
        Histogram.objects.create(run=one, operation="read", kind="clat", section=section, bins=[[1000, 1]])
    (every,) = latencies_of(one)
    assert (every.name, every.count) == ("read, all jobs", 20)


def test_an_axis_of_nines() -> None:
    assert [round(nines(percent), 6) for percent in (0, 90, 99, 99.9)] == [0, 1, 2, 3]
