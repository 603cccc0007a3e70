"""Arrays that run without one of their members, or not at all. Seed 001: the Pentium's RAID 5 with one of four disks dead."""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts
from apps.inventory.findings.parts import the_array, with_level
from apps.inventory.findings.rule import SERIOUS, WARNING, FindingHit, FindingRule
from apps.inventory.topology.geometry import is_gone, survives


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        if array["state"] in ("degraded", "failed"):
            members = machine.active(array)
            gone = sum(is_gone(place.state) for place in members)
            total = len(members) or array["member_count"] or 0
            count = f": {total - gone} of {total} members work" if gone else ""
            left = survives(str(array["level"]), total) - max(gone, 1)
            more = "" if array["state"] == "failed" else f"; {_left(left)}"
            line = f"{with_level(array)} is {array['state']}{count}{more}"
            yield FindingHit(line, (the_array(array),), SERIOUS if array["state"] == "failed" or left <= 0 else WARNING)


def _left(left: int) -> str:
    return f"it survives {left} more" if left > 0 else "it survives no further failure"


RULE = FindingRule(
    name="degraded",
    title="Array degraded",
    text="A degraded array computes what is missing from the rest and measures slower than it is; another failure may end it.",
    severity=SERIOUS,
    check=check,
)
