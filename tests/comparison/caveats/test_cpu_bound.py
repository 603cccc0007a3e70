"""Seed 002: the CPU "well above 100 %" while 10 GE was tested. Seeds 000 and 003: Bonnie's characters, 99 % of a core."""

from apps.comparison.caveats.cpu_bound import check
from tests.comparison.caveats.machines import on
from tests.comparison.factories import reading


def test_bonnies_characters_cost_a_whole_core() -> None:
    """DTN's putc(): 1265 K/sec at 99 %."""
    found = check(reading(1, 1_295_360.0, operation="char_write", beside={"cpu": 0.99}))
    assert found == "CPU 99% of one core ≥ 95% × 1: 1 process can use 1 core"


def test_infns_network_test_takes_more_than_a_core() -> None:
    assert check(reading(1, 1e9, operation="net_send", beside={"cpu": 1.3}))


def test_crs4s_report_prints_no_cpu_and_is_silent() -> None:
    assert check(reading(1, 61_000 * 1024.0, operation="char_read")) is None
    assert check(reading(1, 61_000 * 1024.0, operation="char_read", beside={"cpu": None})) is None


def test_dtns_block_reads_leave_a_third_of_the_core() -> None:
    assert check(reading(1, 1_147_693_056.0, operation="read", beside={"cpu": 0.66})) is None


def test_several_processes_can_use_several_cores_but_no_more_than_there_are() -> None:
    assert check(reading(1, 1.0, threads=4, beside={"cpu": 1.9})) is None
    found = check(reading(1, 1.0, threads=4, beside={"cpu": 1.9}, evidence=on(cpu_count=2)))
    assert found == "CPU 190% of one core ≥ 95% × 2: its processes can use 2 cores"
