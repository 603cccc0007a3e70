"""Parser of fio's logs of single I/Os, of averages and of histograms, with one file for each job and measure.

They are written by `write_bw_log`, `write_iops_log`, `write_lat_log`, `log_avg_msec` and `write_hist_log`.

One real line, from `fio_clat.1.log` of fio 3.7: `1000, 1273222, 0, 0`

    time ms, value, direction (0 read, 1 write, 2 trim), block size[, offset][, priority][, issue time]
    time ms, mean, largest, direction, block size, …         log_window_value=both, fio 3.37 and later
    time ms, direction, block size, 1,856 counts             `_clat_hist`; halved by every step of log_hist_coarseness

Columns and units by version (`flush_samples` in iolog.c, HOWTO "Log File Formats"): 4 columns, 5 with log_offset; the
priority came with 3.17, hexadecimal with log_prio; the issue time with 3.40.

Peculiarities:

- The measure stands only in the file's name (`_bw`, `_iops`, `_lat`, `_clat`, `_slat`, `_clat_hist`). A log whose name
  does not tell is not read.
- bw is KiB/s in all versions. Latencies are ns since fio 2.99 and µs before: where nothing tells (`units.py`), they are
  read as ns, with a warning. Users who know better choose the formats `fio log us` and `fio log ns`.
- Averaged logs have block size and offset 0. A log of single I/Os has 1 for each in `_iops`: those are counted by the
  second (`CountedSeconds`).
- With per_job_logs=0 the jobs of a name stand one behind the other in one file: each adds its own when it ends
  (`flush_log` in iolog.c), also to what an earlier run left. Each becomes a run (`split_jobs`).
- With log_window_value=max (log_max_value=1) the latencies are the largest of each interval and no means. No line
  tells.
- A `_bw` log of single I/Os has the rate of each, its bytes by its latency, which is no bandwidth of the job.
- With log_unix_epoch the time is ms since 1970: the series then begins at its first line.
- A log does not distinguish random from sequential: read, write and trim.
- Histogram counts are those of each interval (`log_hist_msec`). They are read over time, with percentiles of each
  interval, and added up; intervals beyond `MOST_INTERVALS` are joined with their neighbours. A bin stands for its middle
  (`plat_idx_to_val` in stat.c), a coarse one for the middle of the bins that it joins (`hist_sum` in iolog.c). Some fio
  servers (3.7) send other memory in their place: numbers of 19 digits, which are refused.
- Rows may stand behind the quote marks of a mail, or below what somebody wrote above them.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, cast, overload

import numpy as np
from msgspec import structs
from numpy.typing import DTypeLike, NDArray

from apps.parsers.core.compact_array import Integers
from apps.parsers.core.models import (
    Broken,
    ParsedFile,
    ParsedHistogram,
    ParsedHistory,
    ParsedRun,
    ParsedSeries,
    ParseError,
)
from apps.parsers.core.source_text import SourceText, get_ascii_bytes
from apps.parsers.fio.bins import BITS, GROUPS, GROUPS_IN_US, compute_percentiles, get_middle
from apps.parsers.fio.logs.columns import LogTable, get_first_rows, read_table
from apps.parsers.fio.logs.names import get_measure, make_caption
from apps.parsers.fio.logs.units import SCALES, LogUnit, find_unit

_ITERATED_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class ScaledColumn:
    """A column of whole numbers as the seconds or values for which they stand, computed on access.

        ScaledColumn(ms, since=1_700_000_000_000, divisor=1000.0)[:2]    # array([0., 0.001])

    As float64 at once, the ten million lines of a log of an hour would take two to eight times as much memory.
    """

    numbers: Integers
    since: int = 0
    scale: float = 1.0
    divisor: float = 1.0

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> NDArray[np.float64]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return (self.numbers[place].astype(np.int64) - self.since) * self.scale / self.divisor
        return (int(self.numbers[place]) - self.since) * self.scale / self.divisor

    def __iter__(self) -> Iterator[float]:
        for begin in range(0, len(self), _ITERATED_ROWS):
            yield from self[begin : begin + _ITERATED_ROWS].tolist()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)


VALUES = re.compile(rb"\d{1,18}, \d{1,18}(?:, \d{1,18})?, [012], \d{1,18}(?:, (?:\d{1,20}|0x[0-9a-fA-F]{1,8})){0,3}\Z")
COUNTS = re.compile(rb"\d{1,18}, [012], \d{1,18}(?:, \d{1,19}){19,}\Z")
_QUOTE = re.compile(rb"^(?:> ?){1,20}", re.MULTILINE)
_HEAD = 1 << 16
_MOST_ABOVE = 50  # lines


def is_row(line: bytes) -> bool:
    """Return whether a line is one of a log."""
    return bool(VALUES.match(line) or COUNTS.match(line))


def find_rows(text: SourceText) -> tuple[bytes, int]:
    """Return the bytes from the first row on, and how many lines stand above; all of them where there is no row.

    A line of names above the rows belongs to a table, which is no log.
    """
    data = get_ascii_bytes(text)
    head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if is_row(head.lstrip().split(b"\n", 1)[0].strip()):
        return data, 0
    if head.startswith(b">") or b"\n>" in head:
        data = _QUOTE.sub(b"", data)
    start, above = 0, b""
    for count, line in enumerate(data[:_HEAD].split(b"\n")[:_MOST_ABOVE]):
        if line.lstrip()[:1].isdigit():  # a row, perhaps one that can not be read
            return (data, 0) if above.count(b",") == line.count(b",") else (data[start:], count)
        start, above = start + len(line) + 1, line if line.strip() else above
    return data, 0


def read_rows(data: bytes, above: int, stored: int) -> LogTable:
    """Read the rows with the first `stored` of their columns."""
    read = read_table(data, stored)
    if not above:
        return read
    broken = tuple(replace(broken, line=(broken.line or 0) + above) for broken in read.broken)
    read.lines.above = above
    return replace(read, broken=broken)


_OUT_OF_ORDER_MS = 10
_SURE_MS = 1000
_MOST_PARTS = 4096
_SEARCHED_ROWS = 1 << 18  # rows


def split_jobs(times_ms: Integers) -> Sequence[tuple[int, int]]:
    """Return the rows of each job; all of them as one where their times make no sense.

    Another job begins where the times fall back. I/Os that end out of order are off by some milliseconds; a job that
    begins falls back by seconds, or by most of what was before it.
    """
    begins = [0]
    for row in _find_falls(times_ms):
        before, first = int(times_ms[row - 1]), int(times_ms[begins[-1]])
        fall = before - int(times_ms[row])
        if fall > _SURE_MS or 2 * fall > before - first:
            begins.append(row)
        if len(begins) > _MOST_PARTS:
            return [(0, len(times_ms))]
    return list(zip(begins, [*begins[1:], len(times_ms)], strict=True))


def _find_falls(times_ms: Integers) -> Iterator[int]:
    """Yield the rows whose time is earlier than that of the row before."""
    for begin in range(1, len(times_ms), _SEARCHED_ROWS):
        some = times_ms[begin - 1 : begin + _SEARCHED_ROWS].astype(np.int64)
        yield from (np.flatnonzero(np.diff(some) < -_OUT_OF_ORDER_MS) + begin).tolist()


Floats = NDArray[np.float64]

_SECOND_MS = 1000
_SHORTEST_MS = 500
_COUNTED_ROWS = 1 << 20  # rows


@dataclass(frozen=True, slots=True)
class CountedSeconds:
    """The seconds that a log covers, in which the I/Os of every direction are counted.

    The last second is seldom whole. Half a second or more is divided by its own length, and less is added to the second
    before: 300 I/Os of a run of a tenth of a second are 3,000 IOPS. Seconds are counted from the run's beginning, or
    from the first line where that is later: some clocks began long before the run (`log_unix_epoch`,
    `log_alternate_epoch`).
    """

    first_ms: int
    last_ms: int

    def count(self, times_ms: Integers) -> tuple[Floats, Floats]:
        """Return the ends of the seconds, in ms on the log's own clock, and the I/Os a second."""
        begin = self.first_ms if self.first_ms >= _SECOND_MS else 0
        covered = self.last_ms - begin
        counts = np.zeros(covered // _SECOND_MS + 1)
        for at in range(0, len(times_ms), _COUNTED_ROWS):
            some = (times_ms[at : at + _COUNTED_ROWS].astype(np.int64) - begin) // _SECOND_MS
            counts += np.bincount(some, minlength=len(counts))
        ends = np.arange(1, len(counts) + 1, dtype=np.float64) * _SECOND_MS
        ends[-1] = covered + 1
        if len(counts) > 1 and ends[-1] - ends[-2] < _SHORTEST_MS:
            counts[-2] += counts[-1]
            counts, ends = counts[:-1], np.delete(ends, -2)
        return begin + ends, counts * _SECOND_MS / np.diff(ends, prepend=0)


RowRange = tuple[int, int]  # first row, and the row behind the last

NAME = "fio log"
TITLE = "fio log (bandwidth, IOPS, latency, histogram)"

_METRICS = {"bw": "bandwidth", "iops": "iops", "lat": "latency_mean", "clat": "clat_mean", "slat": "slat_mean"}
_LARGEST_OF = {"bw": "bandwidth_max", "iops": "iops_max", "lat": "latency_max", "clat": "clat_max", "slat": "slat_max"}
_LATENCIES = ("lat", "clat", "slat")
_DIRECTIONS = ("read", "write", "trim")
_EPOCH_MS = 10**11  # 1973; as a duration, three years
_LONGEST_COUNTED_MS = 10**9
_LEAST_WINDOW_MS = 100
_MOST_COMPLETIONS = 1e13
_MOST_BROKEN = 20
_LOOKED_AT = 8
_KEPT_COLUMNS = 4  # the direction is the last column that is read row by row, and may be the fourth
_LEAST_COLUMNS, _LEAST_BINS = 4, 22
_SHARES = (50.0, 99.0, 99.9)
_SHARE_METRICS = ("clat_p50", "clat_p99", "clat_p99_9")
MOST_INTERVALS = 4000  # of one log; neighbours of a longer one are added up
_EXPECTED = "a name like job_bw.1.log, with _bw, _iops, _lat, _clat, _slat or _clat_hist"


def begins(head: bytes) -> bool:
    """Return whether the first lines are those of a log, so that millions of them need not be offered to every other format."""
    rows = head.split(b"\n", _LOOKED_AT)[:-1]
    return bool(rows) and all(is_row(row.rstrip()) for row in rows)


def looks_like(text: SourceText) -> float:
    """Return 1 where the name also tells what the numbers are, 0.5 where only the lines have the form, else 0."""
    measure = get_measure(text.name)
    data = find_rows(text)[0] if measure else text.data
    if not data[:64].strip(b"\xef\xbb\xbf\xff\xfe \r\n\x00")[:1].isdigit():
        return 0.0
    rows = get_first_rows(data if measure else get_ascii_bytes(text), _LOOKED_AT)
    if not rows or sum(map(is_row, rows)) * 2 < len(rows):
        return 0.0
    return 1.0 if measure else 0.5


def parse(text: SourceText, latencies_in: str = "") -> ParsedFile:
    """Parse a log into one run for each job, with a series for each direction.

    `latencies_in` is "ns" or "us" where a user chose the unit.

    Raises:
        ParseError: if no line is one of a log.
    """
    data, above = find_rows(text)
    rows = get_first_rows(data, _LOOKED_AT)
    if not any(map(is_row, rows)):
        raise ParseError("no log of fio", line=1, expected="time, value, direction, block size")
    measure = get_measure(text.name)
    is_histogram = sum(1 for row in rows if COUNTS.match(row)) * 2 > len(rows)
    if not is_histogram and measure not in _METRICS:
        message = "the numbers of this fio log do not tell what they measure, and neither does its name"
        return ParsedFile(broken=(Broken(message, 1, text.name, _EXPECTED),))
    read = read_rows(data, above, _KEPT_COLUMNS)
    if read.width < (_LEAST_BINS if is_histogram else _LEAST_COLUMNS):
        return ParsedFile(broken=read.broken)
    log = _Log(read, measure, PurePosixPath(text.name.replace("\\", "/")).name)
    if is_histogram:
        return log.histograms()
    if latencies_in and measure in _LATENCIES:
        return log.values(LogUnit(SCALES[latencies_in]))
    return log.values(log.unit(text, is_hexadecimal=any(b"0x" in row for row in rows)))


@dataclass(slots=True)
class _Log:
    """A log's table and its measure."""

    table: LogTable
    measure: str
    name: str

    def unit(self, text: SourceText, *, is_hexadecimal: bool) -> LogUnit:
        if self.measure not in _LATENCIES:
            return LogUnit(1024.0 if self.measure == "bw" else 1.0)
        has_start = int(self.table.columns[0][0]) < _EPOCH_MS
        place = self._find_direction_column()
        return find_unit(self.table, place, text.name, text.beside, is_hexadecimal=is_hexadecimal, has_start=has_start)

    def values(self, unit: LogUnit) -> ParsedFile:
        place = self._find_direction_column()
        directions, broken = self.table.columns[place], list(self.table.broken)
        parts = split_jobs(self.table.columns[0])
        if self.table.largest[place] > 2:
            strange = int(np.argmax(directions > 2))
            line, printed = int(self.table.lines[strange]), str(directions[strange])
            broken.append(Broken("a direction that fio does not have", line, printed, "0, 1 or 2"))
        runs = tuple(
            self._make_run(rows, place, unit.scale, number if len(parts) > 1 else 0)
            for number, rows in enumerate(parts, 1)
        )
        return ParsedFile(runs, self._collect_warnings(place, unit, parts), tuple(broken))

    def _make_run(self, rows: RowRange, place: int, scale: float, number: int) -> ParsedRun:
        since = self._read_since(rows)
        series = tuple(item for direction in range(3) for item in self._iterate_series(direction, rows, place, scale))
        return self._run(series, (), since / 1000.0 or None, place, rows, number)

    def _find_direction_column(self) -> int:
        """Return the column of the direction: 2, or 3 where the largest value of the interval stands beside its mean."""
        largest = self.table.largest
        if self.table.width < 6 or largest[3] > 2:
            return 2
        return 3 if largest[2] > 2 or largest[4] > 0 else 2

    def _read_since(self, rows: RowRange) -> int:
        """Return the ms since 1970 of the first line, 0 where times are counted since the run began."""
        first = int(self.table.columns[0][rows[0]])
        return first if first >= _EPOCH_MS else 0

    def _iterate_series(self, number: int, rows: RowRange, place: int, scale: float) -> Iterator[ParsedSeries]:
        columns = [column[slice(*rows)] for column in self.table.columns]
        mine = columns[place] == number
        if not mine.any():
            return
        direction, (ms, values) = _DIRECTIONS[number], (_select(mine, column) for column in columns[:2])
        since = self._read_since(rows)
        if self._is_single_iops(place):
            ends, rates = CountedSeconds(int(columns[0].min()), int(columns[0].max())).count(ms)
            yield _make_series(direction, _METRICS[self.measure], (ends - since) / 1000.0, rates)
            return
        times = ScaledColumn(ms, since=since, divisor=1000.0)
        yield _make_series(direction, _METRICS[self.measure], times, ScaledColumn(values, scale=scale))
        if place != 3 or not (largest := _select(mine, columns[2])).any():
            return
        if self.measure in _LATENCIES or (largest != values).any():  # for bw and iops fio writes the mean twice
            yield _make_series(direction, _LARGEST_OF[self.measure], times, ScaledColumn(largest, scale=scale))

    def _is_single_iops(self, place: int) -> bool:
        """Return whether this is an IOPS log with a line, and the value 1, for every I/O."""
        least, largest = self.table.least, self.table.largest
        is_single = least[1] == largest[1] == 1 and least[place + 1] > 0
        return self.measure == "iops" and is_single and largest[0] - least[0] < _LONGEST_COUNTED_MS

    def _collect_warnings(self, place: int, unit: LogUnit, parts: Sequence[RowRange]) -> tuple[str, ...]:
        warnings = [unit.warning] if unit.warning else []
        if len(parts) > 1:
            again = int(self.table.lines[parts[1][0]])
            warnings.append(
                f"line {again}: the times begin again: {len(parts)} jobs in one log, each a run of its own here"
            )
        if self._is_single_iops(place):
            first = int(self.table.lines[0])
            warnings.append(f"line {first}: a line for every I/O and no average; they are counted by the second")
        span = self.table.largest[0] - self.table.least[0]
        # before 2.2 averages over bwavgtime, 100 ms at least, have a block size, too
        if (
            self.measure == "bw"
            and self.table.least[place + 1] > 0
            and (len(self.table) - 3) * _LEAST_WINDOW_MS > span * 3
        ):
            first = int(self.table.lines[0])
            warnings.append(
                f"line {first}: a line for every I/O, with the rate of that one alone: no bandwidth of the job"
            )
        return tuple(warnings)

    def _run(
        self,
        series: tuple[ParsedSeries, ...],
        histograms: tuple[ParsedHistogram, ...],
        started_at: float | None,
        place: int,
        rows: RowRange,
        number: int = 0,
    ) -> ParsedRun:
        size, other = self.table.least[place + 1], self.table.largest[place + 1]
        return ParsedRun(
            tool="fio",
            tool_version="",
            series=series,
            histograms=histograms,
            started_at=started_at,
            workload={"block_size": size} if size == other > 0 else {},
            caption=make_caption(self.name) + (f", part {number}" if number else ""),
            line=int(self.table.lines[rows[0]]),
            last_line=int(self.table.lines[rows[1] - 1]),
        )

    def histograms(self) -> ParsedFile:
        bins = _make_bins(self.table.width - 3)
        if bins is None:
            printed, expected = (
                f"{self.table.width - 3} counts",
                "1,856 (ns) or 1,216 (µs), or a half, quarter… of them",
            )
            strange = Broken(
                "a histogram with a number of bins that fio does not write", int(self.table.lines[0]), printed, expected
            )
            return ParsedFile(broken=(strange,))
        broken, possible = [*self.table.broken, *self._find_impossible()], ~self._is_impossible()
        parts = self._split_histograms()
        read = (
            self._make_histogram_run(rows, bins, possible, number if len(parts) > 1 else 0)
            for number, rows in enumerate(parts, 1)
        )
        again = f"line {int(self.table.lines[parts[1][0]])}: the times begin again: " if len(parts) > 1 else ""
        warnings = (f"{again}{len(parts)} jobs in one log, each a run of its own here",) if again else ()
        return ParsedFile(tuple(run for run in read if run), warnings, tuple(broken))

    def _split_histograms(self) -> Sequence[RowRange]:
        """Return the rows of each job; directions may stand one behind the other in one job's log."""
        times, directions = self.table.columns[:2]
        is_split = any(
            len(split_jobs(times[directions == place])) > 1 for place in range(3) if (directions == place).any()
        )
        return split_jobs(times) if is_split else [(0, len(self.table))]

    def _make_histogram_run(
        self, rows: RowRange, bins: list[int], possible: NDArray[np.bool_], number: int
    ) -> ParsedRun | None:
        """Return the histograms of one job's rows, over time and added up; None where nothing was counted."""
        since = self._read_since(rows)
        histories = [
            history
            for place, name in enumerate(_DIRECTIONS)
            if (history := self._make_history(name, rows, bins, possible & (self.table.columns[1] == place), since))
        ]
        if not histories:
            return None
        totals = (history.counts.sum(axis=0, dtype=np.int64).tolist() for history in histories)
        histograms = tuple(
            ParsedHistogram(history.operation, "clat", 0, tuple(zip(history.bins, counts, strict=True)))
            for history, counts in zip(histories, totals, strict=True)
        )
        series = tuple(item for history in histories for item in iterate_percentiles(history, bins[-1]))
        run = self._run(series, histograms, since / 1000.0 or None, 1, rows, number)
        return structs.replace(run, histories=tuple(histories))

    def _make_history(
        self, name: str, rows: RowRange, bins: list[int], mine: NDArray[np.bool_], since: int
    ) -> ParsedHistory | None:
        """Return the intervals of one direction with the bins that counted anything in them."""
        begin, end = rows
        places = np.flatnonzero(mine[begin:end]) + begin
        if not len(places):
            return None
        counts = np.concatenate(
            [self.table.columns[3][places, np.newaxis].astype(np.int64), self.table.rest[places].astype(np.int64)],
            axis=1,
        )
        filled = np.flatnonzero(counts.any(axis=0))
        if not len(filled):
            return None
        step = -(-len(places) // MOST_INTERVALS)
        starts = np.arange(0, len(places), step)
        counts = np.add.reduceat(counts[:, filled], starts, axis=0)
        ends = np.minimum(starts + step, len(places)) - 1
        times = (self.table.columns[0][places[ends]].astype(np.int64) - since) / 1000.0
        return ParsedHistory(name, "clat", 0, tuple(times.tolist()), tuple(bins[at] for at in filled.tolist()), counts)

    def _is_impossible(self) -> NDArray[np.bool_]:
        """Return which rows have more completions than any machine has in a log's time: fio wrote other memory."""
        counted = self.table.columns[3].astype(np.float64) + self.table.rest.sum(axis=1, dtype=np.float64)
        return np.asarray(counted > _MOST_COMPLETIONS)

    def _find_impossible(self) -> list[Broken]:
        message, expected = "a histogram that cannot be", f"at most {_MOST_COMPLETIONS:.0e} completions in one interval"
        rows = np.flatnonzero(self._is_impossible())[:_MOST_BROKEN].tolist()
        return [Broken(message, int(self.table.lines[row]), "more than that", expected) for row in rows]


def iterate_percentiles(history: ParsedHistory, last_bin: int) -> Iterator[ParsedSeries]:
    """Yield the percentiles of each interval by fio's own rule.

    They have no value (NaN) where nothing was counted, or where they lie in the table's last bin, which has no end.
    """
    rows = [
        compute_percentiles([(ns, count) for ns, count in zip(history.bins, counts, strict=True) if count], _SHARES)
        for counts in history.counts.tolist()
    ]
    for metric, values in zip(_SHARE_METRICS, zip(*rows, strict=True), strict=True):
        known = tuple(math.nan if value is None or value >= last_bin else float(value) for value in values)
        yield ParsedSeries(history.operation, metric, history.section, "fio_log", history.times_s, known)


def _select(mine: NDArray[np.bool_], column: Integers) -> Integers:
    return column if mine.all() else column[mine]


def _make_series(
    direction: str, metric: str, times: Floats | ScaledColumn, values: Floats | ScaledColumn
) -> ParsedSeries:
    return ParsedSeries(direction, metric, 0, "fio_log", cast(Sequence[float], times), cast(Sequence[float], values))


def _make_bins(count: int) -> list[int] | None:
    """Return the ns for which each of so many counts stands; None for a number of bins that fio does not write."""
    for groups, scale in ((GROUPS, 1), (GROUPS_IN_US, 1000)):
        for coarseness in range(BITS + 1):
            if groups << BITS == count << coarseness:
                step = 1 << coarseness
                edges = range(0, groups << BITS, step)
                return [(get_middle(at) + get_middle(at + step - 1)) // 2 * scale for at in edges]
    return None
