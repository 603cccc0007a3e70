"""How a host's disks hang together: controllers, disks, arrays of disks or of arrays, filesystems."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.inventory import vocabulary as words
from apps.inventory.models.host import Host
from apps.inventory.models.part import Part
from apps.inventory.slots.names import Slot
from apps.labs.isolation import ThroughParent


class Controller(Part):
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="controllers")
    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=120, blank=True)
    model = models.CharField(max_length=200, blank=True)
    model_behind = models.CharField(max_length=200, blank=True, help_text="the maker's model behind the sold name")
    kind = models.CharField(max_length=20, choices=words.ControllerKind.choices, blank=True)
    bus = models.CharField(max_length=120, blank=True)
    driver = models.CharField(max_length=120, blank=True)
    serial = models.CharField(max_length=120, blank=True)
    address = models.CharField(max_length=60, blank=True, help_text="PCI or other address on the host")
    cache_bytes = models.BigIntegerField(null=True, blank=True)
    cache_protection = models.CharField(max_length=20, choices=words.CacheProtection.choices, blank=True)
    protection_state = models.CharField(
        max_length=60, blank=True, help_text="what the battery or capacitor says of itself: charged, failed, missing …"
    )
    write_policy = models.CharField(max_length=60, blank=True)
    firmware = models.CharField(max_length=60, blank=True)
    ports = models.PositiveIntegerField(null=True, blank=True)
    lanes = models.PositiveIntegerField(null=True, blank=True)
    sits_on = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="cards_on_it")

    class Meta:
        ordering = ["host", "name"]
        constraints = [models.UniqueConstraint(fields=["host", "name"], name="controller_name_on_host")]

    def __str__(self) -> str:
        return self.name


class Disk(Part):
    """Known by serial or WWN; `device_name` is only what the kernel called it at the last look."""

    host = models.ForeignKey(Host, on_delete=models.SET_NULL, null=True, blank=True, related_name="disks")
    controller = models.ForeignKey(Controller, on_delete=models.SET_NULL, null=True, blank=True, related_name="disks")
    device_name = models.CharField(max_length=60, blank=True)
    vendor = models.CharField(max_length=120, blank=True)
    model = models.CharField(max_length=200, blank=True)
    serial = models.CharField(max_length=120, blank=True)
    wwn = models.CharField(max_length=120, blank=True)
    firmware = models.CharField(max_length=60, blank=True)
    interface = models.CharField(max_length=10, choices=words.Interface.choices, blank=True)
    generation = models.CharField(max_length=20, blank=True, help_text="U320, SATA-3G, SAS-6G, FC-2G, ATA-100 …")
    link_generation = models.CharField(
        max_length=20,
        blank=True,
        help_text="what its link runs at now, where that is not what the disk could do: SATA-3G",
    )
    rpm = models.PositiveIntegerField(null=True, blank=True)
    is_solid_state = models.BooleanField(null=True, blank=True)
    capacity_bytes = models.BigIntegerField(null=True, blank=True)
    logical_block_bytes = models.PositiveIntegerField(null=True, blank=True)
    cache_bytes = models.BigIntegerField(null=True, blank=True)
    media_bytes_per_second = models.BigIntegerField(null=True, blank=True, help_text="what the media itself can carry")
    channel = models.CharField(max_length=60, blank=True, help_text="the bus that it shares with others, by name")
    health = models.CharField(max_length=60, blank=True, help_text="its own assessment: passed, failed …")
    enclosure = models.CharField(max_length=120, blank=True)
    slot_controller = models.PositiveIntegerField(null=True, blank=True)
    slot_number = models.PositiveIntegerField(null=True, blank=True)
    is_present = models.BooleanField(default=True)

    class Meta:
        ordering = ["host", "device_name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "serial", "model"], condition=~Q(serial=""), name="disk_serial_in_lab"
            ),
        ]

    def __str__(self) -> str:
        """Return the device name, else the serial number, else the place, such as `c0 enclosure 252 d5`."""
        slot = None if self.slot_number is None else Slot(self.slot_controller, self.slot_number)
        place = f"{self.enclosure} {slot}".strip() if slot else ""
        return self.device_name or self.serial or place or f"disk {self.pk}"


class Array(Part):
    """A redundancy group of disks or of other arrays. The same device name may be another array in another round."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="arrays")
    controller = models.ForeignKey(Controller, on_delete=models.SET_NULL, null=True, blank=True, related_name="arrays")
    name = models.CharField(max_length=120)
    device_name = models.CharField(max_length=120, blank=True)
    round = models.CharField(max_length=60, blank=True)
    level = models.CharField(max_length=10, choices=words.RaidLevel.choices, blank=True)
    implementation = models.CharField(max_length=10, choices=words.RaidImplementation.choices, blank=True)
    software = models.CharField(max_length=60, blank=True, help_text="md, LVM, ZFS, raidtools …")
    software_version = models.CharField(max_length=60, blank=True)
    uuid = models.CharField(max_length=80, blank=True)
    chunk_size = models.BigIntegerField(null=True, blank=True)
    layout = models.CharField(max_length=60, blank=True)
    state = models.CharField(max_length=12, choices=words.ArrayState.choices, blank=True)
    write_policy = models.CharField(max_length=60, blank=True, help_text="write back, write through")
    read_policy = models.CharField(max_length=60, blank=True)
    capacity_bytes = models.BigIntegerField(null=True, blank=True)
    member_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="where members are not known one by one"
    )
    is_present = models.BooleanField(default=True)

    class Meta:
        ordering = ["host", "name"]
        constraints = [models.UniqueConstraint(fields=["host", "name", "round"], name="array_name_on_host_in_round")]

    def __str__(self) -> str:
        return self.name


class ArrayMember(ThroughParent):
    """One place in an array: a disk, or another array (RAID-50 is RAID-0 over two RAID-5)."""

    lab_path: ClassVar[str] = "array__lab_id"

    array = models.ForeignKey(Array, on_delete=models.CASCADE, related_name="members")
    position = models.PositiveIntegerField()
    disk = models.ForeignKey(Disk, on_delete=models.RESTRICT, null=True, blank=True, related_name="memberships")
    member_array = models.ForeignKey(
        Array, on_delete=models.RESTRICT, null=True, blank=True, related_name="memberships"
    )
    partition = models.CharField(max_length=60, blank=True, help_text="the partition used, where not the whole device")
    state = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["array", "position"]
        constraints = [
            models.CheckConstraint(
                condition=Q(disk__isnull=False, member_array__isnull=True)
                | Q(disk__isnull=True, member_array__isnull=False),
                name="member_is_a_disk_or_an_array",
            ),
            models.CheckConstraint(condition=~Q(array=models.F("member_array")), name="array_is_not_in_itself"),
            models.UniqueConstraint(fields=["array", "position"], name="one_member_per_position"),
        ]

    def __str__(self) -> str:
        return str(self.disk or self.member_array)


class Filesystem(Part):
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="filesystems")
    disk = models.ForeignKey(Disk, on_delete=models.SET_NULL, null=True, blank=True, related_name="filesystems")
    array = models.ForeignKey(Array, on_delete=models.SET_NULL, null=True, blank=True, related_name="filesystems")
    type = models.CharField(max_length=40, blank=True)
    device_name = models.CharField(max_length=255, blank=True, help_text="partition, volume or source it is on")
    uuid = models.CharField(max_length=80, blank=True)
    mount_point = models.CharField(max_length=500, blank=True)
    mount_options = models.TextField(blank=True)
    mkfs_options = models.TextField(blank=True)
    block_size = models.PositiveIntegerField(null=True, blank=True)
    stripe_unit = models.BigIntegerField(null=True, blank=True)
    stripe_width = models.BigIntegerField(null=True, blank=True)
    journal_mode = models.CharField(max_length=60, blank=True)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    used_bytes = models.BigIntegerField(null=True, blank=True)
    free_bytes = models.BigIntegerField(null=True, blank=True)
    is_present = models.BooleanField(default=True)

    class Meta:
        ordering = ["host", "mount_point"]
        constraints = [
            models.UniqueConstraint(
                fields=["host", "mount_point"],
                condition=Q(is_present=True) & ~Q(mount_point=""),
                name="one_filesystem_per_mount",
            )
        ]

    def __str__(self) -> str:
        return f"{self.type or 'filesystem'} on {self.mount_point or self.device_name or self.array or self.disk}"
