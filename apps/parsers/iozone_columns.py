"""IOzone's table: what its columns are, and which figure of a row belongs to which.

A row is written by one printf per figure, right-aligned with a least width; a test that `-i` leaves out prints blanks
instead. So figures that outgrow their column touch their neighbours, and a row without some tests has no mark for them.
The widths are those of iozone.c: `NEW` read in 3.465 and 3.471, `OLD` in 3.398 (3.327 prints the same), `FIRST` in 3.88.
A row that these widths let be read in two ways is not read.
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
class Group:
    """The columns of one test: the blanks printed where it does not run, and (blanks before, least width) per figure."""

    blanks: int
    figures: tuple[tuple[int, int], ...]


def _pair(blanks: int, first: int, second: int) -> Group:
    return Group(blanks, ((0, first), (0, second)))


def _layout(lead: int, width: int, tests: Sequence[Group], behind: Sequence[Group]) -> tuple[Group, ...]:
    single = Group(width + lead, ((lead, width + lead),)) if width == 9 else Group(width, ((lead, width + lead),))
    return (*tests, Group(width, ((0, width),)), single, single, *behind)


_VECTORS = ((9, 10), (10, 9))
NEW = _layout(1, 9, [_pair(18, 9, 9)] * 3, [_pair(18, 9, 9), _pair(17, 9, 9), _pair(18, 9, 9), _pair(18, 8, 9)]
              + [_pair(18, *each) for each in _VECTORS])  # fmt: skip
NEW_SHORT = (*NEW[:8], _pair(18, 8, 9), *NEW[9:])  # built with NO_PRINT_LLD: pwrite has one column less
_BEHIND = [_pair(18, 9, 9), _pair(16, 8, 9), _pair(17, 8, 9), _pair(19, 8, 9), _pair(19, 9, 10), _pair(19, 10, 9)]
OLD = _layout(1, 8, [_pair(16, 8, 8), _pair(18, 9, 9), _pair(16, 8, 8)], _BEHIND)
FIRST = _layout(0, 8, [_pair(16, 8, 8), _pair(18, 9, 9), _pair(16, 8, 8)], _BEHIND)
LAYOUTS = (NEW, NEW_SHORT, OLD, FIRST)


@dataclass(frozen=True, slots=True)
class Columns:
    """The operations of a table's columns ("" where Spindle has no word), their names, and where these end."""

    operations: tuple[str, ...]
    words: tuple[str, ...]
    ends: tuple[int, ...]  # from `origin`; of those on the first line where the header was wrapped
    origin: int  # where "reclen" ends
    is_spaced: bool  # by more than single blanks, so that what stands below what can be said
    size: int  # where "KB" ends


def read_header(above: str, header: str, below: str) -> Columns | None:
    """The columns, None where the words do not say which is which. `below` is the rest of a wrapped header, or ""."""
    if len(header) > _LONGEST:
        return None
    is_short = len(above) + len(below) <= 2 * _LONGEST
    return _read_header(above, header, below) if is_short else _read_header.__wrapped__(above, header, below)


@lru_cache(maxsize=128)  # every run of a log prints the same one
def _read_header(above: str, header: str, below: str) -> Columns | None:
    found = list(re.finditer(r"\S+", header))
    at = next(index for index, match in enumerate(found) if match[0].startswith("reclen")) + 1
    origin, size = found[at - 1].end(), found[at - 2].end()
    words = tuple(match[0] for match in found[at:]) + tuple(below.split())
    ends = tuple(match.end() - origin for match in found[at:])
    if words and words == tuple(_WORDS[: len(words)]):
        return Columns(_OPERATIONS[: len(words)], words, ends, origin, "  " in header[size:], size)
    operations = tuple(_qualified(above, match) for match in found[at:])
    if below or "" in operations or len(set(operations)) < len(operations) or not operations:
        return None
    return Columns(operations, words, ends, origin, "  " in header[size:], size)


def is_above_header(line: str) -> bool:
    words = line.split()
    return bool(words) and all(_QUALIFIERS.fullmatch(word) for word in words)


def is_rest_of_header(line: str) -> bool:
    words = line.split()
    return bool(words) and all(word in _WORDS for word in words)


def _qualified(above: str, word: re.Match[str]) -> str:
    """The operation of one header word, by the word that stands above it."""
    over = [
        match[0] for match in _QUALIFIERS.finditer(above) if match.start() < word.end() and match.end() > word.start()
    ]
    if over:
        return _QUALIFIED.get((over[0], word[0]), "")
    return word[0] if word[0] in _OPERATIONS else ""


def layouts_for(columns: Columns) -> tuple[tuple[Group, ...], ...]:
    """Those whose header is spaced like this one."""
    if len(columns.ends) < 2:
        return ()
    if columns.ends[0] == 9:
        return (NEW, NEW_SHORT) if "pwrite" in columns.words else (NEW,)
    return (OLD, FIRST) if columns.ends[0] == 8 else ()


@dataclass(frozen=True, slots=True)
class Figure:
    column: int
    start: int  # from the end of the record size
    end: int


def place(tail: str, columns: Columns) -> tuple[Figure, ...] | str:
    """The figures of `tail`, what follows a row's record size; or why that cannot be said."""
    if len(tail) > _LONGEST or len(max(tail.split(), key=len)) > _LONGEST_GLUED:
        return "a row longer than IOzone prints"
    layouts = layouts_for(columns)
    for layout in layouts:
        found = readings(tail, layout)
        if len(found) > 1:
            return "figures that run together, and can be cut in more than one way"
        if found:
            kept = tuple(figure for figure in found[0] if figure.column < len(columns.operations))
            return kept if len(kept) == len(found[0]) else "more figures than the header has columns"
    return "figures that stand in no column, or are cut off" if layouts else _under_header(tail, columns)


def readings(tail: str, layout: Sequence[Group]) -> list[tuple[Figure, ...]]:
    """The ways, two at most, to cut `tail` as this layout would have printed it."""
    text = tail.rstrip()
    numbers = [sum(len(test.figures) for test in layout[:index]) for index in range(len(layout))]

    @cache
    def ways(test: int, part: int, position: int) -> tuple[tuple[Figure, ...], ...]:
        if position >= len(text):
            return ((),)
        if test == len(layout):
            return ()
        if part == len(layout[test].figures):
            return ways(test + 1, 0, position)
        found = [
            (Figure(numbers[test] + part, position, end), *rest)
            for end in _ends(text, position, *layout[test].figures[part])
            for rest in ways(test, part + 1, end)
        ]
        blanks = layout[test].blanks
        if part == 0 and not text[position : position + blanks].strip():
            found += ways(test + 1, 0, position + blanks)
        return tuple(found[:2])

    return list(ways(0, 0, 0))


def _ends(text: str, position: int, lead: int, width: int) -> Sequence[int]:
    """Where a figure printed at `position` may end: padded it fills its width, wider it has only the blanks before."""
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


def _under_header(tail: str, columns: Columns) -> tuple[Figure, ...] | str:
    """Each figure under the header word that it ends nearest to: for layouts that are not known."""
    if not columns.is_spaced:
        return "fewer figures than columns, and blanks that do not show which they are"
    found: list[Figure] = []
    for match in re.finditer(r"\d+", tail):
        near = sorted((abs(end - match.end()), column) for column, end in enumerate(columns.ends))
        if not near or near[0][0] > 2 or (found and near[0][1] <= found[-1].column):
            return "figures that stand under no column of the header"
        found.append(Figure(near[0][1], match.start(), match.end()))
    return tuple(found)
