"""“Changed on purpose here”: the series is split, and what it shows is looked at again."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from apps.comparison.trends.evaluation import evaluate
from apps.comparison.trends.loading import measured
from apps.comparison.trends.models import TrendMark, Watch
from apps.labs.models import AuditEvent
from apps.runs.models import Run


class NoTargetError(ValueError):
    """The mark was meant for a target, and the run is on none."""

    def __init__(self) -> None:
        super().__init__("These runs are on no target of the inventory, so the mark can only be for this watch.")


@transaction.atomic
def mark(
    watch: Watch, at: datetime, text: str, who: str, *, run: Run | None = None, everywhere: bool = False
) -> TrendMark:
    """Raises `NoTargetError`. With `everywhere` all watches of the lab are looked at again soon, this one now."""
    target_id = _target(watch, run) if everywhere else None
    on = {"target_id": target_id} if everywhere else {"watch": watch}
    made: TrendMark = TrendMark.objects.create(lab_id=watch.lab_id, at=at, text=text, run=run, created_by=who, **on)
    AuditEvent.objects.record(watch.lab_id, "trend marked", watch.name, who=who, text=text, at=at.isoformat())
    _look_again(watch, everywhere)
    return made


@transaction.atomic
def unmark(found: TrendMark, who: str) -> None:
    """Changes that it explained may appear again; nobody is told of old ones."""
    AuditEvent.objects.record(found.lab_id, "trend mark removed", found.text[:200], who=who, at=found.at.isoformat())
    watch, is_everywhere = found.watch, found.target_id is not None
    found.delete()
    if watch is not None:
        evaluate(watch)
    if is_everywhere:
        Watch.objects.filter(lab=found.lab_id).call(timezone.now())


def _look_again(watch: Watch, everywhere: bool) -> None:
    evaluate(watch)
    if everywhere:
        Watch.objects.filter(lab=watch.lab_id).exclude(pk=watch.pk).call(timezone.now())


def _target(watch: Watch, run: Run | None) -> int:
    """The run's, or the newest run's of the watch."""
    newest = measured(watch.question, watch.lab_id)[-1:] if run is None else []
    number = run.pk if run else (newest[0].run if newest else None)
    found: int | None = Run.objects.filter(pk=number).values_list("target_id", flat=True).first()
    if found is None:
        raise NoTargetError
    return found
