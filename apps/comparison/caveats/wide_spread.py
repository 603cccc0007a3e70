"""A cell whose runs differ much from each other."""

from collections.abc import Sequence

from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading
from apps.comparison.repetitions import per_run
from apps.comparison.statistics import ENOUGH, summary
from apps.lib.quantities import quantity
from apps.runs.metrics import METRICS

WIDE = 0.10


def check(readings: Sequence[Reading]) -> str | None:
    found = summary(list(per_run(readings).values()))
    if found.n < ENOUGH or not found.stdev or not found.mean or found.stdev / abs(found.mean) <= WIDE:
        return None
    unit = METRICS[readings[0].metric].unit
    share = f"{quantity(found.stdev, unit)} ÷ {quantity(found.mean, unit)} = {found.stdev / abs(found.mean):.1%}"
    return f"n = {found.n}: standard deviation ÷ mean = {share} > {WIDE:.0%}"


RULE = Rule(
    name="wide_spread",
    title="Wide spread",
    text="The runs of one cell differ by more than a tenth: something else than what is compared changes the value.",
    of_cell=check,
)
