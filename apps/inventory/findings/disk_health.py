"""Disks that report that they are failing."""

import re
from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts, name_of_disk
from apps.inventory.findings.parts import the_disk
from apps.inventory.findings.rule import SERIOUS, FindingHit, FindingRule

BAD = re.compile(r"fail|bad|critical|predict|degraded|exceeded", re.IGNORECASE)
_NOT_BAD = re.compile(r"\b(no|not|never|without|0)\b", re.IGNORECASE)


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for disk in machine.disks.values():
        if disk["is_present"] and says_bad(disk["health"]):
            message = f"{name_of_disk(disk)} ({disk['model'] or 'model unknown'}) says: {disk['health']}"
            yield FindingHit(message, (the_disk(disk),))


def says_bad(health: str | None) -> bool:
    return bool(health and BAD.search(health) and not _NOT_BAD.search(health))


RULE = FindingRule(
    name="disk_health",
    title="Disk reports a failure",
    text="Its own assessment is bad: copy what is on it, and do not trust times measured with it, for it reads again and again.",
    severity=SERIOUS,
    check=check,
)
