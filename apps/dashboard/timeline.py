"""A host's past in one line: its snapshots in the order of the runs that used them, and the looks of discovery that brought
something new. Whatever the host's age, a page of it costs the same number of queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min
from django.db.models.functions import Coalesce, Trunc

from apps.inventory import differences_of as compared
from apps.inventory.models import Change, Host, Snapshot, ToolOutput
from apps.runs.models import Run

MAINTENANCE = "is_in_maintenance"


@dataclass
class Entry:
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
    changes: list[compared.Change] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    said: str = ""


def entries_of(host: Host) -> list[Entry]:
    """All of them, the newest first, without the snapshots' contents: three queries."""
    found = [*_snapshots(host), *_looks(host), *_maintenance(host)]
    return sorted(found, key=lambda one: (one.at, one.kind), reverse=True)


def with_changes(entries: Sequence[Entry]) -> None:
    """Fills in the snapshots of a page's entries, and what each changed against the one before on its target: one query."""
    wanted = {pk for one in entries for pk in (one.snapshot_id, one.before_id) if pk}
    snapshots = {one.pk: one for one in Snapshot.objects.filter(pk__in=wanted)}
    for one in entries:
        one.snapshot = snapshots.get(one.snapshot_id or 0)
        before = snapshots.get(one.before_id or 0)
        if one.snapshot and before:
            one.changes = compared.differences_of(before.content, one.snapshot.content)


def _snapshots(host: Host) -> list[Entry]:
    """A snapshot holds its target too, so each is put beside the one before it on the same target."""
    began = Coalesce("started_at", "created_at")
    runs = Run.objects.filter(host=host, snapshot__isnull=False).order_by()
    groups = runs.values("snapshot_id", "target_id", "target__name").annotate(
        first=Min(began), last=Max(began), count=Count("id"), newest=Max("id")
    )
    latest: dict[Any, int] = {}
    found = []
    for one in sorted(groups, key=lambda group: (group["first"], group["newest"])):
        found.append(
            Entry(
                "snapshot", one["first"], one["last"], one["snapshot_id"], one["target_id"], one["target__name"] or "",
                one["count"], one["newest"], latest.get(one["target_id"]),
            )
        )  # fmt: skip
        latest[one["target_id"]] = one["snapshot_id"]
    return found


def _looks(host: Host) -> list[Entry]:
    """An output is stored only where it differs from the tool's newest, so every one of them is news. One message's are one look."""
    outputs = ToolOutput.objects.filter(host=host).annotate(second=Trunc("received_at", "second"))
    looks: dict[datetime, list[str]] = {}
    for tool, second in outputs.order_by("received_at", "tool").values_list("tool", "second"):
        looks.setdefault(second, []).append(tool)
    return [Entry("look", at, tools=list(dict.fromkeys(tools))) for at, tools in looks.items()]


def _maintenance(host: Host) -> list[Entry]:
    """From the history of the host: when it began, when it ended, who said so."""
    changes = Change.objects.of_part("host", host.pk).filter(
        row_kind="host", act=Change.Act.CHANGED, after__has_key=MAINTENANCE
    )
    found = []
    for change in changes.order_by("id"):
        note = (change.after or {}).get("maintenance_note") or ""
        word = "began" if (change.after or {})[MAINTENANCE] else "ended"
        by = (change.who or {}).get("name") or "the system"
        found.append(Entry("maintenance", change.at, said=f"{word}, by {by}" + (f": {note}" if note else "")))
    return found
