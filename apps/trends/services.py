"""Marking a planned change, which splits the series there, and removing the mark."""

from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from apps.comparison.saved_comparisons.references import LostReferenceError
from apps.labs.models import AuditEvent
from apps.runs.models import Run
from apps.trends.evaluation import evaluate
from apps.trends.models import TrendMark, Watch
from apps.trends.queries import measured


class NoTargetError(ValueError):
    """The mark was meant for a target, and the run is on none."""

    def __init__(self) -> None:
        super().__init__("These runs are on no target of the inventory, so the mark can only be for this watch.")


@transaction.atomic
def mark(
    watch: Watch, at: datetime, text: str, actor: str, *, run: Run | None = None, everywhere: bool = False
) -> TrendMark:
    """Mark a deliberate change and evaluate the watch again.

    With `everywhere` the mark is on the target, and all watches of the lab become due.

    Raises:
        NoTargetError: `everywhere`, and the runs are on no target of the inventory.
    """
    target_id = _target(watch, run) if everywhere else None
    on = {"target_id": target_id} if everywhere else {"watch": watch}
    made: TrendMark = TrendMark.objects.create(lab_id=watch.lab_id, at=at, text=text, run=run, created_by=actor, **on)
    AuditEvent.objects.record(watch.lab_id, "trend marked", watch.name, actor=actor, text=text, at=at.isoformat())
    _look_again(watch, everywhere)
    return made


@transaction.atomic
def unmark(trend_mark: TrendMark, actor: str) -> None:
    """Remove a mark and evaluate again; changes that it explained may reappear, and old ones are not notified."""
    AuditEvent.objects.record(
        trend_mark.lab_id, "trend mark removed", trend_mark.text[:200], actor=actor, at=trend_mark.at.isoformat()
    )
    watch, is_everywhere = trend_mark.watch, trend_mark.target_id is not None
    trend_mark.delete()
    if watch is not None:
        _evaluate(watch)
    if is_everywhere:
        Watch.objects.filter(lab=trend_mark.lab_id).call(timezone.now())


def _look_again(watch: Watch, everywhere: bool) -> None:
    _evaluate(watch)
    if everywhere:
        Watch.objects.filter(lab=watch.lab_id).exclude(pk=watch.pk).call(timezone.now())


def _evaluate(watch: Watch) -> None:
    """Evaluate a watch, unless its configuration was deleted: it keeps its marks and cannot be evaluated."""
    with suppress(LostReferenceError):
        evaluate(watch)


def _target(watch: Watch, run: Run | None) -> int:
    """Return the target of the run, or else of the newest run of the watch."""
    newest = [] if run or watch.resolved.lost else measured(watch.question, watch.lab_id)[-1:]
    number = run.pk if run else (newest[0].run if newest else None)
    target_id: int | None = Run.objects.filter(pk=number).values_list("target_id", flat=True).first()
    if target_id is None:
        raise NoTargetError
    return target_id
