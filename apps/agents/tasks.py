"""Celery tasks of the agents' work.

Each takes an id and makes one call. The state is in the database, so running a task twice does no harm.
"""

from datetime import timedelta
from typing import Any

from celery import shared_task
from celery.signals import celeryd_after_setup
from django.db import transaction
from django.utils import timezone

from apps.agents.dispatch import Standby, dispatch, find_free_hosts, note_dispatcher
from apps.agents.ingest import give_up_cut_short, read_in
from apps.agents.models import Agent
from apps.agents.services import stop_overdue, update_wanted_directories, update_wanted_of_changed
from apps.core.task_queue import publish
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt


@celeryd_after_setup.connect
def start_standby(sender: str, instance: Any, **_: Any) -> None:
    """Let a worker that takes dispatch tasks also look by itself, for a broker that is away or silent."""
    if "dispatch" in instance.app.amqp.queues.consume_from:
        Standby().start()


@shared_task(name="agents.dispatch_host")
def dispatch_host(host_id: int) -> int | None:
    """Offer the host its next run.

    The task is sent when a run is started or ends, a host comes online, or its maintenance ends.
    """
    note_dispatcher()
    with all_labs():
        attempt = dispatch(host_id)
    return attempt.pk if attempt else None


@shared_task(name="agents.dispatch_waiting")
def dispatch_waiting() -> int:
    """Send `dispatch_host` for each host that could begin, every 10 s, in case its own message was lost."""
    note_dispatcher()
    with all_labs():
        hosts = find_free_hosts()
    for host_id in hosts:
        publish(dispatch_host, host_id)
    return len(hosts)


@shared_task(name="agents.look_at_targets")
def look_at_targets(host_id: int) -> bool:
    """Ask a host's agent to look at the directories of its targets, after somebody added or changed one."""
    with all_labs():
        agent = Agent.objects.filter(host=host_id).first()
        return agent is not None and update_wanted_directories(agent)


@shared_task(name="agents.ingest_attempt")
def ingest_attempt(attempt_id: int) -> str:
    """Read a complete attempt's result into samples. After the third failure the run shows the reason."""
    with all_labs():
        attempt = Attempt.objects.select_related("run").filter(pk=attempt_id, ingested_at=None).first()
    if attempt is None:
        return "nothing to do"
    with lab_scope(attempt.lab_id):
        return read_in(attempt)


@shared_task(name="agents.sweep")
def sweep() -> dict[str, int]:
    """Mark attempts whose lease ran out as `unknown`, and send results that were not read in to workers once more.

    It also cancels overdue attempts, gives up results whose reading was cut short, and asks hosts to look at targets
    that were added or changed in the last two minutes. It runs every 30 s.
    """
    now = timezone.now()
    with all_labs():
        lost = [attempt for attempt in Attempt.objects.lease_expired(now) if attempt.lose()]
        dead = give_up_cut_short(now)
        stopped = stop_overdue(now)
        update_wanted_of_changed(now - timedelta(minutes=2))
        with transaction.atomic():  # an attempt that is being read is locked, and skipped
            due = list(Attempt.objects.to_read_in(now).select_for_update(skip_locked=True, of=("self",))[:500])
    for attempt in due:
        ingest_attempt.delay(attempt.pk)
    return {"lost": len(lost), "published": len(due), "dead": dead, "overdue": stopped}
