"""What is found and what is not, in simulated months with fixed seeds. The figures stand in `steps.py`."""

import numpy as np
import pytest

from apps.trends.steps import FEWEST, LEAST, noise_of, penalty_of, pulled_in, steps
from tests.sampling import IS_LONG
from tests.trends.nights import CV, noise

SERIES = 200


def found(values: np.ndarray) -> tuple[int, ...]:  # type: ignore[type-arg]
    return steps(np.log(values)).places


def share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def stepped(before: int, after: int, size: float, seed: int) -> np.ndarray:  # type: ignore[type-arg]
    values = noise(before + after, seed)
    values[before:] *= 1 + size
    return values  # type: ignore[no-any-return]


def is_near(places: tuple[int, ...], place: int, by: int = 3) -> bool:
    return any(abs(one - place) <= by for one in places)


def test_of_200_runs_of_pure_noise_hardly_any_series_alarms() -> None:
    alarms = [bool(found(noise(200, seed))) for seed in range(SERIES)]
    assert share(alarms) <= 0.01


@pytest.mark.slow
@pytest.mark.parametrize("n", [FEWEST, 14, 20, 50, 500])
def test_nor_do_few_runs_or_many(n: int) -> None:
    assert share([bool(found(noise(n, seed))) for seed in range(SERIES)]) <= 0.03


@pytest.mark.slow
def test_looking_after_every_night_alarms_in_few_series() -> None:
    """A watch is looked at when a run arrives, so each series of 100 runs is looked at 91 times."""
    alarms = [any(found(noise(100, seed)[:n]) for n in range(FEWEST, 101)) for seed in range(60 if IS_LONG else 30)]
    assert share(alarms) <= 0.08, "1 in 20 of many series; these are few"


@pytest.mark.slow
def test_a_step_of_10_percent_at_a_cv_of_3_percent_is_found_within_three_runs() -> None:
    hits = {
        after: share([is_near(found(stepped(100, after, -0.1, seed)), 100) for seed in range(SERIES)])
        for after in (1, 3, 4, 5)
    }
    assert hits[1] <= 0.01, "one run is never a level"
    assert hits[3] >= 0.88, "93 in 100 of 2,000 seeds"
    assert hits[4] >= 0.97
    assert hits[5] >= 0.99


def test_a_step_is_found_where_it_is() -> None:
    places = [found(stepped(100, 60, -0.1, seed)) for seed in range(SERIES)]
    assert share([len(one) == 1 for one in places]) >= 0.97
    assert share([is_near(one, 100, by=1) for one in places]) >= 0.97


def test_two_steps_there_and_back_are_two() -> None:
    for seed in range(20):
        values = noise(150, seed)
        values[50:100] *= 1.15
        (first, second) = found(values)
        assert abs(first - 50) <= 1
        assert abs(second - 100) <= 1


def test_drift_is_a_slope_and_no_stairs() -> None:
    line = 1 - 0.2 * np.arange(200) / 200
    every = [steps(np.log(line * noise(200, seed))) for seed in range(SERIES)]
    assert share([bool(one.places) for one in every]) <= 0.03
    assert share([one.slope < 0 for one in every]) == 1
    assert np.median([199 * one.slope for one in every]) == pytest.approx(np.log(0.8), abs=0.02)


def test_a_step_in_a_drift_is_still_found() -> None:
    line = 1 - 0.1 * np.arange(200) / 200
    line[120:] *= 0.85
    assert share([is_near(found(line * noise(200, seed)), 120) for seed in range(50)]) >= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("rare", [0.5, 0.2])
def test_two_modes_in_turn_are_no_steps(rare: float) -> None:
    def series(seed: int) -> np.ndarray:  # type: ignore[type-arg]
        modes = np.where(np.random.default_rng(seed + 1000).random(200) < rare, 1.0, 1.2)
        return modes * noise(200, seed, cv=0.01)  # type: ignore[no-any-return]

    assert share([bool(found(series(seed))) for seed in range(SERIES)]) <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize("per_day", [4, 8, 24])
def test_a_rhythm_of_the_day_is_no_step_and_hides_none(per_day: int) -> None:
    rhythm = 1 + 0.05 * np.sin(2 * np.pi * np.arange(200) / per_day)
    assert share([bool(found(rhythm * noise(200, seed))) for seed in range(100)]) <= 0.02
    hits = [is_near(found(rhythm * stepped(120, 80, -0.15, seed)), 120, by=4) for seed in range(50)]
    assert share(hits) >= 0.97


def test_single_wild_runs_are_no_steps() -> None:
    def series(seed: int) -> np.ndarray:  # type: ignore[type-arg]
        values = noise(200, seed)
        values[[20, 60, 61, 130, 180]] *= 0.6
        return values  # type: ignore[no-any-return]

    assert share([bool(found(series(seed))) for seed in range(100)]) <= 0.03


def test_a_large_step_is_found_although_wild_values_are_pulled_in() -> None:
    assert all(is_near(found(stepped(40, 3, -0.6, seed)), 40, by=0) for seed in range(50))


def test_the_noise_is_that_of_a_run_whatever_steps_there_are() -> None:
    logs = [np.log(stepped(100, 100, -0.3, seed)) for seed in range(50)]
    assert np.median([noise_of(one) for one in logs]) == pytest.approx(CV, rel=0.15)
    assert noise_of(np.zeros(40)) == LEAST


def test_wild_values_are_pulled_in_and_a_step_stays() -> None:
    values = np.zeros(40)
    values[20:] = 1.0
    values[5] = -9.0
    robust = pulled_in(values, 0.1)
    assert robust[5] == pytest.approx(-0.25)
    assert list(np.delete(robust, 5)) == list(np.delete(values, 5))


def test_the_penalty_grows_slowly_and_is_more_for_few_runs() -> None:
    assert penalty_of(200, 1.0) == pytest.approx(3.6 * np.log(200) * 1.05)
    assert penalty_of(10, 1.0) == pytest.approx(3.6 * np.log(50) * 2)
    assert penalty_of(200, 0.03) == pytest.approx(penalty_of(200, 1.0) * 0.0009)
