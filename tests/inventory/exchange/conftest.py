"""A lab with one of everything."""

import pytest

from apps.inventory.models import (
    Array,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    NetworkLink,
    Nic,
    PathSection,
    StoragePath,
    Switch,
    Target,
)
from apps.labs.models import Lab
from tests.dashboard import world


@pytest.fixture
def full(lab: Lab) -> Lab:
    """Two hosts with one of everything between them."""
    host, other = world.raid_host(lab, "storage1"), world.raid_host(lab, "a/b #2")
    card = host.controllers.first()
    Controller.objects.create(lab=lab, host=host, name="zero", kind="zero-channel", sits_on=card)
    Disk.objects.filter(host=host, device_name="sda").update(
        enclosure="front", slot_controller=0, slot_number=3, labels={"bought": "2024", "n": 3}, notes="=1+1\nsecond line",
        absent={"wwn": "not_printed"}, sources={"model": "typed", "serial": "discovered", "rpm": "inferred"},
    )  # fmt: skip
    for _ in range(2):
        Disk.objects.create(lab=lab, host=host, vendor="Maxtor", model="kind of disk", is_present=False)
    Enclosure.objects.create(
        lab=lab, host=host, name="front", layout=[{"label": "Ctrl 0", "slots": ["c0d3", None]}], boot_slots=["c0d3"]
    )
    nics = [Nic.objects.create(lab=lab, host=one, name="eth0", bits_per_second=10**10) for one in (host, other)]
    switch = Switch.objects.create(lab=lab, name="@switch")
    for nic in nics:
        NetworkLink.objects.create(lab=lab, nic=nic, far_switch=switch, mtu=9000)
    NetworkLink.objects.create(lab=lab, nic=nics[0], far_nic=nics[1])
    path = StoragePath.objects.create(lab=lab, host=host, name="san", array=host.arrays.first())
    PathSection.objects.create(
        path=path, position=1, name="server – switch", kind="fc", count=4, standby_count=2, controller=card
    )
    Array.objects.create(lab=lab, host=host, name="md10", round="2", level="1")
    Filesystem.objects.create(lab=lab, host=host, type="ext4", mount_point="/srv/data", is_present=False)
    Target.objects.create(lab=lab, host=host, name="net", kind="network", nic=nics[0], peer=other)
    return lab
