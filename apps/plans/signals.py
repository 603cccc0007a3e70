"""Receivers of what happens to runs: a run that ended lets its plan go on."""

from collections.abc import Sequence
from typing import Any

from apps.core.task_queue import publish
from apps.labs.isolation import lab_scope
from apps.plans.models import PreparationRun
from apps.plans.tasks import run_ended
from apps.studies.models import PlannedRun


def advance_plans(sender: Any, *, lab_id: int, runs: Sequence[int], **_: Any) -> None:
    """Send the task that goes on with a plan for each of these runs that was made for one; two queries where none was."""
    with lab_scope(lab_id):
        planned = list(PlannedRun.objects.filter(run__in=runs).values_list("run_id", flat=True))
        planned += PreparationRun.objects.filter(run__in=runs).values_list("run_id", flat=True)
    for run_id in planned:
        publish(run_ended, run_id)
