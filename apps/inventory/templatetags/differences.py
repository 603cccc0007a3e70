"""`{% differences_of part %}`: where the tools say other than a person typed, on the page of a host or of one of its parts."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse

from apps.inventory.discovery.differences import model_of
from apps.inventory.fields import is_bytes, label_of, unit_of
from apps.inventory.models import Difference, Host, Part
from apps.inventory.snapshots.differences.values import text_of
from apps.inventory.vocabulary import Decision

register = template.Library()
MOST = 200


@dataclass(frozen=True)
class Shown:
    """A difference as the page shows it; `typed` and `discovered` are ready to print unless `is_bytes`."""

    difference: Difference
    label: str
    typed: Any
    discovered: Any
    is_bytes: bool
    address: str


@register.inclusion_tag("inventory/_differences.html", takes_context=True)
def differences_of(context: template.Context, part: Part) -> dict[str, Any]:
    """Return the context for the differences of a part; on a host's page those of all its parts."""
    if isinstance(part, Host):
        result = Difference.objects.filter(host=part)
    else:
        result = Difference.objects.filter(part_kind=part._meta.model_name, part_id=part.pk)
    rows = [
        shown(difference)
        for difference in result.exclude(decision=Decision.DISCOVERED).order_by(
            "part_kind", "part_name", "field", "id"
        )[:MOST]
    ]
    return {
        "open": [row for row in rows if row.difference.decision == Decision.OPEN],
        "kept": [row for row in rows if row.difference.decision == Decision.TYPED],
        "is_host": isinstance(part, Host),
        "may_decide": bool(context.get("may_edit")) and part.lab_id == getattr(context.get("lab"), "pk", None),
        "here": context["request"].get_full_path(),
        "csrf_token": context.get("csrf_token"),
    }


def shown(difference: Difference) -> Shown:
    label = "members" if difference.field == "members" else label_of(difference.field)
    try:
        address = reverse(difference.part_kind, args=[difference.part_id])
    except NoReverseMatch:
        address = ""
    return Shown(
        difference,
        label,
        _words(difference, difference.typed),
        _words(difference, difference.discovered),
        is_bytes(difference.field),
        address,
    )


def _words(difference: Difference, value: object) -> Any:
    if value in (None, "", [], {}):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return (
            value["name"]
            if set(value) == {"id", "name"}
            else ", ".join(f"{key} = {item}" for key, item in value.items())
        )
    if isinstance(value, list):
        return ", ".join(str(item) for item in value if not isinstance(item, dict)) or f"{len(value)} rows"
    return _chosen(difference, value)


def _chosen(difference: Difference, value: object) -> Any:
    """Return the word for a value from a fixed list, such as RAID 5 for 5; rates with their unit."""
    if unit_of(difference.field) in ("B/s", "bit/s") and isinstance(value, int):
        return text_of(difference.field, value)
    choices = (
        dict(getattr(model_of(difference.part_kind)._meta.get_field(difference.field), "flatchoices", ()))
        if difference.field != "members"
        else {}
    )
    return choices.get(value, value)
