"""Capacities that do not fit level, member count and sizes.

Too large: by more than 2 %, because disks and arrays are often printed rounded (146 GB is 146.8). Too small: by more than
10 %, and only where whole disks are members and nothing cuts volumes out of them (LVM, ZFS, btrfs).
"""

from collections.abc import Iterator

from apps.core.units import capacity as size
from apps.inventory.findings.machine import MachineFacts, MemberPlace, Thing, name_of_array
from apps.inventory.findings.parts import level_of, the_array
from apps.inventory.findings.rule import WARNING, FindingHit, FindingRule
from apps.inventory.topology.geometry import ArraySpan, groups_of, span_of

TOO_LARGE, TOO_SMALL = 1.02, 0.90
_CUT = ("LVM", "ZFS", "btrfs", "device-mapper")


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        members = machine.active(array)
        sizes = [
            int(place.layer["capacity_bytes"]) for place in members if place.layer and place.layer["capacity_bytes"]
        ]
        if array["capacity_bytes"] and sizes and len(sizes) == len(members):
            groups = groups_of(str(array["level"]), array["layout"] or "", len(sizes))
            span = span_of(str(array["level"]), sizes, groups=groups)
            if span and (message := _told(array, span, members)):
                yield FindingHit(f"{_sum(array, span, min(sizes))}; {message}", (the_array(array),))


def _sum(array: Thing, span: ArraySpan, smallest: int) -> str:
    product = size(span.most if span.least == span.most else max(span.most, span.least))
    return f"{name_of_array(array)}: {level_of(array)}, {span.text.format(size=size(smallest))} = {product}"


def _told(array: Thing, span: ArraySpan, members: list[MemberPlace]) -> str:
    capacity = int(array["capacity_bytes"])
    if capacity > span.most * TOO_LARGE:
        return f"it has {size(capacity)}, {capacity / span.most:.2f} times that"
    whole = all(place.is_disk and not place.partition for place in members) and array["software"] not in _CUT
    if whole and capacity < span.least * TOO_SMALL:
        return f"it has {size(capacity)}, only {capacity / span.least:.2f} of that"
    return ""


RULE = FindingRule(
    name="capacity",
    title="Capacity does not match the geometry",
    text="Level, members or sizes are not what is written here, and with them every ceiling that is computed from them. "
    "Tolerated are 2 % too much (printed sizes are rounded) and 10 % too little.",
    severity=WARNING,
    check=check,
)
