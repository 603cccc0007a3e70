"""Outputs with a blank line behind every line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from apps.parsers.cleanup.blank_lines import without_double_spacing, without_spaced_stretches
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import read_but_lines, read_plain, surely_read, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.wrappings import quoted_and_spread, spread, spread_in_a_mail
from tests.sampling import for_each

ALONE = ("fio_logs", "fio_jobfile", "fio_terse")  # a `>` before blank lines makes them others
PATHS = [path for folder in FORMATS for path in outputs(folder).values()]
TABLES = ("bonnie1", "iozone", "vdbench", "mdstat")


def _same(path: Path, form: Callable[[str], str]) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert read_but_lines(form(text)) == read_plain(text)


@for_each("path", PATHS)
def test_what_is_spread_is_what_was_printed(path: Path) -> None:
    if "\r" not in path.read_bytes().decode("utf-8", "replace"):
        _same(path, spread)


@for_each("path", [one for one in PATHS if one.parent.name not in ALONE])
def test_what_is_quoted_and_spread_is_what_was_printed(path: Path) -> None:
    if "\r" not in path.read_bytes().decode("utf-8", "replace"):
        _same(path, quoted_and_spread)


@for_each("path", [one for one in PATHS if one.parent.name in TABLES])
def test_tables_that_are_spread_in_a_mail_are_what_was_printed(path: Path) -> None:
    _same(path, spread_in_a_mail)


def test_lines_keep_their_numbers_and_one_blank_line_of_three() -> None:
    shown = without_double_spacing(SourceText("a\n\nb\n\n\n\nc\n\nd\n\ne\n\nf\n\n"))
    assert shown is not None
    found = [(shown.number(at), line) for at, line in enumerate(shown.lines)]
    assert [one for one in found if one[1]] == [(1, "a"), (3, "b"), (7, "c"), (9, "d"), (11, "e"), (13, "f")]
    assert [line for _, line in found][:4] == ["a", "b", "", "c"]


def test_paragraphs_beside_an_output_are_none_of_it() -> None:
    device = "02:00.0 Network controller: Maker Wireless [1:2]\n\tSubsystem: Maker Dual Band [1:5]\n"
    words = "".join(f"\nParagraph {number}, of one line.\n" for number in range(8))
    (reading,) = surely_read(f"Card:\n{device}{words}")
    assert "Paragraph" not in str(reading[1].inventory)


@pytest.mark.parametrize("text", ["", "a\n", "a\nb\n\nc\n\nd\n", "a\n\n\nb\n\n\nc\n\n\nd\n\n\ne\n\n\nf\n"])
def test_what_only_looks_so_stays(text: str) -> None:
    assert without_double_spacing(SourceText(text)) is None
    assert without_spaced_stretches(SourceText(text)) is None


@for_each("piece", ["a\n\n", "\n", "> a\n>\n", "a\n\n\n\n", "a\nb\n\n"], number=4)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = (piece * (1 << 20))[: 1 << 20]
    timed(lambda: without_spaced_stretches(SourceText(text)), 1.0)
    assert timed(lambda: without_double_spacing(SourceText(text)), 1.0)[1] <= 1.0
