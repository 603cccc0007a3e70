"""Members that have failed, were removed, or were not seen at the last discovery."""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts, MemberPlace, name_of_array, name_of_disk
from apps.inventory.findings.parts import the_array, the_disk
from apps.inventory.findings.rule import SERIOUS, FindingHit, FindingRule
from apps.inventory.topology.geometry import is_gone


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        for place in machine.places[array["id"]]:
            if place.layer and (what := _what(place, machine)):
                name = name_of_disk(place.layer) if place.is_disk else name_of_array(place.layer)
                part = the_disk(place.layer) if place.is_disk else the_array(place.layer)
                yield FindingHit(f"{name_of_array(array)}: {place.partition or name} {what}", (part, the_array(array)))


def _what(place: MemberPlace, machine: MachineFacts) -> str:
    layer = place.layer or {}
    if is_gone(place.state):
        return f"is {place.state.lower()}"
    if not layer["is_present"]:
        return "was not seen in the last scan"
    away = {disk["id"]: disk["host_name"] for disk in machine.topology["disks_elsewhere"]}
    if not place.is_disk or layer["id"] not in away:
        return ""
    now = away[layer["id"]]
    return f"is in {now} now, by that host's last scan" if now else "is no longer in this host"


RULE = FindingRule(
    name="failed_members",
    title="Array member missing",
    text="The array goes on without it as long as its level allows. Replace the disk, or correct the list of members.",
    severity=SERIOUS,
    check=check,
)
