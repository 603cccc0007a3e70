"""More members on one controller than the level survives. Seed 001: of md1's four, two share a controller twice.

A hardware array lies behind its controller by its nature, so nothing is said of it.
"""

from collections.abc import Iterator

from apps.inventory.findings.machine import REDUNDANT, MachineFacts, Thing, name_of_disk
from apps.inventory.findings.parts import listed, the_array, the_controller, with_level
from apps.inventory.findings.rule import NOTE, WARNING, FindingHit, FindingRule
from apps.inventory.topology.geometry import survives
from apps.inventory.topology.shared_paths import carrier, crowded


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    alternatives = len({place for disk in machine.disks.values() if (place := _carrier(machine, disk))})
    for array in machine.present:
        if array["level"] in REDUNDANT and array["implementation"] != "hardware":
            members = [disk for _, disk in machine.member_disks(array)]
            may_fail = survives(array["level"], len(machine.active(array)))
            names = [(place, name_of_disk(disk)) for disk in members if (place := _carrier(machine, disk))]
            many = {place: some for place, some in crowded(names).items() if len(some) > may_fail}
            if many:
                rows = {
                    disk["controller"] for disk in members if _carrier(machine, disk) in many
                } & machine.controllers.keys()
                yield _hit(machine, array, many, may_fail, sorted(rows), alternatives > 1)


def _carrier(machine: MachineFacts, disk: Thing) -> str:
    row = machine.controllers.get(disk["controller"])
    return carrier(disk["slot_controller"], row["name"] if row else "", "controller {}")


def _hit(
    machine: MachineFacts, array: Thing, many: dict[str, list[str]], may_fail: int, rows: list[int], has_others: bool
) -> FindingHit:
    total = len(machine.active(array))
    message = "; ".join(
        f"{place} carries{' all members,' if len(some) == total else ''} {len(some)}: {listed(some)}"
        for place, some in many.items()
    )
    line = f"{with_level(array)} survives {may_fail} failed member{'s' * (may_fail != 1)}; {message}"
    parts = (the_array(array), *(the_controller(machine.controllers[pk]) for pk in rows))
    return FindingHit(line, parts, WARNING if has_others else NOTE)


RULE = FindingRule(
    name="one_controller",
    title="Controller is a single point of failure",
    text="Redundancy counts disks, but a controller takes all of its disks with it; they share its bandwidth too. Spread the "
    "members over controllers where there are several.",
    severity=WARNING,
    check=check,
)
