"""Outputs in the characters of pages, word processors and chats."""

from collections.abc import Callable
from pathlib import Path

import pytest

from apps.parsers.cleanup.typography import with_plain_characters
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import read_but_lines, read_plain, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.wrappings import TYPESET, with_long_dashes
from tests.sampling import for_each, in_turn

PATHS = [path for folder in FORMATS for path in outputs(folder).values()]
DASHED = [path for path in PATHS if path.parent.name not in ("time_cp",)]  # `-rw-r--r--`, amid letters, stays


@pytest.mark.slow
@for_each("form, path", in_turn(TYPESET, PATHS))
def test_what_was_typeset_is_what_was_printed(path: Path, form: Callable[[str], str]) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert read_but_lines(form(text)) == read_plain(text)


@for_each("path", DASHED)
def test_hyphens_that_a_blog_made_dashes_of_are_hyphens(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert read_but_lines(with_long_dashes(text)) == read_plain(text)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("\u2014\u2013Sequential Output\u2014\u2013 -Per Char-\n", "-----Sequential Output----- -Per Char-\n"),
        ("\u2014Block\u2014 \u2013Seeks\u2013\n", "---Block--- --Seeks--\n"),
        ("$ fio \u2013name=a \u2013rw=read\u2026\n", "$ fio --name=a --rw=read...\n"),
        ("1\u00a0024 MB and\u00a0more\n", "1\u00a0024 MB and more\n"),
        ("10\u00a020\u00a030\n", "10 20 30\n"),
        ("a\u200bb\u202fc\n", "ab c\n"),
    ],
)
def test_plain_characters_take_their_place(text: str, typed: str) -> None:
    shown = with_plain_characters(SourceText(text))
    assert shown is not None
    assert shown.text == typed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain -- text\n",
        "slow \u2014 or so\n",
        "slow\u2014or so\n",
        "10\u201320 MB\n",
        "gr\u00f6\u00dfer\n",
        "1\u00a0024 1 2\n",
    ],
)
def test_prose_and_plain_text_stay(text: str) -> None:
    assert with_plain_characters(SourceText(text)) is None


@for_each("piece", ["\u00a0", "\u2013", "1\u00a02", "\u2014a", "-\u2013", "\u200b\n", "a\u2013 "], number=4)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = (piece * (1 << 19))[: 1 << 19]
    assert timed(lambda: with_plain_characters(SourceText(text)), 1.0)[1] <= 1.0
