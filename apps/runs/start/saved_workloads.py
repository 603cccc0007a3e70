"""Services of saved workloads: keep a workload under a name, rename and remove it, and make points of a plan of it."""

from typing import Any

from django.db import IntegrityError, transaction

from apps.labs.models import AuditEvent, Lab
from apps.runs.models import SavedWorkload
from apps.runs.services import store_workload
from apps.runs.workload import WorkloadError, checked

LONGEST_NAME = 80
MOST_SAVED = 500  # of a lab


def check_name(name: Any) -> str:
    """Return a name without blanks around it. Raises `WorkloadError` where it is no text, empty or too long."""
    text = name.strip() if isinstance(name, str) else ""
    if not text or len(text) > LONGEST_NAME or not text.isprintable():
        raise WorkloadError("name", str(name)[:100], f"1 to {LONGEST_NAME} printable characters")
    return text


@transaction.atomic
def save_workload(lab: Lab, name: Any, spec: Any, who: str) -> SavedWorkload:
    """Keep a workload under a name that the lab does not have yet.

    Raises:
        WorkloadError: The workload may not run, or the name is taken or none.
    """
    complete, text = checked(spec), check_name(name)
    if SavedWorkload.objects.filter(lab=lab).count() >= MOST_SAVED:
        raise WorkloadError("name", f"{MOST_SAVED} saved workloads", "fewer: remove some first")
    try:
        with transaction.atomic():
            saved: SavedWorkload = SavedWorkload.objects.create(
                lab=lab, name=text, workload=store_workload(lab, complete), created_by=who
            )
    except IntegrityError:
        raise WorkloadError("name", text, "a name that no saved workload of the lab has") from None
    AuditEvent.objects.record(lab.pk, "workload saved", text, actor=who)
    return saved


@transaction.atomic
def rename_workload(saved: SavedWorkload, name: Any, who: str) -> SavedWorkload:
    """Give a saved workload another name. Raises `WorkloadError` where that is taken or none."""
    before, text = saved.name, check_name(name)
    try:
        with transaction.atomic():
            SavedWorkload.objects.filter(pk=saved.pk).update(name=text)
    except IntegrityError:
        raise WorkloadError("name", text, "a name that no saved workload of the lab has") from None
    AuditEvent.objects.record(saved.lab_id, "saved workload renamed", text, actor=who, before=before)
    saved.name = text
    return saved


@transaction.atomic
def remove_workload(saved: SavedWorkload, who: str) -> None:
    """Forget the name of a workload; runs and plans that were made from it stay as they are."""
    AuditEvent.objects.record(saved.lab_id, "saved workload removed", saved.name, actor=who)
    saved.delete()
