"""The trends that follow a plan's runs from night to night, for its schedule's part of the page and as a page."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.plans.models import ScheduleFiring
from apps.runs.models import Run, Sample
from apps.runs.states import State
from apps.studies.models import Plan
from apps.trends.watch_list import row, watches_of_runs

MOST_RUNS = 200  # the newest ones, which tell what the plan measures now


@require_safe
@member_required()
def plan_trends(request: LabRequest, pk: int) -> HttpResponse:
    """List the watches that the newest runs of a plan, or of its schedule's copies, answer; htmx asks for the list alone."""
    plan = get_object_or_404(Plan.objects.select_related("study"), pk=pk, study__lab=request.lab)
    plans = [pk, *ScheduleFiring.objects.filter(plan=pk).values_list("started_plan_id", flat=True)]
    finished = Run.objects.filter(planned_run__row__plan__in=[one for one in plans if one], state=State.FINISHED)
    runs = list(finished.order_by("-pk").values_list("pk", flat=True)[:MOST_RUNS])
    context = {
        "plan": plan,
        "rows": [row(watch) for watch in watches_of_runs(request.lab.pk, runs)],
        "runs": len(runs),
        "more": _address_of_new_watch(plan, runs) if request.member.covers(Role.ENGINEER) and runs else "",
    }
    is_part = request.htmx  # type: ignore[attr-defined]
    return render(request, "plans/_trends.html" if is_part else "plans/trends.html", context)


def _address_of_new_watch(plan: Plan, runs: list[int]) -> str:
    """Return the form of a new watch with the series of the plan's study to choose from."""
    of_runs = Sample.objects.filter(run__in=runs, measure__metric="bandwidth").order_by("measure__operation")
    operation = of_runs.values_list("measure__operation", flat=True).first()
    words = {"metric": "bandwidth", **({"operation": operation} if operation else {}), "study": plan.study.slug}
    return f"{reverse('trend-new')}?{urlencode(words)}"
