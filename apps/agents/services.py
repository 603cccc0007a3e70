"""What the server concludes from what a host says of itself: refused inventories, and where its test directories lie."""

import logging
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from apps.agents.models import Agent
from apps.core.pubsub import ring
from apps.core.text import shorten
from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.history.authors import by
from apps.inventory.models import Host, Target
from apps.inventory.target_identity import Place, offer_directories
from apps.inventory.target_paths import is_plain_path
from apps.inventory.vocabulary import Author, TargetKind
from apps.runs.models import Attempt, Run
from apps.runs.states import State

log = logging.getLogger(__name__)
AGENTS_OWN_TIME = timedelta(seconds=60)  # in which the host's agent stops an overdue run by itself
LONGEST = 1000  # characters of a reason
MOST_WANTED = 64  # directories below the roots of one host; agents take no more


def note_inventory_refusal(agent: Agent, reason: str) -> None:
    """Store why the host's inventory was refused, for its page; an empty reason means that it was taken in."""
    reason = shorten(reason, LONGEST)
    if reason:
        log.warning("The inventory of %s was refused: %s", agent.host, reason)
    elif not agent.inventory_refusal:
        return
    agent.inventory_refusal = reason
    agent.inventory_refused_at = timezone.now() if reason else None
    Agent.objects.filter(pk=agent.pk).update(
        inventory_refusal=agent.inventory_refusal, inventory_refused_at=agent.inventory_refused_at
    )


def settle_directories(agent: Agent) -> None:
    """Bring the host's targets up to date when the host reports other directories or another filesystem under one.

    Another filesystem is another target. Before the host's first inventory nothing is done: what the directories lie on
    is not known yet, and the inventory makes the targets.
    """
    host = agent.host
    if not host.tool_outputs.exists():
        return
    try:
        with by(Author.AGENT, host.name, id=host.pk):
            offered = offer_directories(host, [Place.from_json(directory) for directory in agent.directories])
            if any(target.filesystem_id is None for target in offered):
                rebuild(host)  # a filesystem in memory or of the network is in the inventory once a target lies on it
        refuse_runs_of_gone_targets(host)
        update_wanted_directories(agent)
    except Exception:  # the poll must be answered; the next inventory settles it again
        log.exception("What %s says of its directories could not be settled: %s", host, agent.directories)


def update_wanted_directories(agent: Agent) -> bool:
    """Store which paths of the host's targets its polls are to report as well; return whether that changed.

    They are the paths below the directories that agent.conf allows. The host's held poll is answered when they change.
    """
    paths = Target.objects.filter(host=agent.host_id, kind=TargetKind.DIRECTORY, path__startswith="/")
    every = paths.values_list("path", flat=True).distinct().order_by("path")
    roots = set(agent.roots)
    wanted = [path for path in every if path not in roots and agent.holds(path) and is_plain_path(path)][:MOST_WANTED]
    if wanted == agent.wanted_directories:
        return False
    agent.wanted_directories = wanted
    Agent.objects.filter(pk=agent.pk).update(wanted_directories=wanted)
    transaction.on_commit(partial(ring, f"host:{agent.host_id}"))
    return True


def update_wanted_of_changed(since: datetime) -> int:
    """Update the wanted directories of hosts whose targets changed since then; return for how many hosts."""
    hosts = Target.objects.filter(updated_at__gt=since, kind=TargetKind.DIRECTORY).values("host")
    return sum(map(update_wanted_directories, Agent.objects.filter(host__in=hosts).exclude(directories=[])))


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
