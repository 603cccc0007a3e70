"""A million lines of nothing, or of one letter, between two results: a copied screen, or somebody's bad day."""

import random
import time
from collections.abc import Iterator
from itertools import product

import pytest

from apps.parsers.core.registry import Format, formats, get_format
from apps.parsers.core.source_text import SourceText
from tests.pace import within
from tests.parsers.every import timed, tried
from tests.parsers.seeds import TEXTS, seeds
from tests.sampling import IS_LONG, for_each

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


@for_each("filler, name", product(["\n", " \n", "a\n", "\r\n"], ["bonnie", "dd", "hdparm", "iperf3"]), number=5)
def test_both_results_are_read_at_their_lines_within_two_seconds(name: str, filler: str) -> None:
    one = get_format(name)
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


@for_each(
    "filler, one",
    product(SHORT_LINES + (MORE_LINES if IS_LONG else []), [one for one in formats() if seeds(one)]),
    number=25,
)
def test_short_lines_without_end_between_two_reports_are_looked_through(one: Format, filler: str) -> None:
    """A mebibyte in two seconds; the short form takes an eighth of it in as much less."""
    size = MEBIBYTE if IS_LONG else MEBIBYTE // 8
    seed = min(seeds(one), key=len)[:20_000]
    data = seed + b"\n" + filler.encode() * (size // len(filler)) + seed
    most = looks(one) * (2 * size / MEBIBYTE + 0.1)  # a report by itself takes some, too
    _, seconds = timed(lambda: tried(one, SourceText(data)), most)
    assert seconds < most


def looks(one: Format) -> int:
    """What the dialog offers, what it shows, and what is read of a table are a child's work each."""
    return 3 if one.kind == "table" else 1


KNOWN = [  # what took the square of its length
    (
        "iperf3",
        b"Connecting to host a, port 5201\n[ ID] Interval           Transfer     Bitrate\n"
        b"[  5]   0.00-10.00  sec  1.10 GBytes   944 Mbits/sec  sender\n",
        b"[  5]   1.00-2.00   sec  1.80 GBytes  15.5 Gbits/sec\n[  5]   0.00-1.00   sec  1.69 GBytes  14.5 Gbits/sec\n",
    ),
    (
        "dmidecode",
        b"# dmidecode 3.3\n\nHandle 0x0000, DMI type 0, 24 bytes\nBIOS Information\n\tVendor: x\n\tCharacteristics:\n",
        b"\t\tPCI\n",
    ),
    ("ssacli", b"Smart Array P400i in Slot 0 (Embedded)\n\n   array A\n", b" a\n"),
    ("fio json", b"", b'{"fio version":"1"}\n'),
    ("fio json", b"", b'{"a":[{"fio version":"1"}]}\n'),
    ("fio json", b"", b' {"fio version":"1"}\n'),
    ("fio json", b'{"a":[\n', b'{"fio version":"1"},\n'),
]


def repeated(one: Format) -> Iterator[tuple[bytes, bytes, bytes]]:
    """A report up to one of its lines; this one, with the next, or cut; and the rest of the report."""
    for seed in seeds(one):
        lines = seed[:30_000].split(b"\n")
        for index, line in enumerate(lines):
            for unit in (line, b"\n".join(lines[index : index + 2]), line[: len(line) // 2]):
                if unit.strip() and len(unit) < 400:
                    yield b"\n".join(lines[: index + 1]) + b"\n", unit + b"\n", b"\n".join(lines[index + 1 :])


@pytest.mark.slow
@for_each("one", [one for one in formats() if seeds(one)], number=12)
def test_a_line_of_a_report_that_comes_without_end_takes_its_length(one: Format) -> None:
    """A quarter of a mebibyte in a quarter of two seconds, where the square of its length takes much more."""
    found = list(dict.fromkeys(repeated(one)))
    chosen = random.Random(one.name).sample(found, min(len(found), 120 if IS_LONG else 1))
    size = MEBIBYTE // 4
    for before, unit, behind in chosen:
        data = before + unit * (size // len(unit)) + behind
        most = looks(one) * (2 * size / MEBIBYTE + 0.1)
        _, seconds = timed(lambda: tried(one, SourceText(data)), most)  # noqa: B023
        assert seconds < most, unit


@pytest.mark.slow
@for_each("name, before, unit", KNOWN, number=2)
def test_what_took_the_square_of_its_length_no_longer_does(name: str, before: bytes, unit: bytes) -> None:
    text = SourceText(before + unit * (MEBIBYTE // len(unit)))
    _, seconds = timed(lambda: tried(get_format(name), text), 2)
    assert seconds < 2
