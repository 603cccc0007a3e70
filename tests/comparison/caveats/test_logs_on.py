"""Measured: fio's logs cost 18 % of the IOPS of a null job, averaged ones too."""

from apps.comparison.caveats.logs_on import check
from apps.comparison.readings import Evidence
from tests.comparison.factories import reading

BUSY = {"operation": "randread", "metric": "iops", "beside": {"cpu": 0.99}, "facts": {"tool": "fio"}}


def test_logs_beside_a_busy_cpu_are_said_with_their_cost() -> None:
    found = check(reading(1, 4e6, **BUSY, evidence=Evidence(has_fio_logs=True)))
    assert found == "CPU 99% ≥ 95% of a core, with fio's logs: they cost about 18% of CPU-bound IOPS"


def test_the_command_line_says_it_too() -> None:
    asked = Evidence(asked={"command": "fio --write_lat_log=out --name=x"})
    assert check(reading(1, 4e6, **BUSY, evidence=asked))


def test_without_logs_or_with_time_to_spare_it_is_silent() -> None:
    assert check(reading(1, 4e6, **BUSY)) is None
    idle = {**BUSY, "beside": {"cpu": 0.3}}
    assert check(reading(1, 4e4, **idle, evidence=Evidence(has_fio_logs=True))) is None
