"""Celery tasks: an id in, one call, an error that says whether to retry. The row holds the state, so twice does no harm."""

from celery import shared_task
from django.utils import timezone

from apps.agents.reading import read_in
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.attempts import Attempt


@shared_task(name="agents.ingest_attempt")
def ingest_attempt(attempt_id: int) -> str:
    """Read a complete attempt's result into samples. The third failure stays visible on the run (a dead letter)."""
    with all_labs():
        attempt = Attempt.objects.select_related("run").filter(pk=attempt_id, ingested_at=None).first()
    if attempt is None:
        return "nothing to do"
    with lab_scope(attempt.lab_id):
        return read_in(attempt)


@shared_task(name="agents.sweep")
def sweep() -> dict[str, int]:
    """Every 30 s: leases that ran out become `unknown`; results not yet read in are published again (the outbox)."""
    now = timezone.now()
    with all_labs():
        lost = [attempt for attempt in Attempt.objects.lease_expired(now) if attempt.lose()]
        due = Attempt.objects.to_read_in(now).values_list("pk", flat=True)[:500]
        for attempt_id in due:
            ingest_attempt.delay(attempt_id)
    return {"lost": len(lost), "published": len(due)}
