"""The set-up of a study: its machines with everything in them, its configurations, and its slot maps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.comparison.words import label_of, text_of
from apps.dashboard.drawings import drawing
from apps.dashboard.tree import tree
from apps.dashboard.tree_html import tree_html
from apps.dashboard.views.host import FACTS
from apps.inventory.described import Fact, described
from apps.inventory.findings import Finding, findings_of
from apps.inventory.host_parts import HostParts, parts_of
from apps.inventory.models import Host
from apps.inventory.slot_map import SlotMap, slot_map
from apps.inventory.topology import topology_of
from apps.inventory.vocabulary import Absence, Source, TargetKind
from apps.lib.units import NO_VALUE
from apps.runs.models import Run
from apps.studies.models import Configuration, Study
from apps.studies.reports import Report

MOST_HOSTS, MOST_MAPS = 12, 2
NOT_OF_A_REPORT = {"is_in_maintenance", "serial", "role"}
# what a reader looks for first in a configuration; others are on its run's page
COLUMNS = (
    "interface", "raid_level", "raid_implementation", "disk_count", "disk_model", "controller", "controller_cache", "filesystem",
    "environment", "ram",
)  # fmt: skip
OF_STORAGE = COLUMNS[:-2]


@dataclass(frozen=True)
class Machine:
    """One host as the report has it; `kinds` counts its parts."""

    host: Host
    facts: list[Fact]
    drawing: SafeString
    tree: Any
    findings: Sequence[Finding]
    parts: HostParts
    slots: SlotMap | None

    @property
    def has_storage(self) -> bool:
        return bool(self.parts.disks or self.parts.controllers or self.parts.arrays)

    @property
    def has_parts(self) -> bool:
        return self.has_storage or bool(self.parts.network.nics)


@dataclass(frozen=True)
class Cell:
    """A fact of a configuration; `absence` where there is none."""

    text: str
    absence: str = ""


@dataclass(frozen=True)
class ConfigurationRow:
    configuration: Configuration
    cells: list[Cell]
    runs: int


@dataclass(frozen=True)
class ConfigurationTable:
    """`shared`: what is the same in all rows, said once instead of in a column."""

    titles: list[str]
    rows: list[ConfigurationRow]
    shared: list[tuple[str, Cell]]


def machines_of(study: Study, report: Report | None, configurations: Sequence[Configuration]) -> list[Machine]:
    """At most `MOST_HOSTS`; the number of queries does not grow with them, but for the slot maps of the first two."""
    named = [str(one["name"]) for one in report.told.get("hosts", [])] if report else []
    hosts = _hosts(study, named, {one.host_id for one in configurations if one.host_id})
    parts = parts_of(hosts)
    mapped = [host.pk for host in hosts if any(one.layout for one in parts[host.pk].enclosures)][:MOST_MAPS]
    return [_machine(host, parts[host.pk], has_map=host.pk in mapped) for host in hosts]


def _hosts(study: Study, named: Sequence[str], used: set[int]) -> list[Host]:
    either = Host.objects.filter(pk__in=used)
    if named:
        either = either | Host.objects.filter(lab_id=study.lab_id, name__in=named)
    place = {name: number for number, name in enumerate(named)}
    found = sorted(either.distinct(), key=lambda host: (place.get(host.name, len(place)), host.name))
    return found[:MOST_HOSTS]


def _machine(host: Host, parts: HostParts, *, has_map: bool) -> Machine:
    whole = topology_of(parts)
    return Machine(
        host, facts_of(host), drawing(whole), tree_html(tree(whole)), findings_of(whole), parts,
        slot_map(host) if has_map else None,
    )  # fmt: skip


def facts_of(host: Host) -> list[Fact]:
    """What was typed in is the usual case in a report; what was inferred or discovered says so."""
    found = described(host, *(name for name in FACTS if name not in NOT_OF_A_REPORT))
    return [
        replace(one, label=_(one.label), source="" if one.source == Source.TYPED.label else one.source) for one in found
    ]


def configuration_table(report: Report | None, configurations: Sequence[Configuration]) -> ConfigurationTable:
    """One query: the facts of the first run of each. Columns in which nobody has anything are left out."""
    runs = Run.objects.filter(study_run__configuration__in=configurations).order_by("id")
    facts: dict[int, dict[str, Any]] = {}
    counts: dict[int, int] = {}
    for configuration, found in runs.values_list("study_run__configuration_id", "facts"):
        facts.setdefault(configuration, found)
        counts[configuration] = counts.get(configuration, 0) + 1
    names = [name for name in COLUMNS if any(one.get(name) is not None for one in facts.values())]
    absence = Absence.NOT_PRINTED if report else Absence.UNKNOWN
    cells = {
        one.pk: {name: _cell(one, name, facts.get(one.pk, {}), absence) for name in names} for one in configurations
    }
    same = [name for name in names if len(cells) > 1 and len({of[name] for of in cells.values()}) == 1]
    differing = [name for name in names if name not in same]
    rows = [
        ConfigurationRow(one, [cells[one.pk][name] for name in differing], counts.get(one.pk, 0))
        for one in configurations
    ]
    shared = [(label_of(name), cells[configurations[0].pk][name]) for name in same]
    return ConfigurationTable([label_of(name) for name in differing], rows, shared)


def _cell(configuration: Configuration, name: str, facts: dict[str, Any], absence: str) -> Cell:
    value = facts.get(name)
    if value is None:
        return Cell(NO_VALUE) if name in OF_STORAGE and _is_without_storage(configuration) else Cell("", str(absence))
    if name == "environment" and facts.get("hypervisor") not in (None, "", "none"):
        return Cell(f"{value}, {facts['hypervisor']}")
    return Cell("", "none") if value == "none" else Cell(text_of(name, value))


def _is_without_storage(configuration: Configuration) -> bool:
    """It points at a network, or nobody says on which host it was: there is nothing of which a RAID level could be said."""
    target = configuration.target
    return configuration.host_id is None if target is None else target.kind == TargetKind.NETWORK
