"""Reading a delivered result in, with tries that are counted in the row."""

import logging
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from apps.agents.live_progress import forget
from apps.lib.bell import ring
from apps.runs.attempts import MAX_TRIES, Attempt
from apps.runs.ingest import ingest
from apps.runs.models import Run

log = logging.getLogger(__name__)


def read_in(attempt: Attempt) -> str:
    """Claim the row, ingest it, and tell open pages. A failure plans the next try; the third one is shown on the run."""
    if not _claim(attempt):
        return "somebody else reads it"
    try:
        ingest(attempt)
    except Exception as error:
        log.exception("attempt %s could not be read in", attempt.pk)
        if attempt.tries + 1 >= MAX_TRIES:
            Run.objects.filter(pk=attempt.run_id).update(
                problem=f"Its result arrived but could not be read in after {MAX_TRIES} tries: {error}"
            )
        return f"failed: {error}"
    forget(attempt)
    ring(f"run:{attempt.run_id}", {"state": attempt.state, "ended": True, "read_in": True})
    return "done"


def _claim(attempt: Attempt) -> bool:
    """Count the try and set the next one, unless another worker just did."""
    now = timezone.now()
    claimed = (
        Attempt.objects.filter(pk=attempt.pk, ingested_at=None, tries=attempt.tries, tries__lt=MAX_TRIES)
        .update(tries=F("tries") + 1, next_try_at=now + timedelta(seconds=60 * (attempt.tries + 1)))
    )  # fmt: skip
    return bool(claimed)
