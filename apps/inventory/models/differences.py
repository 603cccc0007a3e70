"""Differences between discovery and a person: both values stay, the typed one counts until a person decides."""

from django.db import models

from apps.inventory import vocabulary as words
from apps.inventory.models.host import Host
from apps.labs.isolation import LabScoped


class Difference(LabScoped):
    """One field of one part: what was typed in, what the host's tools say. `part_kind` is the model's name in lower case."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="differences")
    part_kind = models.CharField(max_length=40)
    part_id = models.BigIntegerField()
    part_name = models.CharField(max_length=255)
    field = models.CharField(max_length=60)
    typed = models.JSONField(null=True)
    discovered = models.JSONField(null=True)
    decision = models.CharField(max_length=12, choices=words.Decision.choices, default=words.Decision.OPEN)
    decided_by = models.CharField(max_length=200, blank=True)
    first_seen_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["host", "part_kind", "part_id", "field"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "part_kind", "part_id", "field"], name="one_difference_per_field")
        ]

    def __str__(self) -> str:
        return f"{self.part_name}: {self.field}"
