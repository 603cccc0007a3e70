"""Cables in the words of findings."""

from apps.inventory.findings.machine import Thing
from apps.inventory.findings.rule import PartName


def ends_in_words(link: Thing) -> str:
    return " – ".join(_named(end) for end in link["ends"])


def _named(end: Thing) -> str:
    return f"{end['host_name']} {end['name']}" if end["nic"] else str(end["name"])


def nic_parts(link: Thing) -> tuple[PartName, ...]:
    return tuple(
        PartName("nic", end["nic"], _named(end)) if end["nic"] else PartName("switch", end["switch"], _named(end))
        for end in link["ends"]
    )
