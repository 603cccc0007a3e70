"""Without `group_reporting` fio says what each process of a job did, and with it what they did together: a factor of their number.

Known from sections of one name at one point of one run: fio gives the processes of a job its name.
"""

import statistics
from collections.abc import Sequence

from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import POINT, Reading
from apps.lib.quantities import quantity
from apps.runs.metrics import METRICS

ADD_UP = ("bandwidth", "iops", "io_bytes")


def check(readings: Sequence[Reading]) -> str | None:
    """Of the run in which they are most."""
    together: dict[tuple[object, ...], list[Reading]] = {}
    for one in readings:
        if one.section_name and one.value is not None:
            place = (one.run, one.section_name, *(getattr(one, name) for name in POINT))
            together.setdefault(place, []).append(one)
    most = max(together.values(), key=len, default=[])
    return _told(most) if len(most) > 1 else None


def _told(some: Sequence[Reading]) -> str:
    values, unit = [one.value or 0.0 for one in some], METRICS[some[0].metric].unit
    mean, total = quantity(statistics.fmean(values), unit), quantity(sum(values), unit)
    return f"run {some[0].run}: {len(some)} processes of {some[0].section_name}, {mean} each in mean, {total} together"


RULE = Rule(
    name="one_of_several",
    title="One process of several",
    text="Each process was reported by itself, so the value is what one of them did beside the others, not what they did together. "
    "Runs with group_reporting give the sum.",
    of_cell=check,
    metrics=ADD_UP,
)
