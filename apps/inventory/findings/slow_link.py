"""Links that run slower than what is at their ends."""

from collections.abc import Iterator

from apps.core.units import bit_rate
from apps.inventory.ceilings.rates import link_rate, mb
from apps.inventory.findings.machine import MachineFacts, Thing, name_of_disk
from apps.inventory.findings.network import ends_in_words, nic_parts
from apps.inventory.findings.parts import the_disk
from apps.inventory.findings.rule import WARNING, FindingHit, FindingRule


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for disk in machine.disks.values():
        if disk["is_present"] and disk["link_generation"]:
            yield from _disk(disk)
    for link in machine.topology["links"]:
        yield from _cable(link)


def _disk(disk: Thing) -> Iterator[FindingHit]:
    could = link_rate(disk["interface"] or "", disk["generation"] or "")
    runs = link_rate(disk["interface"] or "", disk["link_generation"])
    if could and runs and not (could.is_guess or runs.is_guess) and runs.value < could.value:
        line = f"{name_of_disk(disk)}: its link runs at {runs.name}, {mb(runs.value)}; the disk can {could.name}, {mb(could.value)}"
        yield FindingHit(line, (the_disk(disk),))


def _cable(link: Thing) -> Iterator[FindingHit]:
    rates = [end["bits_per_second"] for end in link["ends"] if end["nic"] and end["bits_per_second"]]
    runs = link["bits_per_second"]
    if runs and len(rates) == 2 and runs < min(rates):
        message = f"{ends_in_words(link)}: the cable runs at {bit_rate(runs)}; both ends can {bit_rate(min(rates))}"
        yield FindingHit(message, nic_parts(link))


RULE = FindingRule(
    name="slow_link",
    title="Link slower than its end points",
    text="A bad cable, a backplane or a port of an older generation made them agree on less. The ceiling uses what it runs at.",
    severity=WARNING,
    check=check,
)
