"""Storage paths of which only one link is in use. Seed 002: the double link to each JBOD is for redundancy."""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts, Thing
from apps.inventory.findings.parts import the_array, the_host
from apps.inventory.findings.rule import NOTE, FindingHit, FindingRule, PartName
from apps.inventory.topology.shared_paths import is_single, section_in_words


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for path in machine.topology["storage_paths"]:
        single = [section for section in path["sections"] if is_single(section)]
        if single:
            message = "; ".join(f"{one['name']}: {section_in_words(one)}" for one in single)
            yield FindingHit(f"{path['name']}: all goes over one link ({message})", about(machine, path))


def about(machine: MachineFacts, path: Thing) -> tuple[PartName, ...]:
    array = machine.arrays.get(path["array"])
    return (the_array(array) if array else the_host(machine.topology),)


RULE = FindingRule(
    name="one_path",
    title="All members share one link",
    text="However many disks lie behind it, they share what this link carries; a link that stands by carries nothing.",
    severity=NOTE,
    check=check,
)
