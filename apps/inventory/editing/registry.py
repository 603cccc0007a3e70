"""The kinds of inventory that can be edited, and what hangs below each."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import models

from apps.inventory.fields import FieldSpec, Group, groups_of, specs_of
from apps.inventory.models import (
    Array,
    ArrayMember,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    NetworkLink,
    Nic,
    Part,
    PathSection,
    StoragePath,
    Switch,
    Target,
)  # fmt: skip


@dataclass(frozen=True)
class Places:
    """Rows that belong to a part, in order: an array's members, a path's sections."""

    model: type[models.Model]
    parent: str
    name: str
    word: str

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields of a place, without the part and the position."""
        return tuple(spec.name for spec in specs_of(str(self.model._meta.model_name)))

    def column(self, name: str) -> str:
        """Return the column of a field: `disk` → `disk_id`."""
        field: Any = self.model._meta.get_field(name)
        return str(field.attname)


@dataclass(frozen=True)
class PartKind:
    """A kind of part; its fields are declared in `apps/inventory/fields.py`.

    `plural` stands in addresses, `word` in sentences.
    """

    model: type[Part]
    plural: str
    word: str
    places: Places | None = None

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @property
    def specs(self) -> tuple[FieldSpec, ...]:
        return specs_of(self.name)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return the sections of the form."""
        return groups_of(self.name)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields that can be edited, without labels and notes, which every part has."""
        return (*(field for _, fields in self.groups for field in fields), *self.elsewhere)

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """Return the names of the fields that a part's page lists."""
        return tuple(spec.name for spec in self.specs if spec.on_page)

    @cached_property
    def alike(self) -> tuple[str, ...]:
        """Return the names of the fields that are counted on when several alike parts are made at once."""
        return tuple(spec.name for spec in self.specs if spec.counts_on)

    @cached_property
    def elsewhere(self) -> tuple[str, ...]:
        """Return the names of the fields that have a page of their own for editing."""
        return tuple(spec.name for spec in self.specs if spec.has_own_page)

    def field(self, name: str) -> "models.Field[Any, Any]":
        result = self.model._meta.get_field(name)
        assert isinstance(result, models.Field)
        return result

    @property
    def words(self) -> str:
        return self.plural.replace("-", " ")

    @property
    def new_name(self) -> str:
        """Return the name of the route that adds a part of this kind."""
        return f"{self.name}-new"

    @property
    def has_host(self) -> bool:
        return "host" in self.fields


MEMBERS = Places(ArrayMember, "array", "members", "member")
SECTIONS = Places(PathSection, "path", "sections", "section")

KINDS = (
    PartKind(Host, "hosts", "host"),
    PartKind(Controller, "controllers", "controller"),
    PartKind(Disk, "disks", "disk"),
    PartKind(Array, "arrays", "array", MEMBERS),
    PartKind(Filesystem, "filesystems", "filesystem"),
    PartKind(Target, "targets", "target"),
    PartKind(Enclosure, "enclosures", "enclosure"),
    PartKind(Nic, "nics", "NIC"),
    PartKind(Switch, "switches", "switch"),
    PartKind(NetworkLink, "network-links", "network link"),
    PartKind(StoragePath, "storage-paths", "storage path", SECTIONS),
)
BY_NAME = {kind.name: kind for kind in KINDS}
BY_PLURAL = {kind.plural: kind for kind in KINDS}


def kind_of(part: Part) -> PartKind:
    return BY_NAME[str(part._meta.model_name)]


def editable(kind: PartKind, name: str) -> bool:
    return name in kind.fields or name in ("labels", "notes")
