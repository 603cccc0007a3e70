"""Reading of a table with a person's mapping: runs and samples in base units, and what could not be read with line and column.

`ParseError` is raised where the mapping leaves something open; it names the cells whose decimal mark can be either.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from msgspec import structs

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.tables import cells, units, words
from apps.parsers.tables.cells import CellError, CellReading
from apps.parsers.tables.grid import CellRow, GridColumn, TableGrid
from apps.parsers.tables.guess import add_marks, get_name, list_questions
from apps.parsers.tables.mapping import BESIDE, COUNTS, LABEL, QUALITIES, SIZES, ColumnMapping, ColumnRole

_LARGEST = {**dict.fromkeys(SIZES, 2**63 - 1), **dict.fromkeys(COUNTS, 2**31 - 1)}
_SIZE = re.compile(r"([0-9][0-9.,' ]*?)\s?([A-Za-z]{0,8})")
_LONGEST_NAME = 120


def read_dimension(word: str, cell: str, unit: str, mapping: ColumnMapping) -> str:
    """Return what a cell or heading says a value is about, in the mapping's words: whole numbers as digits, sizes in bytes.

    Raises:
        CellError: with what was expected.
    """
    text = cells.clean(cell)
    text = mapping.meanings.get(word, {}).get(text, text)
    if word in _LARGEST:
        return _read_whole(word, text, unit, mapping)
    if word == "operation":
        alone = text.replace(units.find_unit(text), "").strip(" ()[],;:") if units.find_unit(text) else text
        return _require_known(words.find_operation(text) or words.find_operation(alone), "an operation")
    if word == "metric":
        return _require_known(words.find_metric(text), "a metric")
    if word == "unit":
        return _choose_unit(text, mapping)
    return text[:_LONGEST_NAME]


def _require_known(known_word: str, expected: str) -> str:
    if not known_word:
        raise CellError(f"{expected} that is known, or its meaning in the mapping")
    return known_word


def _choose_unit(text: str, mapping: ColumnMapping) -> str:
    chosen = mapping.units.get(text, "")
    meanings = (chosen,) if chosen else units.get_meanings(text)
    if len(meanings) != 1:
        raise CellError(f"a choice between {' and '.join(meanings)}" if meanings else "a unit")
    return meanings[0]


def _read_whole(word: str, text: str, unit: str, mapping: ColumnMapping) -> str:
    if len(text) < 10 and text.isdigit() and text.isascii():
        factor = _choose_factor("", unit, mapping) if word in SIZES else Decimal(1)
        return _check_range(word, int(text) * factor)
    match = _SIZE.fullmatch(text) if len(text) < 40 else None
    if match is None or (match[2] and word not in SIZES):
        raise CellError("a whole number" if word not in SIZES else "a size")
    factor = _choose_factor(match[2], unit, mapping) if word in SIZES else Decimal(1)
    return _check_range(word, cells.parse_number(match[1].rstrip(), mapping.decimal, mapping.thousands) * factor)


def _check_range(word: str, value: Decimal) -> str:
    if value != value.to_integral_value() or not 0 <= value <= _LARGEST[word]:
        raise CellError("a whole number" + (" of bytes" if word in SIZES else "") + f" up to {_LARGEST[word]}")
    return str(int(value))


def _choose_factor(printed: str, unit: str, mapping: ColumnMapping) -> Decimal:
    """Return the factor of the size's own unit, which wins, or of the one that the mapping has for bare numbers."""
    name = unit
    if printed:
        meanings = units.get_meanings(printed)
        chosen = mapping.units.get(printed, "") or (unit if unit in meanings else "")
        name = chosen or (meanings[0] if len(meanings) == 1 else "")
    if not name or units.UNITS[name].base != "B":
        raise CellError(f"a mapping that says which unit of size {printed or 'bare numbers'!r} is")
    return units.UNITS[name].factor


_MOST_BROKEN = 100
_MOST_KNOWN = 10_000
_MOST_IN_A_ROW = 2_000  # unreadable places without a value between them, after which reading stops
_MOST_RUNS = 10_000
_LONGEST_PRINTED = 80
_TRANSCRIBED = ("ocr_repaired", "read_from_text")
_POINT = (*SIZES, *COUNTS)
Dimensions = dict[str, str]


def read(grid: TableGrid, mapping: ColumnMapping) -> ParsedFile:
    """Read a table with a mapping.

    Raises:
        ParseError: if the mapping leaves a question open.
    """
    if open_questions := list_questions(grid, mapping):
        message = f"needs a mapping: {' '.join(open_questions)}"
        raise ParseError(message, line=grid.first_line, found=grid.excerpt, expected="a mapping that answers it")
    reader = _TableReader(grid, add_marks(grid, mapping))
    for row in grid.rows:
        if reader.has_given_up(row):
            break
        reader.read_row(row)
    return reader.make_file()


@dataclass
class _TableRun:
    """The samples of one run."""

    dimensions: Dimensions
    samples: list[ParsedSample] = field(default_factory=list)
    measures: set[tuple[object, ...]] = field(default_factory=set)


class _TableReader:
    def __init__(self, grid: TableGrid, mapping: ColumnMapping) -> None:
        self.grid, self.mapping = grid, mapping
        self.runs: dict[tuple[tuple[str, str], ...], _TableRun] = {}
        self.broken: list[Broken] = []
        self.unlisted = self.in_a_row = 0
        self.end = ""
        self.last: Dimensions = {}
        self.known: dict[tuple[str, str, str], str] = {}
        roles = sorted(mapping.columns.items())
        others = ("value", "cpu", "ignore", *BESIDE)
        self.rows_say = [(grid.columns[i], role) for i, role in roles if role.word not in others]
        self.beside = {role.word: i for i, role in roles if role.word in BESIDE}
        self.values = [(grid.columns[i], role, self._find_cpu_column(i)) for i, role in roles if role.word == "value"]
        self.headings = {column.index: self._read_heading(column, role) for column, role, _ in self.values}
        self.of_all = {index: mapping.fixed | heading for index, heading in self.headings.items()}
        self.telling = self._list_separating()
        self.printed: dict[tuple[int, str], str] = {}
        self.repeated = {
            row.cells for row in grid.header if not any(map(cells.HAS_DIGIT, row.cells))
        }  # headings, which may be repeated on each page

    def _find_cpu_column(self, index: int) -> tuple[GridColumn, ColumnRole] | None:
        """Return the CPU column of a value: the first behind it before the next value, or the only one of the row."""
        roles = self.mapping.columns
        cpu_columns = [place for place, role in sorted(roles.items()) if role.word == "cpu"]
        following = min(
            (place for place, role in roles.items() if role.word == "value" and place > index), default=10**9
        )
        mine = [place for place in cpu_columns if index < place < following]
        if not mine and sum(role.word == "value" for role in roles.values()) == 1:
            mine = cpu_columns
        return (self.grid.columns[mine[0]], roles[mine[0]]) if mine else None

    def _read_heading(self, column: GridColumn, role: ColumnRole) -> Dimensions:
        word = self.mapping.headings
        if not word or word in role.fixed:
            return {}
        try:
            return {word: read_dimension(word, column.heading, self.mapping.heading_unit, self.mapping)}
        except CellError as error:
            line = self.grid.header[0].line if self.grid.header else self.grid.first_line
            expected = f"{error} as the heading of column {column.index + 1}"
            raise ParseError("needs a mapping", line=line, found=column.heading, expected=expected) from None

    def _list_separating(self) -> list[str]:
        """Return the words, in their order, that distinguish this table's runs."""
        mapping = self.mapping
        statements = [
            mapping.fixed,
            *mapping.pair,
            *self.headings.values(),
            *(role.fixed for _, role, _ in self.values),
        ]
        words = {word for statement in statements for word in statement} | {role.word for _, role in self.rows_say}
        return sorted(filter(_separates_runs, words))

    def has_given_up(self, row: CellRow) -> bool:
        """Return whether nothing could be read for so long that reading stops before this row."""
        if self.in_a_row >= _MOST_IN_A_ROW:
            self.end = f"nothing is read from line {row.line} on: {self.in_a_row:,} places before it could not be read"
        return bool(self.end)

    def read_row(self, row: CellRow) -> None:
        if row.problem:
            self._break(
                Broken(
                    row.problem,
                    row.line,
                    " | ".join(row.cells)[:200],
                    f"{len(self.grid.columns)} cells in known columns",
                )
            )
            return
        if not any(row.cells) or row.cells in self.repeated:
            return
        dimensions = self._read_dimensions(row)
        if dimensions is None:
            return
        for column, role, cpu in self.values:
            self._read_cell(row, dimensions, column, role, cpu)

    def _read_dimensions(self, row: CellRow) -> Dimensions | None:
        dimensions: Dimensions = {}
        for column, role in self.rows_say:
            cell = row.cells[column.index]
            if not cell and self.mapping.fill_down:
                cell = self.last.get(role.word, "")
            self.last[role.word] = cell
            try:
                dimensions[role.word] = self._read_dimension(role, cell)
            except CellError as error:
                self._break(_make_broken(row.line, column, cell, str(error)))
                return None
        return dimensions

    def _read_dimension(self, role: ColumnRole, cell: str) -> str:
        """Return the dimension in a cell, cached because cells repeat from row to row."""
        key = role.word, role.unit, cell
        if key not in self.known:
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            self.known[key] = read_dimension(role.word, cell, role.unit, self.mapping)
        return self.known[key]

    def _read_cell(
        self,
        row: CellRow,
        dimensions: Dimensions,
        column: GridColumn,
        role: ColumnRole,
        cpu: tuple[GridColumn, ColumnRole] | None,
    ) -> None:
        cell = row.cells[column.index]
        where = self.of_all[column.index] | dimensions | role.fixed
        if role.unit:
            where["unit"] = role.unit
        try:
            if beside := self._find_unit_beside(self.last.get("operation", ""), where.get("unit", "")):
                where["unit"] = beside
            share = self._read_cpu(row, *cpu) if cpu else None
            halves = self._iterate_halves(cell, column) if self.mapping.pair_separator else ((cell, {}),)
            for printed, half in halves:
                here = where | half if half else where
                sample = self._make_sample(printed, row.line, column, here, share)
                self._add_sample(here, self._add_beside(sample, row, printed, here) if self.beside else sample)
        except CellError as error:
            self._break(_make_broken(row.line, column, cell, str(error)))

    def _find_unit_beside(self, cell: str, stated: str) -> str:
        """Return the unit that a row prints beside its operation, `seeks (/s)`, which replaces that of the table; "" where there is none."""
        printed = units.find_unit(cell)
        meanings = units.get_meanings(printed) if printed else ()
        if not meanings or stated in meanings:
            return ""
        chosen = self.mapping.units.get(printed, "") or (meanings[0] if len(meanings) == 1 else "")
        if not chosen:
            raise CellError(f"a mapping that says which unit {printed!r} is")
        return chosen

    def _read_cpu(self, row: CellRow, column: GridColumn, role: ColumnRole) -> float | None:
        reading = self._read(row.cells[column.index])
        if reading.value is None:
            return None
        unit = reading.unit or role.unit
        if unit not in ("%", "fraction") or (reading.unit and role.unit == "fraction"):
            raise CellError("a CPU load in % or as a fraction, as the mapping says")
        return float(reading.value * units.UNITS[unit].factor)

    def _iterate_halves(self, cell: str, column: GridColumn) -> Iterator[tuple[str, Dimensions]]:
        mark, pair = self.mapping.pair_separator, self.mapping.pair
        if not mark or column.kind != "pair":
            yield cell, {}
            return
        if not pair[0] and not pair[1]:
            raise CellError("a mapping that says which half of the pair is what")
        parts = (
            [cell, cell]
            if cells.explain_missing(cells.clean(cell), self.mapping.missing)
            else cells.split_pair(cell, mark)
        )
        if len(parts) != 2:
            raise CellError(f"two values with {mark!r} between them")
        yield from zip(parts, pair, strict=True)

    def _read(self, cell: str) -> CellReading:
        return cells.read(cell, self.mapping.decimal, self.mapping.thousands, self.mapping.missing)

    def _make_sample(
        self, cell: str, line: int, column: GridColumn, where: Dimensions, cpu: float | None
    ) -> ParsedSample:
        reading = self._read(cell)
        unit_name = self._require_unit(reading, where)
        unit = units.UNITS[unit_name]
        of_unit = (
            words.METRIC_OF_BASE.get(unit.base) or words.find_metric(reading.unit) or words.find_metric(column.unit)
        )
        metric = where.get("metric") or of_unit
        if not metric or words.METRICS.get(metric) != unit.base:
            raise CellError(f"a metric in {unit.base or 'counts'}, the mapping says {metric or 'none'}")
        printed_unit = "" if reading.unit or reading.missing_reason else " " + self._get_printed_name(column, unit_name)
        point: dict[str, Any] = {word: int(where[word]) for word in _POINT if word in where}
        return ParsedSample(
            operation=where["operation"], metric=metric, value=_scale(reading.value, unit),
            **point,
            printed=f"{cells.clean(cell)}{printed_unit}"[:_LONGEST_PRINTED],
            line=line, quality=reading.quality or self.mapping.quality, missing_reason=reading.missing_reason,
            low=_scale(reading.low, unit), high=_scale(reading.high, unit), cpu=cpu, note=reading.note,
        )  # fmt: skip

    def _add_beside(self, sample: ParsedSample, row: CellRow, cell: str, where: Dimensions) -> ParsedSample:
        """Return the sample with what the row's other columns state about its value."""
        stated = {word: text for word, i in self.beside.items() if (text := row.cells[i].strip())}
        unit = units.UNITS[self._require_unit(self._read(cell), where)]
        return structs.replace(
            sample,
            quality=_read_quality(stated["quality"]) if "quality" in stated else sample.quality,
            printed=stated.get("printed", sample.printed)[:_LONGEST_PRINTED],
            note="; ".join(filter(None, [sample.note, stated.get("remark")])),
            missing_reason="" if sample.value is not None else stated.get("missing", sample.missing_reason),
            alternatives=tuple(self._iterate_alternatives(stated.get("alternatives", ""), unit)),
        )

    def _iterate_alternatives(self, text: str, unit: units.TableUnit) -> Iterator[float]:
        """Yield the numbers of `29500|39500` in the value's unit."""
        for part in filter(None, text.split("|")):
            value = _scale(cells.parse_number(part.strip(), self.mapping.decimal, self.mapping.thousands), unit)
            if value is not None:
                yield value

    def _require_unit(self, reading: CellReading, where: Dimensions) -> str:
        """Return the unit of the mapping, which must be one that the cell's own can mean."""
        stated = where.get("unit", "")
        if not reading.unit:
            if not stated and reading.missing_reason and (metric := where.get("metric")):
                return next(name for name, unit in units.UNITS.items() if unit.base == words.METRICS[metric])
            if not stated:
                raise CellError("a unit")
            return stated
        if stated and units.UNITS[stated].base == "1/s" and (counted := units.read_counted_unit(reading.unit)):
            return counted
        chosen = self.mapping.units.get(reading.unit, "")
        meanings = (chosen,) if chosen else units.get_meanings(reading.unit)
        if stated in meanings:
            return stated
        if len(meanings) != 1 or (stated and not chosen):
            raise CellError(
                f"a number in {stated}" if stated else f"a mapping that says which unit {reading.unit!r} is"
            )
        return meanings[0]

    def _get_printed_name(self, column: GridColumn, unit_name: str) -> str:
        key = column.index, unit_name
        if key not in self.printed:
            self.printed[key] = self._find_printed_unit(column, unit_name)
        return self.printed[key]

    def _find_printed_unit(self, column: GridColumn, unit_name: str) -> str:
        for printed in (column.unit, units.find_unit(self.grid.caption)):
            if printed and unit_name in units.get_meanings(printed):
                return printed
        return f"[{unit_name}]"  # from the mapping, not from the text

    def _add_sample(self, where: Dimensions, sample: ParsedSample) -> None:
        key = tuple((word, value) for word in self.telling if (value := where.get(word)))
        run = self.runs.get(key)
        if run is None:
            if len(self.runs) >= _MOST_RUNS:
                message = f"more than {_MOST_RUNS} runs; is a column that differs in every row mapped to what it is?"
                raise ParseError(message, line=sample.line)
            run = self.runs[key] = _TableRun(dict(key))
        measure = (sample.operation, sample.metric, sample.file_size, sample.block_size, sample.threads, sample.iodepth)
        if measure in run.measures:
            raise CellError(
                "each measure once in a run; a column that is the repetition or a label would tell them apart"
            )
        run.measures.add(measure)
        run.samples.append(sample)
        self.in_a_row = 0

    def _break(self, broken: Broken) -> None:
        self.in_a_row += 1
        if len(self.broken) < _MOST_BROKEN:
            self.broken.append(broken)
        else:
            self.unlisted += 1

    def make_file(self) -> ParsedFile:
        more = f"{self.unlisted} more places could not be read" if self.unlisted else ""
        warnings = tuple(filter(None, (more, self.end)))
        return ParsedFile(tuple(self._run(run) for run in self.runs.values()), warnings, tuple(self.broken))

    def _run(self, run: _TableRun) -> ParsedRun:
        dimensions = run.dimensions
        lines = [sample.line for sample in run.samples if sample.line]
        return ParsedRun(
            tool=self.mapping.tool or "table",
            tool_version=self.mapping.tool_version,
            samples=tuple(run.samples),
            labels={
                word.removeprefix(LABEL): value for word, value in dimensions.items() if word not in ("host", "target")
            },
            host=dimensions.get("host", ""),
            target=dimensions.get("target", ""),
            caption=self.grid.caption.replace("\n", " "),
            line=min(lines),
            last_line=max(lines),
            is_transcribed=self.mapping.quality in _TRANSCRIBED,
        )


def _separates_runs(word: str) -> bool:
    return word in ("configuration", "host", "target", "repetition") or word.startswith(LABEL)


def _read_quality(text: str) -> str:
    word = text.casefold().replace(" ", "_")
    if word not in QUALITIES:
        raise CellError(f"a quality, one of: {', '.join(QUALITIES)}")
    return word


def _make_broken(line: int, column: GridColumn, cell: str, expected: str) -> Broken:
    return Broken(f"{get_name(column)}: a cell that is no value of its column", line, cell[:200], expected)


def _scale(number: Decimal | None, unit: units.TableUnit) -> float | None:
    if number is None:
        return None
    value = float(number * unit.factor)
    if not math.isfinite(value) or value < 0:
        raise CellError("a finite number that is not negative")
    return value
