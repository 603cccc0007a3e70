"""What an engineer types to put a comparison into a study."""

from typing import Any

from django import forms
from django.http import QueryDict

from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import QuestionError, parse
from apps.core.forms import SiteForm
from apps.labs.models import Lab
from apps.studies.models import Study


class CaptionForm(SiteForm):
    title = forms.CharField(max_length=200, label="Title")
    caption = forms.CharField(
        required=False, label="Caption", widget=forms.Textarea(attrs={"rows": 3}),
        help_text="what is to be seen in it; may be empty",
    )  # fmt: skip
    shows = forms.ChoiceField(choices=StudyComparison.Shows.choices, label="Shown as")

    def change(self, row: StudyComparison) -> StudyComparison:
        for name in ("title", "caption", "shows"):
            setattr(row, name, self.cleaned_data[name])
        row.save(update_fields=["title", "caption", "shows"])
        return row


class AddToStudyForm(CaptionForm):
    study: "forms.ModelChoiceField[Study]" = forms.ModelChoiceField(queryset=None, label="Study")
    query = forms.CharField(max_length=8000, widget=forms.HiddenInput)

    field_order = ("study", "title", "caption", "shows", "query")

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.fields["study"]
        assert isinstance(study, forms.ModelChoiceField)
        study.queryset = Study.objects.filter(lab=lab)

    def clean_query(self) -> str:
        """Return the canonical address of the question."""
        try:
            return parse(dict(QueryDict(self.cleaned_data["query"]).lists())).address
        except QuestionError as error:
            raise forms.ValidationError(str(error)) from None

    def put(self, actor: str) -> StudyComparison:
        words = self.cleaned_data
        study = words["study"]
        made: StudyComparison = StudyComparison.objects.create(
            **words, name=StudyComparison.free_name(study, words["title"]), created_by=actor,
            position=StudyComparison.objects.of_study(study).count(),
        )  # fmt: skip
        return made
