"""JSON documents inside a log: concatenated, after other output, quoted in a mail, the last one cut off.

    for found in documents(text, re.compile(r'\\{\\s{0,80}"start"\\s{0,8}:')):
        found.value, found.first, found.last     # lines of the file

Nothing in a document can be NaN, infinite or longer than a number of a database: such places hold None.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from apps.parsers.finite import number
from apps.parsers.source_text import SourceText

_DECODER = json.JSONDecoder(
    parse_float=number, parse_int=lambda word: int(word) if len(word) < 20 else None, parse_constant=lambda _: None
)
_MOST_FAILURES = 20  # openings that lead nowhere: a hostile text has a million of them
_UNFIT = re.compile("[\ud800-\udfff\x00]")
_KEY = re.compile(r'"\s{0,8}:\s{0,80}([^\s,{}\[\]]{1,60})')


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    printed: str = ""


class Document:
    """One document, and the lines that it stands on. `value` is None where it never ends."""

    def __init__(self, body: "Body", start: int, end: int, value: Any) -> None:
        self.body, self.start, self.end, self.value = body, start, end, value
        self.first, self.last = body.line(start), body.line(max(start, end - 1))

    def place(self, *keys: str, behind: int | None = None) -> Place:
        """Where the value of `keys[-1]` stands: each key is searched behind the one before it, from `behind` on."""
        begin = position = self.start if behind is None else behind
        for key in keys:
            position = self.body.text.find(f'"{key}"', position, self.end)
            if position < 0:
                return Place(self.body.line(begin))
        match = _KEY.match(self.body.text, position + len(keys[-1]) + 1, self.end)
        return Place(self.body.line(position), match[1] if match else "")

    def positions(self, pattern: re.Pattern[str], behind: int) -> list[int]:
        return [match.start() for match in pattern.finditer(self.body.text, behind, self.end)]


class Body:
    """The clean text again, with the number of the line that each position is on."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = "\n".join(source.lines)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self.source.lines), initial=0))

    def line(self, position: int) -> int:
        index = bisect_right(self._starts, position) - 1
        return self.source.number(min(index, len(self.source.lines) - 1))


def documents(source: SourceText, opening: re.Pattern[str]) -> Iterator[Document]:
    """Every document that begins like `opening`, also those that are cut off."""
    body = Body(source)
    position, failures = 0, 0
    while failures < _MOST_FAILURES and (match := opening.search(body.text, position)):
        try:
            value, position = _DECODER.raw_decode(body.text, match.start())
        except (ValueError, RecursionError):
            value, position, failures = None, match.end(), failures + 1
        yield Document(body, match.start(), position, value)


def words(found: Any, most: int = 200) -> str:
    """A text from a document, without what no database text holds; empty for anything else."""
    return _UNFIT.sub("\ufffd", found)[:most].strip() if isinstance(found, str) else ""


def member(found: Any, *keys: str) -> Any:
    """`member(document, "end", "sum")`: None where any of the keys is missing or no object."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def items(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []
