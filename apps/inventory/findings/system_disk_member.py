"""A disk that carries the system and is a member of another array. Seed 001 keeps its system disk sdi out of all."""

from collections.abc import Iterator

from apps.inventory.findings.machine import SPREADING, MachineFacts, Thing, name_of_array, name_of_disk
from apps.inventory.findings.parts import the_array, the_disk
from apps.inventory.findings.rule import WARNING, FindingHit, FindingRule


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        if array["level"] in SPREADING and len(machine.active(array)) > 1:
            for place, disk in machine.member_disks(array):
                if _is_systems(machine, array, disk):
                    by = f" (by its partition {place.partition})" if place.partition else ""
                    line = f"{name_of_disk(disk)} carries / or /boot and is a member of {name_of_array(array)}{by}"
                    yield FindingHit(line, (the_disk(disk), the_array(array)))


def _is_systems(machine: MachineFacts, array: Thing, disk: Thing) -> bool:
    through = machine.system_disks.get(disk["id"])
    return through is not None and array["id"] not in through


RULE = FindingRule(
    name="system_disk_member",
    title="System disk is an array member",
    text="Logs, swap and the tools themselves move its heads during every test, and the array is as slow as its slowest member.",
    severity=WARNING,
    check=check,
)
