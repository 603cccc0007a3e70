"""Where the rows of a fio log begin: behind a mail's quote marks, or below what somebody wrote above them."""

import re
from dataclasses import replace

from apps.parsers.fio_columns import Table, table
from apps.parsers.source_text import SourceText, plain_bytes

VALUES = re.compile(rb"\d{1,18}, \d{1,18}(?:, \d{1,18})?, [012], \d{1,18}(?:, (?:\d{1,20}|0x[0-9a-fA-F]{1,8})){0,3}\Z")
COUNTS = re.compile(rb"\d{1,18}, [012], \d{1,18}(?:, \d{1,19}){19,}\Z")
_QUOTE = re.compile(rb"^(?:> ?){1,20}", re.MULTILINE)
_HEAD = 1 << 16
_MOST_ABOVE = 50  # lines


def is_row(line: bytes) -> bool:
    return bool(VALUES.match(line) or COUNTS.match(line))


def rows_of(text: SourceText) -> tuple[bytes, int]:
    """The bytes from the first row on, and how many lines stand above; all of them where there is no row.

    A line of names above the rows makes a table of somebody's, which is no log.
    """
    data = plain_bytes(text)
    head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if is_row(head.lstrip().split(b"\n", 1)[0].strip()):
        return data, 0
    if head.startswith(b">") or b"\n>" in head:
        data = _QUOTE.sub(b"", data)
    start, above = 0, b""
    for count, line in enumerate(data[:_HEAD].split(b"\n")[:_MOST_ABOVE]):
        if line.lstrip()[:1].isdigit():  # a row, if perhaps a bad one
            return (data, 0) if above.count(b",") == line.count(b",") else (data[start:], count)
        start, above = start + len(line) + 1, line if line.strip() else above
    return data, 0


def rows_as_table(data: bytes, above: int, kept: int) -> Table:
    """With the first `kept` of its columns."""
    read = table(data, kept)
    if not above:
        return read
    broken = tuple(replace(one, line=(one.line or 0) + above) for one in read.broken)
    read.lines.above = above
    return replace(read, broken=broken)
