"""What the topologies in a comparison can carry, with the sums: a value below a bound that looks too high is explained by them."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.comparison.caveats.above_ceiling import RULE, bound_of
from apps.comparison.readings import LABEL, Machine, Reading
from apps.inventory.ceiling_parts import Part

MOST = 12  # sums; of more, the targets' own pages have them


@dataclass(frozen=True)
class Carried:
    """`part` is the narrowest; `unknown` names what set no bound, or the widest that there is."""

    labels: tuple[str, ...]
    part: Part
    unknown: tuple[str, ...]


def carried(readings: Iterable[Reading]) -> list[Carried]:
    """The lowest first; configurations (or hosts) with one sum stand together. Nothing where nothing bounds them."""
    of_runs = {one.run: one for one in RULE.speaks_of(list(readings))}
    whose: dict[tuple[Machine, str], dict[str, None]] = {}
    for one in of_runs.values():
        if one.machine is not None:
            whose.setdefault((one.machine, one.operation), {})[str(one.of(LABEL))] = None
    found: dict[tuple[Part, tuple[str, ...]], dict[str, None]] = {}
    for (machine, operation), labels in whose.items():
        bound = bound_of(machine.ceiling, operation)
        if bound and bound.decides:
            found.setdefault((bound.decides, machine.ceiling.unknown), {}).update(labels)
    told = [Carried(tuple(labels), part, unknown) for (part, unknown), labels in found.items()]
    return sorted(told, key=lambda one: one.part.value)[:MOST]
