"""What lsblk and findmnt have in common: JSON with one list, `-P` pairs, tables that jc reads.

lsblk's rows on a narrow terminal: a cell that is too long for its column ends the line, and what is behind it stands below, at
its own column's place; nothing at all where the rest is empty.

NAME FSTYPE FSVER LABEL UUID                                 MOUNTPOINTS
nvme0n1

├─nvme0n1p1
│    vfat   FAT32 EFI_SYSPART
│                       51B3-05FD                            /boot/efi

Source: libsmartcols' print.c.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise, takewhile
from typing import Any

from apps.inventory.discovery.tool_output import (
    Block,
    Content,
    blanked,
    inventory,
    is_prompt,
    json_values,
    sources,
    starts,
    unescaped,
    whole,
)
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory
from apps.parsers.core.source_text import SourceText

BESIDE = "\t │|"  # lines of the tree that continue beside a cell
_NAME_ALONE = re.compile(r"[^\w/]{0,200}[\w/]\S{0,200}\s*$")
_NEXT = re.compile(
    r"(?:[│|] ){0,20}(?:[├└]─|[|`]-)\S|(?:nvme|sd|vd|xvd|hd|md|dm-|loop|sr|zram|bcache|mmcblk|nbd)\w{1,20}(?:\s{2}|\s*$)"
)
_WIDEST = 24  # the widest name column of a folded table


def is_folded(header: str, line: str) -> bool:
    """Return whether the line has cells but nothing in the name's column."""
    width = _width(header)
    if not 0 < width <= _WIDEST or line[:width].strip(BESIDE) or not line.strip(BESIDE):
        return False
    first = len(line) - len(line.lstrip(BESIDE))
    return any(begin == first for begin, _ in _headings(header))


def is_empty_rest(header: str, line: str) -> bool:
    """Return whether the line is the blank continuation of a long name, with nothing but tree lines."""
    return not line.strip(BESIDE) and 0 < _width(header) <= _WIDEST


def is_inside(lines: Sequence[str], first: int, place: int) -> bool:
    """Return whether a blank line continues a long name; `place` is its index, `first` that of the heading."""
    if not first + 1 < place < len(lines) - 1:
        return False
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    header, before, line, following = (lines[at].removeprefix(margin) for at in (first, place - 1, place, place + 1))
    return is_empty_rest(header, line) and _is_long(header, before) and _NEXT.match(following) is not None


def unfolded(lines: Sequence[str]) -> list[str]:
    """Return the lines with columns wide enough for all cells; unchanged where no row is folded."""
    header = lines[0]
    if not any(
        is_folded(header, lines[place]) and _is_long(header, lines[place - 1]) for place in range(2, len(lines))
    ):
        return list(lines)
    headings = _headings(header)
    rows = [header.split()]
    for line in lines[1:]:
        if not line.strip(BESIDE):
            continue
        cells = _cells(line, headings)
        if is_folded(header, line):
            cells[0] = ""
            first = next(place for place, cell in enumerate(cells) if cell)
            if not any(rows[-1][first:]):
                rows[-1][first:] = cells[first:]
                continue
        rows.append(cells)
    widths = [max(map(len, column)) + 1 for column in zip(*rows, strict=True)]
    return ["".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cells(line: str, headings: Sequence[tuple[int, int]]) -> list[str]:
    """Return a cell for each column; one that leaves no room for the next has the rest of the line.

    Numbers end where their heading does.
    """
    edges = [0]
    for (_, before), (begin, end) in pairwise(headings):
        first = begin
        if begin < len(line) and line[begin - 1] != " ":
            first = line.rfind(" ", 0, begin) + 1
            if first <= before or line[begin:].split(" ", 1)[0] != line[begin:end]:
                break
        edges.append(first)
    cells = [line[begin:end].strip() for begin, end in pairwise([*edges, None])]
    cells[0] = line[: edges[1]].rstrip() if edges[1:] else line.rstrip()
    return cells + [""] * (len(headings) - len(cells))


def _is_long(header: str, line: str) -> bool:
    return len(line.rstrip()) >= _width(header) and _NAME_ALONE.match(line) is not None


@lru_cache(maxsize=8)  # called for every line
def _headings(header: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in re.finditer(r"\S+", header))


def _width(header: str) -> int:
    """Return the width of the name's column with the blank behind it; 0 where it is the only column."""
    headings = _headings(header)
    return headings[1][0] if len(headings) > 1 else 0


_PAIR = re.compile(r'([A-Z0-9:_%.-]{1,40})="([^"]*)"')
_ENDS = re.compile(r"[\s^~=*_-]*$")  # blank, or a line drawn below the table
_MOST_COLUMNS = 100
_MOST_TABLES = 20_000  # in one text; each takes jc some time, however small
_MOST_LOOKED_AT = 1000  # headings without a readable row before the search ends
Summary = Callable[[Sequence[Any]], str]


def looks_like(
    text: SourceText,
    json: re.Pattern[str],
    header: re.Pattern[str],
    pairs: re.Pattern[str],
    is_header: Callable[[str], bool],
    read: Callable[[Sequence[str]], list[Content]],
) -> float:
    """Return the score of the text: 1.0 for JSON and pairs, for a heading only if a row below it can be read."""
    text = blanked(text)
    if json.search(text.by_lines) or pairs.search(text.by_lines):
        return 1.0
    if not header.search(text.by_lines):
        return 0.0
    found = (
        source.lines[first : min(end, first + 6)]  # a row may be folded
        for source in sources(text)
        for first, end in tables(source.lines, is_header)
    )
    return 1.0 if any(_is_readable(lines, read) for lines in islice(found, _MOST_LOOKED_AT)) else 0.0


def _is_readable(lines: Sequence[str], read: Callable[[Sequence[str]], list[Content]]) -> bool:
    try:
        return bool(read(lines))
    except ValueError:
        return False


def parse(
    text: SourceText,
    tool: str,
    key: str,
    summary: Summary,
    is_header: Callable[[str], bool],
    pairs: re.Pattern[str],
    read: Callable[[Sequence[str]], list[Content]],
    is_rest: Callable[[str, str], bool] = lambda header, line: False,
    is_row: Callable[[str, str], bool] = lambda header, line: False,
) -> ParsedFile:
    """Parse everything that `tool` printed in the text: JSON, pairs or tables.

    `read` raises ValueError for lines that are no table. Of a heading and a line `is_rest` tells whether the line
    continues the row above, `is_row` whether it surely is a row.
    """
    found: list[ParsedInventory] = []
    broken: list[Broken] = []
    for block, document in _documents(text, key, broken):
        found.append(inventory(text, tool, block, summary(document[key]), document))
    for block in _pair_blocks(text.lines, pairs):
        rows_ = [read_pairs(line) for line in text.lines[slice(*block)]]
        found.append(inventory(text, tool, block, summary(rows_), {key: rows_}))
    for source in sources(blanked(text)):
        for first, end in _first_tables(source, tool, broken, tables(source.lines, is_header, is_row)):
            try:
                devices = read(source.lines[first:end])
            except ValueError as error:
                broken.append(
                    Broken(f"{tool}: not readable", source.number(first), source.lines[first][:200], str(error))
                )
            else:
                block = first, first + _length(without_margin(source.lines[first:end]), len(devices), is_rest)
                found.append(inventory(source, tool, block, summary(devices), {key: devices}))
                broken += _lost(source, tool, (first, block[1], end), is_row)
        if found or broken:
            break
    return whole(text, tool, sorted(found, key=lambda one: one.line or 0), broken, f"{key} as JSON, pairs or a table")


def _first_tables(source: SourceText, tool: str, broken: list[Broken], found: Iterator[Block]) -> Iterator[Block]:
    for count, (first, end) in enumerate(found):
        if count == _MOST_TABLES:
            message = f"{tool}: only the first {_MOST_TABLES:,} tables of a text are read"
            broken.append(Broken(message, source.number(first), source.lines[first][:200], "fewer tables in one file"))
            return
        yield first, end


def _lost(
    source: SourceText, tool: str, table: tuple[int, int, int], is_row: Callable[[str, str], bool]
) -> list[Broken]:
    """Return an error if rows stand after a line that is none.

    `table` has the indices of the heading, of that line, and after the last line.
    """
    first, odd, end = table
    if not any(is_row(source.lines[first], line) for line in source.lines[odd:end]):
        return []
    return [
        Broken(
            f"{tool}: rows below are not read", source.number(odd), source.lines[odd][:200], "a row under the headings"
        )
    ]


def without_margin(lines: Sequence[str]) -> list[str]:
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return [line.removeprefix(margin) for line in lines]


def _length(lines: Sequence[str], count: int, is_rest: Callable[[str, str], bool]) -> int:
    """Return how many of the lines the heading and that many rows take."""
    for place, line in enumerate(lines[1:], start=1):
        if not is_rest(lines[0], line):
            count -= 1
        if count < 0:
            return place
    return len(lines)


def _documents(text: SourceText, key: str, broken: list[Broken]) -> Iterator[tuple[Block, Content]]:
    if f'"{key}"' in text.text:
        for block, value in json_values(text, broken):
            if isinstance(value, dict) and isinstance(value.get(key), list):
                yield block, value


def tables(
    lines: Sequence[str],
    is_header: Callable[[str], bool],
    is_row: Callable[[str, str], bool] = lambda header, line: False,
) -> Iterator[Block]:
    """Yield the block of each table, from its heading to the first blank line, prompt or other heading.

    Blank lines between rows, which somebody may have added, do not end a table if `is_row` recognises the next line.
    """
    for index, line in enumerate(lines):
        if is_header(line):
            end = index + 1
            margin = line[: len(line) - len(line.lstrip())]
            while end < len(lines) and not (is_prompt(lines[end].removeprefix(margin)) or is_header(lines[end])):
                if _is_end(lines, index, end):
                    behind = _behind_blank(lines, end)
                    if end == index + 1 or behind == end or not is_row(line, lines[behind]):
                        break
                    end = behind
                end += 1
            if end > index + 1:
                yield index, end


def _behind_blank(lines: Sequence[str], place: int) -> int:
    """Return the index of the next line that is not blank, at most two lines on; `place` where there is none."""
    behind = next((at for at in range(place, min(place + 3, len(lines))) if lines[at].strip()), place)
    return place if is_prompt(lines[behind]) else behind


def _is_end(lines: Sequence[str], first: int, place: int) -> bool:
    return _ENDS.match(lines[place]) is not None and not is_inside(lines, first, place)


def _pair_blocks(lines: Sequence[str], pairs: re.Pattern[str]) -> Iterator[Block]:
    first = None
    for index, line in enumerate([*lines, ""]):
        is_pair = bool(pairs.match(line))
        if is_pair and first is None:
            first = index
        elif not is_pair and first is not None:
            yield first, index
            first = None


def read_pairs(line: str) -> Content:
    """Parse a line of pairs, `NAME="sda" MAJ:MIN="8:0"`; newer versions print MAJ_MIN.

    Keys are as in the JSON: `maj:min`.
    """
    found = ((key.lower().replace("_", "-").replace("maj-min", "maj:min"), value) for key, value in _PAIR.findall(line))
    return {key: unescaped(value) or None for key, value in found}


def rows(tool: str, lines: Sequence[str]) -> list[Content]:
    """Parse a table with jc, or raw output (`-r`), whose cells are separated by one blank and not aligned, without it.

    Raises:
        ValueError: if the lines are no table that can be read.
    """
    header = lines[0].split()
    if len(header) > _MOST_COLUMNS or len(set(header)) != len(header):
        raise ValueError(f"at most {_MOST_COLUMNS} different columns")
    keys = [word.lower() for word in header]  # as in the JSON: maj:min, phy-sec
    if is_raw(lines):
        return [dict(zip(keys, map(unescaped, line.split(" ")), strict=False)) for line in lines[1:]]
    shown = [line.rstrip() for line in lines]
    if tool == "lsblk" and "NAME" not in header:
        shown[0] = shown[0].replace("KNAME", "NAME ", 1).replace("PATH", "NAME", 1)  # jc requires this column
    import jc  # imported late, as most processes read no such output

    try:
        found = jc.parse(tool, "\n".join(shown) + "\n", quiet=True, raw=True)
    except Exception as error:  # jc raises all kinds of errors for odd lines
        raise ValueError(f"a table that jc reads ({type(error).__name__})") from None
    if not isinstance(found, list) or len(found) != len(lines) - 1:
        found = _by_columns(shown)
    elif any(len(row) < len(keys) for row in found):  # cells are empty: in findmnt's tables jc counts words
        try:
            found = _by_columns(shown)
        except ValueError:
            pass  # keep jc's rows: those before the first short one are whole
    rows_ = while_true(found, lambda row: len(row) == len(keys))
    rows_ = rows_[: _aligned(lines, [list(row.values()) for row in rows_])]
    return [dict(zip(keys, row.values(), strict=True)) for row in rows_]


def _by_columns(lines: Sequence[str]) -> list[Content]:
    """Parse a table by the columns of its headings, for tables in which jc loses rows below long names.

    Raises:
        ValueError: if blanks do not separate the columns.
    """
    header = lines[0].split()
    begins = starts(lines[0], lines[1:])
    if len(begins) != len(header):
        raise ValueError("a row for every line of the table")
    edges = list(zip(header, begins, [*begins[1:], None], strict=True))
    return [{word: line[first:end].strip() or None for word, first, end in edges} for line in lines[1:]]


def _aligned(lines: Sequence[str], values: Sequence[Sequence[Any]]) -> int:
    """Return how many rows stand under the headings, unlike prose after a table; all where blanks were lost."""
    columns = [match.span() for match in re.finditer(r"\S+", lines[0])]
    first = next((at for at, row in enumerate(values) if not _is_under(lines[at + 1], row, columns)), len(values))
    return first if any(any(row[1:]) for row in values[:first]) else len(values)


def _is_under(line: str, values: Sequence[Any], columns: Sequence[tuple[int, int]]) -> bool:
    """Return whether most cells begin or end where their heading does."""
    place = line.find(str(values[0] or "")) + len(str(values[0] or ""))
    told = right = 0
    for value, (start, end) in list(zip(values, columns, strict=True))[1:]:
        if value:
            shown = str(value[0] if isinstance(value, list) else value)  # others are on lines of their own
            place = max(line.find(shown, place), 0)
            told += 1
            right += place == start or place + len(shown) == end
            place += len(shown)
    return right * 2 > told or not told


def is_raw(lines: Sequence[str]) -> bool:
    width = len(lines[0].split())
    if "  " in lines[0].strip() or not lines[0].isascii():
        return False
    return all(line[:1].isalnum() and len(line.rstrip().split(" ")) <= width for line in lines[1:]) and any(
        len(line.split()[0]) > len(lines[0].split()[0]) for line in lines[1:]
    )


def while_true(found: list[Content], is_row: Callable[[Content], object]) -> list[Content]:
    """Return the rows up to the first that `is_row` rejects.

    Raises:
        ValueError: if there are none.
    """
    kept = list(takewhile(is_row, found))
    if not kept:
        raise ValueError("rows below the heading")
    return kept
