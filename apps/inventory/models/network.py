"""What carries data between hosts, and between a host and disks that are far from it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.inventory import vocabulary as words
from apps.inventory.models.host import Host
from apps.inventory.models.part import Part
from apps.inventory.models.storage import Array, Controller
from apps.labs.isolation import ThroughParent


class Nic(Part):
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="nics")
    name = models.CharField(max_length=60)
    vendor = models.CharField(max_length=120, blank=True)
    model = models.CharField(max_length=200, blank=True)
    driver = models.CharField(max_length=120, blank=True)
    firmware = models.CharField(max_length=120, blank=True)
    bus = models.CharField(max_length=120, blank=True)
    address = models.CharField(max_length=60, blank=True, help_text="PCI or other address on the host")
    mac = models.CharField(max_length=40, blank=True)
    bits_per_second = models.BigIntegerField(null=True, blank=True, help_text="link rate")
    mtu = models.PositiveIntegerField(null=True, blank=True)
    count = models.PositiveIntegerField(default=1, help_text="alike ones that this row stands for")
    is_present = models.BooleanField(default=True)

    class Meta:
        ordering = ["host", "name"]
        constraints = [models.UniqueConstraint(fields=["host", "name"], name="nic_name_on_host")]

    def __str__(self) -> str:
        return self.name


class Switch(Part):
    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=120, blank=True)
    model = models.CharField(max_length=200, blank=True)
    firmware = models.CharField(max_length=120, blank=True)
    ports = models.CharField(max_length=200, blank=True, help_text="48 × 1 Gb/s + 2 × 10 Gb/s")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="switch_name_in_lab")]
        verbose_name_plural = "switches"

    def __str__(self) -> str:
        return self.name


class NetworkLink(Part):
    """A cable: each end is a NIC or a switch."""

    nic = models.ForeignKey(Nic, on_delete=models.CASCADE, null=True, blank=True, related_name="links")
    switch = models.ForeignKey(Switch, on_delete=models.CASCADE, null=True, blank=True, related_name="links")
    far_nic = models.ForeignKey(Nic, on_delete=models.CASCADE, null=True, blank=True, related_name="links_from_afar")
    far_switch = models.ForeignKey(
        Switch, on_delete=models.CASCADE, null=True, blank=True, related_name="links_from_afar"
    )
    bits_per_second = models.BigIntegerField(null=True, blank=True)
    mtu = models.PositiveIntegerField(null=True, blank=True)
    count = models.PositiveIntegerField(default=1, help_text="cables side by side")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(nic__isnull=False, switch__isnull=True) | Q(nic__isnull=True, switch__isnull=False))
                & (
                    Q(far_nic__isnull=False, far_switch__isnull=True)
                    | Q(far_nic__isnull=True, far_switch__isnull=False)
                ),
                name="link_has_two_ends",
            ),
            models.CheckConstraint(
                condition=~Q(nic=models.F("far_nic")) & ~Q(switch=models.F("far_switch")), name="link_is_no_loop"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.nic or self.switch} – {self.far_nic or self.far_switch}"


class StoragePath(Part):
    """How a host reaches disks that are not its own: server – FC channels – controllers – JBODs, section by section."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="storage_paths")
    name = models.CharField(max_length=200)
    array = models.ForeignKey(
        Array, on_delete=models.SET_NULL, null=True, blank=True, related_name="paths", help_text="empty: all behind it"
    )

    class Meta:
        ordering = ["host", "name"]
        constraints = [models.UniqueConstraint(fields=["host", "name"], name="path_name_on_host")]

    def __str__(self) -> str:
        return self.name


class PathSection(ThroughParent):
    """One section of a path: so many links of a kind, of which some may only stand by."""

    lab_path: ClassVar[str] = "path__lab_id"

    path = models.ForeignKey(StoragePath, on_delete=models.CASCADE, related_name="sections")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200, help_text="server – T2000")
    kind = models.CharField(max_length=12, choices=words.SectionKind.choices, blank=True)
    link = models.CharField(max_length=60, blank=True, help_text="FC-2G, SAS-6G, 10 Gb/s, PCIe 3.0 x8 …")
    count = models.PositiveIntegerField(default=1, help_text="links in all")
    standby_count = models.PositiveIntegerField(default=0, help_text="of these only for redundancy")
    bytes_per_second = models.BigIntegerField(
        null=True, blank=True, help_text="theoretical, of the section, if printed"
    )
    controller = models.ForeignKey(
        Controller, on_delete=models.SET_NULL, null=True, blank=True, related_name="sections", help_text="it ends here"
    )

    class Meta:
        ordering = ["path", "position"]
        constraints = [
            models.UniqueConstraint(fields=["path", "position"], name="one_section_per_position"),
            models.CheckConstraint(condition=Q(standby_count__lt=models.F("count")), name="a_link_is_in_use"),
        ]

    def __str__(self) -> str:
        return self.name
