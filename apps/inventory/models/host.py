"""Hosts."""

from django.db import models
from django.urls import reverse

from apps.inventory import vocabulary as words
from apps.inventory.models.part import Part


class Host(Part):
    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=120, blank=True)
    model = models.CharField(max_length=200, blank=True)
    serial = models.CharField(max_length=120, blank=True)
    fqdn = models.CharField(max_length=255, blank=True)
    cpu_model = models.CharField(max_length=200, blank=True)
    cpu_count = models.PositiveIntegerField(null=True, blank=True, help_text="logical CPUs")
    cpu_sockets = models.PositiveIntegerField(null=True, blank=True)
    cpu_cache_bytes = models.BigIntegerField(null=True, blank=True)
    ram_bytes = models.BigIntegerField(null=True, blank=True)
    ram_type = models.CharField(max_length=100, blank=True)
    board = models.CharField(max_length=200, blank=True)
    os = models.CharField(max_length=200, blank=True)
    kernel = models.CharField(max_length=200, blank=True)
    architecture = models.CharField(max_length=60, blank=True)
    environment = models.CharField(max_length=10, choices=words.Environment.choices, blank=True)
    hypervisor = models.CharField(max_length=100, blank=True)
    hypervisor_version = models.CharField(max_length=60, blank=True)
    sysctl = models.JSONField(default=dict, blank=True, help_text="kernel settings that matter to tests: name → value")
    role = models.CharField(max_length=200, blank=True)
    is_in_maintenance = models.BooleanField(default=False, help_text="new runs wait until it ends")
    maintenance_note = models.CharField(max_length=300, blank=True)

    reading_problem = ""  # of an inventory that arrived and could not be read just now; not a column

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="host_name_in_lab")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("host", args=[self.pk])
