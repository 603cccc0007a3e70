"""What people type about watches, marks and destinations."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import validate_email
from django.http import QueryDict

from apps.comparison.question import QuestionError, parse
from apps.comparison.trends.destinations import Destination, Kind
from apps.comparison.trends.models import Watch
from apps.comparison.trends.safe_address import RefusedAddressError, check_literal
from apps.lib.forms import SiteForm
from apps.runs.models import IN_TIME, Run

PERCENT = 100


class WatchForm(SiteForm):
    name = forms.CharField(max_length=200, label="Name")
    threshold = forms.FloatField(
        min_value=0.1, max_value=90, initial=5, label="Tell of changes from, %",
        help_text="smaller ones are shown, and nobody is written to",
    )  # fmt: skip
    recipients: Any = forms.ModelMultipleChoiceField(
        queryset=None, required=False, label="Who is told", widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, lab_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: Any = self.fields["recipients"]
        choices.queryset = Destination.objects.filter(lab=lab_id, is_active=True)

    def clean_threshold(self) -> float:
        """As a fraction."""
        return float(self.cleaned_data["threshold"]) / PERCENT


class NewWatchForm(WatchForm):
    query = forms.CharField(max_length=8000, label="What is watched")

    def clean_query(self) -> str:
        """The canonical address of what is asked."""
        try:
            return parse(dict(QueryDict(self.cleaned_data["query"]).lists())).address
        except QuestionError as error:
            raise forms.ValidationError(str(error)) from None


class EditWatchForm(WatchForm):
    is_active = forms.BooleanField(required=False, label="Look at it when runs arrive")

    @staticmethod
    def initial_of(watch: Watch) -> dict[str, Any]:
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
        asked = self.cleaned_data["run"]
        if asked is None:
            return None
        found: Run | None = Run.objects.filter(pk=asked, lab=self.lab_id).annotate(ended=IN_TIME).first()
        if found is None:
            raise forms.ValidationError(f"found {asked}, expected the id of a run of this lab")
        return found

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


class DestinationForm(SiteForm):
    kind = forms.ChoiceField(choices=Kind.choices, label="Kind")
    name = forms.CharField(max_length=120, label="Name", widget=forms.TextInput(attrs={"autocomplete": "off"}))
    address = forms.CharField(
        max_length=500, label="Address", widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="an e-mail address, or https://…",
    )  # fmt: skip

    def __init__(self, lab_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lab_id = lab_id

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        kind, address = data.get("kind"), data.get("address")
        if kind and address:
            self._check(kind, address)
            if Destination.objects.filter(lab=self.lab_id, kind=kind, address=address).exists():
                self.add_error("address", f"{address} is a destination of this lab already.")
        return data

    def _check(self, kind: str, address: str) -> None:
        try:
            if kind == Kind.EMAIL:
                validate_email(address)
            else:
                check_literal(address, private=settings.WEBHOOK_PRIVATE)
        except (forms.ValidationError, RefusedAddressError) as error:
            said = f"found {address!r}, expected an e-mail address" if kind == Kind.EMAIL else str(error)
            self.add_error("address", said)
