"""fio's JSON documents of a file, also where they are quoted, between escape sequences, behind what a terminal overwrote, or
with lines of others in their middle.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.fio_documents import WHOLE, Document, Job, as_bytes
from apps.parsers.fio_faults import NoJsonError
from apps.parsers.fio_finding import find
from apps.parsers.json_strangers import joined, told, without_strangers
from apps.parsers.shape import ParseError
from apps.parsers.source_text import SourceText

_LARGE = 32 << 20
Found = tuple[int, int, Document[Job]]


@dataclass(slots=True)
class Documents:
    """What stands in `data`, whose lines are those of the file."""

    data: bytes
    found: list[Found]
    broken: list[ParseError]
    warnings: list[str] = field(default_factory=list)


def documents_in(text: str | bytes | SourceText) -> Documents:
    """As the bytes stand there; and with what hides some of them taken away, where that gives more."""
    first = _documents(as_bytes(text))
    if not isinstance(text, SourceText) or not _may_be_more(first):
        return first
    lines, left_out = without_strangers(text.lines)
    second = _documents(joined(text, lines))
    if len(second.found) > len(first.found) or not (first.found or first.broken):
        second.warnings = told(text, left_out, _spans(second))
        return second
    return first


def _documents(data: bytes) -> Documents:
    broken: list[ParseError] = []
    return Documents(data, list(find(data, WHOLE, broken)), broken)


def _may_be_more(one: Documents) -> bool:
    """What is only cut off has nothing in its middle; and a large file's lines take too much memory to be looked through."""
    if not one.found and not one.broken:
        return True
    is_overwritten = b"\r{" in one.data
    is_torn = any(isinstance(each, NoJsonError) and not each.is_cut_off for each in one.broken)
    return (is_overwritten or is_torn) and len(one.data) < _LARGE


def _spans(one: Documents) -> Iterator[tuple[int, int]]:
    """The first and the last line of each document."""
    line, at = 1, 0
    for start, end, _ in one.found:
        first = line + one.data.count(b"\n", at, start)
        line, at = first + one.data.count(b"\n", start, end), end
        yield first, line
