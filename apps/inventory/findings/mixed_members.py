"""Members of one array that are not alike."""

from collections.abc import Iterator

from apps.core.units import capacity as size
from apps.core.units import plain
from apps.inventory.findings.machine import SPREADING, MachineFacts, Thing, name_of_array
from apps.inventory.findings.parts import the_array
from apps.inventory.findings.rule import NOTE, FindingHit, FindingRule

ALIKE = 1.02  # drives of one nominal size differ between makers


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        disks = [disk for _, disk in machine.member_disks(array)]
        if array["level"] in SPREADING and len(disks) > 1:
            sentences = [text for text in (_sizes(disks), _turns(disks), _interfaces(disks)) if text]
            if sentences:
                yield FindingHit(f"{name_of_array(array)}: {'; '.join(sentences)}", (the_array(array),))


def _sizes(disks: list[Thing]) -> str:
    known = sorted(disk["capacity_bytes"] for disk in disks if disk["capacity_bytes"])
    if not known or known[-1] <= known[0] * ALIKE:
        return ""
    return f"from {size(known[0])} to {size(known[-1])}, so {size(known[-1] - known[0])} of the largest may lie idle"


def _turns(disks: list[Thing]) -> str:
    kinds = {
        "solid state" if disk["is_solid_state"] else f"{plain(disk['rpm'])} rpm" if disk["rpm"] else ""
        for disk in disks
    }
    known = sorted(kinds - {""})
    return " and ".join(known) if len(known) > 1 else ""


def _interfaces(disks: list[Thing]) -> str:
    known = sorted({str(disk["interface"]) for disk in disks if disk["interface"]})
    return " and ".join(known) if len(known) > 1 else ""


RULE = FindingRule(
    name="mixed_members",
    title="Mixed array members",
    text="An array has the speed of its slowest member and the size of its smallest.",
    severity=NOTE,
    check=check,
)
