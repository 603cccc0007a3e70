"""fio's terse report (`--minimal`, `--output-format=terse`): versions 2 to 5, fio 1.5x to 3.x.

One real line, cut: `3;fio-3.8-83-g24a9;random-write;0;0;261561600;871869;217967;300001;1;503;41.011829;34.338211;…`

    [2;] or [3|4|5;fio version;] job name;group;error;
    per direction (read, write; trim too in 2 since fio 2.0.10, in 4 and 5; one block alone with unified_rw_reporting;
    a fourth, mixed, with unified_rw_reporting=both):
        io KiB;bandwidth KiB/s;[iops;]runtime ms; slat min;max;mean;deviation; clat …; [20 × percentile%=value;] lat …;
        bw min;max;share%;mean;deviation [5: ;bw samples;iops min;max;mean;deviation;samples]
    usr%;sys%;context switches;major;minor faults; 7 × depth%; 10 × us%; 12 × ms%; [disks, 9 fields each, `slaves`
    behind one that has some;] [errors;first error;] [description]        `show_thread_status_terse_all` in stat.c

Oddities
- Where a block ends is counted back from the 29 shares that follow the CPU: 16 fields a direction in fio 1.x's first
  terse report (version 1, without a number in front), 20 in its second (neither iops nor percentiles), 41 since 2.0,
  47 in version 5.
- Latencies are µs in every version; fio 3 counts ns and prints min, max and percentiles cut off to whole µs.
- Bandwidth is KiB/s; before fio 2.0.8 it is bytes per ms, 1000 a second (`bw = io_bytes / runtime`). Versions 1 and 2
  do not say which fio wrote them. Where no line above them does (`fio 1.59`), the unit is taken from bytes and time, and
  left open where they do not decide.
- Zeros stand for what was not measured: a direction that moved nothing is left out.
- A report tells nothing of random or not, block size or depth; the job's line of the normal output
  (`--output-format=terse,normal`) does, and is used. The figures of that normal report are the same ones again.
- Beside JSON in the same file (`json,terse`) it repeats their figures, rounded: then those are read, and this is left
  out.
- With lat_percentiles=1 the percentiles are those of lat, behind clat all the same (fio 3.1 and later). The record does
  not say so: a command line or a normal report in the file may.
- Before 3.27 the sum of unified_rw_reporting stands where reads do, beside zeros for writes: here too only a command line
  or a normal report in the file says so.
- `--status-interval` prints all records again and again, running totals: the last is the result, and the
  bandwidth between them a series.
- With several clients the records of each follow on each other; "All clients" below is their sum.
- CPU is the mean of a group's processes, of which the record does not say how many there are; a normal report in the
  file does.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from apps.parsers.fio_definitions import Definition, definition_at, doubt_of
from apps.parsers.fio_disks import in_terse, printed_samples
from apps.parsers.fio_documents import MOST_JOBS, SUM
from apps.parsers.fio_options import operation
from apps.parsers.fio_progress import SHORTEST_MS
from apps.parsers.fio_quantities import version_of
from apps.parsers.fio_readings import all_samples
from apps.parsers.fio_samples import error_text
from apps.parsers.fio_terse_beside import Beside
from apps.parsers.fio_terse_record import LEAST_INTERVAL_MS, Record, record_in
from apps.parsers.fio_text_headers import header_in
from apps.parsers.fio_twice import figures, told_by_json
from apps.parsers.fio_workload import workload_of
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSeries, ParseError
from apps.parsers.source_text import SourceText, plain_bytes

NAME = "fio terse"
TITLE = "fio terse report"

_NEEDLE = re.compile(
    rb"(?:[345];fio[- ]|^[345];[12]\.\d)[^;\n]{0,255};[^;\n]{0,255};\d+;\d+;\d+;"
    rb"|^2;[^;\n]{0,255};\d+;\d+;\d+;[^\n]{20,900}?%;",
    re.MULTILINE,
)
_OLDEST = re.compile(rb"^[^;\n]{1,255};\d+;\d+(?:;[0-9.]+){13};[0-9.]+%;", re.MULTILINE)
_VERSION = re.compile(r"fio[- ]v?\d[\w.+-]{0,60}")
_MOST_TOLD = 20


def looks_like(text: SourceText) -> float:
    if b";" not in text.data:
        return 0.0
    data = plain_bytes(text)
    if _NEEDLE.search(data):
        return 1.0
    return 0.6 if _OLDEST.search(data) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Every run in the text; `ParseError` where there is no record."""
    broken: list[Broken] = []
    definitions: dict[tuple[int, str], Definition] = {}
    reports = _Reports()
    beside = Beside(plain_bytes(text))
    warnings: list[str] = []
    version = ""
    for index, line in enumerate(text.lines):
        number = text.number(index)
        if ": (g=" in line and (doubt := doubt_of(text.lines, index)) and len(warnings) < _MOST_TOLD:
            warnings.append(f"line {number}: {doubt}")
        if found := definition_at(text.lines, index, number):
            definitions[found.group, found.name] = found
        elif ": (groupid=" in line and (header := header_in(line)):
            beside.count(header)
        elif line.startswith("fio") and _VERSION.fullmatch(line.rstrip()) and (known_version := version_of(line)):
            version = known_version[0]
        elif (record := record_in(line, number, broken, version)) is not None:
            if record.job.name == SUM:
                reports.join(record)  # would count everything twice
                continue
            if known := definitions.get(record.key):
                record.job.options = known.options
            reports.place(record)
    if not reports.runs and not broken:
        raise ParseError("no terse record of fio", line=1, expected="a line like 3;fio-3.33;job;0;0;…")
    beside.tell(reports.runs, warnings)
    runs = tuple(_run(group, warnings) for group in _told_here(reports.runs, text, warnings))
    return ParsedFile(runs, tuple(warnings), tuple(broken))


def _told_here(runs: list[list[list[Record]]], text: SourceText, warnings: list[str]) -> Iterator[list[list[Record]]]:
    """The runs whose figures JSON in the same file does not have (`--output-format=json,terse`)."""
    told = set(told_by_json(text))
    for history in runs:
        own = figures(history[-1])
        if own and own <= told:
            line = history[0][0].job.line
            warnings.append(f"line {line}: JSON output in this file has these figures; read there")
        else:
            yield history


class _Reports:
    """Records in the reports that they belong to, as they come: one report for each status interval of a run."""

    def __init__(self) -> None:
        self.runs: list[list[list[Record]]] = []
        self._last: dict[tuple[int, str], Record] = {}  # of the report that is being read
        self._is_ended = False  # by a sum of all clients

    def place(self, record: Record) -> None:
        if self.runs and self._goes_on(record):
            self.runs[-1].append([])
            self._last = {}
        elif not self.runs or self._is_ended or self._is_new(record):
            self.runs.append([[]])
            self._last = {}
        self._is_ended = False
        self.runs[-1][-1].append(record)
        self._last[record.key] = record

    def join(self, total: Record) -> None:
        """Make one run of the last ones, if together they moved what this sum of all clients says: each client's jobs begin
        again with the first group.
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

    def _goes_on(self, record: Record) -> bool:
        """Whether the first job of the report is there again, further on."""
        run = self.runs[-1]
        first = run[-1][0]
        if record.key != first.key or record.version != first.version:
            return False
        if len(run) == 1:
            return record.goes_on(first, LEAST_INTERVAL_MS)
        return len(run[-1]) >= len(run[-2]) and record.goes_on(first, 1)

    def _is_new(self, record: Record) -> bool:
        report, same = self.runs[-1][-1], self._last.get(record.key)
        return (
            report[-1].version != record.version
            or record.job.group < report[-1].job.group
            or (same is not None and same.disks != record.disks)
            or len(report) >= MOST_JOBS
        )


def _series(history: Sequence[list[Record]]) -> Iterator[ParsedSeries]:
    """Bandwidth between two status reports, over the time that the direction has run."""
    for number, last in enumerate(history[-1]):
        jobs = [report[number].job for report in history if len(report) > number and report[number].key == last.key]
        for direction in last.job.runtimes if len(jobs) > 1 else ():
            totals = [(job.runtimes.get(direction, 0), job.value(direction, "io_bytes") or 0.0) for job in jobs]
            if sorted(totals) != totals:
                continue  # times of fio 2.1 that are no ms
            steps = [(old, new) for old, new in pairwise([(0, 0.0), *totals]) if new[0] - old[0] >= SHORTEST_MS]
            times = tuple(new[0] / 1000 for _, new in steps)
            values = tuple((new[1] - old[1]) * 1000 / (new[0] - old[0]) for old, new in steps)
            name = operation(last.job.load().rw, direction)
            yield ParsedSeries(name, "bandwidth", number, "progress", times, values)


def _run(history: Sequence[list[Record]], warnings: list[str]) -> ParsedRun:
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
        samples=(*all_samples(jobs), *printed_samples(in_terse(report[-1].tail, last or 0))),
        series=tuple(_series(history)),
        problem="; ".join(f"fio's {job.name} ended with {error_text(job.error)}" for job in jobs if job.error),
        workload=workload_of([job.load() for job in jobs]),
        line=first,
        last_line=last,
    )
