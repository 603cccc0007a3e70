"""How a line of a table becomes cells, for each way that people set tables."""

import csv
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from apps.parsers.tables.cells import is_value, shape
from apps.parsers.tables.grid import ALIGNED, PIPES, SINGLE_BLANKS

Splitter = Callable[[str], list[str]]
DELIMITERS = (PIPES, "\t", ";", ",")
_RULE = re.compile(r"[\s|+:=!{}\-]*-[\s|+:=\-]*(?:style=.*)?|\{\|.*|\|\}.*|\s*\+[=+]{3,}\s*")
_WIDE_BLANKS = re.compile(r" {2,}|\t")
_NUMBER = r"[0-9][0-9.,']*(?:[eE][-+]?[0-9]{1,3})?"
_TOKEN = re.compile(
    rf"(?:[~≈<>≥≤]\s?)?[-+]?{_NUMBER}(?:\s?(?:[-–/]|±|\+/-)\s?[~≈]?\s?{_NUMBER}(?![^\s]))?(?:\s?[\[(][-+±~]?\s?{_NUMBER}[^\[\]()]{{0,30}}[\])])?(?=\s|$)|\S+"
)


def is_rule(line: str) -> bool:
    """A line of a table that only draws: `|---|:-:|`, `+----+`, MediaWiki's `|-` and `{|`."""
    return _RULE.fullmatch(line[:1000]) is not None


def splitter(delimiter: str) -> Splitter:
    """For all but `ALIGNED`, whose columns depend on all of its lines."""
    if delimiter == PIPES:
        return by_pipes
    if delimiter == SINGLE_BLANKS:
        return by_values
    return lambda line: by_delimiter(line, delimiter)


def by_delimiter(line: str, delimiter: str) -> list[str]:
    """Raises ValueError where a quote is not closed or a field is endless."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise ValueError(f"no row of a table: {error}") from None
    return [cell.strip() for cell in cells]


def by_pipes(line: str) -> list[str]:
    """Markdown and psql `| a | b |`, MoinMoin and TWiki `||a||b||`, DokuWiki `^ a ^ b ^`, MediaWiki `| a || b`."""
    text = line.strip()
    if text.startswith("^") or text.endswith("^"):
        text = text.replace("^", "|")
    if text.startswith("!"):
        text = "|" + text[1:].replace("!!", "||")
    double = text.startswith("||") or (text.startswith("|") and "||" in text and not text.endswith("|"))
    mark = "||" if double else "|"
    if not text.startswith("||"):
        text = text.removeprefix("|")
    return [cell.strip() for cell in text.removeprefix(mark).removesuffix(mark).split(mark)]


def by_values(line: str) -> list[str]:
    """Single blanks between cells: `~ 3`, `2.0 – 2.6`, `270 / 20` and `223 [204–234]` stay together."""
    return _TOKEN.findall(line)


class Aligned:
    """Columns that stand under each other, told by where cells begin and end in the full rows.

    A cell of a short row belongs to the column that it stands under; under two or none it cannot be told.
    """

    def __init__(self, lines: Sequence[str], width: int) -> None:
        self.width = width
        starts, ends = [10**9] * width, [0] * width
        for line in set(map(shape, lines)):
            spans = _spans(line)
            if len(spans) == width:
                starts = [min(start, span[0]) for start, span in zip(starts, spans, strict=True)]
                ends = [max(end, span[1]) for end, span in zip(ends, spans, strict=True)]
        self.starts, self.ends = starts, ends

    def __call__(self, line: str) -> list[str]:
        spans = _spans(line)
        if len(spans) == self.width:
            return [line[start:end] for start, end in spans]
        cells = [""] * self.width
        for start, end in spans:
            column = self._column(start, end)
            if cells[column]:
                raise ValueError("two cells stand in one column")
            cells[column] = line[start:end]
        return cells

    def _column(self, start: int, end: int) -> int:
        under = range(bisect_right(self.ends, start), bisect_right(self.starts, end - 1))
        if len(under) != 1:
            raise ValueError("a cell stands between the columns" if not under else "a cell stands in two columns")
        return under[0]


def _spans(line: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for gap in _WIDE_BLANKS.finditer(line):
        if gap.start() > start:
            spans.append((start, gap.start()))
        start = gap.end()
    end = len(line.rstrip())
    if end > start:
        spans.append((start, end))
    return spans


def count_aligned(line: str) -> int:
    return len(_spans(line))


def values_in(cells: Sequence[str]) -> int:
    return sum(1 for cell in cells if cell and is_value(cell))


__all__ = ["ALIGNED", "DELIMITERS", "Aligned", "by_delimiter", "count_aligned", "is_rule", "splitter", "values_in"]
