"""Outputs in posts: BBCode of forums, Jira's tags and Markdown's fences, on one line with what the tools wrote."""

from collections.abc import Callable
from pathlib import Path

import pytest

from apps.parsers.cleanup.post_tags import without_tags
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import read_but_lines, read_plain, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.wrappings import POSTS
from tests.sampling import for_each, in_turn

NOT_ALIKE = ("fio_logs", "cut_off")  # without words of their own; what is cut off ends elsewhere
PATHS = [
    path for folder in FORMATS for path in outputs(folder).values() if not {folder, path.stem}.intersection(NOT_ALIKE)
]


@pytest.mark.slow
@for_each("form, path", in_turn(POSTS, PATHS))
def test_what_stands_in_a_post_is_what_was_printed(path: Path, form: Callable[[str], str]) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert read_but_lines(form(text)) == read_plain(text)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("[code]a\nb[/code]\nc\n", [(1, "a"), (2, "b"), (3, "c")]),
        ("[quote][code]a\n", [(1, "a")]),
        ("x [b]107[/b] MB/s [color=#f00]slow[/COLOR]\n", [(1, "x 107 MB/s slow")]),
        ("{noformat}a{noformat}\nb{code:java}c\n", [(1, "a"), (2, "b"), (2, "c")]),
        ("so:```\n$ a\n```b\n", [(1, "so:"), (2, "$ a"), (3, "```b")]),
        ("[list][*]a[/list]b\n", [(1, "[*]a"), (1, "b")]),
    ],
)
def test_lines_keep_their_numbers(text: str, lines: list[tuple[int, str]]) -> None:
    shown = without_tags(SourceText(text))
    assert shown is not None
    assert [(shown.number(at), line) for at, line in enumerate(shown.lines)] == lines


@pytest.mark.parametrize(
    "text",
    [
        "[code]\nrw=read\n[quote]\nrw=write\n",  # sections of a job file
        "[code]\t; the first\nrw=read\n",
        "Jobs: 1 (f=1): [b] [12.5% done] [s]\n",
        "```\n$ dd\n```\n```text\nb\n```\n> ```\n",
        "[/dev/sda] [/tmp/b]\n",
        '{"code": {"a": [1]}}\n',
    ],
)
def test_what_only_looks_like_a_tag_stays(text: str) -> None:
    assert without_tags(SourceText(text)) is None


@pytest.mark.slow
@for_each("piece", ["[code]", "[/code]", "[code=", "[b][/b]", "{code:", "a```", "[quote]\n", "[code] "], number=4)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = SourceText("[/code][/b]" + piece * (2**20 // len(piece)))
    _, seconds = timed(lambda: without_tags(text), 1)
    assert seconds < 1
