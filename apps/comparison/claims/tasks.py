"""Celery tasks of claims. Unchanged data write nothing, so a task that runs twice does no harm."""

import logging

from celery import shared_task
from django.core.cache import cache

from apps.comparison.claims.evaluation import evaluate_study, give_up
from apps.comparison.claims.marks import begun, cache_key, marks, remember, unseen
from apps.core.task_queue import MOST_TRIES, begin, end, publish
from apps.labs.isolation import all_labs, lab_scope
from apps.studies.models import Study

DEBOUNCE_S = 3
log = logging.getLogger(__name__)
CUT_SHORT = (
    f"evaluating it was cut short {MOST_TRIES} times: the worker was killed, failed, or ran out of time or memory. "
    "It is tried again when the data change or the claim is saved"
)


@shared_task(name="claims.evaluate")
def evaluate_claims(study_id: int) -> int:
    """Evaluate a study's claims against its data. Says how many verdicts or numbers are new."""
    begun(study_id)
    with all_labs():
        study = Study.objects.filter(pk=study_id).first()
    if study is None:
        return 0
    with lab_scope(study.lab_id):
        seen = marks([study_id])
        work = f"claims-{study_id}-{seen[study_id]}"
        if begin(work) > MOST_TRIES:
            changed = give_up(study, CUT_SHORT)
            log.error("dead letter: the claims of study %s (%s): %s", study_id, study, CUT_SHORT)
        else:
            changed = evaluate_study(study)
        end(work)
    remember(seen)
    return changed


def request_evaluation(study_id: int) -> None:
    """Request one evaluation of the study's claims for all changes within a few seconds."""
    if cache.add(cache_key("called", study_id), 1, 10 * DEBOUNCE_S):
        publish(evaluate_claims, study_id, countdown=DEBOUNCE_S)  # or the sweeper sees another mark


@shared_task(name="claims.sweep")
def sweep_claims() -> int:
    """Request evaluation of studies whose data changed unnoticed or whose task was lost, every 2 min.

    Return how many.
    """
    due = unseen()
    for study_id in due:
        request_evaluation(study_id)
    return len(due)
