"""The form of a claim about a question: its words, the two levels, which way they differ and by how much."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.comparison.claims.forms import LANGUAGES
from apps.comparison.claims.matched.sentences import DIRECTION_WORDS, usual_margin_text
from apps.comparison.claims.models import Claim
from apps.comparison.questions.factor import Factor
from apps.core.forms import SiteForm
from apps.labs.models import Lab
from apps.studies.models import Study


class QuestionClaimForm(SiteForm):
    """`levels` are those that runs have, with the claim's own."""

    study: Any = forms.ModelChoiceField(queryset=None, label=_("Study"), empty_label=None)
    code = forms.CharField(max_length=20, label=_("Code"), help_text=_("short, once in the study: C04"))
    level = forms.ChoiceField(label=_("Level"))
    direction = forms.ChoiceField(label=_("Its value"), choices=list(DIRECTION_WORDS.items()))
    against = forms.ChoiceField(label=_("Against"))
    size = forms.FloatField(required=False, label=_("By how much"))
    statement = forms.CharField(label=_("Statement"), widget=forms.Textarea(attrs={"rows": 2}))
    language = forms.ChoiceField(choices=LANGUAGES, label=_("Its language"))
    statement_english = forms.CharField(
        required=False, label=_("In English, where it is not"), widget=forms.Textarea(attrs={"rows": 2})
    )
    comment = forms.CharField(required=False, label=_("Remark"), widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(
        self, lab: Lab, claim: Claim | None, factor: Factor, levels: Mapping[str, int], *args: Any, **kwargs: Any
    ):
        super().__init__(*args, **kwargs)
        self.claim = claim
        fields: Any = self.fields
        fields["study"].queryset = Study.objects.filter(pk=claim.study_id) if claim else Study.objects.filter(lab=lab)
        for name in ("level", "against"):
            fields[name].choices = [(level, factor.level_name(level)) for level in levels]
        fields["size"].help_text = _(
            "higher, lower: the ratio at least or at most, such as 1.2; else how far from equal, such as 0.05 "
            "(%(usual)s where empty)"
        ) % {"usual": usual_margin_text()}

    def clean(self) -> dict[str, Any]:
        """Refuse a code that another claim of the study has."""
        cleaned: dict[str, Any] = super().clean() or {}
        study, code = cleaned.get("study"), str(cleaned.get("code", "")).strip()
        if study and code:
            cleaned["code"] = code
            others = Claim.objects.of_study(study).exclude(pk=self.claim.pk if self.claim else None)
            if others.filter(code=code).exists():
                message = _("%(code)s is another claim of this study; give this one a code of its own.")
                self.add_error("code", ValidationError(message % {"code": code}))
        return cleaned
