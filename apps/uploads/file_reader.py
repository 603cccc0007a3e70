"""One file, parsed by every format that recognises a part of it, with the results joined.

    reading = read_file(SourceText(data, name))

The outputs of several tools in one file do not conflict while each format claims its own lines. Where two formats read
values from the same lines, both readings are returned: the one with the higher confidence is chosen, the other one is
its rival, and a person may choose otherwise.

Only lines that values were read from count as claimed, because a tool that ran during another one prints in the middle
of its report. For a run without known lines (its values are a series) all lines from its first to its last count.

Pure: this module runs in the sandboxed child process that parses untrusted bytes (`sandbox/`).
"""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec
from msgspec import structs

import apps.inventory.discovery.tools  # noqa: F401  registers what the inventory reads
from apps.parsers import tables
from apps.parsers.core.foreign_files import identify_foreign_file
from apps.parsers.core.models import (
    Broken,
    ParsedFile,
    ParsedInventory,
    ParsedRun,
    ParsedSample,
    ParsedSeries,
    ParsedTable,
    ParsedWorkload,
    ParseError,
)
from apps.parsers.core.registry import (
    RECOGNISED,
    Format,
    FormatReading,
    find_unread_output,
    formats,
    get_format,
    read_as,
    recognise,
)
from apps.parsers.core.source_text import SourceText
from apps.parsers.laws import apply_laws
from apps.parsers.tables import ColumnMapping, GridColumn, Marks, TableGrid
from apps.runs.series.arrays import overview, pack
from apps.runs.series.intervals import pack_intervals

_SHOWN = 5  # formats named in an error
MOST_ERRORS = 200
_AS_LONG = "numbers as long as what is measured"
_BLANKS, _HEAD = b"\0\t\n\r ", 4096
MOST_JSON = 32 << 20


@dataclass(frozen=True, slots=True)
class PackedSeries:
    """A `ParsedSeries` as the database keeps it: numbers of a million lines travel and lie as one array."""

    operation: str
    metric: str
    section: int
    source: str
    count: int
    packed: bytes
    overview: list[list[float]]


@dataclass(frozen=True, slots=True)
class PackedHistory:
    """A `ParsedHistory` as the database keeps it."""

    operation: str
    kind: str
    section: int
    packed: bytes


class ReadRun(msgspec.Struct, frozen=True, gc=False):
    """One run as one format reads it. `rivals` are the places, in the file's `runs`, of those that claim its lines."""

    run: ParsedRun  # its series and histories are in `series` and `histories`, packed
    format: str
    confidence: float
    series: tuple[PackedSeries, ...] = ()
    rivals: tuple[int, ...] = ()
    is_chosen: bool = True
    histories: tuple[PackedHistory, ...] = ()

    @property
    def samples(self) -> Sequence[ParsedSample]:
        return self.run.samples

    @property
    def sample_count(self) -> int:
        return len(self.run.samples)

    @property
    def has_values(self) -> bool:
        return any(sample.value is not None for sample in self.run.samples)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all that was read of the run, the same for samples in a table as one by one.

        A field that came later counts only where it is filled, so that the digests of stored runs stay what they are.
        """
        whole = structs.asdict(structs.replace(self.run, samples=tuple(self.run.samples)))
        del whole["histories"]
        later = [self.histories] if self.histories else []
        return hashlib.sha256(msgspec.msgpack.encode([whole, self.series, *later])).hexdigest()


class FormatCandidate(msgspec.Struct, frozen=True, gc=False):
    """A format that was thought of."""

    name: str
    title: str
    confidence: float
    error: Broken | None = None


class FileReading(msgspec.Struct, frozen=True, gc=False):
    """All that was made of a file. `format` is the surest one that found something, empty where none did."""

    format: str = ""
    title: str = ""
    confidence: float = 0.0
    candidates: tuple[FormatCandidate, ...] = ()
    runs: tuple[ReadRun, ...] = ()
    workloads: tuple[ParsedWorkload, ...] = ()
    inventory: tuple[ParsedInventory, ...] = ()
    warnings: tuple[str, ...] = ()
    broken: tuple[Broken, ...] = ()
    error: Broken | None = None  # why nothing was found
    encoding: str = "utf-8"
    table: dict[str, Any] = {}  # for a table: its signature and guessed mapping
    content_sha256: str = ""  # of a JSON document with runs: the same for every way to write it


def read_file(
    text: SourceText, only: str = "", mapping: dict[str, Any] | None = None, *, leaves_out_unfit: bool = False
) -> FileReading:
    """Parse a file with every format that recognises it. Any bytes are accepted; nothing is raised.

    Args:
        only: Name of the only format to parse it as.
        mapping: A person's mapping of the columns of a table, as JSON.
        leaves_out_unfit: Report runs that hold a number of more than 64 bits as broken, for these cannot be stored.
    """
    if not (text.data[:_HEAD].strip(_BLANKS) or text.data.strip(_BLANKS)):
        return FileReading(error=Broken("the file is empty", None, f"{len(text.data)} bytes", "a tool's output"))
    if mapping is not None:
        readings = [read_mapped(text, mapping)]
    else:
        parts = text.by_host() if not only else [("", text)]
        readings = [_of_host(reading, host) for host, part in parts for reading in _readings(part, only)]
    if leaves_out_unfit:
        readings = [_fit(reading) for reading in readings]
    reading = _joined(readings, text, mapping)
    return structs.replace(reading, content_sha256=digest_of_json(text.data)) if reading.runs else reading


def digest_of_json(data: bytes) -> str:
    """Return the SHA-256 of what a JSON document says, whatever its blanks and the order of its names.

    Empty for anything else, for what follows or precedes a document in its file, and beyond `MOST_JSON` bytes.
    """
    text = data.strip(_BLANKS)
    if len(text) > MOST_JSON or not text.startswith((b"{", b"[")):
        return ""
    try:
        document = json.loads(text, object_pairs_hook=_in_order, parse_float=_read_number)
        canonical = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
    except (ValueError, RecursionError, MemoryError):  # what was read of the file is not lost for it
        return ""
    return hashlib.sha256(canonical.encode()).hexdigest()


def _read_number(text: str) -> float | int:
    """Return a number with a point; a whole one as an integer, for fio prints 0.000000 where other programs write 0."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _in_order(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object as its names and values in the order of the names; fio writes some names twice, and all count."""
    return {"object": sorted(pairs, key=lambda pair: pair[0])}


def _fit(reading: FormatReading) -> FormatReading:
    """Return the reading without runs that hold a number of more than 64 bits, which are reported as broken instead."""
    result = reading.parsed
    if result is None:
        return reading
    unfit = [run for run in result.runs if not _is_fit(run)]
    broken = [Broken("a number in the run has more than 64 bits", run.line, run.tool, _AS_LONG) for run in unfit]
    runs = tuple(run for run in result.runs if all(run is not other for other in unfit))
    return replace(reading, parsed=replace(result, runs=runs, broken=(*result.broken, *broken)))


def _is_fit(run: ParsedRun) -> bool:
    try:
        msgspec.msgpack.encode(structs.replace(run, series=(), histories=()))
    except OverflowError:
        return False
    return True


def _readings(text: SourceText, only: str) -> list[FormatReading]:
    if only:
        return [read_as(get_format(only), text)]
    return recognise(text)


def _of_host(reading: FormatReading, host: str) -> FormatReading:
    if not host or reading.parsed is None:
        return reading
    result = reading.parsed
    runs = tuple(structs.replace(run, host=run.host or host) for run in result.runs)
    inventory = tuple(replace(item, host=item.host or host) for item in result.inventory)
    return FormatReading(
        reading.format, reading.confidence, replace(result, runs=runs, inventory=inventory), reading.error
    )


def _joined(readings: Sequence[FormatReading], text: SourceText, mapping: dict[str, Any] | None = None) -> FileReading:
    result = [reading for reading in readings if reading.has_found]
    candidates = tuple(FormatCandidate(r.format.name, r.format.title, r.confidence, r.error) for r in readings)
    encoding = text.encoding
    table = _table(readings, text, mapping)
    if not result:
        return FileReading(
            candidates=candidates, error=_why_not(readings, text), encoding=encoding, table=table,
            broken=_all_broken(readings),
        )  # fmt: skip
    first = max(result, key=lambda item: item.confidence)
    parsed = [item.parsed for item in result if item.parsed]
    runs, quarrels = _with_rivals(
        [_read_run(run, item) for item in result for run in (item.parsed.runs if item.parsed else ())]
    )
    return FileReading(
        format=first.format.name,
        title=first.format.title,
        confidence=first.confidence,
        candidates=candidates,
        runs=runs,
        workloads=tuple(each for item in parsed for each in item.workloads),
        inventory=_surest_inventory(result),
        warnings=tuple(dict.fromkeys([*_warnings(parsed, encoding), *quarrels]))[:MOST_ERRORS],
        broken=_all_broken(readings),
        encoding=encoding,
        table=table,
    )


def _read_run(run: ParsedRun, reading: FormatReading) -> ReadRun:
    series = tuple(_packed(item) for item in run.series)
    histories = tuple(
        PackedHistory(item.operation, item.kind, item.section, pack_intervals(item.times_s, item.bins, item.counts))
        for item in run.histories
    )
    bare = structs.replace(run, series=(), histories=())
    return ReadRun(bare, reading.format.name, reading.confidence, series, histories=histories)


def _packed(series: ParsedSeries) -> PackedSeries:
    return PackedSeries(
        series.operation, series.metric, series.section, series.source, len(series.values),
        pack(series.times_s, series.values), overview(series.times_s, series.values),
    )  # fmt: skip


def _with_rivals(runs: list[ReadRun]) -> tuple[tuple[ReadRun, ...], list[str]]:
    """Return the runs in the order of their lines, with rivals and the choice among them, and a sentence per choice."""
    runs = sorted(runs, key=lambda run: (run.run.line or 0, -run.confidence))
    if len({run.format for run in runs}) < 2:
        return tuple(runs), []
    rivals = overlaps(runs)
    chosen = [_is_surest(place, others, runs) for place, others in enumerate(rivals)]
    joined = tuple(
        structs.replace(run, rivals=rivals[place], is_chosen=chosen[place]) for place, run in enumerate(runs)
    )
    return joined, describe_choices(runs, rivals, chosen)


def _is_surest(place: int, rivals: tuple[int, ...], runs: list[ReadRun]) -> bool:
    mine = (runs[place].confidence, len(runs[place].run.samples), -place)
    return all(mine > (runs[other].confidence, len(runs[other].run.samples), -other) for other in rivals)


def _surest_inventory(readings: Sequence[FormatReading]) -> tuple[ParsedInventory, ...]:
    """Return the inventory outputs; of several readings of the same lines only the one with the highest confidence."""
    taken: list[tuple[int, int]] = []
    outputs: list[ParsedInventory] = []
    for reading in sorted(readings, key=lambda reading: -reading.confidence):
        for entry in reading.parsed.inventory if reading.parsed else ():
            span = (entry.line or 1, entry.last_line or entry.line or 1)
            if not any(begin <= span[1] and span[0] <= end for begin, end in taken):
                outputs.append(entry)
        taken += [
            (o.line or 1, o.last_line or o.line or 1) for o in (reading.parsed.inventory if reading.parsed else ())
        ]
    return tuple(sorted(outputs, key=lambda output: output.line or 0))


def _warnings(parsed: Sequence[ParsedFile], encoding: str) -> list[str]:
    sentences = [each for item in parsed for each in item.warnings]
    if encoding in ("latin-1", "cp1252", "cp1251", "koi8-r"):
        sentences.append(f"the bytes are not UTF-8; read as {encoding}")
    return sentences


def _all_broken(readings: Sequence[FormatReading]) -> tuple[Broken, ...]:
    """Return the broken parts, also of formats that found nothing though they were sure to recognise something."""
    listed = [each for reading in readings if reading.parsed for each in reading.parsed.broken]
    if any(reading.has_found for reading in readings):  # else it is the file's error
        listed += [reading.error for reading in readings if reading.error and reading.confidence >= RECOGNISED]
    return tuple(dict.fromkeys(listed))[:MOST_ERRORS]


def _why_not(readings: Sequence[FormatReading], text: SourceText) -> Broken:
    """Return why nothing was read: what a binary file is, the error of the surest format, or how an unknown file begins."""
    if foreign := identify_foreign_file(text.data):
        return Broken("this is no text", 1, foreign.name, foreign.instead)
    errors = [reading for reading in readings if reading.error or (reading.parsed and reading.parsed.broken)]
    surest = max(errors, key=lambda reading: reading.confidence, default=None)
    unread = find_unread_output(text) if surest is None or surest.confidence < RECOGNISED else None
    titles = [item.title for item in formats() if item.kind == "results" and not item.is_asked_for]
    expected = f"the output of a known tool ({', '.join(titles[:_SHOWN])} and {len(titles) - _SHOWN} more)"
    if unread is not None:
        return Broken(unread.tool.reason, unread.line, unread.printed[:120], unread.tool.instead or expected)
    if surest is not None:
        return surest.error or surest.parsed.broken[0]  # type: ignore[union-attr]
    first = next((line.strip() for line in text.lines if line.strip()), "")
    return Broken("no format recognises this file", 1, first[:120], expected)


def _table(readings: Sequence[FormatReading], text: SourceText, mapping: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the mapping dialog needs, where the file may be a table; else an empty dict."""
    return offered(text, mapping) if any(reading.format.kind == "table" for reading in readings) else {}


__all__ = ["FileReading", "Format", "FormatCandidate", "ReadRun", "read_file"]


ROWS = 12  # shown in the dialog
_LONGEST_CELL = 120


def read_mapped(text: SourceText, plain: dict[str, Any]) -> FormatReading:
    """Parse, with a person's mapping, every table of the text that has the same columns as its largest one.

    Warn about the others.
    """
    table = get_format(tables.NAME)
    try:
        mapping = ColumnMapping.from_json(plain)
        grids = tables.find(text, mapping.heading_rows)
        mine = _alike(text, grids)
        parsed = _together([tables.read(item, mapping) for item in mine], _others(grids, mine))
        return FormatReading(table, 1.0, apply_laws(parsed))
    except ParseError as error:
        return FormatReading(table, 1.0, None, error.broken)
    except ValueError as error:
        return FormatReading(table, 1.0, None, Broken(f"needs a mapping: {error}"))


def offered(text: SourceText, plain: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the mapping dialog shows of a table: columns, first rows, guess and open questions; empty without a table."""
    try:
        first = tables.sniff(text)
        grid = tables.sniff(text, _heading_rows(plain))
    except ParseError:
        return {}
    guess = tables.guess(grid)
    marks = _marks(grid, plain, guess)
    return {
        "signature": tables.make_signature(first, text.name),
        "heading_rows": len(first.header),
        "guess": guess.to_json(),
        "questions": _questions(grid, plain, guess),
        "columns": [
            {"index": column.index, "heading": column.heading, "kind": column.kind, "unit": column.unit}
            for column in grid.columns
        ],
        "rows": [_row(row.line, row.cells, row.problem) for row in grid.rows[:ROWS]],
        "count": len(grid.rows),
        "decimal": list(marks.candidates()),
        "thousands": list(marks.thousands_candidates()),
        "unclear": [list(item) for item in grid.unclear[:_SHOWN]],
        "caption": grid.caption,
        "first_line": grid.first_line,
        "last_line": grid.last_line,
    }


def _heading_rows(plain: dict[str, Any] | None) -> int | None:
    text = (plain or {}).get("heading_rows")
    return text if text in tables.HEADING_ROWS else None


def _marks(grid: TableGrid, plain: dict[str, Any] | None, guess: ColumnMapping) -> Marks:
    """Return the decimal and thousands marks of the number columns, as mapped, or else as guessed."""
    try:
        return tables.get_marks(grid, guess if plain is None else ColumnMapping.from_json(plain))
    except ValueError:
        return tables.get_marks(grid, guess)


def _alike(text: SourceText, grids: Sequence[TableGrid]) -> list[TableGrid]:
    """Return the grids that look like the largest one, compared before a person changes the number of heading rows."""
    look = tables.make_signature(tables.sniff(text))
    return [grid for grid, item in zip(grids, tables.find(text), strict=True) if tables.make_signature(item) == look]


def _others(grids: Sequence[TableGrid], mine: Sequence[TableGrid]) -> list[str]:
    own = set(map(id, mine))
    headings = mine[0].columns if mine else ()
    return [
        f"line {grid.first_line}: another table, {_difference(grid, headings)}, is not read; upload it by itself"
        for grid in grids
        if id(grid) not in own
    ]


def _difference(other: TableGrid, columns: Sequence[GridColumn]) -> str:
    is_alike = [column.heading for column in other.columns] == [column.heading for column in columns]
    return f"under “{other.caption[-80:]}”" if is_alike and other.caption else "of other columns"


def _together(read: Sequence[ParsedFile], warnings: Sequence[str]) -> ParsedFile:
    return ParsedFile(
        runs=tuple(run for item in read for run in item.runs),
        warnings=(*warnings, *(each for item in read for each in item.warnings)),
        broken=tuple(each for item in read for each in item.broken),
    )


def _questions(grid: TableGrid, plain: dict[str, Any] | None, guess: ColumnMapping) -> list[str]:
    try:
        mapping = guess if plain is None else ColumnMapping.from_json(plain)
    except ValueError as error:
        return [str(error)]
    return tables.list_questions(grid, mapping)


def _row(line: int, cells: Sequence[str], problem: str) -> dict[str, Any]:
    return {"line": line, "cells": [cell[:_LONGEST_CELL] for cell in cells], "problem": problem}


_MOST_NEAR = 64  # runs of another format that are compared with one
MOST_TOLD = 20


class FormatRun(Protocol):
    """A run as one format reads it."""

    @property
    def run(self) -> ParsedRun: ...
    @property
    def format(self) -> str: ...


Lines = frozenset[int]


def overlaps(runs: Sequence[FormatRun]) -> list[tuple[int, ...]]:
    """Return, for each run in the order of lines, the indices of other formats' runs that read values from the same lines."""
    result: list[set[int]] = [set() for _ in runs]
    lines: dict[int, Lines] = {}
    for name in {run.format for run in runs}:
        others = [
            (run.run.line, _last(run.run), place)
            for place, run in enumerate(runs)
            if run.format != name and run.run.line is not None
        ]
        starts = [line for line, _, _ in others]
        for place, entry in enumerate(runs):
            if entry.format == name and entry.run.line is not None:
                behind = bisect_left(starts, _last(entry.run) + 1)
                for _, end, other in others[max(0, behind - _MOST_NEAR) : behind]:
                    if end >= entry.run.line and _quarrel(runs, place, other, lines):
                        result[place].add(other)
                        result[other].add(place)
    return [tuple(sorted(item)) for item in result]


def _last(run: ParsedRun) -> int:
    return run.last_line or run.line or 0


def _quarrel(runs: Sequence[FormatRun], place: int, other: int, known: dict[int, Lines]) -> bool:
    """Return whether two runs that share lines both read values from them."""
    for each in (place, other):
        if each not in known:
            known[each] = _lines(runs[each].run)
    mine, others = known[place], known[other]
    if mine and others:
        return not mine.isdisjoint(others)
    if not mine and not others:
        return True
    without, lines = (place, others) if others else (other, mine)
    run = runs[without].run
    return any((run.line or 0) <= line <= _last(run) for line in lines)


def _lines(run: ParsedRun) -> Lines:
    if isinstance(run.samples, ParsedTable):
        return frozenset(run.samples.lines)
    return frozenset(sample.line for sample in run.samples if sample.line is not None)


def describe_choices(runs: Sequence[FormatRun], rivals: Sequence[tuple[int, ...]], chosen: Sequence[bool]) -> list[str]:
    """Return a sentence for each run that was chosen before its rivals, at most `MOST_TOLD`."""
    sentences: list[str] = []
    for place, others in enumerate(rivals):
        if chosen[place] and others and len(sentences) < MOST_TOLD:
            names = " and ".join(sorted({runs[other].format for other in others}))
            name = runs[place].format
            sentences.append(f"line {runs[place].run.line}: {name} and {names} read the same lines; {name} was chosen")
    return sentences
