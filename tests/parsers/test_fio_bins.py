"""Latency bins: percentiles as fio takes them, merged bins as one histogram."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.parsers.fio.bins import compute_percentile, compute_percentiles, merge_bins

BINS = st.lists(
    st.tuples(st.integers(0, 10**12), st.integers(1, 10**9)), min_size=1, max_size=40, unique_by=lambda bin: bin[0]
).map(sorted)


def test_a_percentile_is_the_first_bin_that_reaches_its_share() -> None:
    bins = [[10, 50], [20, 40], [30, 10]]
    assert compute_percentiles(bins, [50, 50.1, 90, 91, 100]) == [10, 20, 20, 30, 30]


def test_the_last_bit_of_the_threshold_decides_as_in_fio() -> None:
    # 99.9 is a little more than 999/1000 in binary, so fio wants all 1,000
    assert compute_percentile([[1, 999], [2, 1]], 99.9) == 2
    assert compute_percentile([[1, 9990], [2, 10]], 99.0) == 1


def test_no_bins_have_no_percentile() -> None:
    assert compute_percentile([], 50) is None


@given(BINS, BINS)
def test_merging_counts_everything_once_in_any_order(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    both = merge_bins(one, other)
    assert both == merge_bins(other, one)
    assert sum(count for _, count in both) == sum(count for _, count in [*one, *other])
    assert [ns for ns, _ in both] == sorted({ns for ns, _ in [*one, *other]})


@given(BINS, st.floats(0.01, 100))
def test_merging_a_histogram_with_itself_moves_no_percentile(bins: list[tuple[int, int]], share: float) -> None:
    assert compute_percentile(merge_bins(bins, bins), 50) == compute_percentile(bins, 50)
    assert compute_percentile(bins, share) in {ns for ns, _ in bins}


def test_a_percentile_of_merged_bins_is_not_the_mean_of_percentiles() -> None:
    fast, slow = [[10, 990]], [[1000, 10]]
    assert compute_percentile(merge_bins(fast, slow), 50) == 10


@pytest.mark.parametrize("count", [2**40, 2**62])
def test_counts_beyond_a_float_stay_whole(count: int) -> None:
    assert merge_bins([[5, count]], [[5, 1]]) == [[5, count + 1]]
