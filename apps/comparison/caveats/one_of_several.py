"""Without `group_reporting` fio says what each process of a job did, and with it what they did together: a factor of their number.

Known from sections of one name at one point of one run: fio gives the processes of a job its name.
"""

import statistics
from collections.abc import Sequence

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import POINT, Reading
from apps.core.quantities import quantity
from apps.runs.metrics import METRICS

RATES = ("bandwidth", "iops")
ADD_UP = (*RATES, "io_bytes")


def check(readings: Sequence[Reading]) -> str | None:
    """Check a cell and report the run in which jobs are most."""
    together: dict[tuple[object, ...], list[Reading]] = {}
    for reading in readings:
        if reading.section_name and reading.value is not None:
            place = (reading.run, reading.section_name, *(getattr(reading, name) for name in POINT))
            together.setdefault(place, []).append(reading)
    most = max(together.values(), key=len, default=[])
    return _sentence(most) if len(most) > 1 else None


def _sentence(some: Sequence[Reading]) -> str:
    values, unit = [reading.value or 0.0 for reading in some], METRICS[some[0].metric].unit
    total = _sum(some, values)
    together = "" if total is None else f", {quantity(total, unit)} together"
    mean = quantity(statistics.fmean(values), unit)
    return f"run {some[0].run}: {len(some)} processes of {some[0].section_name}, {mean} each in mean{together}"


def _sum(some: Sequence[Reading], values: Sequence[float]) -> float | None:
    """Return what the processes did together: rates over the longest of their times, None where one is not known."""
    if some[0].metric not in RATES:
        return sum(values)
    times = [time for reading in some if (time := _time(reading))]
    if len(times) < len(some):
        return None
    return sum(rate * time for rate, time in zip(values, times, strict=True)) / max(times)


def _time(reading: Reading) -> float | None:
    moved, rate = reading.beside.get("io_bytes"), reading.beside.get("bandwidth")
    return moved / rate if moved and rate else None


RULE = CaveatRule(
    name="one_of_several",
    title="One process of several",
    text="Each process was reported by itself, so the value is what one of them did beside the others, not what they did together. "
    "Runs with group_reporting give the sum.",
    of_cell=check,
    metrics=ADD_UP,
)
