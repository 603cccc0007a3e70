"""What all inventory has in common."""

from django.db import models

from apps.inventory import vocabulary as words
from apps.labs.isolation import LabScoped


class Part(LabScoped):
    """Common to all inventory: notes, labels, and for each field why it is empty and where its value comes from."""

    labels = models.JSONField(default=dict, blank=True)
    notes = models.TextField(blank=True)
    absent = models.JSONField(default=dict, blank=True, help_text="field → not_printed | unknown | none")
    sources = models.JSONField(default=dict, blank=True, help_text="field → discovered | typed | inferred")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    def why_empty(self, field: str) -> str:
        """Return why a field is empty: `not reported`, `unknown` or `none`; unknown where nothing is recorded."""
        return words.Absence(self.absent.get(field, "unknown")).label
