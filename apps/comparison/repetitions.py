"""What in a cell repeats what: runs of one configuration at one point do, and nothing else does.

A run counts once, however many values it gave there (fio's jobs, IOzone's record sizes): they share its minute and its
machine, so their spread is not that of a repetition. Runs at different points are no repetitions either.
"""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from apps.comparison.readings import FILE_SIZE_OVER_RAM, LABEL, POINT, Reading


def per_run(readings: Sequence[Reading], *, of_medians: bool = False) -> dict[int, float]:
    """Run → its mean in base units, in the order of `readings`. `of_medians`: for percentiles, which are not averaged:
    the upper one of its middle values.
    """
    values: dict[int, list[float]] = {}
    for one in readings:
        if one.value is not None:
            values.setdefault(one.run, []).append(one.value)
    middle = statistics.median_high if of_medians else _mean
    return {run: middle(some) for run, some in values.items()}


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else statistics.fmean(sorted(values))


def several_points(readings: Sequence[Reading]) -> Mapping[str, list[Any]]:
    """Dimension of a point → its values, where the readings with a value are at more than one. What is not known does
    not differ, and files that are the same multiple of each machine's RAM are of one size.
    """
    measured = [one for one in readings if one.value is not None]
    found = {name: {getattr(one, name) for one in measured} - {None} for name in POINT}
    differing = {name: sorted(values) for name, values in found.items() if len(values) > 1}
    if "file_size" in differing and _are_one_multiple([one.of(FILE_SIZE_OVER_RAM) for one in measured]):
        del differing["file_size"]
    return differing


def _are_one_multiple(ratios: Sequence[float | None]) -> bool:
    return None not in ratios and len(set(ratios)) == 1


def configurations(readings: Sequence[Reading]) -> Counter[str]:
    """Configuration, or host and target → its runs with a value."""
    runs = {one.run: str(one.of(LABEL)) for one in readings if one.value is not None and one.of(LABEL) is not None}
    return Counter(runs.values())
