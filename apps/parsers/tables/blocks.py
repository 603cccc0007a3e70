"""Search for tables in a text: stretches of lines that split into the same number of cells, at least one of them a number.

Prose around them, and other tools' output, is left alone.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import markup
from apps.parsers.tables.cells import get_shape, is_value
from apps.parsers.tables.grid import ALIGNED, PIPES, SINGLE_BLANKS
from apps.parsers.tables.row_cells import DELIMITERS, count_aligned, count_values, get_splitter, is_rule

MOST_COLUMNS = 1000
_UNDERLINES = re.compile(r"\s{0,40}(?:={2,}|-{2,})(?:\s{1,40}(?:={2,}|-{2,})){1,100}\s*")
_LONGEST_RECORD = 50  # lines of a quoted cell
_SAMPLE = 60
_LEAST_VALUES = 0.5
_SURE = 0.6


@dataclass
class TableBlock:
    """A table's lines. Records are lines, or several joined by a quote; `numbers` are those of their first lines, from 1."""

    delimiter: str
    width: int
    records: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    caption: str = ""
    values: float = 0.0  # share of its cells that can be values

    @property
    def weight(self) -> tuple[float, int]:
        """Return the sorting key by which overlapping tables are chosen: size and certainty."""
        certain = 0.5 if self.delimiter == SINGLE_BLANKS else 1.0
        return len(self.records) * self.width * certain * self.values**2, self.width


def find(text: SourceText) -> list[TableBlock]:
    """Return the tables of a text in their order; none overlaps another."""
    text = markup.convert_markup(text)
    blocks = [
        block for delimiter in DELIMITERS if _is_in(delimiter, text.text) for block in _iterate_blocks(text, delimiter)
    ]
    for delimiter, least in ((ALIGNED, _SURE), (SINGLE_BLANKS, 0.0)):
        if _is_in(delimiter, text.text) and _count_lines(blocks, least) * 2 < len(text.lines):
            blocks += _iterate_blocks(text, delimiter)
    chosen: list[TableBlock] = []
    taken: set[int] = set()
    for block in sorted(blocks, key=lambda block: block.weight, reverse=True):
        if taken.isdisjoint(block.numbers):
            taken.update(block.numbers)
            chosen.append(block)
            block.caption = _find_caption(text, block.numbers[0])
    return sorted(chosen, key=lambda block: block.numbers[0])


def _count_lines(blocks: Sequence[TableBlock], least: float) -> int:
    return sum(len(block.records) for block in blocks if block.values >= least)


def _is_in(delimiter: str, text: str) -> bool:
    if delimiter == ALIGNED:
        return "  " in text or "\t" in text
    return delimiter in text or (delimiter == PIPES and "^" in text)


def _iterate_blocks(text: SourceText, delimiter: str) -> Iterator[TableBlock]:
    records, numbers = _join_records(text, delimiter)
    for stretch in _iterate_stretches(records, numbers, _count_widths(records, delimiter), delimiter):
        block = _trim(stretch, delimiter)
        if block is not None:
            yield block


CountedRecord = tuple[str, int, int]  # a record, its line, the number of its cells


def _join_records(text: SourceText, delimiter: str) -> tuple[Sequence[str], Sequence[int]]:
    """Return lines, joined up to the closing quote where one stays open, and the number of the first line of each."""
    lines, numbers = text.lines, text.numbers(0, len(text.lines))
    if delimiter not in ("\t", ";", ",") or '"' not in text.text:
        return lines, numbers
    records: list[str] = []
    firsts: list[int] = []
    index = 0
    while index < len(lines):
        end = _find_closing(lines, index, delimiter)
        records.append("\n".join(lines[index:end]))
        firsts.append(numbers[index])
        index = end
    return records, firsts


def _find_closing(lines: Sequence[str], index: int, delimiter: str) -> int:
    line = lines[index]
    if line.count('"') % 2 == 0 or not (line.lstrip().startswith('"') or f'{delimiter}"' in line):
        return index + 1
    for end in range(index + 1, min(index + _LONGEST_RECORD, len(lines))):
        if lines[end].count('"') % 2:
            return end + 1
    return index + 1


def _iterate_stretches(
    records: Sequence[str], numbers: Sequence[int], widths: Sequence[int], delimiter: str
) -> Iterator[list[CountedRecord]]:
    """Yield stretches of lines that have cells. A blank line ends one only where headings follow it."""
    stretch: list[CountedRecord] = []
    after_blank, has_rules = False, delimiter == PIPES
    for record, number, width in zip(records, numbers, widths, strict=True):
        if width < 2 and not stretch:
            continue
        if not record.strip():
            after_blank = True
            continue
        if has_rules and is_rule(record):
            continue
        if stretch and width < 2 and _is_under_headings(stretch, record, delimiter):
            continue
        if stretch and (width < 2 or (after_blank and not _continues(stretch, record, width, delimiter))):
            if len(stretch) > 1:
                yield stretch
            stretch = []
        after_blank = False
        if width > 1:
            stretch.append((record, number, width))
    if len(stretch) > 1:
        yield stretch


def _is_under_headings(stretch: Sequence[CountedRecord], record: str, delimiter: str) -> bool:
    """Return whether a line is `=== ====` below headings, as in reStructuredText, with one blank where columns have more."""
    return delimiter == ALIGNED and len(stretch) <= 3 and _UNDERLINES.fullmatch(record[:1000]) is not None


def _continues(stretch: Sequence[CountedRecord], record: str, width: int, delimiter: str) -> bool:
    if delimiter in (ALIGNED, SINGLE_BLANKS) and width != stretch[-1][2]:
        return False
    return any(map(is_value, get_splitter(delimiter)(record)[1:] if '"' not in record else ["1"]))


def _count_widths(records: Sequence[str], delimiter: str) -> list[int]:
    """Return the number of cells of each line; lines of one shape have as many."""
    if delimiter in ("\t", ";", ","):  # to count is cheaper than to remember
        widths = [
            record.count(delimiter) + 1 if '"' not in record else _count_width(record, delimiter) for record in records
        ]
        return [width if 1 < width <= MOST_COLUMNS else 0 for width in widths]
    forms = list(map(get_shape, records))
    known = {form: _count_width(form, delimiter) for form in set(forms)}
    return [known[form] for form in forms]


def _count_width(record: str, delimiter: str) -> int:
    """Return how many cells a line has; 0 where it can be no row."""
    if delimiter == ALIGNED:
        width = count_aligned(record) if "  " in record or "\t" in record else 0
    elif delimiter == SINGLE_BLANKS:
        width = len(get_splitter(delimiter)(record[:4000])) if any(map(str.isdigit, record[:4000])) else 0
    elif delimiter not in record and not (delimiter == PIPES and record[:1] in "^!"):
        return 0
    elif delimiter == PIPES or '"' in record:
        width = _count_split(record, delimiter)
    else:
        width = record.count(delimiter) + 1
    return width if width <= MOST_COLUMNS else 0


def _count_split(record: str, delimiter: str) -> int:
    try:
        return len(get_splitter(delimiter)(record))
    except ValueError:
        return 2  # a broken row among others


def _trim(stretch: list[CountedRecord], delimiter: str) -> TableBlock | None:
    """Return the stretch without lines of another width at its ends, unless they hold values; None where it is no table."""
    if len(stretch) < 2:
        return None
    width = _find_most_common([counted[2] for counted in stretch])
    first, last = 0, len(stretch)
    while first < last and stretch[first][2] != width:
        first += 1
    while last > first and stretch[last - 1][2] != width and not _has_values(stretch[last - 1][0], delimiter):
        last -= 1
    rows = stretch[first:last]
    if len(rows) < 2 or width < 2:
        return None
    rows = _add_header(stretch, first, rows, delimiter)
    block = TableBlock(delimiter, width, [row[0] for row in rows], [row[1] for row in rows])
    best, block.values = _compute_value_shares(block)
    is_table = block.values >= _LEAST_VALUES if delimiter in (ALIGNED, SINGLE_BLANKS) else best >= _SURE
    return block if is_table else None


def _find_most_common(widths: Sequence[int]) -> int:
    """Return the first of those that occur most."""
    if widths.count(widths[0]) * 2 >= len(widths):
        return widths[0]
    return Counter(widths).most_common(1)[0][0]


def _add_header(
    stretch: list[CountedRecord], first: int, rows: list[CountedRecord], delimiter: str
) -> list[CountedRecord]:
    """Return the rows with the line of headings above them, whose blanks are often different so that it has another width."""
    if first and delimiter in (ALIGNED, SINGLE_BLANKS) and not _has_values(stretch[first - 1][0], delimiter):
        return [stretch[first - 1], *rows]
    return rows


def _has_values(record: str, delimiter: str) -> bool:
    try:
        cells = get_splitter(delimiter)(record) if delimiter != ALIGNED else record.split()
    except ValueError:
        return False
    return count_values(cells) * 3 >= len([cell for cell in cells if cell]) > 0


def _compute_value_shares(block: TableBlock) -> tuple[float, float]:
    """Return the share of values in the best column, and in all cells; from a sample of the block without its first line."""
    filled: dict[int, int] = {}
    good: dict[int, int] = {}
    for record in block.records[1 :: max(1, len(block.records) // _SAMPLE)]:
        try:
            cells = get_splitter(block.delimiter)(record) if block.delimiter != ALIGNED else _split_aligned(record)
        except ValueError:
            continue
        for place, cell in enumerate(cells):
            if cell:
                filled[place] = filled.get(place, 0) + 1
                good[place] = good.get(place, 0) + is_value(cell)
    best = max((good[place] / count for place, count in filled.items()), default=0.0)
    return best, sum(good.values()) / (sum(filled.values()) or 1)


def _split_aligned(record: str) -> list[str]:
    return [cell.strip() for cell in record.replace("\t", "  ").split("  ") if cell.strip()]


def _find_caption(text: SourceText, first: int) -> str:
    """Return up to three lines above, which have a title and the unit of all cells; one blank line may stand between."""
    place = _find_index(text, first)
    if place and not text.lines[place - 1].strip():
        place -= 1
    above: list[str] = []
    for line in reversed(text.lines[max(0, place - 3) : place]):
        if not line.strip():
            break
        above.insert(0, line.strip()[:300])
    return "\n".join(above)


def _find_index(text: SourceText, number: int) -> int:
    if isinstance(text.numbers(0, 0), range):
        return number - 1
    return bisect_left(range(len(text.lines)), number, key=text.number)
