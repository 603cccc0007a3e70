"""Measured: fio's logs cost 18 % of the IOPS of a null job, averaged ones too."""

from apps.comparison.caveats.logs_on import check
from apps.comparison.readings import Evidence, Reading
from apps.core.quantities import written
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading


def said(one: Reading) -> str:
    return plain(written(check(one) or ""))


BUSY = {"operation": "randread", "metric": "iops", "beside": {"cpu": 0.99}, "facts": {"tool": "fio"}}


def test_logs_beside_a_busy_cpu_are_said_with_their_cost() -> None:
    assert said(reading(1, 4e6, **BUSY, evidence=Evidence(has_fio_logs=True))) == (
        "CPU 99% of one core ≥ 95% × 1 core; fio's logs on (they came with the run): measured with a null job, they cost "
        "18% of its IOPS; without them this may be 4.00 M/s ÷ (1 − 0.18) = 4.88 M/s"
    )


def test_the_command_line_says_it_too() -> None:
    asked = Evidence(asked={"command": "fio --write_lat_log=out --name=x"})
    assert "fio's logs on (--write_lat_log)" in said(reading(1, 4e6, **BUSY, evidence=asked))
    assert said(reading(1, 1e6, **BUSY, evidence=asked)).endswith("1.00 M/s ÷ (1 − 0.18) = 1.22 M/s")


def test_without_logs_or_with_time_to_spare_it_is_silent() -> None:
    assert check(reading(1, 4e6, **BUSY)) is None
    idle = {**BUSY, "beside": {"cpu": 0.3}}
    assert check(reading(1, 4e4, **idle, evidence=Evidence(has_fio_logs=True))) is None
