"""The receiver of the signal that runs have arrived: it makes the watches due that they answer."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from apps.comparison.saved_comparisons.question import resolve_all
from apps.core.task_queue import publish
from apps.labs.isolation import lab_scope
from apps.trends.models import DEBOUNCE, Watch
from apps.trends.queries import answers
from apps.trends.tasks import evaluate_watch


def call_watches(sender: object, lab_id: int, runs: Sequence[int], **_: Any) -> None:
    """Make the watches due that the arrived runs answer; one query where nothing is watched.

    A watch that is due already is left alone.
    """
    now = timezone.now()
    with lab_scope(lab_id):
        for watch in resolve_all(list(Watch.objects.active())):
            is_waiting = watch.due_at is not None and watch.due_at <= now + DEBOUNCE
            if is_waiting or watch.resolved.lost or not answers(watch.question, runs):
                continue
            if Watch.objects.filter(pk=watch.pk).call(now):
                publish(evaluate_watch, watch.pk, countdown=DEBOUNCE.total_seconds())  # or the sweeper finds it due
