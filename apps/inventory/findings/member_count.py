"""Member counts that a level cannot have."""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts, Thing, name_of_array
from apps.inventory.findings.parts import level_of, the_array
from apps.inventory.findings.rule import WARNING, FindingHit, FindingRule
from apps.inventory.topology.geometry import GROUPED, least_members, must_be_even


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        members = machine.active(array)
        count = len(members) or array["member_count"]
        if not count or not array["level"] or _counts_groups(array, all(place.is_disk for place in members)):
            continue
        if problem := _problem(array, count):
            yield FindingHit(f"{name_of_array(array)}: {level_of(array)} of {count}, {problem}", (the_array(array),))


def _counts_groups(array: Thing, of_disks: bool) -> bool:
    """Return whether the members of a RAID 10, 50 or 60 are its groups, which are judged by themselves."""
    return (array["level"] in GROUPED or array["level"] == "10") and not of_disks


def _problem(array: Thing, count: int) -> str:
    level, software = array["level"], array["software"] or ""
    least = least_members(level, software)
    if least and count < least:
        return f"expected at least {least}"
    return "expected an even number" if must_be_even(level, software) and count % 2 else ""


RULE = FindingRule(
    name="member_count",
    title="Member count does not fit the RAID level",
    text="Either members are missing from the list, or the level is another.",
    severity=WARNING,
    check=check,
)
