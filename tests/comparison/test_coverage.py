"""Which interval stands with few runs is chosen by how often it holds the truth; these fail if the choice were wrong."""

import pytest

from tests.comparison.coverage import SHAPES, coverage

NOMINAL = 0.95
SHORT = 0.94  # of 2,000 repetitions, two standard errors below


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [3, 4])
def test_of_three_and_four_runs_welchs_interval_holds_the_truth_and_the_bootstraps_does_not(shape: str, n: int) -> None:
    covered = coverage(shape, n).covered
    assert covered["spindle"] == covered["welch"] >= SHORT > covered["bootstrap"]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_of_five_runs_the_wider_of_both_holds_it_at_least_as_often_as_each(shape: str) -> None:
    covered = coverage(shape, 5, 600).covered
    assert covered["spindle"] >= max(covered["welch"], covered["bootstrap"])
    assert covered["spindle"] >= NOMINAL - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_of_eight_runs_what_is_chosen_by_their_shape_holds_it(shape: str) -> None:
    assert coverage(shape, 8, 600).covered["spindle"] >= NOMINAL - 0.02
