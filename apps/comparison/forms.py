"""What an engineer types to save a comparison, or to rename it."""

from typing import Any

from django import forms
from django.http import QueryDict

from apps.comparison.models import SavedComparison
from apps.comparison.question import QuestionError, parse
from apps.lib.forms import SiteForm


class NameForm(SiteForm):
    name = forms.CharField(max_length=SavedComparison._meta.get_field("name").max_length, label="Name")


class SaveForm(NameForm):
    query = forms.CharField(max_length=8000)

    def clean_query(self) -> str:
        """The canonical address of what is asked, with its units."""
        try:
            return parse(dict(QueryDict(self.cleaned_data["query"]).lists())).permalink
        except QuestionError as error:
            raise forms.ValidationError(str(error)) from None

    @property
    def problem(self) -> str:
        """The first thing that is wrong, in one sentence."""
        found: Any = next(iter(self.errors.items()), ("", [""]))
        return f"Not saved: {found[0]}: {found[1][0]}"
