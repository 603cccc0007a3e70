"""The comparison is one pure object: the same samples and question always give the same cells."""

import random

import pytest

from apps.comparison.cells import Verdict
from apps.comparison.compare import NOT_MEASURED, compare
from apps.comparison.question import Question, QuestionError
from tests.comparison.factories import GIB, MIB, reading

Q = Question()


def test_three_runs_have_a_students_interval() -> None:
    (cell,) = compare([reading(n, v) for n, v in enumerate([100.0, 110.0, 120.0])], Q).cells
    assert (cell.n, cell.mean, cell.median, cell.minimum, cell.maximum) == (3, 110, 110, 100, 120)
    assert cell.stdev == pytest.approx(10)
    assert (cell.ci_low, cell.ci_high) == (pytest.approx(110 - 24.841, abs=1e-3), pytest.approx(110 + 24.841, abs=1e-3))


def test_one_run_has_no_interval_and_too_few_runs() -> None:
    comparison = compare([reading(1, 100.0), reading(2, 50.0, "b")], Q)
    a, b = comparison.cells
    assert (a.n, a.stdev, a.ci_low, a.ratio, a.verdict) == (1, None, None, None, None)
    assert (b.ratio, b.ratio_low, b.verdict) == (0.5, None, Verdict.TOO_FEW)


def test_two_runs_have_a_spread_but_no_interval() -> None:
    (cell,) = compare([reading(1, 100.0), reading(2, 110.0)], Q).cells
    assert cell.stdev is not None
    assert cell.ci_low is None


def test_a_clear_difference_is_judged_with_welchs_interval() -> None:
    ours = [reading(n, v) for n, v in enumerate([100.0, 101.0, 99.0, 100.5])]
    theirs = [reading(10 + n, v, "b") for n, v in enumerate([50.0, 51.0, 49.5])]
    cell = compare(ours + theirs, Q).cells[1]
    assert cell.verdict == Verdict.WORSE
    assert cell.ratio == pytest.approx(0.5006, abs=1e-3)
    assert cell.ratio_low < cell.ratio < cell.ratio_high < 1


def test_welchs_interval_is_scipys() -> None:
    import numpy as np
    from scipy import stats

    a, b = [3.1, 2.9, 3.3, 3.0], [2.0, 2.4, 2.2]
    cell = compare(
        [reading(n, v) for n, v in enumerate(a)] + [reading(9 + n, v, "b") for n, v in enumerate(b)], Q
    ).cells[1]
    expected = stats.ttest_ind(np.log(b), np.log(a), equal_var=False).confidence_interval(0.95)
    assert cell.ratio_low == pytest.approx(np.exp(expected.low))
    assert cell.ratio_high == pytest.approx(np.exp(expected.high))


def test_lower_latency_is_better() -> None:
    question = Question(metric="clat_mean")
    slow = [reading(n, v, metric="clat_mean") for n, v in enumerate([1000.0, 1010.0, 990.0])]
    fast = [reading(9 + n, v, "b", metric="clat_mean") for n, v in enumerate([500.0, 505.0, 495.0])]
    assert compare(slow + fast, question).cells[1].verdict == Verdict.BETTER


def test_noise_is_no_significant_difference() -> None:
    a = [reading(n, v) for n, v in enumerate([100.0, 120.0, 90.0])]
    b = [reading(9 + n, v, "b") for n, v in enumerate([105.0, 95.0, 118.0])]
    assert compare(a + b, Q).cells[1].verdict == Verdict.NO_DIFFERENCE


def test_values_that_never_vary_have_an_interval_of_no_width() -> None:
    a = [reading(n, 100.0) for n in range(3)]
    b = [reading(9 + n, 200.0, "b") for n in range(3)]
    cell = compare(a + b, Q).cells[1]
    assert cell.verdict == Verdict.BETTER
    assert cell.ratio_low == cell.ratio_high == pytest.approx(2)


def test_every_x_and_series_has_a_cell_and_an_empty_one_says_why() -> None:
    readings = [
        reading(1, 1.0, file_size=MIB),
        reading(2, 2.0, file_size=GIB),
        reading(3, 3.0, "b", file_size=MIB),
        reading(4, None, "c", file_size=GIB, missing_reason="not recoverable"),
    ]
    cells = {(cell.x, cell.series): cell for cell in compare(readings, Q).cells}
    assert len(cells) == 6
    assert cells[GIB, "b"].missing == NOT_MEASURED
    assert cells[GIB, "c"].missing == "not recoverable"
    assert (cells[GIB, "c"].n, cells[GIB, "c"].mean, cells[GIB, "c"].runs) == (0, None, (4,))


def test_bounds_are_kept_as_bounds() -> None:
    readings = [
        reading(1, None, low=2.0, high=2.6, quality="approximate"),
        reading(2, None, "b", low=32768.0, quality="lower_bound"),
    ]
    a, b = compare(readings, Q).cells
    assert (a.low, a.high, a.mean, a.missing) == (2.0, 2.6, None, "")
    assert (b.low, b.high, b.quality) == (32768.0, None, "lower_bound")


def test_the_order_of_the_samples_changes_no_digit() -> None:
    readings = [reading(n, 100.0 + n * 1.1, "ab"[n % 2], file_size=(1 + n % 3) * MIB) for n in range(60)]
    shuffled = readings.copy()
    random.Random(7).shuffle(shuffled)
    assert compare(readings, Q) == compare(shuffled, Q)


def test_sizes_stand_by_size_and_unknown_last() -> None:
    readings = [reading(1, 1.0, file_size=None), reading(2, 1.0, file_size=GIB), reading(3, 1.0, file_size=MIB)]
    assert compare(readings, Q).xs == (MIB, GIB, None)


def test_labels_stand_as_the_study_prints_them_and_own_runs_first() -> None:
    readings = [
        reading(1, 1.0, "zebra", position=("paper", 0)),
        reading(2, 1.0, "ape", position=("paper", 1)),
        reading(3, 1.0, "our host", position=("", 0)),
    ]
    comparison = compare(readings, Q)
    assert comparison.series == ("our host", "zebra", "ape")
    assert comparison.baseline == "our host"


def test_series_may_be_several_facts() -> None:
    readings = [
        reading(1, 1.0, facts={"raid_level": "5", "raid_implementation": "hardware"}),
        reading(2, 2.0, facts={"raid_level": "0", "raid_implementation": "software"}),
        reading(3, 3.0, facts={"raid_level": "0", "raid_implementation": None}),
    ]
    found = compare(readings, Question(series=("raid_level", "raid_implementation"))).series
    assert found == ("0 · software", "0 · unknown", "5 · hardware")


def test_any_fact_may_be_the_x_axis() -> None:
    readings = [reading(1, 1.0, facts={"ram": 2 * GIB}), reading(2, 2.0, facts={"ram": GIB})]
    assert compare(readings, Question(x="ram")).xs == (GIB, 2 * GIB)
    assert compare(readings, Question(x="file_size_over_ram")).xs == (0.5, 1.0)


def test_a_fact_nobody_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(QuestionError, match=r"x: found 'colour', expected a fact that these runs have: .*raid_level"):
        compare([reading(1, 1.0, facts={"raid_level": "5"})], Question(x="colour"))


def test_a_baseline_nobody_is_called_is_refused() -> None:
    with pytest.raises(QuestionError, match="baseline: found 'x', expected one of the series: a; or none"):
        compare([reading(1, 1.0)], Question(baseline="x"))


def test_without_a_baseline_nothing_is_judged() -> None:
    comparison = compare([reading(1, 1.0), reading(2, 2.0, "b")], Question(baseline="none"))
    assert comparison.baseline is None
    assert all(cell.ratio is None and cell.verdict is None for cell in comparison.cells)


def test_the_permalink_names_the_baseline_that_was_taken() -> None:
    assert "baseline=a" in compare([reading(1, 1.0), reading(2, 2.0, "b")], Q).question.address


def test_the_usual_baseline_is_the_first_series_with_enough_runs_for_an_interval() -> None:
    few = [reading(1, 1.0), reading(2, 1.1)]
    enough = [reading(3 + n, v, "b") for n, v in enumerate([2.0, 2.1, 2.2])]
    also = [reading(9 + n, v, "c") for n, v in enumerate([3.0, 3.1, 3.2])]
    assert compare([*few, *enough, *also], Q).baseline == "b"
    assert compare([*few, reading(3, 2.0, "b")], Q).baseline == "a", "nobody has enough"
    assert compare([*few, *enough], Question(baseline="a")).baseline == "a", "asked for"


def test_a_run_without_a_value_does_not_make_a_series_the_baseline() -> None:
    missing = [reading(n, None) for n in range(4)]
    enough = [reading(9 + n, v, "b") for n, v in enumerate([2.0, 2.1, 2.2])]
    assert compare([*missing, *enough], Q).baseline == "b"


def test_percentiles_come_from_merged_histograms_and_are_never_averaged() -> None:
    question = Question(metric="clat_p99", operation="randread")
    fast, slow = ((100.0, 990), (200.0, 10)), ((100.0, 500), (9000.0, 500))
    more = {"operation": "randread", "metric": "clat_p99"}
    (cell,) = compare([reading(1, 100.0, bins=fast, **more), reading(2, 9000.0, bins=slow, **more)], question).cells
    assert (cell.mean, cell.merged, cell.figure) == (None, 9000.0, 9000.0)


def test_nothing_measured_is_an_empty_comparison() -> None:
    comparison = compare([], Q)
    assert (comparison.series, comparison.cells, comparison.baseline) == ((), (), None)


def test_ratios_of_values_without_logarithm_are_not_judged() -> None:
    a = [reading(n, 1.0) for n in range(3)]
    b = [reading(9 + n, v, "b") for n, v in enumerate([0.0, 1.0, 2.0])]
    cell = compare(a + b, Q).cells[1]
    assert (cell.ratio, cell.verdict) == (None, None)
