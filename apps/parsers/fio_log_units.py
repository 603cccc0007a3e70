"""Whether the latencies of a fio log are ns, as fio writes them since 2.99, or µs, as it wrote them before.

A log's lines seldom say it, and the wrong one is a thousand times off. What tells, in this order:

- its name or folder: `fio-3.16/job_lat.1.log`, `job_lat_us.1.log`;
- its columns: the largest value beside the mean (3.37), offset and priority (3.17), a hexadecimal priority (3.28), or a
  fifth column that is 0 or 1 for single I/Os, of which an offset would be all there is. A fifth column of 0 beside
  averages is nearly always the priority (an offset there is one of 2.1.11 to 2.98 with log_offset and log_avg_msec): ns,
  with a warning;
- its times: no I/O takes longer than its run did so far, so what does in µs is ns. In flight when a ramp_time ended, some
  may; hence more than a second, or more of them than a queue is deep.

- a report of fio that lies beside it (`SourceText.beside`) and says its version: µs, with a warning, or ns.

Where nothing tells, they are read as ns, with a warning that says so and how to say otherwise.
"""

import re
from dataclasses import dataclass

import numpy as np

from apps.parsers.fio_columns import Table
from apps.parsers.narrow import Integers

_VERSION = re.compile(r"fio[-_ ]?v?([23])\.(\d{1,3})(?!\d)")
_WORD = re.compile(r"(?:^|[_.-])[cs]?lat[_-](ns|nsec|us|usec)(?=[._-]|$)")
_FIRST_OF_NS = (2, 99)
_SURE_COLUMNS = 6  # so many have the priority, which is younger than ns
_SECOND_US = 1_000_000
_DEEPEST_QUEUE = 512
_PIECE = 1 << 18  # rows
MAYBE = (
    "the values are read as ns, as fio writes them since 2.99; older ones wrote µs, and the log does not tell. "
    "A report of that fio beside it would, or a folder fio-2.1.10/ around it, or a name as job_lat_us.1.log"
)
SAID = {"ns": 1.0, "us": 1000.0}


@dataclass(frozen=True, slots=True)
class Unit:
    """How many ns one is, and what people should know of that."""

    scale: float
    warning: str = ""


def unit_of(
    table: Table, place: int, name: str, beside: tuple[str, str], *, is_hexadecimal: bool, has_start: bool
) -> Unit:
    """`place` is the column of the direction; `beside` as of a `SourceText`; `has_start`: whether times are counted since the
    run began.
    """
    if scale := _said(name.lower()):
        return Unit(scale)
    first = int(table.lines[0])
    columns = table.width
    if place == 3 or columns >= _SURE_COLUMNS or is_hexadecimal:
        return Unit(1.0)
    if columns == 5 and table.largest[4] <= 1:
        is_single = len(table) > 1 and table.least[3] > 0
        if is_single:
            return Unit(1.0)
    elif has_start and (row := _too_long_in_us(*table.columns[:2])) is not None:
        value, at = int(table.columns[1][row]) / _SECOND_US, int(table.columns[0][row]) / 1000
        said = f"in µs, as before fio 2.99, it would have taken {value:.4g} s, but ended {at:.4g} s after the run began"
        return Unit(1.0, f"line {int(table.lines[row])}: the values are ns: {said}")
    return _as_beside(*beside, first) or Unit(1.0, f"line {first}: {MAYBE}")


def writes_ns(version: str) -> bool | None:
    """Whether this version of fio does: `3.16`, `2.2.8`. None for what is no version."""
    found = re.match(r"(\d{1,3})\.(\d{1,3})(?!\d)", version)
    return (int(found[1]), int(found[2])) >= _FIRST_OF_NS if found else None


def _as_beside(version: str, report: str, line: int) -> Unit | None:
    is_ns = writes_ns(version)
    if is_ns is None or is_ns:
        return Unit(1.0) if is_ns else None
    return Unit(
        1000.0,
        f"line {line}: the values are read as µs, as fio before 2.99 wrote them: {report} beside it is of fio {version}",
    )


def _said(name: str) -> float:
    """What the name says, 0 where it says nothing, or two things."""
    versions = {(int(major), int(minor)) >= _FIRST_OF_NS for major, minor in _VERSION.findall(name)}
    words = {word.startswith("n") for word in _WORD.findall(name.replace("\\", "/").rpartition("/")[2])}
    said = versions | words
    return 0.0 if len(said) != 1 else 1.0 if said.pop() else 1000.0


def _too_long_in_us(times_ms: Integers, values: Integers) -> int | None:
    """The first row that would be longer than the run so far."""
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
