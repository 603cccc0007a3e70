"""A chain that is faster than its narrowest part was by itself: one of the two is not what it seems.

Runs say what they are by labels: `part_of` = the chain's name on a run of one part (a disk system, a network path) by
itself, `chain` = its name on a run through all of them.
"""

from collections.abc import Mapping

from apps.comparison.caveats.rule import BANDWIDTH, Cells, Key, Rule
from apps.comparison.readings import LABEL
from apps.lib.quantities import quantity
from apps.lib.units import significant


def find(cells: Cells) -> Mapping[Key, str]:
    narrowest = _narrowest(cells)
    told: dict[Key, str] = {}
    for key, readings in cells.items():
        for one in readings:
            part, most = narrowest.get(str(one.of("chain")), ("", 0.0))
            if part and one.value and one.value > most:
                sums = f"{quantity(one.value, 'B/s')} ÷ {quantity(most, 'B/s')} = {significant(one.value / most)} ×"
                told.setdefault(key, f"{one.of(LABEL)} is faster than {part} by itself: {sums}")
    return told


def _narrowest(cells: Cells) -> Mapping[str, tuple[str, float]]:
    """Chain → its slowest part, taken at the best that it did."""
    best: dict[str, dict[str, float]] = {}
    for readings in cells.values():
        for one in readings:
            if one.value and (chain := one.of("part_of")):
                parts = best.setdefault(str(chain), {})
                name = str(one.of(LABEL))
                parts[name] = max(one.value, parts.get(name, 0.0))
    return {chain: min(parts.items(), key=lambda part: part[1]) for chain, parts in best.items()}


RULE = Rule(
    name="part_vs_chain",
    title="A chain faster than its part",
    text="No chain carries more than its narrowest part: memory served the chain, the part was measured too low, or they "
    "are not the same machines.",
    of_cells=find,
    metrics=BANDWIDTH,
)
