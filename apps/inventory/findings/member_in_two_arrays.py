"""A disk, partition or array that is said to be a member of two arrays of one round. Seed 001: sdp in md1 and md4."""

from collections.abc import Iterator
from itertools import combinations

from apps.inventory.findings.machine import MachineFacts, MemberPlace, Thing, name_of_array, name_of_disk
from apps.inventory.findings.parts import the_array, the_disk
from apps.inventory.findings.rule import SERIOUS, FindingHit, FindingRule
from apps.inventory.topology.geometry import clash


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    seen: dict[tuple[bool, int, str], list[MemberPlace]] = {}
    for array in machine.present:
        for place in machine.places[array["id"]]:
            if place.layer:
                seen.setdefault((place.is_disk, place.layer["id"], array["round"] or ""), []).append(place)
    for some in seen.values():
        for one, other in combinations(some, 2):
            if _both_claim(one, other):
                yield _hit(one, other)


def _both_claim(member_place: MemberPlace, other: MemberPlace) -> bool:
    return (
        member_place.array["id"] != other.array["id"]
        and clash(member_place.partition, other.partition)
        and not _is_shared(member_place, other)
    )


def _is_shared(member_place: MemberPlace, other: MemberPlace) -> bool:
    """Return whether two places may share a device because volumes of one volume group or pool lie side by side."""
    pooled = ("LVM", "ZFS", "btrfs")
    return member_place.array["software"] in pooled and member_place.array["software"] == other.array["software"]


def _hit(member_place: MemberPlace, other: MemberPlace) -> FindingHit:
    layer: Thing = member_place.layer or {}
    name = (
        member_place.partition
        or other.partition
        or (name_of_disk(layer) if member_place.is_disk else name_of_array(layer))
    )
    part = the_disk(layer) if member_place.is_disk else the_array(layer)
    line = f"{name} is a member of {name_of_array(member_place.array)} and of {name_of_array(other.array)}"
    return FindingHit(line, (part, the_array(member_place.array), the_array(other.array)))


RULE = FindingRule(
    name="member_in_two_arrays",
    title="Disk is a member of two arrays",
    text="Two arrays cannot own the same bytes: one of the two lists is wrong, or one array destroys the other. Arrays of "
    "different rounds may share disks.",
    severity=SERIOUS,
    check=check,
)
