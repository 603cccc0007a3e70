"""Parser of fio's terse report (`--minimal`, `--output-format=terse`): versions 2 to 5, fio 1.5x to 3.x.

One real line, cut: `3;fio-3.8-83-g24a9;random-write;0;0;261561600;871869;217967;300001;1;503;41.011829;34.338211;…`

    [2;] or [3|4|5;fio version;] job name;group;error;
    per direction (read, write; trim too in 2 since fio 2.0.10, in 4 and 5; one block alone with unified_rw_reporting;
    a fourth, mixed, with unified_rw_reporting=both):
        io KiB;bandwidth KiB/s;[iops;]runtime ms; slat min;max;mean;deviation; clat …; [20 × percentile%=value;] lat …;
        bw min;max;share%;mean;deviation [5: ;bw samples;iops min;max;mean;deviation;samples]
    usr%;sys%;context switches;major;minor faults; 7 × depth%; 10 × us%; 12 × ms%; [disks, 9 fields each, `slaves`
    behind one that has some;] [errors;first error;] [description]        `show_thread_status_terse_all` in stat.c

Peculiarities:

- The end of a block is counted back from the 29 shares that follow the CPU: 16 fields a direction in fio 1.x's first
  terse report (version 1, without a number in front), 20 in its second (neither iops nor percentiles), 41 since 2.0, 47
  in version 5.
- Latencies are µs in every version; fio 3 measures ns and prints min, max and percentiles truncated to whole µs.
- Bandwidth is KiB/s; before fio 2.0.8 it is bytes per ms, 1000 a second (`bw = io_bytes / runtime`). Versions 1 and 2
  do not state which fio wrote them. Where no line above them does (`fio 1.59`), the unit is derived from bytes and
  time, and left open where they do not decide.
- Zeros stand for what was not measured: a direction that moved nothing is left out.
- A report does not state random or not, block size or depth; the job's line of the normal output
  (`--output-format=terse,normal`) does, and is used. The figures of that normal report are the same.
- Beside JSON in the same file (`json,terse`) it repeats their figures, rounded: then those are read, and this is left
  out.
- With lat_percentiles=1 the percentiles are those of lat, although they stand behind clat (fio 3.1 and later). Before
  3.27 the sum of unified_rw_reporting stands in place of reads, beside zeros for writes. The record states neither; a
  command line or a normal report in the file may. Where a file has several runs, it is unknown which of them is meant.
- `--status-interval` prints all records again and again as running totals: the last is the result, and the bandwidth
  between them a series.
- With several clients the records of each follow each other; "All clients" below is their sum.
- CPU is the mean of a group's processes, whose number the record does not state; a normal report in the file does
  (`jobs=3`).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSeries, ParseError
from apps.parsers.core.source_text import SourceText, get_ascii_bytes
from apps.parsers.fio.disks import iterate_printed_samples, read_terse_disks
from apps.parsers.fio.duplicates import collect_figures, iterate_json_figures
from apps.parsers.fio.engines import apply_engines, iterate_warnings
from apps.parsers.fio.json.documents import MOST_JOBS, SUM
from apps.parsers.fio.json.progress import SHORTEST_MS
from apps.parsers.fio.options import choose_operation
from apps.parsers.fio.quantities import read_version
from apps.parsers.fio.readings import iterate_samples
from apps.parsers.fio.samples import describe_error
from apps.parsers.fio.terse.record import LEAST_INTERVAL_MS, TerseRecord, read_record
from apps.parsers.fio.text.definitions import JobDefinition, describe_doubt, read_definition
from apps.parsers.fio.text.headers import JobHeader, read_header
from apps.parsers.fio.workload import make_workload

TerseRuns = Sequence[Sequence[Sequence[TerseRecord]]]  # of each its status reports
_OF_LAT = re.compile(
    rb"\b(?:lat_percentiles[= ]1|clat_percentiles[= ]0)\b|^[ \t]{0,60}lat percentiles \(", re.MULTILINE
)
_SUMS = re.compile(
    rb"\bunified_rw_reporting[= ](?:1|mixed)\b|^[ \t]{0,60}mixed[ ]{0,8}:[ ]{1,8}(?:io=|IOPS=)", re.MULTILINE
)
_HAS_LAT = (3, 1)
_UNKNOWN_KIND = "of clat or of lat: one run in this file was asked for those of lat, and no record says which"
_SUMS_AS_READS = "a run in this file was asked for the sum of reads and writes; before fio 3.27 that stands as reads"


class TerseContext:
    """What a command line or a normal report in the same file says of records, and the records do not."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.counts: dict[tuple[int, str], set[int]] = {}

    def count(self, header: JobHeader) -> None:
        """Note the number of processes that a job of the normal report states."""
        self.counts.setdefault((header.group or 0, header.name), set()).add(header.jobs or 0)

    def apply(self, runs: TerseRuns, warnings: list[str]) -> None:
        """Complete the records of all runs."""
        records = list(chain.from_iterable(chain.from_iterable(runs)))
        for record in records:
            counts = self.counts.get(record.key, set())
            if len(counts) == 1 and (jobs := min(counts)):
                record.job.count_processes(jobs)
        if b"percentiles" in self.data and _OF_LAT.search(self.data):
            _move_percentiles(records, is_sure=len(runs) == 1)
        may_be_sums = b"unified_rw" in self.data or b"mixed" in self.data
        if records and may_be_sums and _SUMS.search(self.data):
            _name_sums(records, warnings, is_sure=len(runs) == 1)


def _move_percentiles(records: Sequence[TerseRecord], *, is_sure: bool) -> None:
    for record in records:
        known = read_version(f"fio-{record.version}")
        if known and known[1] < _HAS_LAT:
            continue
        if is_sure:
            record.job.move_percentiles_to_lat()
        else:
            record.job.doubt_percentiles(_UNKNOWN_KIND)


def _name_sums(records: Sequence[TerseRecord], warnings: list[str], *, is_sure: bool) -> None:
    if not is_sure:
        warnings.append(f"line {records[0].job.line}: {_SUMS_AS_READS}")
        return
    for record in records:
        record.job.turn_reads_into_sums()


NAME = "fio terse"
TITLE = "fio terse report"

_NEEDLE = re.compile(
    rb"(?:[345];fio[- ]|^[345];[12]\.\d)[^;\n]{0,255};[^;\n]{0,255};\d+;\d+;\d+;"
    rb"|^2;[^;\n]{0,255};\d+;\d+;\d+;[^\n]{20,900}?%;",
    re.MULTILINE,
)
_OLDEST = re.compile(rb"^[^;\n]{1,255};\d+;\d+(?:;[0-9.]+){13};[0-9.]+%;", re.MULTILINE)
_VERSION = re.compile(r"fio[- ]v?\d[\w.+-]{0,60}")
_MOST_WARNINGS = 20


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has a terse record, 0.6 for one of version 1, else 0."""
    if b";" not in text.data:
        return 0.0
    data = get_ascii_bytes(text)
    if _NEEDLE.search(data):
        return 1.0
    return 0.6 if _OLDEST.search(data) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is no record.
    """
    broken: list[Broken] = []
    definitions: dict[tuple[int, str], JobDefinition] = {}
    reports = _StatusReports()
    context = TerseContext(get_ascii_bytes(text))
    warnings: list[str] = []
    version = ""
    for index, line in enumerate(text.lines):
        number = text.number(index)
        if ": (g=" in line and (doubt := describe_doubt(text.lines, index)) and len(warnings) < _MOST_WARNINGS:
            warnings.append(f"line {number}: {doubt}")
        if definition := read_definition(text.lines, index, number):
            definitions[definition.group, definition.name] = definition
        elif ": (groupid=" in line and (header := read_header(line)):
            context.count(header)
        elif line.startswith("fio") and _VERSION.fullmatch(line.rstrip()) and (known_version := read_version(line)):
            version = known_version[0]
        elif (record := read_record(line, number, broken, version)) is not None:
            if record.job.name == SUM:
                reports.join(record)  # would count everything twice
                continue
            if known := definitions.get(record.key):
                record.job.options = known.options
            reports.add(record)
    if not reports.runs and not broken:
        raise ParseError("no terse record of fio", line=1, expected="a line like 3;fio-3.33;job;0;0;…")
    context.apply(reports.runs, warnings)
    runs = tuple(_make_run(group, warnings) for group in _iterate_new_runs(reports.runs, text, warnings))
    warnings += chain.from_iterable(map(iterate_warnings, runs))
    return ParsedFile(tuple(map(apply_engines, runs)), tuple(warnings), tuple(broken))


def _iterate_new_runs(
    runs: list[list[list[TerseRecord]]], text: SourceText, warnings: list[str]
) -> Iterator[list[list[TerseRecord]]]:
    """Yield the runs whose figures are not in JSON of the same file (`--output-format=json,terse`)."""
    in_json = set(iterate_json_figures(text))
    for history in runs:
        own = collect_figures(history[-1])
        if own and own <= in_json:
            line = history[0][0].job.line
            warnings.append(f"line {line}: JSON output in this file has these figures; read there")
        else:
            yield history


class _StatusReports:
    """Records grouped into the reports to which they belong: one report for each status interval of a run."""

    def __init__(self) -> None:
        self.runs: list[list[list[TerseRecord]]] = []
        self._last: dict[tuple[int, str], TerseRecord] = {}  # records of the current report
        self._is_ended = False  # whether a sum of all clients was read

    def add(self, record: TerseRecord) -> None:
        """Add a record to the current report, to a new report of its run, or to a new run."""
        if self.runs and self._goes_on(record):
            self.runs[-1].append([])
            self._last = {}
        elif not self.runs or self._is_ended or self._is_new(record):
            self.runs.append([[]])
            self._last = {}
        self._is_ended = False
        self.runs[-1][-1].append(record)
        self._last[record.key] = record

    def join(self, total: TerseRecord) -> None:
        """Join the last runs to one, if together they moved what this sum of all clients says.

        The jobs of each client begin again with the first group.
        """
        moved, count, self._is_ended = 0, 0, True
        for place in range(len(self.runs) - 1, -1, -1):
            if len(self.runs[place]) > 1 or self.runs[place][0][0].version != total.version:
                return
            moved += sum(record.moved_kib for record in self.runs[place][0])
            count += len(self.runs[place][0])
            if abs(moved - total.moved_kib) <= 3 * count:  # each direction of each is cut off to whole KiB
                self.runs[place:] = [[[record for run in self.runs[place:] for record in run[0]]]]
                return

    def _goes_on(self, record: TerseRecord) -> bool:
        """Return whether the first job of the report is repeated with larger totals."""
        run = self.runs[-1]
        first = run[-1][0]
        if record.key != first.key or record.version != first.version:
            return False
        if len(run) == 1:
            return record.goes_on(first, LEAST_INTERVAL_MS)
        return len(run[-1]) >= len(run[-2]) and record.goes_on(first, 1)

    def _is_new(self, record: TerseRecord) -> bool:
        report, same = self.runs[-1][-1], self._last.get(record.key)
        return (
            report[-1].version != record.version
            or record.job.group < report[-1].job.group
            or (same is not None and same.disks != record.disks)
            or len(report) >= MOST_JOBS
        )


def _iterate_series(history: Sequence[list[TerseRecord]]) -> Iterator[ParsedSeries]:
    """Yield the bandwidth between two status reports, over the time that the direction has run."""
    for number, last in enumerate(history[-1]):
        jobs = [report[number].job for report in history if len(report) > number and report[number].key == last.key]
        for direction in last.job.runtimes if len(jobs) > 1 else ():
            totals = [(job.runtimes.get(direction, 0), job.value(direction, "io_bytes") or 0.0) for job in jobs]
            if sorted(totals) != totals:
                continue  # fio 2.1 prints times of looping jobs in µs
            steps = [(old, new) for old, new in pairwise([(0, 0.0), *totals]) if new[0] - old[0] >= SHORTEST_MS]
            times = tuple(new[0] / 1000 for _, new in steps)
            values = tuple((new[1] - old[1]) * 1000 / (new[0] - old[0]) for old, new in steps)
            name = choose_operation(last.job.load().rw, direction)
            yield ParsedSeries(name, "bandwidth", number, "progress", times, values)


def _make_run(history: Sequence[list[TerseRecord]], warnings: list[str]) -> ParsedRun:
    report = history[-1]
    jobs = [record.job for record in report]
    first, last = history[0][0].job.line, jobs[-1].line
    if len(history) > 1:
        warnings.append(f"line {first}: {len(history)} status reports of one run; the last one is its result")
    for job in jobs:
        if not job.runtimes and not job.error:
            warnings.append(f"line {job.line}: job {job.name!r} had moved nothing when this was printed; no samples")
    return ParsedRun(
        tool="fio",
        tool_version=report[0].version[:60],
        sections=tuple(job.section(number) for number, job in enumerate(jobs)),
        samples=(*iterate_samples(jobs), *iterate_printed_samples(read_terse_disks(report[-1].tail, last or 0))),
        series=tuple(_iterate_series(history)),
        problem="; ".join(f"fio's {job.name} ended with {describe_error(job.error)}" for job in jobs if job.error),
        workload=make_workload([job.load() for job in jobs]),
        line=first,
        last_line=last,
    )
