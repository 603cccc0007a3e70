"""Putting a comparison into a study, changing its words and its place, and taking it out."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.comparison.in_studies.forms import CaptionForm, PutForm
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import Question, QuestionError, parse
from apps.comparison.words import label_of, operation_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.runs.metrics import METRICS
from apps.studies.editing.views import own_study, page_of
from apps.studies.models import Study


@member_required(Role.ENGINEER)
def put(request: LabRequest) -> HttpResponseBase:
    """GET with the address of a comparison asks which study and how it is called; POST puts it there."""
    form = (
        PutForm(request.lab, request.POST)
        if request.method == "POST"
        else PutForm(request.lab, initial=_initial(request))
    )
    if request.method == "POST" and form.is_valid():
        made = form.put(str(request.user))
        AuditEvent.objects.record(request.lab.pk, "comparison put into a study", str(made), who=str(request.user))
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
    """A title from the question, and the study that it is about."""
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
    rows = StudyComparison.objects.of_study(study)
    return render(request, "comparison/in-study.html", {"study": study, "rows": rows, "back": page_of(study)})


@member_required(Role.ENGINEER)
def edit(request: LabRequest, pk: int) -> HttpResponseBase:
    found = _own(request, pk)
    initial = {"title": found.title, "caption": found.caption, "shows": found.shows}
    form = CaptionForm(request.POST) if request.method == "POST" else CaptionForm(initial=initial)
    if request.method == "POST" and form.is_valid():
        messages.success(request, f"“{form.change(found)}” is saved.")
        return redirect("study-comparisons", found.study.slug)
    status = 422 if request.method == "POST" else 200
    return render(
        request, "comparison/in-study-edit.html", {"form": form, "one": found, "study": found.study}, status=status
    )


@require_POST
@member_required(Role.ENGINEER)
def move(request: LabRequest, pk: int) -> HttpResponse:
    """One place up or down."""
    found = _own(request, pk)
    rows = list(StudyComparison.objects.of_study(found.study))
    at = rows.index(found)
    to = min(max(at + (-1 if request.POST.get("to") == "up" else 1), 0), len(rows) - 1)
    rows.insert(to, rows.pop(at))
    for position, one in enumerate(rows):
        one.position = position
    StudyComparison.objects.bulk_update(rows, ["position"])
    return redirect("study-comparisons", found.study.slug)


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """GET says what will be lost; POST does it."""
    found = _own(request, pk)
    if request.method != "POST":
        return render(request, "comparison/in-study-delete.html", {"one": found, "study": found.study})
    found.delete()
    messages.success(request, f"“{found}” is taken out of the study; its runs stay.")
    return redirect("study-comparisons", found.study.slug)


def _own(request: LabRequest, pk: int) -> StudyComparison:
    found: StudyComparison = get_object_or_404(
        StudyComparison.objects.select_related("study"), pk=pk, study__lab=request.lab
    )
    return found
