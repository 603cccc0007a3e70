"""Uploaded inventory files, from preview to result: the same functions for the pages and the REST interface."""

from django.utils import timezone

from apps.inventory.exchange.files import IncomingFile, read
from apps.inventory.exchange.importer import bring_in, preview
from apps.inventory.exchange.outcome import Outcome
from apps.inventory.models import InventoryImport
from apps.labs.models import Lab


def keep(lab: Lab, content: bytes, name: str, kind: str, who: str) -> InventoryImport:
    """Store an inventory file as it came; nothing of it is written to the inventory yet.

    `kind` is that of a CSV file whose name does not say it.

    Raises:
        FileError: if the file cannot be read at all.
    """
    read(content, name, kind)
    made = InventoryImport.of(content, lab=lab, name=name[:200], kind=kind[:40], created_by=who)
    made.save()
    return made


def preview_of(found: InventoryImport) -> Outcome:
    """Return what applying the stored file would do now."""
    return preview(found.lab, rows_of(found))


def apply(found: InventoryImport, who: str, digest: str) -> Outcome:
    """Apply the stored file as the preview with this digest showed, and note by whom and when.

    Raises:
        StaleOutcomeError: if it would now do anything else.
    """
    outcome = bring_in(found.lab, rows_of(found), who, digest or "none")
    found.applied_by, found.applied_at, found.counts = who, timezone.now(), outcome.counts
    found.save(update_fields=["applied_by", "applied_at", "counts"])
    return outcome


def rows_of(found: InventoryImport) -> list[IncomingFile]:
    return read(found.content, found.name, found.kind)
