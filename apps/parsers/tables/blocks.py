"""Where tables stand in a text: stretches of lines that split into the same number of cells, one of them at least a
number. Prose around them, and other tools' output, is left alone.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.parsers.source_text import SourceText
from apps.parsers.tables import markup
from apps.parsers.tables.cells import is_value, shape
from apps.parsers.tables.grid import ALIGNED, PIPES, SINGLE_BLANKS
from apps.parsers.tables.splitting import DELIMITERS, count_aligned, is_rule, splitter, values_in

MOST_COLUMNS = 1000
_UNDERLINES = re.compile(r"\s{0,40}(?:={2,}|-{2,})(?:\s{1,40}(?:={2,}|-{2,})){1,100}\s*")
_LONGEST_RECORD = 50  # lines that a quoted cell may go over
_SAMPLE = 60
_LEAST_VALUES = 0.5
_SURE = 0.6


@dataclass
class Block:
    """Records are lines, or several joined by a quote. `numbers` count from 1."""

    delimiter: str
    width: int
    records: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    caption: str = ""
    values: float = 0.0  # the share of its cells that can be values

    @property
    def weight(self) -> tuple[float, int]:
        certain = 0.5 if self.delimiter == SINGLE_BLANKS else 1.0
        return len(self.records) * self.width * certain * self.values**2, self.width


def find(text: SourceText) -> list[Block]:
    """The tables of a text in their order, none over another's lines."""
    text = markup.plain(text)
    found = [block for delimiter in DELIMITERS if _occurs(delimiter, text.text) for block in _blocks(text, delimiter)]
    for delimiter, least in ((ALIGNED, _SURE), (SINGLE_BLANKS, 0.0)):
        if _occurs(delimiter, text.text) and _lines_in(found, least) * 2 < len(text.lines):
            found += _blocks(text, delimiter)
    kept: list[Block] = []
    taken: set[int] = set()
    for block in sorted(found, key=lambda one: one.weight, reverse=True):
        if taken.isdisjoint(block.numbers):
            taken.update(block.numbers)
            kept.append(block)
            block.caption = _caption(text, block.numbers[0])
    return sorted(kept, key=lambda one: one.numbers[0])


def _lines_in(found: Sequence[Block], least: float) -> int:
    return sum(len(block.records) for block in found if block.values >= least)


def _occurs(delimiter: str, text: str) -> bool:
    if delimiter == ALIGNED:
        return "  " in text or "\t" in text
    return delimiter in text or (delimiter == PIPES and "^" in text)


def _blocks(text: SourceText, delimiter: str) -> Iterator[Block]:
    records, numbers = _records(text, delimiter)
    for stretch in _stretches(records, numbers, _widths(records, delimiter), delimiter):
        block = _trimmed(stretch, delimiter)
        if block is not None:
            yield block


Counted = tuple[str, int, int]  # record, its line, how many cells


def _records(text: SourceText, delimiter: str) -> tuple[Sequence[str], Sequence[int]]:
    """Lines, and with a quote that stays open the lines up to the one that closes it; with the number of the first of them."""
    lines, numbers = text.lines, text.numbers(0, len(text.lines))
    if delimiter not in ("\t", ";", ",") or '"' not in text.text:
        return lines, numbers
    records: list[str] = []
    firsts: list[int] = []
    index = 0
    while index < len(lines):
        end = _closing(lines, index, delimiter)
        records.append("\n".join(lines[index:end]))
        firsts.append(numbers[index])
        index = end
    return records, firsts


def _closing(lines: Sequence[str], index: int, delimiter: str) -> int:
    line = lines[index]
    if line.count('"') % 2 == 0 or not (line.lstrip().startswith('"') or f'{delimiter}"' in line):
        return index + 1
    for end in range(index + 1, min(index + _LONGEST_RECORD, len(lines))):
        if lines[end].count('"') % 2:
            return end + 1
    return index + 1


def _stretches(
    records: Sequence[str], numbers: Sequence[int], widths: Sequence[int], delimiter: str
) -> Iterator[list[Counted]]:
    """Runs of lines that have cells. A blank line ends a run only where headings follow it."""
    stretch: list[Counted] = []
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


def _is_under_headings(stretch: Sequence[Counted], record: str, delimiter: str) -> bool:
    """`=== ====` as reStructuredText has it under the headings, with one blank where columns have more."""
    return delimiter == ALIGNED and len(stretch) <= 3 and _UNDERLINES.fullmatch(record[:1000]) is not None


def _continues(stretch: Sequence[Counted], record: str, width: int, delimiter: str) -> bool:
    if delimiter in (ALIGNED, SINGLE_BLANKS) and width != stretch[-1][2]:
        return False
    return any(map(is_value, splitter(delimiter)(record)[1:] if '"' not in record else ["1"]))


def _widths(records: Sequence[str], delimiter: str) -> list[int]:
    """How many cells lines have; those of one shape have as many."""
    if delimiter in ("\t", ";", ","):  # that alone costs less than to remember
        found = [record.count(delimiter) + 1 if '"' not in record else _width(record, delimiter) for record in records]
        return [width if 1 < width <= MOST_COLUMNS else 0 for width in found]
    forms = list(map(shape, records))
    known = {form: _width(form, delimiter) for form in set(forms)}
    return [known[form] for form in forms]


def _width(record: str, delimiter: str) -> int:
    """How many cells a line has; 0 where it can be no row."""
    if delimiter == ALIGNED:
        width = count_aligned(record) if "  " in record or "\t" in record else 0
    elif delimiter == SINGLE_BLANKS:
        width = len(splitter(delimiter)(record[:4000])) if any(map(str.isdigit, record[:4000])) else 0
    elif delimiter not in record and not (delimiter == PIPES and record[:1] in "^!"):
        return 0
    elif delimiter == PIPES or '"' in record:
        width = _split_width(record, delimiter)
    else:
        width = record.count(delimiter) + 1
    return width if width <= MOST_COLUMNS else 0


def _split_width(record: str, delimiter: str) -> int:
    try:
        return len(splitter(delimiter)(record))
    except ValueError:
        return 2  # a broken row among others


def _trimmed(stretch: list[Counted], delimiter: str) -> Block | None:
    """The stretch without lines of another width at its ends, unless they hold values."""
    if len(stretch) < 2:
        return None
    width = _most_common([counted[2] for counted in stretch])
    first, last = 0, len(stretch)
    while first < last and stretch[first][2] != width:
        first += 1
    while last > first and stretch[last - 1][2] != width and not _has_values(stretch[last - 1][0], delimiter):
        last -= 1
    rows = stretch[first:last]
    if len(rows) < 2 or width < 2:
        return None
    rows = _with_header(stretch, first, rows, delimiter)
    block = Block(delimiter, width, [row[0] for row in rows], [row[1] for row in rows])
    best, block.values = _shares_of_values(block)
    is_table = block.values >= _LEAST_VALUES if delimiter in (ALIGNED, SINGLE_BLANKS) else best >= _SURE
    return block if is_table else None


def _most_common(widths: Sequence[int]) -> int:
    """The first of those that occur most."""
    if widths.count(widths[0]) * 2 >= len(widths):
        return widths[0]
    return Counter(widths).most_common(1)[0][0]


def _with_header(stretch: list[Counted], first: int, rows: list[Counted], delimiter: str) -> list[Counted]:
    """Headings of aligned columns have often blanks of their own, so that their line counts otherwise."""
    if first and delimiter in (ALIGNED, SINGLE_BLANKS) and not _has_values(stretch[first - 1][0], delimiter):
        return [stretch[first - 1], *rows]
    return rows


def _has_values(record: str, delimiter: str) -> bool:
    try:
        cells = splitter(delimiter)(record) if delimiter != ALIGNED else record.split()
    except ValueError:
        return False
    return values_in(cells) * 3 >= len([cell for cell in cells if cell]) > 0


def _shares_of_values(block: Block) -> tuple[float, float]:
    """In the column that has most of them, and in all cells; of rows from all of the block but its first line."""
    filled: dict[int, int] = {}
    good: dict[int, int] = {}
    for record in block.records[1 :: max(1, len(block.records) // _SAMPLE)]:
        try:
            cells = splitter(block.delimiter)(record) if block.delimiter != ALIGNED else _aligned(record)
        except ValueError:
            continue
        for place, cell in enumerate(cells):
            if cell:
                filled[place] = filled.get(place, 0) + 1
                good[place] = good.get(place, 0) + is_value(cell)
    best = max((good[place] / count for place, count in filled.items()), default=0.0)
    return best, sum(good.values()) / (sum(filled.values()) or 1)


def _aligned(record: str) -> list[str]:
    return [cell.strip() for cell in record.replace("\t", "  ").split("  ") if cell.strip()]


def _caption(text: SourceText, first: int) -> str:
    """Up to three lines above, where a title and the unit of all cells stand; one blank line may be between."""
    place = _index_of(text, first)
    if place and not text.lines[place - 1].strip():
        place -= 1
    above: list[str] = []
    for line in reversed(text.lines[max(0, place - 3) : place]):
        if not line.strip():
            break
        above.insert(0, line.strip()[:300])
    return "\n".join(above)


def _index_of(text: SourceText, number: int) -> int:
    if isinstance(text.numbers(0, 0), range):
        return number - 1
    return bisect_left(range(len(text.lines)), number, key=text.number)
