"""The timeline of a host: its snapshots in the order of the runs that used them, discovery results and maintenance."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Max, Min
from django.db.models.functions import Coalesce, Trunc
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.inventory.models import Change, Host, Snapshot, ToolOutput
from apps.inventory.snapshots import differences as compared
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.runs.models import Run

MAINTENANCE = "is_in_maintenance"


@dataclass
class TimelineEntry:
    """One thing that happened, at its first time. Of a snapshot: its use by the runs of one target."""

    kind: str  # snapshot, look, maintenance
    at: datetime
    until: datetime | None = None
    snapshot_id: int | None = None
    target_id: int | None = None
    target_name: str = ""
    runs: int = 0
    last_run: int | None = None
    before_id: int | None = None
    snapshot: Snapshot | None = None
    changes: list[compared.SnapshotDifference] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    sentence: str = ""


def entries_of(host: Host) -> list[TimelineEntry]:
    """Return all entries of a host, newest first, without the contents of snapshots, in three queries."""
    result = [*_snapshots(host), *_looks(host), *_maintenance(host)]
    return sorted(result, key=lambda item: (item.at, item.kind), reverse=True)


def with_changes(entries: Sequence[TimelineEntry]) -> None:
    """Set the snapshots of a page's entries, and their differences from the one before on the same target, in one query."""
    wanted = {pk for entry in entries for pk in (entry.snapshot_id, entry.before_id) if pk}
    snapshots = {snapshot.pk: snapshot for snapshot in Snapshot.objects.filter(pk__in=wanted)}
    for item in entries:
        item.snapshot = snapshots.get(item.snapshot_id or 0)
        before = snapshots.get(item.before_id or 0)
        if item.snapshot and before:
            item.changes = compared.differences_of(before.content, item.snapshot.content)


def _snapshots(host: Host) -> list[TimelineEntry]:
    """Return an entry per snapshot and target, with the id of the snapshot before it on the same target."""
    began = Coalesce("started_at", "created_at")
    runs = Run.objects.filter(host=host, snapshot__isnull=False).order_by()
    groups = runs.values("snapshot_id", "target_id", "target__name").annotate(
        first=Min(began), last=Max(began), count=Count("id"), newest=Max("id")
    )
    latest: dict[Any, int] = {}
    result = []
    for item in sorted(groups, key=lambda group: (group["first"], group["newest"])):
        result.append(
            TimelineEntry(
                "snapshot", item["first"], item["last"], item["snapshot_id"], item["target_id"], item["target__name"] or "",
                item["count"], item["newest"], latest.get(item["target_id"]),
            )
        )  # fmt: skip
        latest[item["target_id"]] = item["snapshot_id"]
    return result


def _looks(host: Host) -> list[TimelineEntry]:
    """Return an entry per message with new tool outputs; an output is stored only where it differs from the last one."""
    outputs = ToolOutput.objects.filter(host=host).annotate(second=Trunc("received_at", "second"))
    looks: dict[datetime, list[str]] = {}
    for tool, second in outputs.order_by("received_at", "tool").values_list("tool", "second"):
        looks.setdefault(second, []).append(tool)
    return [TimelineEntry("look", at, tools=list(dict.fromkeys(tools))) for at, tools in looks.items()]


def _maintenance(host: Host) -> list[TimelineEntry]:
    """Return entries from the host's history: when maintenance started and ended, and who did it."""
    changes = Change.objects.of_part("host", host.pk).filter(
        row_kind="host", act=Change.Act.CHANGED, after__has_key=MAINTENANCE
    )
    result = []
    for change in changes.order_by("id"):
        note = (change.after or {}).get("maintenance_note") or ""
        word = "began" if (change.after or {})[MAINTENANCE] else "ended"
        by = (change.who or {}).get("name") or "the system"
        result.append(
            TimelineEntry("maintenance", change.at, sentence=f"{word}, by {by}" + (f": {note}" if note else ""))
        )
    return result


PAGE = 25
KINDS = {"": "everything", "snapshot": "snapshots", "look": "discovery", "maintenance": "maintenance"}


@member_required()
def timeline(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Host, pk=pk)
    only = request.GET.get("only", "")
    entries = [entry for entry in entries_of(part) if only not in KINDS or not only or entry.kind == only]
    page = Paginator(entries, PAGE).get_page(request.GET.get("page"))
    with_changes(list(page))
    return render(request, "dashboard/timeline.html", {"part": part, "page": page, "kinds": KINDS, "only": only})
