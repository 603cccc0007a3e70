"""A logger's words before the first line of a message, with the tool's other lines below it."""

import pytest

from apps.parsers.cleanup.log_messages import find_message, without_message_heads
from apps.parsers.core.models import ParsedRun
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText

JOB = "seq-read 1: (groupid=0, jobs=1): err= 0: pid=560: Mon Jul  1 22:14:42 2019"
REPORT = f"""{JOB}
  read : io=241236KB, bw=24035KB/s, iops=6008, runt= 10037msec
    clat (usec): min=1, max=38109, avg= 5.93, stdev=228.12
  cpu          : usr=1.61%, sys=2.14%, ctx=1024, majf=0, minf=27
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued    : total=r=60309/w=0/d=0, short=r=0/w=0/d=0
"""
DD = "1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB) copied, 8.2 s, 131 MB/s\n"
HEADS = [
    "22:14:42 - MainThread - ci.workloads - INFO - ", "2019-07-01 22:14:42,123 - bench - INFO - ", "INFO:root:",
    "DEBUG:bench.disks:", "[2019-07-01 22:14:42] INFO: ", "2019-07-01 22:14:42,123 INFO     ci.disks:run.py:12 ",
    "Jul  1 22:14:42 host3 bench[123]: ", "Jul 01 22:14:42 host3 bench.sh[4711]: ", "2019-07-01T22:14:42.123Z stdout F ",
    "2019-07-01T22:14:42+00:00 host3 bench[12]: ", "2019-07-01 22:14:42,123 [main] INFO  c.example.Bench - ",
    'time="2019-07-01T22:14:42Z" level=info msg="', "I0701 22:14:42.123456   123 bench.go:12] ", "ok: [host3] => ",
    "2019-07-01 22:14:42.123 | INFO     | bench:run:45 - ", "[2019-07-01 22:14:42,123: INFO/MainProcess] ",
    "[2019-07-01T22:14:42Z INFO  bench] ", "[   12.345678] ", "[22:14:42] ", "<14>Jul  1 22:14:42 host3 bench: ",
    "Mon Jul  1 22:14:42 2019 INFO ",
]  # fmt: skip


def only(text: str) -> ParsedRun:
    parsed = recognise(SourceText(text))[0].parsed
    assert parsed
    (run,) = parsed.runs
    return run


@pytest.mark.parametrize("head", [*HEADS, "22:14:42 ", "[INFO] ", "INFO: "])
def test_the_name_of_fios_job_begins_behind_a_loggers_words(head: str) -> None:
    assert find_message(f"{head}{JOB}") == len(head)
    run = only(head + REPORT)
    assert [section.name for section in run.sections] == ["seq-read 1"]
    assert {sample.metric: sample.value for sample in run.samples} == {
        sample.metric: sample.value for sample in only(REPORT).samples
    }


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("is_everywhere", [False, True], ids=["first line", "each line"])
def test_other_tools_are_read_behind_them_too(head: str, is_everywhere: bool) -> None:
    text = "".join(f"{head}{line}\n" for line in DD.splitlines()) if is_everywhere else head + DD
    run = only(text)
    assert (run.tool, run.line, run.last_line) == ("dd", 1, 3)
    assert [(s.metric, s.value, s.line) for s in run.samples] == [(s.metric, s.value, s.line) for s in only(DD).samples]


@pytest.mark.parametrize("head", HEADS[:4])
def test_the_definition_may_stand_behind_them(head: str) -> None:
    defined = "seq-read 1: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16\nfio-2.1.3\nStarting 1 process\n"
    run = only(head + defined + head + REPORT)
    assert [section.name for section in run.sections] == ["seq-read 1"]
    assert {sample.operation for sample in run.samples} == {"randread"}


def test_a_name_that_was_defined_is_found_behind_any_words() -> None:
    defined = (
        "rw 1: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16\nfio-2.1.3\nStarting 1 process\n"
    )
    run = only(defined + "bench says rw 1" + REPORT.removeprefix("seq-read 1"))
    assert [section.name for section in run.sections] == ["rw 1"]


@pytest.mark.parametrize(
    "line",
    [
        "22:14:42.050         1    100.00    0.39   4096", "read: IOPS=10, BW=1MiB/s (1MB/s)(10MiB/1000msec)",
        "Jul 01, 2019  interval        i/o   MB/sec", "12:00:01 AM  CPU %user", "2020-01-01 12:00:00,12.5,13.5",
        "Operations performed:  6008 Read", "[ ID] Interval       Transfer", JOB, "INFO Throughput: 12", "", ":",
    ],
)  # fmt: skip
def test_a_tools_own_lines_have_no_logger(line: str) -> None:
    assert find_message(line) == 0


def test_lines_keep_their_numbers_and_single_messages_stay() -> None:
    text = SourceText(f"above\n{HEADS[1]}{DD}below\n{HEADS[1]}a line by itself\n")
    shorter = without_message_heads(text)
    assert shorter
    assert shorter.text.count("\n") == text.text.count("\n")
    assert shorter.lines[1] == "1024+0 records in"
    assert shorter.lines[5].endswith("INFO - a line by itself")
    assert without_message_heads(SourceText(DD)) is None
