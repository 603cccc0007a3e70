"""More members on one controller than the level survives. Seed 001: of md1's four, two share a controller twice.

A hardware array lies behind its controller by its nature, so nothing is said of it.
"""

from collections.abc import Iterator

from apps.inventory.findings.machine import REDUNDANT, Machine, Thing, name_of_disk
from apps.inventory.findings.parts import listed, the_array, the_controller, with_level
from apps.inventory.findings.rule import NOTE, WARNING, Hit, Rule
from apps.inventory.geometry import survives
from apps.inventory.sharing import crowded


def check(machine: Machine) -> Iterator[Hit]:
    alternatives = sum(1 for one in machine.controllers.values() if one["disks"])
    for array in machine.present:
        if array["level"] in REDUNDANT and array["implementation"] != "hardware":
            members = machine.member_disks(array)
            may_fail = survives(array["level"], len(machine.active(array)))
            names = [(disk["controller"], name_of_disk(disk)) for _, disk in members if disk["controller"]]
            many = {pk: some for pk, some in crowded(names).items() if len(some) > may_fail}
            if many:
                yield _hit(machine, array, many, may_fail, alternatives)


def _hit(machine: Machine, array: Thing, many: dict[int, list[str]], may_fail: int, alternatives: int) -> Hit:
    controllers = [machine.controllers[pk] for pk in many]
    all_of_them = " all members," if any(len(some) == len(machine.active(array)) for some in many.values()) else ""
    told = "; ".join(
        f"{one['name']} carries{all_of_them} {len(many[one['id']])}: {listed(many[one['id']])}" for one in controllers
    )
    line = f"{with_level(array)} survives {may_fail} failed member{'s' * (may_fail != 1)}; {told}"
    parts = (the_array(array), *map(the_controller, controllers))
    return Hit(line, parts, WARNING if alternatives > 1 else NOTE)


RULE = Rule(
    name="one_controller",
    title="A controller's fault would end the array",
    text="Redundancy counts disks, but a controller takes all of its disks with it; they share its bandwidth too. Spread the "
    "members over controllers where there are several.",
    severity=WARNING,
    check=check,
)
