"""A cell whose runs differ much from each other."""

from collections.abc import Sequence

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.likeness import per_run
from apps.comparison.readings import Reading
from apps.comparison.statistics.summary import ENOUGH, summary
from apps.core.quantities import quantity
from apps.runs.metrics import METRICS

WIDE = 0.10


def check(readings: Sequence[Reading]) -> str | None:
    cell_summary = summary(list(per_run(readings).values()))
    if (
        cell_summary.n < ENOUGH
        or not cell_summary.stdev
        or not cell_summary.mean
        or cell_summary.stdev / abs(cell_summary.mean) <= WIDE
    ):
        return None
    unit = METRICS[readings[0].metric].unit
    share = f"{quantity(cell_summary.stdev, unit)} ÷ {quantity(cell_summary.mean, unit)} = {cell_summary.stdev / abs(cell_summary.mean):.1%}"
    return f"n = {cell_summary.n}: standard deviation ÷ mean = {share} > {WIDE:.0%}"


RULE = CaveatRule(
    name="wide_spread",
    title="Wide spread",
    text="The runs of one cell differ by more than a tenth: something else than what is compared changes the value.",
    of_cell=check,
)
