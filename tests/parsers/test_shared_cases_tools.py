"""Other people's small inputs that were once read wrong: each beside its right reading, read where they lie.

SPINDLE_CASES names the folder; it is looked for beside the project too.
"""

import os
from pathlib import Path

import pytest

from apps.parsers.core.models import ParsedRun, ParsedSample
from apps.parsers.core.registry import FormatReading, recognise
from apps.parsers.core.source_text import SourceText

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "cases"
CASES = Path(os.environ.get("SPINDLE_CASES", _BESIDE))


def readings(name: str) -> list[FormatReading]:
    """What is read from a case, or a skip that says what is missing."""
    path = CASES / name
    if not path.is_file():
        pytest.skip(f"the cases are not here ({path})")
    return recognise(SourceText(path.read_bytes(), path.name))


def runs(name: str) -> list[ParsedRun]:
    (reading,) = readings(name)
    assert reading.parsed, reading.error
    assert not reading.parsed.broken
    return list(reading.parsed.runs)


def find(run: ParsedRun, operation: str, metric: str, section: int = 0) -> ParsedSample:
    (sample,) = [
        sample
        for sample in run.samples
        if (sample.operation, sample.metric, sample.section) == (operation, metric, section)
    ]
    return sample


def values(run: ParsedRun) -> set[float | None]:
    return {sample.value for sample in run.samples}


@pytest.mark.parametrize(
    ("name", "size", "elapsed", "bandwidth", "forbidden"),
    [
        ("01-dd-siginfo.txt", 607125504, 180563254000, 3362398, {786072393}),
        ("02-dd-repeated-reports.txt", 10737418240, 3800512000, 2825255713, {3033975955, 2952896486}),
        ("04-dd-illumos.txt", 4294967296, 7393318000, 580925546, set[int]()),
    ],
)
def test_dd(name: str, size: int, elapsed: int, bandwidth: int, forbidden: set[int]) -> None:
    (run,) = runs(name)
    operation = run.samples[0].operation
    assert operation == ("write" if "illumos" in name else "copy")
    assert run.workload["command"]
    assert run.workload["block_size"] == 1 << 20
    assert find(run, operation, "elapsed").value == elapsed
    assert find(run, operation, "elapsed").file_size == size
    assert round(find(run, operation, "bandwidth").value or 0) == bandwidth
    assert not any("not shown" in sample.note for sample in run.samples)
    assert not forbidden & values(run)


def test_dd_with_a_timed_sync() -> None:
    write, read = runs("30-dd-time-sync.txt")
    assert round(find(write, "write", "bandwidth").value or 0) == 112434806
    assert find(write, "write", "elapsed").value == 18215000000
    assert round(find(write, "write", "bandwidth", section=1).value or 0) == 1364214677
    assert write.sections[1].name == "dd without the sync"
    assert round(find(read, "read", "bandwidth").value or 0) == 5107231920


def test_iperf3_udp_in_reverse() -> None:
    (run,) = runs("22-iperf3-udp-reverse.txt")
    assert find(run, "net_send", "bandwidth").value == 121875000
    assert 26e6 < (find(run, "net_receive", "bandwidth").value or 0) < 27e6
    assert round(find(run, "net_receive", "lost").value or 0, 4) == 0.7907
    (run,) = runs("22b-iperf3-udp-reverse.json")
    assert find(run, "net_send", "bandwidth").value == 121919000
    assert find(run, "net_receive", "bandwidth").value == 25600000
    assert find(run, "net_receive", "lost").value == 0.79


def test_iperf3_lost_above_all() -> None:
    (run,) = runs("23-iperf3-lost-above-all.json")
    assert find(run, "net_send", "bandwidth").value == 37500000
    assert find(run, "net_receive", "bandwidth").value == 33750000
    assert find(run, "net_receive", "lost").value is None
    assert find(run, "net_receive", "lost").missing_reason


def test_iperf3_units() -> None:
    (run,) = runs("25-iperf3-misprinted-unit.txt")
    assert find(run, "net_receive", "bandwidth").value == 18455125
    assert find(run, "net_send", "bandwidth").value == 18485750
    (run,) = runs("27-iperf3-null-unit.txt")
    assert run.problem == ""
    for operation in ("net_send", "net_receive"):
        assert find(run, operation, "bandwidth").value == 1176250000
        assert find(run, operation, "io_bytes").value is None
        assert find(run, operation, "io_bytes").missing_reason
    assert find(run, "net_send", "retransmits").value == 148237


def test_sysbench_async_writes() -> None:
    (reading,) = readings("10-sysbench-async-writes-as-reads.txt")
    assert reading.parsed
    (run,) = reading.parsed.runs
    for operation, metric in (("randwrite", "iops"), ("randwrite", "bandwidth"), ("sync", "rate")):
        assert find(run, operation, metric).value is None
        assert "as reads" in find(run, operation, metric).missing_reason
    assert [warning.partition(":")[0] for warning in reading.parsed.warnings] == ["line 19"]


def test_iozone_wrong_data() -> None:
    (run,) = runs("08-iozone-data-error.txt")
    assert find(run, "reread", "bandwidth").value == 1065208483.84
    assert find(run, "backward_read", "bandwidth").value == 2620164608
    for part in ("wrong data", "267386880", "line 18", "interrupted", "line 30"):
        assert part in run.problem
