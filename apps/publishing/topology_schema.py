"""The shape of a host's topology for the OpenAPI description; `apps/inventory/topology.py` makes what is described here."""

from typing import Any

from rest_framework import serializers as s

from apps.inventory.models import Host


class PartShape(s.Serializer[Any]):
    id = s.IntegerField()
    absent = s.DictField(help_text="empty field → `not_printed` or `none`; the others are unknown")
    labels = s.DictField()


class TopologyDisk(PartShape):
    device_name = s.CharField(allow_null=True)
    vendor = s.CharField(allow_null=True)
    model = s.CharField(allow_null=True)
    serial = s.CharField(allow_null=True)
    wwn = s.CharField(allow_null=True)
    firmware = s.CharField(allow_null=True)
    interface = s.CharField(allow_null=True)
    generation = s.CharField(allow_null=True, help_text="what the disk can: SATA-6G")
    link_generation = s.CharField(allow_null=True, help_text="what its link runs at, where it is known")
    rpm = s.IntegerField(allow_null=True)
    is_solid_state = s.BooleanField(allow_null=True)
    capacity_bytes = s.IntegerField(allow_null=True)
    logical_block_bytes = s.IntegerField(allow_null=True)
    cache_bytes = s.IntegerField(allow_null=True)
    media_bytes_per_second = s.IntegerField(allow_null=True)
    channel = s.CharField(allow_null=True)
    health = s.CharField(allow_null=True)
    enclosure = s.CharField(allow_null=True)
    slot_controller = s.IntegerField(allow_null=True)
    slot_number = s.IntegerField(allow_null=True)
    is_present = s.BooleanField()


class TopologyDiskElsewhere(TopologyDisk):
    host_name = s.CharField(allow_null=True, help_text="the host that it was seen in last; null: in none")


class TopologyController(PartShape):
    name = s.CharField()
    vendor = s.CharField(allow_null=True)
    model = s.CharField(allow_null=True)
    model_behind = s.CharField(allow_null=True)
    kind = s.CharField(allow_null=True)
    bus = s.CharField(allow_null=True)
    driver = s.CharField(allow_null=True)
    serial = s.CharField(allow_null=True)
    address = s.CharField(allow_null=True)
    cache_bytes = s.IntegerField(allow_null=True)
    cache_protection = s.CharField(allow_null=True)
    protection_state = s.CharField(allow_null=True)
    write_policy = s.CharField(allow_null=True)
    firmware = s.CharField(allow_null=True)
    ports = s.IntegerField(allow_null=True)
    lanes = s.IntegerField(allow_null=True)
    sits_on = s.IntegerField(allow_null=True, help_text="the HBA of a zero-channel card")
    disks = TopologyDisk(many=True)


class TopologyMember(s.Serializer[Any]):
    position = s.IntegerField()
    disk = s.IntegerField(allow_null=True)
    array = s.IntegerField(allow_null=True)
    partition = s.CharField(allow_null=True)
    state = s.CharField(allow_null=True)


class TopologyArray(PartShape):
    name = s.CharField()
    device_name = s.CharField(allow_null=True)
    round = s.CharField(allow_null=True)
    level = s.CharField(allow_null=True)
    implementation = s.CharField(allow_null=True)
    software = s.CharField(allow_null=True)
    software_version = s.CharField(allow_null=True)
    uuid = s.CharField(allow_null=True)
    chunk_size = s.IntegerField(allow_null=True)
    layout = s.CharField(allow_null=True)
    state = s.CharField(allow_null=True)
    write_policy = s.CharField(allow_null=True)
    read_policy = s.CharField(allow_null=True)
    capacity_bytes = s.IntegerField(allow_null=True)
    member_count = s.IntegerField(allow_null=True, help_text="where members are not known one by one")
    controller = s.IntegerField(allow_null=True)
    is_present = s.BooleanField()
    members = TopologyMember(many=True)


class TopologyTarget(PartShape):
    name = s.CharField()
    kind = s.CharField()
    path = s.CharField(allow_null=True)
    array = s.IntegerField(allow_null=True)
    disk = s.IntegerField(allow_null=True)
    nic = s.IntegerField(allow_null=True, help_text="the interface that a network test goes out by")
    peer = s.IntegerField(allow_null=True, help_text="the host at the other end")
    is_agents_own = s.BooleanField()


class TopologyFilesystem(PartShape):
    type = s.CharField()
    device_name = s.CharField(allow_null=True)
    uuid = s.CharField(allow_null=True)
    mount_point = s.CharField(allow_null=True)
    mount_options = s.CharField(allow_null=True)
    mkfs_options = s.CharField(allow_null=True)
    block_size = s.IntegerField(allow_null=True)
    stripe_unit = s.IntegerField(allow_null=True)
    stripe_width = s.IntegerField(allow_null=True)
    journal_mode = s.CharField(allow_null=True)
    size_bytes = s.IntegerField(allow_null=True)
    used_bytes = s.IntegerField(allow_null=True)
    free_bytes = s.IntegerField(allow_null=True)
    disk = s.IntegerField(allow_null=True)
    array = s.IntegerField(allow_null=True)
    is_present = s.BooleanField()
    targets = TopologyTarget(many=True)


class TopologyEnclosure(PartShape):
    name = s.CharField()
    kind = s.CharField(allow_null=True)
    vendor = s.CharField(allow_null=True)
    model = s.CharField(allow_null=True)
    serial = s.CharField(allow_null=True)
    layout = s.ListField(child=s.DictField(), help_text="rows from top to bottom, `{label, slots}`; null is a gap")
    boot_slots = s.ListField(child=s.CharField())
    is_present = s.BooleanField()


class TopologySection(s.Serializer[Any]):
    position = s.IntegerField()
    name = s.CharField()
    kind = s.CharField(allow_null=True)
    link = s.CharField(allow_null=True)
    count = s.IntegerField(help_text="links in all")
    standby_count = s.IntegerField(help_text="of these only for redundancy")
    bytes_per_second = s.IntegerField(allow_null=True, help_text="of the section, as printed")
    controller = s.IntegerField(allow_null=True, help_text="it ends here")


class TopologyPath(PartShape):
    name = s.CharField()
    array = s.IntegerField(allow_null=True, help_text="null: everything behind it")
    sections = TopologySection(many=True)


class TopologyNic(PartShape):
    name = s.CharField()
    vendor = s.CharField(allow_null=True)
    model = s.CharField(allow_null=True)
    driver = s.CharField(allow_null=True)
    firmware = s.CharField(allow_null=True)
    bus = s.CharField(allow_null=True)
    address = s.CharField(allow_null=True)
    mac = s.CharField(allow_null=True)
    bits_per_second = s.IntegerField(allow_null=True)
    mtu = s.IntegerField(allow_null=True)
    count = s.IntegerField(help_text="alike ones that the row stands for")
    is_present = s.BooleanField()


class TopologySwitch(PartShape):
    name = s.CharField()
    vendor = s.CharField(allow_null=True)
    model = s.CharField(allow_null=True)
    firmware = s.CharField(allow_null=True)
    ports = s.CharField(allow_null=True)


class TopologyEnd(s.Serializer[Any]):
    nic = s.IntegerField(allow_null=True)
    switch = s.IntegerField(allow_null=True)
    name = s.CharField()
    host = s.IntegerField(required=False, help_text="of a NIC, as the rest")
    host_name = s.CharField(required=False)
    bits_per_second = s.IntegerField(required=False, allow_null=True)
    mtu = s.IntegerField(required=False, allow_null=True)
    count = s.IntegerField(required=False)


class TopologyLink(PartShape):
    bits_per_second = s.IntegerField(allow_null=True)
    mtu = s.IntegerField(allow_null=True)
    count = s.IntegerField(help_text="cables side by side")
    ends = TopologyEnd(many=True, help_text="two")


class FindingPart(s.Serializer[Any]):
    kind = s.CharField(help_text="host, controller, disk, array, nic or switch")
    id = s.IntegerField()
    name = s.CharField()


class Finding(s.Serializer[Any]):
    rule = s.CharField()
    title = s.CharField()
    text = s.CharField(help_text="why it matters")
    severity = s.CharField(help_text="serious, warning or note")
    arithmetic = s.CharField(help_text="what was found, in words and numbers")
    parts = FindingPart(many=True)


class HostFindings(s.Serializer[Any]):
    host = s.IntegerField()
    findings = Finding(many=True, help_text="the most serious first")


class Topology(s.ModelSerializer[Host]):
    """Sizes in bytes, network rates in bits/s. What can lie on many things refers to them by id."""

    absent = s.DictField()
    labels = s.DictField()
    sysctl = s.DictField()
    controllers = TopologyController(many=True)
    disks = TopologyDisk(many=True, help_text="those on no controller that is known")
    disks_elsewhere = TopologyDiskElsewhere(
        many=True, help_text="members of arrays here that sit in another host or in none"
    )
    arrays = TopologyArray(many=True)
    filesystems = TopologyFilesystem(many=True)
    targets = TopologyTarget(many=True, help_text="those on no filesystem")
    enclosures = TopologyEnclosure(many=True)
    storage_paths = TopologyPath(many=True)
    nics = TopologyNic(many=True)
    switches = TopologySwitch(many=True, help_text="that the NICs reach")
    links = TopologyLink(many=True, help_text="cables that the NICs reach, to the first NIC of another host")
    findings = Finding(many=True)

    class Meta:
        model = Host
        fields = (
            "id", "name", "fqdn", "cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes", "ram_type",
            "board", "os", "kernel", "architecture", "environment", "hypervisor", "hypervisor_version", "role",
            "vendor", "model", "serial", "sysctl", "absent", "labels", "controllers", "disks", "disks_elsewhere",
            "arrays", "filesystems", "targets", "enclosures", "storage_paths", "nics", "switches", "links", "findings",
        )  # fmt: skip
        read_only_fields = fields
