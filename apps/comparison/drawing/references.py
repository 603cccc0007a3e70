"""Lines and shades that say what a value may be: RAM and caches along file sizes, and the topology's ceiling."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from apps.comparison.caveats.above_ceiling import bound_of
from apps.comparison.caveats.fitting import NO_FILE_DATA
from apps.comparison.caveats.ram_cache import past_the_cache
from apps.comparison.drawing.chart import Axis, Line, Region
from apps.comparison.readings import FILE_SIZE_OVER_RAM, Machine, Reading
from apps.lib.units import human, size
from apps.studies.planning.guards import CacheRule

MOST_LINES = 4  # of a kind: more say nothing
ROOM = {"linear": 1.5, "log": 10.0}  # a ceiling further above the data than this would squeeze them
BANDWIDTH = "bandwidth"


References = tuple[list[Line], list[Region]]


def memory_lines(x: str, axis: Axis, readings: Sequence[Reading]) -> References:
    """RAM, what plans ask beside it, and controller caches on an axis of file sizes, and the shades where every file
    fits into RAM, or is smaller than its plan asks for.
    """
    if x == FILE_SIZE_OVER_RAM:
        asked = {rule.least: _asked(rule, "RAM") for _, rule in _rules(readings)}
        return _joined(_of_ram(axis, {1.0: "as large as RAM"}), _of_plan(axis, asked))
    readings = [one for one in readings if one.operation not in NO_FILE_DATA]
    if x != "file_size" or not readings:
        return [], []
    asked = {of.ram * rule.least / _files(of): _asked(rule, _ram_of(of)) for of, rule in _rules(readings) if of.ram}
    caches, _ = _of_sizes(axis, _caches(readings), "cache", "")
    return _joined(_of_ram(axis, _ram(readings)), _of_plan(axis, asked), (caches, []))


def _joined(*found: References) -> References:
    return [line for lines, _ in found for line in lines], [region for _, regions in found for region in regions]


def _of_ram(axis: Axis, sizes: Mapping[float, str]) -> References:
    return _of_sizes(axis, sizes, "ram", "fits into RAM")


def _of_plan(axis: Axis, sizes: Mapping[float, str]) -> References:
    """Its shade lies over that of RAM, which is then the darker one."""
    return _of_sizes(axis, sizes, "plan", "smaller than the plan asks for")


def _rules(readings: Iterable[Reading]) -> list[tuple[Reading, CacheRule]]:
    """Readings whose plan asks for more than RAM, one for each rule and RAM."""
    found = {}
    for one in readings:
        rule = one.evidence.cache_rule
        if rule and rule.least > 1 and not past_the_cache(one):
            found[rule, one.ram, one.threads] = one
    return [(one, rule) for (rule, _, _), one in found.items()]


def _asked(rule: CacheRule, ram: str) -> str:
    return f"plan: {rule.factor:g} × {ram}" + (f" − {rule.tolerance:.0%}" if rule.tolerance else "")


def _files(reading: Reading) -> int:
    return reading.threads or 1


def _ram_of(reading: Reading) -> str:
    files = _files(reading)
    return f"RAM {size(reading.ram or 0)}" + (f" ÷ {files} files" if files > 1 else "")


def _ram(readings: Iterable[Reading]) -> dict[float, str]:
    """Bytes of one file at which all files of the test fill RAM → what to call the line."""
    found = {}
    for one in readings:
        if one.ram and not past_the_cache(one):
            found[one.ram / _files(one)] = _ram_of(one)
    return found


def _caches(readings: Iterable[Reading]) -> dict[float, str]:
    caches = {one.of("controller_cache") for one in readings}
    return {float(one): f"controller cache {size(one)}" for one in caches if isinstance(one, int | float) and one > 0}


def _of_sizes(axis: Axis, sizes: Mapping[float, str], what: str, region: str) -> References:
    if not sizes or len(sizes) > MOST_LINES:
        return [], []
    lines = [
        Line("x", at, label, what) for one, label in sorted(sizes.items()) if (at := place_of(axis, one)) is not None
    ]
    least = min(sizes)
    known = [place for place in axis.places if place is not None]
    if not region or not known or least < min(known):
        return lines, []
    return lines, [Region(None, place_of(axis, least), region, what)]


def place_of(axis: Axis, value: float) -> float | None:
    """Where a value lies: itself on a true axis; on an even one between its neighbours, in proportion of logarithms.
    None outside the known places.
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
) -> tuple[list[Line], str]:
    """The topology's ceiling of each series that has one, and a sentence about those with no place on the axis. `most`:
    the largest value drawn.
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
        Line(
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
    """None too where the machines of one series differ."""
    machines = {one.machine for one in readings}
    bounds = {_bound(machine, operation) for machine in machines}
    return bounds.pop() if len(bounds) == 1 else None


def _bound(machine: Machine | None, operation: str) -> float | None:
    found = bound_of(machine.ceiling, operation) if machine else None
    return found.value if found else None


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
