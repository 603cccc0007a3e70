"""What a chart over time says in words: range, mean, beginning, end and gaps, from the rows that it draws."""

import pytest

from apps.comparison.charts.run import over_time
from apps.comparison.charts.time_series import MOST_TOLD, Track
from apps.runs.metrics import METRICS
from apps.runs.series.arrays import overview

BANDWIDTH = METRICS["bandwidth"]


def track(times: list[float], values: list[float], name: str = "read", buckets: int = 1000) -> Track:
    return Track(name, overview(times, values, buckets))


def described(*tracks: Track, base: int = 1000) -> str:
    return over_time(BANDWIDTH, tracks, "Bandwidth of run 1 over time", base).description.replace("\u00a0", " ")


def test_the_description_says_what_the_line_does() -> None:
    said = described(track([1, 2, 3, 4], [1e8, 4e8, 2e8, 3e8]))
    assert said == (
        "Chart over time: Bandwidth of run 1 over time. read: 4 values from 1.00 s to 4.00 s, "
        "mean 250 MB/s, 100 MB/s to 400 MB/s, begins at 100 MB/s and ends at 300 MB/s."
    )
    assert "mean 238 MiB/s" in described(track([1, 2, 3, 4], [1e8, 4e8, 2e8, 3e8]), base=1024)


def test_the_mean_is_that_of_all_values_however_many_a_moment_has() -> None:
    whole, summed = (track([*map(float, range(10))], [1.0] * 9 + [11.0], buckets=n) for n in (10, 3))
    assert whole.mean == summed.mean == 2
    assert [row[4] for row in summed.rows] == [3, 3, 4]
    assert (summed.count, summed.low, summed.high) == (10, 1, 11)


def test_a_stretch_without_values_is_named() -> None:
    times = [float(n) for n in range(100) if not 40 < n < 60]
    assert track(times, [1e8] * len(times)).gaps == [(40.0, 60.0)]
    assert "nothing from 40.0 s to 60.0 s" in described(track(times, [1e8] * len(times)))
    summed = track(times, [1e8] * len(times), buckets=27)  # of three values each, which the gap may lie between
    assert summed.gaps == [pytest.approx((40, 60), abs=3)]
    assert "nothing from about 4" in described(summed)


def test_what_a_clock_does_is_no_gap() -> None:
    times = [n + 0.4 * (n % 3) for n in range(200)]
    assert track(times, [1e8] * 200).gaps == []
    late = [float(n) for n in range(1000) if n not in (500, 501, 502, 503)]  # half a hundredth of the run
    assert track(late, [1e8] * len(late)).gaps == []
    assert track([0.0, 9.0], [1.0, 2.0]).gaps == []


def test_many_series_and_many_gaps_are_told_in_part() -> None:
    said = described(*(track([1.0, 2.0], [1e8, 1e8], f"job{n}") for n in range(MOST_TOLD + 3)))
    assert "job5: " in said
    assert "job6: " not in said
    assert said.endswith("; 3 more series in the table.")
    times = [float(100 * n + second) for n in range(9) for second in range(80)]
    assert "and in 2 more gaps" in described(track(times, [1e8] * len(times)))


def test_nothing_is_said_of_nothing() -> None:
    assert described().endswith("Nothing was measured.")
