"""Comparisons that were given a name: a question, kept under a short address."""

from typing import Self

from django.db import models
from django.http import QueryDict
from django.urls import reverse

from apps.comparison.saved_comparisons.question import SavedQuestion
from apps.core.units import BASES
from apps.labs.isolation import LabScoped


class SavedComparison(SavedQuestion, LabScoped):
    """The question is kept and not its answer, which is computed from the data as they are now."""

    name = models.CharField(max_length=200)
    query = models.TextField(help_text="the canonical address, without the question mark")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("saved-comparison", args=[self.pk])

    @property
    def address(self) -> str:
        """Return the address of the page; a comparison stored without units has the usual ones, not the reader's."""
        query = self.current_query
        suffix = "" if "base" in QueryDict(query) else f"&base={BASES[0]}"
        return f"{reverse('compare')}?{query}{suffix}"

    def renamed(self, name: str) -> Self:
        self.name = name
        self.save(update_fields=["name"])
        return self
