"""fio's logs of single I/Os or of averages (`write_bw_log`, `write_iops_log`, `write_lat_log`, `log_avg_msec`) and of
histograms (`write_hist_log`): one file for each job and measure.

One real line, from `fio_clat.1.log` of fio 3.7: `1000, 1273222, 0, 0`

    time ms, value, direction (0 read, 1 write, 2 trim), block size[, offset][, priority][, issue time]
    time ms, mean, largest, direction, block size, …         log_window_value=both, fio 3.37 and later
    time ms, direction, block size, 1,856 counts             `_clat_hist`; halved by every step of log_hist_coarseness

Columns and units by version (`flush_samples` in iolog.c, HOWTO "Log File Formats"): 4 columns, 5 with log_offset; the
priority came with 3.17, hexadecimal with log_prio; the issue time with 3.40.

Oddities
- What was measured stands in the file's name only (`_bw`, `_iops`, `_lat`, `_clat`, `_slat`, `_clat_hist`). A log whose
  name does not tell is not read.
- bw is KiB/s in all versions. Latencies are ns since fio 2.99 and µs before: where nothing tells (`fio_log_units`), they
  are read as ns, with a warning. Who knows better says it with the formats `fio log us` and `fio log ns`.
- Averaged logs have block size and offset 0. A log of single I/Os has 1 for each in `_iops`: those are counted by the
  second (`fio_log_counted`).
- With per_job_logs=0 the jobs of a name stand one behind the other in one file (`fio_log_parts`): a run for each.
- With log_window_value=max (log_max_value=1) the latencies are the largest of each interval and no means. No line tells.
- A `_bw` log of single I/Os has the rate of each: its bytes by its latency, which is no bandwidth of the job.
- With log_unix_epoch the time is ms since 1970: the series then begins at its first line.
- A log does not tell random from sequential: read, write and trim.
- Histogram counts are those of each interval; they are added up over time. Some fio servers (3.7) send other memory in
  their place: numbers of 19 digits, which are refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import cast

import numpy as np
from numpy.typing import NDArray

from apps.parsers.fio_bins import BITS, GROUPS, middle
from apps.parsers.fio_columns import Table, first_rows
from apps.parsers.fio_log_counted import Seconds
from apps.parsers.fio_log_names import caption_of, measure_of
from apps.parsers.fio_log_parts import parts_of
from apps.parsers.fio_log_rows import COUNTS, is_row, rows_as_table, rows_of
from apps.parsers.fio_log_series import Scaled
from apps.parsers.fio_log_units import SAID, Unit, unit_of
from apps.parsers.narrow import Integers
from apps.parsers.shape import Broken, ParsedFile, ParsedHistogram, ParsedRun, ParsedSeries, ParseError
from apps.parsers.source_text import SourceText, plain_bytes

Floats = NDArray[np.float64]
Rows = tuple[int, int]  # from one to before the other

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
_MOST_TOLD = 20
_LOOKED_AT = 8
_KEPT_COLUMNS = 4  # the last one that is looked at row by row is the direction behind a largest value
_LEAST_COLUMNS, _LEAST_BINS = 4, 22
_MICROSECOND_GROUPS = 19
_EXPECTED = "a name like job_bw.1.log, with _bw, _iops, _lat, _clat, _slat or _clat_hist"


def begins(head: bytes) -> bool:
    """Whether the first lines are those of a log: a million of them need not be shown to every other format."""
    rows = head.split(b"\n", _LOOKED_AT)[:-1]
    return bool(rows) and all(is_row(row.rstrip()) for row in rows)


def looks_like(text: SourceText) -> float:
    """Sure where the name says what the numbers are; a guess where only the lines have the form."""
    measure = measure_of(text.name)
    data = rows_of(text)[0] if measure else text.data
    if not data[:64].strip(b"\xef\xbb\xbf\xff\xfe \r\n\x00")[:1].isdigit():
        return 0.0
    rows = first_rows(data if measure else plain_bytes(text), _LOOKED_AT)
    if not rows or sum(map(is_row, rows)) * 2 < len(rows):
        return 0.0
    return 1.0 if measure else 0.5


def parse(text: SourceText, latencies_in: str = "") -> ParsedFile:
    """One run with a series for each direction; `ParseError` where no line is one of a log. `latencies_in`: ns or us, where
    somebody says it.
    """
    data, above = rows_of(text)
    rows = first_rows(data, _LOOKED_AT)
    if not any(map(is_row, rows)):
        raise ParseError("no log of fio", line=1, expected="time, value, direction, block size")
    measure = measure_of(text.name)
    is_histogram = sum(1 for row in rows if COUNTS.match(row)) * 2 > len(rows)
    if not is_histogram and measure not in _METRICS:
        message = "the numbers of this fio log do not tell what they measure, and neither does its name"
        return ParsedFile(broken=(Broken(message, 1, text.name, _EXPECTED),))
    read = rows_as_table(data, above, _KEPT_COLUMNS)
    if read.width < (_LEAST_BINS if is_histogram else _LEAST_COLUMNS):
        return ParsedFile(broken=read.broken)
    log = _Log(read, measure, PurePosixPath(text.name.replace("\\", "/")).name)
    if is_histogram:
        return log.histograms()
    if latencies_in and measure in _LATENCIES:
        return log.values(Unit(SAID[latencies_in]))
    return log.values(log.unit(text, is_hexadecimal=any(b"0x" in row for row in rows)))


@dataclass(slots=True)
class _Log:
    table: Table
    measure: str
    name: str

    def unit(self, text: SourceText, *, is_hexadecimal: bool) -> Unit:
        if self.measure not in _LATENCIES:
            return Unit(1024.0 if self.measure == "bw" else 1.0)
        has_start = int(self.table.columns[0][0]) < _EPOCH_MS
        place = self._direction_column()
        return unit_of(self.table, place, text.name, text.beside, is_hexadecimal=is_hexadecimal, has_start=has_start)

    def values(self, unit: Unit) -> ParsedFile:
        place = self._direction_column()
        directions, broken = self.table.columns[place], list(self.table.broken)
        parts = parts_of(self.table.columns[0])
        if self.table.largest[place] > 2:
            strange = int(np.argmax(directions > 2))
            line, found = int(self.table.lines[strange]), str(directions[strange])
            broken.append(Broken("a direction that fio does not have", line, found, "0, 1 or 2"))
        runs = tuple(
            self._job(rows, place, unit.scale, number if len(parts) > 1 else 0) for number, rows in enumerate(parts, 1)
        )
        return ParsedFile(runs, self._warnings(place, unit, parts), tuple(broken))

    def _job(self, rows: Rows, place: int, scale: float, number: int) -> ParsedRun:
        since = self._since(rows)
        series = tuple(one for direction in range(3) for one in self._series(direction, rows, place, scale))
        return self._run(series, (), since / 1000.0 or None, place, rows, number)

    def _direction_column(self) -> int:
        """2, or 3 where the largest value of the interval stands beside its mean."""
        largest = self.table.largest
        if self.table.width < 6 or largest[3] > 2:
            return 2
        return 3 if largest[2] > 2 or largest[4] > 0 else 2

    def _since(self, rows: Rows) -> int:
        """The ms since 1970 of the first line, 0 where times are counted since the run began."""
        first = int(self.table.columns[0][rows[0]])
        return first if first >= _EPOCH_MS else 0

    def _series(self, number: int, rows: Rows, place: int, scale: float) -> Iterator[ParsedSeries]:
        columns = [one[slice(*rows)] for one in self.table.columns]
        mine = columns[place] == number
        if not mine.any():
            return
        direction, (ms, values) = _DIRECTIONS[number], (_where(mine, one) for one in columns[:2])
        since = self._since(rows)
        if self._is_single_iops(place):
            ends, rates = Seconds(int(columns[0].min()), int(columns[0].max())).counted(ms)
            yield _as_series(direction, _METRICS[self.measure], (ends - since) / 1000.0, rates)
            return
        times = Scaled(ms, since=since, divisor=1000.0)
        yield _as_series(direction, _METRICS[self.measure], times, Scaled(values, scale=scale))
        if place != 3 or not (largest := _where(mine, columns[2])).any():
            return
        if self.measure in _LATENCIES or (largest != values).any():  # of bw and iops fio writes the mean twice
            yield _as_series(direction, _LARGEST_OF[self.measure], times, Scaled(largest, scale=scale))

    def _is_single_iops(self, place: int) -> bool:
        """Whether this is an IOPS log with a line, and the value 1, for every I/O."""
        least, largest = self.table.least, self.table.largest
        is_single = least[1] == largest[1] == 1 and least[place + 1] > 0
        return self.measure == "iops" and is_single and largest[0] - least[0] < _LONGEST_COUNTED_MS

    def _warnings(self, place: int, unit: Unit, parts: Sequence[Rows]) -> tuple[str, ...]:
        found = [unit.warning] if unit.warning else []
        if len(parts) > 1:
            again = int(self.table.lines[parts[1][0]])
            found.append(
                f"line {again}: the times begin again: {len(parts)} jobs in one log, each a run of its own here"
            )
        if self._is_single_iops(place):
            first = int(self.table.lines[0])
            found.append(f"line {first}: a line for every I/O and no average; they are counted by the second")
        span = self.table.largest[0] - self.table.least[0]
        # before 2.2 averages of bwavgtime, 100 ms at least, have a block size too
        if (
            self.measure == "bw"
            and self.table.least[place + 1] > 0
            and (len(self.table) - 3) * _LEAST_WINDOW_MS > span * 3
        ):
            first = int(self.table.lines[0])
            found.append(
                f"line {first}: a line for every I/O, with the rate of that one alone: no bandwidth of the job"
            )
        return tuple(found)

    def _run(
        self,
        series: tuple[ParsedSeries, ...],
        histograms: tuple[ParsedHistogram, ...],
        started_at: float | None,
        place: int,
        rows: Rows,
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
            caption=caption_of(self.name) + (f", part {number}" if number else ""),
            line=int(self.table.lines[rows[0]]),
            last_line=int(self.table.lines[rows[1] - 1]),
        )

    def histograms(self) -> ParsedFile:
        bins = _bins(self.table.width - 3)
        if bins is None:
            found, expected = f"{self.table.width - 3} counts", "1,856 (ns) or 1,216 (µs), or a half, quarter… of them"
            strange = Broken(
                "a histogram with a number of bins that fio does not write", int(self.table.lines[0]), found, expected
            )
            return ParsedFile(broken=(strange,))
        broken, possible = [*self.table.broken, *self._impossible()], ~self._is_impossible()
        found_all = []
        for number, name in enumerate(_DIRECTIONS):
            counts = self._counts(possible & (self.table.columns[1] == number))
            pairs = tuple((value, count) for value, count in zip(bins, counts, strict=True) if count)
            found_all += [ParsedHistogram(name, "clat", 0, pairs)] if pairs else []
        rows = (0, len(self.table))
        runs = (self._run((), tuple(found_all), self._since(rows) / 1000.0 or None, 1, rows),) if found_all else ()
        return ParsedFile(runs, (), tuple(broken))

    def _is_impossible(self) -> NDArray[np.bool_]:
        """Rows with more completions than any machine has in a log's time: fio wrote out memory of something else."""
        counted = self.table.columns[3].astype(np.float64) + self.table.rest.sum(axis=1, dtype=np.float64)
        return np.asarray(counted > _MOST_COMPLETIONS)

    def _counts(self, mine: NDArray[np.bool_]) -> list[int]:
        """Of each bin, those rows together."""
        first = int(self.table.columns[3].sum(dtype=np.int64, where=mine))
        return [first, *self.table.rest.sum(axis=0, dtype=np.int64, where=mine[:, np.newaxis]).tolist()]

    def _impossible(self) -> list[Broken]:
        message, expected = "a histogram that cannot be", f"at most {_MOST_COMPLETIONS:.0e} completions in one interval"
        rows = np.flatnonzero(self._is_impossible())[:_MOST_TOLD].tolist()
        return [Broken(message, int(self.table.lines[row]), "more than that", expected) for row in rows]


def _where(mine: NDArray[np.bool_], column: Integers) -> Integers:
    return column if mine.all() else column[mine]


def _as_series(direction: str, metric: str, times: Floats | Scaled, values: Floats | Scaled) -> ParsedSeries:
    return ParsedSeries(direction, metric, 0, "fio_log", cast(Sequence[float], times), cast(Sequence[float], values))


def _bins(count: int) -> list[int] | None:
    """What each of so many counts stands for, ns; None for a number of bins that fio does not write."""
    for groups, scale in ((GROUPS, 1), (_MICROSECOND_GROUPS, 1000)):
        for coarseness in range(BITS + 1):
            if groups << BITS == count << coarseness:
                step = 1 << coarseness
                edges = range(0, groups << BITS, step)
                return [(middle(at) + middle(at + step - 1)) // 2 * scale for at in edges]
    return None
