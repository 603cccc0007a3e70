"""Claims of studies, and the history of their verdicts."""

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Count
from django.urls import reverse

from apps.comparison.claims.checked import definition_of
from apps.comparison.claims.form import KINDS, Definition
from apps.comparison.claims.outcomes import NOT_CHECKABLE, VERDICTS
from apps.labs.isolation import LabManager, LabQuerySet, ThroughParent
from apps.studies.models import Study

VERDICT_CHOICES = [(verdict, verdict) for verdict in VERDICTS]


class ClaimQuerySet(LabQuerySet["Claim"]):
    def of_study(self, study: Study) -> Self:
        return self.filter(study=study)

    def verdicts(self) -> dict[str, int]:
        """Verdict → how many, in the order of `VERDICTS`; those that occur."""
        found = dict(self.order_by().values_list("verdict").annotate(Count("id")))
        return {verdict: found[verdict] for verdict in VERDICTS if verdict in found}


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
    kind = models.CharField(max_length=20, choices=list(KINDS.items()))
    definition = models.JSONField(help_text="the typed form, see apps/comparison/claims/form.py")
    verdict = models.CharField(max_length=16, choices=VERDICT_CHOICES, default=NOT_CHECKABLE)
    computed = models.JSONField(default=dict, help_text="checks with their comparisons")
    sensitivity = models.JSONField(default=dict, help_text="other readings that would turn the verdict")
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
    def form(self) -> Definition:
        return definition_of(self.definition)

    @property
    def samples(self) -> list[int]:
        """Ids of the samples that the numbers are from."""
        checks = self.computed.get("checks", [])
        return list(dict.fromkeys(pk for check in checks for line in check["lines"] for pk in line["samples"]))

    @property
    def overturned_by(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.sensitivity.get("overturned_by", [])
        return found


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
