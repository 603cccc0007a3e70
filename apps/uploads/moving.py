"""Kept runs whose host was not said, or said wrongly, are given another one, with a new snapshot and the facts that follow from it; and
other labels.

Only uploaded runs. What an agent ran, it ran on its host; what a report published, the report says.
"""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from apps.inventory.models import Host, Snapshot, Target
from apps.inventory.snapshots import describe
from apps.lib.few_rows import change_all
from apps.runs.arrivals import announce
from apps.runs.facts import run_facts
from apps.runs.models import Run
from apps.uploads.guessing import Guesser
from apps.uploads.models import Upload, UploadedFile

_AT_ONCE = 500
Labels = dict[str, str]


def runs_of(*files: int) -> Any:
    """The uploaded runs that were kept of these files."""
    return Run.objects.filter(uploaded_from__file__in=files, origin=Run.Origin.UPLOADED)


def move(runs: Any, host: Host | None, target: Target | None) -> int:
    """Host, target, snapshot and facts of these runs. Says how many."""
    return move_each(runs, lambda run: (host, target))


def move_each(runs: Any, place: Callable[[Run], tuple[Host | None, Target | None]]) -> int:
    """The same, to a place for each."""
    snapshots: dict[tuple[Host | None, Target | None], Snapshot | None] = {}

    def moved(run: Run) -> None:
        run.host, run.target = at = place(run)
        if at not in snapshots:
            snapshots[at] = describe(run.host, run.target) if run.host else None
        run.snapshot = snapshots[at]

    return _change(runs, moved, "host", "target", "snapshot")


def relabel(runs: Any, before: Labels, after: Labels) -> int:
    """These labels instead of those; all others stay. Says how many runs."""

    def relabelled(run: Run) -> None:
        run.labels = {name: value for name, value in run.labels.items() if before.get(name) != value} | after

    return _change(runs, relabelled, "labels")


def follow(file: UploadedFile, place: tuple[int | None, int | None], labels: Labels) -> int:
    """The kept runs of a file whose place or labels somebody changed; `place`, `labels`: what they were. Says how many there are."""
    runs = runs_of(file.pk)
    # where the place is the same, the snapshot stays: what the inventory says by now is not what was true then
    if file.place != place:
        _follow_place(file, runs)
    if file.labels != labels:
        relabel(runs, labels, {**file.upload.labels, **file.labels})
    return int(runs.count())


def _follow_place(file: UploadedFile, runs: Any) -> None:
    host_id, target_id = file.place
    if host_id is None and len(file.printed_hosts) > 1:
        move_each(runs, _own_places(file.upload))
    else:
        move(runs, Host.objects.filter(pk=host_id).first(), Target.objects.filter(pk=target_id).first())


def _own_places(upload: Upload) -> Callable[[Run], tuple[Host | None, Target | None]]:
    """Of runs that print different hosts, as when they are kept: each its own."""
    guesser = Guesser(upload)
    hosts = {host.pk: host for host in Host.objects.filter(lab=upload.lab_id)}
    targets = {target.pk: target for target in Target.objects.filter(lab=upload.lab_id)}

    def own(run: Run) -> tuple[Host | None, Target | None]:
        host_id, target_id = guesser.of_run(run.labels.get("machine", ""), run.labels.get("path", ""))
        return hosts.get(host_id or 0), targets.get(target_id or 0)

    return own


def _change(runs: Any, change: Callable[[Run], None], *columns: str) -> int:
    ids = list(runs.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), _AT_ONCE):
        with transaction.atomic():
            some = Run.objects.filter(pk__in=ids[start : start + _AT_ONCE]).select_related("workload", "snapshot")
            rows = list(some.select_for_update(of=("self",)).order_by("pk"))
            for run in rows:
                change(run)
                run.facts = run_facts(run)
            change_all(rows, [*columns, "facts"])
            for lab in {run.lab_id for run in rows}:
                announce(lab, [run.pk for run in rows])
    return len(ids)
