"""sysbench 1.1 that counted asynchronous writes as reads: what it cannot tell apart has no value, and never 0."""

import pytest

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.sysbench import format as sysbench
from tests.parsers.every import faults

TEXT = """\
sysbench 1.1.0-{hash} (using bundled LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Initializing random number generator from current time

Extra file open flags: 0
16 files, 64MiB each
1GiB total file size
Block size 8KiB
Periodic FSYNC enabled, calling fsync() each 100 requests.
Using {mode} I/O mode
Doing {test} test
Initializing worker threads...

Threads started!

Throughput:
         read:  IOPS={reads} {read} MiB/s (1.00 MB/s)
         write: IOPS={writes} {written} MiB/s (1.00 MB/s)
         fsync: IOPS={syncs}

Latency (ms):
         min:                                  0.01
         avg:                                  0.22
         max:                                 17.12
         95th percentile:                      0.53
         sum:                              39990.00
"""
ZERO = {"reads": "0.00", "read": "0.00", "writes": "0.00", "written": "0.00", "syncs": "0.00"}


def parse(test: str, mode: str = "asynchronous", **figures: str) -> ParsedFile:
    source = SourceText(TEXT.format(hash="abc1234", test=test, mode=mode, **{**ZERO, **figures}))
    parsed = sysbench.parse(source)
    assert not faults(parsed, source)
    return parsed


def told(parsed: ParsedFile) -> dict[str, float | None]:
    (run,) = parsed.runs
    samples = [sample for sample in run.samples if not sample.metric.startswith("latency")]
    assert all((sample.value is None) == bool(sample.missing_reason) for sample in samples)
    return {f"{sample.operation} {sample.metric}": sample.value for sample in samples}


@pytest.mark.parametrize(
    ("test", "operation"),
    [("random write", "randwrite"), ("sequential write (creation)", "write"), ("sequential rewrite", "rewrite")],
)
@pytest.mark.parametrize("mode", ["asynchronous", "synchronous"])
def test_writes_that_were_counted_as_reads_have_no_value(test: str, operation: str, mode: str) -> None:
    parsed = parse(test, mode, reads="71234.50", read="556.52")
    assert told(parsed) == {f"{operation} iops": None, f"{operation} bandwidth": None, "sync rate": None}
    assert parsed.warnings == ("line 19: reads are counted in a test that does none: they are not taken",)


def test_reads_and_writes_that_were_counted_together_have_no_value() -> None:
    values = told(parse("random r/w", reads="71234.50", read="556.52"))
    assert values.keys() == {
        "randread iops",
        "randread bandwidth",
        "randwrite iops",
        "randwrite bandwidth",
        "sync rate",
    }
    assert set(values.values()) == {None}


def test_bytes_that_were_added_to_those_of_reads_have_no_value_and_requests_do() -> None:
    assert told(parse("random write", read="556.52", writes="71234.50", syncs="12.00")) == {
        "randwrite iops": 71234.5, "randwrite bandwidth": None, "sync rate": 12.0,
    }  # fmt: skip
    assert told(parse("random r/w", reads="600.00", read="7.81", writes="400.00", syncs="12.00")) == {
        "randread iops": 600.0, "randread bandwidth": None, "randwrite iops": 400.0, "randwrite bandwidth": None, "sync rate": 12.0,
    }  # fmt: skip


def test_what_was_counted_in_its_place_keeps_its_value() -> None:
    assert told(parse("random write", writes="71234.50", written="556.52", syncs="12.00")) == {
        "randwrite iops": 71234.5, "randwrite bandwidth": 556.52 * 2**20, "sync rate": 12.0,
    }  # fmt: skip
    assert told(parse("random read", reads="71234.50", read="556.52")) == {
        "randread iops": 71234.5, "randread bandwidth": 556.52 * 2**20,
    }  # fmt: skip
    assert (
        told(parse("random r/w", reads="600.00", read="4.69", writes="0.50", written="0.00", syncs="0.01"))[
            "randwrite bandwidth"
        ]
        == 0
    )
