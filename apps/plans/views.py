"""Pages of plans: the list, a new plan, one plan that fills up, and what can be done with it."""

import secrets
import time
from typing import Any, NamedTuple
from urllib.parse import quote

from django.contrib import messages
from django.core.cache import cache
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from apps.core.forms import describe_errors
from apps.core.text import whole_number
from apps.core.unit_base import base
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.labs.services import submit_once
from apps.plans import services
from apps.plans.execution_page import ExecutionPage, MatrixView, read_view
from apps.plans.forms import NewPlanForm, RecipientsForm, StartForm
from apps.plans.models import execution_of
from apps.plans.preparations.forms import PreparationForms
from apps.plans.presets import PRESETS
from apps.plans.results.plan_results import PlanResults
from apps.plans.schedules.views import SchedulePanel
from apps.plans.services import ExecutionError
from apps.runs.states import OPEN, Priority, State
from apps.studies.models import Plan
from apps.studies.plans.problems import PlanError

PAGE = 50
IN_ADDRESS = ("title", "kind", "rounds", "file_sizes", "direct", "notes", "question")  # what another page may fill in
FRESH_S = 1  # seconds that one rendering of the live part serves everybody who looks
FRESH_FOR = (
    4  # or so many times as long as it took: a plan of 1,000 hosts keeps a fifth of a processor busy, not all of it
)
KEPT_S, RENDERING_S = 60, 20  # how long the last one may serve while the next is rendered, and how long that may take


class LivePart(NamedTuple):
    """A rendering of the live part, with the mark in place of the token of its forms."""

    text: str
    token_mark: str
    fresh_until: float


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
    first = {
        "targets": request.GET.getlist("target"),
        "preset": request.GET.get("procedure") or request.GET.get("preset", ""),
    }
    first |= {name: request.GET.get(name, "") for name in IN_ADDRESS}
    first = {name: value for name, value in first.items() if value}
    form = NewPlanForm(request.lab, request.POST or None, initial=first)
    preparations = PreparationForms(request.POST or None)
    if request.method == "POST" and form.is_valid() & preparations.is_valid():
        try:
            address, is_new = submit_once(request.lab, request.POST, lambda: _write(request, form, preparations))
        except PlanError as error:
            form.place_error(error)
        else:
            if not is_new:
                messages.info(request, "The form was sent twice; the plan was written once.")
            return redirect(address)
    context = {"form": form, "presets": PRESETS, "preparations": preparations}
    is_refused = bool(request.method == "POST" and (form.errors or preparations.errors))
    return render(request, "plans/new.html", context, status=422 if is_refused else 200)


def _write(request: LabRequest, form: NewPlanForm, preparations: PreparationForms) -> str:
    """Write the plan of a form and return the address of its page. Raises `PlanError`."""
    form.refuse_same_study()
    wanted = form.request(secrets.randbelow(10**6), preparations.written)
    plan = services.create_plan(wanted, actor=str(request.user))
    messages.success(request, f"{plan} is written. Look at its matrix, then start it.")
    return plan.get_absolute_url()


@require_safe
@member_required()
def plan(request: LabRequest, pk: int) -> HttpResponse:
    """Show one plan; htmx asks for its live part alone."""
    asked: Plan = get_object_or_404(Plan.objects.select_related("study", "execution"), pk=pk)
    is_own = asked.study.lab_id == request.lab.pk
    may_edit = is_own and request.member.covers(Role.ENGINEER)
    htmx: Any = request.htmx  # type: ignore[attr-defined]
    if htmx and not htmx.history_restore_request:  # on Back the whole page is asked for
        return HttpResponse(_live_part(request, asked, may_edit=may_edit, is_own=is_own))
    plan = _load_plan(pk)
    page = ExecutionPage(plan, read_view(request.GET))
    results = PlanResults(page.matrix, is_live=page.is_live)
    is_ahead = page.execution is None or page.execution.has_ended
    context = {
        "page": page, "plan": plan, "may_edit": may_edit, "results": results, "panel": SchedulePanel(plan),
        "is_own": is_own,
        "estimate": page.estimate if is_ahead else None, "start_form": _start_form(request, plan, may_edit=may_edit),
    }  # fmt: skip
    return render(request, "plans/plan.html", context)


@require_safe
@member_required()
def results(request: LabRequest, pk: int) -> HttpResponse:
    """Return the charts of a plan alone; 204 where the page has them already."""
    plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk)
    page = ExecutionPage(plan)
    results = PlanResults(page.matrix, is_live=page.is_live)
    if request.GET.get("have") == results.mark:
        return HttpResponse(status=204)
    return render(request, "plans/_results.html", {"results": results, "plan": plan})


def _load_plan(pk: int) -> Plan:
    """Return a plan with all that its page shows; only for who renders it, for of a large plan this takes a while."""
    plan: Plan = Plan.objects.whole().prefetch_related("preparations").get(pk=pk)
    return plan


def _live_part(request: LabRequest, asked: Plan, *, may_edit: bool, is_own: bool) -> str:
    """Return the live part; all who look at one plan share a rendering of the same moment, readers and editors apart.

    Members of other labs are apart too: they see no names of the lab's channels. So is each who may start the plan: the
    form for it begins with what that person chose last.

    While one of them waits for the next rendering, the others get the last one. Who may edit gets forms, and each of
    them the token of the own browser against forged requests, in the place of a mark that nobody can guess.
    """
    pk, view = asked.pk, read_view(request.GET)
    reader = ("edit" if may_edit else "read") if is_own else "other"
    if _has_start_form(asked, may_edit=may_edit):
        reader = f"start-{request.user.pk}"
    key = f"plan-live:{pk}:{quote(view.query)}:{get_language()}:{base()}:{reader}"
    stored: LivePart | None = cache.get(key)
    if stored is None or (time.time() >= stored.fresh_until and cache.add(f"{key}:rendering", 1, RENDERING_S)):
        mark, began = secrets.token_urlsafe(24), time.monotonic()
        text = _render_live_part(request, pk, view, may_edit=may_edit, is_own=is_own, token_mark=mark)
        stored = LivePart(text, mark, time.time() + max(FRESH_S, FRESH_FOR * (time.monotonic() - began)))
        cache.set(key, stored, KEPT_S)
        cache.delete(f"{key}:rendering")
    return stored.text.replace(stored.token_mark, get_token(request)) if may_edit else stored.text


def _render_live_part(
    request: LabRequest, pk: int, view: MatrixView, *, may_edit: bool, is_own: bool, token_mark: str
) -> str:
    plan = _load_plan(pk)
    page = ExecutionPage(plan, view)
    context = {
        "page": page, "plan": plan, "may_edit": may_edit, "is_own": is_own, "panel": SchedulePanel(plan),
        "start_form": _start_form(request, plan, may_edit=may_edit),
    }  # fmt: skip
    return render(request, "plans/_live.html", {**context, "csrf_token": token_mark}).content.decode()


def _start_form(request: LabRequest, plan: Plan, *, may_edit: bool) -> StartForm | None:
    """Return the form that starts a plan, for who may and while it does not run."""
    return StartForm(plan, actor=str(request.user)) if _has_start_form(plan, may_edit=may_edit) else None


def _has_start_form(plan: Plan, *, may_edit: bool) -> bool:
    execution = execution_of(plan)
    return may_edit and (execution is None or execution.has_ended)


@member_required(Role.ENGINEER)
def recipients(request: LabRequest, pk: int) -> HttpResponse:
    """Choose who is told what becomes of a plan, also while it runs."""
    plan = _own(request, pk)
    form = RecipientsForm(plan, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            services.change_recipients(plan, form.recipients, actor=str(request.user))
        except ExecutionError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Who is notified of {plan} is changed.")
        return redirect("plan", plan.pk)
    context = {"plan": plan, "form": form}
    return render(request, "plans/recipients.html", context, status=422 if form.errors else 200)


@require_POST
@member_required(Role.ENGINEER)
def act(request: LabRequest, pk: int, act: str) -> HttpResponse:
    """Start, pause or resume a plan, retry what failed, add repetitions, or change its priority."""
    plan = _own(request, pk)
    try:
        message = _do(request, plan, act)
    except ExecutionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, message)
    return redirect("plan", plan.pk)


def _cell_of(plan: Plan, typed: QueryDict) -> dict[str, Any]:
    """Return row and point of the one cell that a form is about; empty where it is about the whole plan."""
    if not typed.get("row") and not typed.get("point"):
        return {}
    row = plan.rows.filter(name=typed.get("row")).first()
    point = plan.points.filter(name=typed.get("point")).first()
    if row is None or point is None:
        raise ExecutionError("This cell is not in the plan any more.")
    return {"row": row, "point": point}


def _do(request: LabRequest, plan: Plan, act: str) -> str:
    actor, typed = str(request.user), request.POST
    if act == "start":
        form = StartForm(plan, typed)
        if not form.is_valid():
            raise ExecutionError(f"{describe_errors(form)} The plan is not started.")
        services.start_plan(plan, actor=actor, **form.options)
        return f"{plan} is started."
    if act == "pause":
        services.pause_plan(plan, actor=actor)
        return f"{plan} is paused; what runs now goes on to its end."
    if act == "resume":
        services.resume_plan(plan, actor=actor)
        return f"{plan} goes on."
    if act == "retry":
        count = services.retry_failed(plan, actor=actor, **_cell_of(plan, typed))
        return f"{count} failed step{'' if count == 1 else 's'} of {plan} will be made again."
    if act == "priority":
        priority = Priority.find(typed.get("priority"))
        if priority is None:
            words = ", ".join(choice.label for choice in Priority)
            raise ExecutionError(f"Priority: found {typed.get('priority', '')[:40]!r}, expected one of {words}.")
        services.change_priority(plan, priority, actor=actor)
        return f"{plan} has {priority.label} priority, and so have its runs that wait."
    number = _number(typed, "repetitions", "More rounds")
    seen = _number(typed, "seen", "Rounds when you looked") if typed.get("seen") else None
    services.add_repetitions(plan, number, actor=actor, seen=seen)
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
    plan = _own(request, pk)
    if request.method == "POST":
        try:
            services.cancel_plan(plan, actor=str(request.user))
            messages.success(request, f"{plan} is cancelled; what was measured stays.")
        except ExecutionError as error:
            messages.error(request, str(error))
        return redirect("plan", plan.pk)
    return render(request, "plans/cancel.html", {"plan": plan, "page": ExecutionPage(plan)})


def _own(request: HttpRequest, pk: int) -> Plan:
    lab: Any = getattr(request, "lab", None)
    plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk, study__lab=lab, is_from_report=False)
    return plan
