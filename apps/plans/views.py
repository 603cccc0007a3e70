"""Pages of plans: the list, a new plan, one plan that fills up, and what can be done with it."""

import secrets
import time
from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from apps.core.text import whole_number
from apps.core.unit_base import base
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.plans import services
from apps.plans.estimates.plan_estimate import estimate_page
from apps.plans.execution_page import ExecutionPage
from apps.plans.forms import NewPlanForm
from apps.plans.preparations.forms import PreparationForms
from apps.plans.presets import PRESETS
from apps.plans.results.plan_results import PlanResults
from apps.plans.schedules.views import SchedulePanel
from apps.plans.services import ExecutionError
from apps.runs.states import OPEN, State
from apps.studies.models import Plan
from apps.studies.plans.problems import PlanError

PAGE = 50
IN_ADDRESS = ("title", "kind", "rounds", "file_sizes", "direct", "notes")  # what another page may fill in
FRESH_S = 1  # seconds that one rendering of the live part serves everybody who looks
KEPT_S, RENDERING_S = 30, 10  # how long the last one may serve while the next is rendered, and how long that may take


@require_safe
@member_required()
def plans(request: LabRequest) -> HttpResponse:
    """List the lab's own plans, newest first, each with how many of its runs have finished and how many are open.

    The copies that a schedule starts are on the page of their plan.
    """
    own = Plan.objects.filter(study__lab=request.lab, is_from_report=False, fired_by=None)
    own = own.select_related("study", "execution", "schedule")
    of_plan = "rows__planned_runs__run__state"
    counted = own.annotate(
        finished=Count("rows__planned_runs", filter=Q(**{of_plan: State.FINISHED})),
        under_way=Count("rows__planned_runs", filter=Q(**{f"{of_plan}__in": OPEN})),
    )
    context = {
        "page": Paginator(counted.order_by("-pk"), PAGE).get_page(request.GET.get("page")),
        "may_edit": request.member.covers(Role.ENGINEER),
    }
    return render(request, "plans/list.html", context)


@member_required(Role.ENGINEER)
def new(request: LabRequest) -> HttpResponse:
    """GET: the form. POST: write the plan; nothing is started yet."""
    first = {"targets": request.GET.getlist("target"), "preset": request.GET.get("procedure", "")}
    first |= {name: request.GET.get(name, "") for name in IN_ADDRESS}
    first = {name: value for name, value in first.items() if value}
    form = NewPlanForm(request.lab, request.POST or None, initial=first)
    preparations = PreparationForms(request.POST or None)
    if request.method == "POST" and form.is_valid() & preparations.is_valid():
        try:
            wanted = form.request(secrets.randbelow(10**6), preparations.written)
            plan = services.create_plan(wanted, actor=str(request.user))
        except PlanError as error:
            form.place_error(error)
        else:
            messages.success(request, f"{plan} is written. Look at its matrix, then start it.")
            return redirect("plan", plan.pk)
    context = {"form": form, "presets": PRESETS, "preparations": preparations}
    is_refused = bool(request.method == "POST" and (form.errors or preparations.errors))
    return render(request, "plans/new.html", context, status=422 if is_refused else 200)


@require_safe
@member_required()
def plan(request: LabRequest, pk: int) -> HttpResponse:
    """Show one plan; htmx asks for its live part alone."""
    found: Plan = get_object_or_404(Plan.objects.whole().prefetch_related("preparations"), pk=pk)
    may_edit = found.study.lab_id == request.lab.pk and request.member.covers(Role.ENGINEER)
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(_live_part(request, found, may_edit))
    page = ExecutionPage(found, request.GET.get("page"))
    results = PlanResults(page.matrix, is_live=page.is_live)
    is_ahead = page.execution is None or page.execution.has_ended
    context = {
        "page": page, "plan": found, "may_edit": may_edit, "results": results, "panel": SchedulePanel(found),
        "estimate": estimate_page(page.matrix) if is_ahead else None,
    }  # fmt: skip
    return render(request, "plans/plan.html", context)


@require_safe
@member_required()
def results(request: LabRequest, pk: int) -> HttpResponse:
    """Return the charts of a plan alone; 204 where the page has them already."""
    found: Plan = get_object_or_404(Plan.objects.whole(), pk=pk)
    page = ExecutionPage(found)
    results = PlanResults(page.matrix, is_live=page.is_live)
    if request.GET.get("have") == results.mark:
        return HttpResponse(status=204)
    return render(request, "plans/_results.html", {"results": results, "plan": found})


def _live_part(request: LabRequest, found: Plan, may_edit: bool) -> str:
    """Return the live part; a hundred readers of one plan share a rendering of the same second.

    While one of them waits for the next rendering, the others get the last one. Who may edit gets forms with the token
    of the own browser against forged requests: those are shared with nobody.
    """
    number = request.GET.get("page", "")[:9]
    if may_edit:
        return _render_live_part(request, found, number, may_edit=True)
    key = f"plan-live:{found.pk}:{number}:{get_language()}:{base()}"
    stored: tuple[str, float] | None = cache.get(key)
    if stored and (time.time() < stored[1] or not cache.add(f"{key}:rendering", 1, RENDERING_S)):
        return stored[0]
    text = _render_live_part(request, found, number, may_edit=False)
    cache.set(key, (text, time.time() + FRESH_S), KEPT_S)
    cache.delete(f"{key}:rendering")
    return text


def _render_live_part(request: LabRequest, found: Plan, number: str, *, may_edit: bool) -> str:
    page = ExecutionPage(found, number)
    context = {"page": page, "plan": found, "may_edit": may_edit, "panel": SchedulePanel(found)}
    return render(request, "plans/_live.html", context).content.decode()


@require_POST
@member_required(Role.ENGINEER)
def act(request: LabRequest, pk: int, act: str) -> HttpResponse:
    """Start, pause or resume a plan, retry what failed, or add repetitions."""
    found = _own(request, pk)
    try:
        message = _do(request, found, act)
    except ExecutionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, message)
    return redirect("plan", found.pk)


def _do(request: LabRequest, found: Plan, act: str) -> str:
    actor, typed = str(request.user), request.POST
    if act == "start":
        wait = _number(typed, "guard_wait", "Minutes to wait for guards") * 60 if typed.get("guard_wait") else None
        services.start_plan(
            found, actor=actor, retries=_number(typed, "retries", "Retries of a failed step"),
            guard_wait=wait, guard_failure=typed.get("guard_failure") or None,
        )  # fmt: skip
        return f"{found} is started."
    if act == "pause":
        services.pause_plan(found, actor=actor)
        return f"{found} is paused; what runs now goes on to its end."
    if act == "resume":
        services.resume_plan(found, actor=actor)
        return f"{found} goes on."
    if act == "retry":
        count = services.retry_failed(found, actor=actor)
        return f"{count} failed step{'' if count == 1 else 's'} of {found} will be made again."
    number = _number(typed, "repetitions", "More rounds")
    services.add_repetitions(found, number, actor=actor)
    return f"{number} more round{'' if number == 1 else 's'} of every cell."


def _number(typed: Any, name: str, label: str) -> int:
    """Return a typed number, 0 where none was typed. Raises `ExecutionError` for anything else."""
    text = typed.get(name, "").strip() or "0"
    value = whole_number(text)
    if value is None:
        raise ExecutionError(f"{label}: found {text[:40]!r}, expected a whole number.")
    return value


@member_required(Role.ENGINEER)
def cancel(request: LabRequest, pk: int) -> HttpResponse:
    """GET says what would be lost; POST cancels the plan."""
    found = _own(request, pk)
    if request.method == "POST":
        try:
            services.cancel_plan(found, actor=str(request.user))
            messages.success(request, f"{found} is cancelled; what was measured stays.")
        except ExecutionError as error:
            messages.error(request, str(error))
        return redirect("plan", found.pk)
    return render(request, "plans/cancel.html", {"plan": found, "page": ExecutionPage(found)})


def _own(request: HttpRequest, pk: int) -> Plan:
    lab: Any = getattr(request, "lab", None)
    found: Plan = get_object_or_404(Plan.objects.whole(), pk=pk, study__lab=lab, is_from_report=False)
    return found
