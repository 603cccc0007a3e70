"""JSON documents out of a text, for the tools that print JSON (iperf3, ioping, smartctl, lsblk…; fio has its own).

    for first, last, value in in_text(text):        # SourceText; numbers of lines
        if isinstance(value, Broken):
            broken.append(value)
        elif isinstance(value, dict) and "smartctl" in value:
            …

A document is an object, or an array of objects, arrays or strings, that begins at the beginning of a line or right
behind the one before. What stands before, between and after is left out. `documents(data)` gives the same for UTF-8
bytes, with offsets. `ParseError` where there is no document at all, nor a broken one. `json_places` finds those that
begin in one way wherever they stand.

Nothing is invented: NaN, Infinity, `-nan`, 1e999 and whole numbers beyond 64 bits are None. A key that stands twice in
one object with different values is None there, and a `Broken` follows the document. What is cut off, is no JSON at some
place, or lies deeper than 100 levels, is a `Broken`, and reading goes on behind it. Lone surrogates and NUL are U+FFFD.
"""

import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from apps.parsers.shape import Broken, ParseError
from apps.parsers.source_text import NOT_KEPT, SourceText

Value = dict[str, Any] | list[Any] | Broken
DEEPEST = 100
LONGEST = 64 << 20
MOST_DOCUMENTS = 100_000
_MOST_BROKEN = 100
_MOST_RETRIES = 32  # each reads on to the end of the text
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
    """No JSON from `place` on."""

    def __init__(self, place: int, message: str) -> None:
        self.place, self.message = place, message
        super().__init__(message)


def in_text(text: SourceText) -> Iterator[tuple[int, int, Value]]:
    """(first line, last line, value) of each document, in the numbers of the file."""
    lines = Lines.of(text)
    for start, end, value in _some(lines):
        yield lines.number(start), lines.number(max(start, end - 1)), value


def documents(data: bytes) -> Iterator[tuple[int, int, Value]]:
    """(offset, offset behind, value) of each document."""
    return _some(Lines(data))


class Lines:
    """UTF-8 bytes, and the number of the line at each offset."""

    def __init__(self, data: bytes, text: SourceText | None = None) -> None:
        self.data, self._text = data, text

    @classmethod
    def of(cls, text: SourceText, instead: Sequence[str] | None = None) -> "Lines":
        """`instead` are the lines that were made of the text's, one for each."""
        return cls("\n".join(text.lines if instead is None else instead).encode("utf-8", "replace"), text)

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in re.finditer(b"\n", self.data)]

    def number(self, place: int) -> int:
        index = bisect_left(self._ends, place)
        if self._text is None:
            return index + 1
        return self._text.number(min(index, max(0, len(self._text.lines) - 1)))


def _some(lines: Lines) -> Iterator[tuple[int, int, Value]]:
    is_empty = True
    for one in found(lines):
        is_empty = False
        yield one
    if is_empty:
        first = lines.data[:200].decode("utf-8", "replace").strip().split("\n")[0]
        raise ParseError("no JSON in the text", line=1, found=first or "nothing", expected="a line that begins with {")


def found(lines: Lines, opening: re.Pattern[bytes] | None = None) -> Iterator[tuple[int, int, Value]]:
    """(offset, offset behind, value) of each document, or only of those whose bracket is the end of an `opening`."""
    data, count, broken, retries = lines.data, 0, 0, 0
    decoder = _Decoder()
    start = (opening or _START).search(data)
    while start and broken < _MOST_BROKEN and retries < _MOST_RETRIES:
        place, indent, count = start.end() - 1, 0 if opening else len(start[1]), count + 1
        if count > MOST_DOCUMENTS and not opening:
            yield place, place, Broken(f"more than {MOST_DOCUMENTS:,} JSON documents in one text", lines.number(place))
            return
        try:
            end = _end(data, place)
            for value in _values(decoder, data[place:end], lines, place):
                broken += isinstance(value, Broken)
                yield place, end, value
            start = opening.search(data, end) if opening else _GLUED.match(data, end) or _START.search(data, end)
        except _FaultError as fault:
            is_cut_off = fault.place >= len(data)
            retries, broken = retries + is_cut_off, broken + 1
            yield place, fault.place, _broken(lines, place, fault)
            behind = place + 1 if is_cut_off else fault.place
            start = opening.search(data, behind) if opening else _next_start(data, behind, indent)


def _next_start(data: bytes, place: int, indent: int) -> re.Match[bytes] | None:
    """The next document that can not be a piece of the broken one: pieces are indented further."""
    start = _START.search(data, place)
    while start and len(start[1]) > indent:
        start = _START.search(data, start.end())
    return start


def _broken(lines: Lines, start: int, fault: _FaultError) -> Broken:
    message = f"the JSON that begins in line {lines.number(start)} {fault.message}"
    shown = lines.data[fault.place : fault.place + 40].decode("utf-8", "replace").split("\n")[0]
    return Broken(message, lines.number(fault.place), shown or "the end of the text", "JSON")


def _end(data: bytes, start: int) -> int:
    """Behind the bracket that closes the one at `start`; only as much grammar as it takes to see where JSON stops."""
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
    """JSON as its definition has it. `twice` are the keys that stood twice, with the first and the last of their values."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=self._once, parse_int=_whole, parse_float=_finite, strict=False)
        self.twice: dict[str, str] = {}

    def _once(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            last = values.copy()
            for key, value in pairs:
                if last[key] != value:
                    self.twice.setdefault(key, _both(value, last[key]))
                    values[key] = None
        return values


def _values(decoder: _Decoder, data: bytes, lines: Lines, start: int) -> Iterator[Value]:
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
    yield _fit(value) if _UNFIT_ESCAPE.search(data) else value
    for key, both in decoder.twice.items():
        shown = _UNFIT.sub(NOT_KEPT, key[:80])
        yield Broken(f"the key {shown!r} stands twice with different values", lines.number(start), both, "one value")


def _both(one: Any, other: Any) -> str:
    """Two values, where they are short."""
    return "" if isinstance(one, list | dict) else _UNFIT.sub(NOT_KEPT, f"{str(one)[:40]} and {str(other)[:40]}")


def _whole(digits: str) -> int | None:
    number = int(digits) if len(digits) <= 20 else _LARGEST
    return number if -_LARGEST <= number < _LARGEST else None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _fit(value: Any) -> Any:
    """Without the characters that no database text holds."""
    if isinstance(value, str):
        return _UNFIT.sub(NOT_KEPT, value)
    if isinstance(value, list):
        return [_fit(one) for one in value]
    if isinstance(value, dict):
        return {_fit(key): _fit(one) for key, one in value.items()}
    return value
