"""What a person decides about a difference between a typed and a discovered value."""

from typing import Any

from django.db import models, transaction
from django.utils import timezone

from apps.inventory.discovery.differences import model_of, related
from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.models import Difference, Part
from apps.inventory.vocabulary import Decision, Source
from apps.labs.models import AuditEvent


class GoneError(LookupError):
    """The part, or what it would refer to, does not exist any more."""


def decide(difference: Difference, decision: Decision, who: str) -> None:
    """Keep the typed value, or take what the tools report, after which the field is discovery's again.

    Raises:
        GoneError: if the part, or what it would refer to, does not exist any more.
    """
    with transaction.atomic():
        if decision == Decision.DISCOVERED:
            _take(difference)
        difference.decision, difference.decided_by = decision, who
        difference.save()
        said = {"field": difference.field, "typed": difference.typed, "discovered": difference.discovered}
        AuditEvent.objects.record(difference.lab_id, f"kept as {decision}", difference.part_name, actor=who, **said)


def _take(difference: Difference) -> None:
    model = model_of(difference.part_kind)
    part = model._default_manager.select_for_update(of=("self",)).filter(pk=difference.part_id).first()
    if part is None:
        raise GoneError(f"{difference.part_name} is not there any more.")
    if difference.field == "members":
        _hand_over(part, "members", {})
        rebuild(difference.host)  # the tools' outputs have the members and their places
        return
    value = difference.discovered
    target = related(model, difference.field)
    if target is not None and isinstance(value, dict):
        if not target._default_manager.filter(pk=value["id"], lab_id=difference.lab_id).exists():
            raise GoneError(f"{value['name']} is not there any more.")
        value = value["id"]
    _hand_over(part, difference.field, {difference.field: value})


def _hand_over(part: Part, field: str, values: dict[str, Any]) -> None:
    part.sources[field] = str(Source.DISCOVERED)
    part.absent.pop(field, None)
    for name, value in values.items():
        column = part._meta.get_field(name)
        assert isinstance(column, models.Field)
        setattr(part, column.attname, value)
    part.updated_at = timezone.now()
    part.save(update_fields=[*values, "sources", "absent", "updated_at"])
