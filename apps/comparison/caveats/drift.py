"""The first runs of a cell differ from its last ones: something changed while it was measured."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from apps.comparison.caveats.rule import CaveatRule, Cells, Key
from apps.comparison.likeness import configurations, per_run, several_points
from apps.comparison.readings import Reading
from apps.comparison.statistics.ratios import ALPHA, holm, ratios
from apps.comparison.statistics.summary import ENOUGH
from apps.core.units import significant

MOST = 4  # runs at each end
NEVER = datetime.min.replace(tzinfo=UTC)


def find(cells: Cells) -> Mapping[Key, str]:
    """Test all cells together: SciPy takes as long for one as for a hundred, and Holm's correction needs them all."""
    ends = {key: ends for key, readings in cells.items() if (ends := _ends(readings))}
    tests = ratios([(last, first) for first, last in ends.values()])
    adjusted = iter(holm([ratio.p for ratio in tests if ratio and ratio.p is not None]))
    sentences: dict[Key, str] = {}
    for (key, (first, last)), ratio in zip(ends.items(), tests, strict=True):
        if ratio and ratio.low is not None and ratio.high is not None and next(adjusted) < ALPHA:
            interval = f"95 % interval {significant(ratio.low)} to {significant(ratio.high)}"
            sentences[key] = (
                f"last {len(last)} runs ÷ first {len(first)} = {significant(ratio.ratio)} ({interval}, without 1)"
            )
    return sentences


def _ends(readings: Sequence[Reading]) -> tuple[list[float], list[float]] | None:
    """Return the first and the last values of runs that repeat each other in a known order, else None."""
    values = list(per_run(sorted(readings, key=_when)).values())
    count = min(MOST, len(values) // 2)
    if count < ENOUGH or not _have_an_order(readings) or len(configurations(readings)) > 1 or several_points(readings):
        return None
    return values[:count], values[-count:]


def _have_an_order(readings: Sequence[Reading]) -> bool:
    """Return whether the order of runs is known, by the clock or by the numbers of the repetitions."""
    places = {
        reading.run: (reading.evidence.started_at, reading.repetition)
        for reading in readings
        if reading.value is not None
    }
    return all(began for began, _ in places.values()) or len(set(places.values())) == len(places)


def _when(reading: Reading) -> tuple[datetime, int, int]:
    return reading.evidence.started_at or NEVER, reading.repetition, reading.id


RULE = CaveatRule(
    name="drift",
    title="First and last runs differ",
    text="The value changed while the runs went on: a filling filesystem, a warming disk or cache, a neighbour. By "
    "chance alone one comparison in twenty shows this.",
    of_cells=find,
)
