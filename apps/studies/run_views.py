"""Pages that place runs in a study or remove them from it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from apps.core.forms import SiteForm
from apps.core.text import whole_number
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Lab, Role
from apps.runs.models import Run
from apps.studies.models import Configuration, Study, StudyRun
from apps.studies.run_placement import MOST_RUNS, StudyChoices, place_audited
from apps.studies.views import page_of

OUT = "out"


class RunPlacementForm(SiteForm):
    """`study-3`: by target; `configuration-7`: all into this one; `out`: out of their study."""

    place = forms.ChoiceField(label=_("Study and configuration"))

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.choices = StudyChoices().choices(lab)
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


@member_required(Role.ENGINEER)
def place_runs(request: LabRequest) -> HttpResponseBase:
    """Place the runs of `?run=3&run=4`: GET shows the form, POST places them."""
    runs = _requested_runs(request)
    form = RunPlacementForm(request.lab, request.POST if request.method == "POST" else None, initial=_initial(request))
    if request.method == "POST" and runs and form.is_valid():
        return _place(request, runs, form)
    context = {
        "runs": runs, "form": form, "has_studies": bool(form.choices), "most": MOST_RUNS,
        "places": StudyRun.objects.filter(run__in=runs).select_related("configuration__study"),
    }  # fmt: skip
    return render(request, "studies/place-runs.html", context, status=422 if request.method == "POST" else 200)


def _requested_runs(request: LabRequest) -> list[Run]:
    """Return the requested runs of the own lab."""
    given = request.POST if request.method == "POST" else request.GET
    keys = [key for key_text in given.getlist("run")[:MOST_RUNS] if (key := whole_number(key_text)) is not None]
    return list(
        Run.objects.filter(pk__in=keys, lab=request.lab).select_related("host", "target", "workload").order_by("id")
    )


def _initial(request: LabRequest) -> dict[str, Any]:
    """Return the initial values of the form: the study that the reader comes from."""
    study = Study.objects.filter(slug=request.GET.get("study", ""), lab=request.lab).first()
    return {"place": f"study-{study.pk}"} if study else {}


def _place(request: LabRequest, runs: list[Run], form: RunPlacementForm) -> HttpResponse:
    study, configuration = form.wanted
    if study is None:
        gone = StudyRun.objects.filter(run__in=runs)
        count = len(gone)
        for study_run in gone:  # one by one, because claims hear of each row
            study_run.delete()
        messages.success(request, f"{count} run{'' if count == 1 else 's'} taken out of their study.")
        return redirect("runs")
    placed = place_audited(request.lab, runs, study, configuration, str(request.user))
    messages.success(request, placed.sentence)
    return redirect(page_of(study))
