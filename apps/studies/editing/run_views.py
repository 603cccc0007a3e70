"""Runs into a study, or out of it: one from its page, or many from the list."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Lab, Role
from apps.lib.forms import SiteForm
from apps.runs.models import Run
from apps.studies.editing.placing import MOST_RUNS, place
from apps.studies.editing.views import page_of
from apps.studies.models import Configuration, Study, StudyRun

OUT = "out"


class PlaceForm(SiteForm):
    """`study-3`: by target; `configuration-7`: all into this one; `out`: out of their study."""

    place = forms.ChoiceField(label=_("Study and configuration"))

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        studies = Study.objects.filter(lab=lab).prefetch_related("configurations")
        self.choices = [(str(study), _places(study)) for study in studies]
        place = self.fields["place"]
        assert isinstance(place, forms.ChoiceField)
        place.choices = [*self.choices, ("—", [(OUT, "out of the study that they are in")])]

    @property
    def wanted(self) -> tuple[Study | None, Configuration | None]:
        kind, _, pk = self.cleaned_data["place"].partition("-")
        if kind == "configuration":
            row = Configuration.objects.select_related("study").get(pk=pk)
            return row.study, row
        return (Study.objects.get(pk=pk), None) if kind == "study" else (None, None)


def _places(study: Study) -> list[tuple[str, str]]:
    columns = [(f"configuration-{one.pk}", one.label) for one in study.configurations.all()]
    return [(f"study-{study.pk}", "a configuration for each target"), *columns]


@member_required(Role.ENGINEER)
def place_runs(request: LabRequest) -> HttpResponseBase:
    """`?run=3&run=4`: GET asks where to, POST puts them there."""
    runs = _asked(request)
    form = PlaceForm(request.lab, request.POST if request.method == "POST" else None, initial=_initial(request))
    if request.method == "POST" and runs and form.is_valid():
        return _put(request, runs, form)
    context = {
        "runs": runs, "form": form, "has_studies": bool(form.choices), "most": MOST_RUNS,
        "places": StudyRun.objects.filter(run__in=runs).select_related("configuration__study"),
    }  # fmt: skip
    return render(request, "studies/place-runs.html", context, status=422 if request.method == "POST" else 200)


def _asked(request: LabRequest) -> list[Run]:
    """Those of the own lab."""
    given = request.POST if request.method == "POST" else request.GET
    keys = [int(one) for one in given.getlist("run")[:MOST_RUNS] if one.isascii() and one.isdecimal() and len(one) < 19]
    return list(
        Run.objects.filter(pk__in=keys, lab=request.lab).select_related("host", "target", "workload").order_by("id")
    )


def _initial(request: LabRequest) -> dict[str, Any]:
    """The study that the reader comes from."""
    study = Study.objects.filter(slug=request.GET.get("study", ""), lab=request.lab).first()
    return {"place": f"study-{study.pk}"} if study else {}


def _put(request: LabRequest, runs: list[Run], form: PlaceForm) -> HttpResponse:
    study, configuration = form.wanted
    if study is None:
        gone = StudyRun.objects.filter(run__in=runs)
        count = len(gone)
        for one in gone:  # one by one, because claims hear of each row
            one.delete()
        messages.success(request, f"{count} run{'' if count == 1 else 's'} taken out of their study.")
        return redirect("runs")
    placed = place(runs, study, configuration)
    AuditEvent.objects.record(
        request.lab.pk, "runs put into a study", study.slug, who=str(request.user), runs=[run.pk for run in runs]
    )
    messages.success(request, placed.sentence)
    return redirect(page_of(study))
