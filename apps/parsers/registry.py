"""Every format there is, and which of them a text holds.

    readings = recognise(SourceText(data, name))

A format is a module of this package with `NAME`, `TITLE`, `looks_like` and `parse` (see `shape.py`); it is found by
itself. Detection is by content: every format says how sure it is, those that are sure enough read, and where two of
them claim the same lines both readings are given.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import apps.parsers
from apps.parsers.backslashes import without_backslashes
from apps.parsers.double_spacing import drawn_together, without_double_spacing
from apps.parsers.json_strangers import was_left_out
from apps.parsers.margins import unindented, without_margin
from apps.parsers.marked_lines import without_marks
from apps.parsers.post_tags import without_tags
from apps.parsers.quoted_lines import as_printed
from apps.parsers.shape import Broken, ParsedFile, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.system_tools import tool_of
from apps.parsers.timed_lines import without_times
from apps.parsers.typesetting import as_typed
from apps.parsers.web_pages import as_shown

LEAST = 0.15  # below this, nobody thinks of the format
RECOGNISED = 0.5
_TAIL = 4096
_LARGE = 64 << 20  # bytes
_LONGEST_WRAPPED = 16 << 20  # bytes; logs may be longer
_KINDS = {"inventory": "inventory", "tables": "table"}  # by package; the rest holds results


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    title: str
    kind: str  # results, inventory or table
    looks_like: Callable[[SourceText], float]
    parse: Callable[[SourceText], ParsedFile]
    begins: Callable[[bytes], bool] = lambda head: False  # whether a file that begins so is of this format as a whole
    is_asked_for: bool = False  # never recognised: somebody says that it is this


@dataclass(frozen=True, slots=True)
class Reading:
    """What one format makes of a text: `parsed`, or why not."""

    format: Format
    confidence: float
    parsed: ParsedFile | None
    error: Broken | None = None

    @property
    def has_found(self) -> bool:
        found = self.parsed
        return bool(found and (found.runs or found.workloads or found.inventory))


@cache
def formats() -> tuple[Format, ...]:
    """In the order of their names."""
    found = [_format(module) for module in _modules() if hasattr(module, "NAME") and hasattr(module, "parse")]
    return tuple(sorted(found, key=lambda one: one.name))


def format_named(name: str) -> Format:
    """The format of this name; ValueError lists what there is."""
    for one in formats():
        if one.name == name:
            return one
    raise ValueError(f"Unknown format {name!r}, expected one of: {', '.join(one.name for one in formats())}")


def recognise(text: SourceText) -> list[Reading]:
    """What each format that sees something of its own makes of the text, the surest first.

    Who reads a whole file by how it begins is asked first, and alone where no line is left. Who is unsure is heard only
    where nobody is sure; and any rows of figures make a table, so that is asked last, and not of what tools of the system print. Times before
    every line, as logs have them, tags of a page or a post and the quotes of strings hide parts of a format from who reads the rest: what is there
    without them comes first. A margin before blocks in prose, and blank lines between all lines, are taken away where nothing was found with
    them.
    """
    for one in formats():
        if one.begins(text.head):
            reading = read(one, text)
            if reading.parsed and not was_left_out(reading.parsed.warnings) and _covers(reading.parsed, text):
                return [reading]
    known, found = [one for one in formats() if one.kind != "table"], list[Reading]()
    for shown in looked_at(text):
        asked = _ask(shown, known)
        if sure := _sure(asked):
            return sure
        found = asked if shown is text else found
    if tool_of(text):  # rows of figures, and nothing to map
        return found
    return found + _ask(text, [one for one in formats() if one.kind == "table"])


def looked_at(text: SourceText) -> Iterator[SourceText]:
    """The forms in which a text is shown to the formats, until one of them is sure that it is its own."""
    found = as_written(text)
    yield from found
    for blocks in (unindented(text), drawn_together(found[0])):
        if blocks is not None:
            yield blocks


def as_written(text: SourceText) -> list[SourceText]:
    """What the tools wrote, without what pages, logs and programs put around it or before every line; the text as it is comes last."""
    found = [text]

    def take_off(layer: Callable[[SourceText], SourceText | None]) -> bool:
        is_looked_at = layer is without_times or len(found[-1].data) <= _LONGEST_WRAPPED
        inner = layer(found[-1]) if is_looked_at else None
        found.extend([inner] if inner is not None else [])
        return inner is not None

    take_off(as_typed)
    take_off(without_margin)
    take_off(as_shown)
    take_off(without_tags)
    take_off(without_backslashes)
    take_off(without_double_spacing)
    take_off(without_times)
    take_off(without_marks)
    if take_off(as_printed):
        take_off(without_times)  # of the strings in a container's log
    return found[::-1]


def _ask(text: SourceText, some: Iterable[Format]) -> list[Reading]:
    sure = [(_score(one, text), one) for one in some]
    candidates = sorted(((score, one) for score, one in sure if score >= LEAST), key=lambda pair: -pair[0])
    return [read(one, text, score) for score, one in candidates]


def _score(one: Format, text: SourceText) -> float:
    """Of who fails to look, the highest: he is asked to read, and what is wrong is told."""
    try:
        return one.looks_like(text)
    except MemoryError:
        raise
    except Exception:
        return 1.0


def _sure(found: Sequence[Reading]) -> list[Reading]:
    """Those that are sure, if any of them has found anything."""
    sure = [one for one in found if one.confidence >= RECOGNISED]
    return sure if any(one.has_found for one in sure) else []


def _covers(parsed: ParsedFile, text: SourceText) -> bool:
    """Whether the runs leave no line to anybody else. In a large file, lines that were told to be broken are nobody's: to have
    every format look at ten million lines for the sake of one that is cut off takes more memory than there is.
    """
    data = text.data
    spans = sorted((run.line, run.last_line or run.line) for run in parsed.runs if run.line is not None)
    if not spans or (parsed.broken and len(data) < _LARGE):
        return False
    spans = sorted([*spans, *((one.line, one.line) for one in parsed.broken if one.line is not None)])
    next_line = data.count(b"\n", 0, _start(data)) + 1
    for first, last in spans:
        if first > next_line:
            return False
        next_line = max(next_line, last + 1)
    return next_line > data.count(b"\n", 0, _end(data)) + 1


def _start(data: bytes) -> int:
    head = data[:_TAIL].lstrip()
    return min(len(data), _TAIL) - len(head) if head else len(data) - len(data.lstrip())


def _end(data: bytes) -> int:
    """Of what is not blank, without a copy of it all."""
    tail = data[-_TAIL:].rstrip()
    return len(data) - min(len(data), _TAIL) + len(tail) if tail else len(data.rstrip())


def read(one: Format, text: SourceText, confidence: float = 1.0) -> Reading:
    try:
        return Reading(one, confidence, one.parse(text))
    except ParseError as error:
        return Reading(one, confidence, None, error.broken)
    except MemoryError:
        raise
    except Exception as error:  # a fault of ours, which takes nothing from the other formats
        message = f"reading it as {one.title} failed: {type(error).__name__}: {str(error)[:200]}"
        return Reading(one, confidence, None, Broken(message))


def read_as(one: Format, text: SourceText) -> Reading:
    """What somebody says it is, be it in a page or behind the times of a log."""
    if one.kind == "table":
        return read(one, text)
    for shown in looked_at(text):
        found = read(one, shown)
        if found.has_found:
            return found
    return read(one, text)


def _modules() -> Iterable[Any]:
    for found in pkgutil.walk_packages(apps.parsers.__path__, "apps.parsers."):
        yield importlib.import_module(found.name)


def _format(module: Any) -> Format:
    package = module.__name__.removeprefix("apps.parsers.").split(".")[0]
    begins = {"begins": module.begins} if hasattr(module, "begins") else {}
    kind = _KINDS.get(package, "results")
    asked = {"is_asked_for": module.IS_ASKED_FOR} if hasattr(module, "IS_ASKED_FOR") else {}
    return Format(module.NAME, module.TITLE, kind, module.looks_like, module.parse, **begins, **asked)
