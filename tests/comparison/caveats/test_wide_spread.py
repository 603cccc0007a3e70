"""Seed 004: "different figures came out"; the dd lines of SAS RAID 10 under ESXi (43, 49, 53) lie between 22 and 46 MB/s.

Seed 000: getc() of a 100 MB file on the four software arrays, which lie within 0.2 %. Both as loaded: test_on_reports.py.
"""

from apps.comparison.caveats.wide_spread import check
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading

ESXI = [22_342_325.0, 23_538_540.0, 46_489_592.0]
CRS4 = [63_517.3 * 1024, 63_584.7 * 1024, 63_669.5 * 1024, 63_465.4 * 1024]


def test_tristans_three_sizes_in_one_cell_spread_by_half() -> None:
    found = check([reading(n, value) for n, value in enumerate(ESXI)])
    assert plain(found) == "n = 3: standard deviation ÷ mean = 13.6 MB/s ÷ 30.8 MB/s = 44.2% > 10%"


def test_runs_within_a_tenth_are_silent() -> None:
    assert check([reading(n, value) for n, value in enumerate(CRS4)]) is None


def test_two_runs_are_left_to_the_rule_about_few() -> None:
    assert check([reading(1, 8_919_656.0), reading(2, 6_500_000.0)]) is None
    assert check([]) is None


def test_thirteen_record_sizes_of_one_run_are_no_runs_that_differ() -> None:
    assert check([reading(n, 4e9 / (n + 1), run=78) for n in range(13)]) is None
