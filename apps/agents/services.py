"""What the server concludes from what a host says of itself: refused inventories, and where its test directory lies."""

import logging
from datetime import datetime, timedelta

from django.utils import timezone

from apps.agents.models import Agent
from apps.core.pubsub import ring
from apps.inventory.history.authors import by
from apps.inventory.models import Host
from apps.inventory.target_identity import Place, offer_directory
from apps.inventory.vocabulary import Author
from apps.runs.models import Attempt, Run
from apps.runs.states import State

log = logging.getLogger(__name__)
AGENTS_OWN_TIME = timedelta(seconds=60)  # in which the host's agent stops an overdue run by itself
LONGEST = 1000  # characters of a reason


def note_inventory_refusal(agent: Agent, reason: str) -> None:
    """Store why the host's inventory was refused, for its page; an empty reason means that it was taken in."""
    reason = reason[:LONGEST]
    if reason:
        log.warning("The inventory of %s was refused: %s", agent.host, reason)
    elif not agent.inventory_refusal:
        return
    agent.inventory_refusal = reason
    agent.inventory_refused_at = timezone.now() if reason else None
    Agent.objects.filter(pk=agent.pk).update(
        inventory_refusal=agent.inventory_refusal, inventory_refused_at=agent.inventory_refused_at
    )


def settle_directory(agent: Agent) -> None:
    """Bring the host's target up to date when the host reports another test directory or another filesystem under it.

    Another filesystem is another target. Before the host's first inventory nothing is done: what the directory lies on
    is not known yet, and the inventory makes the target.
    """
    host = agent.host
    if not host.tool_outputs.exists():
        return
    try:
        with by(Author.AGENT, host.name, id=host.pk):
            offer_directory(host, Place.from_json(agent.directory))
        refuse_runs_of_gone_targets(host)
    except Exception:  # the poll must be answered; the next inventory settles it again
        log.exception("What %s says of its directory could not be settled: %s", host, agent.directory)


def stop_overdue(now: datetime) -> int:
    """Ask hosts to cancel the attempts that exceed their time by a minute; return how many.

    A host's agent stops them by itself when their time is over; this is for older agents and for a stopped clock.
    """
    late = Attempt.objects.filter(
        state=State.RUNNING, overdue_at__lt=now - AGENTS_OWN_TIME, cancel_wanted_at=None
    ).select_related("run")
    for attempt in late:
        log.error("run %s is overdue since %s; its host is asked to stop it", attempt.run_id, attempt.overdue_at)
        attempt.want_cancel()
        ring(f"host:{attempt.host_id}")
    return len(late)


def refuse_runs_of_gone_targets(host: Host) -> int:
    """Fail the host's queued runs whose target is gone, each with the reason; return how many."""
    refused = 0
    for run in Run.objects.filter(host=host, state=State.QUEUED, target__gone_at__isnull=False).select_related(
        "target"
    ):
        problem = f"Not started: {run.target} is gone: {run.target.gone_reason}."
        if Run.objects.filter(pk=run.pk, state=State.QUEUED).update(
            state=State.FAILED, finished_at=timezone.now(), problem=problem
        ):
            refused += 1
            ring(f"run:{run.pk}", {"state": State.FAILED, "ended": True})
    return refused
