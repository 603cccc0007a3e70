"""Marks and numbers before every line of an output are none of it."""

from pathlib import Path

import pytest

from apps.parsers.cleanup.line_marks import without_marks
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import surely_read, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.wrappings import MARKS, marked
from tests.sampling import for_each

TEXTS = [
    path for folder in FORMATS if folder != "fio_logs" for path in outputs(folder).values()
    if path.read_bytes().count(b"\n") >= 5
]  # fmt: skip


@for_each("path", TEXTS)
def test_what_is_read_behind_marks_is_the_same_with_the_same_line_numbers(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace").expandtabs()
    plain = surely_read(text)
    mark = MARKS[sum(map(ord, text[:4000])) % len(MARKS)]
    assert surely_read(marked(text, mark)) == plain


@for_each("mark", MARKS)
def test_every_mark(mark: str) -> None:
    text = "$ dd if=/dev/zero of=file bs=1M count=1024 oflag=direct\n1024+0 records in\n1024+0 records out\n"
    text += "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 8.25 s, 130 MB/s\n\n"
    assert surely_read(marked(text, mark)) == surely_read(text) != []


@pytest.mark.parametrize(
    "text",
    [
        "NAME\nsda\n|-sda1\n| |-a\n| |-b\n| |-c\n| |-d\n| `-e\n`-sda2\n",
        "TARGET SOURCE\n/ /dev/sda1\n|-/sys sysfs\n| |-/sys/a a\n" + "| |-/sys/b b\n" * 40,
        "194 Temperature\n195 Hardware\n196 Reallocated\n197 Pending\n198 Offline\n199 UDMA\n" + "x\n" * 9,
        "10 a\n20 b\n30 c\n40 d\n50 e\n",
        "+ a\n+ b\n+ c\n",
    ],
    ids=["tree", "ascii", "identifiers", "figures", "few"],
)
def test_what_only_looks_like_marks_stays(text: str) -> None:
    assert without_marks(SourceText(text)) is None


@for_each("piece", ["+", "+\n", "| |\n", "1 ", "1\n", " *\n", ": \n+\n"], number=4)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = SourceText(piece * (2**20 // len(piece)))
    _, seconds = timed(lambda: without_marks(text), 1.5)
    assert seconds < 1.5


def test_marked_lines_amid_prose_are_no_tree() -> None:
    marked_ = "| /dev/sdb1:\n|      Raid Level : raid5\n| \n|          Events : 7\n|   Raid Devices : 4\n"
    found = without_marks(SourceText("It began so.\n" * 9 + marked_ + "What now?\n"))
    assert found is not None
    assert found.lines[9:12] == ["/dev/sdb1:", "     Raid Level : raid5", ""]
