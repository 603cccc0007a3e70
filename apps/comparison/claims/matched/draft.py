"""The draft of a claim about a question: from an address or a claim as it is, or from what was posted."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from django.http import QueryDict
from django.utils.translation import get_language

from apps.comparison.claims.checks.definition import DefinitionError
from apps.comparison.claims.draft import next_code, store_claim
from apps.comparison.claims.matched.claimed_question import ClaimedQuestion, claimed_question_of
from apps.comparison.claims.matched.evaluation import evaluate_question
from apps.comparison.claims.matched.forms import QuestionClaimForm
from apps.comparison.claims.matched.presentation import MatchedClaim
from apps.comparison.claims.matched.sentences import statement_of
from apps.comparison.claims.models import ABOUT_QUESTION, Claim
from apps.labs.models import Lab
from apps.studies.models import Study

WORDS = ("code", "statement", "language", "statement_english", "comment")
OF_QUESTION = ("level", "against", "direction", "size")


@dataclass
class QuestionDraft:
    """A claim that is written or edited. `levels` are those that runs have, with their number."""

    lab: Lab
    first: ClaimedQuestion
    levels: Mapping[str, int]
    claim: Claim | None = None
    posted: QueryDict | None = None

    @cached_property
    def form(self) -> QuestionClaimForm:
        levels = {
            **self.levels,
            **{level: 0 for level in (self.first.level, self.first.against) if level not in self.levels},
        }
        return QuestionClaimForm(self.lab, self.claim, self.first.rules, levels, self.posted, initial=self._initial())

    def _initial(self) -> dict[str, Any]:
        asked = {name: getattr(self.first, name) for name in OF_QUESTION}
        if self.claim:
            return {**asked, **{name: getattr(self.claim, name) for name in WORDS}, "study": self.claim.study_id}
        own = Study.objects.filter(lab=self.lab)
        study = own.filter(slug=self.first.study).first() or own.order_by("-pk").first()
        return {
            **asked, "study": study and study.pk, "code": next_code(study) if study else "C01",
            "language": get_language() or "en", "statement": statement_of(self.first),
        }  # fmt: skip

    @property
    def has_study(self) -> bool:
        """Return whether there is a study that the claim can belong to."""
        fields: Any = self.form.fields
        return bool(fields["study"].queryset.exists())

    @cached_property
    def claimed(self) -> ClaimedQuestion | None:
        """Return what is claimed as it stands in the form; None where it does not fit."""
        if self.posted is None:
            return self.first
        if not {"level", "against", "direction"} <= self._cleaned.keys() or "size" in self.form.errors:
            return None
        changed = {name: self._cleaned[name] for name in OF_QUESTION}
        try:
            return claimed_question_of(msgspec.structs.replace(self.first, **changed).data)
        except DefinitionError as error:
            field = error.field if error.field in self.form.fields else None
            self.form.add_error(field, f"Found {error.found!r}, expected {error.expected}.")
            return None

    @property
    def _cleaned(self) -> dict[str, Any]:
        self.form.is_valid()
        return dict(self.form.cleaned_data)

    @cached_property
    def preview(self) -> MatchedClaim | None:
        """Return the answer and the verdict that the claim would have now."""
        if self.claimed is None:
            return None
        found = evaluate_question(self.claimed, self.lab.pk)
        return MatchedClaim(self.claimed, found.computed, found.evidence, found.verdict)

    def save(self, actor: str) -> Claim | None:
        """Save and evaluate the claim; return None where something does not fit."""
        claimed = self.claimed
        if claimed is None or not self.form.is_valid():
            return None
        cleaned = self.form.cleaned_data
        claim = self.claim or Claim(study=cleaned["study"], position=Claim.objects.of_study(cleaned["study"]).count())
        claim.kind, claim.definition, claim.question = ABOUT_QUESTION, {"checks": []}, claimed.data
        claim.changed_by = actor
        for name in WORDS:
            setattr(claim, name, cleaned[name])
        return store_claim(claim, self.form)
