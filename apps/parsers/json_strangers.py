"""Lines in the middle of a JSON document that no JSON can hold: what a tool itself, another one or the kernel said while the
document was written into the same file (`2>&1`).

    lines, left_out = without_strangers(text.lines)      # those lines are empty; index → what stood there

A line that could belong to the document stays, so that nothing of it is ever left out: one that begins as JSON does, or
ends so, or holds a key. A document into whose line something was glued is broken, as it was.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from apps.parsers.source_text import SourceText

_LEFT_OUT = "left out, as it is no JSON"  # what the warnings say
MOST = 1000  # lines that are left out; with more of them it is no document any more
_MOST_TOLD = 20
_MOST_GAPS = 8  # rows for each line that is there: a part of a log of many hosts has few of its own
_ENDS = (",", "{", "[", '"', ":")
_BEGINNING = re.compile(  # two letters: one may be a number's exponent
    r"(?!(?:true|false|null|nan|inf|infinity)\b)(?:[^\W\d_]{2}|[/#$(*]|\^C|\+ |<\d{1,3}>|\[\s{0,8}\d{1,9}\.\d{6}\]\s{1,8}[^\W\d_]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d\b|\d{1,18}\+\d{1,18} records |\d{1,19} bytes )",
    re.IGNORECASE,
)


def without_strangers(lines: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """The lines with nothing in place of what is no JSON, and what that was; all as they are where it is too much."""
    left_out = {index: line for index, line in enumerate(lines) if _is_stranger(line)}
    inner = _between_brackets(lines, left_out)
    if len(inner) > MOST:
        return list(lines), {}
    return ["" if index in left_out else line for index, line in enumerate(lines)], inner


def _is_stranger(line: str) -> bool:
    bare = line.strip()
    return bool(_BEGINNING.match(bare)) and not bare.endswith(_ENDS) and '":' not in bare and '" :' not in bare


def _between_brackets(lines: Sequence[str], left_out: Mapping[int, str]) -> dict[int, str]:
    """Those that stand between a line that opens a document, or goes on in one, and one that does too."""
    kept = [index for index, line in enumerate(lines) if index not in left_out and line.strip()]
    first, last = (kept[0], kept[-1]) if kept else (0, 0)
    return {index: line for index, line in left_out.items() if first < index < last}


def joined(text: SourceText, lines: Sequence[str]) -> bytes:
    """UTF-8 with each line where it stands in the file: what shares one, as carriage returns make it, is put together again."""
    count = text.number(len(lines) - 1) if lines else 0
    if count == len(lines) or count > 2000 + _MOST_GAPS * len(lines):
        return "\n".join(lines).encode("utf-8", "replace")
    rows: list[list[str]] = [[] for _ in range(count)]
    for index, line in enumerate(lines):
        if line:
            rows[text.number(index) - 1].append(line)
    return "\n".join("\r".join(row) for row in rows).encode("utf-8", "replace")


def was_left_out(warnings: Iterable[str]) -> bool:
    """Whether these tell of such lines: another tool may read them."""
    return any(_LEFT_OUT in one for one in warnings)


def told(text: SourceText, left_out: Mapping[int, str], documents: Iterable[tuple[int, int]]) -> list[str]:
    """A warning for each that stood in one of the documents: their first and last lines, ascending."""
    said: list[str] = []
    spans, numbers = iter(documents), ((text.number(index), line) for index, line in left_out.items())
    first, last = next(spans, (0, 0))
    for number, line in numbers:
        while number > last and (span := next(spans, None)):
            first, last = span
        if first < number <= last:
            said.append(f"line {number}: {_LEFT_OUT}; found {' '.join(line.split())[:120]!r}, expected JSON")
    more = len(said) - _MOST_TOLD
    return said if more <= 0 else [*said[:_MOST_TOLD], f"{more} more lines among JSON that are none were left out"]
