"""The first runs of a cell differ from its last ones: something changed while it was measured."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from apps.comparison.caveats.rule import Cells, Key, Rule
from apps.comparison.ratios import ratios
from apps.comparison.readings import Reading
from apps.comparison.statistics import ENOUGH
from apps.lib.units import significant

MOST = 4  # runs at each end
NEVER = datetime.min.replace(tzinfo=UTC)


def find(cells: Cells) -> Mapping[Key, str]:
    """All cells in one go: SciPy takes as long for one as for a hundred."""
    ends = {key: ends for key, readings in cells.items() if (ends := _ends(readings))}
    found = ratios([(last, first) for first, last in ends.values()])
    told: dict[Key, str] = {}
    for (key, (first, last)), one in zip(ends.items(), found, strict=True):
        if one and one.low is not None and one.high is not None and not one.low <= 1 <= one.high:
            interval = f"95 % interval {significant(one.low)} to {significant(one.high)}"
            told[key] = f"last {len(last)} runs ÷ first {len(first)} = {significant(one.ratio)} ({interval}, without 1)"
    return told


def _ends(readings: Sequence[Reading]) -> tuple[list[float], list[float]] | None:
    measured = sorted((one for one in readings if one.value is not None), key=_when)
    count = min(MOST, len(measured) // 2)
    if count < ENOUGH:
        return None
    values = [one.value for one in measured if one.value is not None]
    return values[:count], values[-count:]


def _when(reading: Reading) -> tuple[datetime, int, int]:
    return reading.evidence.started_at or NEVER, reading.repetition, reading.id


RULE = Rule(
    name="drift",
    title="First and last runs differ",
    text="The value changed while the runs went on: a filling filesystem, a warming disk or cache, a neighbour. By "
    "chance alone one cell in twenty shows this.",
    of_cells=find,
)
