"""Verdicts of many cells together, outliers and modes in the comparison itself, and what is said of the method."""

import random

import pytest

from apps.comparison.cells import Comparison, Correction, Outlier, Verdict
from apps.comparison.compare import compare
from apps.comparison.question import Question
from apps.comparison.readings import Reading
from apps.comparison.statistics.method import method_of
from apps.comparison.statistics.modes import Mode
from apps.comparison.statistics.summary import merged_percentile
from apps.parsers.fio.bins import compute_percentile
from tests.comparison.factories import MIB, reading
from tests.comparison.samples import with_moments

Q = Question()


def runs(values: list[float], series: str = "a", first: int = 0, **more: object) -> list[Reading]:
    return [reading(first + n, value, series, **more) for n, value in enumerate(values)]


def borderline(cells: int) -> Comparison:
    """In each cell the same pair, whose p alone is about 0.02."""
    readings = []
    for place in range(cells):
        size = {"file_size": (place + 1) * MIB, "first": 100 * place}
        readings += runs(with_moments(6, 100, 5), "a", **size)  # type: ignore[arg-type]
        readings += runs(with_moments(6, 108, 5), "b", **{**size, "first": 100 * place + 50})  # type: ignore[arg-type]
    return compare(readings, Q)


def test_a_difference_that_many_cells_may_show_by_chance_is_none_after_the_correction() -> None:
    alone, among = borderline(1), borderline(8)
    assert alone.correction == Correction("Holm", 1, 0.05)
    assert among.correction == Correction("Holm", 8, 0.05)
    one, another = alone.cells[1], among.cells[1]
    assert one.p == another.p == one.p_adjusted
    assert one.p < 0.05 < another.p_adjusted == pytest.approx(8 * another.p)
    assert (one.verdict, another.verdict) == (Verdict.BETTER, Verdict.NO_DIFFERENCE)


def test_what_is_not_settled_says_how_many_more_runs_would() -> None:
    settled, open_ = borderline(1).cells[1], borderline(8).cells[1]
    assert (settled.more_runs, settled.advice) == (None, "")
    assert open_.more_runs is not None
    assert 2 <= open_.more_runs <= 10
    assert open_.advice.startswith(f"{open_.more_runs} more runs of each would settle this")


def test_the_advised_runs_do_settle_it() -> None:
    """Four of five times they would; with the same spread and difference as now they do."""
    more = borderline(8).cells[1].more_runs
    assert more is not None
    readings = []
    for place in range(8):
        size = {"file_size": (place + 1) * MIB, "first": 100 * place}
        readings += runs(with_moments(6 + more, 100, 5), "a", **size)  # type: ignore[arg-type]
        readings += runs(with_moments(6 + more, 108, 5), "b", **{**size, "first": 100 * place + 50})  # type: ignore[arg-type]
    assert {cell.verdict for cell in compare(readings, Q).cells if cell.verdict} == {Verdict.BETTER}


def test_one_run_says_what_is_missing() -> None:
    cell = compare([reading(1, 100.0), reading(2, 50.0, "b")], Q).cells[1]
    assert (cell.more_runs, cell.method) == (2, "means")
    assert cell.advice == "2 more runs of this series and 2 more runs of the baseline would give an interval"
    assert compare([reading(1, 100.0), reading(2, 50.0, "b")], Q).correction is None


def test_effect_size_stands_beside_significance() -> None:
    cell = borderline(1).cells[1]
    assert cell.effect_size == pytest.approx(8 / 5 * 0.9225, abs=0.01)  # J of ten degrees of freedom


def test_outliers_are_marked_with_their_run_and_still_counted() -> None:
    values = [100.0, 101.0, 99.0, 100.5, 30.0]
    (cell,) = compare(runs(values), Q).cells
    assert cell.outliers == (Outlier(4, 30.0),)
    assert (cell.n, cell.minimum, cell.mean) == (5, 30.0, pytest.approx(86.1))


def test_two_modes_in_a_cell_are_two_modes() -> None:
    (cell,) = compare(runs([100.0, 201, 99, 200, 101, 199, 100.5, 200.5]), Q).cells
    assert cell.modes == (Mode(4, 100.25), Mode(4, 200.25))
    assert "Two modes" in method_of(compare(runs([100.0, 201, 99, 200, 101, 199, 100.5, 200.5]), Q))


def test_the_same_question_has_the_same_digits_again() -> None:
    draws = random.Random(9)
    readings = runs([draws.lognormvariate(4, 0.3) for _ in range(6)])
    readings += runs([draws.lognormvariate(4.2, 0.3) for _ in range(6)], "b", 50)
    first = compare(readings, Q)
    draws.shuffle(readings)
    assert compare(readings, Q) == first
    assert first.cells[1].method in ("welch", "bootstrap")


def test_percentiles_are_held_against_each_other_by_medians_and_never_averaged() -> None:
    question = Question(metric="clat_p99", operation="randread")
    more = {"operation": "randread", "metric": "clat_p99"}
    ours = runs([1e5, 1.1e5, 1.2e5, 1.3e5, 9e5], **more)
    theirs = runs([2e5, 2.1e5, 2.2e5, 2.3e5, 2.4e5], "b", 50, **more)
    a, b = compare(ours + theirs, question).cells
    assert (a.mean, b.mean, b.method) == (None, None, "bootstrap")
    assert b.ratio == pytest.approx(2.2e5 / 1.2e5)
    few = compare(ours[:4] + theirs[:4], question).cells[1]
    assert (few.method, few.ratio_low, few.verdict) == ("medians", None, Verdict.TOO_FEW)
    assert few.advice == "1 more run of this series and 1 more run of the baseline would give an interval"


def test_a_percentile_of_merged_histograms_is_numpys_of_all_values() -> None:
    import numpy as np

    draws = random.Random(10)
    values = [[draws.randint(1, 50) * 1000 for _ in range(200)] for _ in range(3)]
    bins = [[(value, run.count(value)) for value in set(run)] for run in values]
    for percent in (50, 95, 99.9):
        expected = np.quantile(np.concatenate(values), percent / 100, method="inverted_cdf")
        assert merged_percentile(bins, percent) == expected


def test_a_merged_percentile_is_that_of_the_runs_page() -> None:
    """99.95 % of 2,000: fio's long double says that 1,999 are not enough, a double says that they are."""
    halves = [[(1, 1000)], [(1, 999), (9, 1)]]
    assert merged_percentile(halves, 99.95) == compute_percentile([(1, 1999), (9, 1)], 99.95) == 9
    assert merged_percentile([], 99.95) is None


def test_the_method_names_what_was_used_and_nothing_else() -> None:
    alone = method_of(compare([reading(1, 100.0)], Q))
    assert alone == "Means, with Student's 95 % interval from 3 runs on; one run has no interval."
    said = method_of(borderline(8))
    assert "after Holm's correction for 8 cells" in said
    assert "Outliers" not in said
    three = method_of(compare(runs([1.0, 2.0, 3.0]) + runs([2.0, 3.0, 4.0], "b", 50), Q))
    assert "Welch" in three
    assert "bootstrap" not in three
    assert "A verdict needs p < 0.05. g is Hedges' effect size." in three
