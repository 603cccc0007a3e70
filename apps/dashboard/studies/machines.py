"""The set-up of a study: its machines with everything in them, its configurations, and its slot maps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from apps.comparison.labels import label_of, text_of
from apps.core.units import NO_VALUE
from apps.dashboard.drawings import drawing
from apps.dashboard.tree import Tree, tree
from apps.dashboard.views.host import FACTS
from apps.inventory.descriptions import Fact, described
from apps.inventory.drawing.svg import Drawing
from apps.inventory.findings import Finding, findings_of
from apps.inventory.models import Host
from apps.inventory.slots.slot_map import SlotMap, slot_map
from apps.inventory.topology.host_parts import HostParts, parts_of
from apps.inventory.topology.tree import topology_of
from apps.inventory.vocabulary import Absence, Source, TargetKind
from apps.runs.models import Run
from apps.studies.models import Configuration, Study
from apps.studies.report_files import StudyReport

MOST_HOSTS, MOST_MAPS = 12, 2
NOT_OF_A_REPORT = {"is_in_maintenance", "serial", "role"}
# what a reader looks for first in a configuration; others are on its run's page
COLUMNS = (
    "interface", "raid_level", "raid_implementation", "disk_count", "disk_model", "controller", "controller_cache", "filesystem",
    "environment", "ram",
)  # fmt: skip
OF_STORAGE = COLUMNS[:-2]


@dataclass(frozen=True)
class StudyMachine:
    """One host as the report has it; `kinds` counts its parts."""

    host: Host
    facts: list[Fact]
    drawing: Drawing
    tree: Tree
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
class FactCell:
    """A fact of a configuration; `absence` where there is none."""

    text: str
    absence: str = ""


@dataclass(frozen=True)
class ConfigurationRow:
    configuration: Configuration
    cells: list[FactCell]
    runs: int


@dataclass(frozen=True)
class ConfigurationTable:
    """`shared`: what is the same in all rows, said once instead of in a column."""

    titles: list[str]
    rows: list[ConfigurationRow]
    shared: list[tuple[str, FactCell]]


def machines_of(
    study: Study, report: StudyReport | None, configurations: Sequence[Configuration]
) -> list[StudyMachine]:
    """Return at most `MOST_HOSTS` machines in a constant number of queries, plus those of the first two slot maps."""
    named = [str(host["name"]) for host in report.told.get("hosts", [])] if report else []
    hosts = _hosts(study, named, {configuration.host_id for configuration in configurations if configuration.host_id})
    parts = parts_of(hosts)
    mapped = [host.pk for host in hosts if any(enclosure.layout for enclosure in parts[host.pk].enclosures)][:MOST_MAPS]
    return [_machine(host, parts[host.pk], has_map=host.pk in mapped) for host in hosts]


def _hosts(study: Study, named: Sequence[str], used: set[int]) -> list[Host]:
    either = Host.objects.filter(pk__in=used)
    if named:
        either = either | Host.objects.filter(lab_id=study.lab_id, name__in=named)
    place = {name: number for number, name in enumerate(named)}
    result = sorted(either.distinct(), key=lambda host: (place.get(host.name, len(place)), host.name))
    return result[:MOST_HOSTS]


def _machine(host: Host, parts: HostParts, *, has_map: bool) -> StudyMachine:
    whole = topology_of(parts)
    return StudyMachine(
        host, facts_of(host), drawing(whole), tree(whole), findings_of(whole), parts,
        slot_map(host) if has_map else None,
    )  # fmt: skip


def facts_of(host: Host) -> list[Fact]:
    """Return a host's facts, with their source where it is not the report itself."""
    result = described(host, *(name for name in FACTS if name not in NOT_OF_A_REPORT))
    return [
        replace(item, label=_(item.label), source="" if item.source == Source.TYPED.label else item.source)
        for item in result
    ]


def configuration_table(report: StudyReport | None, configurations: Sequence[Configuration]) -> ConfigurationTable:
    """Return configurations with the facts in which they differ, from the first run of each, in one query."""
    runs = Run.objects.filter(study_run__configuration__in=configurations).order_by("id")
    facts: dict[int, dict[str, object]] = {}
    counts: dict[int, int] = {}
    for configuration, result in runs.values_list("study_run__configuration_id", "facts"):
        facts.setdefault(configuration, result)
        counts[configuration] = counts.get(configuration, 0) + 1
    names = [name for name in COLUMNS if any(fact.get(name) is not None for fact in facts.values())]
    absence = Absence.NOT_PRINTED if report else Absence.UNKNOWN
    cells = {
        configuration.pk: {name: _cell(configuration, name, facts.get(configuration.pk, {}), absence) for name in names}
        for configuration in configurations
    }
    same = [name for name in names if len(cells) > 1 and len({of[name] for of in cells.values()}) == 1]
    differing = [name for name in names if name not in same]
    rows = [
        ConfigurationRow(
            configuration, [cells[configuration.pk][name] for name in differing], counts.get(configuration.pk, 0)
        )
        for configuration in configurations
    ]
    shared = [(label_of(name), cells[configurations[0].pk][name]) for name in same]
    return ConfigurationTable([label_of(name) for name in differing], rows, shared)


def _cell(configuration: Configuration, name: str, facts: dict[str, Any], absence: str) -> FactCell:
    value = facts.get(name)
    if value is None:
        return (
            FactCell(NO_VALUE)
            if name in OF_STORAGE and _is_without_storage(configuration)
            else FactCell("", str(absence))
        )
    if name == "environment" and facts.get("hypervisor") not in (None, "", "none"):
        return FactCell(f"{value}, {facts['hypervisor']}")
    return FactCell("", "none") if value == "none" else FactCell(text_of(name, value))


def _is_without_storage(configuration: Configuration) -> bool:
    """Return whether the configuration has no known storage, so that nothing can be said of its RAID level."""
    target = configuration.target
    return configuration.host_id is None if target is None else target.kind == TargetKind.NETWORK
