"""One file, several formats: who reads what, and what happens where two claim the same lines."""

import socket

import msgspec
import pytest
from msgspec import structs

from apps.parsers.core import registry
from apps.parsers.core.models import (
    Broken,
    ParsedFile,
    ParsedInventory,
    ParsedRun,
    ParsedSample,
    ParsedSection,
    ParsedSeries,
    ParseError,
)
from apps.parsers.core.registry import Format
from apps.parsers.core.source_text import SourceText
from apps.uploads import file_reader
from apps.uploads.file_reader import FileReading, read_file
from apps.uploads.sandbox import child, frames

TEXT = SourceText(b"one\ntwo\nthree\nfour\nfive\nsix\n")


def run(first: int, last: int, samples: int = 1) -> ParsedRun:
    values = tuple(ParsedSample("read", "bandwidth", float(n), section=n) for n in range(samples))
    return ParsedRun("tool", "1", samples=values, line=first, last_line=last)


def form(name: str, confidence: float, found: ParsedFile | ParseError) -> Format:
    def parse(text: SourceText) -> ParsedFile:
        if isinstance(found, ParseError):
            raise found
        return found

    return Format(name, name.title(), "results", lambda text: confidence, parse)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> object:
    def knows(*formats: Format) -> None:
        monkeypatch.setattr(registry, "formats", lambda: formats)
        monkeypatch.setattr(file_reader, "formats", lambda: formats)

    return knows


def spans(found: FileReading) -> list[tuple[str, int | None, bool]]:
    return [(one.format, one.run.line, one.is_chosen) for one in found.runs]


def test_tools_one_after_another_are_no_conflict(known: object) -> None:
    known(form("dd", 0.9, ParsedFile((run(1, 2), run(5, 6)))), form("iozone", 1.0, ParsedFile((run(3, 4),))))  # type: ignore[operator]
    found = read_file(TEXT)
    assert spans(found) == [("dd", 1, True), ("iozone", 3, True), ("dd", 5, True)]
    assert found.format == "iozone"
    assert all(not one.rivals for one in found.runs)


def test_two_that_claim_the_same_lines_are_both_shown_and_the_surer_is_chosen(known: object) -> None:
    known(form("a", 0.6, ParsedFile((run(1, 4),))), form("b", 0.8, ParsedFile((run(3, 6),))))  # type: ignore[operator]
    found = read_file(TEXT)
    assert spans(found) == [("a", 1, False), ("b", 3, True)]
    assert [one.rivals for one in found.runs] == [(1,), (0,)]


def test_of_equally_sure_ones_exactly_one_is_chosen(known: object) -> None:
    known(form("a", 0.8, ParsedFile((run(1, 6),))), form("b", 0.8, ParsedFile((run(1, 6),))))  # type: ignore[operator]
    assert sorted(one.is_chosen for one in read_file(TEXT).runs) == [False, True]


def test_who_is_unsure_keeps_silent_where_somebody_is_sure(known: object) -> None:
    known(form("table", 0.3, ParsedFile((run(1, 6),))), form("dd", 0.9, ParsedFile((run(2, 3),))))  # type: ignore[operator]
    assert spans(read_file(TEXT)) == [("dd", 2, True)]


def test_who_is_unsure_speaks_where_nobody_else_does(known: object) -> None:
    known(form("table", 0.3, ParsedFile((run(1, 6),))), form("dd", 0.9, ParseError("no result", line=2)))  # type: ignore[operator]
    assert spans(read_file(TEXT)) == [("table", 1, True)]


def test_the_surest_says_why_nothing_was_found(known: object) -> None:
    known(
        form("a", 0.4, ParseError("vague")),
        form("b", 0.9, ParseError("cut off", line=3, found="thr", expected="a rate")),
    )  # type: ignore[operator]
    error = read_file(TEXT).error
    assert error is not None
    assert (error.message, error.line, error.found, error.expected) == ("cut off", 3, "thr", "a rate")


def test_a_file_that_nobody_knows_says_how_it_begins(known: object) -> None:
    known(form("a", 0.0, ParsedFile()))  # type: ignore[operator]
    error = read_file(TEXT).error
    assert error is not None
    assert (error.found, error.line) == ("one", 1)


def test_broken_runs_stand_beside_the_others(known: object) -> None:
    bad = Broken("no rate", 4, "four", "a rate")
    known(form("dd", 0.9, ParsedFile((run(1, 2),), broken=(bad,))))  # type: ignore[operator]
    found = read_file(TEXT)
    assert found.broken == (bad,)
    assert found.error is None
    assert len(found.runs) == 1


def test_output_of_many_hosts_is_read_host_by_host(known: object) -> None:
    def parse(text: SourceText) -> ParsedFile:
        return ParsedFile(
            (structs.replace(run(text.number(0), text.number(len(text.lines) - 1)), caption=text.lines[0]),)
        )

    known(Format("dd", "dd", "results", lambda text: 1.0, parse))  # type: ignore[operator]
    found = read_file(SourceText(b"node1: a\nnode2: b\nnode1: c\nnode2: d\n"))
    assert {(one.run.host, one.run.caption) for one in found.runs} == {("node1", "a"), ("node2", "b")}


def test_series_travel_packed(known: object) -> None:
    series = ParsedSeries("read", "bandwidth", 0, "report", (0.0, 1.0), (10.0, 20.0))
    known(form("fio", 1.0, ParsedFile((structs.replace(run(1, 6), series=(series,)),))))  # type: ignore[operator]
    (one,) = read_file(TEXT).runs
    assert one.run.series == ()
    assert (one.series[0].count, len(one.series[0].overview)) == (2, 2)


def test_inventory_of_the_same_lines_is_taken_from_the_surer_reading(known: object) -> None:
    lsblk = ParsedInventory("lsblk", "2 disks", {}, line=1, last_line=3)
    findmnt = ParsedInventory("findmnt", "3 mounts", {}, line=2, last_line=4)
    mdstat = ParsedInventory("mdstat", "1 array", {}, line=5, last_line=6)
    known(form("x", 0.9, ParsedFile(inventory=(lsblk,))), form("y", 0.6, ParsedFile(inventory=(findmnt, mdstat))))  # type: ignore[operator]
    assert [one.tool for one in read_file(TEXT).inventory] == ["lsblk", "mdstat"]


@pytest.mark.parametrize("data", [b"", b"   \n\n", b"\0\0\0"], ids=["no bytes", "blanks", "zeros"])
def test_an_empty_file_is_said_to_be_empty(data: bytes) -> None:
    error = read_file(SourceText(data)).error
    assert error is not None
    assert error.message == "the file is empty"


def test_a_run_with_a_number_that_can_not_be_sent_is_broken_and_takes_no_other_with_it(known: object) -> None:
    endless = structs.replace(run(3, 4), sections=(ParsedSection(1, "job", {}, 10**25),))
    known(form("a", 0.9, ParsedFile((run(1, 2), endless, run(5, 6)))))  # type: ignore[operator]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child._send_read(theirs, child.ReadRequest(data=TEXT.data))
        found = msgspec.msgpack.decode(frames.receive(ours), type=dict[str, FileReading])["read"]
    assert spans(found) == [("a", 1, True), ("a", 5, True)]
    (broken,) = found.broken
    assert (broken.line, broken.message) == (3, "a number in the run has more than 64 bits")


def test_a_format_that_fails_takes_nothing_from_the_others(known: object) -> None:
    def failing(text: SourceText) -> ParsedFile:
        raise KeyError("a fault of ours")

    def blind(text: SourceText) -> float:
        raise ZeroDivisionError

    good = form("good", 0.9, ParsedFile((run(1, 2),)))
    bad, worse = (
        Format("bad", "Bad", "results", lambda text: 0.8, failing),
        Format("w", "Worse", "results", blind, failing),
    )
    known(good, bad, worse)  # type: ignore[operator]
    found = read_file(TEXT)
    assert spans(found) == [("good", 1, True)]
    assert sorted(one.message for one in found.broken) == [
        f"reading it as {title} failed: KeyError: 'a fault of ours'" for title in ("Bad", "Worse")
    ]
    known(bad)  # type: ignore[operator]
    error = read_file(TEXT).error
    assert error is not None
    assert error.message.startswith("reading it as Bad failed")


def test_too_little_memory_is_no_fault_of_a_format(known: object) -> None:
    def large(text: SourceText) -> ParsedFile:
        raise MemoryError

    known(Format("large", "Large", "results", lambda text: 0.9, large))  # type: ignore[operator]
    with pytest.raises(MemoryError):
        read_file(TEXT)
