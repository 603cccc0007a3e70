"""A million lines of nothing, or of one letter, between two results: a copied screen, or somebody's bad day."""

import time

import pytest

from apps.parsers.registry import Format, format_named, formats
from apps.parsers.source_text import SourceText
from tests.pace import within
from tests.parsers.every import timed, tried
from tests.parsers.hostile import IS_LONG
from tests.parsers.seeds import TEXTS, seeds

MEBIBYTE = 1 << 20
SHORT_LINES = ["a:\n", "\ta: 1\n", "  a\n"]  # what the readers look at longest
MORE_LINES = [
    "a b\n",
    "[x]\n",
    "(a)\n",
    "- -\n",
    "sda 1\n",
    "ab: 12\n",
    "a = 1\n",
    "12 34\n",
    "a b\n[x]\n  a\n\ta: 1\n1 2\n",
]


@pytest.mark.parametrize("filler", ["\n", " \n", "a\n", "\r\n"], ids=repr)
@pytest.mark.parametrize("name", ["bonnie", "dd", "hdparm", "iperf3"])
def test_both_results_are_read_at_their_lines_within_two_seconds(name: str, filler: str) -> None:
    one = format_named(name)
    count = MEBIBYTE // len(filler)
    text = SourceText(TEXTS[name] + filler * count + TEXTS[name])
    before = time.process_time()
    found = one.parse(text).runs
    assert within(time.process_time() - before, 2)
    alone = one.parse(SourceText(TEXTS[name])).runs
    behind = TEXTS[name].count("\n") + count
    assert len(found) == 2 * len(alone)
    assert [run.line for run in found] == [*(run.line for run in alone), *((run.line or 0) + behind for run in alone)]
    assert [sample.line for run in found[len(alone) :] for sample in run.samples] == [
        (sample.line or 0) + behind for run in alone for sample in run.samples
    ]


def test_lines_that_say_something_all_stay() -> None:
    text = SourceText("".join(f"{n}\n" * 3 for n in range(10, 30_000)))
    assert len(text.lines) == 3 * 29_990
    assert text.number(len(text.lines) - 1) == 3 * 29_990
    some = SourceText("x y\n" + "\n" * 60_000 + "z z\n")
    assert [(some.number(at), line) for at, line in enumerate(some.lines) if line] == [(1, "x y"), (60_002, "z z")]


@pytest.mark.parametrize("filler", SHORT_LINES + (MORE_LINES if IS_LONG else []), ids=repr)
@pytest.mark.parametrize("one", [one for one in formats() if seeds(one)], ids=lambda one: one.name)
def test_short_lines_without_end_between_two_reports_are_looked_through(one: Format, filler: str) -> None:
    """A mebibyte in two seconds; the short form takes an eighth of it in as much less."""
    size = MEBIBYTE if IS_LONG else MEBIBYTE // 8
    seed = min(seeds(one), key=len)[:20_000]
    data = seed + b"\n" + filler.encode() * (size // len(filler)) + seed
    looks = (
        3 if one.kind == "table" else 1
    )  # what the dialog offers, what it shows, and what is read: a child's work each
    most = looks * (2 * size / MEBIBYTE + 0.1)  # a report by itself takes some, too
    _, seconds = timed(lambda: tried(one, SourceText(data)), most)
    assert seconds < most
