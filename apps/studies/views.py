"""Pages that create, edit and delete a study and its configurations."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import NoReverseMatch, reverse

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.studies.forms import ConfigurationForm, StudyForm
from apps.studies.models import Configuration, Plan, Study, StudyRun
from apps.studies.plans.services import explain_no_deletion


def page_of(study: Study) -> str:
    """Return the address of the study's page; of its configurations where that page is not installed."""
    try:
        return reverse("study", args=[study.slug])
    except NoReverseMatch:
        return reverse("configurations", args=[study.slug])


def own_study(request: LabRequest, slug: str) -> Study:
    """Return a study of the person's own lab; a published one of another lab is read, never changed."""
    return get_object_or_404(Study, slug=slug, lab=request.lab)


@member_required(Role.ENGINEER)
def new(request: LabRequest) -> HttpResponseBase:
    return _write(request, None)


@member_required(Role.ENGINEER)
def edit(request: LabRequest, slug: str) -> HttpResponseBase:
    return _write(request, own_study(request, slug))


def _write(request: LabRequest, study: Study | None) -> HttpResponseBase:
    form = StudyForm(request.lab, request.POST or None, instance=study)
    if request.method == "POST" and form.is_valid():
        saved = form.save()
        AuditEvent.objects.record(request.lab.pk, "study written", saved.slug, actor=str(request.user))
        messages.success(request, f"“{saved}” is saved." if study else f"“{saved}” is there; put runs into it next.")
        return redirect(page_of(saved))
    status = 422 if request.method == "POST" else 200
    back = page_of(study) if study else ""
    stored = Study.objects.get(pk=study.pk) if study else None  # the form has written what was typed onto the other one
    return render(request, "studies/edit.html", {"form": form, "study": stored, "back": back}, status=status)


@member_required(Role.ENGINEER)
def delete(request: LabRequest, slug: str) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    study = own_study(request, slug)
    problem = explain_no_deletion(Plan.objects.filter(study=study))
    if request.method != "POST" or problem:
        context = {"study": study, "lost": lost_with_study(study), "runs": runs_of_study(study), "back": page_of(study)}
        context["problem"] = problem
        return render(request, "studies/delete.html", context, status=409 if request.method == "POST" else 200)
    AuditEvent.objects.record(request.lab.pk, "study deleted", study.slug, actor=str(request.user))
    study.delete()
    messages.success(request, f"“{study}” is deleted; its runs stay.")
    return redirect("overview")


@member_required()
def configurations(request: LabRequest, slug: str) -> HttpResponseBase:
    """List a study's configurations with the form of a new one (GET), or create one (POST)."""
    return _make(request, slug) if request.method == "POST" else _columns(request, own_study(request, slug))


@member_required(Role.ENGINEER)
def _make(request: LabRequest, slug: str) -> HttpResponse:
    study = own_study(request, slug)
    form = ConfigurationForm(study, None, request.POST)
    if not form.is_valid():
        return _columns(request, study, form)
    messages.success(request, f"“{form.save()}” is a configuration of the study now.")
    return redirect("configurations", study.slug)


def _columns(request: LabRequest, study: Study, form: ConfigurationForm | None = None) -> HttpResponse:
    rows = study.configurations.select_related("host", "target").annotate(runs=Count("study_runs")).order_by("position")
    context = {"study": study, "rows": rows, "form": form or ConfigurationForm.of(study, None), "back": page_of(study)}
    return render(request, "studies/configurations.html", context, status=422 if form else 200)


@member_required(Role.ENGINEER)
def configuration(request: LabRequest, slug: str, pk: int) -> HttpResponseBase:
    row = get_object_or_404(Configuration, pk=pk, study=own_study(request, slug))
    form = (
        ConfigurationForm(row.study, row, request.POST)
        if request.method == "POST"
        else ConfigurationForm.of(row.study, row)
    )
    if request.method == "POST" and form.is_valid():
        messages.success(request, f"“{form.save()}” is saved.")
        return redirect("configurations", row.study.slug)
    status = 422 if request.method == "POST" else 200
    return render(request, "studies/configuration.html", {"study": row.study, "row": row, "form": form}, status=status)


@member_required(Role.ENGINEER)
def configuration_delete(request: LabRequest, slug: str, pk: int) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    row = get_object_or_404(Configuration, pk=pk, study=own_study(request, slug))
    if request.method != "POST":
        context = {"study": row.study, "row": row, "runs": runs_of_configuration(row)}
        return render(request, "studies/configuration-delete.html", context)
    row.delete()
    messages.success(request, f"“{row}” is deleted; its runs stay, outside of the study.")
    return redirect("configurations", row.study.slug)


WORDS = {
    "claims": ("claim with its history", "claims with their history"),
    "comparisons": ("comparison with its caption", "comparisons with their captions"),
    "plans": ("plan", "plans"),
    "configurations": ("configuration", "configurations"),
}


def lost_with_study(study: Study) -> list[str]:
    """Return what refers to the study and is deleted with it, such as `3 claims with their history`."""
    counted = {name: getattr(study, name).count() for name in WORDS if hasattr(study, name)}
    return [f"{n} {WORDS[name][n != 1]}" for name, n in counted.items() if n]


def runs_of_study(study: Study) -> int:
    return int(StudyRun.objects.filter(configuration__study=study).count())


def runs_of_configuration(configuration: Configuration) -> int:
    return int(StudyRun.objects.filter(configuration=configuration).count())
