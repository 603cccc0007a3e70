"""Outputs behind a margin: pasted with blanks before every line, or as a code block between somebody's words."""

from collections.abc import Callable
from pathlib import Path

import pytest

from apps.parsers.cleanup.margins import without_block_margins, without_margin
from apps.parsers.core.registry import get_format, read_as
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import read_but_lines, read_plain, surely_read, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.seeds import TEXTS
from tests.parsers.wrappings import MARGINS, rows
from tests.sampling import for_each, in_turn

PATHS = [path for folder in FORMATS for path in outputs(folder).values()]
VDBENCH = """16:46:14.003 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: None

Feb 18, 2019    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys
16:46:15.102           1       76.0     0.07    1024  52.63    0.011    0.008    0.014     0.02     0.04    0.006    0.0  23.4   5.6
16:46:16.021           2      109.0     0.11    1024  53.21    0.011    0.010    0.013     0.07     0.03    0.007    0.0  10.2   2.0
16:46:16.060     avg_2-2      113.0     0.11    1024  50.88    0.018    0.010    0.027     0.07     2.57    0.120    0.0   6.4   1.0
"""  # fmt: skip


@pytest.mark.slow
@for_each("margin, path", in_turn(MARGINS, PATHS))
def test_what_is_read_behind_a_margin_is_the_same_with_the_same_line_numbers(path: Path, margin: str) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    behind = "".join(f"{margin}{row}\n" if row.strip() else f"{row}\n" for row in rows(text))
    assert surely_read(behind) == surely_read("".join(f"{row}\n" for row in rows(text)))


def in_prose(text: str) -> str:
    return "It was slow::\n\n" + "".join(f"   {row}\n" if row else "\n" for row in rows(text)) + "\nIt still is.\n"


@for_each("name", TEXTS)
def test_a_block_in_prose_is_read(name: str) -> None:
    assert read_but_lines(in_prose(TEXTS[name])) == read_plain(TEXTS[name])


def test_vdbench_in_prose_is_read_also_by_who_says_that_it_is_vdbenchs() -> None:
    assert read_but_lines(in_prose(VDBENCH)) == read_plain(VDBENCH) != []
    (run,) = read_as(get_format("vdbench"), SourceText(in_prose(VDBENCH))).parsed.runs  # type: ignore[union-attr]
    assert (run.line, run.last_line) == (3, 9)


@pytest.mark.parametrize(
    ("layer", "text", "lines"),
    [
        (without_margin, "  a\n    b\n\n  c\n", ["a", "  b", "", "c"]),
        (without_margin, "\ta\n\t b\r\n\tc\n", ["a", " b", "c"]),
        (without_margin, "\ta\n  b\n c\n", None),  # nothing in common
        (without_margin, "  a\nb\n  c\n", None),
        (without_margin, "  a\n", ["a"]),
        (without_block_margins, "a:\n\n  b\n    c\n  d\n\ne\n", ["a:", "", "b", "  c", "d", "", "e"]),
        (without_block_margins, "a:\n\n  b\n    c\n\n  d\n", ["a:", "", "b", "  c", "", "d"]),
        (without_block_margins, "a:\n  b\n  c\n  d\n\ne\n", None),  # a's own
        (without_block_margins, "a:\n\n  b\n  c\n  d\ne\n", None),
    ],
)
def test_margins_are_what_all_lines_of_a_block_begin_with(
    layer: Callable[[SourceText], SourceText | None], text: str, lines: list[str] | None
) -> None:
    found = layer(SourceText(text))
    assert (found and found.lines) == lines


@for_each("piece", [" ", " \n", " a\n", "\n a\n\n", "\ta\n", "a\n\n b\n c\n d\n\n", "\r", " \r"], number=4)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = SourceText(" " + piece * (2**20 // len(piece)))
    for layer in (without_margin, without_block_margins):
        _, seconds = timed(lambda: layer(text), 1)  # noqa: B023
        assert seconds < 1
