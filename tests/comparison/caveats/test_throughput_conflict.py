"""Seed 001: ten IOzone writers, 1 418 609.94 KB/s for the children, 3 667.14 for the parent, 0 for the slowest."""

from apps.comparison.caveats.throughput_conflict import check
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading

KB = 1024.0
WRITERS = {"bandwidth_parent": 3667.14 * KB, "bandwidth_min": 0.0, "bandwidth_mean": 141_860.99 * KB}
READERS = {"bandwidth_parent": 174_440.08 * KB, "bandwidth_min": 0.0, "bandwidth_mean": 110_591.76 * KB}


def test_thumpers_ten_writers_never_wrote_at_the_same_time() -> None:
    found = check(reading(1, 1_418_609.94 * KB, threads=10, beside=WRITERS))
    assert plain(found) == (
        "children together 1.45 GB/s, parent 3.76 MB/s: 387 ×, more than 2 ×; the slowest child 0 B/s; "
        "the average 145 MB/s = 1.45 GB/s ÷ 10 hides it"
    )


def test_thumpers_one_reader_made_the_whole_sum() -> None:
    assert "6.34 ×" in plain(check(reading(1, 1_105_917.62 * KB, operation="read", threads=10, beside=READERS)))


def test_children_and_parent_that_agree_are_silent() -> None:
    fine = {"bandwidth_parent": 350e6, "bandwidth_min": 80e6, "bandwidth_mean": 92e6}
    assert check(reading(1, 368e6, threads=4, beside=fine)) is None


def test_one_child_has_no_average_that_could_hide_it() -> None:
    alone = {"bandwidth_parent": 75.5e6, "bandwidth_min": 1.69e9, "bandwidth_mean": 1.69e9}
    assert "average" not in plain(check(reading(1, 1.69e9, threads=1, beside=alone)))


def test_runs_of_other_tools_are_silent() -> None:
    assert check(reading(1, 1e9)) is None
