"""Fewer than three runs in a cell: no interval, no verdict."""

from collections.abc import Sequence

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.caveats.single_value import stands_for_several
from apps.comparison.likeness import per_run
from apps.comparison.readings import Reading
from apps.comparison.statistics.summary import ENOUGH


def check(readings: Sequence[Reading]) -> str | None:
    measured = [reading for reading in readings if reading.value is not None]
    n = len(per_run(measured))
    if not 0 < n < ENOUGH or (n == 1 and stands_for_several(measured[0])):
        return None
    missing = ENOUGH - n
    return f"n = {n} < {ENOUGH}: {missing} more run{'s' if missing > 1 else ''} needed for an interval"


RULE = CaveatRule(
    name="few_runs",
    title="Too few runs",
    text="With fewer than three runs nothing is known about the spread, so there is no interval and no verdict.",
    of_cell=check,
)
