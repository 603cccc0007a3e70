"""Comparisons that were given a name: a question, kept under a short address."""

from typing import Self

from django.db import models
from django.http import QueryDict
from django.urls import reverse

from apps.labs.isolation import LabScoped
from apps.lib.units import BASES


class SavedComparison(LabScoped):
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
        """The page; kept without units, before they always were, it is in the usual ones and not in the reader's."""
        told = "" if "base" in QueryDict(self.query) else f"&base={BASES[0]}"
        return f"{reverse('compare')}?{self.query}{told}"

    def renamed(self, name: str) -> Self:
        self.name = name
        self.save(update_fields=["name"])
        return self


from apps.comparison.claiming.models import Claim, VerdictChange  # noqa: E402, F401
from apps.comparison.in_studies.models import StudyComparison  # noqa: E402, F401
from apps.comparison.trends.destinations import Delivery, Destination, Recipient  # noqa: E402, F401
from apps.comparison.trends.models import ChangePoint, TrendMark, Watch  # noqa: E402, F401  (Django finds models here)
