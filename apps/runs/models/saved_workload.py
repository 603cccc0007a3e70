"""Workloads that a lab keeps under a name, to start them or to plan with them again."""

from typing import Any

from django.db import models

from apps.labs.isolation import LabScoped
from apps.runs.models.run import Workload


class SavedWorkload(LabScoped):
    """A name for a workload. Runs that were started from it keep the workload itself, whatever becomes of the name."""

    name = models.CharField(max_length=80)
    workload = models.ForeignKey(Workload, on_delete=models.RESTRICT, related_name="saved")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="saved_workload_name_in_lab")]

    def __str__(self) -> str:
        return self.name

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return self.workload.jobs

    @property
    def summary(self) -> str:
        """Return what its jobs do, shortly: `randread 4096, write 1048576`."""
        return ", ".join(f"{job['rw']} {job['ioengine']}" for job in self.jobs)
