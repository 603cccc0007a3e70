"""Claims of studies, and the history of their verdicts."""

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Count
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.comparison.claims.checks.definition import KINDS, ClaimDefinition
from apps.comparison.claims.checks.outcomes import NOT_CHECKABLE, VERDICTS
from apps.comparison.claims.checks.validation import definition_of
from apps.comparison.claims.matched.claimed_question import ClaimedQuestion, claimed_question_of
from apps.comparison.claims.matched.confounders import confounder_words
from apps.comparison.confounders import words_of
from apps.comparison.saved_comparisons.references import Known, claim_references, names_of_claims, with_current_names
from apps.labs.isolation import LabManager, LabQuerySet, ThroughParent
from apps.studies.models import Study

ABOUT_QUESTION = "question"
CLAIM_KINDS = {**KINDS, ABOUT_QUESTION: "Matched sets"}
VERDICT_CHOICES = [(verdict, verdict) for verdict in VERDICTS]


class ClaimQuerySet(LabQuerySet["Claim"]):
    def of_study(self, study: Study) -> Self:
        return self.filter(study=study)

    def about_questions(self) -> Self:
        """Return the claims that are bound to a question with everything else held equal."""
        return self.exclude(question={})

    def verdicts(self) -> dict[str, int]:
        """Return the number of claims for each verdict that occurs, in the order of `VERDICTS`."""
        counts = dict(self.order_by().values_list("verdict").annotate(Count("id")))
        return {verdict: counts[verdict] for verdict in VERDICTS if verdict in counts}


class Claim(ThroughParent):
    """A conclusion as a checkable statement. Its verdict is computed from the data, and never typed in."""

    lab_path: ClassVar[str] = "study__lab_id"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="claims")
    code = models.CharField(max_length=20)
    position = models.PositiveIntegerField(default=0)
    statement = models.TextField()
    language = models.CharField(max_length=5, default="en", help_text="of the statement")
    statement_english = models.TextField(blank=True)
    source_lines = models.CharField(max_length=80, blank=True, help_text="of the report")
    quote = models.TextField(blank=True)
    comment = models.TextField(blank=True)
    kind = models.CharField(max_length=20, choices=list(CLAIM_KINDS.items()))
    definition = models.JSONField(help_text="the typed form; without checks where the claim is about a question")
    question = models.JSONField(
        default=dict,
        blank=True,
        help_text="of a claim about a question: the factor, its two levels and how they differ",
    )
    refers_to = models.JSONField(
        default=dict,
        blank=True,
        help_text="whose names are in the definition, by id",
    )
    verdict = models.CharField(max_length=16, choices=VERDICT_CHOICES, default=NOT_CHECKABLE)
    computed = models.JSONField(default=dict, help_text="checks with their comparisons, or the answer to the question")
    sensitivity = models.JSONField(default=dict, help_text="other readings that would change the verdict")
    evidence = models.JSONField(default=dict, help_text="confounders and caveats of the samples, as Compare finds them")
    problem = models.TextField(blank=True, help_text="why it could not be evaluated, in one sentence")
    data_digest = models.CharField(max_length=64, blank=True)
    evaluated_at = models.DateTimeField(null=True)
    is_from_report = models.BooleanField(default=False, help_text="loaded with the study, not typed in")
    changed_by = models.CharField(max_length=200, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[Any] = LabManager.from_queryset(ClaimQuerySet)()

    class Meta:
        ordering = ["study", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "code"], name="claim_code_in_study")]

    def __str__(self) -> str:
        return f"{self.code}: {self.statement_english or self.statement}"

    def get_absolute_url(self) -> str:
        return reverse("claim", args=[self.pk])

    @property
    def form(self) -> ClaimDefinition:
        """Return the definition with current names.

        Raises:
            LostReferenceError: Something that it names was deleted.
        """
        return self.form_with(names_of_claims([self.refers_to]))

    def form_with(self, known: Known) -> ClaimDefinition:
        """Return the definition with names that were looked up for many claims together."""
        return definition_of(with_current_names(self.definition, self.refers_to, known))

    @property
    def is_about_question(self) -> bool:
        """Return whether it is bound to a question with everything else held equal, and has no checks."""
        return bool(self.question)

    @property
    def claimed(self) -> ClaimedQuestion:
        """Return what it says of its question, with current names.

        Raises:
            DefinitionError: A newer version knows one of its words no longer.
            LostReferenceError: Something that it names was deleted.
        """
        return self.claimed_with(names_of_claims([self.refers_to]))

    def claimed_with(self, known: Known) -> ClaimedQuestion:
        """Return what it says of its question, with names that were looked up for many claims together."""
        claimed = claimed_question_of(self.question)
        return claimed.renamed(with_current_names(claimed.named_things, self.refers_to, known))

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the claim and note the ids behind the names in its definition."""
        fields = kwargs.get("update_fields")
        if fields is None or {"definition", "question"} & {*fields}:
            named_things = claimed_question_of(self.question).named_things if self.question else {}
            self.refers_to = claim_references(self.study, [self.definition, named_things])
            kwargs |= {"update_fields": [*fields, "refers_to"]} if fields is not None else {}
        super().save(*args, **kwargs)

    @property
    def samples(self) -> list[int]:
        """Return the ids of the samples that the numbers are from."""
        checks = self.computed.get("checks", [])
        return list(dict.fromkeys(pk for check in checks for line in check["lines"] for pk in line["samples"]))

    @property
    def confounders(self) -> list[dict[str, Any]]:
        """Return what else differs between the samples that are compared."""
        entries: list[dict[str, Any]] = self.evidence.get("confounders", [])
        return entries

    @property
    def caveats(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.evidence.get("caveats", [])
        return entries

    @property
    def reservations(self) -> list[str]:
        """Return confounders and caveats in a few words each, in the reader's language, to stand beside the verdict."""
        if self.is_about_question:
            differs = [confounder_words(confounder) for confounder in self.confounders]
        else:
            differs = [
                words_of(confounder["fact"], confounder["kind"], confounder["distinct"])
                if "distinct" in confounder
                else confounder["text"]
                for confounder in self.confounders
            ]
        return [*differs, *(_(caveat["title"]) for caveat in self.caveats)]

    @property
    def overturned_by(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.sensitivity.get("overturned_by", [])
        return entries


class VerdictChange(ThroughParent):
    """One evaluation that found something new: another verdict, or other numbers. Rows are only ever added."""

    lab_path: ClassVar[str] = "claim__study__lab_id"

    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="history")
    at = models.DateTimeField(auto_now_add=True)
    before = models.CharField(max_length=16, blank=True, help_text="empty for the first one")
    after = models.CharField(max_length=16, choices=VERDICT_CHOICES)
    why = models.CharField(max_length=200)
    computed = models.JSONField()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.before or 'new'} → {self.after}"
