"""Two modes are found where there are two, and only there."""

import random

import numpy as np
import pytest
from scipy.optimize import linprog

from apps.comparison.statistics.modes import Mode, dip, dip_p, modes
from tests.sampling import for_each

# Hartigan and Hartigan, The dip test of unimodality, Annals of Statistics 13 (1985): quality of faculty of departments
# of statistics. R's diptest: D = 0.059524, p = 0.08672.
FACULTY = [
    30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44, 44, 45, 45, 46, 46, 47, 47, 48, 48,
    48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60, 60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63,
    66, 70, 72, 72,
]  # fmt: skip


def test_the_dip_of_the_papers_data() -> None:
    assert dip(FACULTY) == pytest.approx(0.059524, abs=1e-6)
    assert dip_p(FACULTY) == pytest.approx(0.0867, abs=0.03)


def test_two_clean_halves_dip_as_far_as_can_be() -> None:
    assert dip([0, 0, 1, 1]) == 0.25


def test_three_values_never_dip() -> None:
    assert dip([1.0, 2.0, 9.0]) == pytest.approx(1 / 6)


def by_its_definition(ordered: list[float]) -> float:
    """The least distance to any distribution with one mode, for every place of the mode by linear programming: convex
    up to it, concave after it, a jump only there.
    """
    x, counts = np.unique(ordered, return_counts=True)
    k, top = len(x), np.cumsum(counts) / len(ordered)
    before, at, distance = range(k), range(k, 2 * k), 2 * k  # F just before each x, F at it, the distance
    slopes = [{at[i]: -1 / (x[i + 1] - x[i]), before[i + 1]: 1 / (x[i + 1] - x[i])} for i in range(k - 1)]
    within = [({before[i]: 1, distance: -1}, top[i] - counts[i] / len(ordered)) for i in range(k)]
    within += [({before[i]: -1, distance: -1}, counts[i] / len(ordered) - top[i]) for i in range(k)]
    within += [({at[i]: sign, distance: -1}, sign * top[i]) for i in range(k) for sign in (1, -1)]
    within += [({at[i]: 1, before[i + 1]: -1}, 0) for i in range(k - 1)]
    found = []
    for mode in range(k):
        bends = [
            (slopes[i], slopes[i + 1]) if i + 1 < mode else (slopes[i + 1], slopes[i])
            for i in range(k - 2)
            if i + 1 != mode
        ]
        rows = [*within, *((minus(*pair), 0) for pair in bends), ({before[mode]: 1, at[mode]: -1}, 0)]
        equal = [{before[i]: 1, at[i]: -1} for i in range(k) if i != mode]
        found.append(least(2 * k + 1, rows, equal))
    return min(found)


def minus(lower: dict[int, float], upper: dict[int, float]) -> dict[int, float]:
    return {place: lower.get(place, 0) - upper.get(place, 0) for place in {*lower, *upper}}


def least(size: int, rows: list[tuple[dict[int, float], float]], equal: list[dict[int, float]]) -> float:
    def dense(sparse: dict[int, float]) -> list[float]:
        return [sparse.get(place, 0) for place in range(size)]

    answer = linprog(
        dense({size - 1: 1}),
        A_ub=[dense(row) for row, _ in rows],
        b_ub=[bound for _, bound in rows],
        A_eq=[dense(row) for row in equal] or None,
        b_eq=[0.0] * len(equal) or None,
        bounds=(0, 1),
    )
    return float(answer.fun) if answer.success else 1.0


@for_each("seed", range(15))
def test_the_dip_is_that_of_its_definition(seed: int) -> None:
    draws = random.Random(seed)
    n = draws.randint(4, 12)
    far = draws.choice([0, 5])
    values = sorted(round(draws.gauss(far * (place % 2), 1), draws.choice([0, 6])) for place in range(n))
    assert dip(values) == pytest.approx(max(by_its_definition(values), 1 / (2 * n)), abs=1e-7)


def test_two_modes_are_reported_with_their_runs_and_their_middles() -> None:
    values = [100.0, 201, 99, 200, 101, 199, 100.5, 200.5, 98]
    assert modes(values) == (Mode(5, 100), Mode(4, 200.25))


def test_the_order_of_the_values_changes_nothing() -> None:
    values = [100.0, 101, 99, 100, 200, 201, 199, 202]
    assert modes(values) == modes(values[::-1]) != ()


@pytest.mark.parametrize(
    "values",
    [
        [100.0, 101, 99, 100, 101, 99, 100, 20],  # a stall is an outlier, not a mode
        [100.0, 101, 200, 201],  # too few
        [100.0] * 20,
        [float(value) for value in range(100, 120)],  # even steps
        [],
    ],
)
def test_one_mode_is_left_alone(values: list[float]) -> None:
    assert modes(values) == ()


def test_false_alarms_are_rare_for_even_and_for_skewed_runs() -> None:
    draws = random.Random(8)
    even = sum(bool(modes([draws.gauss(100, 5) for _ in range(10)])) for _ in range(300))
    skewed = sum(bool(modes([draws.expovariate(0.01) for _ in range(20)])) for _ in range(300))
    assert max(even, skewed) <= 15  # of 300, the 5 % of the test
