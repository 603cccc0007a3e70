"""A study's machines as tables; not printed, unknown and none are three different words."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from apps.core import units
from apps.core.tables import Section, Table
from apps.inventory.models import Array, Controller, Disk, Host, Part
from apps.inventory.topology.host_parts import HostParts, parts_of
from apps.inventory.topology.stack import StackError, stack_in
from apps.inventory.vocabulary import Absence
from apps.studies.models import Configuration, Study
from apps.wiki.documents.formats import absence, number

Fields = list[tuple[str, str]]  # (field, how it is called in the document's language)
_SIZES: dict[str, Callable[[int | None], str]] = {
    "ram_bytes": units.size, "cache_bytes": units.size, "chunk_size": units.size, "capacity_bytes": units.capacity,
}  # fmt: skip


@dataclass(frozen=True)
class StudyMachines:
    """Those of a study's configurations. The number of queries does not grow with them."""

    configurations: Sequence[Configuration]

    @classmethod
    def of(cls, study: Study) -> "StudyMachines":
        return cls(list(study.configurations.select_related("host", "target")))

    @cached_property
    def hosts(self) -> list[Host]:
        return list(
            {
                configuration.host.pk: configuration.host for configuration in self.configurations if configuration.host
            }.values()
        )

    @cached_property
    def parts(self) -> dict[int, HostParts]:
        return parts_of(self.hosts)

    @cached_property
    def notes(self) -> dict[tuple[type, int], str]:
        """Return the notes of parts, which the view of a whole host leaves out."""
        kinds: dict[Any, str] = {Controller: "controllers", Disk: "disks", Array: "arrays"}
        return {
            (model, pk): notes
            for model, name in kinds.items()
            if (rows := self.all(name))
            for pk, notes in _notes(model, rows)
        }

    def all(self, name: str) -> list[Any]:
        return [part for of in self.parts.values() for part in getattr(of, name)]


def sections_of(machines: StudyMachines) -> list[Section]:
    """Return a section for the machines, for each kind of part, and for the configurations."""
    lines = [
        Section(_("Machines"), table=_side_by_side(machines.hosts), level=3) if machines.hosts else None,
        _listed(_("Controllers"), machines.all("controllers"), _of_controllers(), machines.notes),
        _listed(_("Disks"), machines.all("disks"), _of_disks(), machines.notes),
        _listed(_("Arrays"), machines.all("arrays"), _of_arrays(), machines.notes),
        _listed(_("Filesystems"), machines.all("filesystems"), _of_filesystems(), machines.notes),
        _configurations(machines.configurations, machines.parts),
    ]
    return [section for section in lines if section]


def _of_hosts() -> Fields:
    return [
        ("cpu_model", _("Processor")), ("cpu_sockets", _("Processors")), ("ram_bytes", _("Memory")),
        ("ram_type", _("Kind of memory")), ("board", _("Board")), ("os", _("Operating system")),
        ("kernel", _("Kernel")), ("architecture", _("Architecture")), ("environment", _("Environment")),
        ("hypervisor", _("Hypervisor")),
    ]  # fmt: skip


def _of_controllers() -> Fields:
    return [
        ("model", _("Model")), ("kind", _("Kind")), ("bus", _("Bus")), ("cache_bytes", _("Cache")),
        ("cache_protection", _("Cache protection")),
    ]  # fmt: skip


def _of_disks() -> Fields:
    return [
        ("vendor", _("Maker")), ("model", _("Model")), ("interface", _("Interface")), ("generation", _("Generation")),
        ("rpm", _("Turns per minute")), ("capacity_bytes", _("Capacity")), ("cache_bytes", _("Cache")),
    ]  # fmt: skip


def _of_arrays() -> Fields:
    return [
        ("name", _("Name")), ("level", _("Level")), ("implementation", _("Implementation")), ("software", _("Software")),
        ("software_version", _("Version")), ("chunk_size", _("Chunk size")), ("member_count", _("Members")),
    ]  # fmt: skip


def _of_filesystems() -> Fields:
    return [
        ("type", _("Type")), ("mount_point", _("Mount point")), ("mkfs_options", _("mkfs options")),
        ("mount_options", _("Mount options")),
    ]  # fmt: skip


def text_of(part: Part, name: str) -> str:
    """Format a field for people; an empty one says why it is empty."""
    value = getattr(part, name)
    if value is None or value == "":
        return absence(part.absent.get(name, Absence.UNKNOWN))
    if name in _SIZES:
        return number(_SIZES[name](value))
    display = getattr(part, f"get_{name}_display", None)
    return _(str(display())) if display else str(value)


def _is_reported(part: Part, name: str) -> bool:
    """Return whether a field has a value, or a reason for having none."""
    return getattr(part, name) not in (None, "") or name in part.absent


def _side_by_side(hosts: Sequence[Host]) -> Table:
    fields = [(name, title) for name, title in _of_hosts() if any(_is_reported(host, name) for host in hosts)]
    rows = [[title, *(text_of(host, name) for host in hosts)] for name, title in fields]
    if any(host.notes for host in hosts):
        rows.append([_("Remark"), *(host.notes or units.NO_VALUE for host in hosts)])
    return Table.of([_("Host"), *(host.name for host in hosts)], rows, row_heads=True)


def _listed(heading: str, rows: Sequence[Any], fields: Fields, notes: Mapping[tuple[type, int], str]) -> Section | None:
    """Build a table with one line for equal parts and their number, without columns that are empty for all."""
    counted = Counter(
        (row.host.name, *(text_of(row, name) for name, _title in fields), notes.get((type(row), row.pk), ""))
        for row in rows
    )
    if not counted:
        return None
    many, is_reported = any(count > 1 for count in counted.values()), any(line[-1] for line in counted)
    titles = [
        _("Host"),
        *([_("Number")] if many else []),
        *(title for _name, title in fields),
        *([_("Remark")] if is_reported else []),
    ]
    lines = [
        [line[0], *([str(count)] if many else []), *line[1:-1], *([line[-1] or units.NO_VALUE] if is_reported else [])]
        for line, count in counted.items()
    ]
    return Section(heading, table=Table.of(titles, lines), level=3)


def _notes(model: Any, rows: Iterable[Any]) -> Iterable[tuple[int, str]]:
    notes: Iterable[tuple[int, str]] = (
        model.objects.filter(pk__in=[row.pk for row in rows]).exclude(notes="").values_list("pk", "notes")
    )
    return notes


def _configurations(configurations: Iterable[Configuration], parts: dict[int, HostParts]) -> Section | None:
    rows = [
        [
            configuration.label,
            configuration.host.name if configuration.host else units.NO_VALUE,
            _target(configuration),
            _below(configuration, parts),
        ]
        for configuration in configurations
    ]
    titles = [_("Configuration"), _("Host"), _("Target"), _("What lies below")]
    return Section(_("Configurations"), table=Table.of(titles, rows), level=3) if rows else None


def _target(configuration: Configuration) -> str:
    return configuration.target.name if configuration.target else units.NO_VALUE


def _below(configuration: Configuration, parts: dict[int, HostParts]) -> str:
    """Return the storage stack from the top down without disks: `ext4, md0 (RAID 5), PERC 6/i`."""
    target, of = configuration.target, parts.get(configuration.host_id or 0)
    known = (
        next((known_target for known_target in of.targets if target and known_target.pk == target.pk), None)
        if of
        else None
    )
    if of is None or known is None:
        return units.NO_VALUE
    try:
        stack = stack_in(of, known)
    except StackError as error:
        return str(error)
    names = [stack.filesystem.type] if stack.filesystem else []
    names += [f"{array.name} ({array.get_level_display()})" for array in stack.arrays]
    names += [controller.name for controller in stack.controllers]
    return ", ".join(name for name in names if name) or units.NO_VALUE
