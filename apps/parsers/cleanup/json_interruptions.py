"""Removal of lines that interrupt a JSON document: messages of the tool itself, another one or the kernel, written into the same file (`2>&1`).

    lines, left_out = without_interruptions(text.lines)      # those lines are empty; index → what stood there

A line that could belong to the document stays, so that nothing of it is ever removed: one that begins or ends as JSON
does, or holds a key. A document in whose line something was inserted stays broken.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from apps.parsers.core.source_text import SourceText

_WARNING = "left out, as it is no JSON"
MOST_INTERRUPTIONS = 1000  # with more such lines it is no JSON document
_MOST_WARNINGS = 20
_MOST_GAPS = 8  # lines of the file for each line of the text: one host's part of a log has few lines of its own
_ENDS = (",", "{", "[", '"', ":")
_BEGINNING = re.compile(  # two letters, because one may be a number's exponent
    r"(?!(?:true|false|null|nan|inf|infinity)\b)(?:[^\W\d_]{2}|[/#$(*]|\^C|\+ |<\d{1,3}>|\[\s{0,8}\d{1,9}\.\d{6}\]\s{1,8}[^\W\d_]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d\b|\d{1,18}\+\d{1,18} records |\d{1,19} bytes )",
    re.IGNORECASE,
)


def without_interruptions(lines: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """Return the lines with "" in place of those that are no JSON, and a dictionary from their index to what they were.

    All lines stay where there are more than `MOST_INTERRUPTIONS`.
    """
    left_out = {index: line for index, line in enumerate(lines) if _is_interruption(line)}
    inner = _select_between(lines, left_out)
    if len(inner) > MOST_INTERRUPTIONS:
        return list(lines), {}
    return ["" if index in left_out else line for index, line in enumerate(lines)], inner


def _is_interruption(line: str) -> bool:
    bare = line.strip()
    return bool(_BEGINNING.match(bare)) and not bare.endswith(_ENDS) and '":' not in bare and '" :' not in bare


def _select_between(lines: Sequence[str], left_out: Mapping[int, str]) -> dict[int, str]:
    """Return those that stand between two lines of JSON."""
    indices = [index for index, line in enumerate(lines) if index not in left_out and line.strip()]
    first, last = (indices[0], indices[-1]) if indices else (0, 0)
    return {index: line for index, line in left_out.items() if first < index < last}


def join_lines(text: SourceText, lines: Sequence[str]) -> bytes:
    """Return the lines as UTF-8, each at its line number in the file.

    Pieces of one line, split at carriage returns, are joined again.
    """
    count = text.number(len(lines) - 1) if lines else 0
    if count == len(lines) or count > 2000 + _MOST_GAPS * len(lines):
        return "\n".join(lines).encode("utf-8", "replace")
    rows: list[list[str]] = [[] for _ in range(count)]
    for index, line in enumerate(lines):
        if line:
            rows[text.number(index) - 1].append(line)
    return "\n".join("\r".join(row) for row in rows).encode("utf-8", "replace")


def was_left_out(warnings: Iterable[str]) -> bool:
    """Return whether any of these warnings tells of a removed line, which another tool may read."""
    return any(_WARNING in warning for warning in warnings)


def warn_of_interruptions(
    text: SourceText, left_out: Mapping[int, str], documents: Iterable[tuple[int, int]]
) -> list[str]:
    """Return a warning for each removed line that stood inside a document.

    `documents` are their first and last lines, ascending.
    """
    warnings: list[str] = []
    spans, numbers = iter(documents), ((text.number(index), line) for index, line in left_out.items())
    first, last = next(spans, (0, 0))
    for number, line in numbers:
        while number > last and (span := next(spans, None)):
            first, last = span
        if first < number <= last:
            warnings.append(f"line {number}: {_WARNING}; found {' '.join(line.split())[:120]!r}, expected JSON")
    more = len(warnings) - _MOST_WARNINGS
    return (
        warnings
        if more <= 0
        else [*warnings[:_MOST_WARNINGS], f"{more} more lines among JSON that are none were left out"]
    )
