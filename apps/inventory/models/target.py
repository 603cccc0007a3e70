"""Where a test points."""

from django.db import models
from django.urls import reverse

from apps.inventory import vocabulary as words
from apps.inventory.models.host import Host
from apps.inventory.models.network import Nic
from apps.inventory.models.part import Part
from apps.inventory.models.storage import Array, Disk, Filesystem


class Target(Part):
    """Where a test points. Its stack is the chain of layers under it."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="targets")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=words.TargetKind.choices, default=words.TargetKind.DIRECTORY)
    path = models.CharField(max_length=500, blank=True)
    filesystem = models.ForeignKey(Filesystem, on_delete=models.SET_NULL, null=True, blank=True, related_name="targets")
    array = models.ForeignKey(Array, on_delete=models.SET_NULL, null=True, blank=True, related_name="targets")
    disk = models.ForeignKey(Disk, on_delete=models.SET_NULL, null=True, blank=True, related_name="targets")
    nic = models.ForeignKey(Nic, on_delete=models.SET_NULL, null=True, blank=True, related_name="targets")
    peer = models.ForeignKey(
        Host, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="a network test's other end"
    )
    is_agents_own = models.BooleanField(
        default=False, help_text="a directory that the host's agent offers; runs go only there"
    )
    lies_on = models.JSONField(
        default=dict,
        blank=True,
        help_text="the filesystem that makes it this target and no other, as its agent reports it: type, uuid, source, mount_point",
    )
    gone_at = models.DateTimeField(null=True, blank=True, help_text="since when it takes no runs any more")
    gone_reason = models.TextField(blank=True, default="", help_text="why it takes none, in one sentence")

    class Meta:
        ordering = ["host", "name"]
        constraints = [models.UniqueConstraint(fields=["host", "name"], name="target_name_on_host")]

    def __str__(self) -> str:
        return f"{self.host}: {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("target", args=[self.pk])
