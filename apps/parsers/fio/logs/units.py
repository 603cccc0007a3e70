"""The unit of latencies in a fio log: ns, as fio writes since 2.99, or µs, as it wrote before.

The lines seldom say it, and the wrong one is off by a factor of a thousand. What decides, in this order:

- The name or folder: `fio-3.16/job_lat.1.log`, `job_lat_us.1.log`.
- The columns: the largest value beside the mean (3.37), offset and priority (3.17), a hexadecimal priority (3.28), or a
  fifth column that is 0 or 1 for single I/Os, where offsets would be larger. A fifth column of 0 beside averages is
  nearly always the priority (an offset there is one of 2.1.11 to 2.98 with log_offset and log_avg_msec): ns, with a
  warning.
- The times: no I/O takes longer than its run has lasted, so values for which that would be the case in µs are ns. I/Os
  in flight at the end of ramp_time may; hence more than a second, or more of them than a queue is deep.
- A report of fio in the same folder (`SourceText.beside`) that states its version: µs, with a warning, or ns.

Where nothing decides, they are read as ns, with a warning that says so and how to choose otherwise.
"""

import re
from dataclasses import dataclass

import numpy as np

from apps.parsers.core.compact_array import Integers
from apps.parsers.fio.logs.columns import LogTable

_VERSION = re.compile(r"fio[-_ ]?v?([23])\.(\d{1,3})(?!\d)")
_WORD = re.compile(r"(?:^|[_.-])[cs]?lat[_-](ns|nsec|us|usec)(?=[._-]|$)")
_FIRST_OF_NS = (2, 99)
_SURE_COLUMNS = 6  # with so many there is the priority, which came later than ns
_SECOND_US = 1_000_000
_DEEPEST_QUEUE = 512
_PIECE = 1 << 18  # rows
UNCERTAIN = (
    "the values are read as ns, as fio writes them since 2.99; older ones wrote µs, and the log does not tell. "
    "A report of that fio beside it would, or a folder fio-2.1.10/ around it, or a name as job_lat_us.1.log"
)
SCALES = {"ns": 1.0, "us": 1000.0}


@dataclass(frozen=True, slots=True)
class LogUnit:
    """How many ns one unit is, and a warning about it."""

    scale: float
    warning: str = ""


def find_unit(
    table: LogTable, place: int, name: str, beside: tuple[str, str], *, is_hexadecimal: bool, has_start: bool
) -> LogUnit:
    """Return the unit of a log's latencies.

    `place` is the column of the direction, `beside` as in `SourceText`; `has_start` says whether times are counted
    since the run began.
    """
    if scale := _read_name(name.lower()):
        return LogUnit(scale)
    first = int(table.lines[0])
    columns = table.width
    if place == 3 or columns >= _SURE_COLUMNS or is_hexadecimal:
        return LogUnit(1.0)
    if columns == 5 and table.largest[4] <= 1:
        is_single = len(table) > 1 and table.least[3] > 0
        if is_single:
            return LogUnit(1.0)
    elif has_start and (row := _find_too_long(*table.columns[:2])) is not None:
        value, at = int(table.columns[1][row]) / _SECOND_US, int(table.columns[0][row]) / 1000
        message = (
            f"in µs, as before fio 2.99, it would have taken {value:.4g} s, but ended {at:.4g} s after the run began"
        )
        return LogUnit(1.0, f"line {int(table.lines[row])}: the values are ns: {message}")
    return _choose_by_report(*beside, first) or LogUnit(1.0, f"line {first}: {UNCERTAIN}")


def is_in_ns(version: str) -> bool | None:
    """Return whether this version of fio (`3.16`, `2.2.8`) writes ns; None for what is no version."""
    match = re.match(r"(\d{1,3})\.(\d{1,3})(?!\d)", version)
    return (int(match[1]), int(match[2])) >= _FIRST_OF_NS if match else None


def _choose_by_report(version: str, report: str, line: int) -> LogUnit | None:
    is_ns = is_in_ns(version)
    if is_ns is None or is_ns:
        return LogUnit(1.0) if is_ns else None
    return LogUnit(
        1000.0,
        f"line {line}: the values are read as µs, as fio before 2.99 wrote them: {report} beside it is of fio {version}",
    )


def _read_name(name: str) -> float:
    """Return the ns of a unit that the name states, 0 where it states none, or two."""
    versions = {(int(major), int(minor)) >= _FIRST_OF_NS for major, minor in _VERSION.findall(name)}
    words = {word.startswith("n") for word in _WORD.findall(name.replace("\\", "/").rpartition("/")[2])}
    statements = versions | words
    return 0.0 if len(statements) != 1 else 1.0 if statements.pop() else 1000.0


def _find_too_long(times_ms: Integers, values: Integers) -> int | None:
    """Return the first row that would have taken longer than the run so far, None where there are too few."""
    first, count = None, 0
    for begin in range(0, len(values), _PIECE):
        some = values[begin : begin + _PIECE].astype(np.int64)
        longer = some > (times_ms[begin : begin + _PIECE].astype(np.int64) + 1) * 1000
        sure = np.flatnonzero(longer & (some > _SECOND_US))
        if len(sure):
            return begin + int(sure[0])
        if first is None and longer.any():
            first = begin + int(np.flatnonzero(longer)[0])
        count += int(longer.sum())
    return first if count > _DEEPEST_QUEUE else None
