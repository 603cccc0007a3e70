"""The time of a log before every line hides nothing, and adds nothing."""

from pathlib import Path

import pytest

from apps.parsers.registry import RECOGNISED, Reading, format_named, read_as, recognise
from apps.parsers.source_text import SourceText
from apps.parsers.timed_lines import without_times
from tests.parsers.fixture_pairs import FORMATS, outputs

TIMES = [
    b"2023-05-04T10:11:12.1234567Z ",
    b"2023-05-04 10:11:12,123 INFO ",
    b"2023-05-04T10:11:12+02:00 ",
    b"[2023-05-04 10:11:12] ",
    b"[10:11:12.5] ",
    b"May  4 10:11:12 ",
    b"May 04 10:11:12 host3 bench.sh[4711]: ",
    b"May 04 10:11:12 host3 systemd: ",
]
TEXTS = [
    path for folder in FORMATS for path in outputs(folder).values() if path.read_bytes().count(b"\n") >= 3
]  # what has fewer lines is no log


def timed(data: bytes, time: bytes) -> bytes:
    lines = data.split(b"\n")
    last = [lines.pop()] if not lines[-1] else []
    return b"\n".join([*(time + line for line in lines), *last])


def found(readings: list[Reading]) -> list[object]:
    sure = [one for one in readings if one.has_found and one.confidence >= RECOGNISED and one.format.kind != "table"]
    return [(one.format.name, one.parsed) for one in sure]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_read_is_the_same_with_the_same_line_numbers(path: Path) -> None:
    data = path.read_bytes()
    plain = found(recognise(SourceText(data)))
    time = TIMES[sum(data[:4000]) % len(TIMES)]
    assert found(recognise(SourceText(timed(data, time)))) == plain


@pytest.mark.parametrize("time", TIMES)
def test_every_kind_of_time(time: bytes) -> None:
    data = (
        b"$ dd if=/dev/zero of=file bs=1M count=1024 oflag=direct\n1024+0 records in\n1024+0 records out\n"
        b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 8.25 s, 130 MB/s\n\n"
    )
    plain = recognise(SourceText(data))
    assert [sample.metric for run in plain[0].parsed.runs for sample in run.samples]  # type: ignore[union-attr]
    assert found(recognise(SourceText(timed(data, time)))) == found(plain)
    as_told = read_as(format_named("dd"), SourceText(timed(data, time)))
    assert as_told.parsed == plain[0].parsed


def test_a_few_lines_of_others_are_no_harm_and_more_are_left_alone() -> None:
    lines = [b"2023-05-04T10:11:12Z line %d" % number for number in range(20)]
    assert without_times(SourceText(b"\n".join([*lines, b"killed"]))) is not None
    assert without_times(SourceText(b"\n".join([*lines, *[b"and more"] * 5]))) is None
    assert without_times(SourceText(b"\n".join(lines[:2]))) is None
    assert without_times(SourceText(b"")) is None


def test_a_table_keeps_its_column_of_times() -> None:
    days = [b"2023-05-%02d 10:11:12  disk1  %d.5       %d\n" % (day, day * 10, day) for day in range(10, 30)]
    rows = b"night                disk   write MB/s  read MB/s\n" + b"".join(days)
    readings = recognise(SourceText(rows))
    assert [one.format.kind for one in readings] == ["table"]
    assert b"2023-05-14" in SourceText(rows).data
