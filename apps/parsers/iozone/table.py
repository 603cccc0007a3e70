"""Reader of IOzone's table of `-a`, and of a single test without it; described in `format.py`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import mul
from typing import Annotated

import msgspec

from apps.parsers.core.models import Broken, ParsedSample, ParsedTable
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone.banner import KIB
from apps.parsers.iozone.columns import HEADER, ROW, TableColumns, place_figures
from apps.parsers.iozone.failures import find_failure
from apps.parsers.iozone.run import IozoneDraft

GREATEST = 10**15
LONGEST_ROW = 400
# decodes and checks figures in a quarter of the time that float() takes for each
_FIGURES = msgspec.json.Decoder(list[Annotated[float, msgspec.Meta(gt=0, lt=GREATEST)]])


@dataclass(slots=True)
class PlainRows:
    """Rows of one width below one another: their sizes as printed, and their figures, row by row.

    Nearly all rows have all their figures and nothing else. To handle a block of them at once takes half the time of
    one by one. `numbers` holds the sizes and then the figures; it is empty where a word is no plain number above zero.
    """

    file_sizes: list[str]
    block_sizes: list[str]
    figures: list[str]
    numbers: list[float]

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return len(self.file_sizes)

    @property
    def points(self) -> list[tuple[str, str]]:
        """Return (file size, record size) of each row, as printed."""
        return list(zip(self.file_sizes, self.block_sizes, strict=True))

    def part(self, start: int, end: int) -> "PlainRows":
        """Return the rows from `start` up to `end`."""
        width = len(self.figures) // self.count if self.count else 0
        file_sizes, block_sizes = self.file_sizes[start:end], self.block_sizes[start:end]
        return make_rows(file_sizes, block_sizes, self.figures[start * width : end * width])

    def sizes(self) -> tuple[list[int], list[int]]:
        """Return the file sizes and the record sizes in bytes."""
        known = {
            size: int(size) * KIB for size in {*self.file_sizes, *self.block_sizes}
        }  # a table has few different sizes
        return list(map(known.__getitem__, self.file_sizes)), list(map(known.__getitem__, self.block_sizes))


def read_rows(lines: Sequence[str], width: int) -> PlainRows:
    """Read the rows of `width` words with which `lines` begin."""
    words: list[str] = []
    for line in lines:
        row_words = line.split()
        if len(row_words) != width or len(line) >= LONGEST_ROW:
            break
        words += row_words
    file_sizes, block_sizes = words[::width], words[1::width]
    del words[::width]
    del words[:: width - 1]
    return make_rows(file_sizes, block_sizes, words)


def make_rows(file_sizes: list[str], block_sizes: list[str], figures: list[str]) -> PlainRows:
    """Return rows with their numbers."""
    return PlainRows(file_sizes, block_sizes, figures, parse_numbers(file_sizes + block_sizes + figures))


def parse_numbers(words: Sequence[str]) -> list[float]:
    """Return the words as numbers; [] unless all are digits, above zero and of a sensible length."""
    text = ",".join(words)
    if not words or "." in text or "e" in text or "E" in text:
        return []
    try:
        numbers = _FIGURES.decode(f"[{text}]")
    except msgspec.MsgspecError:
        return []
    return numbers if len(numbers) == len(words) else []  # a word with a comma in it is no number


def is_like_row(line: str, width: int) -> bool:
    """Return whether nearly all words are numbers, and the others contain a digit or are a single letter."""
    words = line.split() if len(line) < LONGEST_ROW else []
    others = [word for word in words if not word.isdigit()]
    is_alike = all(len(word) == 1 or any(letter.isdigit() for letter in word) for word in others)
    return 2 < len(words) <= width and len(others) < 3 and is_alike


def ends_in_figure(text: SourceText, origin: int) -> bool:
    """Return whether the text ends before the column in which the row above ends: figures are right-aligned.

    `origin` is where the record size ends.
    """
    if len(text.lines) < 2 or text.text.endswith(("\n", "\r")):
        return False
    rows = [line.rstrip() for line in text.lines[-2:]]
    are_aligned = all(ROW(row) and len(row[:origin].split()) == 2 and row[origin - 1 :][:1].isdigit() for row in rows)
    return are_aligned and len(rows[1]) < len(rows[0])


_BETWEEN = (  # what IOzone prints between rows (begin() in iozone.c)
    "The test completed too quickly", "You will get a more precise", "performance by re-running", "iozone ",
    "I/O error during read", "Can not open", "Timer resolution is poor", "reported inaccurate results",
)  # fmt: skip
_END = ("iozone test complete", "Iozone: Performance Test", "Excel output is below", "exiting iozone")
_LONGEST_NAME = 5  # words
_LONGEST_REMARK = 200
_MOST_STRANGE = 3
_MOST_BROKEN = 1000
_MOST_AT_ONCE = 128
_ZERO, _NONE = repeat(0), repeat(None)
_MISFIT = "a row that does not fit the header"
_CELL_PLACES = "as many figures as the header has columns, or figures under its words"


@dataclass(slots=True)
class TableReader:
    """A reader of the rows of one table.

    `spans` and `operations` are those of the last row that did not have all figures: the next one is usually laid out
    like it.
    """

    text: SourceText
    columns: TableColumns
    draft: IozoneDraft
    is_wrapped: bool = False
    broken: list[Broken] = field(default_factory=list)
    spans: tuple[tuple[int, int], ...] = ()
    operations: tuple[str, ...] = ()
    is_at_repeat: bool = False
    damaged: int = 0
    at_once: int = _MOST_AT_ONCE  # rows
    unit: tuple[str, str, float, str] = field(init=False)
    mark: str = field(init=False)  # joins the figures of a row, so that each has its unit
    metrics: "repeat[str]" = field(init=False)
    factors: "repeat[float]" = field(init=False)
    is_usual: bool = field(init=False)  # every column has an operation, and the unit needs no note
    end: int = field(init=False)  # index behind the last line that may be a row

    def __post_init__(self) -> None:
        self.unit = self.draft.unit()
        self.is_usual = not self.unit[3] and all(self.columns.operations)
        unit, metric, factor, _ = self.unit
        self.mark, self.metrics, self.factors = f" {unit}\n", repeat(metric), repeat(factor)
        self.end = len(self.text.lines) - ends_in_figure(self.text, self.columns.origin)

    def read(self, index: int) -> int:
        """Read rows from `index` on; return the index behind them. It stops before a size that the table already has."""
        lines, draft = self.text.lines, self.draft
        full = len(self.columns.operations) + 2
        while (index := self._read_plain_rows(index, full)) < self.end:
            line, last = lines[index], index
            if ROW(line) is None:
                following = self._find_next_row(index)
                if following is None:
                    break
                index = following
                continue
            tokens = self._split_row(line)
            if self.is_wrapped:
                tokens, last = self._join_row(tokens, index, full)
            if len(tokens) > 2 and not self._is_new(tokens):
                self.is_at_repeat = True
                break
            if len(line) < LONGEST_ROW and len(tokens) == full:
                self._add(tokens, self.columns.operations, index)
            elif last > index:
                self._break(line, index, _MISFIT, _CELL_PLACES)
            else:
                self._add_placed(line, tokens, index)
            draft.last, index = last, last + 1
        if index == self.end < len(lines):
            self._break(lines[index], index, "the text ends in the middle of a row", _CELL_PLACES)
        return index

    def read_labelled(self, index: int) -> bool:
        """Read a row with all its figures in a line that also has a name; return whether there is one."""
        line = self.text.lines[index]
        words = line.split() if len(line) < LONGEST_ROW else []
        width = len(self.columns.operations) + 2
        at = 0 if self._has_remark(words) else max(len(words) - width, 0)
        name, tokens = words[:at] or words[width:], words[at : at + width]
        if not name or (at and not name[0][0].isalpha()) or at > _LONGEST_NAME or ROW(" ".join(tokens)) is None:
            return False
        self.draft.caption = " ".join(name).strip("():|-#<= ")[:_LONGEST_REMARK]
        self.draft.points.add((tokens[0].lstrip("0"), tokens[1].lstrip("0")))
        self._add(tokens, self.columns.operations, index)
        return True

    def _has_remark(self, words: list[str]) -> bool:
        """Return whether somebody's words stand behind a row that has all its figures."""
        width = len(self.columns.operations) + 2
        return len(words) > width and not words[width][0].isdigit() and ROW(" ".join(words[:width])) is not None

    def _read_plain_rows(self, index: int, full: int) -> int:
        """Read rows with every figure and nothing else, as nearly all are; return the index of the first line that is none."""
        lines, at = self.text.lines, index
        is_plain = self.is_usual and at < self.end and len(lines[at].split()) == full
        while is_plain:
            rows = read_rows(lines[at : min(at + self.at_once, self.end)], full)
            is_plain = rows.count == self.at_once
            if self._take_rows(rows, at):
                at += rows.count
                self.at_once = min(2 * self.at_once, _MOST_AT_ONCE)
            else:  # take the rows before the first one that is different
                is_plain, count = False, self._count_plain_and_new(rows)
                self.at_once = max(1, count)
                at += count if count and self._take_rows(rows.part(0, count), at) else 0
        if at > index:
            self.draft.last = at - 1
        return at

    def _count_plain_and_new(self, rows: PlainRows) -> int:
        """Return how many of the first rows are plain and have sizes that did not occur before."""
        if rows.count < 2:
            return 0
        before, seen = self.draft.points, set[tuple[str, str]]()
        for row, point in enumerate(rows.points):
            if point in before or point in seen or not rows.part(row, row + 1).numbers:
                return row
            seen.add(point)
        return rows.count

    def _take_rows(self, rows: PlainRows, index: int) -> bool:
        """Add the rows; return False, and add nothing, where one is not plain or its sizes occurred before."""
        if not rows.numbers:
            return False
        points, known = set(rows.points), self.draft.points
        if len(points) < rows.count or not known.isdisjoint(points):
            return False
        known |= points
        unit, metric, factor, _ = self.unit
        lines = self.text.numbers(index, index + rows.count)
        self.draft.add_rows(ParsedTable(
            self.columns.operations, metric, unit, factor, rows.numbers[2 * rows.count :], rows.figures, *rows.sizes(), list(lines),
        ))  # fmt: skip
        return True

    def _split_row(self, line: str) -> list[str]:
        """Return the words of a row.

        A figure that touches the record size is cut where the header shows its beginning, if the row's file size stands
        below the header's: a post that removes leading blanks moves them apart.
        """
        tokens, origin, size = line.split(), self.columns.origin, self.columns.size
        if (
            len(tokens) < len(self.columns.operations) + 2
            and line[origin - 1 : origin + 1].isdigit()
            and origin < len(line)
            and line[size - 1 : size + 1].rstrip() == line[size - 1]
        ):
            head = line[:origin].split()
            return head + line[origin:].split() if len(head) == 2 and len(line) < LONGEST_ROW else tokens
        return tokens

    def _is_new(self, tokens: list[str]) -> bool:
        point = (tokens[0].lstrip("0"), tokens[1].lstrip("0"))  # "064" is a damaged "64"
        if point in self.draft.points:
            return False
        self.draft.points.add(point)
        return True

    def _find_next_row(self, index: int) -> int | None:
        """Return the next row behind blank lines, messages of IOzone or a few damaged lines; None where the table ends."""
        lines = self.text.lines
        strange: list[int] = []
        for at in range(index, len(lines)):
            stripped = lines[at].strip()
            if ROW(lines[at]) and self._goes_on(lines[at], bool(strange)):
                for each in strange:
                    self._break(lines[each], each, "a line that is no row of the table", _CELL_PLACES)
                return at
            if len(stripped) < LONGEST_ROW and self._has_remark(stripped.split()):
                break  # a labelled row, which is a run of its own
            if stripped.startswith(_END) or HEADER.search(lines[at]):
                break
            if stripped and not stripped.startswith(_BETWEEN):
                strange.append(at)
                if len(strange) > _MOST_STRANGE:
                    break
        for each in strange:
            if is_like_row(lines[each], len(self.columns.operations) + 2):
                self._break(lines[each], each, "a row that cannot be read", _CELL_PLACES)
        return None

    def _goes_on(self, line: str, is_behind_strange: bool) -> bool:
        """Return whether a row of numbers is one of this table.

        Behind an unknown line it must have all its figures, or its record size below that word of the header.
        """
        tokens, origin = line.split(), self.columns.origin
        if len(tokens) == len(self.columns.operations) + 2:
            return True
        is_in_place = len(line[:origin].split()) == 2 and line[origin - 1 : origin].isdigit()
        return len(tokens) > 2 and (not is_behind_strange or is_in_place)

    def _join_row(self, tokens: list[str], index: int, full: int) -> tuple[list[str], int]:
        """Join a row that a mail program broke into several lines: its rest is indented less and begins with no size."""
        lines = self.text.lines
        depth, size = _count_indent(lines[index]), tokens[0]
        while len(tokens) < full and index + 1 < len(lines) and ROW(lines[index + 1]):
            more = lines[index + 1]
            if _count_indent(more) >= depth > 0 or more.split()[0] in (size, str(2 * int(size[:18]))):
                break
            index += 1
            tokens = tokens + lines[index].split()
        return tokens, index

    def _find_stop(self, index: int) -> str:
        """Return the failure below a row, "" where there is none."""
        lines = self.text.lines
        below = next((at for at in range(index + 1, min(index + 4, len(lines))) if lines[at].strip()), None)
        failure = find_failure(lines, below) if below is not None else None
        return failure.text if failure else ""

    def _add_placed(self, line: str, tokens: list[str], index: int) -> None:
        if not 2 < len(tokens) <= len(self.columns.operations) + 2:
            stopped = self._find_stop(index) if len(tokens) == 2 else ""
            message = f"IOzone stopped before the figures of this row: {stopped}" if stopped else _MISFIT
            self._break(line, index, message, _CELL_PLACES)
            return
        tail = line[line.index(tokens[1], line.index(tokens[0]) + len(tokens[0])) + len(tokens[1]) :]
        behind = self.spans[-1][1] if self.spans else 0
        if len(tail) < behind or [tail[start:end].strip() for start, end in self.spans] != tokens[2:]:
            if self.damaged > _MOST_BROKEN:
                return
            placed = place_figures(tail, self.columns)
            if isinstance(placed, str):
                self._break(line, index, placed, _CELL_PLACES)
                return
            self.spans = tuple((figure.start, figure.end) for figure in placed)
            self.operations = tuple(self.columns.operations[figure.column] for figure in placed)
        self._add([*tokens[:2], *(tail[start:end].strip() for start, end in self.spans)], self.operations, index)

    def _break(self, line: str, index: int, message: str, expected: str) -> None:
        self.damaged += 1
        if self.damaged > _MOST_BROKEN + 1:
            return
        if self.damaged == _MOST_BROKEN + 1:
            message = "rows that cannot be read from here on, too many to look at each"
        self.broken.append(Broken(message, self.text.number(index), line.strip()[:200], expected))

    def _add(self, tokens: list[str], operations: tuple[str, ...], index: int) -> None:
        if self.is_usual and (numbers := parse_numbers(tokens)):
            self._add_plain(numbers, tokens, operations, index)
        elif len(tokens[0]) > 15 or len(tokens[1]) > 15:
            self._break(" ".join(tokens[:2]), index, "a size too large to be one", "kB in at most 15 digits")
        else:
            self.draft.add(self._check_samples(tokens, operations, self.text.number(index)))

    def _add_plain(self, numbers: list[float], tokens: list[str], operations: tuple[str, ...], index: int) -> None:
        figures = self.mark.join(tokens[2:]).split("\n")
        figures[-1] += self.mark[:-1]
        self.draft.add(map(  # a loop would take longer than making the samples
            ParsedSample, operations, self.metrics, map(mul, numbers[2:], self.factors), _ZERO,
            repeat(int(numbers[0]) * KIB), repeat(int(numbers[1]) * KIB), _NONE, _NONE, figures, repeat(self.text.number(index)),
        ))  # fmt: skip

    def _check_samples(self, tokens: list[str], operations: tuple[str, ...], number: int) -> Iterator[ParsedSample]:
        unit, metric, factor, note = self.unit
        file_size = int(tokens[0]) * KIB
        record = int(tokens[1]) * KIB or None  # 0 where a telemetry file has the sizes
        for operation, figure in zip(operations, tokens[2:], strict=True):
            value = int(figure) if len(figure) < 16 else GREATEST
            if operation and 0 < value < GREATEST:
                yield ParsedSample(
                    operation, metric, value * factor, 0, file_size, record, None, None, f"{figure} {unit}", number,
                    note=note,
                )  # fmt: skip
            elif operation:
                yield self._make_missing(operation, metric, value, file_size, record, f"{figure} {unit}"[:100], number)

    def _make_missing(
        self, operation: str, metric: str, value: int, file_size: int, record: int | None, printed: str, number: int
    ) -> ParsedSample:
        """Return the sample of a figure that is missing: IOzone truncates figures to whole numbers, and prints 0 for what -+n leaves out."""
        bounds: tuple[float | None, float | None] = (None, None)
        if value:
            reason = "a figure too large to be one"
        elif self.draft.banner.is_without_retest and operation in ("rewrite", "reread", "frewrite", "freread"):
            reason = "not run"
        elif metric == "latency_mean":
            reason, bounds = "", (0.0, 1000.0)
        else:
            reason = "printed as 0: not run, or less than the smallest figure that IOzone prints"
        return ParsedSample(
            operation, metric, None, 0, file_size, record, None, None, printed, number,
            "exact" if reason else "rounded", reason, *bounds,
        )  # fmt: skip


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())
