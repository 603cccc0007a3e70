"""Putting a comparison into a study, changing its words and its place, and taking it out."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.comparison.in_studies.forms import AddToStudyForm, CaptionForm
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.labels import label_of, operation_of
from apps.comparison.question import Question, QuestionError, parse
from apps.comparison.saved_comparisons.question import resolve_all
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.runs.metrics import METRICS
from apps.studies.models import Study
from apps.studies.views import own_study, page_of


@member_required(Role.ENGINEER)
def put(request: LabRequest) -> HttpResponseBase:
    """Ask for study and title of the comparison in the address (GET), or add it (POST)."""
    form = (
        AddToStudyForm(request.lab, request.POST)
        if request.method == "POST"
        else AddToStudyForm(request.lab, initial=_initial(request))
    )
    if request.method == "POST" and form.is_valid():
        made = form.put(str(request.user))
        AuditEvent.objects.record(request.lab.pk, "comparison put into a study", str(made), actor=str(request.user))
        messages.success(request, f"“{made}” stands in the study now.")
        return redirect("study-comparisons", made.study.slug)
    status = 422 if request.method == "POST" else 200
    context = {
        "form": form,
        "has_studies": Study.objects.filter(lab=request.lab).exists(),
        "query": form["query"].value(),
    }
    return render(request, "comparison/put-into-study.html", context, status=status)


def _initial(request: LabRequest) -> dict[str, object]:
    """Return the initial values of the form: a title from the question, and the study that it is about."""
    query = request.GET.urlencode()
    try:
        question = parse(dict(QueryDict(query).lists()))
    except QuestionError:
        return {"query": query}
    slugs = [value for name, value in question.filters if name == "study"]
    study = Study.objects.filter(lab=request.lab, slug__in=slugs).first()
    return {"query": question.address, "title": _title(question), "study": study}


def _title(question: Question) -> str:
    return f"{METRICS[question.metric].label} of {operation_of(question.operation)} by {label_of(question.x)}"


@member_required()
def listed(request: LabRequest, slug: str) -> HttpResponse:
    study = own_study(request, slug)
    rows = resolve_all(list(StudyComparison.objects.of_study(study)))
    return render(request, "comparison/in-study.html", {"study": study, "rows": rows, "back": page_of(study)})


@member_required(Role.ENGINEER)
def edit(request: LabRequest, pk: int) -> HttpResponseBase:
    comparison = _own(request, pk)
    initial = {"title": comparison.title, "caption": comparison.caption, "shows": comparison.shows}
    form = CaptionForm(request.POST) if request.method == "POST" else CaptionForm(initial=initial)
    if request.method == "POST" and form.is_valid():
        messages.success(request, f"“{form.change(comparison)}” is saved.")
        return redirect("study-comparisons", comparison.study.slug)
    status = 422 if request.method == "POST" else 200
    return render(
        request,
        "comparison/in-study-edit.html",
        {"form": form, "one": comparison, "study": comparison.study},
        status=status,
    )


@require_POST
@member_required(Role.ENGINEER)
def move(request: LabRequest, pk: int) -> HttpResponse:
    """Move the comparison one place up or down."""
    comparison = _own(request, pk)
    rows = list(StudyComparison.objects.of_study(comparison.study))
    at = rows.index(comparison)
    to = min(max(at + (-1 if request.POST.get("to") == "up" else 1), 0), len(rows) - 1)
    rows.insert(to, rows.pop(at))
    for position, row in enumerate(rows):
        row.position = position
    StudyComparison.objects.bulk_update(rows, ["position"])
    return redirect("study-comparisons", comparison.study.slug)


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    comparison = _own(request, pk)
    if request.method != "POST":
        return render(request, "comparison/in-study-delete.html", {"one": comparison, "study": comparison.study})
    comparison.delete()
    messages.success(request, f"“{comparison}” is taken out of the study; its runs stay.")
    return redirect("study-comparisons", comparison.study.slug)


def _own(request: LabRequest, pk: int) -> StudyComparison:
    comparison: StudyComparison = get_object_or_404(
        StudyComparison.objects.select_related("study"), pk=pk, study__lab=request.lab
    )
    return comparison
