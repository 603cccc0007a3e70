"""Which hosts get work.

Here it is known which agents are approved and online; `apps.runs.services.offer_next_run` claims the run itself.
"""

from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.agents.models import Agent, WorkerHeartbeat
from apps.runs.models import Attempt, Run
from apps.runs.services import offer_next_run
from apps.runs.states import State

DISPATCHER = "dispatcher"
SILENT_AFTER = timedelta(seconds=30)  # a dispatcher is heard of every ten seconds
NOTED_EVERY = timedelta(seconds=5)
MOST_HOSTS = 1000  # that one look at the database returns


def note_dispatcher() -> None:
    """Write down that a worker takes dispatch tasks now, for the pages that say why a run waits."""
    now = timezone.now()
    known = WorkerHeartbeat.objects.filter(name=DISPATCHER)
    if not known.filter(answered_at__gt=now - NOTED_EVERY).exists():
        WorkerHeartbeat.objects.update_or_create(name=DISPATCHER, defaults={"answered_at": now})


def find_dispatcher_silence() -> str:
    """Return a sentence that says for how long no worker has dispatched; empty while one does."""
    heartbeat = WorkerHeartbeat.objects.filter(name=DISPATCHER).first()
    if heartbeat is None:
        return "No dispatcher has answered yet"
    silence = timezone.now() - heartbeat.answered_at
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
    """Return the ids of hosts that could begin a queued run now, at most `MOST_HOSTS`."""
    busy = Attempt.objects.may_be_on_host().filter(host=OuterRef("host"))
    queued = Run.objects.filter(state=State.QUEUED, host__is_in_maintenance=False).exclude(Exists(busy))
    ready = Agent.objects.ready().filter(host__in=queued.values("host"))
    return list(ready.values_list("host_id", flat=True)[:MOST_HOSTS])
