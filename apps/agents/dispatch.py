"""Which hosts get work.

Here it is known which agents are approved and online; `apps.runs.services.offer_next_run` claims the run itself.
Celery's tasks dispatch. While none of them arrives, because the broker is away or silent, the dispatcher's process looks
at the database itself (`Standby`).
"""

import logging
import threading
import time
from datetime import timedelta

from django.db import DatabaseError, InterfaceError, close_old_connections
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.agents.models import Agent, WorkerHeartbeat
from apps.core.sql import CLOCKS_APART, is_recent
from apps.labs.isolation import all_labs
from apps.runs.models import Attempt, Run
from apps.runs.services import offer_next_run
from apps.runs.states import State

DISPATCHER, STANDBY = "dispatcher", "standby"  # who was heard of: tasks, or the dispatcher by itself
SILENT_AFTER = timedelta(seconds=30)  # a dispatcher is heard of every ten seconds
NOTED_EVERY = timedelta(seconds=5)
LOOK_EVERY_S = 5.0
MESSAGE_TIME = timedelta(seconds=5)  # in which a message is carried out, and is not sent again
TASKS_EVERY = timedelta(seconds=15)  # the beat sends one every ten seconds
MOST_HOSTS = 1000  # that one look at the database returns


log = logging.getLogger(__name__)


def note_dispatcher(name: str = DISPATCHER) -> None:
    """Write down that a worker dispatches now, for the pages that say why a run waits."""
    now = timezone.now()
    known = WorkerHeartbeat.objects.filter(name=name)
    if not known.filter(is_recent("answered_at", now, NOTED_EVERY)).exists():
        WorkerHeartbeat.objects.update_or_create(name=name, defaults={"answered_at": now})


def find_dispatcher_silence() -> str:
    """Return a sentence that says for how long no worker has dispatched; empty while one does."""
    now = timezone.now()
    heard = WorkerHeartbeat.objects.order_by("answered_at")
    heartbeat = heard.filter(answered_at__lte=now + CLOCKS_APART).last()
    if heartbeat is None:
        since = "since the clock was set back" if heard.exists() else "yet"
        return f"No dispatcher has answered {since}"
    silence = now - heartbeat.answered_at
    if silence < SILENT_AFTER:
        return ""
    return f"No dispatcher has answered for {round(silence.total_seconds())} s"


def dispatch(host_id: int) -> Attempt | None:
    """Offer the host its next run, if its agent is approved and online; return the attempt, if any.

    A host that comes online later asks for its run by its poll.
    """
    if not Agent.objects.ready().filter(host_id=host_id).exists():
        return None
    return offer_next_run(host_id)


def find_free_hosts() -> list[int]:
    """Return the ids of hosts that could begin a run now that was queued a while ago, at most `MOST_HOSTS`."""
    busy = Attempt.objects.may_be_on_host().filter(host=OuterRef("host"))
    earlier = timezone.now() - MESSAGE_TIME  # what was queued since has sent its own message
    queued = Run.objects.filter(state=State.QUEUED, created_at__lt=earlier, host__is_in_maintenance=False)
    queued = queued.exclude(Exists(busy))
    ready = Agent.objects.ready().filter(host__in=queued.values("host"))
    return list(ready.values_list("host_id", flat=True)[:MOST_HOSTS])


def stand_in() -> list[int]:
    """Offer runs to all hosts that could begin, if no dispatch task was carried out lately; return the attempts' ids."""
    if WorkerHeartbeat.objects.filter(is_recent("answered_at", timezone.now(), TASKS_EVERY), name=DISPATCHER).exists():
        return []
    with all_labs():
        attempts = [dispatch(host_id) for host_id in find_free_hosts()]
    note_dispatcher(STANDBY)
    return [attempt.pk for attempt in attempts if attempt]


class Standby(threading.Thread):
    """A thread of each process that takes dispatch tasks, which calls `stand_in` every five seconds.

    A claim is one statement that only one can win, so it does no harm beside tasks that come after all.
    """

    def __init__(self) -> None:
        super().__init__(name="standby", daemon=True)

    def run(self) -> None:
        while True:
            time.sleep(LOOK_EVERY_S)
            close_old_connections()
            try:
                if made := stand_in():
                    log.warning("no dispatch task has come for a while: attempts %s were offered without one", made)
            except (DatabaseError, InterfaceError) as error:
                log.warning("the database could not be looked at: %s", " ".join(str(error).split())[:300])
