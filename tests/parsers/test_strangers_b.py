"""Outputs of the results' tools in shapes that other people's shells give them."""

from apps.parsers import dd
from apps.parsers.source_text import SourceText

ZSH = """\
% time dd if=/dev/zero bs=1k of=one count=1
1+0 records in
1+0 records out
1024 bytes (1.0 kB, 1.0 KiB) copied, 0.000286261 s, 3.6 MB/s
dd if=/dev/zero bs=1k of=one count=1  0.00s user 0.00s system 89% cpu 0.003 total
% time dd if=/dev/zero bs=1024k of=two count=1
1+0 records in
1+0 records out
1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.00084763 s, 1.2 GB/s
dd if=/dev/zero bs=1024k of=two count=1  0.00s user 0.02s system 98% cpu 0.023 total
"""


def test_the_line_that_zsh_prints_of_a_timed_dd_is_no_command() -> None:
    runs = dd.parse(SourceText(ZSH)).runs
    assert [(run.samples[0].operation, run.target, run.line, run.last_line) for run in runs] == [
        ("write", "one", 2, 5),
        ("write", "two", 7, 10),
    ]
