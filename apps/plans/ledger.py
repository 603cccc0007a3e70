"""Checks of what plans promise: each step counts once, and no cell is done without evidence of its guards.

for sentence in find_plan_breaks(): …
"""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Count, Exists, OuterRef

from apps.labs.isolation import all_labs
from apps.runs.models import Run
from apps.runs.states import OPEN, State
from apps.studies.models import Guard, PlannedRun


def find_plan_breaks() -> Iterator[str]:
    """Yield one sentence for each step of a plan that counts twice, is under way twice, or lacks its guards' evidence."""
    with all_labs():
        yield from _find_crowded_plans()
        yield from _find_doubled_steps()
        yield from _find_missing_evidence()


def _find_crowded_plans() -> Iterator[str]:
    open_runs = Run.objects.open().filter(planned_run__isnull=False)
    crowded = open_runs.values("planned_run__row__plan", "host", "host__name").annotate(count=Count("pk"))
    for entry in crowded.filter(count__gt=1).order_by("planned_run__row__plan", "host"):
        plan, host, count = entry["planned_run__row__plan"], entry["host__name"], entry["count"]
        yield f"Plan {plan} has {count} runs under way on host {host}; expected at most one."


def _find_doubled_steps() -> Iterator[str]:
    counted: Counter[tuple[int, int, int]] = Counter()
    standing = PlannedRun.objects.filter(is_retried=False, run__state__in=[State.FINISHED, *OPEN]).select_related("run")
    for planned in standing.order_by("run_id").iterator():
        if not planned.failed_guard:
            counted[planned.row_id, planned.point_id, planned.round] += 1
    for (row, point, number), count in counted.items():
        if count > 1:
            yield f"Round {number} of row {row} and point {point} counts {count} runs; expected one."


def _find_missing_evidence() -> Iterator[str]:
    """Yield the finished runs of plans with guards that were judged and have no evidence at all."""
    guards = Guard.objects.filter(plan=OuterRef("row__plan"))
    finished = PlannedRun.objects.filter(Exists(guards), run__state=State.FINISHED, judged_at__isnull=False)
    for planned in finished.order_by("run_id").iterator():
        if not planned.evidence:
            yield f"Run {planned.pk} counts for a plan with guards, and has no evidence of any of them."
