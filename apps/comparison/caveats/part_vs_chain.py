"""A chain that is faster than its narrowest part was by itself: one of the two is not what it seems.

Runs say what they are by labels: `part_of` = the chain's name on a run of one part (a disk system, a network path) by
itself, `chain` = its name on a run through all of them.
"""

from collections.abc import Mapping

from apps.comparison.caveats.rule import BANDWIDTH, CaveatRule, Cells, Key
from apps.comparison.readings import LABEL
from apps.core.quantities import quantity
from apps.core.units import significant


def find(cells: Cells) -> Mapping[Key, str]:
    narrowest = _narrowest(cells)
    sentences: dict[Key, str] = {}
    for key, readings in cells.items():
        for reading in readings:
            part, most = narrowest.get(str(reading.of("chain")), ("", 0.0))
            if part and reading.value and reading.value > most:
                sums = f"{quantity(reading.value, 'B/s')} ÷ {quantity(most, 'B/s')} = {significant(reading.value / most)} ×"
                sentences.setdefault(key, f"{reading.of(LABEL)} is faster than {part} by itself: {sums}")
    return sentences


def _narrowest(cells: Cells) -> Mapping[str, tuple[str, float]]:
    """Return for each chain its slowest part, taken at the part's best value."""
    best: dict[str, dict[str, float]] = {}
    for readings in cells.values():
        for reading in readings:
            if reading.value and (chain := reading.of("part_of")):
                parts = best.setdefault(str(chain), {})
                name = str(reading.of(LABEL))
                parts[name] = max(reading.value, parts.get(name, 0.0))
    return {chain: min(parts.items(), key=lambda part: part[1]) for chain, parts in best.items()}


RULE = CaveatRule(
    name="part_vs_chain",
    title="A chain faster than its part",
    text="No chain carries more than its narrowest part: memory served the chain, the part was measured too low, or they "
    "are not the same machines.",
    of_cells=find,
    metrics=BANDWIDTH,
)
