"""Vdbench's flatfile.html, 5.00 to 5.04.07.

    * rate            : Observed i/o rate
             tod               timestamp Run Interval reqrate rate MB/sec bytes/io read% resp …
    13:45:18.030 03/08/2019-13:45:18-ICT rd1  avg_2-5 100 107.5 0.105 1024 50.6977 1.557 …

One run per `Run` (run definition): the `avg_` line gives the samples, the others are series. The line that begins with
`tod` names the columns; names differ between versions in number and case, so they are read by name without case. MB is
1024² (Flat.java), response times are ms, cpu is % of all CPUs and therefore a note. `n/a` is not measured.

Raw devices (`read%`): `randread`, `randwrite` where `seekpct` is 100, else `read`, `write` (0 is sequential, between is
both); between 0 and 100 % reads it is `mixed`. `xfersize`, `threads` are what was asked for.
File systems (`Read_rate`): reads and writes apart, `mixed` where a run does both or neither; the other operations of a
file system (mkdir, open…) are not read. `timestamp` has a zone only as letters, so there is no start.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.parsers.finite import INT4, number, positive, whole
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSeries, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.vdbench_clock import Clock

NAME = "vdbench flatfile"
TITLE = "Vdbench flatfile"

_LONGEST = 8000
_MIB = 1024.0**2
_TIME = re.compile(r"^\s{0,20}(\d\d:\d\d:\d\d\.\d{3})\s")
_MISSING = "the line of averages is missing"
_DEVICES = (("iops", "rate", 1.0), ("bandwidth", "mb/sec", _MIB), ("latency_mean", "resp", 1e6),
            ("latency_max", "resp_max", 1e6), ("latency_stdev", "resp_std", 1e6))  # fmt: skip
_SIDES = (("latency_mean", "{}_resp", 1e6), ("latency_max", "{}_max", 1e6), ("latency_stdev", "{}_std", 1e6))
_FILES = (("iops", "{}_rate", 1.0), ("bandwidth", "mb_{}", _MIB), ("latency_mean", "{}_resp", 1e6),
          ("latency_max", "{}_resp_max", 1e6), ("latency_stdev", "{}_resp_std", 1e6),
          ("iops_max", "{}_rate_max", 1.0), ("iops_stdev", "{}_rate_std", 1.0))  # fmt: skip
_UNITS = {"mb/sec": "MB/sec", "mb_read": "MB/sec", "mb_write": "MB/sec"}
_MOST_RATE = 999_988  # Vdbench's numbers for "as fast as it goes": 999988 and 9999988

_TELLING = {"interval", "read%", "seekpct", "read_rate", "write_rate"}  # no row is read without them
_FIGURES = (
    *(column for _, column, _ in _DEVICES), *(column.format(side) for _, column, _ in (*_SIDES, *_FILES) for side in ("read", "write")),
    "read%", "seekpct",
)  # fmt: skip
_ASKED = ("rdpct", "reqrate", "threads", "xfersize")  # may be words: max
_ANY_TIME = re.compile(r"^\s{0,20}([^\s:]{1,4}:\S{1,14})\s")
_LABEL = re.compile(r"\d{1,9}|avg_\d{1,9}(?:-\d{1,9})?")

Wanted = tuple[str, str, str, float]  # operation, metric, column, factor


def looks_like(text: SourceText) -> float:
    body = text.text
    if not ("MB/sec" in body and "Interval" in body):
        return 0.0
    return 1.0 if any(_header(line) for line in text.lines if "tod" in line) else 0.0


def parse(text: SourceText) -> ParsedFile:
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    found = list(_runs(text, broken))
    for one in found:
        if one.whole is None:
            broken.append(Broken(_MISSING, one.rows[-1].line, one.name, f"'avg_' line of {one.name}"))
        if one.whole or len(one.rows) > 1:
            runs.append(one.parsed())
    if not runs and not broken:
        raise ParseError(
            "no flatfile of Vdbench in the text", expected="a line 'tod … Run Interval …' and rows under it"
        )
    return ParsedFile(tuple(runs), broken=tuple(broken))


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    at: float
    cells: dict[str, str]

    def value(self, column: str) -> float | None:
        return positive(self.cells.get(column, ""))


@dataclass(slots=True)
class _Run:
    name: str
    rows: list[_Row] = field(default_factory=list)
    whole: _Row | None = None

    @property
    def is_files(self) -> bool:
        return "read_rate" in self._last.cells

    @property
    def _last(self) -> _Row:
        return self.whole or self.rows[-1]

    def parsed(self) -> ParsedRun:
        cells, version = self._last.cells, self._last.cells.get("version", "")
        lines = [row.line for row in self.rows] + ([self.whole.line] if self.whole else [])
        wanted = list(self._wanted())
        return ParsedRun(
            tool="vdbench", tool_version="" if version == "n/a" else version, samples=tuple(self._samples(wanted)),
            series=tuple(self._series(wanted)), problem="" if self.whole else _MISSING, caption=self.name,
            labels={"rd": self.name}, workload=_workload(cells), line=min(lines), last_line=max(lines),
        )  # fmt: skip

    def _operation(self) -> str:
        percent, seek = self._last.value("read%"), self._last.value("seekpct")
        if percent not in (0, 100):
            return "mixed"
        side = "read" if percent == 100 else "write"
        return f"rand{side}" if seek == 100 else side

    def _wanted(self) -> Iterator[Wanted]:
        if not self.is_files:
            operation = self._operation()
            yield from ((operation, metric, column, factor) for metric, column, factor in _DEVICES)
            if operation == "mixed":
                for side in ("read", "write"):
                    yield from ((side, metric, column.format(side), factor) for metric, column, factor in _SIDES)
            return
        sides = [side for side in ("read", "write") if self._last.value(f"{side}_rate")]
        if len(sides) != 1:
            yield from (("mixed", "rate", "rate", 1.0), ("mixed", "latency_mean", "resp", 1e6))
        for side in sides:
            yield from ((side, metric, column.format(side), factor) for metric, column, factor in _FILES)

    def _samples(self, wanted: Sequence[Wanted]) -> Iterator[ParsedSample]:
        row, asked = self._last, _workload(self._last.cells)
        size, threads = whole(asked.get("block_size")), whole(asked.get("numjobs"), INT4)
        cpu = positive(row.cells.get("cpu_used", ""))
        note = f"CPU {row.cells['cpu_used']} % of all cores" if cpu is not None else ""
        for operation, metric, column, factor in wanted:
            if column not in row.cells:
                continue
            word = row.cells[column]
            value = positive(word) if self.whole else None
            reason = _MISSING if not self.whole else "" if value is not None else "n/a"
            printed = f"{word} {_UNITS.get(column, 'ms' if factor == 1e6 else '/s')}" if self.whole else ""
            yield ParsedSample(
                operation, metric, None if value is None else round(value * factor, 6), block_size=size,
                threads=threads, printed=printed, line=row.line, missing_reason=reason, note=note,
            )  # fmt: skip

    def _series(self, wanted: Sequence[Wanted]) -> Iterator[ParsedSeries]:
        if len(self.rows) < 1:
            return
        step = self.rows[1].at - self.rows[0].at if len(self.rows) > 1 else 0.0
        times = tuple(round(row.at - self.rows[0].at + step, 3) for row in self.rows)
        for operation, metric, column, factor in wanted:
            if metric not in ("iops", "rate", "bandwidth", "latency_mean") or column not in self.rows[0].cells:
                continue
            values = [row.value(column) for row in self.rows]
            numbers = tuple(float("nan") if value is None else round(value * factor, 6) for value in values)
            yield ParsedSeries(operation, metric, 0, "report", times, numbers)


def _header(line: str) -> list[str]:
    """The columns' names, where this is the line that tells them."""
    words = line[:_LONGEST].lower().split()
    return words if len(words) > 5 and words[0] == "tod" and "run" in words and "interval" in words else []


def _runs(text: SourceText, broken: list[Broken]) -> Iterator[_Run]:
    names: list[str] = []
    clock = Clock()
    now: _Run | None = None
    for index, line in enumerate(text.lines):
        if "tod" in line and (found := _header(line)):
            names = found
        elif names and len(line) <= _LONGEST and (match := _TIME.match(line) or _like_row(line, names)):
            words = line.split()
            if len(words) != len(names):
                expected = f"{len(names)} columns"
                broken.append(Broken("a row is not as wide as its title", text.number(index), line[:100], expected))
                continue
            cells = dict(zip(names, words, strict=True))
            strange = _strange(cells)
            if strange or match.re is not _TIME:
                told = ", ".join(strange.values()) or words[0]
                broken.append(Broken("a figure of this row cannot be read", text.number(index), told[:60], "a number"))
                if match.re is not _TIME or _TELLING & set(strange):
                    continue
            is_whole = cells["interval"].startswith("avg_")
            if not is_whole and not cells["interval"].isdecimal():
                continue
            row = _Row(text.number(index), clock.at(match[1]), cells)
            if now is None or now.name != cells["run"] or now.whole is not None:
                if now is not None:
                    yield now
                now = _Run(cells["run"][:100])
            if is_whole:
                now.whole = row
            else:
                now.rows.append(row)
    if now is not None:
        yield now


def _like_row(line: str, names: Sequence[str]) -> re.Match[str] | None:
    """A row of figures whose time cannot be read."""
    words = line.split()
    is_row = len(words) == len(names) and _LABEL.fullmatch(words[names.index("interval")])
    return _ANY_TIME.match(line) if is_row else None


def _strange(cells: dict[str, str]) -> dict[str, str]:
    """What is no figure where only figures are."""
    if not _LABEL.fullmatch(cells["interval"]) and not cells["interval"].startswith(("avg_", "std_", "max_", "n/a")):
        return {"interval": cells["interval"]}
    strange = {name: word for name in _FIGURES if (word := cells.get(name, "n/a")) != "n/a" and number(word) is None}
    asked = {name: word for name in _ASKED if (word := cells.get(name, ""))[:1].isdigit() and number(word) is None}
    return {**strange, **asked}


def _workload(cells: dict[str, str]) -> dict[str, str | int | float]:
    """What was asked for; the FSD file's `Xfersize` is an average and counts only where it is whole blocks."""
    told: dict[str, str | int | float] = {}
    size = whole(cells.get("xfersize", ""))
    if size and ("read%" in cells or size % 512 == 0):
        told["block_size"] = size
    threads = number(cells.get("threads", ""))
    if threads and threads == int(threads) and 0 < threads <= INT4:
        told["numjobs"] = int(threads)
    rate = positive(cells.get("reqrate", ""))
    if rate and rate < _MOST_RATE:
        told["rate_iops"] = rate
    for name, column in (("rwmixread", "rdpct"), ("seek_percent", "seekpct")):
        if (value := positive(cells.get(column, ""))) is not None and value <= 100:
            told[name] = value
    return told
