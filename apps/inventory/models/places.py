"""Where disks sit."""

from django.db import models

from apps.inventory import vocabulary as words
from apps.inventory.models.host import Host
from apps.inventory.models.part import Part
from apps.inventory.models.storage import Disk


class Enclosure(Part):
    """A chassis or JBOD whose slots are drawn in their physical order.

    `layout` is `[{"label": "Ctrl 0", "slots": ["c0d3", "c0d2", null, …]}, …]` from top to bottom; null is a gap. A slot's name is
    `c<controller number>d<disk number>`; a disk of the host sits in it when its `enclosure` is this name and its slot_controller and slot_number
    are these (a slot without a controller number is `d7`). A slot that no disk names is empty.
    """

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="enclosures")
    name = models.CharField(max_length=120)
    vendor = models.CharField(max_length=120, blank=True)
    model = models.CharField(max_length=200, blank=True)
    serial = models.CharField(max_length=120, blank=True)
    kind = models.CharField(max_length=10, choices=words.EnclosureKind.choices, blank=True)
    layout = models.JSONField(default=list, blank=True)
    boot_slots = models.JSONField(default=list, blank=True)
    naming_rule = models.CharField(max_length=20, choices=words.NamingRule.choices, blank=True)
    disks_per_controller = models.PositiveIntegerField(null=True, blank=True)
    is_present = models.BooleanField(default=True)

    class Meta:
        ordering = ["host", "name"]
        constraints = [models.UniqueConstraint(fields=["host", "name"], name="enclosure_name_on_host")]

    def __str__(self) -> str:
        return self.name

    @property
    def slot_count(self) -> int:
        """Return the number of slots in the layout, gaps excluded; 0 where no layout was entered."""
        return sum(1 for row in self.layout for slot in row["slots"] if slot)

    def take_along(self, former: str) -> None:
        """Move the disks of the enclosure along to its new name; `former` is the old one.

        Disks refer to their enclosure by name.
        """
        if former and former != self.name:
            Disk.objects.filter(host=self.host_id, enclosure=former).update(enclosure=self.name)
