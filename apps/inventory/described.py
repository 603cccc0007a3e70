"""An inventory part as people read it: each field with its unit, where the value comes from, and why it is empty if
it is."""

from dataclasses import dataclass
from typing import Any

from django.db import models

from apps.inventory.models import Part
from apps.inventory.vocabulary import Absence, Source

BYTES = frozenset({"chunk_size", "block_size", "stripe_unit", "stripe_width"})
LABELS = {
    "os": "operating system",
    "cpu_model": "CPU",
    "cpu_count": "logical CPUs",
    "cpu_sockets": "CPU sockets",
    "cpu_cache_bytes": "CPU cache",
    "ram_bytes": "RAM",
    "ram_type": "RAM type",
    "fqdn": "full name",
    "wwn": "WWN",
    "rpm": "turns per minute",
    "uuid": "UUID",
    "is_solid_state": "solid state",
    "is_agents_own": "offered by the agent",
    "is_present": "seen at the last look",
    "is_in_maintenance": "in maintenance",
    "mkfs_options": "mkfs options",
    "model_behind": "maker's model",
    "round": "round",
    "sits_on": "sits on",
    "member_count": "members",
    "logical_block_bytes": "logical block",
}


@dataclass(frozen=True)
class Fact:
    """`value` is ready to print unless `unit` is `B`; where it is None, `absence` says why."""

    label: str
    value: Any
    unit: str
    source: str
    absence: str

    @property
    def absence_label(self) -> str:
        return Absence(self.absence).label


def described(part: Part, *fields: str) -> list[Fact]:
    return [_fact(part, name) for name in fields]


def _fact(part: Part, name: str) -> Fact:
    field = part._meta.get_field(name)
    assert isinstance(field, models.Field)
    value = _printable(part, field)
    source = part.sources.get(name, "") if value is not None else ""
    label = LABELS.get(name) or name.removesuffix("_bytes").replace("_", " ")
    absence = part.absent.get(name, Absence.UNKNOWN) if value is None else ""
    return Fact(label, value, _unit(name), Source(source).label if source in Source else "", absence)


def _unit(name: str) -> str:
    return "B" if name in BYTES or name.endswith("_bytes") else ""


def _printable(part: Part, field: "models.Field[Any, Any]") -> Any:
    value = getattr(part, field.name)
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return getattr(part, f"get_{field.name}_display")() if field.choices else value
