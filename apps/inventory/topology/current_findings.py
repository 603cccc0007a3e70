"""Findings about hosts as the inventory describes them now."""

from collections.abc import Iterable

from apps.inventory.findings import Finding, findings_of
from apps.inventory.models import Host
from apps.inventory.topology.host_parts import parts_of
from apps.inventory.topology.tree import topology_of


def findings_of_hosts(hosts: Iterable[Host]) -> list[tuple[Host, list[Finding]]]:
    """Return the hosts with findings; a hundred hosts take as many queries as one."""
    every = ((parts.host, findings_of(topology_of(parts))) for parts in parts_of(hosts).values())
    return [(host, found) for host, found in every if found]


def findings_about(host: Host, kind: str, pk: int) -> list[Finding]:
    """Return the findings about one part of a host, whose kind is `array`, `controller`, `disk` …."""
    return [one for _, found in findings_of_hosts([host]) for one in found if one.is_about(kind, pk)]
