"""The first runs of a cell differ from its last ones: something changed while it was measured."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from apps.comparison.caveats.rule import Cells, Key, Rule
from apps.comparison.ratios import ALPHA, holm, ratios
from apps.comparison.readings import Reading
from apps.comparison.repetitions import configurations, per_run, several_points
from apps.comparison.statistics import ENOUGH
from apps.lib.units import significant

MOST = 4  # runs at each end
NEVER = datetime.min.replace(tzinfo=UTC)


def find(cells: Cells) -> Mapping[Key, str]:
    """All cells in one go: SciPy takes as long for one as for a hundred, and Holm's correction needs them together."""
    ends = {key: ends for key, readings in cells.items() if (ends := _ends(readings))}
    found = ratios([(last, first) for first, last in ends.values()])
    adjusted = iter(holm([one.p for one in found if one and one.p is not None]))
    told: dict[Key, str] = {}
    for (key, (first, last)), one in zip(ends.items(), found, strict=True):
        if one and one.low is not None and one.high is not None and next(adjusted) < ALPHA:
            interval = f"95 % interval {significant(one.low)} to {significant(one.high)}"
            told[key] = f"last {len(last)} runs ÷ first {len(first)} = {significant(one.ratio)} ({interval}, without 1)"
    return told


def _ends(readings: Sequence[Reading]) -> tuple[list[float], list[float]] | None:
    """Of runs that repeat each other, and whose order is known."""
    values = list(per_run(sorted(readings, key=_when)).values())
    count = min(MOST, len(values) // 2)
    if count < ENOUGH or not _have_an_order(readings) or len(configurations(readings)) > 1 or several_points(readings):
        return None
    return values[:count], values[-count:]


def _have_an_order(readings: Sequence[Reading]) -> bool:
    """By the clock, or by the numbers of the repetitions."""
    places = {one.run: (one.evidence.started_at, one.repetition) for one in readings if one.value is not None}
    return all(began for began, _ in places.values()) or len(set(places.values())) == len(places)


def _when(reading: Reading) -> tuple[datetime, int, int]:
    return reading.evidence.started_at or NEVER, reading.repetition, reading.id


RULE = Rule(
    name="drift",
    title="First and last runs differ",
    text="The value changed while the runs went on: a filling filesystem, a warming disk or cache, a neighbour. By "
    "chance alone one comparison in twenty shows this.",
    of_cells=find,
)
