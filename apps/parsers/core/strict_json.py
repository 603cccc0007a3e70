"""JSON documents in a text, for the tools that print JSON (iperf3, ioping, smartctl, lsblk …; fio has its own reader).

    for first, last, value in documents_in(text):        # SourceText; line numbers of the file
        if isinstance(value, Broken):
            broken.append(value)
        elif isinstance(value, dict) and "smartctl" in value:
            …

A document is an object, or an array of objects, arrays or strings, that begins at the beginning of a line or directly
behind the one before. Anything between documents is skipped. `documents(data)` does the same for UTF-8 bytes, with
offsets. Both raise `ParseError` where there is no document at all, not even a broken one. `json_places` finds those
with a given first key wherever they stand.

Nothing is invented:

- NaN, Infinity, `-nan`, 1e999 and whole numbers beyond 64 bits are read as None.
- A key that stands twice in one object with different values is None there, and a `Broken` follows the document.
- A document that is cut off, is no JSON at some place or is nested deeper than 100 levels gives a `Broken`; reading
  goes on behind it.
- Lone surrogates and NUL are replaced by U+FFFD.
"""

import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from apps.parsers.core.models import Broken, ParseError
from apps.parsers.core.source_text import REPLACEMENT, SourceText

JsonResult = dict[str, object] | list[object] | Broken
DEEPEST = 100
LONGEST = 64 << 20
MOST_DOCUMENTS = 100_000
_MOST_BROKEN = 100
_MOST_RETRIES = 32  # documents that are cut off: each is read to the end of the text
_LARGEST = 1 << 63
_START = re.compile(rb"^([ \t\r]*+)(?:\{(?=\s*+[\"}])|\[(?=\s*+[\"\[{]))", re.MULTILINE)
_GLUED = re.compile(rb"([ \t\r]*+)(?:\{(?=\s*+[\"}])|\[(?=\s*+[\"\[{]))")
_STRING = rb'"(?:[^"\\\n]++|\\[^\n])*+"'
_NOT_FINITE = rb"-?(?:[nN][aA][nN]|[iI]nf(?:inity)?)\b"
_BETWEEN = re.compile(
    rb"(?:[\s,:0-9.eE+-]++|" + _STRING + rb"|true\b|false\b|null\b|\{\}|\[\]|" + _NOT_FINITE + rb")*+"
)
_MAYBE_NOT_FINITE = re.compile(rb"[\s:,\[]" + _NOT_FINITE)
_STRING_OR_NOT_FINITE = re.compile(rb"(" + _STRING + rb")|" + _NOT_FINITE)
_UNFIT_ESCAPE = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)|\x00")
_UNFIT = re.compile("[\x00\ud800-\udfff]")
_OPENED = {b"}": b"{", b"]": b"["}


class _FaultError(Exception):
    """The text is no JSON from offset `place` on."""

    def __init__(self, place: int, message: str) -> None:
        self.place, self.message = place, message
        super().__init__(message)


def documents_in(text: SourceText) -> Iterator[tuple[int, int, JsonResult]]:
    """Yield (first line, last line, value) of each document, in line numbers of the file.

    Raises:
        ParseError: if there is no document, not even a broken one.
    """
    lines = JsonLines.of(text)
    for start, end, value in _iterate_any(lines):
        yield lines.number(start), lines.number(max(start, end - 1)), value


def documents(data: bytes) -> Iterator[tuple[int, int, JsonResult]]:
    """Return an iterator of (offset, offset behind, value) of each document in UTF-8 bytes.

    Raises:
        ParseError: if there is no document, not even a broken one.
    """
    return _iterate_any(JsonLines(data))


class JsonLines:
    """UTF-8 bytes, and the line number at each offset."""

    def __init__(self, data: bytes, text: SourceText | None = None) -> None:
        self.data, self._text = data, text

    @classmethod
    def of(cls, text: SourceText, instead: Sequence[str] | None = None) -> "JsonLines":
        """Return the encoded lines of `text`, or of `instead`, which replaces them one by one."""
        return cls("\n".join(text.lines if instead is None else instead).encode("utf-8", "replace"), text)

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in re.finditer(b"\n", self.data)]

    def number(self, place: int) -> int:
        """Return the line number, from 1, at an offset: the file's where the bytes come from a `SourceText`."""
        index = bisect_left(self._ends, place)
        if self._text is None:
            return index + 1
        return self._text.number(min(index, max(0, len(self._text.lines) - 1)))


def _iterate_any(lines: JsonLines) -> Iterator[tuple[int, int, JsonResult]]:
    """Yield what `iterate_documents` yields, and raise ParseError where that is nothing."""
    is_empty = True
    for document in iterate_documents(lines):
        is_empty = False
        yield document
    if is_empty:
        first = lines.data[:200].decode("utf-8", "replace").strip().split("\n")[0]
        raise ParseError("no JSON in the text", line=1, found=first or "nothing", expected="a line that begins with {")


def iterate_documents(
    lines: JsonLines, opening: re.Pattern[bytes] | None = None
) -> Iterator[tuple[int, int, JsonResult]]:
    """Yield (offset, offset behind, value) of each document.

    With an `opening`, only those whose opening bracket is the last byte that it matches.
    """
    data, count, broken, retries = lines.data, 0, 0, 0
    decoder = _Decoder()
    start = (opening or _START).search(data)
    while start and broken < _MOST_BROKEN and retries < _MOST_RETRIES:
        place, indent, count = start.end() - 1, 0 if opening else len(start[1]), count + 1
        if count > MOST_DOCUMENTS and not opening:
            yield place, place, Broken(f"more than {MOST_DOCUMENTS:,} JSON documents in one text", lines.number(place))
            return
        try:
            end = _find_end(data, place)
            for value in _iterate_values(decoder, data[place:end], lines, place):
                broken += isinstance(value, Broken)
                yield place, end, value
            start = opening.search(data, end) if opening else _GLUED.match(data, end) or _START.search(data, end)
        except _FaultError as fault:
            is_cut_off = fault.place >= len(data)
            retries, broken = retries + is_cut_off, broken + 1
            yield place, fault.place, _make_broken(lines, place, fault)
            behind = place + 1 if is_cut_off else fault.place
            start = opening.search(data, behind) if opening else _find_next_start(data, behind, indent)


def _find_next_start(data: bytes, place: int, indent: int) -> re.Match[bytes] | None:
    """Return where the next document begins that is no piece of the broken one: pieces are indented further."""
    start = _START.search(data, place)
    while start and len(start[1]) > indent:
        start = _START.search(data, start.end())
    return start


def _make_broken(lines: JsonLines, start: int, fault: _FaultError) -> Broken:
    message = f"the JSON that begins in line {lines.number(start)} {fault.message}"
    excerpt = lines.data[fault.place : fault.place + 40].decode("utf-8", "replace").split("\n")[0]
    return Broken(message, lines.number(fault.place), excerpt or "the end of the text", "JSON")


def _find_end(data: bytes, start: int) -> int:
    """Return the offset behind the bracket that closes the one at `start`.

    It follows only as much of the grammar as is needed to see where JSON stops.

    Raises:
        _FaultError: where the document is cut off, too deep, too long or no JSON.
    """
    opened: list[bytes] = []
    place = start
    while True:
        bracket = data[place : place + 1]
        if bracket in _OPENED:
            if opened.pop() != _OPENED[bracket]:
                raise _FaultError(place, "closes a bracket that is not open")
            if not opened:
                return place + 1
        else:
            if len(opened) == DEEPEST:
                raise _FaultError(place, f"is nested deeper than {DEEPEST} levels")
            opened.append(bracket)
        between = _BETWEEN.match(data, place + 1)
        assert between  # it also matches nothing
        place, before = between.end(), between[0].rstrip()[-1:] or bracket
        following = data[place : place + 1]
        if not following:
            raise _FaultError(place, "is cut off")
        if following not in b"{}[]" or (following in b"{[" and not _may_open(opened, before)):
            raise _FaultError(place, "ends too early or is none")
        if place - start > LONGEST:
            raise _FaultError(place, f"has more than {LONGEST >> 20} MiB")


def _may_open(opened: list[bytes], before: bytes) -> bool:
    if not opened:
        return False
    return before == b":" if opened[-1] == b"{" else before in (b"[", b",")


class _Decoder(json.JSONDecoder):
    """A strict JSON decoder.

    `twice` maps the keys that stood twice with different values to a description of the first and the last of these.
    """

    def __init__(self) -> None:
        super().__init__(
            object_pairs_hook=self._merge_pairs, parse_int=_parse_int, parse_float=_parse_float, strict=False
        )
        self.twice: dict[str, str] = {}

    def _merge_pairs(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        values = dict(pairs)
        if len(values) < len(pairs):
            last = values.copy()
            for key, value in pairs:
                if last[key] != value:
                    self.twice.setdefault(key, _describe_both(value, last[key]))
                    values[key] = None
        return values


def _iterate_values(decoder: _Decoder, data: bytes, lines: JsonLines, start: int) -> Iterator[JsonResult]:
    if _MAYBE_NOT_FINITE.search(data):
        data = _STRING_OR_NOT_FINITE.sub(lambda match: match[1] or b"null", data)
    text = data.decode("utf-8", "replace")
    decoder.twice.clear()
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        line = lines.number(start) + error.lineno - 1
        yield Broken(f"no JSON: {error.msg}", line, text[error.pos : error.pos + 40].split("\n")[0], "JSON")
        return
    yield _clean(value) if _UNFIT_ESCAPE.search(data) else value
    for key, both in decoder.twice.items():
        name = _UNFIT.sub(REPLACEMENT, key[:80])
        yield Broken(f"the key {name!r} stands twice with different values", lines.number(start), both, "one value")


def _describe_both(first: object, last: object) -> str:
    """Return "first and last" of two values, "" where they are no scalars."""
    return "" if isinstance(first, list | dict) else _UNFIT.sub(REPLACEMENT, f"{str(first)[:40]} and {str(last)[:40]}")


def _parse_int(digits: str) -> int | None:
    number = int(digits) if len(digits) <= 20 else _LARGEST
    return number if -_LARGEST <= number < _LARGEST else None


def _parse_float(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _clean(value: object) -> Any:
    """Replace the characters that PostgreSQL's text type does not hold, in strings at any depth."""
    if isinstance(value, str):
        return _UNFIT.sub(REPLACEMENT, value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value
