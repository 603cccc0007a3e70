"""The serializers that describe a host's topology; `apps/inventory/topology/tree.py` makes the answer."""

from typing import Any, ClassVar

from django.db import models
from rest_framework import serializers

from apps.inventory.editing.registry import BY_NAME
from apps.inventory.models import Host


def _make_field(field: Any) -> serializers.Field[Any, Any, Any, Any]:
    """Return the serializer field of a model's field; empty texts are null in a topology."""
    is_text = isinstance(field, models.CharField | models.TextField)
    if is_text:
        return serializers.CharField(allow_null=field.blank)
    if isinstance(field, models.BooleanField):
        return serializers.BooleanField(allow_null=field.null)
    return serializers.IntegerField(allow_null=field.null)


class PartShapeSerializer(serializers.Serializer[Any]):
    """A part with the fields that a topology has of its kind; a shape describes those itself of which it says more."""

    part_kind: ClassVar[str]

    id = serializers.IntegerField()
    absent = serializers.DictField(help_text="empty field → `not_printed` or `none`; the others are unknown")
    labels = serializers.DictField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        kind = BY_NAME[self.part_kind]
        fields = {spec.name: _make_field(kind.field(spec.name)) for spec in kind.specs if spec.in_topology}
        return fields | super().get_fields()


class TopologyDiskSerializer(PartShapeSerializer):
    part_kind = "disk"

    generation = serializers.CharField(allow_null=True, help_text="what the disk can: SATA-6G")
    link_generation = serializers.CharField(allow_null=True, help_text="what its link runs at, where it is known")


class TopologyDiskElsewhereSerializer(TopologyDiskSerializer):
    host_name = serializers.CharField(allow_null=True, help_text="the host that it was seen in last; null: in none")


class TopologyControllerSerializer(PartShapeSerializer):
    part_kind = "controller"

    sits_on = serializers.IntegerField(allow_null=True, help_text="the HBA of a zero-channel card")
    disks = TopologyDiskSerializer(many=True)


class TopologyMemberSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    disk = serializers.IntegerField(allow_null=True)
    array = serializers.IntegerField(allow_null=True)
    partition = serializers.CharField(allow_null=True)
    state = serializers.CharField(allow_null=True)


class TopologyArraySerializer(PartShapeSerializer):
    part_kind = "array"

    member_count = serializers.IntegerField(allow_null=True, help_text="where members are not known one by one")
    members = TopologyMemberSerializer(many=True)


class TopologyTargetSerializer(PartShapeSerializer):
    part_kind = "target"

    nic = serializers.IntegerField(allow_null=True, help_text="the interface that a network test goes out by")
    peer = serializers.IntegerField(allow_null=True, help_text="the host at the other end")


class TopologyFilesystemSerializer(PartShapeSerializer):
    part_kind = "filesystem"

    targets = TopologyTargetSerializer(many=True)


class TopologyEnclosureSerializer(PartShapeSerializer):
    part_kind = "enclosure"

    layout = serializers.ListField(
        child=serializers.DictField(), help_text="rows from top to bottom, `{label, slots}`; null is a gap"
    )
    boot_slots = serializers.ListField(child=serializers.CharField())


class TopologySectionSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField(allow_null=True)
    link = serializers.CharField(allow_null=True)
    count = serializers.IntegerField(help_text="links in all")
    standby_count = serializers.IntegerField(help_text="of these only for redundancy")
    bytes_per_second = serializers.IntegerField(allow_null=True, help_text="of the section, as printed")
    controller = serializers.IntegerField(allow_null=True, help_text="it ends here")


class TopologyPathSerializer(PartShapeSerializer):
    part_kind = "storagepath"

    array = serializers.IntegerField(allow_null=True, help_text="null: everything behind it")
    sections = TopologySectionSerializer(many=True)


class TopologyNicSerializer(PartShapeSerializer):
    part_kind = "nic"

    count = serializers.IntegerField(help_text="alike ones that the row stands for")


class TopologySwitchSerializer(PartShapeSerializer):
    part_kind = "switch"


class TopologyEndSerializer(serializers.Serializer[Any]):
    nic = serializers.IntegerField(allow_null=True)
    switch = serializers.IntegerField(allow_null=True)
    name = serializers.CharField()
    host = serializers.IntegerField(required=False, help_text="of a NIC, as the rest")
    host_name = serializers.CharField(required=False)
    bits_per_second = serializers.IntegerField(required=False, allow_null=True)
    mtu = serializers.IntegerField(required=False, allow_null=True)
    count = serializers.IntegerField(required=False)


class TopologyLinkSerializer(PartShapeSerializer):
    part_kind = "networklink"

    count = serializers.IntegerField(help_text="cables side by side")
    ends = TopologyEndSerializer(many=True, help_text="two")


class FindingPartSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="host, controller, disk, array, nic or switch")
    id = serializers.IntegerField()
    name = serializers.CharField()


class FindingSerializer(serializers.Serializer[Any]):
    rule = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField(help_text="why it matters")
    severity = serializers.CharField(help_text="serious, warning or note")
    arithmetic = serializers.CharField(help_text="what was found, in words and numbers")
    parts = FindingPartSerializer(many=True)


class HostFindingsSerializer(serializers.Serializer[Any]):
    host = serializers.IntegerField()
    findings = FindingSerializer(many=True, help_text="the most serious first")


HOST = tuple(spec.name for spec in BY_NAME["host"].specs if spec.in_topology)


class TopologySerializer(serializers.ModelSerializer[Host]):
    """Sizes in bytes, network rates in bits/s. What can lie on many things refers to them by id."""

    absent = serializers.DictField()
    labels = serializers.DictField()
    sysctl = serializers.DictField()
    controllers = TopologyControllerSerializer(many=True)
    disks = TopologyDiskSerializer(many=True, help_text="those on no controller that is known")
    disks_elsewhere = TopologyDiskElsewhereSerializer(
        many=True, help_text="members of arrays here that sit in another host or in none"
    )
    arrays = TopologyArraySerializer(many=True)
    filesystems = TopologyFilesystemSerializer(many=True)
    targets = TopologyTargetSerializer(many=True, help_text="those on no filesystem")
    enclosures = TopologyEnclosureSerializer(many=True)
    storage_paths = TopologyPathSerializer(many=True)
    nics = TopologyNicSerializer(many=True)
    switches = TopologySwitchSerializer(many=True, help_text="that the NICs reach")
    links = TopologyLinkSerializer(many=True, help_text="cables that the NICs reach, to the first NIC of another host")
    findings = FindingSerializer(many=True)

    class Meta:
        model = Host
        fields = (
            "id", *HOST, "absent", "labels", "controllers", "disks", "disks_elsewhere", "arrays", "filesystems", "targets",
            "enclosures", "storage_paths", "nics", "switches", "links", "findings",
        )  # fmt: skip
        read_only_fields = fields
        # Empty texts are null in a topology.
        extra_kwargs = {
            name: {"allow_null": True}
            for name in HOST
            if isinstance(BY_NAME["host"].field(name), models.CharField) and BY_NAME["host"].field(name).blank
        }
