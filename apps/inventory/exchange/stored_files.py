"""Uploaded inventory files, from preview to result: the same functions for the pages and the REST interface."""

from django.utils import timezone

from apps.inventory.exchange.files import IncomingFile, read
from apps.inventory.exchange.importer import bring_in, preview
from apps.inventory.exchange.outcome import Outcome
from apps.inventory.models import InventoryImport
from apps.labs.models import Lab


def keep(lab: Lab, content: bytes, name: str, kind: str, actor: str) -> InventoryImport:
    """Store an inventory file as it came; nothing of it is written to the inventory yet.

    `kind` is that of a CSV file whose name does not say it.

    Raises:
        FileError: if the file cannot be read at all.
    """
    read(content, name, kind)
    made = InventoryImport.of(content, lab=lab, name=name[:200], kind=kind[:40], created_by=actor)
    made.save()
    return made


def preview_of(inventory_import: InventoryImport) -> Outcome:
    """Return what applying the stored file would do now."""
    return preview(inventory_import.lab, rows_of(inventory_import))


def apply(inventory_import: InventoryImport, actor: str, digest: str) -> Outcome:
    """Apply the stored file as the preview with this digest showed, and note by whom and when.

    Raises:
        StaleOutcomeError: if it would now do anything else.
    """
    outcome = bring_in(inventory_import.lab, rows_of(inventory_import), actor, digest or "none")
    inventory_import.applied_by, inventory_import.applied_at, inventory_import.counts = (
        actor,
        timezone.now(),
        outcome.counts,
    )
    inventory_import.save(update_fields=["applied_by", "applied_at", "counts"])
    return outcome


def rows_of(inventory_import: InventoryImport) -> list[IncomingFile]:
    return read(inventory_import.content, inventory_import.name, inventory_import.kind)
