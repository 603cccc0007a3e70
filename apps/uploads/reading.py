"""One file, read by every format that sees something of its own in it, and put together.

    found = read_file(SourceText(data, name))

Several tools in one file are no conflict while each claims lines of its own. Where two formats claim the same lines,
both readings stay: the surer one is chosen, the other one is its rival, and a person may choose otherwise. Pure: this
runs in the child process that reads strangers' bytes (`sandbox/`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import structs

from apps.parsers.foreign_files import kind_of
from apps.parsers.registry import RECOGNISED, Format, Reading, format_named, formats, read_as, recognise
from apps.parsers.shape import (
    Broken,
    ParsedFile,
    ParsedInventory,
    ParsedRun,
    ParsedSample,
    ParsedSeries,
    ParsedWorkload,
)
from apps.parsers.source_text import SourceText
from apps.parsers.system_tools import tool_of
from apps.runs.columns import Columns, columns_of
from apps.runs.packing import overview, pack
from apps.uploads.rivals import overlaps, told
from apps.uploads.tabular import offered, read_mapped

_SHOWN = 5  # formats named in an error
MOST_ERRORS = 200
_AS_LONG = "numbers as long as what is measured"
_BLANKS, _HEAD = b"\0\t\n\r ", 4096


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


class ReadRun(msgspec.Struct, frozen=True, gc=False):
    """One run as one format reads it. `rivals` are the places, in the file's `runs`, of those that claim its lines."""

    run: ParsedRun  # its series are in `series`, packed; its samples may be in `columns`
    format: str
    confidence: float
    series: tuple[PackedSeries, ...] = ()
    rivals: tuple[int, ...] = ()
    is_chosen: bool = True
    columns: Columns | None = None
    digest_in_columns: str = ""

    @property
    def samples(self) -> Sequence[ParsedSample]:
        return self.run.samples if self.columns is None else self.columns.samples()

    @property
    def sample_count(self) -> int:
        return len(self.run.samples if self.columns is None else self.columns)

    @property
    def has_values(self) -> bool:
        if self.columns is not None:
            return self.columns.has_values
        return any(sample.value is not None for sample in self.run.samples)

    @property
    def digest(self) -> str:
        """SHA-256 of all that was read of the run, with an object for each sample, however they travel."""
        if self.digest_in_columns:
            return self.digest_in_columns
        whole = structs.replace(self.run, samples=tuple(self.samples))
        return hashlib.sha256(msgspec.msgpack.encode([whole, self.series])).hexdigest()


class Candidate(msgspec.Struct, frozen=True, gc=False):
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
    candidates: tuple[Candidate, ...] = ()
    runs: tuple[ReadRun, ...] = ()
    workloads: tuple[ParsedWorkload, ...] = ()
    inventory: tuple[ParsedInventory, ...] = ()
    warnings: tuple[str, ...] = ()
    broken: tuple[Broken, ...] = ()
    error: Broken | None = None  # why nothing was found
    encoding: str = "utf-8"
    table: dict[str, Any] = {}  # for a table: its signature and guessed mapping

    @property
    def has_found(self) -> bool:
        """Whether anything of it would be kept or offered."""
        return bool(any(one.is_chosen for one in self.runs) or self.inventory or self.workloads)


def read_file(
    text: SourceText, only: str = "", mapping: dict[str, Any] | None = None, *, leaves_out_unfit: bool = False
) -> FileReading:
    """Raises nothing for any bytes. `only` names the one format to read it as; `mapping` is a person's for a table.
    `leaves_out_unfit`: runs with a number of more than 64 bits, which can not be sent or kept, are broken ones.
    """
    if not (text.data[:_HEAD].strip(_BLANKS) or text.data.strip(_BLANKS)):
        return FileReading(error=Broken("the file is empty", None, f"{len(text.data)} bytes", "a tool's output"))
    if mapping is not None:
        readings = [read_mapped(text, mapping)]
    else:
        parts = text.by_host() if not only else [("", text)]
        readings = [_of_host(one, host) for host, part in parts for one in _readings(part, only)]
    if leaves_out_unfit:
        readings = [_fit(one) for one in readings]
    return _joined(readings, text, mapping)


def _fit(reading: Reading) -> Reading:
    """Without what holds a number that nobody can keep; no tool prints one, and what is right beside it stays."""
    found = reading.parsed
    if found is None:
        return reading
    unfit = [run for run in found.runs if not _is_fit(run)]
    broken = [Broken("a number in the run has more than 64 bits", one.line, one.tool, _AS_LONG) for one in unfit]
    runs = tuple(run for run in found.runs if all(run is not one for one in unfit))
    return replace(reading, parsed=replace(found, runs=runs, broken=(*found.broken, *broken)))


def _is_fit(run: ParsedRun) -> bool:
    try:
        msgspec.msgpack.encode(structs.replace(run, series=()))
    except OverflowError:
        return False
    return True


def in_columns(found: FileReading) -> FileReading:
    """The same with the samples of each run in columns, where they fit."""
    return structs.replace(found, runs=tuple(_in_columns(one) for one in found.runs))


def _in_columns(one: ReadRun) -> ReadRun:
    run = one.run
    times = {type(run.started_at), type(run.ended_at)}
    # what becomes another kind of number on its way has another digest on the other side
    if one.series or not times <= {float, type(None)}:
        return one
    if (columns := columns_of(run.samples)) is None:
        return one
    return structs.replace(one, run=structs.replace(run, samples=()), columns=columns, digest_in_columns=one.digest)


def _readings(text: SourceText, only: str) -> list[Reading]:
    if only:
        return [read_as(format_named(only), text)]
    return recognise(text)


def _of_host(reading: Reading, host: str) -> Reading:
    if not host or reading.parsed is None:
        return reading
    found = reading.parsed
    runs = tuple(structs.replace(run, host=run.host or host) for run in found.runs)
    inventory = tuple(replace(one, host=one.host or host) for one in found.inventory)
    return Reading(reading.format, reading.confidence, replace(found, runs=runs, inventory=inventory), reading.error)


def _joined(readings: Sequence[Reading], text: SourceText, mapping: dict[str, Any] | None = None) -> FileReading:
    found = [one for one in readings if one.has_found]
    candidates = tuple(Candidate(r.format.name, r.format.title, r.confidence, r.error) for r in readings)
    encoding = text.encoding
    table = _table(readings, text, mapping)
    if not found:
        return FileReading(
            candidates=candidates, error=_why_not(readings, text), encoding=encoding, table=table,
            broken=_all_broken(readings),
        )  # fmt: skip
    first = max(found, key=lambda one: one.confidence)
    parsed = [one.parsed for one in found if one.parsed]
    runs, quarrels = _with_rivals(
        [_read_run(run, one) for one in found for run in (one.parsed.runs if one.parsed else ())]
    )
    return FileReading(
        format=first.format.name,
        title=first.format.title,
        confidence=first.confidence,
        candidates=candidates,
        runs=runs,
        workloads=tuple(each for one in parsed for each in one.workloads),
        inventory=_surest_inventory(found),
        warnings=tuple(dict.fromkeys([*_warnings(parsed, encoding), *quarrels]))[:MOST_ERRORS],
        broken=_all_broken(readings),
        encoding=encoding,
        table=table,
    )


def _read_run(run: ParsedRun, reading: Reading) -> ReadRun:
    series = tuple(_packed(one) for one in run.series)
    return ReadRun(structs.replace(run, series=()), reading.format.name, reading.confidence, series)


def _packed(one: ParsedSeries) -> PackedSeries:
    return PackedSeries(
        one.operation, one.metric, one.section, one.source, len(one.values),
        pack(one.times_s, one.values), overview(one.times_s, one.values),
    )  # fmt: skip


def _with_rivals(runs: list[ReadRun]) -> tuple[tuple[ReadRun, ...], list[str]]:
    """In the order of their lines; of those that read the same lines, the surer format's are chosen, and who lost is told."""
    runs = sorted(runs, key=lambda one: (one.run.line or 0, -one.confidence))
    if len({one.format for one in runs}) < 2:
        return tuple(runs), []
    rivals = overlaps(runs)
    chosen = [_is_surest(place, others, runs) for place, others in enumerate(rivals)]
    joined = tuple(
        structs.replace(one, rivals=rivals[place], is_chosen=chosen[place]) for place, one in enumerate(runs)
    )
    return joined, told(runs, rivals, chosen)


def _is_surest(place: int, rivals: tuple[int, ...], runs: list[ReadRun]) -> bool:
    mine = (runs[place].confidence, len(runs[place].run.samples), -place)
    return all(mine > (runs[other].confidence, len(runs[other].run.samples), -other) for other in rivals)


def _surest_inventory(found: Sequence[Reading]) -> tuple[ParsedInventory, ...]:
    """Two tools' outputs in one file stay both; of two readings of the same lines, the surer one's."""
    taken: list[tuple[int, int]] = []
    kept: list[ParsedInventory] = []
    for reading in sorted(found, key=lambda one: -one.confidence):
        for one in reading.parsed.inventory if reading.parsed else ():
            span = (one.line or 1, one.last_line or one.line or 1)
            if not any(begin <= span[1] and span[0] <= end for begin, end in taken):
                kept.append(one)
        taken += [
            (o.line or 1, o.last_line or o.line or 1) for o in (reading.parsed.inventory if reading.parsed else ())
        ]
    return tuple(sorted(kept, key=lambda one: one.line or 0))


def _warnings(parsed: Sequence[ParsedFile], encoding: str) -> list[str]:
    said = [each for one in parsed for each in one.warnings]
    if encoding in ("latin-1", "cp1252", "cp1251", "koi8-r"):
        said.append(f"the bytes are not UTF-8; read as {encoding}")
    return said


def _all_broken(readings: Sequence[Reading]) -> tuple[Broken, ...]:
    """Also of formats that found nothing in the end, where they were sure that something of theirs is there."""
    listed = [each for one in readings if one.parsed for each in one.parsed.broken]
    if any(one.has_found for one in readings):  # else it is the file's error
        listed += [one.error for one in readings if one.error and one.confidence >= RECOGNISED]
    return tuple(dict.fromkeys(listed))[:MOST_ERRORS]


def _why_not(readings: Sequence[Reading], text: SourceText) -> Broken:
    """What the file is, where it is no text; what the surest of those that tried says; of a file that nobody knows, how it begins."""
    if foreign := kind_of(text.data):
        return Broken("this is no text", 1, foreign.name, foreign.instead)
    errors = [one for one in readings if one.error or (one.parsed and one.parsed.broken)]
    if errors:
        surest = max(errors, key=lambda one: one.confidence)
        return surest.error or surest.parsed.broken[0]  # type: ignore[union-attr]
    titles = [one.title for one in formats() if one.kind == "results" and not one.is_asked_for]
    expected = f"the output of a known tool ({', '.join(titles[:_SHOWN])} and {len(titles) - _SHOWN} more)"
    if known := tool_of(text):
        message = f"{known.tool} prints this, which is no result of a storage or network benchmark"
        return Broken(message, known.line, known.printed[:120], expected)
    first = next((line.strip() for line in text.lines if line.strip()), "")
    return Broken("no format recognises this file", 1, first[:120], expected)


def _table(readings: Sequence[Reading], text: SourceText, mapping: dict[str, Any] | None) -> dict[str, Any]:
    """What is needed to map the columns by hand, where it may be a table of means."""
    return offered(text, mapping) if any(one.format.kind == "table" for one in readings) else {}


__all__ = ["Candidate", "FileReading", "Format", "ReadRun", "read_file"]
