"""Seed 000: closed to users, queues off, load about zero."""

from apps.comparison.caveats.not_idle import at_once, check
from tests.comparison.caveats.machines import at
from tests.comparison.factories import MIB, reading

SIZE = 100 * MIB


def test_a_load_before_the_run_is_said() -> None:
    assert check(reading(1, 1.0, facts={"load": "2.4"})) == "load average 2.40 before the run > 0.5"


def test_crs4s_load_of_about_zero_is_silent() -> None:
    for load in ("0.05", 0, None, "unknown", "high"):
        assert check(reading(1, 1.0, facts={"load": load})) is None


def test_two_runs_on_one_host_at_the_same_time_are_named() -> None:
    cells = {
        (SIZE, "a"): [reading(1, 1.0, "a", facts={"host": "aiodda2"}, evidence=at(0, lasting=5))],
        (SIZE, "b"): [reading(2, 1.0, "b", facts={"host": "aiodda2"}, evidence=at(3, lasting=5))],
        (SIZE, "c"): [reading(3, 1.0, "c", facts={"host": "noral3"}, evidence=at(3, lasting=5))],
    }
    told = "run 1 (2026-03-02 12:00:00 to 12:05:00) and run 2 (2026-03-02 12:03:00 to 12:08:00) at the same time on aiodda2"
    assert at_once(cells) == {(SIZE, "a"): told, (SIZE, "b"): told}


def test_a_long_run_overlaps_all_that_begin_in_it() -> None:
    runs = [reading(n, 1.0, facts={"host": "h"}, evidence=at(n, 60 if n == 0 else 0.5)) for n in range(3)]
    assert set(at_once({(SIZE, str(one.run)): [one] for one in runs})) == {(SIZE, "0"), (SIZE, "1"), (SIZE, "2")}


def test_one_after_the_other_is_silent() -> None:
    runs = [reading(n, 1.0, facts={"host": "h"}, evidence=at(n, lasting=1)) for n in range(3)]
    assert not at_once({(SIZE, "a"): runs})
