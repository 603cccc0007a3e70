"""The stack under a target, whatever its depth, and a host's whole tree."""

import json
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, ArrayMember, Disk, Host, Target
from apps.inventory.topology.stack import ArrayLayer, DiskLayer, Stack, StackError, stack_of
from apps.inventory.topology.tree import topology
from apps.labs.models import Lab
from tests.inventory import hosts

pytestmark = pytest.mark.services


@pytest.fixture
def host(lab: Lab) -> Host:
    return hosts.host(lab)


def drawn(stack: Stack) -> list[str]:
    """Each layer on its line, indented by its depth."""
    lines: list[str] = []

    def draw(layer: ArrayLayer | DiskLayer, depth: int) -> None:
        if isinstance(layer, DiskLayer):
            lines.append("  " * depth + f"{layer.disk} on {layer.controller}")
            return
        lines.append("  " * depth + f"{layer.array} RAID {layer.array.level}")
        for place in layer.places:
            draw(place.layer, depth + 1)

    if stack.storage:
        draw(stack.storage, 0)
    return lines


def test_raid_50_is_two_levels_of_arrays_down_to_disks_and_controller(host: Host) -> None:
    receive(host, hosts.raid50())
    stack = stack_of(Target.objects.get())
    assert stack.filesystem
    assert (stack.filesystem.mount_point, stack.host) == ("/data", host)
    assert drawn(stack) == [
        "md2 RAID 0",
        "  md0 RAID 5", *(f"    sd{x} on sas host 0" for x in "abc"),
        "  md1 RAID 5", *(f"    sd{x} on sas host 0" for x in "defg"),
    ]  # fmt: skip
    assert [array.name for array in stack.arrays] == ["md2", "md0", "md1"]
    assert (len(stack.disks), [c.name for c in stack.controllers]) == (7, ["sas host 0"])


def test_a_disk_without_an_array_is_the_whole_stack(host: Host) -> None:
    receive(host, hosts.guest())
    assert drawn(stack_of(Target.objects.get())) == ["vda on virtio"]


def test_a_raw_device_and_a_network_peer_have_stacks_too(host: Host) -> None:
    disk = Disk.objects.create(lab=host.lab, host=host, device_name="sdz")
    raw = Target.objects.create(lab=host.lab, host=host, name="raw", kind="device", path="/dev/sdz", disk=disk)
    peer = Target.objects.create(lab=host.lab, host=host, name="peer", kind="network")
    assert drawn(stack_of(raw)) == ["sdz on None"]
    assert stack_of(peer).storage is None


def chain(host: Host, depth: int) -> list[Array]:
    arrays = [
        Array.objects.create(lab=host.lab, host=host, name=f"a{n}", level="single", implementation="software")
        for n in range(depth)
    ]
    for above, below in pairwise(arrays):
        ArrayMember.objects.create(array=above, position=0, member_array=below)
    return arrays


def test_queries_grow_with_depth_only(host: Host) -> None:
    receive(host, hosts.raid50())
    target = Target.objects.get()
    with CaptureQueriesContext(connection) as captured:
        stack_of(target)
    assert len(captured) == 3  # the target, and one for each level of arrays


def test_arrays_that_lie_on_themselves_are_refused_with_the_circle(host: Host) -> None:
    arrays = chain(host, 3)
    ArrayMember.objects.create(array=arrays[2], position=0, member_array=arrays[1])
    target = Target.objects.create(lab=host.lab, host=host, name="t", array=arrays[0], kind="device")
    with pytest.raises(StackError, match="a1 → a2 → a1, expected disks at the bottom"):
        stack_of(target)


def test_depth_and_spread_are_bounded(host: Host) -> None:
    deep = Target.objects.create(lab=host.lab, host=host, name="deep", array=chain(host, 40)[0], kind="device")
    with pytest.raises(StackError, match="more than 32 arrays deep"):
        stack_of(deep)
    ArrayMember.objects.all().delete()
    arrays = list(Array.objects.order_by("id")[:20])
    for above, below in pairwise(arrays):
        for position in range(3):  # 3 to the power of 19 places, in 57 rows
            ArrayMember.objects.create(array=above, position=position, member_array=below)
    with pytest.raises(StackError, match="members in all, expected at most"):
        stack_of(Target.objects.create(lab=host.lab, host=host, name="wide", array=arrays[0], kind="device"))


def test_topology_is_one_json_with_every_part_of_the_host(host: Host) -> None:
    receive(host, hosts.raid50())
    tree = json.loads(json.dumps(topology(host)))
    controllers = {one["name"]: [disk["device_name"] for disk in one["disks"]] for one in tree["controllers"]}
    assert controllers == {"sas host 0": [f"sd{x}" for x in "abcdefg"], "nvme0": ["nvme0n1"]}
    arrays = {one["name"]: one for one in tree["arrays"]}
    assert [m["array"] for m in arrays["md2"]["members"]] == [arrays["md0"]["id"], arrays["md1"]["id"]]
    assert arrays["md1"]["members"][3]["state"] == "spare"
    filesystems = {one["mount_point"]: one for one in tree["filesystems"]}
    assert filesystems["/data"]["array"] == arrays["md2"]["id"]
    assert [target["path"] for target in filesystems["/data"]["targets"]] == ["/data/spindle"]
    assert (tree["name"], tree["hypervisor"], tree["absent"]["hypervisor"]) == ("node7", None, "none")


def test_topology_takes_a_fixed_number_of_queries(host: Host) -> None:
    receive(host, hosts.raid50())
    with CaptureQueriesContext(connection) as captured:
        topology(host)
    assert len(captured) <= 13


def test_disks_without_a_controller_and_targets_without_a_filesystem_stand_by_themselves(host: Host) -> None:
    Disk.objects.create(lab=host.lab, host=host, device_name="sdz")
    Target.objects.create(lab=host.lab, host=host, name="peer", kind="network")
    tree = topology(host)
    assert [disk["device_name"] for disk in tree["disks"]] == ["sdz"]
    assert [target["name"] for target in tree["targets"]] == ["peer"]
