"""The queue of each host: priorities, moves, cancelling many, and giving up the runs of a host that is gone.

A host takes its waiting runs by priority; among those of a priority an explicit place (`Run.position`) decides, or else
the age. Pages and REST call these functions; the audit event and the dispatch are inside.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from django.db import transaction

from apps.core.pubsub import ring
from apps.inventory.models import Host
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Attempt, Run, request_dispatch
from apps.runs.services import cancel_run
from apps.runs.states import Priority, State
from apps.runs.workload import WorkloadError

WAITING = (State.QUEUED, State.OFFERED)
MOVES = ("front", "up", "down")
MOST_AT_ONCE = 1000  # runs that one request may cancel or give a priority
LONGEST_REASON = 1000


def cancel_runs(runs: Sequence[Run], actor: str) -> list[int]:
    """Cancel many runs, each as `cancel_run` does; return the ids of those that had not ended yet."""
    ordered = sorted(runs, key=lambda run: run.pk)  # in one order, or two who cancel the same would wait for each other
    return [run.pk for run in ordered if cancel_run(run, actor)]


@transaction.atomic
def set_priority(lab: Lab, runs: Collection[int], priority: Priority, actor: str) -> list[int]:
    """Give the lab's waiting runs a priority, in which their age decides; return the ids of those that it changed.

    Runs that have been offered to their host are left out, for they go first anyhow.
    """
    queued = Run.objects.filter(lab=lab, pk__in=runs, state=State.QUEUED).exclude(priority=priority)
    changed = list(queued.order_by("pk").select_for_update(of=("self",)))
    if not changed:
        return []
    ids = [run.pk for run in changed]
    Run.objects.filter(pk__in=ids).update(priority=priority, position=None)
    AuditEvent.objects.record(
        lab.pk, "runs' priority changed", _name_runs(ids), actor=actor, runs=ids, priority=priority.label
    )
    for host_id in {run.host_id for run in changed}:
        request_dispatch(host_id)
    return ids


@transaction.atomic
def move_run(run: Run, to: str, actor: str) -> bool:
    """Move a waiting run to the front of its host's queue, or one place up or down; return whether that changed anything.

    A run that passes one of another priority takes over that priority, for the order is by priority first.

    Raises:
        WorkloadError: `to` is none of `MOVES`.
    """
    if to not in MOVES:
        raise WorkloadError("to", to, f"one of: {', '.join(MOVES)}")
    queue = lock_queue(run.host_id)
    place = next((place for place, row in enumerate(queue) if row.pk == run.pk), None)
    wanted = None if place is None else {"front": 0, "up": place - 1, "down": place + 1}[to]
    if place is None or wanted is None or wanted == place or not 0 <= wanted < len(queue):
        return False
    moved, neighbour = queue[place], queue[wanted]
    before = moved.priority
    moved.priority = neighbour.priority
    if to == "front":
        moved.position = _place_of(neighbour) - 1
        Run.objects.filter(pk=moved.pk).update(priority=moved.priority, position=moved.position)
    else:
        queue.insert(wanted, queue.pop(place))
        Run.objects.filter(pk=moved.pk).update(priority=moved.priority)
        _number([row for row in queue if row.priority == moved.priority])
    detail = {"to": to} | ({"priority": Priority(moved.priority).label} if moved.priority != before else {})
    AuditEvent.objects.record(run.lab_id, "run moved in the queue", str(run), actor=actor, **detail)
    request_dispatch(run.host_id)
    return True


def lock_queue(host_id: int | None) -> list[Run]:
    """Return the host's queued runs in the order of dispatch, locked until the transaction ends."""
    rows = Run.objects.filter(host_id=host_id, state=State.QUEUED).only("lab_id", "host_id", "priority", "position")
    locked = list(rows.order_by("pk").select_for_update(of=("self",)))
    return sorted(locked, key=lambda run: (run.priority, _place_of(run), run.pk))


def _place_of(run: Run) -> int:
    return int(run.pk if run.position is None else run.position)


def _number(runs: Sequence[Run]) -> None:
    """Give the runs of one priority the places that they have together, in this order, and store what changed."""
    places: list[int] = []
    for place in sorted(map(_place_of, runs)):  # of two priorities, some may be the same
        places.append(max(place, places[-1] + 1) if places else place)
    for run, place in zip(runs, places, strict=True):
        if run.position != place:
            Run.objects.filter(pk=run.pk).update(position=place)


def check_reason(reason: Any) -> str:
    """Return the reason for giving a run up. Raises `WorkloadError` where it is none or too long."""
    text = reason.strip() if isinstance(reason, str) else ""
    if not 0 < len(text) <= LONGEST_REASON:
        shown = reason[:80] if isinstance(reason, str) else reason
        raise WorkloadError("reason", shown, f"why it is given up, in 1 to {LONGEST_REASON} characters")
    return text


@transaction.atomic
def abandon_run(run: Run, reason: str, actor: str) -> bool:
    """Give up a run whose host has gone quiet; return False where the run is not `unknown`.

    Its host gets nothing new before it is back. A result that it delivers then is kept, and shown as late.

    Raises:
        WorkloadError: There is no reason.
    """
    checked = check_reason(reason)
    attempt = Attempt.objects.filter(run=run, state=State.UNKNOWN).first()
    if attempt is None or not attempt.abandon(actor, checked):
        return False
    AuditEvent.objects.record(run.lab_id, "run abandoned", str(run), actor=actor, reason=checked, host=str(run.host))
    transaction.on_commit(partial(ring, f"run:{run.pk}", {"state": State.INTERRUPTED, "ended": True}))
    return True


@transaction.atomic
def abandon_host(host: Host, reason: str, actor: str, *, with_waiting: bool = False) -> tuple[list[int], list[int]]:
    """Give up the run of a host that has gone quiet, and cancel the runs that wait for it if that is wanted.

    Returns:
        The ids of the runs that were given up, and of those that were cancelled.
    """
    check_reason(reason)
    lost = Run.objects.filter(host=host, lab=host.lab_id, state=State.UNKNOWN).select_related("host").order_by("pk")
    abandoned = [run.pk for run in lost if abandon_run(run, reason, actor)]
    waiting = Run.objects.filter(host=host, lab=host.lab_id, state__in=WAITING).order_by("pk") if with_waiting else ()
    return abandoned, cancel_runs(list(waiting), actor)


def _name_runs(ids: Sequence[int]) -> str:
    """Return `run 5`, or `run 5 and 7 more`."""
    return f"run {ids[0]}" if len(ids) == 1 else f"run {ids[0]} and {len(ids) - 1} more"
