"""The columns of IOzone's table, and which figure of a row belongs to which.

A row is written by one printf per figure, right-aligned with a least width; a test that `-i` leaves out prints blanks
instead. So figures that outgrow their column touch their neighbours, and a row without some tests does not mark them.
The widths are those of iozone.c: `NEW` in 3.465 and 3.471, `OLD` in 3.398 (3.327 prints the same), `FIRST` in 3.88. A
row that can be read in two ways with these widths is not read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

HEADER = re.compile(r"(?:^|\s)[kK]B\s+reclen\b")
ROW = re.compile(r"[ \t]*[0-9][0-9 \t]*").fullmatch
_WORDS = [
    "write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read",
    "fwrite", "frewrite", "fread", "freread", "pwrite", "repwrite", "pread", "repread",
    "pwritev", "repwritev", "preadv", "repreadv",
]  # fmt: skip
_OPERATIONS: tuple[str, ...] = (
    "write", "rewrite", "read", "reread", "randread", "randwrite", "backward_read", "record_rewrite", "stride_read",
    "fwrite", "frewrite", "fread", "freread", "pwrite", "", "pread", "", "", "", "", "",
)  # fmt: skip
_QUALIFIED = {
    ("random", "read"): "randread", ("random", "write"): "randwrite", ("bkwd", "read"): "backward_read",
    ("record", "rewrite"): "record_rewrite", ("stride", "read"): "stride_read",
}  # fmt: skip
_QUALIFIERS = re.compile(r"\b(?:random|bkwd|record|stride)\b")
_MOST_DIGITS = 12
_LONGEST = 400
_LONGEST_GLUED = 40


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """The columns of one test: the blanks printed where it does not run, and (blanks before, least width) for each figure."""

    blanks: int
    figures: tuple[tuple[int, int], ...]


def _make_pair(blanks: int, first: int, second: int) -> ColumnGroup:
    return ColumnGroup(blanks, ((0, first), (0, second)))


def _make_layout(
    lead: int, width: int, tests: Sequence[ColumnGroup], behind: Sequence[ColumnGroup]
) -> tuple[ColumnGroup, ...]:
    single = (
        ColumnGroup(width + lead, ((lead, width + lead),))
        if width == 9
        else ColumnGroup(width, ((lead, width + lead),))
    )
    return (*tests, ColumnGroup(width, ((0, width),)), single, single, *behind)


_VECTORS = ((9, 10), (10, 9))
NEW = _make_layout(1, 9, [_make_pair(18, 9, 9)] * 3, [_make_pair(18, 9, 9), _make_pair(17, 9, 9), _make_pair(18, 9, 9), _make_pair(18, 8, 9)]
              + [_make_pair(18, *each) for each in _VECTORS])  # fmt: skip
NEW_SHORT = (*NEW[:8], _make_pair(18, 8, 9), *NEW[9:])  # built with NO_PRINT_LLD: pwrite has one column less
_BEHIND = [
    _make_pair(18, 9, 9),
    _make_pair(16, 8, 9),
    _make_pair(17, 8, 9),
    _make_pair(19, 8, 9),
    _make_pair(19, 9, 10),
    _make_pair(19, 10, 9),
]
OLD = _make_layout(1, 8, [_make_pair(16, 8, 8), _make_pair(18, 9, 9), _make_pair(16, 8, 8)], _BEHIND)
FIRST = _make_layout(0, 8, [_make_pair(16, 8, 8), _make_pair(18, 9, 9), _make_pair(16, 8, 8)], _BEHIND)
LAYOUTS = (NEW, NEW_SHORT, OLD, FIRST)


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The operations of a table's columns ("" where Spindle has no word), their names, and where these end."""

    operations: tuple[str, ...]
    words: tuple[str, ...]
    ends: tuple[int, ...]  # counted from `origin`; only those on the first line of a wrapped header
    origin: int  # where "reclen" ends
    is_spaced: bool  # has more than single blanks, so that positions are meaningful
    size: int  # where "KB" ends


def read_header(above: str, header: str, below: str) -> TableColumns | None:
    """Return the columns, None where the words do not tell which is which. `below` is the rest of a wrapped header, or ""."""
    if len(header) > _LONGEST:
        return None
    is_short = len(above) + len(below) <= 2 * _LONGEST
    return _read_header(above, header, below) if is_short else _read_header.__wrapped__(above, header, below)


@lru_cache(maxsize=128)  # every run in a log prints the same header
def _read_header(above: str, header: str, below: str) -> TableColumns | None:
    matches = list(re.finditer(r"\S+", header))
    at = next(index for index, match in enumerate(matches) if match[0].startswith("reclen")) + 1
    origin, size = matches[at - 1].end(), matches[at - 2].end()
    words = tuple(match[0] for match in matches[at:]) + tuple(below.split())
    ends = tuple(match.end() - origin for match in matches[at:])
    if words and words == tuple(_WORDS[: len(words)]):
        return TableColumns(_OPERATIONS[: len(words)], words, ends, origin, "  " in header[size:], size)
    operations = tuple(_get_operation(above, match) for match in matches[at:])
    if below or "" in operations or len(set(operations)) < len(operations) or not operations:
        return None
    return TableColumns(operations, words, ends, origin, "  " in header[size:], size)


def is_above_header(line: str) -> bool:
    """Return whether a line is the first line of a header, with words such as "random"."""
    words = line.split()
    return bool(words) and all(_QUALIFIERS.fullmatch(word) for word in words)


def is_rest_of_header(line: str) -> bool:
    """Return whether a line is the end of a header that was wrapped."""
    words = line.split()
    return bool(words) and all(word in _WORDS for word in words)


def _get_operation(above: str, word: re.Match[str]) -> str:
    """Return the operation of one header word, by the word that stands above it."""
    over = [
        match[0] for match in _QUALIFIERS.finditer(above) if match.start() < word.end() and match.end() > word.start()
    ]
    if over:
        return _QUALIFIED.get((over[0], word[0]), "")
    return word[0] if word[0] in _OPERATIONS else ""


def get_layouts(columns: TableColumns) -> tuple[tuple[ColumnGroup, ...], ...]:
    """Return the layouts whose header is spaced like this one."""
    if len(columns.ends) < 2:
        return ()
    if columns.ends[0] == 9:
        return (NEW, NEW_SHORT) if "pwrite" in columns.words else (NEW,)
    return (OLD, FIRST) if columns.ends[0] == 8 else ()


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """The column of a figure, and where it stands in the row."""

    column: int
    start: int  # counted from the end of the record size
    end: int


def place_figures(tail: str, columns: TableColumns) -> tuple[PlacedFigure, ...] | str:
    """Return the figures of `tail`, which follows a row's record size; or the reason why they can not be assigned."""
    if len(tail) > _LONGEST or len(max(tail.split(), key=len)) > _LONGEST_GLUED:
        return "a row longer than IOzone prints"
    layouts = get_layouts(columns)
    for layout in layouts:
        ways = find_readings(tail, layout)
        if len(ways) > 1:
            return "figures that run together, and can be cut in more than one way"
        if ways:
            placed = tuple(figure for figure in ways[0] if figure.column < len(columns.operations))
            return placed if len(placed) == len(ways[0]) else "more figures than the header has columns"
    return "figures that stand in no column, or are cut off" if layouts else _place_under_header(tail, columns)


def find_readings(tail: str, layout: Sequence[ColumnGroup]) -> list[tuple[PlacedFigure, ...]]:
    """Return the ways, two at most, to divide `tail` as this layout would have printed it."""
    text = tail.rstrip()
    numbers = [sum(len(test.figures) for test in layout[:index]) for index in range(len(layout))]

    @cache
    def ways(test: int, part: int, position: int) -> tuple[tuple[PlacedFigure, ...], ...]:
        if position >= len(text):
            return ((),)
        if test == len(layout):
            return ()
        if part == len(layout[test].figures):
            return ways(test + 1, 0, position)
        results = [
            (PlacedFigure(numbers[test] + part, position, end), *rest)
            for end in _find_ends(text, position, *layout[test].figures[part])
            for rest in ways(test, part + 1, end)
        ]
        blanks = layout[test].blanks
        if part == 0 and not text[position : position + blanks].strip():
            results += ways(test + 1, 0, position + blanks)
        return tuple(results[:2])

    return list(ways(0, 0, 0))


def _find_ends(text: str, position: int, lead: int, width: int) -> Sequence[int]:
    """Return where a figure printed at `position` may end: a padded one fills its width, a wider one has only the leading blanks."""
    start = position
    while start < len(text) and text[start] == " ":
        start += 1
    blanks = start - position
    if blanks >= width or blanks < lead:
        return ()
    end = start
    while end < len(text) and text[end] != " ":
        end += 1
    if blanks > lead:
        return (position + width,) if position + width <= end else ()
    return range(position + width, min(end, start + _MOST_DIGITS) + 1)


def _place_under_header(tail: str, columns: TableColumns) -> tuple[PlacedFigure, ...] | str:
    """Return each figure under the header word whose end is nearest, for unknown layouts."""
    if not columns.is_spaced:
        return "fewer figures than columns, and blanks that do not show which they are"
    figures: list[PlacedFigure] = []
    for match in re.finditer(r"\d+", tail):
        near = sorted((abs(end - match.end()), column) for column, end in enumerate(columns.ends))
        if not near or near[0][0] > 2 or (figures and near[0][1] <= figures[-1].column):
            return "figures that stand under no column of the header"
        figures.append(PlacedFigure(near[0][1], match.start(), match.end()))
    return tuple(figures)
