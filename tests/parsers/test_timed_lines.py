"""The time of a log before every line hides nothing, and adds nothing."""

import time as clock
from pathlib import Path

import pytest

from apps.parsers.cleanup.timestamps import without_times
from apps.parsers.core.registry import RECOGNISED, FormatReading, get_format, read_as, recognise
from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import read_file
from tests.pace import within
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.sampling import for_each

TIMES = [
    b"2023-05-04T10:11:12.1234567Z ",
    b"2023-05-04 10:11:12,123 INFO ",
    b"2023-05-04T10:11:12+02:00 ",
    b"[2023-05-04 10:11:12] ",
    b"[10:11:12.5] ",
    b"May  4 10:11:12 ",
    b"May 04 10:11:12 host3 bench.sh[4711]: ",
    b"May 04 10:11:12 host3 systemd: ",
    b"May 04 10:11:12.123456 host3 bench.sh[4711]: ",
    b"2023-05-04T10:11:12+0200 host3 bench.sh[4711]: ",
    b"2023/05/04 10:11:12 ",
    b"[2023-05-04, 10:11:12 UTC] {bash.py:93} INFO - ",
    b"2023-05-04 10:11:12,123 - bench - INFO - ",
    b"2023-05-04 10:11:12,123 [INFO] bench: ",
    b"I0504 10:11:12.123456    1234 run.go:12] ",
    b"2023-05-04T10:11:12.123456Z 01O ",
    b"2023-05-04T10:11:12.123456789Z stdout F ",
    b"04-May-2023 10:11:12 ",
    b"[04/May/2023:10:11:12 +0200] ",
    b"build\t04-May-2023 10:11:12\t",
    b"[    0.123456] ",
    b"<6>[12345.123456][    T1] ",
    b"1683195072.123456 ",
    b"disks\tRun fio\t2023-05-04T10:11:12.1234567Z ",
    b"disks-1  | ",
    b"\x1b[36mdisks-1  |\x1b[0m 2023-05-04T10:11:12.123Z ",
    b"[pod/disks-x7/bench] ",
    b"null_resource.disks (remote-exec): ",
    b"[host3.lab.example] out: ",
]
TEXTS = [
    path for folder in FORMATS for path in outputs(folder).values() if path.read_bytes().count(b"\n") >= 3
]  # what has fewer lines is no log


CLOCKS = [b"10:11:12 ", b"10:11:12.123 ", b"10:11:12 DEBUG| [stdout] "]


def timed(data: bytes, time: bytes) -> bytes:
    lines = data.split(b"\n")
    last = [lines.pop()] if not lines[-1] else []
    return b"\n".join([*(time + line for line in lines), *last])


def found(readings: list[FormatReading]) -> list[object]:
    sure = [one for one in readings if one.has_found and one.confidence >= RECOGNISED and one.format.kind != "table"]
    return [(one.format.name, one.parsed) for one in sure]


@for_each("path", TEXTS)
def test_what_is_read_is_the_same_with_the_same_line_numbers(path: Path) -> None:
    data = path.read_bytes()
    plain = found(recognise(SourceText(data)))
    time = TIMES[sum(data[:4000]) % len(TIMES)]
    assert found(recognise(SourceText(timed(data, time)))) == plain


@for_each("time", TIMES + CLOCKS)
def test_every_kind_of_time(time: bytes) -> None:
    data = (
        b"$ dd if=/dev/zero of=file bs=1M count=1024 oflag=direct\n1024+0 records in\n1024+0 records out\n"
        b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 8.25 s, 130 MB/s\n\n"
    )
    plain = recognise(SourceText(data))
    assert [sample.metric for run in plain[0].parsed.runs for sample in run.samples]  # type: ignore[union-attr]
    assert found(recognise(SourceText(timed(data, time)))) == found(plain)
    as_told = read_as(get_format("dd"), SourceText(timed(data, time)))
    assert as_told.parsed == plain[0].parsed


def test_a_few_lines_of_others_are_no_harm() -> None:
    lines = [b"2023-05-04T10:11:12Z line %d" % number for number in range(20)]
    for others in ([b"killed"], [b"and more"] * 5):
        bare = without_times(SourceText(b"\n".join([*lines, *others])))
        assert bare
        assert bare.lines == [f"line {number}" for number in range(20)] + [line.decode() for line in others]
    assert without_times(SourceText(b"\n".join(lines[:2]))) is None
    assert without_times(SourceText(b"")) is None


def test_a_piece_of_a_log_in_a_mail_is_read() -> None:
    log = timed(b"8+0 records in\n8+0 records out\n8388608 bytes (8.4 MB) copied, 0.5 s, 16.8 MB/s\n", TIMES[0])
    words = b"what we see here\nevery night, is this\nor even less:\n"
    (reading,) = recognise(SourceText(words + b"\n" + log + b"\n" + words * 3))
    assert reading.parsed
    assert [(run.line, run.last_line, run.caption) for run in reading.parsed.runs] == [(5, 7, "")]


def test_single_lines_with_a_time_stay_as_they_are() -> None:
    lines = [b"2023-05-04 10:11:12 begun", b"2023-05-04 10:11:12 still", b"a word"] * 5
    assert without_times(SourceText(b"\n".join(lines))) is None


def test_vdbenchs_own_times_are_not_taken_away() -> None:
    rows = b"".join(b"13:45:%02d.019 %d 107.5 0.10 1024 50.70 1.557\n" % (second, second) for second in range(10, 30))
    assert without_times(SourceText(rows)) is None
    assert without_times(SourceText(b"13:45:13.001 Starting RD=rd1; I/O rate: 100\n" * 3)) is None


def test_words_that_differ_from_line_to_line_are_the_tools() -> None:
    lines = [b"2023-05-04T10:11:12Z disk%d: line" % number for number in range(9)]
    bare = without_times(SourceText(b"\n".join(lines)))
    assert bare
    assert bare.lines[3] == "disk3: line"


REPORT = (
    b"job: (groupid=0, jobs=1): err= 0: pid=%d: Sat Jun 25 02:08:42 2022\n"
    b"  read: IOPS=5120, BW=20.0MiB/s (20.0MB/s)(600MiB/30001msec)\n"
    b"    clat (usec): min=41, max=977, avg=390.11, stdev=21.70\n"
    b"     lat (usec): min=42, max=978, avg=%d.11, stdev=21.70\n   bw (  KiB/s): min=1, max=2, per=99.97%%, avg=2.00, stdev=2.80\n"
)


def test_containers_that_take_turns_are_read_apart() -> None:
    one, two = (timed(REPORT % (pid, pid * 100), b"disks-%d  | " % pid).splitlines() for pid in (1, 2))
    for turn in (2, 3):
        mixed = [b"Pulling: done"]
        mixed += [line for at in range(0, len(one), turn) for line in [*one[at : at + turn], *two[at : at + turn]]]
        found = read_file(SourceText(b"\n".join(mixed)))
        assert without_times(SourceText(b"\n".join(mixed))) is None
        assert [
            (each.run.host, sample.value, mixed[(sample.line or 0) - 1][:7])
            for each in found.runs
            for sample in each.samples
            if sample.metric == "latency_mean"
        ] == [("disks-1", 100_110, b"disks-1"), ("disks-2", 200_110, b"disks-2")]


def test_a_table_with_a_column_of_names_is_not_torn() -> None:
    rows = b"".join(b"disk-%d  | %d\n" % (number % 2, number) for number in range(20))
    assert len(SourceText(rows).by_host()) == 1
    assert len(SourceText(b"".join(sorted(rows.splitlines(True)))).by_host()) == 1


def test_a_table_keeps_its_column_of_times() -> None:
    days = [b"2023-05-%02d 10:11:12  disk1  %d.5       %d\n" % (day, day * 10, day) for day in range(10, 30)]
    rows = b"night                disk   write MB/s  read MB/s\n" + b"".join(days)
    readings = recognise(SourceText(rows))
    assert [one.format.kind for one in readings] == ["table"]
    assert b"2023-05-14" in SourceText(rows).data


ENDLESS = {
    "clocks": b"10:11:12 " * 100_000, "brackets": b"[ " * 500_000, "tabs": b"a\t" * 500_000, "labels": b"a  |\n" * 200_000,
    "turns": b"a  | x\nb  | y\n" * 80_000, "names": b"a" * (1 << 20) + b"  |", "times": b"2023-05-04T10:11:12Z x\n" * 40_000,
    "words": b"2023-05-04T10:11:12Z a: b: c: d: e: f: g:\n" * 20_000, "pods": b"[pod/" * 200_000,
}  # fmt: skip


@pytest.mark.slow
@for_each("name", sorted(ENDLESS), number=4)
def test_endless_logs_take_linear_time(name: str) -> None:
    before = clock.process_time()
    text = SourceText(ENDLESS[name])
    without_times(text)
    text.by_host()
    assert within(clock.process_time() - before, 2)


def test_times_before_lines_of_two_bytes_a_letter_are_taken_away() -> None:
    dd = "1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB) copied, 8.25 s, 130 MB/s\n"
    for encoding in ("utf-16", "utf-16-le"):
        plain = recognise(SourceText(dd.encode(encoding)))
        log = "".join(f"2023-05-04T10:11:12Z {line}\n" for line in dd.splitlines())
        assert found(recognise(SourceText(log.encode(encoding)))) == found(plain) != []
