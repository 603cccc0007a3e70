"""Studies: a question, the configurations it compares, and their runs."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import MD5

from apps.inventory.models import Host, Target
from apps.labs.isolation import LabScoped, ThroughParent
from apps.runs.models import Run


class Study(LabScoped):
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=300)
    title_english = models.CharField(max_length=300, blank=True)
    question = models.TextField(blank=True, help_text="what the study asks")
    site = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=5, default="en")
    year = models.CharField(max_length=40, blank=True, help_text="as known: 2008, or 'not before 2004'")
    source = models.TextField(blank=True)
    notes = models.TextField(blank=True)

    class Meta:
        ordering = ["slug"]
        constraints = [models.UniqueConstraint(fields=["lab", "slug"], name="study_slug_in_lab")]

    def __str__(self) -> str:
        return self.title_english or self.title


class Wording(ThroughParent):
    """One of a study's own texts, or a phrase of them, in another language: what `wording.py` puts in its place."""

    lab_path: ClassVar[str] = "study__lab_id"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="wordings")
    language = models.CharField(max_length=5)
    text = models.TextField(help_text="as the study has it")
    said = models.TextField(help_text="the same in `language`")

    class Meta:
        ordering = ["study", "language", "pk"]
        constraints = [models.UniqueConstraint("study", "language", MD5("text"), name="wording_in_study")]

    def __str__(self) -> str:
        return self.said


class Configuration(ThroughParent):
    """One column of a study: a named way to put the disks together."""

    lab_path: ClassVar[str] = "study__lab_id"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="configurations")
    name = models.SlugField(max_length=80)
    label = models.CharField(max_length=200)
    position = models.PositiveIntegerField(default=0)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["study", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="configuration_in_study")]

    def __str__(self) -> str:
        return self.label


class StudyRun(ThroughParent):
    """A run's place in a study. Here and not on Run, so that runs know nothing of studies."""

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="study_run")
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="study_runs")

    def __str__(self) -> str:
        return f"{self.run} in {self.configuration}"


def study_of(run: Run) -> Any:
    """Return the study that a run belongs to, or None."""
    place = StudyRun.objects.filter(run=run).select_related("configuration__study").first()
    return place.configuration.study if place else None
