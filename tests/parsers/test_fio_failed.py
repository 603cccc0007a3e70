"""Files of fio without a report: named as fio's, with what fio itself says of it."""

import pytest

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.text.report import NO_REPORT
from apps.uploads.file_reader import FileReading, read_file

DEFINED = (
    "{name}: (g=0): rw=randwrite, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=8\n"
)
STARTED = "fio-3.30\nStarting 1 process\n"
ERROR = "fio: pid=31, err=5/file:io_u.c:1803, func=io_u error, error=Input/output error\n"
REPORT = """{name}: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022
  write: IOPS=1000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec); 0 zone resets
  cpu          : usr=10.00%, sys=30.00%, ctx=5, majf=0, minf=1
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=99.9%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.1%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=0,10000,0,0 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=8
"""


def read(text: str) -> FileReading:
    return read_file(SourceText(text, "out.txt"))


def test_an_error_of_a_job_is_a_run_without_figures() -> None:
    reason = "fio: io_u error on file /data/x: Input/output error: write offset=4096, buflen=8192\n"
    (item,) = read(DEFINED.format(name="w1") + STARTED + reason + ERROR).runs
    assert item.format == "fio text"
    assert not item.has_values
    assert item.run.problem.startswith(
        "fio's w1 ended with error 5 (Input/output error); line 4: fio: io_u error on file"
    )
    assert "line 5: fio: pid=31, err=5/file:io_u.c:1803" in item.run.problem
    assert {(s.operation, s.metric) for s in item.samples} == {("randwrite", "bandwidth")}


@pytest.mark.parametrize(
    "text",
    [
        "fio: engine libaio not loadable\nfio: failed to load engine\n",
        ERROR,
        "Bad option <iodeph=16>\nfio: job options file is wrong\n",
        DEFINED.format(name="w1") + STARTED + "fio: pid=31, got signal=9\n",
        "crc32c: verify failed at file /data/x offset 0, length 4096\nfio: verify type mismatch (0 media, 6 given)\n",
    ],
    ids=["engine", "error alone", "option", "signal", "verify"],
)
def test_what_fio_says_is_the_files_error(text: str) -> None:
    reading = read(text)
    assert not reading.runs
    assert reading.error
    assert reading.error.message == NO_REPORT
    for line in text.splitlines():
        assert not line.startswith("fio: pid") or line in reading.error.found
    assert "fio" in reading.error.found


def test_a_job_that_was_cut_off_before_its_report_is_told() -> None:
    progress = "Jobs: 1 (f=1): [w(1)][10.0%][w=7000KiB/s][w=875 IOPS][eta 00m:54s]"
    reading = read(DEFINED.format(name="w1") + STARTED + progress + "\n")
    assert reading.error
    assert (reading.error.message, reading.error.found) == (NO_REPORT, progress)


def test_a_failed_run_above_another_one_is_a_run_of_its_own() -> None:
    text = (
        DEFINED.format(name="bad")
        + STARTED
        + ERROR
        + DEFINED.format(name="good")
        + STARTED
        + REPORT.format(name="good")
    )
    bad, good = (item.run for item in read(text).runs)
    assert ([section.name for section in bad.sections], "error 5" in bad.problem) == (["bad"], True)
    assert ([section.name for section in good.sections], good.problem) == (["good"], "")
    assert {sample.metric: sample.value for sample in good.samples}["iops"] == 1000.0


def test_words_of_fio_above_its_json_are_no_failure() -> None:
    report = '{"fio version": "fio-3.30", "jobs": [{"jobname": "a", "read": {"io_bytes": 4096, "bw_bytes": 100, "iops": 1}}]}'
    reading = read(f"fio: file hash not empty on exit\n{report}\n")
    assert [item.format for item in reading.runs] == ["fio json"]
    assert not reading.broken


def test_other_texts_are_none_of_fio() -> None:
    for text in ("fio is a nice tool\n", "bash: fio: command not found\n", "see fio: a manual\n"):
        reading = read(text)
        assert reading.error
        assert reading.error.message != NO_REPORT
    assert isinstance(ParsedFile(), ParsedFile)
