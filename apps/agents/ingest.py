"""Reading a delivered result in, with tries that are counted in the attempt's row.

A result that fails three times is given up (a dead letter); a person can try it again.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.agents.live_progress import forget
from apps.core.pubsub import ring
from apps.core.text import join_sentences
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.runs.ingest import ingest
from apps.runs.models import MAX_TRIES, Attempt, Run
from apps.runs.states import State

log = logging.getLogger(__name__)
AGAIN = timedelta(
    seconds=20
)  # from the first try to the second; it grows with each. A result that is being read is locked meanwhile
CUT_SHORT = f"reading it was cut short {MAX_TRIES} times: the worker was killed, or ran out of time or memory. Its bytes are kept"


def read_in(attempt: Attempt) -> str:
    """Read an attempt's result in, and tell open pages. A failure plans the next try; the third is shown on the run."""
    if not _claim(attempt):
        return "somebody else reads it"
    try:
        ingest(attempt)
    except Exception as error:
        log.exception("attempt %s could not be read in", attempt.pk)
        if attempt.tries + 1 >= MAX_TRIES:
            give_up(attempt, f"it could not be read in {MAX_TRIES} tries: {error}")
        return f"failed: {error}"
    forget(attempt)
    _tell(attempt.run_id, read_in=True)
    return "done"


def _claim(attempt: Attempt) -> bool:
    """Count a try and plan the next one; return False if another worker has just done so."""
    claimed = Attempt.objects.filter(
        pk=attempt.pk, ingested_at=None, read_problem="", tries=attempt.tries, tries__lt=MAX_TRIES
    )
    return bool(claimed.update(tries=F("tries") + 1, next_try_at=timezone.now() + AGAIN * (attempt.tries + 1)))


def give_up(attempt: Attempt, reason: str) -> None:
    """Give up an attempt's result: the run fails with the reason, which is also logged."""
    now = Attempt.objects.filter(pk=attempt.pk, ingested_at=None, read_problem="")
    if not now.update(read_problem=reason):
        return
    log.error("dead letter: the result of run %s (attempt %s): %s", attempt.run_id, attempt.pk, reason)
    said = join_sentences(attempt.reason, f"Its result arrived, but {reason}.")
    Run.objects.filter(pk=attempt.run_id).update(
        state=State.FAILED if attempt.state == State.FINISHED else attempt.state, problem=said
    )
    _tell(attempt.run_id)


def give_up_cut_short(now: datetime) -> int:
    """Give up the results whose every try was begun and none was ended; return how many.

    Those that a worker has locked at this moment are left alone.
    """
    with transaction.atomic():
        found = list(Attempt.objects.cut_short(now).select_for_update(skip_locked=True, of=("self",))[:500])
        for attempt in found:
            give_up(attempt, CUT_SHORT)
    return len(found)


def read_again(run: Run, who: str) -> Attempt | None:
    """Give a result that was given up all its tries again, and return its attempt for the caller to hand to a worker.

    Return None where the run has no such result.
    """
    with lab_scope(run.lab_id), transaction.atomic():
        attempt: Attempt | None = (
            Attempt.objects.select_for_update(of=("self",))
            .filter(run=run, ingested_at=None)
            .exclude(read_problem="")
            .last()
        )
        if attempt is None:
            return None
        attempt.tries, attempt.read_problem, attempt.next_try_at = 0, "", timezone.now() + AGAIN
        attempt.save(update_fields=["tries", "read_problem", "next_try_at"])
        state = State.RUNNING if attempt.state == State.FINISHED else attempt.state
        Run.objects.filter(pk=run.pk).update(state=state, problem=attempt.reason)
        AuditEvent.objects.record(run.lab_id, "result read again", str(run), actor=who)
    return attempt


def _tell(run_id: int, **more: object) -> None:
    """Publish the run's state for open pages."""
    state = Run.objects.values_list("state", flat=True).get(pk=run_id)
    ring(f"run:{run_id}", {"state": state, "ended": True, **more})
