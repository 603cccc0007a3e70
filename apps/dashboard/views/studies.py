"""Studies: the list, and each as a lab report."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.comparison.claims.views import may_edit
from apps.dashboard.studies.page import context_of
from apps.dashboard.studies.study_list import listed
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.plans.published_procedure import StudyRepetition, offers_of
from apps.studies.lookup import study_named
from apps.studies.models import Study

PAGE = 25


@require_safe
@member_required()
def studies(request: LabRequest) -> HttpResponse:
    result = Study.objects.select_related("lab").order_by("lab__is_published", "slug", "id")
    page = Paginator(result, PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "studies": listed(list(page)), "may_make": request.member.covers(Role.ENGINEER)}
    return render(request, "studies/list.html", context)


@require_safe
@member_required()
def study(request: LabRequest, slug: str) -> HttpResponse:
    result = study_named(slug)
    context = {**context_of(result), "may_edit": may_edit(request, result)}
    return render(request, "studies/study.html", {**context, "repetition": _repetition(request, result, context)})


def _repetition(request: LabRequest, study: Study, context: dict[str, Any]) -> StudyRepetition | None:
    """Return how a published study can be repeated; None for own studies, and for people who may write no plan."""
    if not study.lab.is_published or not request.member.covers(Role.ENGINEER):
        return None
    return StudyRepetition(offers_of(entry.plan for entry in context["plans"]))
