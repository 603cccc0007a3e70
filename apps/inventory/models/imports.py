"""Uploaded inventory files, from preview to result."""

import zlib
from typing import Any

from django.db import models
from django.urls import reverse

from apps.labs.isolation import LabScoped


class InventoryImport(LabScoped):
    """A file as it came, so that it can be looked at before it is applied; and who applied it, with how many rows of each fate."""

    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40, blank=True, help_text="of a CSV file whose name does not say it")
    packed = models.BinaryField(help_text="zlib of the file")
    size = models.PositiveIntegerField(help_text="bytes")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    applied_by = models.CharField(max_length=200, blank=True)
    applied_at = models.DateTimeField(null=True)
    counts = models.JSONField(default=dict, help_text="created, changed, unchanged, refused; when it was applied")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("inventory-import", args=[self.pk])

    @property
    def content(self) -> bytes:
        return zlib.decompress(bytes(self.packed))

    @classmethod
    def of(cls, content: bytes, **fields: Any) -> "InventoryImport":
        return cls(packed=zlib.compress(content, 6), size=len(content), **fields)
