"""Runs of one configuration at one point are repetitions; values of one run, or at several points, are none."""

import statistics
from typing import Any

import pytest

from apps.comparison.cells import Comparison, ComparisonCell, Verdict
from apps.comparison.compare import compare
from apps.comparison.grid import grid
from apps.comparison.likeness import configurations, per_run, several_points
from apps.comparison.question import Question
from apps.comparison.readings import Reading
from tests.comparison.factories import GIB, MIB, reading


def jobs(run: int, values: list[float], series: str = "a", **more: Any) -> list[Reading]:
    """The jobs of one fio run, each with its own value at the same point."""
    return [
        reading(100 * run + section, value, series, run=run, section=section, **more)
        for section, value in enumerate(values)
    ]


def only(comparison: Comparison) -> ComparisonCell:
    (cell,) = comparison.cells
    return cell


def test_three_jobs_of_one_run_are_one_run() -> None:
    cell = only(compare(jobs(1, [100.0, 110.0, 120.0]), Question()))
    assert (cell.n, cell.mean, cell.stdev, cell.ci_low, cell.values) == (1, 110, None, None, (110,))


def test_three_runs_of_three_jobs_have_the_interval_of_three_runs() -> None:
    runs = [
        one for n, middle in enumerate((100.0, 110.0, 120.0)) for one in jobs(n, [middle - 50, middle, middle + 50])
    ]
    cell = only(compare(runs, Question()))
    alone = only(compare([reading(n, value) for n, value in enumerate((100.0, 110.0, 120.0))], Question()))
    assert (cell.n, cell.mean, cell.ci_low, cell.ci_high) == (3, 110, alone.ci_low, alone.ci_high)


def test_nine_values_of_one_run_each_are_no_verdict() -> None:
    """As nine repetitions they would be better with p < 0.001."""
    ours = jobs(1, [200.0 + n for n in range(9)], "b")
    theirs = jobs(2, [100.0 + n for n in range(9)])
    comparison = compare(ours + theirs, Question())
    assert [cell.n for cell in comparison.cells] == [1, 1]
    assert comparison.cells[1].verdict is Verdict.TOO_FEW
    few = next(one for one in comparison.caveats if one.rule == "few_runs")
    assert len(few.cells) == 2


def test_sizes_that_stand_in_one_cell_have_no_interval_and_are_not_tested() -> None:
    readings = [
        reading(10 * place + n, value * (1 + n / 100), name, file_size=size * MIB)
        for name, value, place in (("a", 100.0, 0), ("b", 50.0, 1))
        for n, size in enumerate((100, 100, 100, 200, 200, 200))
    ]
    comparison = compare(readings, Question(x="block_size"))
    assert comparison.correction is None
    for cell in comparison.cells:
        assert cell.n == 6
        assert (cell.ci_low, cell.ratio_low, cell.p, cell.verdict) == (None, None, None, None)
        assert cell.stdev is not None
    tested = compare(readings, Question())
    assert {cell.verdict for cell in tested.cells if cell.series == "b"} == {Verdict.WORSE}


def test_a_pooled_cell_says_that_it_is_not_tested() -> None:
    values = [("a", 100.0, 1), ("a", 90.0, 2), ("b", 50.0, 1), ("b", 45.0, 2)]
    readings = [reading(n, value, name, file_size=size * MIB) for n, (name, value, size) in enumerate(values)]
    comparison = compare(readings, Question(x="block_size"))
    figure = grid(comparison).rows[0].figures[1]
    assert (figure.mixture, figure.judgement) == ("2 unlike configurations", "")
    assert comparison.cells[1].advice == "No interval and no verdict: 2 unlike configurations (file size)"
    (caveat,) = [one for one in comparison.caveats if one.rule == "not_repetitions"]
    assert len(caveat.cells) == 2


def test_percentiles_of_one_runs_jobs_are_never_averaged() -> None:
    more = {"operation": "randread", "metric": "clat_p99"}
    bins = (((100.0, 990), (200.0, 10)), ((100.0, 500), (9000.0, 500)))
    readings = [reading(n, value, run=1, section=n, bins=bins[n], **more) for n, value in enumerate((100.0, 9000.0))]
    cell = only(compare(readings, Question(**more)))
    assert (cell.n, cell.mean, cell.merged, cell.median) == (1, None, 9000.0, 9000.0)


def test_what_is_not_known_does_not_differ_and_the_same_multiple_of_ram_is_one_size() -> None:
    assert several_points([reading(1, 1.0, block_size=None), reading(2, 1.0, block_size=MIB)]) == {}
    assert several_points([reading(1, 1.0, block_size=4096), reading(2, 1.0, block_size=MIB)]) == {
        "block_size": [4096, MIB]
    }
    twice = [reading(n, 1.0, file_size=2 * n * GIB, facts={"ram": n * GIB}) for n in (1, 2)]
    assert several_points(twice) == {}
    assert several_points([reading(n, 1.0, file_size=2 * n * GIB) for n in (1, 2)]) == {"file_size": [2 * GIB, 4 * GIB]}


def test_runs_count_for_their_configuration_and_missing_values_for_none() -> None:
    readings = [*jobs(1, [1.0, 2.0]), reading(2, 3.0), reading(3, 4.0, "b"), reading(4, None, "c")]
    assert dict(configurations(readings)) == {"a": 2, "b": 1}
    assert per_run(readings) == {1: 1.5, 2: 3.0, 3: 4.0}


@pytest.mark.parametrize("values", [[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
def test_the_order_of_a_runs_values_changes_no_digit(values: list[float]) -> None:
    assert per_run(jobs(1, [one / 3 for one in values])) == {1: statistics.fmean(sorted(one / 3 for one in values))}
