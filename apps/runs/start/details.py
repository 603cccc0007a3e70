"""What a person says about runs beside their workload: priority, study, labels and a note; at the start and later."""

from collections.abc import Sequence
from typing import Any, Protocol

from django import forms
from django.http import QueryDict

from apps.core.forms import SiteForm
from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.runs.host_guards import GUARDS, LONGEST_WAIT, USUAL_WAIT, check_guards
from apps.runs.labels import parse_labels, spell_labels
from apps.runs.models import Run
from apps.runs.services import LONGEST_NOTE
from apps.runs.states import Priority
from apps.runs.workload import WorkloadError

Choices = list[tuple[str, str | list[tuple[str, str]]]]


class StudyPlaces(Protocol):
    """What the app of studies offers to the form that starts runs, which does not know it."""

    def choices(self, lab: Lab) -> Choices:
        """Return the lab's studies with their configurations, as choices of a form."""

    def place(self, lab: Lab, choice: str, runs: Sequence[Run], actor: str) -> None:
        """Place the runs in the chosen study."""


study_places: list[StudyPlaces] = []


class LabelsField(forms.CharField):
    """Labels as people type them; its value is a dictionary."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **{
                "required": False,
                "label": "Labels",
                "help_text": 'name=value, several apart by commas; "in quotes" what has commas',
                **options,
            }
        )

    def clean(self, value: Any) -> Any:
        try:
            return parse_labels(super().clean(value))
        except WorkloadError as error:
            raise forms.ValidationError(f"Found {error.found!r}, expected {error.expected}.") from None

    def prepare_value(self, value: Any) -> Any:
        return spell_labels(value) if isinstance(value, dict) else value


def make_note_field() -> forms.CharField:
    return forms.CharField(
        required=False, label="Note", max_length=LONGEST_NOTE, widget=forms.Textarea(attrs={"rows": 2})
    )


class RunDetailsForm(SiteForm):
    """The part of the start form that all runs have, whatever they measure."""

    priority = forms.ChoiceField(
        choices=[(word.label, word.label) for word in Priority], label="Priority", required=False,
        help_text="goes before age, host by host",
    )  # fmt: skip
    study = forms.ChoiceField(required=False, label="Study")
    labels = LabelsField(help_text="cable=old, kernel=6.1; comparisons can group by them")
    note = make_note_field()
    guards = forms.MultipleChoiceField(
        required=False, label="Start only when", widget=forms.CheckboxSelectMultiple,
        choices=[(guard.kind, f"{guard.label}: {guard.sentence}") for guard in GUARDS if guard.kind != "pause"],
        help_text="checked on the host right before fio starts; what was found is shown with the run",
    )  # fmt: skip
    guard_wait = forms.IntegerField(
        required=False, min_value=0, max_value=LONGEST_WAIT // 60, initial=USUAL_WAIT // 60, label="Wait for that, min",
        help_text="at most; then the run is refused with the figures",
    )  # fmt: skip

    def __init__(self, lab: Lab, data: QueryDict | None = None, like: Run | None = None) -> None:
        about = {"priority": Priority(like.priority).label, "labels": own_labels(like)} if like else {}
        if like and like.guards:
            about["guards"] = [guard["guard"] for guard in like.guards if not guard.get("purpose")]
        super().__init__(data, initial={"priority": Priority.NORMAL.label} | about)
        self.lab = lab
        choices = [choice for places in study_places for choice in places.choices(lab)]
        study = self.fields["study"]
        assert isinstance(study, forms.ChoiceField)
        study.choices = [("", "none"), *choices]
        if not choices:
            del self.fields["study"]

    @property
    def start_options(self) -> dict[str, Any]:
        """Return the options of `start_runs` that a valid form gives."""
        data = self.cleaned_data
        priority = Priority.find(data["priority"]) or Priority.NORMAL
        wait = USUAL_WAIT if data.get("guard_wait") is None else data["guard_wait"] * 60
        guards = check_guards([{"guard": kind, "wait_s": wait} for kind in data["guards"]])
        return {"priority": priority, "labels": data["labels"], "note": data["note"], "guards": guards}

    def check_targets(self, targets: Sequence[Target]) -> None:
        """Raise `WorkloadError` where runs on several targets would go into one configuration, whose figures would mix."""
        choice = self.cleaned_data.get("study") or ""
        if len(targets) > 1 and choice.startswith("configuration-"):
            raise WorkloadError("study", "one configuration for several targets", "a configuration for each target")

    def place(self, runs: Sequence[Run], actor: str) -> None:
        """Place the started runs in the chosen study, if one is chosen."""
        if choice := self.cleaned_data.get("study"):
            for places in study_places:
                places.place(self.lab, choice, runs, actor)


class RunDescriptionForm(SiteForm):
    """The labels and the note of a run, on its page."""

    labels = LabelsField(help_text="cable=old, kernel=6.1; comparisons can group by them")
    note = make_note_field()

    def __init__(self, run: Run, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"labels": run.labels, "note": run.note}, auto_id="description_%s")
        if not run.has_own_labels:
            del self.fields["labels"]


def own_labels(run: Run) -> dict[str, str]:
    """Return the labels that a new run like this one has too: of an uploaded one not those of its output."""
    return dict(run.labels) if run.has_own_labels else {}
