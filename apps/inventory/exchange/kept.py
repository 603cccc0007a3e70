"""Files that somebody brought, from their preview to what became of them: the same for the pages and the REST interface."""

from django.utils import timezone

from apps.inventory.exchange.bringing_in import bring_in, preview
from apps.inventory.exchange.files import Incoming, read
from apps.inventory.exchange.outcome import Outcome
from apps.inventory.models import InventoryImport
from apps.labs.models import Lab


def keep(lab: Lab, content: bytes, name: str, kind: str, who: str) -> InventoryImport:
    """Kept as it came; nothing of it is written yet. `kind`: of a CSV file whose name does not say it. Raises `FileError` for a file
    that cannot be read at all.
    """
    read(content, name, kind)
    made = InventoryImport.of(content, lab=lab, name=name[:200], kind=kind[:40], created_by=who)
    made.save()
    return made


def preview_of(found: InventoryImport) -> Outcome:
    """What it would do now."""
    return preview(found.lab, rows_of(found))


def apply(found: InventoryImport, who: str, digest: str) -> Outcome:
    """Does what the preview of this digest showed. Raises `StaleOutcomeError` if anything differs now."""
    outcome = bring_in(found.lab, rows_of(found), who, digest or "none")
    found.applied_by, found.applied_at, found.counts = who, timezone.now(), outcome.counts
    found.save(update_fields=["applied_by", "applied_at", "counts"])
    return outcome


def rows_of(found: InventoryImport) -> list[Incoming]:
    return read(found.content, found.name, found.kind)
