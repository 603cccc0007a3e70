"""Celery tasks of trends. The rows hold the state, so a task that runs twice does no harm."""

import logging

from celery import shared_task
from django.utils import timezone

from apps.comparison.question import QuestionError
from apps.core.task_queue import MOST_TRIES, begin, end
from apps.labs.isolation import all_labs, lab_scope
from apps.trends.evaluation import evaluate
from apps.trends.models import Watch

MOST_AT_ONCE = 500
CUT_SHORT = (
    f"looking at it was cut short {MOST_TRIES} times: the worker was killed, failed, or ran out of time or memory. "
    "What is shown is from before"
)
log = logging.getLogger(__name__)


@shared_task(name="trends.evaluate_watch")
def evaluate_watch(watch_id: int) -> str:
    """Look at a watch that is due."""
    with all_labs():
        watch = Watch.objects.filter(pk=watch_id).first()
    if watch is None:
        return "nothing to do"
    with lab_scope(watch.lab_id):
        lease = watch.claim()
        if lease is None:
            return "nothing to do"
        outcome = _look(watch)
        watch.done(lease)
    return outcome


def _look(watch: Watch) -> str:
    work = f"watch-{watch.pk}"
    if begin(work) > MOST_TRIES:
        log.error("dead letter: trend %s (%s): %s", watch.pk, watch, CUT_SHORT)
        Watch.objects.filter(pk=watch.pk).update(summary={**watch.summary, "problem": CUT_SHORT})
        end(work)
        return "given up"
    try:
        evaluate(watch)
    except QuestionError as error:  # a word that a newer version no longer knows: the page says so
        return f"cannot be asked: {error}"
    end(work)
    return "done"


@shared_task(name="trends.sweep")
def sweep_trends() -> int:
    """Publish the watches that are due and whose task was lost or never sent, and return their number."""
    with all_labs():
        due = list(Watch.objects.due(timezone.now()).values_list("pk", flat=True)[:MOST_AT_ONCE])
    for pk in due:
        evaluate_watch.delay(pk)
    return len(due)


@shared_task(name="trends.nightly")
def look_at_all() -> int:
    """Make all watches due every night, whatever arrived; the sweeper publishes them."""
    with all_labs():
        called: int = Watch.objects.call(timezone.now())
    return called
