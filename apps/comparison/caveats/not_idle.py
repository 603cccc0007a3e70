"""The machine did something else before or during the run.

Known from the facts that the agent takes (`apps/runs/facts.py`), from the label or fact `load` (the load average before the run), and
from other runs here on the same host at the same time.

The limits are those of a machine at rest. A load of 0.5 is one process that wants a core half of the time; daemons of an idle host stay below
0.1. Its logs and journals write some 10 to 100 kB/s to its disks, and monitoring, ssh and broadcasts make some 10 kB/s of network; 1 MB/s is ten
times as much, and still below 1 % of a disk of 100 MB/s or of a gigabit link. During the run means count, as in the value itself: a short
burst is a matter of the spread.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from apps.comparison.caveats.rule import CaveatRule, Cells, Key
from apps.comparison.readings import Reading
from apps.core.quantities import quantity
from apps.core.units import significant
from apps.runs.activity import IDLE, QUIET

# Tools tell their end, and how long they took, in whole seconds: of two runs in turn the second may seem to begin before the first has ended.
ROUNDING = timedelta(seconds=2)
LOADS = (
    ("load", "load {} before the run"),
    ("load_before", "load {} before the run"),
    ("load_during", "other processes kept {} cores busy during the run"),
)
RATES = (
    ("disk_before", "disks {} before the run"),
    ("network_before", "network {} before the run"),
    ("other_disk_during", "disks other than its own {} during the run"),
    ("network_during", "network {} during the run"),
)


def check(reading: Reading) -> str | None:
    sentences = [
        f"{text.format(significant(n))} > {IDLE}" for name, text in LOADS if (n := _above(IDLE, reading, name))
    ]
    limit = quantity(QUIET, "B/s")
    sentences += [
        f"{sentence.format(quantity(n, 'B/s'))} > {limit}"
        for name, sentence in RATES
        if (n := _above(QUIET, reading, name))
    ]
    return "; ".join(dict.fromkeys(sentences)) or None


def _above(limit: float, reading: Reading, name: str) -> float | None:
    """Return the fact's number where it is known and over the limit."""
    value = reading.of(name)
    try:
        number = float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None
    return number if number is not None and number > limit else None  # nan is no load


class _Time(NamedTuple):
    began: datetime
    ended: datetime
    run: int


def at_once(cells: Cells) -> Mapping[Key, str]:
    busy: dict[int, str] = {}
    for host, times in _by_host(reading for readings in cells.values() for reading in readings).items():
        last: _Time | None = None
        for time in sorted(times):
            if last and last.ended - time.began > ROUNDING:
                text = f"{_text(last)} and {_text(time)} at the same time on {host}"
                busy |= {last.run: text, time.run: text}
            last = max(last or time, time, key=lambda time_slot: time_slot.ended)
    if not busy:
        return {}
    places = (
        (key, next((reading.run for reading in readings if reading.run in busy), None))
        for key, readings in cells.items()
    )
    return {key: busy[run] for key, run in places if run is not None}


def _by_host(readings: Iterable[Reading]) -> Mapping[str, list[_Time]]:
    times: dict[str, list[_Time]] = {}
    for reading in {reading.run: reading for reading in readings}.values():
        began, ended, host = reading.evidence.started_at, reading.evidence.finished_at, reading.of("host")
        if host and began and ended and began < ended:
            times.setdefault(str(host), []).append(_Time(began, ended, reading.run))
    return times


def _text(time: _Time) -> str:
    return f"run {time.run} ({time.began:%Y-%m-%d %H:%M:%S} to {time.ended:%H:%M:%S})"


RULE = CaveatRule(
    name="not_idle",
    title="The machine was not idle",
    text="Something else used the machine, so the value is what was left over.",
    of_reading=check,
    of_cells=at_once,
)
