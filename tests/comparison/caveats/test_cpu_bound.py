"""Seed 002: the CPU "well above 100 %" (line 121) while 10 GE was tested. Seed 003: Bonnie's characters, 99 % of a core.

Seed 000 says that writing by characters exploits the CPU heavily (line 125), and points to files that are not in it:
it prints no share of the CPU, and no figure of putc() either, so there is nothing that the rule could fire on. Seeds 002
and 003 fire as they are loaded: test_on_reports.py.
"""

from apps.comparison.caveats.cpu_bound import check
from tests.comparison.caveats.machines import on
from tests.comparison.factories import reading


def test_bonnies_characters_cost_a_whole_core() -> None:
    """DTN's putc(): 1265 K/sec at 99 %."""
    found = check(reading(1, 1_295_360.0, operation="char_write", beside={"cpu": 0.99}))
    assert found == "CPU 99% of one core ≥ 95% × 1: 1 process can use 1 core"


def test_infns_network_test_takes_more_than_a_core() -> None:
    """~ 8 Gbs over the crossed cable with a tuned kernel (line 117)."""
    one = reading(1, 1e9, operation="net_send", facts={"cpu_at_least": "1"})
    assert check(one) == "CPU at least 100% of one core ≥ 95% × 1: 1 process can use 1 core"


def test_what_the_tool_prints_counts_before_what_somebody_says() -> None:
    assert check(reading(1, 1e9, beside={"cpu": 0.66}, facts={"cpu_at_least": "1"})) is None
    assert check(reading(1, 1e9, facts={"cpu_at_least": "high"})) is None


def test_crs4s_report_prints_no_cpu_and_is_silent() -> None:
    """getc() on the SCSI RAID 0, 100 MB: 63465.4 Kbyte/sec."""
    assert check(reading(1, 63_465.4 * 1024, operation="char_read")) is None
    assert check(reading(1, 63_465.4 * 1024, operation="char_read", beside={"cpu": None})) is None


def test_dtns_block_reads_leave_a_third_of_the_core() -> None:
    assert check(reading(1, 1_147_693_056.0, operation="read", beside={"cpu": 0.66})) is None


def test_several_processes_can_use_several_cores_but_no_more_than_there_are() -> None:
    assert check(reading(1, 1.0, threads=4, beside={"cpu": 1.9})) is None
    found = check(reading(1, 1.0, threads=4, beside={"cpu": 1.9}, evidence=on(cpu_count=2)))
    assert found == "CPU 190% of one core ≥ 95% × 2: its processes can use 2 cores"
