r"""JSON documents that begin with a given key, wherever they stand in a text, and the lines of their values.

    for document in find_documents(text, re.compile(rb'\\{(?=\\s{0,80}"start"\\s{0,8}:)')):
        document.value, document.first, document.last     # value None: no JSON, or cut off; line numbers of the file

How invalid values and duplicate keys are treated is described in `strict_json`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.parsers.core.models import Broken
from apps.parsers.core.source_text import SourceText
from apps.parsers.core.strict_json import JsonLines, iterate_documents

_KEY = re.compile(rb'"\s{0,8}:\s{0,80}([^\s,{}\[\]]{1,60})')


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """Where a value stands: its line in the file, from 1, and the value as printed."""

    line: int
    printed: str = ""


class JsonDocument:
    """A JSON document and where it stands.

    `start` and `end` are offsets into `lines.data`, `first` and `last` line numbers of the file. `value` is None where
    the document is no JSON; `faults` then says why.
    """

    def __init__(self, lines: JsonLines, start: int, end: int, value: Any) -> None:
        self.lines, self.start, self.end, self.value = lines, start, end, value
        self.first, self.last = lines.number(start), lines.number(max(start, end - 1))
        self.faults: list[Broken] = []  # complete only when the iterator of documents has gone on

    def place(self, *keys: str, behind: int | None = None) -> JsonPlace:
        """Return where the value of `keys[-1]` stands.

        Each key is searched behind the one before it, the first from the offset `behind` on. Where a key is missing,
        the place is the line at which the search began, with nothing printed.
        """
        begin = position = self.start if behind is None else behind
        for key in keys:
            position = self.position(key, position)
            if position < 0:
                return JsonPlace(self.lines.number(begin))
        match = _KEY.match(self.lines.data, position + len(keys[-1].encode()) + 1, self.end)
        return JsonPlace(self.lines.number(position), match[1].decode("utf-8", "replace") if match else "")

    def position(self, key: str, behind: int) -> int:
        """Return the offset of the next `"key"` from the offset `behind` on, -1 where there is none."""
        return self.lines.data.find(f'"{key}"'.encode(), behind, self.end)

    def positions(self, pattern: re.Pattern[bytes], behind: int) -> list[int]:
        """Return the offsets of all matches of `pattern` from the offset `behind` on."""
        return [match.start() for match in pattern.finditer(self.lines.data, behind, self.end)]


def find_documents(
    text: SourceText, opening: re.Pattern[bytes], lines: JsonLines | None = None
) -> Iterator[JsonDocument]:
    """Yield every document whose opening bracket is the last byte that `opening` matches, also those that are cut off.

    `lines` replaces the lines of `text` where some were changed before.
    """
    lines = lines or JsonLines.of(text)
    document: JsonDocument | None = None
    for start, end, value in iterate_documents(lines, opening):
        if isinstance(value, Broken) and document is not None and document.start == start:
            document.faults.append(value)
            continue
        document = JsonDocument(lines, start, end, None if isinstance(value, Broken) else value)
        document.faults += [value] if isinstance(value, Broken) else []
        yield document


def get_text(value: object, longest: int = 200) -> str:
    """Return a string value, stripped and cut to `longest` characters; "" for anything that is no string."""
    return value[:longest].strip() if isinstance(value, str) else ""


def get_member(value: object, *keys: str) -> object:
    """Return the value below a path of keys, as in `get_member(document, "end", "sum")`.

    None where any of the keys is missing, or a value on the way is no object.
    """
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def get_items(value: object) -> list[object]:
    """Return the value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []
