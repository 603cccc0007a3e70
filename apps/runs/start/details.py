"""What a person says about runs beside their workload: priority, study, labels and a note; at the start and later."""

from collections.abc import Sequence
from typing import Any, Protocol

from django import forms
from django.http import QueryDict

from apps.core.forms import ScaledField, SiteForm, make_minutes_field
from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.runs.host_guards import GUARDS, LONGEST_WAIT, USUAL_WAIT, check_guards
from apps.runs.host_guards.forms import (
    GuardLine,
    GuardQuestion,
    add_guard_fields,
    initial_of_fields,
    list_guards,
    read_guard,
)
from apps.runs.labels import parse_labels, spell_labels
from apps.runs.models import Run
from apps.runs.services import LONGEST_NOTE
from apps.runs.states import Priority
from apps.runs.workload import LONGEST_LIMIT, WorkloadError

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


QUESTIONS = tuple(
    GuardQuestion(guard.kind, guard.label, guard.sentence, guard.parameters)
    for guard in GUARDS
    if guard.kind != "pause"
)


def make_time_limit_field() -> ScaledField:
    """Return the field of a time limit: seconds, which are typed in minutes; a second is shown as 0.02."""
    return make_minutes_field(
        required=False, label="Time limit, min", min_value=0.01, max_value=LONGEST_LIMIT / 60,
        help_text="then the host stops fio; empty: three times the estimate and a margin",
    )  # fmt: skip


def _limits_of(like: Run | None) -> dict[str, Any]:
    """Return what the fields of guards and of the time limit begin with, as they were of a former run."""
    if like is None:
        return {}
    about: dict[str, Any] = {"time_limit": like.time_limit} if like.time_limit else {}
    known = {question.kind: question for question in QUESTIONS}
    guards = [guard for guard in like.guards if not guard.get("purpose") and guard["guard"] in known]
    if not guards:
        return about
    about["guards"] = [guard["guard"] for guard in guards]
    for guard in guards:
        about |= initial_of_fields(guard["guard"], guard, known[guard["guard"]].parameters)
    return about


class RunDetailsForm(SiteForm):
    """The part of the start form that all runs have, whatever they measure."""

    priority = forms.ChoiceField(
        choices=[(word.label, word.label) for word in Priority], label="Priority", required=False,
        help_text="goes before age, host by host",
    )  # fmt: skip
    study = forms.ChoiceField(required=False, label="Study")
    labels = LabelsField(help_text="cable=old, kernel=6.1; comparisons can group by them")
    note = make_note_field()
    time_limit = make_time_limit_field()
    guards = forms.MultipleChoiceField(
        required=False, label="Start only when", widget=forms.CheckboxSelectMultiple,
        choices=[(question.kind, f"{question.label}: {question.sentence}") for question in QUESTIONS],
        help_text="checked on the host right before fio starts; what was found is shown with the run. A required guard "
        "is waited for; what is not required is looked at and noted",
    )  # fmt: skip
    guard_wait = make_minutes_field(
        required=False, min_value=0, max_value=LONGEST_WAIT / 60, initial=USUAL_WAIT, label="Wait for that, min",
        help_text="at most; then the run is refused with the figures",
    )  # fmt: skip

    def __init__(self, lab: Lab, data: QueryDict | None = None, like: Run | None = None) -> None:
        about = {"priority": Priority(like.priority).label, "labels": own_labels(like)} if like else {}
        super().__init__(data, initial={"priority": Priority.NORMAL.label} | about | _limits_of(like))
        add_guard_fields(self, QUESTIONS)
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
        wait = USUAL_WAIT if data.get("guard_wait") is None else data["guard_wait"]
        wanted = [question for question in QUESTIONS if question.kind in data["guards"]]
        guards = check_guards([{"wait_s": wait, **read_guard(data, question)} for question in wanted])
        return {
            "priority": priority, "labels": data["labels"], "note": data["note"], "guards": guards,
            "time_limit": data["time_limit"],
        }  # fmt: skip

    @property
    def own_fields(self) -> list[forms.BoundField]:
        """Return the fields beside those of guards."""
        return [field for field in self if not field.name.startswith("guard")]

    @property
    def guard_lines(self) -> list[GuardLine]:
        """Return the guards with the fields of their numbers."""
        return list_guards(self, "guards", QUESTIONS)

    @property
    def is_guarded(self) -> bool:
        """Return whether a guard is chosen, or something about one is wrong."""
        return bool(self["guards"].value() or self["guards"].errors or self["guard_wait"].errors) or any(
            name.startswith("guard-") for name in self.errors
        )

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
