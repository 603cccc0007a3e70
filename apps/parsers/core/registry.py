"""The registry of formats, and the recognition of those that a text holds.

    readings = recognise(SourceText(data, name))

A format is any module of `apps.parsers`, or of a package that called `register`, with `NAME`, `TITLE`, `looks_like` and
`parse` (see `models.py`). Detection looks at the content: every format says how sure it is, those that are sure enough
parse the text, and where two of them claim the same lines both readings are returned. What a format read is held to the
laws between figures (`apps.parsers.laws`) before anybody sees it.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from apps.parsers.cleanup.backslashes import without_backslashes
from apps.parsers.cleanup.blank_lines import without_double_spacing, without_spaced_stretches
from apps.parsers.cleanup.json_interruptions import was_left_out
from apps.parsers.cleanup.line_marks import without_marks
from apps.parsers.cleanup.log_messages import without_message_heads
from apps.parsers.cleanup.margins import without_block_margins, without_margin
from apps.parsers.cleanup.post_tags import without_tags
from apps.parsers.cleanup.string_literals import without_quotes
from apps.parsers.cleanup.timestamps import without_times
from apps.parsers.cleanup.typography import with_plain_characters
from apps.parsers.cleanup.web_pages import without_html
from apps.parsers.core.models import Broken, ParsedFile, ParseError
from apps.parsers.core.precision import mark_rounded
from apps.parsers.core.source_text import SourceText
from apps.parsers.core.unread_tools import UnreadOutput, detect_unread_tool
from apps.parsers.laws import apply_laws

LEAST = 0.15  # the least score at which a format is tried at all
RECOGNISED = 0.5  # from this score on, a format counts as recognised
_TAIL = 4096
_LARGE = 64 << 20  # bytes
_LONGEST_WRAPPED = 16 << 20  # bytes; logs may be longer
_LONGEST_NAMED = 1 << 20  # bytes; of longer texts only the plain form is searched for an unread tool's output
_packages = {
    "apps.parsers": "results",
    "apps.parsers.tables": "table",
}  # the kind of what a package holds, the inner one counts


@dataclass(frozen=True, slots=True)
class Format:
    """A registered format: the functions and names of its parser module."""

    name: str
    title: str
    kind: str  # results, inventory or table
    looks_like: Callable[[SourceText], float]
    parse: Callable[[SourceText], ParsedFile]
    begins: Callable[[bytes], bool] = lambda head: False  # whether a file with this head is of this format as a whole
    is_asked_for: bool = False  # never recognised, only read where a user chooses it


@dataclass(frozen=True, slots=True)
class FormatReading:
    """What one format read from a text: `parsed`, or the `error` that tells why there is nothing."""

    format: Format
    confidence: float
    parsed: ParsedFile | None
    error: Broken | None = None

    @property
    def has_found(self) -> bool:
        """Return whether the format read any run, workload or output about a machine."""
        parsed = self.parsed
        return bool(parsed and (parsed.runs or parsed.workloads or parsed.inventory))


def register(package: str, kind: str) -> None:
    """Add the formats of a package of another app, which this one must not import."""
    _packages[package] = kind
    formats.cache_clear()


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, sorted by name."""
    modules = [module for module in _iterate_modules() if hasattr(module, "NAME") and hasattr(module, "parse")]
    return tuple(sorted(map(_make_format, modules), key=lambda format: format.name))


def get_format(name: str) -> Format:
    """Return the format of this name.

    Raises:
        ValueError: if there is none; the message lists all names.
    """
    for format in formats():
        if format.name == name:
            return format
    raise ValueError(f"Unknown format {name!r}, expected one of: {', '.join(format.name for format in formats())}")


def recognise(text: SourceText) -> list[FormatReading]:
    """Return what the formats read from the text, the surest first.

    - A format that reads whole files by how they begin (`begins`) is tried first, and is the only one where it leaves
      no line unread.
    - Otherwise each form of the text (`iterate_forms`) is offered to all formats, until one of them is sure and reads
      something.
    - Formats that are unsure are used only where none is sure.
    - Any rows of figures make a table, so the table format is tried last, and not on the output of tools that are known
      and not read, such as vmstat.
    """
    for format in formats():
        if format.begins(text.head):
            reading = read(format, text)
            if reading.parsed and not was_left_out(reading.parsed.warnings) and _covers(reading.parsed, text):
                return [reading]
    known, unsure = [format for format in formats() if format.kind != "table"], list[FormatReading]()
    for form in iterate_forms(text):
        readings = _read_candidates(form, known)
        if sure := _select_sure(readings):
            return sure
        unsure = readings if form is text else unsure
    if find_unread_output(text):  # its rows of figures are no results
        return unsure
    return unsure + _read_candidates(text, [format for format in formats() if format.kind == "table"])


def find_unread_output(text: SourceText) -> UnreadOutput | None:
    """Return the output of a tool that is not read (`unread_tools`) with which any form of the text begins."""
    forms = iterate_forms(text) if len(text.data) <= _LONGEST_NAMED else iter((text,))
    return next(filter(None, map(detect_unread_tool, forms)), None)


def iterate_forms(text: SourceText) -> Iterator[SourceText]:
    """Yield the forms of a text that are offered to the formats, until one of them is recognised.

    Margins before blocks and blank lines between all lines are removed only in the last two, because some tools print
    such themselves.
    """
    forms = strip_wrappings(text)
    yield from forms
    for blocks in (without_block_margins(text), without_spaced_stretches(forms[0])):
        if blocks is not None:
            yield blocks


def strip_wrappings(text: SourceText) -> list[SourceText]:
    """Return the text without what pages, logs and programs put around a tool's output or before its lines.

    Each form has one layer more removed than the one behind it; the text as it is comes last.
    """
    forms = [text]

    def remove(layer: Callable[[SourceText], SourceText | None]) -> bool:
        is_small_enough = layer is without_times or len(forms[-1].data) <= _LONGEST_WRAPPED
        inner = layer(forms[-1]) if is_small_enough else None
        forms.extend([inner] if inner is not None else [])
        return inner is not None

    remove(with_plain_characters)
    remove(without_margin)
    remove(without_html)
    remove(without_tags)
    remove(without_backslashes)
    remove(without_double_spacing)
    remove(without_times)
    remove(without_message_heads)
    remove(without_marks)
    if remove(without_quotes):
        remove(without_times)  # inside the strings of a container's log
    return forms[::-1]


def _read_candidates(text: SourceText, tried: Iterable[Format]) -> list[FormatReading]:
    """Read the text in each of these formats that is likely enough, the most likely first."""
    scores = [(_score(format, text), format) for format in tried]
    candidates = sorted(((score, format) for score, format in scores if score >= LEAST), key=lambda pair: -pair[0])
    return [read(format, text, score) for score, format in candidates]


def _score(format: Format, text: SourceText) -> float:
    """Return how sure a format is that the text is its own.

    The highest score for one whose check raises, so that it is tried and its error is reported.
    """
    try:
        return format.looks_like(text)
    except MemoryError:
        raise
    except Exception:
        return 1.0


def _select_sure(readings: Sequence[FormatReading]) -> list[FormatReading]:
    """Return the readings that are sure, or none where none of those read anything."""
    sure = [reading for reading in readings if reading.confidence >= RECOGNISED]
    return sure if any(reading.has_found for reading in sure) else []


def _covers(parsed: ParsedFile, text: SourceText) -> bool:
    """Return whether the runs leave no line unread.

    In a large file, lines that are reported as broken count as read: offering ten million lines to every format because
    one of them is cut off would take more memory than there is.
    """
    data = text.data
    spans = sorted((run.line, run.last_line or run.line) for run in parsed.runs if run.line is not None)
    if not spans or (parsed.broken and len(data) < _LARGE):
        return False
    spans = sorted([*spans, *((broken.line, broken.line) for broken in parsed.broken if broken.line is not None)])
    next_line = data.count(b"\n", 0, _find_start(data)) + 1
    for first, last in spans:
        if first > next_line:
            return False
        next_line = max(next_line, last + 1)
    return next_line > data.count(b"\n", 0, _find_end(data)) + 1


def _find_start(data: bytes) -> int:
    """Return the offset of the first byte that is not blank."""
    head = data[:_TAIL].lstrip()
    return min(len(data), _TAIL) - len(head) if head else len(data) - len(data.lstrip())


def _find_end(data: bytes) -> int:
    """Return the offset behind the last byte that is not blank, without copying all data."""
    tail = data[-_TAIL:].rstrip()
    return len(data) - min(len(data), _TAIL) + len(tail) if tail else len(data.rstrip())


def read(format: Format, text: SourceText, confidence: float = 1.0) -> FormatReading:
    """Read the text in one format.

    An unexpected exception becomes the reading's `error`; only MemoryError is raised.
    """
    try:
        return FormatReading(format, confidence, format.parse(text))
    except ParseError as error:
        return FormatReading(format, confidence, None, error.broken)
    except MemoryError:
        raise
    except Exception as error:  # a fault of ours, which takes nothing from the other formats
        message = f"reading it as {format.title} failed: {type(error).__name__}: {str(error)[:200]}"
        return FormatReading(format, confidence, None, Broken(message))


def read_as(format: Format, text: SourceText) -> FormatReading:
    """Read the text in a format that a user chose, also inside a page or behind the times of a log."""
    if format.kind == "table":
        return read(format, text)
    for form in iterate_forms(text):
        reading = read(format, form)
        if reading.has_found:
            return reading
    return read(format, text)


def _iterate_modules() -> Iterable[ModuleType]:
    outer = [name for name in _packages if not any(name.startswith(f"{other}.") for other in _packages)]
    for package in map(importlib.import_module, outer):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(module.name)


def _make_format(module: ModuleType) -> Format:
    begins = {"begins": module.begins} if hasattr(module, "begins") else {}
    kind = _packages[max((name for name in _packages if f"{module.__name__}.".startswith(f"{name}.")), key=len)]
    is_asked_for = {"is_asked_for": module.IS_ASKED_FOR} if hasattr(module, "IS_ASKED_FOR") else {}
    parse = _hold_to_laws(module.parse, module.NAME)
    return Format(module.NAME, module.TITLE, kind, module.looks_like, parse, **begins, **is_asked_for)


def _hold_to_laws(parse: Callable[[SourceText], ParsedFile], name: str) -> Callable[[SourceText], ParsedFile]:
    """Return the function followed by what holds for whatever a format read: marks of rounding, laws between figures."""
    return lambda text: apply_laws(mark_rounded(parse(text), name))
