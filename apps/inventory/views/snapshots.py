"""Any two snapshots beside each other."""

from itertools import groupby
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render

from apps.core.text import whole_number
from apps.inventory.models import Snapshot
from apps.inventory.snapshots.differences import SnapshotDifference, differences_of
from apps.inventory.snapshots.differences.shape import GROUP_TITLES
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest

OFFERED = 50
MAX_ID = 2**63 - 1


@member_required()
def compare(request: LabRequest) -> HttpResponse:
    """Compare two snapshots, `?a=&b=`, each an id or the beginning of a SHA-256; without both, ask for them."""
    ticked = sorted(request.GET.getlist("pk")[:2], key=lambda pk: (len(pk), pk))  # on the list: the older one first
    query = {side: request.GET.get(side, "").strip() for side in ("a", "b")} | dict(zip("ab", ticked, strict=False))
    results = {side: find(word) for side, word in query.items()}
    missing = [f"{side}: found no snapshot “{word}”" for side, word in query.items() if word and not results[side]]
    a, b = results["a"], results["b"]
    context: dict[str, Any] = {"asked": query, "a": a, "b": b, "missing": missing, "offered": _offered(a or b)}
    if a and b:
        changes = differences_of(a.content, b.content)
        context |= {
            "changes": changes,
            "groups": grouped(changes),
            "known": sum(change.is_knowledge for change in changes),
        }
    return render(request, "inventory/snapshot-compare.html", context, status=404 if missing else 200)


def find(word: str) -> Snapshot | None:
    """Return a snapshot by id, else the newest whose SHA-256 begins with the word; None if there is none.

    At least 6 digits are needed, so that no number is mistaken for a SHA-256 by chance.
    """
    snapshots: QuerySet[Any] = Snapshot.objects.order_by("-id")
    snapshot = snapshots.filter(pk=whole_number(word) or 0).first()
    if snapshot is None and 6 <= len(word) <= 64:
        snapshot = snapshots.filter(sha256__startswith=word.lower()).first()
    return snapshot


def grouped(changes: list[SnapshotDifference]) -> list[tuple[str, list[SnapshotDifference]]]:
    """Return (title, differences) for each kind of part that has any."""
    return [(GROUP_TITLES[group], list(found)) for group, found in groupby(changes, key=lambda change: change.group)]


def _offered(snapshot: Snapshot | None) -> list[Snapshot]:
    """Return the snapshots to choose from, newest first: of the same host if one is known."""
    snapshots = Snapshot.objects.defer("content").order_by("-id")
    if snapshot and snapshot.facts.get("host"):
        snapshots = snapshots.filter(facts__host=snapshot.facts["host"])
    return list(snapshots[:OFFERED])
