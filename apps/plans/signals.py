"""Receivers of what happens to runs: a run that ended lets its plan go on."""

from collections.abc import Sequence
from typing import Any

from apps.core.task_queue import publish
from apps.plans.tasks import run_ended


def advance_plans(sender: Any, *, lab_id: int, runs: Sequence[int], **_: Any) -> None:
    """Send the task that goes on with the plans of runs whose results were read in."""
    for run_id in runs[:MOST_AT_ONCE]:
        publish(run_ended, run_id)


MOST_AT_ONCE = 20  # more come from an upload, which no plan waits for; the sweeper finds whatever is left
