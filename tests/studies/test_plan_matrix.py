"""Sizes of a plan's cells, its holes and their reasons, the cache rule, and how long the rest takes."""

import pytest

from apps.studies.plans.matrix import Matrix, MatrixColumn, MatrixRow, cache_findings, file_size_for
from apps.studies.plans.problems import PlanError
from apps.studies.plans.progress import HeldRun, WaitingCell, estimate, progress_of
from apps.studies.plans.stopping_rule import half_width, is_enough, is_steady, stopping_of

MIB, GIB = 1 << 20, 1 << 30
SIZES = [MatrixColumn(f"{mib}mb", mib * MIB) for mib in (100, 500, 1000, 2000, 4000, 8000)]
CRS4 = [
    MatrixRow("3ware", "aiodda2", GIB, 2000 * MIB, "32-bit machine and system"),
    MatrixRow("single", "noral3", 2 * GIB),
    MatrixRow("scsi", "agumu02", 2 * GIB),
]


def test_a_multiple_of_the_ram_is_another_size_on_each_host() -> None:
    four = MatrixColumn("4x", ram_multiple=4)
    assert file_size_for(four, GIB) == 4 * GIB
    assert file_size_for(four, 2 * GIB) == 8 * GIB
    assert file_size_for(MatrixColumn("1.5x", ram_multiple=1.5), 1000 * MIB + 1) == 1501 * MIB, (
        "rounded up, never below the rule"
    )
    assert file_size_for(four, None) is None
    assert file_size_for(MatrixColumn("none"), GIB) is None


def test_a_row_ends_at_its_largest_file_with_the_reason() -> None:
    matrix = Matrix(CRS4, SIZES)
    reasons = [matrix.cell("3ware", column.name).reason for column in SIZES]
    assert reasons[:4] == [""] * 4
    assert reasons[4:] == ["Files end at 2\u202f000\u00a0MiB here: 32-bit machine and system."] * 2
    assert not any(matrix.cell("single", column.name).reason for column in SIZES)


def test_a_multiple_of_an_unknown_ram_is_no_size() -> None:
    matrix = Matrix([MatrixRow("a", "rio288")], [MatrixColumn("4x", ram_multiple=4)])
    assert matrix.cell("a", "4x").reason == "The RAM of rio288 is not known, so 4 × RAM is no size."
    assert matrix.steps("interleaved", 3) == []


def test_what_somebody_said_of_a_cell_comes_before_what_follows_from_its_row() -> None:
    matrix = Matrix(CRS4, SIZES, {("3ware", "8000mb"): "The disk died."})
    assert matrix.cell("3ware", "8000mb").reason == "The disk died."
    assert len(matrix.steps("interleaved", 1)) == 16


def test_crs4_meets_four_times_the_ram_on_its_2_gb_hosts_and_not_on_the_1_gb_host() -> None:
    found = {one.host: one for one in cache_findings(Matrix(CRS4, SIZES), 4, 0.05)}
    assert found["aiodda2"].multiple == pytest.approx(1.953, abs=0.001)
    assert found["noral3"].multiple == pytest.approx(3.906, abs=0.001)
    assert {host: one.is_met for host, one in found.items()} == {"aiodda2": False, "noral3": True, "agumu02": True}
    assert found["noral3"].arithmetic == "8\u202f000\u00a0MiB / 2\u00a0GiB RAM = 3.91 × RAM"
    assert not any(one.is_met for one in cache_findings(Matrix(CRS4, SIZES), 4)), (
        "without tolerance 3.91 is less than 4"
    )


def test_the_cache_rule_cannot_be_told_where_the_ram_is_not_known() -> None:
    [found] = cache_findings(Matrix([MatrixRow("a", "nas")], [MatrixColumn("10g", 10**10)]), 2)
    assert (found.multiple, found.is_met) == (None, None)


def test_a_cell_is_what_its_runs_say() -> None:
    done, failed, going = HeldRun(1, "finished"), HeldRun(2, "failed"), HeldRun(3, "running", 0.4)
    assert progress_of([], 3, 3).state == "waiting"
    assert progress_of([done], 3, 3).state == "partly"
    assert progress_of([done, going], 3, 3).state == "running"
    assert progress_of([done, going], 3, 3).fraction == 0.4
    assert progress_of([done, failed], 3, 3).state == "failed"
    assert progress_of([done] * 3, 1, 1).state == "done"
    assert progress_of([failed, done], 1, 1).state == "done", "it was run again"
    assert progress_of([], 3, 3, reason="no disk").state == "not run"
    assert progress_of([], 10, 10, is_report=True).state == "not held"


def test_a_reports_mean_stands_for_all_rounds() -> None:
    found = progress_of([HeldRun(1, "finished")], 10, 10, are_means=True, is_report=True)
    assert (found.state, found.done, found.most) == ("as reported", 10, 10)


def test_of_several_runs_for_one_step_the_newest_counts() -> None:
    again = [HeldRun(1, "failed", round=1), HeldRun(2, "finished", round=2), HeldRun(3, "finished", round=1)]
    assert progress_of(again, 2, 2).done == 2
    assert progress_of([HeldRun(1, "finished", round=1), HeldRun(2, "finished", round=1)], 2, 2).done == 1


def test_steady_state_is_that_of_the_snia_performance_test() -> None:
    rule = stopping_of({"kind": "steady_state"})
    assert (rule.least, rule.most) == (5, 25)
    assert is_steady([900, 100, 98, 102, 101, 99], rule.data)
    assert not is_steady([100, 98, 102, 101], rule.data), "four rounds are no window"
    assert not is_steady([100, 100, 100, 100, 121], rule.data), "range 21 of a mean of 104.2 is 20.2 %"
    assert not is_steady([94, 97, 100, 103, 106], rule.data), "range 12 %, but it rises by 12 % of the mean"
    assert is_steady([95.5, 97.5, 100, 102.5, 104.5], rule.data), "it rises by 9.2 %"


def test_a_half_width_rule_goes_on_until_the_interval_is_narrow() -> None:
    rule = stopping_of({"kind": "half_width", "percent": 2, "at_least": 3, "at_most": 10})
    # Student's t for 2 degrees of freedom is 4.303: 4.303 × 1 / √3 / 100
    assert half_width([99, 100, 101], 0.95) == pytest.approx(0.02484, abs=1e-4)
    assert half_width([99, 100, 101], 0.99) == pytest.approx(9.925 / 3**0.5 / 100, abs=1e-5)  # 9.925 at 99 %
    assert not is_enough(rule, [99, 100, 101])
    assert is_enough(rule, [99.5, 100, 100.5])
    assert not is_enough(rule, [100, 100])
    assert is_enough(rule, [1, 200] * 5), "the cap"


def test_a_rule_that_wants_more_leaves_a_cell_partly_done() -> None:
    runs = [HeldRun(pk, "finished") for pk in range(5)]
    assert progress_of(runs, 3, 10, is_enough=False).state == "partly"
    assert progress_of(runs, 3, 10, is_enough=False).needed == 6
    assert progress_of(runs, 3, 10).state == "done"


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"kind": "until friday"}, "stopping.kind"),
        ({"kind": "fixed", "rounds": 0}, "stopping.rounds"),
        ({"kind": "fixed", "rounds": 3, "at_most": 5}, "stopping.at_most"),
        ({"kind": "half_width", "percent": 2, "at_least": 8, "at_most": 5}, "stopping.at_least"),
        ({"kind": "half_width", "percent": "2", "at_most": 5}, "stopping.percent"),
        ([], "stopping.kind"),
    ],
)
def test_a_rule_that_is_none_is_refused_with_the_field(data, field) -> None:
    with pytest.raises(PlanError) as refused:
        stopping_of(data)
    assert refused.value.field == field


def test_the_rest_takes_what_runs_of_the_cell_took_and_hosts_work_side_by_side() -> None:
    cells = [
        WaitingCell("a", "one", 100, 2, past=[10.0, 12.0, 11.0]),  # its own runs: 2 × 11 s
        WaitingCell("a", "one", 200, 1),  # by its row's rate of 0.11 s a byte: 22 s
        WaitingCell("b", "two", 100, 3, asked=30),  # by its workload: 90 s
        WaitingCell("c", "two", 100, 4),  # nobody knows
    ]
    found = estimate(cells)
    assert found.by_host == {"one": pytest.approx(44), "two": 90}
    assert found.seconds == 90
    assert (found.known, found.unknown) == (6, 4)


def test_a_small_file_that_took_long_does_not_make_a_large_one_take_days() -> None:
    """CRS4's first cell is 100 MB: what its run took beside its bytes is not multiplied by eighty."""
    cells = [
        WaitingCell("a", "one", 100, 9, past=[6.0], guessed=5.5),
        WaitingCell("a", "one", 8000, 10, guessed=45.0),
        WaitingCell("b", "one", 8000, 1, guessed=45.0),  # of another row nothing is known
    ]
    found = estimate(cells)
    assert found.of_cells == [54.0, pytest.approx(10 * 6.0 * 45 / 5.5), None]
    assert (found.known, found.unknown) == (19, 1)


def test_a_run_that_waited_for_a_host_that_was_away_does_not_stand_for_the_others() -> None:
    away = WaitingCell("a", "one", 100, 10, past=[3600.0, 10.0])
    assert estimate([away]).seconds == 100
