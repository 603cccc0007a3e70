"""Reference lines and shades of charts: RAM and caches along file sizes, and bandwidth ceilings."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from apps.comparison.caveats.above_ceiling import bound_of
from apps.comparison.caveats.file_fit import NO_FILE_DATA
from apps.comparison.caveats.ram_cache import past_the_cache
from apps.comparison.charts.chart import Axis, ReferenceLine, Region
from apps.comparison.readings import FILE_SIZE_OVER_RAM, MeasuredMachine, Reading
from apps.core.units import human, size
from apps.studies.plans.guards import CacheRule

MOST_LINES = 4  # of a kind: more say nothing
ROOM = {"linear": 1.5, "log": 10.0}  # a ceiling further above the data than this would squeeze them
BANDWIDTH = "bandwidth"


References = tuple[list[ReferenceLine], list[Region]]


def memory_lines(x: str, axis: Axis, readings: Sequence[Reading]) -> References:
    """Return lines for RAM, planned sizes and controller caches on an axis of file sizes, and shades below them.

    Shades are where every file fits into RAM, or is smaller than its plan asks for.
    """
    if x == FILE_SIZE_OVER_RAM:
        planned = {rule.least: _plan_label(rule, "RAM") for _, rule in _rules(readings)}
        return _joined(_of_ram(axis, {1.0: "as large as RAM"}), _of_plan(axis, planned))
    readings = [reading for reading in readings if reading.operation not in NO_FILE_DATA]
    if x != "file_size" or not readings:
        return [], []
    planned = {
        of.ram * rule.least / _files(of): _plan_label(rule, _ram_of(of)) for of, rule in _rules(readings) if of.ram
    }
    caches, _ = _of_sizes(axis, _caches(readings), "cache", "")
    return _joined(_of_ram(axis, _ram(readings)), _of_plan(axis, planned), (caches, []))


def _joined(*found: References) -> References:
    return [line for lines, _ in found for line in lines], [region for _, regions in found for region in regions]


def _of_ram(axis: Axis, sizes: Mapping[float, str]) -> References:
    return _of_sizes(axis, sizes, "ram", "fits into RAM")


def _of_plan(axis: Axis, sizes: Mapping[float, str]) -> References:
    """Return lines and shades of plans' sizes, drawn over that of RAM."""
    return _of_sizes(axis, sizes, "plan", "smaller than the plan asks for")


def _rules(readings: Iterable[Reading]) -> list[tuple[Reading, CacheRule]]:
    """Return readings whose plan asks for more than RAM, one for each rule and RAM."""
    rules = {}
    for reading in readings:
        rule = reading.evidence.cache_rule
        if rule and rule.least > 1 and not past_the_cache(reading):
            rules[rule, reading.ram, reading.threads] = reading
    return [(reading, rule) for (rule, _, _), reading in rules.items()]


def _plan_label(rule: CacheRule, ram: str) -> str:
    return f"plan: {rule.factor:g} × {ram}" + (f" − {rule.tolerance:.0%}" if rule.tolerance else "")


def _files(reading: Reading) -> int:
    return reading.threads or 1


def _ram_of(reading: Reading) -> str:
    files = _files(reading)
    return f"RAM {size(reading.ram or 0)}" + (f" ÷ {files} files" if files > 1 else "")


def _ram(readings: Iterable[Reading]) -> dict[float, str]:
    """Return the file size in bytes at which all files of the test fill RAM, with the line's label."""
    lines = {}
    for reading in readings:
        if reading.ram and not past_the_cache(reading):
            lines[reading.ram / _files(reading)] = _ram_of(reading)
    return lines


def _caches(readings: Iterable[Reading]) -> dict[float, str]:
    caches = {reading.of("controller_cache") for reading in readings}
    return {
        float(capacity): f"controller cache {size(capacity)}"
        for capacity in caches
        if isinstance(capacity, int | float) and capacity > 0
    }


def _of_sizes(axis: Axis, sizes: Mapping[float, str], what: str, region: str) -> References:
    if not sizes or len(sizes) > MOST_LINES:
        return [], []
    lines = [
        ReferenceLine("x", at, label, what)
        for level, label in sorted(sizes.items())
        if (at := place_of(axis, level)) is not None
    ]
    least = min(sizes)
    known = [place for place in axis.places if place is not None]
    if not region or not known or least < min(known):
        return lines, []
    return lines, [Region(None, place_of(axis, least), region, what)]


def place_of(axis: Axis, value: float) -> float | None:
    """Return where a value lies on an axis, or None outside its places.

    That is the value itself on a true axis; on an even one it is interpolated between its neighbours by logarithms.
    """
    known = [(at, index) for index, at in enumerate(axis.places) if at is not None and at > 0]
    if not known or not known[0][0] <= value <= known[-1][0]:
        return None
    if axis.scale != "even":
        return value
    right = bisect_left(known, (value, -1))
    if known[right][0] == value:
        return float(known[right][1])
    (low, left), (high, after) = known[right - 1], known[right]
    return left + (after - left) * math.log(value / low) / math.log(high / low)


def ceilings(
    operation: str, metric: str, axis: Axis, named: Mapping[str, Sequence[Reading]], most: float, base: int = 1000
) -> tuple[list[ReferenceLine], str]:
    """Return the ceiling of each series that has one, and a sentence about those with no place on the axis.

    `most` is the largest value drawn.
    """
    if metric != BANDWIDTH:
        return [], ""
    whose: dict[float, list[str]] = {}
    for name, readings in named.items():
        if (value := _ceiling(operation, readings)) is not None:
            whose.setdefault(value, []).append(name)
    near = {value: names for value, names in whose.items() if value <= most * ROOM[axis.scale]}
    if len(near) > MOST_LINES:
        near = {}
    tones = {name: tone for tone, name in enumerate(named)}
    lines = [
        ReferenceLine(
            "y",
            value,
            _ceiling_label(value, names, len(named), base),
            "ceiling",
            tones[names[0]] if len(names) == 1 else None,
        )
        for value, names in sorted(near.items())
    ]
    return lines, _elsewhere(sorted(set(whose) - set(near)), base)


def _ceiling(operation: str, readings: Sequence[Reading]) -> float | None:
    """Return the ceiling of a series in bytes/s, or None where its machines differ."""
    machines = {reading.machine for reading in readings}
    bounds = {_bound(machine, operation) for machine in machines}
    return bounds.pop() if len(bounds) == 1 else None


def _bound(machine: MeasuredMachine | None, operation: str) -> float | None:
    bound = bound_of(machine.ceiling, operation) if machine else None
    return bound.value if bound else None


def _ceiling_label(value: float, names: Sequence[str], series: int, base: int) -> str:
    whose = f" of {names[0]}" if len(names) == 1 < series else ""
    return f"ceiling{whose} {human(value, 'B/s', base)}"


def _elsewhere(values: Sequence[float], base: int) -> str:
    if not values:
        return ""
    texts = list(dict.fromkeys(human(value, "B/s", base) for value in values))
    if len(texts) > MOST_LINES:
        texts = [texts[0], texts[-1]]
        return f"The ceilings of the topology, {texts[0]} to {texts[1]}, are not drawn."
    return f"The ceiling of the topology, {', '.join(texts)}, lies above the chart."
