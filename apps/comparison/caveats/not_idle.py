"""The machine did something else before or during the run.

Known from the label or fact `load` (the load average before the run), and from other runs here on the same host at the
same time.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from apps.comparison.caveats.rule import Cells, Key, Rule
from apps.comparison.readings import Reading
from apps.lib.units import significant

IDLE = 0.5  # load average: one process that waits half of the time


def check(reading: Reading) -> str | None:
    load = _number(reading.of("load"))
    if load is None or not load > IDLE:  # nan is no load
        return None
    return f"load average {significant(load)} before the run > {IDLE}"


def _number(told: object) -> float | None:
    try:
        return float(told) if isinstance(told, str | int | float) else None
    except ValueError:
        return None


class _Time(NamedTuple):
    began: datetime
    ended: datetime
    run: int


def at_once(cells: Cells) -> Mapping[Key, str]:
    busy: dict[int, str] = {}
    for host, times in _by_host(one for readings in cells.values() for one in readings).items():
        last: _Time | None = None
        for time in sorted(times):
            if last and time.began < last.ended:
                told = f"{_text(last)} and {_text(time)} at the same time on {host}"
                busy |= {last.run: told, time.run: told}
            last = max(last or time, time, key=lambda one: one.ended)
    if not busy:
        return {}
    found = ((key, next((one.run for one in readings if one.run in busy), None)) for key, readings in cells.items())
    return {key: busy[run] for key, run in found if run is not None}


def _by_host(readings: Iterable[Reading]) -> Mapping[str, list[_Time]]:
    found: dict[str, list[_Time]] = {}
    for one in {one.run: one for one in readings}.values():
        began, ended, host = one.evidence.started_at, one.evidence.finished_at, one.of("host")
        if host and began and ended and began < ended:
            found.setdefault(str(host), []).append(_Time(began, ended, one.run))
    return found


def _text(time: _Time) -> str:
    return f"run {time.run} ({time.began:%Y-%m-%d %H:%M:%S} to {time.ended:%H:%M:%S})"


RULE = Rule(
    name="not_idle",
    title="The machine was not idle",
    text="Something else used the machine, so the value is what was left over.",
    of_reading=check,
    of_cells=at_once,
)
