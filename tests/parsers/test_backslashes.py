"""Outputs that a converter to Markdown has gone through."""

from pathlib import Path

import pytest

from apps.parsers.cleanup.backslashes import without_backslashes
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import read_but_lines, read_plain, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.wrappings import by_a_converter
from tests.sampling import for_each


def _is_converted(path: Path) -> bool:
    """Whether it becomes what the layer takes off: no JSON, and a few signs."""
    text = SourceText(by_a_converter(path.read_bytes().decode("utf-8", "replace")))
    return without_backslashes(text) is not None


PATHS = [path for folder in FORMATS for path in outputs(folder).values() if _is_converted(path)]


@for_each("path", PATHS)
def test_what_was_converted_is_what_was_printed(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert read_but_lines(by_a_converter(text)) == read_plain(text)


def test_there_are_some_of_most_formats() -> None:
    assert len({path.parent.name for path in PATHS}) >= 8


def test_a_line_with_another_backslash_stays() -> None:
    shown = without_backslashes(SourceText("md0 : sda1\\[0\\] \\[U\\_\\]\nC:\\files\\_a\\[1\\]\n"))
    assert shown is not None
    assert shown.lines == ["md0 : sda1[0] [U_]", "C:\\files\\_a\\[1\\]"]


@pytest.mark.parametrize(
    "text",
    [
        "a\\[b\\]\n",
        "\\_SB.PCI0 \\_SB.PCI1 \\_SB.PCI2 \\_SB.PCI3\n",
        '{"a": "\\\\[1\\\\] \\\\[2\\\\]"}\n',
        "/dev/disk\\x2dby \\x2d \\x2d\n",
    ],
)
def test_what_is_no_converters_stays(text: str) -> None:
    assert without_backslashes(SourceText(text)) is None


@pytest.mark.slow
@for_each("piece", ["\\", "\\[", "\\_", "\\[\n", "\\a\n"], number=4)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = (piece * (1 << 20))[: 1 << 20]
    assert timed(lambda: without_backslashes(SourceText(text)), 1.0)[1] <= 1.0
