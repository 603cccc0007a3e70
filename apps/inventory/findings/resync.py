"""Arrays that rebuild or check themselves."""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts
from apps.inventory.findings.parts import the_array, with_level
from apps.inventory.findings.rule import WARNING, FindingHit, FindingRule


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for array in machine.present:
        if array["state"] == "resyncing":
            yield FindingHit(f"{with_level(array)} is resyncing", (the_array(array),))


RULE = FindingRule(
    name="resyncing",
    title="Array resync in progress",
    text="A resync reads and writes all members beside every test. Wait for its end before measuring.",
    severity=WARNING,
    check=check,
)
