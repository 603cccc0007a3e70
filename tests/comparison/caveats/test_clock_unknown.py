"""Measured on a virtual machine: 6.4 and 4.9 million null IOPS, by fio's choice of a clock; 29 % took the slow one."""

from apps.comparison.caveats.clock_unknown import check
from apps.comparison.readings import Evidence, Reading
from apps.core.quantities import written
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading


def said(one: Reading) -> str:
    return plain(written(check(one) or ""))


FIO = {"tool": "fio", "ioengine": "libaio"}
BUSY = {"operation": "randread", "metric": "iops", "origin": "uploaded", "beside": {"cpu": 0.99}, "facts": FIO}


def test_an_uploaded_run_at_the_cpus_limit_may_have_taken_either() -> None:
    assert said(reading(1, 4.9e6, **BUSY)) == (
        "CPU 99% of one core ≥ 95% × 1 core; clocksource: none among the facts and options of this run; measured with a "
        "null job: 6.4 ÷ 4.9 million IOPS = 1.31 × between fio's two choices, 29% of runs took the slow one, so with the "
        "other clock this may be 4.90 M/s × 1.31 = 6.40 M/s or 4.90 M/s ÷ 1.31 = 3.75 M/s"
    )


def test_the_sum_is_made_with_the_runs_own_numbers() -> None:
    four = {**BUSY, "beside": {"cpu": 3.9}, "threads": 4}
    assert said(reading(1, 2e6, **four)).startswith("CPU 390% of one core ≥ 95% × 4 cores; clocksource")
    assert "2.00 M/s × 1.31 = 2.61 M/s or 2.00 M/s ÷ 1.31 = 1.53 M/s" in said(reading(1, 2e6, **four))
    bytes_a_second = said(reading(1, 4e9, **{**BUSY, "metric": "bandwidth"}))
    assert bytes_a_second.endswith("4.00 GB/s × 1.31 = 5.22 GB/s or 4.00 GB/s ÷ 1.31 = 3.06 GB/s")
    latency = said(reading(1, 2000.0, **{**BUSY, "metric": "clat_p99"}))
    assert latency.endswith("29% of runs took the slow one")


def test_the_null_engine_is_the_cpu_alone() -> None:
    assert "ioengine null touches no disk, CPU 40% of one core" in said(
        reading(1, 6.4e6, origin="uploaded", facts=FIO | {"ioengine": "null"}, beside={"cpu": 0.4})
    )
    assert "ioengine null" in str(check(reading(1, 6.4e6, origin="uploaded", facts=FIO | {"ioengine": "null"})))


def test_a_pinned_clock_is_silent() -> None:
    assert check(reading(1, 4.9e6, **{**BUSY, "origin": "dispatched"})) is None
    assert check(reading(1, 4.9e6, **{**BUSY, "facts": FIO | {"clocksource": "clock_gettime"}})) is None
    assert check(reading(1, 4.9e6, **BUSY, evidence=Evidence(asked={"clocksource": "cpu"}))) is None


def test_a_disk_at_its_limit_and_other_tools_are_silent() -> None:
    assert check(reading(1, 1e4, **{**BUSY, "beside": {"cpu": 0.2}})) is None
    assert check(reading(1, 1e9, **{**BUSY, "facts": {"tool": "bonnie++"}})) is None
