"""A table read with a person's mapping: runs and samples in base units, and what could not be read with line and column.

Raises `ParseError` where the mapping leaves something open, naming the cells whose decimal mark can be either.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from msgspec import structs

from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.tables import cells, units, words
from apps.parsers.tables.cells import CellError, Reading
from apps.parsers.tables.dimensions import dimension
from apps.parsers.tables.grid import Column, Grid, Row
from apps.parsers.tables.guessing import name, questions, with_marks
from apps.parsers.tables.mapping import BESIDE, COUNTS, LABEL, QUALITIES, SIZES, Mapping, Role

_MOST_BROKEN = 100
_MOST_KNOWN = 10_000
_MOST_IN_A_ROW = 2_000  # places that could not be read, with no value among them
_MOST_RUNS = 10_000
_LONGEST_PRINTED = 80
_TRANSCRIBED = ("ocr_repaired", "read_from_text")
_POINT = (*SIZES, *COUNTS)
Dimensions = dict[str, str]


def read(grid: Grid, mapping: Mapping) -> ParsedFile:
    if open_questions := questions(grid, mapping):
        message = f"needs a mapping: {' '.join(open_questions)}"
        raise ParseError(message, line=grid.first_line, found=grid.shown, expected="a mapping that answers it")
    reader = _Reader(grid, with_marks(grid, mapping))
    for row in grid.rows:
        if reader.has_given_up(row):
            break
        reader.take(row)
    return reader.file()


@dataclass
class _Run:
    dimensions: Dimensions
    samples: list[ParsedSample] = field(default_factory=list)
    measures: set[tuple[object, ...]] = field(default_factory=set)


class _Reader:
    def __init__(self, grid: Grid, mapping: Mapping) -> None:
        self.grid, self.mapping = grid, mapping
        self.runs: dict[tuple[tuple[str, str], ...], _Run] = {}
        self.broken: list[Broken] = []
        self.unlisted = self.in_a_row = 0
        self.end = ""
        self.last: Dimensions = {}
        self.known: dict[tuple[str, str, str], str] = {}
        roles = sorted(mapping.columns.items())
        others = ("value", "cpu", "ignore", *BESIDE)
        self.rows_say = [(grid.columns[i], role) for i, role in roles if role.word not in others]
        self.beside = {role.word: i for i, role in roles if role.word in BESIDE}
        self.values = [(grid.columns[i], role, self._cpu_of(i)) for i, role in roles if role.word == "value"]
        self.headings = {column.index: self._heading(column, role) for column, role, _ in self.values}
        self.of_all = {index: mapping.fixed | heading for index, heading in self.headings.items()}
        self.telling = self._telling()
        self.printed: dict[tuple[int, str], str] = {}
        self.repeated = {
            row.cells for row in grid.header if not any(map(cells.HAS_DIGIT, row.cells))
        }  # at the top of each page

    def _cpu_of(self, index: int) -> tuple[Column, Role] | None:
        """The CPU column of a value: the first behind it before the next value, or the only one of the row."""
        roles = self.mapping.columns
        found = [place for place, role in sorted(roles.items()) if role.word == "cpu"]
        following = min(
            (place for place, role in roles.items() if role.word == "value" and place > index), default=10**9
        )
        mine = [place for place in found if index < place < following]
        if not mine and sum(role.word == "value" for role in roles.values()) == 1:
            mine = found
        return (self.grid.columns[mine[0]], roles[mine[0]]) if mine else None

    def _heading(self, column: Column, role: Role) -> Dimensions:
        word = self.mapping.headings
        if not word or word in role.fixed:
            return {}
        try:
            return {word: dimension(word, column.heading, self.mapping.heading_unit, self.mapping)}
        except CellError as error:
            line = self.grid.header[0].line if self.grid.header else self.grid.first_line
            expected = f"{error} as the heading of column {column.index + 1}"
            raise ParseError("needs a mapping", line=line, found=column.heading, expected=expected) from None

    def _telling(self) -> list[str]:
        """The words, in their order, that tell this table's runs apart."""
        mapping = self.mapping
        said = [mapping.fixed, *mapping.pair, *self.headings.values(), *(role.fixed for _, role, _ in self.values)]
        words = {word for one in said for word in one} | {role.word for _, role in self.rows_say}
        return sorted(filter(_tells_runs_apart, words))

    def has_given_up(self, row: Row) -> bool:
        """Whether nothing could be read for so long that this row would not be the first that can."""
        if self.in_a_row >= _MOST_IN_A_ROW:
            self.end = f"nothing is read from line {row.line} on: {self.in_a_row:,} places before it could not be read"
        return bool(self.end)

    def take(self, row: Row) -> None:
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
        said = self._said_by(row)
        if said is None:
            return
        for column, role, cpu in self.values:
            self._take_cell(row, said, column, role, cpu)

    def _said_by(self, row: Row) -> Dimensions | None:
        said: Dimensions = {}
        for column, role in self.rows_say:
            cell = row.cells[column.index]
            if not cell and self.mapping.fill_down:
                cell = self.last.get(role.word, "")
            self.last[role.word] = cell
            try:
                said[role.word] = self._dimension(role, cell)
            except CellError as error:
                self._break(_broken(row.line, column, cell, str(error)))
                return None
        return said

    def _dimension(self, role: Role, cell: str) -> str:
        """Cells of dimensions repeat from row to row."""
        key = role.word, role.unit, cell
        if key not in self.known:
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            self.known[key] = dimension(role.word, cell, role.unit, self.mapping)
        return self.known[key]

    def _take_cell(
        self, row: Row, said: Dimensions, column: Column, role: Role, cpu: tuple[Column, Role] | None
    ) -> None:
        cell = row.cells[column.index]
        where = self.of_all[column.index] | said | role.fixed
        if role.unit:
            where["unit"] = role.unit
        try:
            if beside := self._unit_beside(self.last.get("operation", ""), where.get("unit", "")):
                where["unit"] = beside
            share = self._cpu(row, *cpu) if cpu else None
            halves = self._halves(cell, column) if self.mapping.pair_separator else ((cell, {}),)
            for printed, half in halves:
                here = where | half if half else where
                sample = self._sample(printed, row.line, column, here, share)
                self._keep(here, self._told_of(sample, row, printed, here) if self.beside else sample)
        except CellError as error:
            self._break(_broken(row.line, column, cell, str(error)))

    def _unit_beside(self, cell: str, said: str) -> str:
        """The unit that a row prints beside its operation, `seeks (/s)`: it is the row's, whatever holds for the others."""
        printed = units.found_in(cell)
        meanings = units.meanings(printed) if printed else ()
        if not meanings or said in meanings:
            return ""
        chosen = self.mapping.units.get(printed, "") or (meanings[0] if len(meanings) == 1 else "")
        if not chosen:
            raise CellError(f"a mapping that says which unit {printed!r} is")
        return chosen

    def _cpu(self, row: Row, column: Column, role: Role) -> float | None:
        reading = self._read(row.cells[column.index])
        if reading.value is None:
            return None
        unit = reading.unit or role.unit
        if unit not in ("%", "fraction") or (reading.unit and role.unit == "fraction"):
            raise CellError("a CPU load in % or as a fraction, as the mapping says")
        return float(reading.value * units.UNITS[unit].factor)

    def _halves(self, cell: str, column: Column) -> Iterator[tuple[str, Dimensions]]:
        mark, pair = self.mapping.pair_separator, self.mapping.pair
        if not mark or column.kind != "pair":
            yield cell, {}
            return
        if not pair[0] and not pair[1]:
            raise CellError("a mapping that says which half of the pair is what")
        parts = [cell, cell] if cells.missing(cells.clean(cell), self.mapping.missing) else cells.halves(cell, mark)
        if len(parts) != 2:
            raise CellError(f"two values with {mark!r} between them")
        yield from zip(parts, pair, strict=True)

    def _read(self, cell: str) -> Reading:
        return cells.read(cell, self.mapping.decimal, self.mapping.thousands, self.mapping.missing)

    def _sample(self, cell: str, line: int, column: Column, where: Dimensions, cpu: float | None) -> ParsedSample:
        reading = self._read(cell)
        unit_name = self._unit(reading, where)
        unit = units.UNITS[unit_name]
        of_unit = words.METRIC_OF_BASE.get(unit.base) or words.metric(reading.unit) or words.metric(column.unit)
        metric = where.get("metric") or of_unit
        if not metric or words.METRICS.get(metric) != unit.base:
            raise CellError(f"a metric in {unit.base or 'counts'}, the mapping says {metric or 'none'}")
        printed_unit = "" if reading.unit or reading.missing_reason else " " + self._as_printed(column, unit_name)
        point: dict[str, Any] = {word: int(where[word]) for word in _POINT if word in where}
        return ParsedSample(
            operation=where["operation"], metric=metric, value=_scaled(reading.value, unit),
            **point,
            printed=f"{cells.clean(cell)}{printed_unit}"[:_LONGEST_PRINTED],
            line=line, quality=reading.quality or self.mapping.quality, missing_reason=reading.missing_reason,
            low=_scaled(reading.low, unit), high=_scaled(reading.high, unit), cpu=cpu, note=reading.note,
        )  # fmt: skip

    def _told_of(self, sample: ParsedSample, row: Row, cell: str, where: Dimensions) -> ParsedSample:
        """With what the row's other columns say of its value."""
        said = {word: text for word, i in self.beside.items() if (text := row.cells[i].strip())}
        unit = units.UNITS[self._unit(self._read(cell), where)]
        return structs.replace(
            sample,
            quality=_quality(said["quality"]) if "quality" in said else sample.quality,
            printed=said.get("printed", sample.printed)[:_LONGEST_PRINTED],
            note="; ".join(filter(None, [sample.note, said.get("remark")])),
            missing_reason="" if sample.value is not None else said.get("missing", sample.missing_reason),
            alternatives=tuple(self._alternatives(said.get("alternatives", ""), unit)),
        )

    def _alternatives(self, text: str, unit: units.Unit) -> Iterator[float]:
        """`29500|39500` in the value's unit."""
        for one in filter(None, text.split("|")):
            value = _scaled(cells.number(one.strip(), self.mapping.decimal, self.mapping.thousands), unit)
            if value is not None:
                yield value

    def _unit(self, reading: Reading, where: Dimensions) -> str:
        """The unit of the mapping, which must be one that the cell's own can mean."""
        said = where.get("unit", "")
        if not reading.unit:
            if not said and reading.missing_reason and (metric := where.get("metric")):
                return next(name for name, unit in units.UNITS.items() if unit.base == words.METRICS[metric])
            if not said:
                raise CellError("a unit")
            return said
        if said and units.UNITS[said].base == "1/s" and (counted := units.counted(reading.unit)):
            return counted
        chosen = self.mapping.units.get(reading.unit, "")
        meanings = (chosen,) if chosen else units.meanings(reading.unit)
        if said in meanings:
            return said
        if len(meanings) != 1 or (said and not chosen):
            raise CellError(f"a number in {said}" if said else f"a mapping that says which unit {reading.unit!r} is")
        return meanings[0]

    def _as_printed(self, column: Column, unit_name: str) -> str:
        key = column.index, unit_name
        if key not in self.printed:
            self.printed[key] = self._printed_unit(column, unit_name)
        return self.printed[key]

    def _printed_unit(self, column: Column, unit_name: str) -> str:
        for printed in (column.unit, units.found_in(self.grid.caption)):
            if printed and unit_name in units.meanings(printed):
                return printed
        return f"[{unit_name}]"  # the mapping's, not the text's

    def _keep(self, where: Dimensions, sample: ParsedSample) -> None:
        key = tuple((word, value) for word in self.telling if (value := where.get(word)))
        run = self.runs.get(key)
        if run is None:
            if len(self.runs) >= _MOST_RUNS:
                message = f"more than {_MOST_RUNS} runs; is a column that differs in every row mapped to what it is?"
                raise ParseError(message, line=sample.line)
            run = self.runs[key] = _Run(dict(key))
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

    def file(self) -> ParsedFile:
        more = f"{self.unlisted} more places could not be read" if self.unlisted else ""
        warnings = tuple(filter(None, (more, self.end)))
        return ParsedFile(tuple(self._run(run) for run in self.runs.values()), warnings, tuple(self.broken))

    def _run(self, run: _Run) -> ParsedRun:
        said = run.dimensions
        lines = [sample.line for sample in run.samples if sample.line]
        return ParsedRun(
            tool=self.mapping.tool or "table",
            tool_version=self.mapping.tool_version,
            samples=tuple(run.samples),
            labels={word.removeprefix(LABEL): value for word, value in said.items() if word not in ("host", "target")},
            host=said.get("host", ""),
            target=said.get("target", ""),
            caption=self.grid.caption.replace("\n", " "),
            line=min(lines),
            last_line=max(lines),
            is_transcribed=self.mapping.quality in _TRANSCRIBED,
        )


def _tells_runs_apart(word: str) -> bool:
    return word in ("configuration", "host", "target", "repetition") or word.startswith(LABEL)


def _quality(text: str) -> str:
    word = text.casefold().replace(" ", "_")
    if word not in QUALITIES:
        raise CellError(f"a quality, one of: {', '.join(QUALITIES)}")
    return word


def _broken(line: int, column: Column, cell: str, expected: str) -> Broken:
    return Broken(f"{name(column)}: a cell that is no value of its column", line, cell[:200], expected)


def _scaled(number: Decimal | None, unit: units.Unit) -> float | None:
    if number is None:
        return None
    value = float(number * unit.factor)
    if not math.isfinite(value) or value < 0:
        raise CellError("a finite number that is not negative")
    return value
