"""What was true, as it was found: never edited."""

from typing import Any

from django.db import models
from django.urls import reverse

from apps.inventory.models.host import Host
from apps.labs.isolation import LabScoped


class Snapshot(LabScoped):
    """The frozen stack and host state of one run, known by the SHA-256 of its canonical JSON. Never changed."""

    sha256 = models.CharField(max_length=64)
    content = models.JSONField()
    facts = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "sha256"], name="snapshot_once_per_lab")]

    def __str__(self) -> str:
        return self.sha256[:12]

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk:
            raise TypeError("A snapshot is evidence and is never changed")
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("snapshot", args=[self.pk])


class ToolOutput(LabScoped):
    """What a tool printed on a host, verbatim; the inventory is read from the newest of each tool, and can be read again."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="tool_outputs")
    tool = models.CharField(max_length=60)
    argv = models.JSONField(default=list)
    exit_status = models.IntegerField(null=True)
    stdout = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64)
    received_at = models.DateTimeField(auto_now_add=True)
    problem = models.TextField(blank=True, help_text="why it could not be read")

    class Meta:
        ordering = ["host", "tool", "-id"]
        indexes = [models.Index(fields=["host", "tool", "-id"])]

    def __str__(self) -> str:
        return f"{self.tool} on {self.host}"
