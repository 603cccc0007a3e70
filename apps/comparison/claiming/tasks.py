"""Celery tasks of claims: a study's id in, one call. Unchanged data write nothing, so twice does no harm."""

from celery import shared_task

from apps.comparison.claiming.changes import begun, call, marks, remember, unseen
from apps.comparison.claiming.evaluation import evaluate_study
from apps.labs.isolation import all_labs, lab_scope
from apps.studies.models import Study


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
        changed = evaluate_study(study)
    remember(seen)
    return changed


@shared_task(name="claims.sweep")
def sweep_claims() -> int:
    """Every 2 min: studies whose data changed without a word, or whose task was lost. Says how many."""
    due = unseen()
    for study_id in due:
        call(study_id)
    return len(due)
