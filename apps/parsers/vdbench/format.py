"""Parser of Vdbench's reports with interval lines, 5.00 to 5.04.07.

It reads summary.html, totals.html, a host's or an SD's report, logfile.html, the output on the screen, and skew.html.

    13:45:13.001 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: None
    Mar 08, 2019    interval        i/o   MB/sec   bytes   read     resp …
                                   rate  1024**2     i/o    pct     time …
    13:45:18.019     avg_2-5      107.5     0.10    1024  50.70    1.557 …

One run per run definition (`RD=`): its `avg_` line gives the samples, the numbered lines are series. Raw devices
(SD/WD): `i/o rate` → iops, `MB/sec` → bandwidth, `resp time` → latency_mean. File systems (FSD/FWD): reads and writes
are separate, `.ReqstdOps.` is `mixed` where a run does both or neither; mkdir, open, close and so on have no operation
here and are not read; the `std_` and `max_` lines give latency_stdev and latency_max.

Units (Report.java, FwdStats.java; users guide): MB is 1024² (`1024**2` in the title; with the option for decimal it is
`1000**2`), response times are ms, cpu% is of all CPUs and therefore a note.

Operation: read % of the average: 100 → read, 0 → write, between → mixed. Random or sequential is only in flatfile.html.

Peculiarities:

- Labels grow into the time (`11:23:54.347avg_2-1200`), and some builds print one number (`avg_600`).
- `avg_2-1`, of a run that ended in its first interval, averages nothing, and has NaN for the CPU.
- Times roll over at midnight. The `created` line states UTC, a run's own lines only local time, so the start is counted
  from there.
- Lines without any header (a copy of the screen) are read where rate × bytes = MB/sec proves which columns they are.
- Where dates and times in front of title and lines were cut off, there is no series, as the length of an interval is
  unknown.
- A run without `avg_` was aborted and is broken.

skew.html (5.03 and 5.04) has what each slave, host, storage and workload definition did over a whole run:

    15:22:16.020                       i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue
    15:22:16.020 SD:                  rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth
    15:22:16.020 sd1               3435.47    25.56    7800   0.00    0.288    0.000    0.288  406.057    1.437   1.0
    15:22:16.020 Total             6870.94    51.12    7800   0.00    0.288    0.000    0.288  406.057    1.437   2.0

One run per run definition, without warm-up (SkewReport.java). Section 0 is `Total`, each row a section of its own; a
host's total of its slaves is not read where the hosts have a table. File systems have FwdStats.java's columns under a
name. The skew that was requested and observed is not read. A run with one slave, host and definition has no table, and
a page of only such runs has no figures.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import nan

from msgspec import structs

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSection, ParseError
from apps.parsers.core.numbers import read_number
from apps.parsers.core.source_text import SourceText
from apps.parsers.vdbench.clock import VdbenchClock, read_creation
from apps.parsers.vdbench.columns import VdbenchColumns, read_columns, recognise_columns
from apps.parsers.vdbench.damage import TELLING, DamagedRow, find_damaged_row
from apps.parsers.vdbench.definition import SKEW, START, STARTED_ANY_TIME, read_loops, read_workload
from apps.parsers.vdbench.samples import VdbenchRow, choose_operation, make_samples, make_series

_KINDS = ("Slave:", "Host:", "SD:", "WD:", "FSD:", "FWD:")
_TOTAL = "Total"
_TIME_WIDTH = 13  # characters of `15:22:16.020 `


def is_skew_page(text: SourceText) -> bool:
    """Return whether the text has a table of a skew report, or the page for them without any."""
    return SKEW in text.text or any(_read_heading(text, index) for index in _find_headings(text))


def read_skew_page(text: SourceText) -> ParsedFile:
    """Parse a skew report.

    Raises:
        ParseError: if the page has no figures.
    """
    broken: list[Broken] = []
    definitions = [definition for definition in _iterate_skew_definitions(text, broken) if definition.rows]
    if not definitions and not broken:
        message = "no figures on the page: each run had one slave, one host and one definition"
        raise ParseError(message, expected="a table of SD:, WD:, Host: or Slave:; summary.html has the runs")
    return ParsedFile(tuple(definition.make_run(text) for definition in definitions), broken=tuple(broken))


@dataclass(slots=True)
class _SkewDefinition:
    """The tables of one run definition."""

    name: str = ""
    settings: str = ""
    first: int = -1
    last: int = -1
    tables: list[str] = field(default_factory=list)  # their kinds
    rows: list[tuple[str, str, VdbenchColumns, VdbenchRow]] = field(default_factory=list)  # kind, label

    def make_run(self, text: SourceText) -> ParsedRun:
        ordered = self._list_sections()
        samples = [
            structs.replace(sample, section=number)
            for number, (_, _, columns, row) in enumerate(ordered)
            for sample in self._iterate_samples(columns, row)
        ]
        names = [_TOTAL if label == _TOTAL else f"{kind.removesuffix(':')} {label}" for kind, label, _, _ in ordered]
        return ParsedRun(
            tool="vdbench", tool_version="", samples=tuple(samples), caption=self.name,
            sections=tuple(ParsedSection(number, name) for number, name in enumerate(names)) if len(names) > 1 else (),
            labels={"rd": self.name} if self.name else {}, workload=read_workload(self.settings),
            line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip

    def _iterate_samples(self, columns: VdbenchColumns, row: VdbenchRow) -> Iterator[ParsedSample]:
        return make_samples(columns, row, None, None, (row,), read_loops(self.settings))

    def _list_sections(self) -> list[tuple[str, str, VdbenchColumns, VdbenchRow]]:
        """Return the rows, the total first: the last one is the run's, unless it is that of one host's slaves among several."""
        totals = [row for row in self.rows if row[1] == _TOTAL and not self._is_of_one_host(row[0])]
        return totals[-1:] + [row for row in self.rows if row[1] != _TOTAL]

    def _is_of_one_host(self, kind: str) -> bool:
        return kind == "Slave:" and self.tables.count(kind) > 1


def _iterate_skew_definitions(text: SourceText, broken: list[Broken]) -> Iterator[_SkewDefinition]:
    now = _SkewDefinition()
    kind, columns = "", None
    for index, line in enumerate(text.lines):
        bare = _strip_time(line[:_LONGEST])
        if match := START.search(line[:_LONGEST]):
            yield now
            now, columns = _SkewDefinition(match[2], match[3], index, index), None
        elif heading := _read_heading(text, index):
            kind, columns = bare.split()[0], heading
            now.tables.append(kind)
        elif not bare.strip():
            columns = None
        elif columns is not None:
            label, _, rest = bare.partition(" ")
            values = rest.split()
            if len(values) < len(columns.names):
                expected = f"a name and {len(columns.names)} columns"
                broken.append(Broken("a row is not as wide as its title", text.number(index), line[:100], expected))
                continue
            named = dict(zip(columns.names, values, strict=False))
            strange = [word for name, word in named.items() if name in TELLING and read_number(word) is None]
            if strange:
                message = "what this row did cannot be read"
                broken.append(Broken(message, text.number(index), ", ".join(strange)[:60], "a number"))
                continue
            now.rows.append(
                (kind, label, columns, VdbenchRow(text.number(index), 0.0, rest, len(line) - len(rest), named))
            )
            now.first, now.last = (index if now.first < 0 else now.first), index
    yield now


def _find_headings(text: SourceText) -> Iterator[int]:
    if any(kind in text.text for kind in _KINDS):
        yield from (index for index, line in enumerate(text.lines) if _strip_time(line[:_LONGEST]).startswith(_KINDS))


def _read_heading(text: SourceText, index: int) -> VdbenchColumns | None:
    """Return the columns of a table whose second title line this is, None for any other line."""
    below = _strip_time(text.lines[index][:_LONGEST])
    if index == 0 or not below.startswith(_KINDS):
        return None
    above = _strip_time(text.lines[index - 1][:_LONGEST])
    columns = read_columns(f"Jan 01, 1970 {above}", below.partition(":")[2])  # the date stands there in other reports
    if columns is None or columns.is_files:
        return columns
    return VdbenchColumns(tuple(name for name in columns.names if not name.startswith("skew ")))


def _strip_time(line: str) -> str:
    """Return the line without the time before it."""
    is_timed = line[2:3] == ":" and line[5:6] == ":" and line[8:9] == "." and line[:2].isdecimal()
    return line[_TIME_WIDTH:] if is_timed else line


NAME = "vdbench"
TITLE = "Vdbench report"

_LONGEST = 4000
_LABEL = r"\d{1,9}|(?:avg|std|max)_\d{1,9}(?:-\d{1,9})?"
_ROW = re.compile(rf"^(\d\d:\d\d:\d\d\.\d{{3}}) {{0,12}}({_LABEL}) {{1,40}}((?:-?\d|NaN)(?:[\d. -]|NaN){{0,1000}})$")
_TIMED = re.compile(rf"^(\d\d:\d\d:\d\d\.\d{{3}}) {{0,12}}({_LABEL}) {{1,40}}(\S.{{0,1000}})$")
_TITLE = re.compile(r"^ {0,8}\S{3,12} \d\d, \d{4} {0,4}\S*[Ii]nterval")
_UNDATED = re.compile(r"^ {0,24}interval {1,12}(?:i/o {1,4}MB/sec|\.ReqstdOps)")
_UNTIMED = re.compile(rf"^() {{0,24}}({_LABEL}) {{1,40}}((?:-?\d|NaN)(?:[\d. -]|NaN){{0,1000}})$")
_NO_DATE = "Jan 01, 1970 "  # stands in for the date of a title
_REPORT = "Vdbench summary report, created "
_VERSION = re.compile(r"Vdbench distribution: (vdbench\S{1,40})")
_NEEDLES = ("Vdbench", "Starting RD=", ".ReqstdOps.", "1024**2", "avg_")
_PAGE = "<title>Vdbench "
_NO_FIGURES = "a page of Vdbench's without lines of figures: anchors, a slave's messages, a histogram of nothing"
_MISSING = "the line of averages is missing"
_EMPTY = "the averages are over no interval: the run ended in its first"


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has a report of Vdbench, by its typical lines."""
    body = text.text
    if not any(needle in body for needle in _NEEDLES) or ("tod" in body and "* Interval" in body):
        return 0.0
    if "Starting RD=" in body or _REPORT in body:
        return 0.0 if "cum%%" in body and "avg_" not in body else 1.0
    if "1024**2" in body and is_skew_page(text):
        return 0.8
    return 0.8 if "avg_" in body and any(_ROW.match(line[:_LONGEST]) for line in text.lines if "avg_" in line) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    if "avg_" not in text.text and _REPORT not in text.text and is_skew_page(text):
        return read_skew_page(text)
    reading = _VdbenchReader(text)
    for index, line in enumerate(text.lines):
        if line and len(line) <= _LONGEST:
            reading.read_line(index, line)
    reading.close()
    if reading.columns is None and not reading.runs and _PAGE in text.text and _REPORT not in text.text:
        raise ParseError(_NO_FIGURES, expected="summary.html, totals.html or flatfile.html, which has them")
    if not reading.runs and not reading.broken:
        if _REPORT not in text.text:
            raise ParseError("no report of Vdbench in the text", expected="'Starting RD=' or a line of averages")
        return ParsedFile(broken=(Broken("a report without any run: Vdbench was aborted", 1, "", "'Starting RD='"),))
    return ParsedFile(tuple(reading.runs), broken=tuple(reading.broken))


@dataclass(slots=True)
class _RunDefinition:
    """A run in the making."""

    first: int
    last: int
    name: str = ""
    settings: str = ""
    began: float | None = None  # seconds on the report's clock
    intervals: list[VdbenchRow] = field(default_factory=list)
    whole: VdbenchRow | None = None
    spread: VdbenchRow | None = None
    largest: VdbenchRow | None = None


class _VdbenchReader:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.runs: list[ParsedRun] = []
        self.broken: list[Broken] = []
        self.columns: VdbenchColumns | None = None
        self.is_untimed = False  # whether times and dates before the labels were cut off
        self.clock = VdbenchClock()
        self.version = ""
        self.now: _RunDefinition | None = None

    def read_line(self, index: int, line: str) -> None:
        if match := START.search(line):
            if not self._is_repeated(index, match[2], match[3]):
                self.close()
            self.now = _RunDefinition(index, index, match[2], match[3], self.clock.read_time(match[1]))
        elif "Starting RD=" in line and (match := STARTED_ANY_TIME.search(line)):
            self.close()
            self.now = _RunDefinition(index, index, match[2], match[3])
            message = "the time at which a run began cannot be read"
            self.broken.append(Broken(message, self.text.number(index), match[1], "a time such as 13:45:13.001"))
        elif _TITLE.match(line) and index + 1 < len(self.text.lines):
            self.columns, self.is_untimed = read_columns(line, self.text.lines[index + 1][:_LONGEST]), False
        elif "interval" in line and _UNDATED.match(line) and index + 1 < len(self.text.lines):
            self.columns = read_columns(_NO_DATE + line, self.text.lines[index + 1][:_LONGEST])
            self.is_untimed = True
        elif match := _ROW.match(line) or (_UNTIMED.match(line) if self.is_untimed and self.columns else None):
            self._read_row(index, match)
        elif _REPORT in line:
            self.clock.start(*read_creation(line))
        elif match := _VERSION.search(line):
            self.version = match[1]
        elif self.columns and (row := find_damaged_row(line, self.columns.names)):
            self._add_damaged(index, row)

    def _is_repeated(self, index: int, name: str, settings: str) -> bool:
        """Return whether a start line repeats the one before: logfile.html has each twice, as a link's target and as a line."""
        now = self.now
        is_begun = now is not None and not (now.intervals or now.whole)
        return (
            is_begun and now is not None and (now.name, now.settings, now.last >= index - 2) == (name, settings, True)
        )

    def _add_damaged(self, index: int, row: DamagedRow) -> None:
        """Report a damaged line of figures; its other figures are read if its time and label are valid."""
        self.broken.append(
            Broken("a figure of this line cannot be read", self.text.number(index), row.printed, row.expected)
        )
        if row.whole and (match := _TIMED.match(row.whole)):
            self._read_row(index, match)

    def _read_row(self, index: int, match: re.Match[str]) -> None:
        label, values = match[2], match[3].split()
        if self.now is not None and self.now.whole is not None and label.isdecimal() and not self.now.name:
            self.close()
        kind = label.partition("_")[0]
        if self.now is None or (kind == "avg" and self.now.whole is not None):
            self.close()
            self.now = _RunDefinition(index, index)
        now = self.now
        now.last = index
        at = self.clock.read_time(match[1]) if match[1] else nan
        row = VdbenchRow(self.text.number(index), at, match[3], match.start(3), self._name_cells(values, kind))
        if kind == "avg" and _is_empty_range(label):
            row = replace(row, is_empty=True)
        if kind == "std":
            now.spread = row
        elif kind == "max":
            now.largest = row
        elif not row.values:
            expected = f"{len(self.columns.names)} columns" if self.columns else "a title over the columns"
            self.broken.append(Broken("the columns are not those of the title", row.line, match[0][:120], expected))
        elif kind == "avg":
            now.whole = row
        else:
            now.intervals.append(row)

    def _name_cells(self, values: list[str], kind: str) -> dict[str, str]:
        if kind in ("std", "max"):
            return {}  # these lines have gaps and are assigned by position
        columns = self.columns or recognise_columns(values)
        return dict(zip(columns.names, values, strict=False)) if columns and len(values) >= len(columns.names) else {}

    def close(self) -> None:
        now, self.now = self.now, None
        if now is None:
            return
        if now.whole is None:
            expected = f"'avg_' line of {now.name}" if now.name else "an 'avg_' line"
            self.broken.append(Broken(_MISSING, self.text.number(now.last), self.text.lines[now.last][:100], expected))
            if not now.intervals:
                return
        self.runs.append(self._run(now))

    def _run(self, now: _RunDefinition) -> ParsedRun:
        columns = VdbenchColumns(tuple((now.whole or now.intervals[-1]).values))
        samples = tuple(
            make_samples(columns, now.whole, now.spread, now.largest, now.intervals, read_loops(now.settings))
        )
        if now.whole is None or now.whole.is_empty:
            read = now.intervals[-1].value("read pct") if now.intervals else None
            operation = "mixed" if columns.is_files else choose_operation(read)
            line, reason = self.text.number(now.last), _EMPTY if now.whole else _MISSING
            samples = (ParsedSample(operation, "iops", None, line=line, missing_reason=reason),)
        return ParsedRun(
            tool="vdbench", tool_version=self.version, samples=samples,
            series=tuple(make_series(columns, now.whole, now.intervals, now.began)),
            started_at=self.clock.compute_epoch(now.began), problem="" if now.whole else _MISSING, caption=now.name,
            labels={"rd": now.name} if now.name else {}, workload=read_workload(now.settings),
            line=self.text.number(now.first), last_line=self.text.number(now.last),
        )  # fmt: skip


def _is_empty_range(label: str) -> bool:
    """Return whether a label such as `avg_2-1` averages nothing: the first interval is warm-up, and there was no second one."""
    first, _, last = label.partition("_")[2].partition("-")
    return bool(last) and int(first) > int(last)
