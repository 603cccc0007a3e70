"""A comparison in a study. The question is kept and not its answer, which is computed from the data as they are now."""

from typing import Any, ClassVar, Self

from django.db import models
from django.urls import reverse
from django.utils.text import slugify

from apps.comparison.question import Question
from apps.comparison.saved_comparisons.question import SavedQuestion
from apps.core.text import find_free_name
from apps.labs.isolation import LabManager, LabQuerySet, ThroughParent
from apps.studies.models import Study


class StudyComparisonQuerySet(LabQuerySet["StudyComparison"]):
    def of_study(self, study: Study) -> Self:
        return self.filter(study=study)


class StudyComparison(SavedQuestion, ThroughParent):
    """One of a study's own tables and charts, with what its author says about it."""

    class Shows(models.TextChoices):
        BOTH = "both", "chart and table"
        CHART = "chart", "chart"
        TABLE = "table", "table"

    lab_path: ClassVar[str] = "study__lab_id"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="comparisons")
    name = models.SlugField(max_length=80, help_text="its address in the study; it stays when the title changes")
    title = models.CharField(max_length=200)
    caption = models.TextField(blank=True)
    shows = models.CharField(max_length=5, choices=Shows.choices, default=Shows.BOTH)
    query = models.TextField(help_text="the canonical address, without the question mark")
    position = models.PositiveIntegerField(default=0)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[Any] = LabManager.from_queryset(StudyComparisonQuerySet)()

    class Meta:
        ordering = ["study", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="comparison_name_in_study")]

    def __str__(self) -> str:
        return self.title

    @property
    def address(self) -> str:
        return f"{reverse('compare')}?{self.current_query}"

    def question_in(self, base: int) -> Question:
        """Return the question in the reader's units, because a study's page has one base."""
        return self.question.with_(base=base)

    @property
    def has_chart(self) -> bool:
        return self.shows != self.Shows.TABLE

    @property
    def has_table(self) -> bool:
        return self.shows != self.Shows.CHART

    @classmethod
    def free_name(cls, study: Study, title: str) -> str:
        """Return a free name such as `iops-by-host`, with a number where the study has that already."""
        taken = set(cls.objects.of_study(study).values_list("name", flat=True))
        return find_free_name(slugify(title)[:70] or "comparison", taken)
