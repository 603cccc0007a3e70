"""fio's normal report as other programs keep it: numbered, in strings, in a forum's blocks; and what is kept of it for etcd."""

import json

import pytest

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.registry import get_format, recognise
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import timed, tried
from tests.sampling import for_each

REPORT = """rr: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8
fio-3.28
Starting 1 process

rr: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022
  read: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)
    clat (usec): min=44, max=3206, avg=64.21, stdev=27.10
    clat percentiles (usec):
     |  1.00th=[   46], 50.00th=[   61], 99.00th=[  126],
     | 99.99th=[ 3195]
  cpu          : usr=10.00%, sys=30.00%, ctx=5, majf=0, minf=1
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=99.9%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.1%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=5,0,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=478MiB/s (501MB/s), 478MiB/s-478MiB/s (501MB/s-501MB/s), io=14.0GiB (15.0GB), run=30001-30001msec
"""
LINES = REPORT.splitlines()


def parse(text: str) -> ParsedFile:
    found = recognise(SourceText(text))[0]
    assert (found.format.name, found.confidence >= 0.8) == ("fio text", True)
    assert found.parsed
    return found.parsed


def figures(found: ParsedFile) -> list[list[tuple[str, str, float | None]]]:
    return [[(one.operation, one.metric, one.value) for one in run.samples] for run in found.runs]


PLAIN = parse(REPORT)


def assert_plain(found: ParsedFile, first_line: int, count: int = 1) -> None:
    assert figures(found) == figures(PLAIN) * count
    assert [run.workload for run in found.runs] == [PLAIN.runs[0].workload] * count
    assert {run.tool_version for run in found.runs} == {"3.28"}
    assert found.runs[0].line == first_line
    assert (found.warnings, found.broken) == ((), ())


@pytest.mark.parametrize(
    "form",
    ["{:6d}\t{}", "{}:{}", "{:6d}  {}", "{:4d} | {}", "{:4d} \u2502 {}", "{}) {}", "{:3d}: {}"],
    ids=["cat", "grep", "expanded", "bar", "bat", "bracket", "colon"],
)
def test_numbers_that_count_up_before_every_line_are_none_of_it(form: str) -> None:
    assert_plain(parse("".join(f"{form.format(n, line)}\n" for n, line in enumerate(LINES, 12))), 1)


@pytest.mark.parametrize("mark", [":", "-"])
def test_a_files_name_stays_where_its_lines_have_numbers(mark: str) -> None:
    found = parse("".join(f"out/a.log{mark}{n}{mark}{line}\n" for n, line in enumerate(LINES, 1)))
    assert_plain(found, 1)
    assert found.runs[0].caption == "out/a.log"


def test_a_job_whose_name_is_a_number_keeps_it() -> None:
    found = parse(REPORT.replace("rr: (g", "16: (g").replace("\n\nrr: ", "\n17\n16: "))
    assert [run.sections[0].name for run in found.runs] == ["16"]


def listed(lines: list[str]) -> str:
    return json.dumps({"changed": True, "stdout_lines": lines}, indent=4)


@pytest.mark.parametrize(
    ("text", "first_line"),
    [
        ("ok: [node1] => " + listed(LINES), 4),
        ("ok: [node1] => " + json.dumps({"stdout": REPORT, "stdout_lines": LINES}, indent=4), 4),
        ("".join(json.dumps({"log": f"{line}\n", "stream": "stdout"}) + "\n" for line in LINES), 1),
        ("".join(f'{{"log":{json.dumps(line)},"time":"2022-06-25T02:08:42Z"}}\n' for line in LINES), 1),
        (
            "out.stdout_lines:\n"
            + "".join(f"- '{line}'\n" if ":" in line or line[:1] in " " else f"- {line}\n" for line in LINES),
            2,
        ),
        ("changed: [a] => " + json.dumps({"rc": 0, "stdout": REPORT, "stdout_lines": LINES}) + "\n", 1),
        (f"\nresult = {REPORT!r}\n", 2),
        (f"DEBUG output: {REPORT.encode()!r}\n", 1),
    ],
    ids=["lines", "lines and a string", "container", "container without ends", "yaml", "one line", "repr", "bytes"],
)
def test_a_report_in_strings_is_read_once(text: str, first_line: int) -> None:
    assert_plain(parse(text), first_line)


def test_another_hosts_report_in_a_string_is_another_run() -> None:
    other = REPORT.replace("pid=9:", "pid=10:")
    text = f'{{"stdout": {json.dumps(other)}}}\n' + listed(LINES)
    assert_plain(parse(text), 1, count=2)


def test_a_rule_at_the_end_of_a_line_is_no_part_of_the_version_and_none_before_it_a_caption() -> None:
    found = parse("".join(f"| {line} |\n" for line in LINES))
    assert figures(found) == figures(PLAIN)
    assert [(run.tool_version, run.caption) for run in found.runs] == [("3.28", "")]


SYNCS = """fsync/fdatasync/sync_file_range:
  sync (usec): min=534, max=15766, avg=1273.08, stdev=1084.70
  sync percentiles (usec):
   | 50.00th=[ 783], 99.00th=[ 2376],
   | 99.99th=[15795]
"""


def test_the_latencies_of_fsync_alone_are_a_run() -> None:
    command = "$ fio --rw=write --ioengine=sync --fdatasync=1 --directory=d --size=22m --bs=2300 --name=t\n...\n"
    (run,) = parse(command + SYNCS).runs
    assert run.workload["block_size"] == 2300
    assert {one.operation for one in run.samples} == {"sync"}
    assert {one.metric: one.value for one in run.samples}["latency_p99"] == 2_376_000


def test_rates_below_an_excerpt_of_fsync_are_another_run() -> None:
    found = parse(SYNCS + "...\n" + LINES[5] + "\n")
    assert [run.samples[0].operation for run in found.runs] == ["sync", "read"]


def test_the_words_alone_are_no_run() -> None:
    found = parse("Look below these words:\nfsync/fdatasync/sync_file_range:\n\n" + REPORT)
    assert_plain(found, 4)


@for_each(
    "piece",
    ['"', "'", '\\"', "- '", '{"log":"', "1:", "a-1-", '"\\n (groupid=', "'\\n (groupid=", "[code]", "7 (groupid=\n"],
    number=4,
)
def test_a_hostile_mebibyte_is_read_or_refused_within_two_seconds(piece: str) -> None:
    for text in (LINES[4] + "\n" + piece * (2**20 // len(piece)), f"{piece}{LINES[4]}\n" * (2**20 // 80)):
        _, seconds = timed(lambda: tried(get_format("fio text"), SourceText(text)), 2)  # noqa: B023
        assert seconds < 2


def test_rates_in_a_table_of_markdowns_have_the_name_of_their_row() -> None:
    rows = ["| test | depth | result |", "|---|---|---|", f"| seq | 1 | {LINES[5].strip()} |"]
    rows += [f"| rand | 32 | `{LINES[5].strip()}` | `{LINES[5].strip().replace('read', 'write')}` |"]
    found = parse("\n".join(rows) + "\n")
    assert [run.sections[0].name for run in found.runs] == ["seq, 1", "rand, 32"]
    told = [[(one.operation, one.value) for one in run.samples if one.metric == "iops"] for run in found.runs]
    assert told == [[("read", 122000)], [("read", 122000), ("write", 122000)]]
    assert [run.line for run in found.runs] == [3, 4]
