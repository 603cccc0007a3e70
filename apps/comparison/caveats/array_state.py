"""An array that is degraded, resyncing or failed, or a disk that is said to be in two arrays."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from apps.comparison.caveats.layers import Node, arrays_of, disks_of, name_of
from apps.comparison.caveats.rule import CaveatRule, Cells, Key
from apps.comparison.readings import MeasuredMachine
from apps.inventory.topology.geometry import clash, is_gone

SOUND = ("", "clean")


class _Place(NamedTuple):
    array: str
    partition: str
    name: str


def check(machine: MeasuredMachine) -> str | None:
    sentences = [_state(node) for node in arrays_of(machine)] + list(_twice(_places(machine)))
    return "; ".join(dict.fromkeys(part for part in sentences if part)) or None


def _state(node: Node) -> str:
    array, members = node["array"], node["members"]
    gone = [member for member in members if is_gone(member["state"])]
    state = array.get("state", "")
    if state in SOUND and not gone:
        return ""
    count = f" ({len(members) - len(gone)} of {len(members)} members work)" if gone else ""
    return f"{array.get('name')} is {state if state not in SOUND else 'degraded'}{count}"


Places = Mapping[tuple[str, ...], list[_Place]]


def _places(machine: MeasuredMachine) -> dict[tuple[str, ...], list[_Place]]:
    """Return each disk's places in arrays; a disk in another round is in another array on purpose."""
    places: dict[tuple[str, ...], list[_Place]] = {}
    for node in arrays_of(machine):
        for member in disks_of(node):
            disk = member["disk"]
            identity = disk.get("serial") or disk.get("device_name")
            if identity:
                key = (str(machine.host.get("name")), str(node["array"].get("round", "")), str(identity))
                place = _Place(str(node["array"].get("name")), member.get("partition", ""), name_of(member))
                places.setdefault(key, []).append(place)
    return places


def _twice(places: Places) -> Iterator[str]:
    for disk_places in places.values():
        for place, other in combinations(dict.fromkeys(disk_places), 2):
            if place.array != other.array and clash(place.partition, other.partition):
                yield f"{place.name} is a member of {place.array} and of {other.array}"


def across(cells: Cells) -> Mapping[Key, str]:
    """Report a disk that is in the arrays of two targets that are compared."""
    machines = {reading.machine: None for readings in cells.values() for reading in readings if reading.machine}
    together: dict[tuple[str, ...], list[_Place]] = {}
    for machine in machines:
        for key, places in _places(machine).items():
            together.setdefault(key, []).extend(places)
    text = "; ".join(dict.fromkeys(_twice(together)))
    if not text:
        return {}
    double = {key for key, places in together.items() if list(_twice({key: places}))}
    hit = {machine for machine in machines if double & _places(machine).keys()}
    return {key: text for key, readings in cells.items() if any(reading.machine in hit for reading in readings)}


RULE = CaveatRule(
    name="array_state",
    title="The array was not in order",
    text="A degraded or resyncing array works for itself beside the test, and a disk in two arrays serves both: the "
    "value is not that of the array as described.",
    of_machine=check,
    of_cells=across,
)
