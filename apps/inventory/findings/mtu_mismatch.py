"""Ends of one cable, or the two ends of a way over a switch, that send frames of different size.

Seed 002: 9000 only with the crossed cable.
"""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts, Thing
from apps.inventory.findings.network import ends_in_words, nic_parts
from apps.inventory.findings.rule import WARNING, FindingHit, FindingRule


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for link in machine.topology["links"]:
        mtus = dict(_told(link))
        if len(set(mtus.values())) > 1:
            sizes = ", ".join(f"{name} {mtu}" for name, mtu in mtus.items())
            yield FindingHit(f"{ends_in_words(link)}: {sizes}", nic_parts(link))


def _told(link: Thing) -> Iterator[tuple[str, int]]:
    """Yield the MTU of each end and of the cable (or its switch port), where known."""
    for end in link["ends"]:
        if end["nic"] and end["mtu"]:
            yield f"{end['host_name']} {end['name']}", end["mtu"]
    if link["mtu"]:
        yield "the cable or switch port", link["mtu"]


RULE = FindingRule(
    name="mtu_mismatch",
    title="MTU mismatch along a cable",
    text="Large frames are dropped or cut at the end that does not take them: transfers stall or run at the smaller size.",
    severity=WARNING,
    check=check,
)
