"""Splitting of a table's lines into cells, for each way in which people write tables."""

import csv
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from apps.parsers.tables.cells import get_shape, is_value
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
    """Return whether a line of a table only draws: `|---|:-:|`, `+----+`, MediaWiki's `|-` and `{|`."""
    return _RULE.fullmatch(line[:1000]) is not None


def get_splitter(delimiter: str) -> Splitter:
    """Return the function that splits lines with this delimiter; not for `ALIGNED`, whose columns depend on all of its lines."""
    if delimiter == PIPES:
        return split_by_pipes
    if delimiter == SINGLE_BLANKS:
        return split_by_values
    return lambda line: split_by_delimiter(line, delimiter)


def split_by_delimiter(line: str, delimiter: str) -> list[str]:
    """Split a line at a delimiter, with quotes as in CSV.

    Raises:
        ValueError: if a quote is not closed or a field is endless.
    """
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise ValueError(f"no row of a table: {error}") from None
    return [cell.strip() for cell in cells]


def split_by_pipes(line: str) -> list[str]:
    """Split Markdown and psql `| a | b |`, MoinMoin and TWiki `||a||b||`, DokuWiki `^ a ^ b ^`, MediaWiki `| a || b`."""
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


def split_by_values(line: str) -> list[str]:
    """Split at single blanks: `~ 3`, `2.0 – 2.6`, `270 / 20` and `223 [204–234]` stay together."""
    return _TOKEN.findall(line)


class AlignedSplitter:
    """A splitter of aligned columns, which are found by where cells begin and end in the full rows.

    A cell of a short row belongs to the column that it stands under; under two or none it can not be assigned.
    """

    def __init__(self, lines: Sequence[str], width: int) -> None:
        self.width = width
        starts, ends = [10**9] * width, [0] * width
        for line in set(map(get_shape, lines)):
            spans = _find_spans(line)
            if len(spans) == width:
                starts = [min(start, span[0]) for start, span in zip(starts, spans, strict=True)]
                ends = [max(end, span[1]) for end, span in zip(ends, spans, strict=True)]
        self.starts, self.ends = starts, ends

    def __call__(self, line: str) -> list[str]:
        spans = _find_spans(line)
        if len(spans) == self.width:
            return [line[start:end] for start, end in spans]
        cells = [""] * self.width
        for start, end in spans:
            column = self._find_column(start, end)
            if cells[column]:
                raise ValueError("two cells stand in one column")
            cells[column] = line[start:end]
        return cells

    def _find_column(self, start: int, end: int) -> int:
        under = range(bisect_right(self.ends, start), bisect_right(self.starts, end - 1))
        if len(under) != 1:
            raise ValueError("a cell stands between the columns" if not under else "a cell stands in two columns")
        return under[0]


def _find_spans(line: str) -> list[tuple[int, int]]:
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
    """Return the number of cells separated by wide blanks."""
    return len(_find_spans(line))


def count_values(cells: Sequence[str]) -> int:
    """Return how many of the cells are values."""
    return sum(1 for cell in cells if cell and is_value(cell))


__all__ = [
    "ALIGNED",
    "DELIMITERS",
    "AlignedSplitter",
    "count_aligned",
    "count_values",
    "get_splitter",
    "is_rule",
    "split_by_delimiter",
]
