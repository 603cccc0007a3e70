"""Zeros of tools that did nothing, or were not asked to: they are no measurements."""

from math import isnan

from apps.parsers.core.source_text import SourceText
from apps.parsers.sysbench import format as sysbench
from apps.parsers.vdbench import flatfile
from apps.parsers.vdbench import format as vdbench
from tests.parsers.test_sysbench_async import TEXT, ZERO
from tests.parsers.test_vdbench import report


def test_vdbench_without_any_io_measured_nothing() -> None:
    busy = "23:59:59.000           1      100.0     0.39    4096 100.00    1.000    2.000    0.100     1.0   0.2"
    idle = "00:00:01.000           2        0.0     0.00       0   0.00    0.000    0.000    0.000     1.0   0.2"
    none = idle.replace("          2 ", "    avg_1-2")
    (run,) = vdbench.parse(SourceText(report(idle.replace(" 2 ", " 1 "), idle, none))).runs
    assert {(sample.value, sample.missing_reason) for sample in run.samples} == {(None, "no I/O was done")}
    average = "00:00:01.100     avg_1-2       50.0     0.20    4096 100.00    1.000    2.000    0.100     1.0   0.2"
    (run,) = vdbench.parse(SourceText(report(busy, idle, average))).runs
    assert all(sample.value for sample in run.samples)
    series = {series.metric: series.values for series in run.series}
    assert series["iops"] == (100, 0)
    assert [isnan(value) for value in series["latency_mean"]] == [False, True]


FLAT = """\
tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max read_max write_max resp_std xfersize threads
10:57:00.001 a rd1 1 max {0} {1} 4096 100 {2} {2} 0.0 {2} {2} 0.0 {2} 4096 1
10:57:01.001 a rd1 avg_1-1 max {0} {1} 4096 100 {2} {2} 0.0 {2} {2} 0.0 {2} 4096 1
"""


def test_a_flatfile_of_vdbench_without_any_io_measured_nothing() -> None:
    (run,) = flatfile.parse(SourceText(FLAT.format("0.0", "0.0", "0.0"))).runs
    assert run.samples
    assert {(sample.value, sample.missing_reason) for sample in run.samples} == {(None, "no I/O was done")}
    (run,) = flatfile.parse(SourceText(FLAT.format("150.0", "0.58", "2.5"))).runs
    assert all(sample.value for sample in run.samples if sample.operation == "read")


def test_sysbench_that_was_asked_for_no_fsync_has_no_rate_of_them() -> None:
    figures = {**ZERO, "writes": "71234.50", "written": "556.52"}
    text = TEXT.format(hash="abc1234", test="random write", mode="synchronous", **figures)
    for line, expected in (
        ("Periodic FSYNC enabled, calling fsync() each 100 requests.\n", [0.0]),
        ("Calling fsync() at the end of test, Enabled.\n", [0.0]),
        ("", []),
    ):
        asked = text.replace("Periodic FSYNC enabled, calling fsync() each 100 requests.\n", line)
        (run,) = sysbench.parse(SourceText(asked)).runs
        assert [sample.value for sample in run.samples if sample.operation == "sync"] == expected
