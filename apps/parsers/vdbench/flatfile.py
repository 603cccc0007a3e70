"""Parser of Vdbench's flatfile.html, 5.00 to 5.04.07.

    * rate            : Observed i/o rate
             tod               timestamp Run Interval reqrate rate MB/sec bytes/io read% resp …
    13:45:18.030 03/08/2019-13:45:18-ICT rd1  avg_2-5 100 107.5 0.105 1024 50.6977 1.557 …

One run per `Run` (run definition): the `avg_` line gives the samples, the others are series. The line that begins with
`tod` names the columns; names differ between versions in number and case, so they are read by name without case. MB is
1024² (Flat.java), response times are ms, cpu is % of all CPUs and therefore a note. `n/a` is not measured.

Raw devices (`read%`): `randread`, `randwrite` where `seekpct` is 100, else `read`, `write` (0 is sequential, between is
both); between 0 and 100 % reads it is `mixed`. `xfersize`, `threads` are the configured values. File systems
(`Read_rate`): reads and writes are separate, `mixed` where a run does both or neither; the other operations of a file
system (mkdir, open …) are not read. `timestamp` has a zone only as an abbreviation, so there is no start.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSeries, ParseError
from apps.parsers.core.numbers import INT4, read_non_negative, read_number, read_whole
from apps.parsers.core.source_text import SourceText
from apps.parsers.vdbench.clock import VdbenchClock
from apps.parsers.vdbench.samples import NOTHING_DONE

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
_MOST_RATE = 999_988  # Vdbench prints 999988 and 9999988 for an unlimited rate

_TELLING = {"interval", "read%", "seekpct", "read_rate", "write_rate"}  # no row is read without them
_FIGURES = (
    *(column for _, column, _ in _DEVICES), *(column.format(side) for _, column, _ in (*_SIDES, *_FILES) for side in ("read", "write")),
    "read%", "seekpct",
)  # fmt: skip
_SETTINGS = ("rdpct", "reqrate", "threads", "xfersize")  # may be words such as "max"
_ANY_TIME = re.compile(r"^\s{0,20}([^\s:]{1,4}:\S{1,14})\s")
_LABEL = re.compile(r"\d{1,9}|avg_\d{1,9}(?:-\d{1,9})?")

WantedFigure = tuple[str, str, str, float]  # operation, metric, column, factor


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has the title line of a flatfile, else 0."""
    body = text.text
    if not ("MB/sec" in body and "Interval" in body):
        return 0.0
    return 1.0 if any(_read_header(line) for line in text.lines if "tod" in line) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    flat_runs = list(_iterate_runs(text, broken))
    for flat_run in flat_runs:
        if flat_run.whole is None:
            broken.append(Broken(_MISSING, flat_run.rows[-1].line, flat_run.name, f"'avg_' line of {flat_run.name}"))
        if flat_run.whole or len(flat_run.rows) > 1:
            runs.append(flat_run.make_run())
    if not runs and not broken:
        raise ParseError(
            "no flatfile of Vdbench in the text", expected="a line 'tod … Run Interval …' and rows under it"
        )
    return ParsedFile(tuple(runs), broken=tuple(broken))


@dataclass(frozen=True, slots=True)
class _FlatRow:
    """A line; `at` is in seconds on the report's clock."""

    line: int
    at: float
    cells: dict[str, str]

    def value(self, column: str) -> float | None:
        return read_non_negative(self.cells.get(column, ""))


@dataclass(slots=True)
class _FlatRun:
    """The lines of one run definition; `whole` is the line of averages."""

    name: str
    rows: list[_FlatRow] = field(default_factory=list)
    whole: _FlatRow | None = None

    @property
    def is_files(self) -> bool:
        return "read_rate" in self._last.cells

    @property
    def _last(self) -> _FlatRow:
        return self.whole or self.rows[-1]

    def make_run(self) -> ParsedRun:
        cells, version = self._last.cells, self._last.cells.get("version", "")
        lines = [row.line for row in self.rows] + ([self.whole.line] if self.whole else [])
        wanted = list(self._iterate_wanted())
        return ParsedRun(
            tool="vdbench", tool_version="" if version == "n/a" else version, samples=tuple(self._iterate_samples(wanted)),
            series=tuple(self._iterate_series(wanted)), problem="" if self.whole else _MISSING, caption=self.name,
            labels={"rd": self.name}, workload=_make_workload(cells), line=min(lines), last_line=max(lines),
        )  # fmt: skip

    def _choose_operation(self) -> str:
        percent, seek = self._last.value("read%"), self._last.value("seekpct")
        if percent not in (0, 100):
            return "mixed"
        side = "read" if percent == 100 else "write"
        return f"rand{side}" if seek == 100 else side

    def _iterate_wanted(self) -> Iterator[WantedFigure]:
        if not self.is_files:
            operation = self._choose_operation()
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

    def _iterate_samples(self, wanted: Sequence[WantedFigure]) -> Iterator[ParsedSample]:
        row, workload = self._last, _make_workload(self._last.cells)
        size, threads = read_whole(workload.get("block_size")), read_whole(workload.get("numjobs"), INT4)
        cpu = read_non_negative(row.cells.get("cpu_used", ""))
        note = f"CPU {row.cells['cpu_used']} % of all cores" if cpu is not None else ""
        for operation, metric, column, factor in wanted:
            if column not in row.cells:
                continue
            word = row.cells[column]
            is_idle = row.value("rate") == 0
            value = read_non_negative(word) if self.whole and not is_idle else None
            reason = _MISSING if not self.whole else NOTHING_DONE if is_idle else "" if value is not None else "n/a"
            printed = f"{word} {_UNITS.get(column, 'ms' if factor == 1e6 else '/s')}" if self.whole else ""
            yield ParsedSample(
                operation, metric, None if value is None else round(value * factor, 6), block_size=size,
                threads=threads, printed=printed, line=row.line, missing_reason=reason, note=note,
            )  # fmt: skip

    def _iterate_series(self, wanted: Sequence[WantedFigure]) -> Iterator[ParsedSeries]:
        if len(self.rows) < 1:
            return
        step = self.rows[1].at - self.rows[0].at if len(self.rows) > 1 else 0.0
        times = tuple(round(row.at - self.rows[0].at + step, 3) for row in self.rows)
        for operation, metric, column, factor in wanted:
            if metric not in ("iops", "rate", "bandwidth", "latency_mean") or column not in self.rows[0].cells:
                continue
            is_latency = metric == "latency_mean"
            values = [None if is_latency and row.value("rate") == 0 else row.value(column) for row in self.rows]
            numbers = tuple(float("nan") if value is None else round(value * factor, 6) for value in values)
            yield ParsedSeries(operation, metric, 0, "report", times, numbers)


def _read_header(line: str) -> list[str]:
    """Return the names of the columns if this is the line with them, else []."""
    words = line[:_LONGEST].lower().split()
    return words if len(words) > 5 and words[0] == "tod" and "run" in words and "interval" in words else []


def _iterate_runs(text: SourceText, broken: list[Broken]) -> Iterator[_FlatRun]:
    names: list[str] = []
    clock = VdbenchClock()
    now: _FlatRun | None = None
    for index, line in enumerate(text.lines):
        if "tod" in line and (header := _read_header(line)):
            names = header
        elif names and len(line) <= _LONGEST and (match := _TIME.match(line) or _match_damaged_row(line, names)):
            words = line.split()
            if len(words) != len(names):
                expected = f"{len(names)} columns"
                broken.append(Broken("a row is not as wide as its title", text.number(index), line[:100], expected))
                continue
            cells = dict(zip(names, words, strict=True))
            strange = _find_strange(cells)
            if strange or match.re is not _TIME:
                printed = ", ".join(strange.values()) or words[0]
                broken.append(
                    Broken("a figure of this row cannot be read", text.number(index), printed[:60], "a number")
                )
                if match.re is not _TIME or _TELLING & set(strange):
                    continue
            is_whole = cells["interval"].startswith("avg_")
            if not is_whole and not cells["interval"].isdecimal():
                continue
            row = _FlatRow(text.number(index), clock.read_time(match[1]), cells)
            if now is None or now.name != cells["run"] or now.whole is not None:
                if now is not None:
                    yield now
                now = _FlatRun(cells["run"][:100])
            if is_whole:
                now.whole = row
            else:
                now.rows.append(row)
    if now is not None:
        yield now


def _match_damaged_row(line: str, names: Sequence[str]) -> re.Match[str] | None:
    """Return the match of a row of figures whose time can not be read, None for any other line."""
    words = line.split()
    is_row = len(words) == len(names) and _LABEL.fullmatch(words[names.index("interval")])
    return _ANY_TIME.match(line) if is_row else None


def _find_strange(cells: dict[str, str]) -> dict[str, str]:
    """Return the words that should be figures and are none, by column."""
    if not _LABEL.fullmatch(cells["interval"]) and not cells["interval"].startswith(("avg_", "std_", "max_", "n/a")):
        return {"interval": cells["interval"]}
    strange = {
        name: word for name in _FIGURES if (word := cells.get(name, "n/a")) != "n/a" and read_number(word) is None
    }
    strange_settings = {
        name: word for name in _SETTINGS if (word := cells.get(name, ""))[:1].isdigit() and read_number(word) is None
    }
    return {**strange, **strange_settings}


def _make_workload(cells: dict[str, str]) -> dict[str, str | int | float]:
    """Return the configured values. The FSD file's `Xfersize` is an average and is used only where it is whole blocks."""
    workload: dict[str, str | int | float] = {}
    size = read_whole(cells.get("xfersize", ""))
    if size and ("read%" in cells or size % 512 == 0):
        workload["block_size"] = size
    threads = read_number(cells.get("threads", ""))
    if threads and threads == int(threads) and 0 < threads <= INT4:
        workload["numjobs"] = int(threads)
    rate = read_non_negative(cells.get("reqrate", ""))
    if rate and rate < _MOST_RATE:
        workload["rate_iops"] = rate
    for name, column in (("rwmixread", "rdpct"), ("seek_percent", "seekpct")):
        if (value := read_non_negative(cells.get(column, ""))) is not None and value <= 100:
            workload[name] = value
    return workload
