"""Vdbench's reports with interval lines, 5.00 to 5.04.07: summary.html, totals.html, a host's or an SD's report,
logfile.html, what it prints on the screen; skew.html by `vdbench_skew`.

    13:45:13.001 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: None
    Mar 08, 2019    interval        i/o   MB/sec   bytes   read     resp …
                                   rate  1024**2     i/o    pct     time …
    13:45:18.019     avg_2-5      107.5     0.10    1024  50.70    1.557 …

One run per run definition (`RD=`): its `avg_` line gives the samples, the numbered lines are series. Raw devices (SD/WD):
`i/o rate` → iops, `MB/sec` → bandwidth, `resp time` → latency_mean. File systems (FSD/FWD): reads and writes apart,
`.ReqstdOps.` is `mixed` where a run does both or neither; mkdir, open, close and so on have no operation here and are
not read; the `std_` and `max_` lines give latency_stdev and latency_max.

Units (Report.java, FwdStats.java; users guide): MB is 1024² (`1024**2` in the title; with the option for decimal it is
`1000**2`), response times are ms, cpu% is of all CPUs and therefore a note.

Operation: read % of the average: 100 → read, 0 → write, between → mixed. Random or sequential is only in flatfile.html.

Oddities: labels grow into the time (`11:23:54.347avg_2-1200`), some builds print one number (`avg_600`); `avg_2-1`, of a
run that ended in its first interval, averages nothing, and has NaN for the CPU; times roll over at midnight; the `created` line tells
UTC, a run's own lines only local time, so the start is counted from there. Lines without any header (a copy of the
screen) are read where rate × bytes = MB/sec proves which columns they are. Where somebody cut off dates and times in front of title and
lines, there is no series, as the length of an interval is not told. A run without `avg_` was aborted: broken.
"""

import re
from dataclasses import dataclass, field, replace
from math import nan

from apps.parsers import vdbench_skew
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.vdbench_clock import Clock, created_at
from apps.parsers.vdbench_columns import Columns, read_columns, recognised
from apps.parsers.vdbench_damaged import DamagedRow, damaged_row
from apps.parsers.vdbench_definition import START, STARTED, loops, workload
from apps.parsers.vdbench_samples import Row, operation_of, samples_of, series_of

NAME = "vdbench"
TITLE = "Vdbench report"

_LONGEST = 4000
_LABEL = r"\d{1,9}|(?:avg|std|max)_\d{1,9}(?:-\d{1,9})?"
_ROW = re.compile(rf"^(\d\d:\d\d:\d\d\.\d{{3}}) {{0,12}}({_LABEL}) {{1,40}}((?:-?\d|NaN)(?:[\d. -]|NaN){{0,1000}})$")
_TIMED = re.compile(rf"^(\d\d:\d\d:\d\d\.\d{{3}}) {{0,12}}({_LABEL}) {{1,40}}(\S.{{0,1000}})$")
_TITLE = re.compile(r"^ {0,8}\S{3,12} \d\d, \d{4} {0,4}\S*[Ii]nterval")
_UNDATED = re.compile(r"^ {0,24}interval {1,12}(?:i/o {1,4}MB/sec|\.ReqstdOps)")
_UNTIMED = re.compile(rf"^() {{0,24}}({_LABEL}) {{1,40}}((?:-?\d|NaN)(?:[\d. -]|NaN){{0,1000}})$")
_NO_DATE = "Jan 01, 1970 "  # where a title has one
_REPORT = "Vdbench summary report, created "
_VERSION = re.compile(r"Vdbench distribution: (vdbench\S{1,40})")
_NEEDLES = ("Vdbench", "Starting RD=", ".ReqstdOps.", "1024**2", "avg_")
_PAGE = "<title>Vdbench "
_NO_FIGURES = "a page of Vdbench's without lines of figures: anchors, a slave's messages, a histogram of nothing"
_MISSING = "the line of averages is missing"
_EMPTY = "the averages are over no interval: the run ended in its first"


def looks_like(text: SourceText) -> float:
    body = text.text
    if not any(needle in body for needle in _NEEDLES) or ("tod" in body and "* Interval" in body):
        return 0.0
    if "Starting RD=" in body or _REPORT in body:
        return 0.0 if "cum%%" in body and "avg_" not in body else 1.0
    if "1024**2" in body and vdbench_skew.is_page(text):
        return 0.8
    return 0.8 if "avg_" in body and any(_ROW.match(line[:_LONGEST]) for line in text.lines if "avg_" in line) else 0.0


def parse(text: SourceText) -> ParsedFile:
    if "avg_" not in text.text and _REPORT not in text.text and vdbench_skew.is_page(text):
        return vdbench_skew.read_page(text)
    reading = _Reading(text)
    for index, line in enumerate(text.lines):
        if line and len(line) <= _LONGEST:
            reading.take(index, line)
    reading.close()
    if reading.columns is None and not reading.runs and _PAGE in text.text and _REPORT not in text.text:
        raise ParseError(_NO_FIGURES, expected="summary.html, totals.html or flatfile.html, which has them")
    if not reading.runs and not reading.broken:
        if _REPORT not in text.text:
            raise ParseError("no report of Vdbench in the text", expected="'Starting RD=' or a line of averages")
        return ParsedFile(broken=(Broken("a report without any run: Vdbench was aborted", 1, "", "'Starting RD='"),))
    return ParsedFile(tuple(reading.runs), broken=tuple(reading.broken))


@dataclass(slots=True)
class _Definition:
    """A run as it is read."""

    first: int
    last: int
    name: str = ""
    told: str = ""
    began: float | None = None  # on the report's clock
    intervals: list[Row] = field(default_factory=list)
    whole: Row | None = None
    spread: Row | None = None
    largest: Row | None = None


class _Reading:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.runs: list[ParsedRun] = []
        self.broken: list[Broken] = []
        self.columns: Columns | None = None
        self.is_untimed = False  # somebody cut off what stands before the labels
        self.clock = Clock()
        self.version = ""
        self.now: _Definition | None = None

    def take(self, index: int, line: str) -> None:
        if match := START.search(line):
            if not self._is_repeated(index, match[2], match[3]):
                self.close()
            self.now = _Definition(index, index, match[2], match[3], self.clock.at(match[1]))
        elif "Starting RD=" in line and (match := STARTED.search(line)):
            self.close()
            self.now = _Definition(index, index, match[2], match[3])
            told = "the time at which a run began cannot be read"
            self.broken.append(Broken(told, self.text.number(index), match[1], "a time such as 13:45:13.001"))
        elif _TITLE.match(line) and index + 1 < len(self.text.lines):
            self.columns, self.is_untimed = read_columns(line, self.text.lines[index + 1][:_LONGEST]), False
        elif "interval" in line and _UNDATED.match(line) and index + 1 < len(self.text.lines):
            self.columns = read_columns(_NO_DATE + line, self.text.lines[index + 1][:_LONGEST])
            self.is_untimed = True
        elif match := _ROW.match(line) or (_UNTIMED.match(line) if self.is_untimed and self.columns else None):
            self._row(index, match)
        elif _REPORT in line:
            self.clock.start(*created_at(line))
        elif match := _VERSION.search(line):
            self.version = match[1]
        elif self.columns and (row := damaged_row(line, self.columns.names)):
            self._damaged(index, row)

    def _is_repeated(self, index: int, name: str, told: str) -> bool:
        """logfile.html says each begin twice: as a link's target, and below that as a line."""
        now = self.now
        is_begun = now is not None and not (now.intervals or now.whole)
        return is_begun and now is not None and (now.name, now.told, now.last >= index - 2) == (name, told, True)

    def _damaged(self, index: int, row: DamagedRow) -> None:
        """A letter got into a line of figures: its other figures stand, where its time and its label do."""
        self.broken.append(
            Broken("a figure of this line cannot be read", self.text.number(index), row.found, row.expected)
        )
        if row.whole and (match := _TIMED.match(row.whole)):
            self._row(index, match)

    def _row(self, index: int, match: re.Match[str]) -> None:
        label, values = match[2], match[3].split()
        if self.now is not None and self.now.whole is not None and label.isdecimal() and not self.now.name:
            self.close()
        kind = label.partition("_")[0]
        if self.now is None or (kind == "avg" and self.now.whole is not None):
            self.close()
            self.now = _Definition(index, index)
        now = self.now
        now.last = index
        at = self.clock.at(match[1]) if match[1] else nan
        row = Row(self.text.number(index), at, match[3], match.start(3), self._named(values, kind))
        if kind == "avg" and _ends_before(label):
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

    def _named(self, values: list[str], kind: str) -> dict[str, str]:
        if kind in ("std", "max"):
            return {}  # with gaps: told by their place
        columns = self.columns or recognised(values)
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

    def _run(self, now: _Definition) -> ParsedRun:
        columns = Columns(tuple((now.whole or now.intervals[-1]).values))
        samples = tuple(samples_of(columns, now.whole, now.spread, now.largest, now.intervals, loops(now.told)))
        if now.whole is None or now.whole.is_empty:
            read = now.intervals[-1].value("read pct") if now.intervals else None
            operation = "mixed" if columns.is_files else operation_of(read)
            line, reason = self.text.number(now.last), _EMPTY if now.whole else _MISSING
            samples = (ParsedSample(operation, "iops", None, line=line, missing_reason=reason),)
        return ParsedRun(
            tool="vdbench", tool_version=self.version, samples=samples,
            series=tuple(series_of(columns, now.whole, now.intervals, now.began)),
            started_at=self.clock.epoch(now.began), problem="" if now.whole else _MISSING, caption=now.name,
            labels={"rd": now.name} if now.name else {}, workload=workload(now.told),
            line=self.text.number(now.first), last_line=self.text.number(now.last),
        )  # fmt: skip


def _ends_before(label: str) -> bool:
    """`avg_2-1`: the first interval is warm-up, and there was no second one."""
    first, _, last = label.partition("_")[2].partition("-")
    return bool(last) and int(first) > int(last)
