"""Packed series."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from apps.runs.series.arrays import overview, pack, part_of, unpack

COLUMNS = arrays(np.float64, st.integers(0, 300), elements=st.floats(-1e12, 1e12))


@given(COLUMNS)
def test_what_is_packed_comes_back_to_the_bit(values: np.ndarray) -> None:
    times = np.arange(len(values), dtype=float)
    back_times, back_values = unpack(memoryview(pack(times, values)))
    assert back_times.tobytes() == times.tobytes()
    assert back_values.tobytes() == values.tobytes()


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="found 2 times and 1 values"):
        pack([1, 2], [3])


@given(COLUMNS, st.integers(1, 50))
def test_an_overview_counts_every_value_and_keeps_the_extremes(values: np.ndarray, buckets: int) -> None:
    rows = overview(np.arange(len(values)), values, buckets)
    assert len(rows) <= buckets
    assert sum(row[4] for row in rows) == len(values)
    if len(values):
        assert min(row[1] for row in rows) == values.min()
        assert max(row[3] for row in rows) == values.max()
        assert all(low <= mean + 1e-3 and mean - 1e-3 <= high for _, low, mean, high, _ in rows)


def test_a_short_series_is_its_own_overview() -> None:
    assert overview([0, 1], [5, 7]) == [[0, 5, 5, 5, 1], [1, 7, 7, 7, 1]]


def test_a_stall_of_one_value_in_a_million_stays_visible() -> None:
    values = np.full(1_000_000, 100.0)
    values[777_777] = 0
    rows = overview(np.arange(1_000_000), values)
    assert len(rows) == 1000
    assert min(row[1] for row in rows) == 0


def test_missing_values_are_left_out() -> None:
    assert overview([0, 1, 2], [1, float("nan"), 3]) == [[0, 1, 1, 1, 1], [2, 3, 3, 3, 1]]
    assert overview([0], [float("nan")]) == []


def test_what_was_packed_tighter_comes_back_too() -> None:
    older = zlib.compress(np.array([0.0, 1.0, 5.0, 7.0]).tobytes(), 6)
    times, values = unpack(older)
    assert (times.tolist(), values.tolist()) == ([0, 1], [5, 7])


def test_a_part_with_few_points_shows_them_all() -> None:
    packed = pack([0, 1, 2, 3, 4], [5, 6, float("nan"), 8, 9])
    assert part_of(packed, 1, 3) == [[1, 6, 6, 6, 1], [3, 8, 8, 8, 1]]


def test_a_part_with_nothing_in_it_is_empty() -> None:
    assert part_of(pack([0, 1], [5, 6]), 7, 9) == []


def test_a_part_of_a_million_points_keeps_the_one_that_stalled() -> None:
    values = np.full(1_000_000, 100.0)
    values[777_777], values[777_780] = 0, 900
    rows = part_of(pack(np.arange(1_000_000) / 1000, values), 700, 800)
    assert len(rows) == 1000
    assert (min(row[1] for row in rows), max(row[3] for row in rows)) == (0, 900)
    assert sum(row[4] for row in rows) == 100_001


@settings(deadline=None)
@given(COLUMNS, st.integers(1, 40), st.data())
def test_a_part_shows_the_extremes_and_counts_every_point(
    values: np.ndarray, buckets: int, data: st.DataObject
) -> None:
    times = np.arange(len(values), dtype=float)
    start, end = sorted(data.draw(st.tuples(st.floats(-5, 305), st.floats(-5, 305))))
    rows = part_of(pack(times, values), start, end, buckets)
    inside = values[(times >= start) & (times <= end)]
    inside = inside[~np.isnan(inside)]
    assert len(rows) <= buckets
    assert sum(row[4] for row in rows) == len(inside)
    if len(inside):
        assert (min(row[1] for row in rows), max(row[3] for row in rows)) == (inside.min(), inside.max())


def test_a_long_series_is_packed_and_drawn_piece_by_piece_as_at_once() -> None:
    numbers = np.random.default_rng(1).integers(0, 1 << 40, 600_000)
    values = numbers.astype(np.float64)
    assert unpack(pack(numbers, values))[1].tolist() == values.tolist()
    rows = overview(numbers, values)
    assert [row[4] for row in rows] == [600] * 1000
    assert rows[777] == [values[466_200], *_least_mean_largest(values[466_200:466_800]), 600]
    with_a_hole = values.copy()
    with_a_hole[599_999] = np.nan
    assert sum(int(row[4]) for row in overview(numbers, with_a_hole)) == 599_999


def _least_mean_largest(some: np.ndarray) -> list[float]:
    return [some.min(), np.add.reduceat(some, [0])[0] / len(some), some.max()]
