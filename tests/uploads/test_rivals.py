"""Several tools in one file: what is broken is told beside what is not, and who prints inside another's report stays."""

from pathlib import Path

import pytest
from msgspec import structs

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSeries, ParseError
from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import FileReading, read_file
from tests.parsers.test_fio_terse import IDLE, READ, record
from tests.uploads.test_reading import TEXT, form, known, run, spans

__all__ = ["known"]

FIXTURES = Path(__file__).parents[1] / "parsers" / "fixtures"
DD = "104857600 bytes (105 MB, 100 MiB) copied, 9.1 s, 11.5 MB/s\n"
HDPARM = "\n/dev/sda:\n Timing buffered disk reads: 554 MB in  3.00 seconds = 184.55 MB/sec\n"
IOPING = (FIXTURES / "ioping" / "read-1.3.txt").read_text()
FIO = (FIXTURES / "fio_json" / "null.json").read_text()
IPERF3 = (FIXTURES / "iperf3_json" / "tcp-3.12.txt").read_text()


def figures(name: str, *lines: int) -> ParsedRun:
    """A run from line 1 to 6 with values from these lines."""
    samples = tuple(ParsedSample("read", "bandwidth", 1.0, section=n, line=line) for n, line in enumerate(lines))
    return structs.replace(run(1, 6), tool=name, samples=samples)


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (FIO[:3000] + "\n", 2),
        (FIO.replace('"iops" : ', '"iops" : "many", "was" : ', 1), None),
        (record(READ, IDLE)[:200] + "\n", 2),
        (" Timing buffered disk reads: 554 MB in  3.00 sec\n", 2),
        (IPERF3[: len(IPERF3) // 2] + "\n", 2),
    ],
    ids=["cut fio json", "wrong type", "cut terse record", "cut hdparm", "cut iperf 3"],
)
def test_a_broken_result_behind_a_sound_one_is_told(broken: str, line: int | None) -> None:
    found = read_file(SourceText((DD + broken).encode()))
    assert [one.format for one in found.runs] == ["dd"]
    (told,) = found.broken
    assert told.line is not None
    assert line in (None, told.line)
    assert told.found
    assert told.expected


def test_who_found_nothing_is_heard_where_he_was_sure(known: object) -> None:
    bad = Broken("no rate", 4, "four", "a rate")
    known(
        form("dd", 0.9, ParsedFile((run(1, 2),))),
        form("sure", 0.8, ParseError("cut off", line=3, found="thr", expected="three")),
        form("broken", 0.7, ParsedFile(broken=(bad,))),
        form("unsure", 0.3, ParseError("vague", line=5, found="five", expected="something")),
    )  # type: ignore[operator]
    assert read_file(TEXT).broken == (bad, Broken("cut off", 3, "thr", "three"))


def test_an_error_is_not_told_twice_where_nothing_was_found(known: object) -> None:
    known(form("sure", 0.8, ParseError("cut off", line=3, found="thr", expected="three")))  # type: ignore[operator]
    found = read_file(TEXT)
    assert (found.error, found.broken) == (Broken("cut off", 3, "thr", "three"), ())


def inside(outer: str, inner: str) -> FileReading:
    rows = outer.splitlines(keepends=True)
    middle = len(rows) // 2
    return read_file(SourceText("".join([*rows[:middle], inner, *rows[middle:]]).encode()))


@pytest.mark.parametrize("inner", [DD, HDPARM], ids=["dd", "hdparm"])
@pytest.mark.parametrize(
    "outer",
    ["ioping/read-1.3.txt", "sysbench_fileio/*.txt", "iperf3_text/*.txt", "fio_text/groups.txt"],
)
def test_a_tool_that_printed_into_another_ones_report_stays(outer: str, inner: str) -> None:
    path = sorted(FIXTURES.glob(outer))[0]
    alone = read_file(SourceText(path.read_bytes()))
    found = inside(path.read_text(), inner)
    added = "dd" if inner == DD else "hdparm"
    assert {one.format for one in found.runs if one.is_chosen} == {added, *(one.format for one in alone.runs)}
    assert all(one.is_chosen and not one.rivals for one in found.runs)


def test_ioping_inside_of_iperf_3_stays() -> None:
    found = inside(sorted((FIXTURES / "iperf3_text").glob("*.txt"))[0].read_text(), IOPING)
    assert {one.format for one in found.runs if one.is_chosen} == {"ioping", "iperf3"}


def test_values_from_other_lines_are_no_quarrel(known: object) -> None:
    known(form("a", 0.9, ParsedFile((figures("a", 1, 2, 6),))), form("b", 0.8, ParsedFile((figures("b", 3, 4),))))  # type: ignore[operator]
    found = read_file(TEXT)
    assert [one.is_chosen for one in found.runs] == [True, True]
    assert found.warnings == ()


def test_values_from_the_same_line_are_one_and_are_told(known: object) -> None:
    known(form("a", 0.9, ParsedFile((figures("a", 1, 3),))), form("b", 0.8, ParsedFile((figures("b", 3, 4),))))  # type: ignore[operator]
    found = read_file(TEXT)
    assert sorted(spans(found)) == [("a", 1, True), ("b", 1, False)]
    assert found.warnings == ("line 1: a and b read the same lines; a was chosen",)


@pytest.mark.parametrize(("lines", "is_one"), [((2, 3), True), ((5, 6), False)])
def test_a_run_without_lines_of_values_has_read_all_of_its_own(
    known: object, lines: tuple[int, ...], is_one: bool
) -> None:
    series = ParsedSeries("read", "latency_mean", 0, "report", (0.0, 1.0), (10.0, 20.0))
    only = structs.replace(run(1, 4), samples=(), series=(series,))
    known(form("a", 0.9, ParsedFile((figures("a", *lines),))), form("b", 0.8, ParsedFile((only,))))  # type: ignore[operator]
    assert any(one.rivals for one in read_file(TEXT).runs) is is_one
