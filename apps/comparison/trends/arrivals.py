"""Runs have arrived: the watches that they answer are to be looked at."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from apps.comparison.trends.loading import answers
from apps.comparison.trends.models import DEBOUNCE, Watch
from apps.labs.isolation import lab_scope
from apps.lib.handing_over import publish


def call_watches(sender: object, lab_id: int, runs: Sequence[int], **_: Any) -> None:
    """One query where nothing is watched. A watch that waits to be looked at already is not asked again."""
    from apps.comparison.trends.tasks import evaluate_watch

    now = timezone.now()
    with lab_scope(lab_id):
        for watch in Watch.objects.active():
            is_waiting = watch.due_at is not None and watch.due_at <= now + DEBOUNCE
            if is_waiting or not answers(watch.question, runs):
                continue
            if Watch.objects.filter(pk=watch.pk).call(now):
                publish(evaluate_watch, watch.pk, countdown=DEBOUNCE.total_seconds())  # or the sweeper finds it due
