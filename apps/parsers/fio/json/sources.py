"""Collection of fio's JSON documents in a file, also where they are quoted, between escape sequences, overwritten or interrupted."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.cleanup.json_interruptions import join_lines, warn_of_interruptions, without_interruptions
from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json.documents import WHOLE, FioDocument, JsonJob, as_bytes
from apps.parsers.fio.json.faults import NoJsonError
from apps.parsers.fio.json.search import find_documents

_LARGE = 32 << 20
PlacedDocument = tuple[int, int, FioDocument[JsonJob]]


@dataclass(slots=True)
class DocumentList:
    """The documents in `data`, whose lines are those of the file."""

    data: bytes
    entries: list[PlacedDocument]
    broken: list[ParseError]
    warnings: list[str] = field(default_factory=list)


def collect_documents(text: str | bytes | SourceText) -> DocumentList:
    """Return the documents of a text; with what hides some of them removed, where that gives more."""
    first = _collect(as_bytes(text))
    if not isinstance(text, SourceText) or not _may_be_more(first):
        return first
    lines, left_out = without_interruptions(text.lines)
    second = _collect(join_lines(text, lines))
    if len(second.entries) > len(first.entries) or not (first.entries or first.broken):
        second.warnings = warn_of_interruptions(text, left_out, _iterate_spans(second))
        return second
    return first


def _collect(data: bytes) -> DocumentList:
    broken: list[ParseError] = []
    return DocumentList(data, list(find_documents(data, WHOLE, broken)), broken)


def _may_be_more(documents: DocumentList) -> bool:
    """Return whether the slow way may find more: documents that are only cut off have nothing in them, and large files take too much memory."""
    if not documents.entries and not documents.broken:
        return True
    is_overwritten = b"\r{" in documents.data
    is_torn = any(isinstance(error, NoJsonError) and not error.is_cut_off for error in documents.broken)
    return (is_overwritten or is_torn) and len(documents.data) < _LARGE


def _iterate_spans(documents: DocumentList) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each document."""
    line, at = 1, 0
    for start, end, _ in documents.entries:
        first = line + documents.data.count(b"\n", at, start)
        line, at = first + documents.data.count(b"\n", start, end), end
        yield first, line
