"""Pages of a study's plans: the matrix, the form of a plan, and the form of a cell."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.core.forms import SiteForm
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.labs.services import submit_once
from apps.studies.lookup import study_named
from apps.studies.models import Plan, PlanCell, Study
from apps.studies.plans.draft import PlanDraft
from apps.studies.plans.plan_page import PlanPage, plans_of_study
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.run_intake import fitting_runs, take
from apps.studies.plans.services import PlanCellError, explain_no_deletion, set_cell


@require_safe
@member_required()
def study_plan(request: LabRequest, slug: str) -> HttpResponse:
    study = study_named(slug)
    may_edit = study.lab_id == request.lab.pk and request.member.covers(Role.ENGINEER)
    plans = plans_of_study(study)
    waiting = [
        (plan_shown.plan, len(fitting)) for plan_shown in plans if may_edit and (fitting := fitting_runs(plan_shown))
    ]
    context = {"study": study, "plans": plans, "may_edit": may_edit, "waiting": waiting}
    return render(request, "studies/plan.html", context)


@member_required(Role.ENGINEER)
def new(request: LabRequest, slug: str) -> HttpResponse:
    return _write(request, get_object_or_404(Study, slug=slug, lab=request.lab), None)


@member_required(Role.ENGINEER)
def edit(request: LabRequest, pk: int) -> HttpResponse:
    plan = _own(request, pk)
    return _write(request, plan.study, plan)


def _own(request: LabRequest, pk: int) -> Plan:
    plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk, study__lab=request.lab)
    return plan


def _write(request: LabRequest, study: Study, plan: Plan | None) -> HttpResponse:
    """Show the plan (GET), or change the draft (POST): `act` is save, add, remove-<n> or up-<n>."""
    draft = PlanDraft(study, plan, request.POST if request.method == "POST" else None)
    if draft.act == "save":
        address, is_new = submit_once(request.lab, request.POST, lambda: _save(request, draft))
        if address:
            if not is_new:
                messages.info(request, "The form was sent twice; the plan was written once.")
            return redirect(address)
    context = {"draft": draft, "study": study, "plan": plan}
    return render(request, "studies/plan-form.html", context, status=422 if draft.is_refused else 200)


def _save(request: LabRequest, draft: PlanDraft) -> str:
    """Write the plan of a draft and return its address; an empty text where it was refused."""
    saved = draft.save(str(request.user))
    if saved is None:
        return ""
    AuditEvent.objects.record(request.lab.pk, "plan written", _subject(saved), actor=str(request.user))
    messages.success(request, f"{saved} is written.")
    return saved.get_absolute_url()


def _subject(plan: Plan) -> str:
    return f"{plan.name} of {plan.study.slug}"


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    plan = _own(request, pk)
    problem = explain_no_deletion(Plan.objects.filter(pk=plan.pk))
    if request.method != "POST" or problem:
        context = {"plan": plan, "study": plan.study, "problem": problem}
        return render(request, "studies/plan-delete.html", context, status=409 if request.method == "POST" else 200)
    AuditEvent.objects.record(request.lab.pk, "plan deleted", _subject(plan), actor=str(request.user))
    plan.delete()
    messages.success(request, f"{plan} is deleted; all runs stay.")
    return redirect("study-plan", plan.study.slug)


class PlanCellForm(SiteForm):
    reason = forms.CharField(
        required=False, max_length=500, label="Why it is not run", help_text="empty: it is run",
        widget=forms.Textarea(attrs={"rows": 2}),
    )  # fmt: skip
    note = forms.CharField(required=False, max_length=500, label="Note", widget=forms.Textarea(attrs={"rows": 2}))


@member_required(Role.ENGINEER)
def cell(request: LabRequest, pk: int) -> HttpResponse:
    """Edit what is set for one cell; `row` and `point` of the address are names."""
    plan = _own(request, pk)
    row = next((row for row in plan.rows.all() if row.name == request.GET.get("row")), None)
    point = next((point for point in plan.points.all() if point.name == request.GET.get("point")), None)
    if row is None or point is None:
        raise Http404("No such cell in this plan.")
    plan_cell = PlanCell.objects.filter(row=row, point=point).first() or PlanCell(plan=plan, row=row, point=point)
    posted = request.POST if request.method == "POST" else None
    form = PlanCellForm(posted, initial={"reason": plan_cell.reason, "note": plan_cell.note})
    if form.is_valid():
        try:
            set_cell(plan, row, point, actor=str(request.user), **form.cleaned_data)
        except PlanCellError as error:
            form.add_error(None, str(error))
        else:
            return redirect(plan)
    context = {"plan": plan, "study": plan.study, "row": row, "point": point, "form": form}
    return render(request, "studies/plan-cell.html", context, status=422 if form.errors else 200)


@require_POST
@member_required(Role.ENGINEER)
def take_runs(request: LabRequest, pk: int) -> HttpResponse:
    """Add runs that were started by hand for cells of this plan to the study."""
    plan = _own(request, pk)
    count = take(PlanPage(plan, runs_of(plan.study)))
    AuditEvent.objects.record(
        request.lab.pk, "runs taken into a plan", _subject(plan), actor=str(request.user), runs=count
    )
    messages.success(request, f"{count} run{'' if count == 1 else 's'} taken into {plan}.")
    return redirect(plan)
