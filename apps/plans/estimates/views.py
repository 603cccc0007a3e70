"""The estimate of a plan that is being typed; nothing is stored."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.plans.estimates.plan_estimate import estimate_request
from apps.plans.forms import NewPlanForm
from apps.plans.preparations.forms import PreparationForms
from apps.studies.plans.problems import PlanError


@require_POST
@member_required(Role.ENGINEER)
def estimate(request: LabRequest) -> HttpResponse:
    """Return the estimate of the typed plan as a part of the page, or a sentence about what is missing."""
    form, preparations = NewPlanForm(request.lab, request.POST), PreparationForms(request.POST)
    form.fields["title"].required = False
    context: dict[str, object] = {}
    if not form.is_valid() & preparations.is_valid():
        errors = [f"{form.fields[name].label if name in form.fields else name}: {' '.join(map(str, of_field))}"
                  for name, of_field in form.errors.items()]  # fmt: skip
        errors = errors or ["The preparation is not complete."]
        context["problem"] = f"No estimate yet. {' '.join(errors)}"
    else:
        form.cleaned_data["title"] = form.cleaned_data["title"] or "estimate"
        try:
            context["estimate"] = estimate_request(form.request(0, preparations.written))
        except PlanError as error:
            context["problem"] = f"No estimate yet. {error}."
    return render(request, "plans/estimate.html", context)
