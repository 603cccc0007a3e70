"""Bandwidth ceilings of the topologies in a comparison, with their arithmetic."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.comparison.caveats.above_ceiling import RULE, bound_of
from apps.comparison.readings import LABEL, MeasuredMachine, Reading
from apps.inventory.ceilings.parts import CeilingPart

MOST = 12  # sums; of more, the targets' own pages have them


@dataclass(frozen=True)
class ConfigurationCeiling:
    """`part` is the narrowest; `unknown` names what set no bound, or the widest that there is."""

    labels: tuple[str, ...]
    part: CeilingPart
    unknown: tuple[str, ...]


def find_ceilings(readings: Iterable[Reading]) -> list[ConfigurationCeiling]:
    """Return the bandwidth ceilings of the readings' configurations, lowest first, at most `MOST`.

    Configurations (or hosts) with the same sum share an entry; one without a bound has none.
    """
    of_runs = {reading.run: reading for reading in RULE.speaks_of(list(readings))}
    whose: dict[tuple[MeasuredMachine, str], dict[str, None]] = {}
    for reading in of_runs.values():
        if reading.machine is not None:
            whose.setdefault((reading.machine, reading.operation), {})[str(reading.of(LABEL))] = None
    labels_of_bound: dict[tuple[CeilingPart, tuple[str, ...]], dict[str, None]] = {}
    for (machine, operation), labels in whose.items():
        bound = bound_of(machine.ceiling, operation)
        if bound and bound.decides:
            labels_of_bound.setdefault((bound.decides, machine.ceiling.unknown), {}).update(labels)
    entries = [
        ConfigurationCeiling(tuple(labels), part, unknown) for (part, unknown), labels in labels_of_bound.items()
    ]
    return sorted(entries, key=lambda entry: entry.part.value)[:MOST]
