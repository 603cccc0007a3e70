"""Sections of a storage path, and arrays, that have no second way."""

from collections.abc import Iterator

from apps.inventory.findings.machine import MachineFacts, Thing
from apps.inventory.findings.one_path import about
from apps.inventory.findings.rule import WARNING, FindingHit, FindingRule


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for path in machine.topology["storage_paths"]:
        alone = [section for section in path["sections"] if section["count"] == 1 and section["kind"] != "bus"]
        if alone and not _has_second(machine, path):
            message = "; ".join(f"{one['name']}: 1 link ({one['link'] or 'kind unknown'})" for one in alone)
            yield FindingHit(f"{path['name']}: {message}, and none stands by", about(machine, path))


def _has_second(machine: MachineFacts, path: Thing) -> bool:
    """Return whether there is another path to the same array, or to everything."""
    others = [one for one in machine.topology["storage_paths"] if one["id"] != path["id"]]
    return any(other["array"] in (path["array"], None) for other in others)


RULE = FindingRule(
    name="redundant_path_missing",
    title="No redundant path",
    text="A fault of this cable, port or transceiver takes everything behind it off the host.",
    severity=WARNING,
    check=check,
)
