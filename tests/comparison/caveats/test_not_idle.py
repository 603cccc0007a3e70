"""Seed 000: closed to users, queues off, load practically zero (lines 103 to 105).

No machine of the report was busy, so nothing in it can fire; its runs have that load as a fact (test_on_reports.py). The
figures are its block writes of 100 MB on the hardware arrays, of one host, as if they had been at the same time.
"""

from apps.comparison.caveats.not_idle import LOADS, at_once, check
from apps.comparison.caveats.not_idle import RATES as LIMITED
from apps.core.quantities import written
from apps.runs.activity import ACTIVITY, RATES
from tests.comparison.caveats.machines import at
from tests.comparison.factories import MIB, reading

SIZE = 100 * MIB


def test_a_load_before_the_run_is_said() -> None:
    assert check(reading(1, 1.0, facts={"load": "2.4"})) == "load 2.40 before the run > 0.5"


def test_crs4s_load_of_about_zero_is_silent() -> None:
    for load in ("0.05", 0, None, "unknown", "high"):
        assert check(reading(1, 1.0, facts={"load": load})) is None


def test_two_runs_on_one_host_at_the_same_time_are_named() -> None:
    cells = {
        (SIZE, "a"): [reading(1, 177_456.5 * 1024, "a", facts={"host": "aiodda2"}, evidence=at(0, lasting=5))],
        (SIZE, "b"): [reading(2, 166_733.9 * 1024, "b", facts={"host": "aiodda2"}, evidence=at(3, lasting=5))],
        (SIZE, "c"): [reading(3, 316_099.9 * 1024, "c", facts={"host": "noral3"}, evidence=at(3, lasting=5))],
    }
    told = "run 1 (2026-03-02 12:00:00 to 12:05:00) and run 2 (2026-03-02 12:03:00 to 12:08:00) at the same time on aiodda2"
    assert at_once(cells) == {(SIZE, "a"): told, (SIZE, "b"): told}


def test_a_long_run_overlaps_all_that_begin_in_it() -> None:
    runs = [reading(n, 1.0, facts={"host": "h"}, evidence=at(n, 60 if n == 0 else 0.5)) for n in range(3)]
    assert set(at_once({(SIZE, str(one.run)): [one] for one in runs})) == {(SIZE, "0"), (SIZE, "1"), (SIZE, "2")}


def test_one_after_the_other_is_silent() -> None:
    runs = [reading(n, 1.0, facts={"host": "h"}, evidence=at(n, lasting=1)) for n in range(3)]
    assert not at_once({(SIZE, "a"): runs})


def _said(**facts: object) -> str:
    return written(check(reading(1, 1.0, facts=facts)) or "")


def test_what_the_agent_saw_is_said_with_its_limits() -> None:
    assert _said(load_before=2.4) == "load 2.40 before the run > 0.5"
    assert _said(load_during=1.2) == "other processes kept 1.20 cores busy during the run > 0.5"
    assert _said(disk_before=34_100_000) == "disks 34.1\u00a0MB/s before the run > 1.00\u00a0MB/s"
    assert _said(network_before=1_000_001) == "network 1.00\u00a0MB/s before the run > 1.00\u00a0MB/s"
    assert _said(other_disk_during=2e6, network_during=125e6) == (
        "disks other than its own 2.00\u00a0MB/s during the run > 1.00\u00a0MB/s; "
        "network 125\u00a0MB/s during the run > 1.00\u00a0MB/s"
    )


def test_a_machine_at_rest_and_one_that_nobody_looked_at_are_silent() -> None:
    rates = dict.fromkeys(RATES, 1_000_000)
    assert not _said(load_before=0.5, load_during=0.5, **rates)
    assert not _said(load_before=None, disk_before="unknown", network_during=float("nan"))
    assert not _said()


def test_a_short_burst_is_not_the_mean_of_a_run() -> None:
    assert not _said(other_disk_during=900_000, other_disk_during_max=90_000_000, network_during_max=90_000_000)


def test_a_label_and_the_agent_that_say_the_same_say_it_once() -> None:
    assert _said(load="2.4", load_before=2.4) == "load 2.40 before the run > 0.5"


def test_every_figure_that_the_agent_takes_has_a_limit_or_is_a_greatest_value() -> None:
    assert {name for name, _ in (*LOADS, *LIMITED)} - {"load"} == {
        name for name in ACTIVITY if not name.endswith("_max")
    }
