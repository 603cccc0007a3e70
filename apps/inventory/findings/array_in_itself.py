"""Arrays that lie on themselves."""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts
from apps.inventory.findings.parts import the_array
from apps.inventory.findings.rule import SERIOUS, FindingHit, FindingRule


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        below = {one["id"] for place in machine.places[array["id"]] if place.layer and not place.is_disk
                 for one in machine.below(place.layer)}  # fmt: skip
        if array["id"] in below:
            yield FindingHit(f"{array['name']} is among the arrays under {array['name']}", (the_array(array),))


RULE = FindingRule(
    name="array_in_itself",
    title="Circular array definition",
    text="Arrays end at disks. One of these members was entered wrongly, and until it is corrected no stack is known.",
    severity=SERIOUS,
    check=check,
)
