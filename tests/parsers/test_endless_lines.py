"""A million lines of nothing, or of one letter, between two results: a copied screen, or somebody's bad day."""

import time

import pytest

from apps.parsers.registry import format_named
from apps.parsers.source_text import SourceText
from tests.pace import within
from tests.parsers.seeds import TEXTS

MEBIBYTE = 1 << 20


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
