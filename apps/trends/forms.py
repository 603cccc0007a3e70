"""Forms of watches and of marks."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.http import QueryDict

from apps.comparison.question import QuestionError, parse
from apps.core.forms import SiteForm
from apps.notifications.models import Destination
from apps.runs.models import IN_TIME, Run
from apps.trends.models import Watch

PERCENT = 100


class WatchForm(SiteForm):
    name = forms.CharField(max_length=200, label="Name")
    threshold = forms.FloatField(
        min_value=0.1, max_value=90, initial=5, label="Notify from a change of, %",
        help_text="smaller changes are shown but not notified",
    )  # fmt: skip
    recipients: Any = forms.ModelMultipleChoiceField(
        queryset=None, required=False, label="Recipients", widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, lab_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: Any = self.fields["recipients"]
        choices.queryset = Destination.objects.filter(lab=lab_id, is_active=True)

    def clean_threshold(self) -> float:
        """Return the threshold as a fraction."""
        return float(self.cleaned_data["threshold"]) / PERCENT


class NewWatchForm(WatchForm):
    query = forms.CharField(max_length=8000, label="Series")

    def clean_query(self) -> str:
        """Return the canonical address of the question."""
        try:
            return parse(dict(QueryDict(self.cleaned_data["query"]).lists())).address
        except QuestionError as error:
            raise forms.ValidationError(str(error)) from None


class EditWatchForm(WatchForm):
    is_active = forms.BooleanField(required=False, label="Evaluate when runs arrive")

    @staticmethod
    def initial_of(watch: Watch) -> dict[str, object]:
        chosen = watch.recipients.values_list("destination", flat=True)
        percent = round(watch.threshold * PERCENT, 6)
        return {"name": watch.name, "threshold": percent, "is_active": watch.is_active, "recipients": list(chosen)}


class MarkForm(SiteForm):
    """At a run, or at a time (UTC)."""

    text = forms.CharField(max_length=300, label="What was changed")
    run = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
    at = forms.DateTimeField(
        required=False, label="From (UTC)", widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    everywhere = forms.BooleanField(required=False, label="For every watch of this target")

    def __init__(self, lab_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lab_id = lab_id

    def clean_run(self) -> Run | None:
        run_id = self.cleaned_data["run"]
        if run_id is None:
            return None
        run: Run | None = Run.objects.filter(pk=run_id, lab=self.lab_id).annotate(ended=IN_TIME).first()
        if run is None:
            raise forms.ValidationError(f"found {run_id}, expected the id of a run of this lab")
        return run

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        run, at = data.get("run"), data.get("at")
        if not self.errors and (run is None) == (at is None):
            self.add_error("at", "found neither or both, expected a run or a time")
        data["at"] = run.ended if run else at
        return data

    @property
    def moment(self) -> datetime:
        at: datetime = self.cleaned_data["at"]
        return at if at.tzinfo else at.replace(tzinfo=UTC)
