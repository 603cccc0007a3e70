"""Seed 003: IOzone's thirteen record sizes are one run. Seed 004: dd at three sizes. Seed 000: ten runs of each cell are repetitions."""

from apps.comparison.caveats.not_repetitions import RULE, check
from apps.comparison.compare import compare
from apps.comparison.question import Question
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, MIB, reading

RECORDS = [4096 * 2**n for n in range(13)]


def test_dtns_thirteen_record_sizes_are_one_run_at_thirteen_points() -> None:
    readings = [reading(n, 4e9 + n, run=78, file_size=8 * GIB, block_size=size) for n, size in enumerate(RECORDS)]
    assert plain(check(readings)) == (
        "13 values of 1 run: n = 1, each run with the mean of its values; "
        "13 different block sizes (4 KiB, 8 KiB, 16 KiB, …, 16 MiB): no interval and no verdict"
    )
    cell = compare(readings, Question()).cells[0]
    assert (cell.n, cell.ci_low) == (1, None)


def test_each_record_size_by_itself_is_silent() -> None:
    readings = [reading(n, 4e9 + n, run=78, file_size=8 * GIB, block_size=size) for n, size in enumerate(RECORDS)]
    assert RULE.name not in {one.rule for one in compare(readings, Question(x="block_size")).caveats}


def test_tristans_sizes_and_arrays_under_one_interface_are_named() -> None:
    values = {"sas-raid10": (100, 46_489_592.0), "ref-raid5": (1000, 167_854_882.0)}
    readings = [
        reading(n, value, label, file_size=size * MIB, facts={"interface": "SAS"})
        for n, (label, (size, value)) in enumerate(values.items())
    ]
    (found,) = [
        one
        for one in compare(readings, Question(x="interface", series=("interface",))).caveats
        if one.rule == RULE.name
    ]
    assert plain(found.arithmetic[0]) == (
        "2 different file sizes (100 MiB, 1 000 MiB): no interval and no verdict; "
        "2 runs of 2 configurations (sas-raid10: 1; ref-raid5: 1)"
    )


def test_crs4s_ten_runs_of_one_cell_are_silent() -> None:
    assert check([reading(n, 6e7 + n, file_size=1000 * MIB, facts={"repetition": n}) for n in range(10)]) is None
    assert check([reading(1, 1.0)]) is None
    assert check([reading(1, None), reading(2, None, file_size=MIB)]) is None
