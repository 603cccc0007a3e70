"""Measured on a virtual machine: 6.4 and 4.9 million null IOPS, by fio's choice of a clock."""

from apps.comparison.caveats.clock_unknown import check
from apps.comparison.readings import Evidence
from tests.comparison.factories import reading

FIO = {"tool": "fio", "ioengine": "libaio"}
BUSY = {"operation": "randread", "metric": "iops", "origin": "uploaded", "beside": {"cpu": 0.99}, "facts": FIO}


def test_an_uploaded_run_at_the_cpus_limit_may_have_taken_either() -> None:
    assert check(reading(1, 4.9e6, **BUSY)) == (
        "CPU 99% ≥ 95% of a core, clocksource not known: 6.4 ÷ 4.9 million null IOPS = 1.31 × between fio's two choices"
    )


def test_the_null_engine_is_the_cpu_alone() -> None:
    assert "ioengine null" in str(check(reading(1, 6.4e6, origin="uploaded", facts=FIO | {"ioengine": "null"})))


def test_a_pinned_clock_is_silent() -> None:
    assert check(reading(1, 4.9e6, **{**BUSY, "origin": "dispatched"})) is None
    assert check(reading(1, 4.9e6, **{**BUSY, "facts": FIO | {"clocksource": "clock_gettime"}})) is None
    assert check(reading(1, 4.9e6, **BUSY, evidence=Evidence(asked={"clocksource": "cpu"}))) is None


def test_a_disk_at_its_limit_and_other_tools_are_silent() -> None:
    assert check(reading(1, 1e4, **{**BUSY, "beside": {"cpu": 0.2}})) is None
    assert check(reading(1, 1e9, **{**BUSY, "facts": {"tool": "bonnie++"}})) is None
