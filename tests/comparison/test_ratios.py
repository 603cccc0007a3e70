"""Ratios, their significance and effect size against published examples and against SciPy."""

import math
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from apps.comparison.statistics.ratios import RESAMPLES, SEED, Ratio, hedges_g, holm, ratios
from apps.comparison.statistics.verdicts import to_a_verdict, to_an_interval
from tests.comparison.samples import with_moments

ROOT = Path(__file__).parents[2]
# Student, The probable error of a mean, Biometrika 6 (1908): additional hours of sleep by two drugs.
SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
SKEWED = [100.0, 101, 102, 103, 104, 106, 110, 130, 190, 400]


def ratio(values: list[float], baseline: list[float]) -> Ratio | None:
    return ratios([(values, baseline)])[0]


def noisy(draws: random.Random, n: int, middle: float = 100) -> list[float]:
    return [middle * math.exp(draws.gauss(0, 0.1)) for _ in range(n)]


def test_welchs_interval_and_p_are_those_of_students_sleep_data() -> None:
    """R's documentation of t.test on these data: p = 0.07939, interval -3.3654832 to 0.2054832. Values whose
    logarithms they are have the same test.
    """
    found = ratio(*[[math.exp(hours) for hours in drug] for drug in SLEEP])
    assert found is not None
    assert (found.method, found.p) == ("welch", pytest.approx(0.07939, abs=5e-6))
    assert [math.log(bound) for bound in (found.low, found.high)] == pytest.approx([-3.3654832, 0.2054832], abs=1e-6)  # type: ignore[arg-type]


def test_hedges_g_is_that_of_the_text_book() -> None:
    """Borenstein, Hedges, Higgins, Rothstein: Introduction to Meta-Analysis (2009), chapter 4: means 103 and 100,
    deviations 5.5 and 4.5, 50 in each group: d = 0.5970, J = 0.9923, g = 0.5924.
    """
    groups = [np.array([with_moments(50, *moments)]) for moments in ((103, 5.5), (100, 4.5))]
    assert hedges_g(*groups) == [pytest.approx(0.5924, abs=5e-5)]


def test_without_spread_there_is_no_effect_size() -> None:
    assert hedges_g(np.full((1, 3), 1.0), np.full((1, 3), 2.0)) == [None]


@pytest.mark.parametrize(
    ("ps", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Wikipedia, Holm-Bonferroni method, its example
        ([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09]),  # R: p.adjust(1:5 / 100, "holm")
        ([0.5, 0.9], [1.0, 1.0]),
        ([], []),
    ],
)
def test_holms_adjusted_p(ps: list[float], adjusted: list[float]) -> None:
    assert holm(ps) == pytest.approx(adjusted)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_rejects_just_what_his_steps_reject(ps: list[float]) -> None:
    """The procedure as he put it: from the smallest on, stop at the first p above 0.05 / (those left)."""
    rejected = set()
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        if ps[place] * (len(ps) - rank) >= 0.05:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(ps)) if p < 0.05} == rejected


def test_three_and_four_runs_are_welchs_alone() -> None:
    draws = random.Random(1)
    assert {ratio(noisy(draws, n), noisy(draws, 12)).method for n in (3, 4) for _ in range(9)} == {"welch"}  # type: ignore[union-attr]


def test_five_to_seven_runs_have_the_wider_of_both_intervals() -> None:
    draws = random.Random(2)
    methods = set()
    for _ in range(20):
        pair = noisy(draws, 6), noisy(draws, 5)
        found, logs = ratio(*pair), [np.log(sorted(side)) for side in pair]
        welch = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
        drawn = bootstrap(*logs)
        assert found is not None
        assert math.log(found.high / found.low) == pytest.approx(max(welch.high - welch.low, drawn.high - drawn.low))  # type: ignore[operator]
        methods.add(found.method)
    assert methods == {"welch", "bootstrap"}


def bootstrap(ours: object, theirs: object) -> stats._common.ConfidenceInterval:
    return stats.bootstrap(
        (ours, theirs),
        lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis),
        n_resamples=RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(SEED),
    ).confidence_interval


def test_skewed_runs_have_scipys_bootstrap_of_medians_and_mann_and_whitneys_p() -> None:
    theirs = noisy(random.Random(4), 10)
    found, interval = ratio(SKEWED, theirs), bootstrap(np.log(SKEWED), np.log(sorted(theirs)))
    assert found is not None
    assert (found.method, found.ratio) == (
        "bootstrap",
        pytest.approx(math.exp(np.median(np.log(SKEWED)) - np.median(np.log(theirs)))),
    )
    assert (found.low, found.high) == (pytest.approx(math.exp(interval.low)), pytest.approx(math.exp(interval.high)))
    assert found.p == pytest.approx(stats.mannwhitneyu(SKEWED, theirs).pvalue)


def test_a_pair_has_the_same_digits_whatever_stands_beside_it_and_in_whatever_order() -> None:
    draws = random.Random(5)
    many = [(noisy(draws, n), noisy(draws, n)) for n in (3, 6, 10, 10) for _ in range(25)] + [(SKEWED, SKEWED[::-1])]
    together = ratios(many)
    assert {one.method for one in together if one} == {"welch", "bootstrap"}
    for place in (0, 30, 60, 100):
        ours, theirs = many[place]
        assert ratio(ours[::-1], sorted(theirs)) == together[place]


def test_runs_that_never_vary_have_an_interval_of_no_width() -> None:
    for n in (3, 6, 9):
        found = ratio([200.0] * n, [100.0] * n)
        assert found is not None
        assert (found.low, found.high, found.p) == (pytest.approx(2), pytest.approx(2), 0)
        same = ratio([100.0] * n, [100.0] * n)
        assert same is not None
        assert same.p == 1


def test_percentiles_are_held_against_each_other_by_medians_from_five_runs_on() -> None:
    draws = random.Random(6)
    few, enough = ratios(
        [(noisy(draws, 4, 50), noisy(draws, 9)), (noisy(draws, 5, 50), noisy(draws, 9))], of_medians=True
    )
    assert few is not None
    assert (few.method, few.low, few.p) == ("medians", None, None)
    assert enough is not None
    assert enough.method == "bootstrap"
    assert enough.high is not None
    assert enough.high < 1


@pytest.mark.parametrize(("d", "n"), [(0.8, 26), (1.0, 17), (1.2, 12)])
def test_advice_is_cohens_table(d: float, n: int) -> None:
    """Cohen, Statistical Power Analysis (1988), table 2.4.1: runs in each group for power 0.80 at two-sided 0.05."""
    groups = [[math.exp(value) for value in with_moments(5, mean, 0.1)] for mean in (0.1 * d, 0)]
    advice = to_a_verdict(*groups, 0.05)
    assert advice.more_runs == n - 5
    assert advice.text == f"{n - 5} more runs of each would settle this, if difference and spread stay as they are"


def test_a_stricter_level_asks_for_more_runs() -> None:
    groups = [[math.exp(value) for value in with_moments(5, mean, 0.1)] for mean in (0.1, 0)]
    strict = to_a_verdict(*groups, 0.05 / 20).more_runs
    assert strict is not None
    assert strict > 12


def test_what_runs_can_not_settle_is_said() -> None:
    flat = [[math.exp(value) for value in with_moments(5, mean, 0.1)] for mean in (0.001, 0)]
    assert to_a_verdict(*flat, 0.05).more_runs is None
    assert "More runs will not part them" in to_a_verdict(flat[1], flat[1], 0.05).text


def test_below_three_runs_the_missing_ones_are_counted() -> None:
    assert to_an_interval(1, 5, 3).text == "2 more runs of this series would give an interval"
    assert (
        to_an_interval(2, 1, 3).text
        == "1 more run of this series and 2 more runs of the baseline would give an interval"
    )


def test_percentiles_have_ranks_and_no_effect_size_of_their_means() -> None:
    draws = random.Random(7)
    ours, theirs = noisy(draws, 5, 50), noisy(draws, 9)
    (found,) = ratios([(ours, theirs)], of_medians=True)
    assert found is not None
    assert (found.p, found.effect_size) == (pytest.approx(stats.mannwhitneyu(ours, theirs).pvalue), None)


def test_resamples_that_hardly_vary_still_have_an_interval() -> None:
    """BCa has none where no resample lies below the value, as with eight equal runs and two stalls."""
    found = ratio([100.0] * 8 + [10.0, 11.0], noisy(random.Random(8), 10))
    assert found is not None
    assert found.method == "bootstrap"
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.ratio <= found.high
    (percentiles,) = ratios([([100.0] * 9, [50.0] * 9)], of_medians=True)
    assert percentiles is not None
    assert (percentiles.method, percentiles.low, percentiles.high) == ("bootstrap", pytest.approx(2), pytest.approx(2))


SIDES = ([100.0, 101, 102, 103, 104, 106, 110, 130, 190, 400], [50.0, 51, 52, 53, 54, 55, 56, 57, 58, 59])
AGAIN = f"""
from apps.comparison.statistics.ratios import ratios
print(ratios([{SIDES}]))
"""


@pytest.mark.slow
def test_another_process_gives_the_same_digits() -> None:
    """The bootstrap's seed is its own, and the order in which a process keeps words is nowhere in it."""
    told = subprocess.run(
        [sys.executable, "-c", AGAIN],
        env={**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") == "4242" else "4242"},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert told == f"{ratios([SIDES])}\n"
    assert "bootstrap" in told
