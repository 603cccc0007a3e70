"""The kinds of inventory in files, in the order in which they can be made: what is referred to comes first."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Coalesce, NullIf

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
)

LEFT_OUT = {"id", "lab", "created_at", "updated_at"}
PART_FIELDS = ("labels", "notes", "absent", "sources")


@dataclass(frozen=True)
class ExchangePlaces:
    """Rows that belong to a part, in order; they are a list in the part's own row."""

    name: str
    model: type[models.Model]
    parent: str

    @cached_property
    def fields(self) -> tuple["models.Field[Any, Any]", ...]:
        return tuple(field for field in self.model._meta.concrete_fields if field.name not in ("id", self.parent))


@dataclass(frozen=True)
class Doubles:
    """Rows with equal identities, where the database allows several.

    Rows that match `may` and agree in all of `alike` (the SQL form of `FileKind.identity`) have the same identity.
    """

    may: Q
    alike: tuple[Any, ...]


@dataclass(frozen=True)
class FileKind:
    """A kind of part in files.

    `identity` is what a row is known by, as parts of its key, and `near` are the parts whose names it uses. `late` are
    references to rows of the same kind, set when all exist. `doubles` is None where no two rows have one identity.
    """

    name: str
    model: type[Part]
    identity: Callable[[Any], tuple[str, ...]]
    places: ExchangePlaces | None = None
    late: tuple[str, ...] = ()
    near: tuple[str, ...] = ("host",)
    doubles: Doubles | None = None

    @cached_property
    def fields(self) -> dict[str, "models.Field[Any, Any]"]:
        """Return the fields that stand in files, by name, those that every part has last."""
        own = {field.name: field for field in self.model._meta.concrete_fields if field.name not in LEFT_OUT}
        return {name: own[name] for name in own if name not in PART_FIELDS} | {name: own[name] for name in PART_FIELDS}

    @property
    def columns(self) -> list[str]:
        return ["key", *self.fields, *([self.places.name] if self.places else [])]

    @property
    def word(self) -> str:
        return str(self.model._meta.verbose_name)


def _on_host(*names: str) -> Callable[[Any], tuple[str, ...]]:
    return lambda row: (
        row.host.name,
        *(text for name in names if (text := str(getattr(row, name) or "")) or name == "name"),
    )


def _disk(row: Disk) -> tuple[str, ...]:
    """Return the identity of a disk: serial number or WWN, else its place, else what it is."""
    host = row.host.name if row.host else ""
    if row.serial:
        return "serial", row.model, row.serial
    if row.wwn:
        return "wwn", row.wwn
    return ("at", host, row.device_name) if row.device_name else ("kind", host, row.vendor, row.model)


def _where_empty(names: tuple[str, ...], field: str) -> Case:
    return Case(When(**dict.fromkeys(names, ""), then=F(field)), default=None)


_DISKS = Doubles(
    Q(serial=""),
    (
        "wwn",
        *(_where_empty(("wwn",), name) for name in ("host", "device_name")),
        *(_where_empty(("wwn", "device_name"), name) for name in ("vendor", "model")),
    ),
)


def _filesystem(row: Filesystem) -> tuple[str, ...]:
    return row.host.name, row.mount_point or row.device_name or row.type


_FILESYSTEMS = Doubles(
    Q(), ("host", Coalesce(NullIf("mount_point", models.Value("")), NullIf("device_name", models.Value("")), "type"))
)
_LINKS = Doubles(Q(), ("nic", "switch", "far_nic", "far_switch"))


def _link(row: NetworkLink) -> tuple[str, ...]:
    return (*_end(row.nic, row.switch), *_end(row.far_nic, row.far_switch))


def _end(nic: Nic | None, switch: Switch | None) -> tuple[str, ...]:
    if nic:
        return "nic", nic.host.name, nic.name
    return "switch", switch.name if switch else ""


KINDS = (
    FileKind("hosts", Host, lambda row: (row.name,), near=()),
    FileKind("controllers", Controller, _on_host("name"), late=("sits_on",)),
    FileKind("disks", Disk, _disk, doubles=_DISKS),
    FileKind("arrays", Array, _on_host("name", "round"), ExchangePlaces("members", ArrayMember, "array")),
    FileKind("enclosures", Enclosure, _on_host("name")),
    FileKind("filesystems", Filesystem, _filesystem, doubles=_FILESYSTEMS),
    FileKind("nics", Nic, _on_host("name")),
    FileKind("switches", Switch, lambda row: (row.name,), near=()),
    FileKind(
        "network-links", NetworkLink, _link, near=("nic__host", "switch", "far_nic__host", "far_switch"), doubles=_LINKS
    ),
    FileKind("storage-paths", StoragePath, _on_host("name"), ExchangePlaces("sections", PathSection, "path")),
    FileKind("targets", Target, _on_host("name")),
)
BY_NAME = {kind.name: kind for kind in KINDS}
BY_MODEL: dict[Any, FileKind] = {kind.model: kind for kind in KINDS}
