"""Without `group_reporting` fio says what each process of a job did, and with it what they did together: a factor of their number.

Known from sections of one name at one point of one run: fio gives the processes of a job its name.
"""

import statistics
from collections.abc import Sequence

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import POINT, Reading
from apps.core.quantities import quantity
from apps.runs.metrics import METRICS

ADD_UP = ("bandwidth", "iops", "io_bytes")


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
    mean, total = quantity(statistics.fmean(values), unit), quantity(sum(values), unit)
    return f"run {some[0].run}: {len(some)} processes of {some[0].section_name}, {mean} each in mean, {total} together"


RULE = CaveatRule(
    name="one_of_several",
    title="One process of several",
    text="Each process was reported by itself, so the value is what one of them did beside the others, not what they did together. "
    "Runs with group_reporting give the sum.",
    of_cell=check,
    metrics=ADD_UP,
)
