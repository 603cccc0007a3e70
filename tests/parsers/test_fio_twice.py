"""One run in several forms of output (`--output-format=json,terse,normal`) is one run."""

import json

import pytest

from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json import format as json_format
from apps.parsers.fio.terse import format as terse_format
from apps.parsers.fio.text import format as text_format
from tests.parsers.test_fio_terse import IDLE, READ, block, record

JSON, TERSE = {"io_bytes": 1000 * 1024 + 512, "runtime": 2000, "bw_bytes": 512256, "iops": 125.0}, record(READ, IDLE)


def document(version: str = "fio-3.33", name: str = "a job", **more: object) -> str:
    jobs = [{"jobname": name, "groupid": 0, "error": 0, "read": {**JSON, **more}}]
    return json.dumps({"fio version": version, "jobs": jobs}, indent=1)


@pytest.mark.parametrize("text", [f"{TERSE}\n{document()}\n", f"{document()}\n{TERSE}\n"])
def test_a_terse_record_that_json_repeats_is_read_there(text: str) -> None:
    parsed = terse_format.parse(SourceText(text))
    assert parsed.runs == ()
    assert len(json_format.parse(text).runs) == 1
    assert "JSON output in this file has these figures" in parsed.warnings[0]


def test_a_sum_that_old_terse_output_has_as_reads_is_the_one_of_the_other_reports() -> None:
    sums = document("fio-3.12").replace('"read"', '"mixed"')
    assert terse_format.parse(SourceText(f"{record(READ, IDLE, start='3;fio-3.12')}\n{sums}\n")).runs == ()
    head = "a job: (groupid=0, jobs=1): err= 0: pid=9: Wed Nov 25 10:57:25 2026\n"
    text = (
        f"{head}  mixed: io=1000KB, bw=512KB/s, iops=125, runt=  2000msec\n{record(READ, IDLE, start='3;fio-2.1.10')}\n"
    )
    assert text_format.parse(SourceText(text)).runs == ()
    assert {s.operation for s in terse_format.parse(SourceText(text)).runs[0].samples} == {"mixed"}


def test_fio_2_prints_its_bytes_in_kib() -> None:
    text = f"{record(READ, IDLE, start='3;fio-2.16')}\n{document('fio-2.16', io_bytes=1000)}\n"
    assert terse_format.parse(SourceText(text)).runs == ()


@pytest.mark.parametrize("other", [{"name": "another"}, {"runtime": 2001}, {"io_bytes": 999 * 1024}])
def test_another_run_beside_json_stays(other: dict[str, object]) -> None:
    text = f"{TERSE}\n{document(**other)}\n"  # type: ignore[arg-type]
    assert len(terse_format.parse(SourceText(text)).runs) == 1


@pytest.mark.parametrize("name", ["a job", "another"])
def test_a_job_that_failed_at_once_is_one_run_too(name: str) -> None:
    head = "a job: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n"
    error = "fio: pid=0, err=2/file:filesetup.c:174, func=open, error=No such file or directory\n"
    failed = record(IDLE, IDLE).replace("a job;0;0", "a job;0;2")
    ends = "\nRun status group 0 (all jobs):\n"
    report = document(name=name, io_bytes=0, runtime=0, bw_bytes=0, iops=0).replace('"error": 0', '"error": 2')
    text = SourceText(f"{head}fio-3.33\nStarting 1 process\n{error}{failed}\n{report}\n{ends}")
    (run,) = json_format.parse(text).runs
    assert run.problem
    assert len(terse_format.parse(text).runs) == (name != "a job")
    assert text_format.parse(text).runs == ()


def test_the_third_block_of_version_3_is_the_sum_and_no_trim() -> None:
    (run,) = terse_format.parse(SourceText(record(READ, READ, block(2000, 1000, 250, 2000)))).runs
    assert {s.operation for s in run.samples if s.metric == "iops"} == {"read", "write", "mixed"}


@pytest.mark.parametrize("field", ["abc", "", "-5", "9" * 400])
def test_a_rate_of_a_terse_record_that_is_no_number_says_so(field: str) -> None:
    fields = TERSE.split(";")
    fields[6] = field
    (run,) = terse_format.parse(SourceText(";".join(fields))).runs
    (found,) = [s for s in run.samples if s.metric == "bandwidth"]
    assert (found.value, found.missing_reason) == (None, "not printed as a number")
