"""JSON documents that begin in one way, wherever they stand, and where in the text their values are.

    for one in documents(text, re.compile(rb'\\{(?=\\s{0,80}"start"\\s{0,8}:)')):
        one.value, one.first, one.last     # lines of the file; None for a document that is no JSON or is cut off

What becomes of values that are none, and of several keys of one name: see `strict_json`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.parsers.shape import Broken
from apps.parsers.source_text import SourceText
from apps.parsers.strict_json import Lines, found

_KEY = re.compile(rb'"\s{0,8}:\s{0,80}([^\s,{}\[\]]{1,60})')


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    printed: str = ""


class Document:
    def __init__(self, lines: Lines, start: int, end: int, value: Any) -> None:
        self.lines, self.start, self.end, self.value = lines, start, end, value
        self.first, self.last = lines.number(start), lines.number(max(start, end - 1))
        self.faults: list[Broken] = []  # why there is no value, or what of it was left out; whole when all are read

    def place(self, *keys: str, behind: int | None = None) -> Place:
        """Where the value of `keys[-1]` stands: each key is searched behind the one before it, from `behind` on."""
        begin = position = self.start if behind is None else behind
        for key in keys:
            position = self.position(key, position)
            if position < 0:
                return Place(self.lines.number(begin))
        match = _KEY.match(self.lines.data, position + len(keys[-1].encode()) + 1, self.end)
        return Place(self.lines.number(position), match[1].decode("utf-8", "replace") if match else "")

    def position(self, key: str, behind: int) -> int:
        return self.lines.data.find(f'"{key}"'.encode(), behind, self.end)

    def positions(self, pattern: re.Pattern[bytes], behind: int) -> list[int]:
        return [match.start() for match in pattern.finditer(self.lines.data, behind, self.end)]


def documents(text: SourceText, opening: re.Pattern[bytes], lines: Lines | None = None) -> Iterator[Document]:
    """Every document whose bracket is the end of an `opening`, also those that are cut off; `lines` where they are not as they
    came.
    """
    lines = lines or Lines.of(text)
    one: Document | None = None
    for start, end, value in found(lines, opening):
        if isinstance(value, Broken) and one is not None and one.start == start:
            one.faults.append(value)
            continue
        one = Document(lines, start, end, None if isinstance(value, Broken) else value)
        one.faults += [value] if isinstance(value, Broken) else []
        yield one


def words(found: Any, most: int = 200) -> str:
    """A text from a document; empty for anything else."""
    return found[:most].strip() if isinstance(found, str) else ""


def member(found: Any, *keys: str) -> Any:
    """`member(document, "end", "sum")`: None where any of the keys is missing or no object."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def items(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []
