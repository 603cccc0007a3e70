"""fio's engines that move no data, or none to a disk."""

import json

import pytest

from apps.parsers.core.models import ParsedRun, ParsedSample, ParsedSection, ParsedSeries
from apps.parsers.core.registry import get_format, recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.engines import NO_DISK, OPERATION_OF_ENGINE, apply_engines

TEXT = """meta: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine={engine}, iodepth=1
fio-3.36
Starting 1 process
meta: (groupid=0, jobs=1): err= 0: pid=77: Thu Mar 21 19:20:21 2024
  read: IOPS=31.0k, BW=121MiB/s (127MB/s)(4000KiB/33msec)
    clat (usec): min=5, max=301, avg=21.45, stdev=9.10
    clat percentiles (usec):
     |  1.00th=[    6], 50.00th=[   20], 99.00th=[   60], 99.99th=[  300]
   bw (  KiB/s): min=118000, max=126000, per=100.00%, avg=123000.00, stdev= 1.00, samples=1
   iops        : min=29500, max=31500, avg=30750.00, stdev= 1.00, samples=1
  cpu          : usr=10.00%, sys=80.00%, ctx=0, majf=0, minf=9
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued rwts: total=1000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""
DIRECTION = {
    "io_bytes": 4096000, "io_kbytes": 4000, "bw_bytes": 124121212, "bw": 121212, "iops": 30303.03, "runtime": 33,
    "total_ios": 1000,
    "clat_ns": {"min": 5000, "max": 301000, "mean": 21450.5, "stddev": 9100.1, "N": 1000, "bins": {"20352": 1000}},
    "lat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
}  # fmt: skip


def in_json(engine: str, **more: object) -> str:
    job = {
        "jobname": "meta",
        "groupid": 0,
        "error": 0,
        "job options": {"rw": "read", "bs": "4k", **more},
        "read": DIRECTION,
    }
    return json.dumps({"fio version": "fio-3.36", "global options": {"ioengine": engine}, "jobs": [job]})


def only(text: str) -> tuple[ParsedRun, tuple[str, ...]]:
    reading = recognise(SourceText(text))[0]
    assert reading.parsed
    (run,) = reading.parsed.runs
    return run, reading.parsed.warnings


@pytest.mark.parametrize("engine", OPERATION_OF_ENGINE)
@pytest.mark.parametrize("form", ["text", "json"])
def test_operations_on_files_are_rates_and_no_bytes(engine: str, form: str) -> None:
    run, warnings = only(TEXT.format(engine=engine) if form == "text" else in_json(engine))
    assert {sample.operation for sample in run.samples} == {OPERATION_OF_ENGINE[engine]}
    values = {sample.metric: sample.value for sample in run.samples}
    assert values["rate"] == (31000.0 if form == "text" else 30303.03)
    assert values["clat_mean"] == (21450.0 if form == "text" else 21450.5)
    assert "iops" not in values
    assert [metric for metric in values if metric.startswith(("bandwidth", "io_bytes"))] == ["bandwidth", "io_bytes"]
    reasons = {sample.missing_reason for sample in run.samples if sample.metric in ("bandwidth", "io_bytes")}
    assert reasons == {f"{engine} moves no data"}
    assert {sample.block_size for sample in run.samples} == {None}
    assert not {"rw", "block_size"} & set(run.workload)
    assert [item.operation for item in run.histograms] == [OPERATION_OF_ENGINE[engine]] * (form == "json")
    assert any(f"ioengine={engine} moves no data" in warning for warning in warnings)


@pytest.mark.parametrize("engine", ["null", "cpuio", "falloc", "net"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_engines_that_reach_no_disk_are_told(engine: str, form: str) -> None:
    run, warnings = only(TEXT.format(engine=engine) if form == "text" else in_json(engine))
    assert {sample.operation for sample in run.samples} == {"read"}
    assert any(sample.metric == "bandwidth" and sample.value for sample in run.samples)
    assert any(f"ioengine={engine}: nothing reaches a disk, {NO_DISK[engine]}" in warning for warning in warnings)


@pytest.mark.parametrize("engine", ["psync", "libaio", "io_uring", "mmap"])
def test_other_engines_read_and_write(engine: str) -> None:
    run, warnings = only(TEXT.format(engine=engine))
    assert {sample.operation for sample in run.samples} == {"read"}
    assert not warnings


def test_jobs_of_several_engines_are_told_apart() -> None:
    sections = (ParsedSection(0, "a", {"ioengine": "filestat"}), ParsedSection(1, "b", {"ioengine": "libaio"}))
    samples = tuple(ParsedSample("read", "iops", 5.0, section=number) for number in (0, 1))
    series = tuple(
        ParsedSeries("read", metric, number, "progress", (1.0,), (2.0,))
        for number in (0, 1)
        for metric in ("iops", "bandwidth")
    )
    run = apply_engines(
        ParsedRun(
            "fio",
            "3.36",
            sections,
            (*samples, ParsedSample("disk", "disk_reads", 1.0)),
            series,
            workload={"rw": "read"},
        )
    )
    assert [(s.operation, s.metric, s.section) for s in run.samples] == [
        ("stat", "rate", 0), ("read", "iops", 1), ("disk", "disk_reads", 0),
    ]  # fmt: skip
    assert [(s.operation, s.metric, s.section) for s in run.series] == [
        ("stat", "rate", 0), ("read", "iops", 1), ("read", "bandwidth", 1),
    ]  # fmt: skip
    assert run.workload == {"rw": "read"}


def test_terse_has_the_engine_from_the_jobs_line_above() -> None:
    head = TEXT.format(engine="filedelete").splitlines()[0]
    direction = ["4000", "121212", "30303", "33", *["0"] * 4, "5", "301", "21.450000", "9.100000"]
    direction += [
        f"{share}%=20" for share in (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
    ]
    direction += ["0%=0"] * 3 + ["5", "301", "21.450000", "9.100000"] + ["0", "0", "0.000000%", "0.000000", "0.000000"]
    record = ["3", "fio-3.36", "meta", "0", "0", *direction, *["0"] * 41, "1.0%", "2.0%", "0", "0", "0", *["0.0%"] * 29]
    parsed = get_format("fio terse").parse(SourceText(f"{head}\n{';'.join(record)}\n"))
    (run,) = parsed.runs
    assert {sample.operation for sample in run.samples} == {"delete"}
    assert {sample.metric: sample.value for sample in run.samples}["rate"] == 30303.0
