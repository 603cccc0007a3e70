"""The arithmetic of a cell against published figures."""

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from apps.comparison.statistics.summary import outliers, summary
from tests.comparison.samples import with_moments


def test_a_mean_and_its_deviation_are_nists_certified_ones() -> None:
    """NIST Statistical Reference Datasets, univariate: NumAcc1 and NumAcc3, where naive sums lose all digits."""
    first = summary([10000001.0, 10000003.0, 10000002.0])
    assert (first.mean, first.stdev) == (10000002, 1)
    third = summary([1000000.2, *[1000000.1, 1000000.3] * 500])
    assert third.mean == pytest.approx(1000000.2, rel=1e-15)
    assert third.stdev == pytest.approx(0.1, rel=1e-9)


def test_the_interval_of_a_mean_is_nists_example() -> None:
    """NIST/SEMATECH e-Handbook 1.3.5.2, ZARR13.DAT: N = 195, mean 9.261460, deviation 0.02278881."""
    found = summary(with_moments(195, 9.261460, 0.02278881))
    assert (found.ci_low, found.ci_high) == (pytest.approx(9.258242, abs=1e-6), pytest.approx(9.264679, abs=1e-6))


@pytest.mark.parametrize(("n", "t"), [(3, 4.303), (4, 3.182), (5, 2.776), (10, 2.262), (31, 2.042), (101, 1.984)])
def test_half_an_interval_is_students_t_of_the_table(n: int, t: float) -> None:
    """Upper 2.5 % points of Student's t, NIST/SEMATECH e-Handbook 1.3.6.7.2."""
    found = summary(with_moments(n, 100, math.sqrt(n)))
    assert found.ci_high is not None
    assert found.ci_high - 100 == pytest.approx(t, abs=5e-4)


@given(st.lists(st.floats(1, 1e12), min_size=3, max_size=30))
def test_the_interval_is_scipys(values: list[float]) -> None:
    found = summary(values)
    error = stats.sem(values)
    expected = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error) if error else (found.mean,) * 2
    assert (found.ci_low, found.ci_high) == (pytest.approx(expected[0], rel=1e-6), pytest.approx(expected[1], rel=1e-6))


def test_the_outlier_of_grubbs_data_is_found_and_no_other() -> None:
    """Grubbs' mass spectrometer data, NIST/SEMATECH e-Handbook 1.3.5.17.1: 245.57 is the outlier."""
    values = [199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57]
    assert outliers([values]) == [[7]]


def test_an_outlier_is_3_5_of_scipys_scaled_median_absolute_deviations_away() -> None:
    draws = random.Random(3)
    for _ in range(200):
        values = [draws.gauss(100, 5) for _ in range(draws.randint(5, 30))]
        scale = stats.median_abs_deviation(values, scale="normal")
        middle = statistics.median(values)
        assert outliers([values]) == [[n for n, value in enumerate(values) if abs(value - middle) / scale > 3.5]]


def test_one_stall_among_equal_values_is_an_outlier() -> None:
    assert outliers([[100.0, 100.0, 100.0, 100.0, 20.0]]) == [[4]]


@pytest.mark.parametrize("values", [[100.0] * 9, [1.0, 1.0, 50.0], [100.0, 101.0, 99.0, 102.0, 98.0], []])
def test_even_values_and_very_few_have_no_outlier(values: list[float]) -> None:
    assert outliers([values]) == [[]]


def test_cells_of_many_sizes_are_marked_each_by_itself() -> None:
    draws = random.Random(4)
    cells = [[draws.choice([draws.gauss(100, 5), 30]) for _ in range(n)] for n in (7, 3, 12, 7, 0, 12, 5)]
    together = outliers(cells)
    assert together == [outliers([cell])[0] for cell in cells]
    assert any(together)
    assert outliers([]) == []
