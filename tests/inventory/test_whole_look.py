"""Several tools about one host: what each adds to the others, and this machine as the agent itself sees it."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, Controller, Disk, Filesystem, Host, Nic, ToolOutput
from apps.labs.models import Lab
from tests.inventory import discovery_seeds as seeds
from tests.inventory import hosts
from tests.inventory.hosts import device, dm, findmnt, lsblk, machine, mount, output, part, sas
from worker.agent import inventory
from worker.agent.conf import Conf, defaults

pytestmark = pytest.mark.django_db


@pytest.fixture
def host(lab: Lab) -> Host:
    return hosts.host(lab)


def sata(letter: str, *children: Any, port: int = 0) -> Any:
    return device(
        f"sd{letter}", *children, tran="sata", hctl=f"{port}:0:0:0", vendor="ATA", model="WDC WD140EDFZ", serial=f"9RK{letter}0001",
        size=14000519643136, rota=True,
    )  # fmt: skip


def smart(name: str, serial: str, **more: Any) -> dict[str, Any]:
    return {
        "smartctl": {"version": [7, 3], "exit_status": 0}, "device": {"name": f"/dev/{name}", "type": "sat", "protocol": "ATA"},
        "model_name": "WDC WD140EDFZ-11A0VA0", "serial_number": serial, "firmware_version": "81.00A81", "rotation_rate": 5400,
        "user_capacity": {"bytes": 14000519643136}, "sata_version": {"string": "SATA 3.2"},
        "interface_speed": {"max": {"string": "6.0 Gb/s"}, "current": {"string": "3.0 Gb/s"}}, "smart_status": {"passed": True}, **more,
    }  # fmt: skip


def test_smartctl_adds_what_a_disk_is_by_its_serial_whatever_its_name(host: Host) -> None:
    """The kernel named the disks anew between the two looks."""
    told = "".join(
        f"$ smartctl -j -i -H\n{json.dumps(one, indent=1)}\n"
        for one in (smart("sdb", "9RKa0001"), smart("sda", "9RKb0001", rotation_rate=7200))
    )
    receive(host, [output("lsblk", lsblk(sata("a"), sata("b", port=1))), output("smartctl", told)])
    assert [(d.device_name, d.rpm, d.generation, d.link_generation, d.firmware, d.health) for d in Disk.objects.all()] == [
        ("sda", 5400, "SATA-6G", "SATA-3G", "81.00A81", "passed"), ("sdb", 7200, "SATA-6G", "SATA-3G", "81.00A81", "passed"),
    ]  # fmt: skip


def test_ports_of_one_ahci_card_become_one_controller_once_its_address_is_known(host: Host) -> None:
    disks = lsblk(sata("a"), sata("b", port=1))
    receive(host, [output("lsblk", disks)])
    assert sorted(Controller.objects.values_list("name", flat=True)) == ["sata host 0", "sata host 1"]
    kept = Disk.objects.get(device_name="sda").controller_id
    paths = {f"sd{x}": f"pci0000:00/0000:00:1f.2/ata{n}/host{n}/target/block/sd{x}" for n, x in enumerate("ab")}
    cards = "Slot:\t0000:00:1f.2\nClass:\tSATA controller [0106]\nVendor:\tIntel Corporation [8086]\nDevice:\tC610 AHCI [8d62]\nDriver:\tahci\n"
    receive(host, [output("sysfs", json.dumps({"block": paths})), output("lspci", cards)])
    [card] = Controller.objects.all()
    assert (card.pk, card.name, card.address, card.driver) == (kept, "C610 AHCI (0000:00:1f.2)", "0000:00:1f.2", "ahci")
    assert set(Disk.objects.values_list("controller", flat=True)) == {card.pk}
    before = list(Controller.objects.values())
    rebuild(host)
    assert list(Controller.objects.values()) == before


def test_a_zfs_pool_is_its_vdevs_and_its_datasets_know_how_they_were_made(host: Host) -> None:
    def member(letter: str) -> Any:
        return sas(letter, part(f"sd{letter}1", fstype="zfs_member", label="tank", uuid="77"))

    disks = lsblk(*(member(letter) for letter in "abcdefghi"))
    mounts = findmnt(mount("/tank/db", "tank/db", "zfs"))
    receive(
        host,
        [output("lsblk", disks), output("findmnt", mounts), output("zpool", seeds.ZPOOL), output("zfs", seeds.ZFS)],
    )
    tank = Array.objects.get(name="tank")
    assert (tank.level, tank.state, tank.software, tank.uuid, tank.member_count) == ("0", "degraded", "ZFS", "77", 2)
    inside = [(str(m.member_array or m.disk), m.state) for m in tank.members.order_by("position")]
    assert inside == [
        ("tank raidz2-0", "in sync"),
        ("tank raidz2-1", "in sync"),
        ("tank mirror-2", "log"),
        ("sdi", "spare"),
    ]
    second = Array.objects.get(name="tank raidz2-1")
    assert (second.level, second.layout, second.state) == ("6", "raidz2", "degraded")
    assert [(str(m.disk), m.partition, m.state) for m in second.members.order_by("position")][:2] == [
        ("sde", "sde1", "in sync"),
        ("sdf", "sdf1", "faulty"),
    ]
    made = Filesystem.objects.get()
    assert (made.array, made.mkfs_options.split(" -o ")[0]) == (tank, "-o recordsize=16K")


def test_lvs_says_what_lsblk_only_lets_one_infer(host: Host) -> None:
    images = [dm(f"vg-data_rimage_{n}", n, "lvm", size=hosts.GIB) for n in range(3)]
    volume = {"name": "vg-data", "kname": "dm-9", "path": "/dev/mapper/vg-data", "type": "lvm", "size": 2 * hosts.GIB}
    for image in images:
        image["children"] = [volume]
    receive(
        host,
        [
            output("lsblk", lsblk(*(sas(letter, image) for letter, image in zip("abc", images, strict=True)))),
            output("lvs", seeds.LVS),
        ],
    )
    array = Array.objects.get()
    assert (array.level, array.chunk_size, array.uuid, array.sources["level"]) == ("5", 65536, "a-b", "discovered")
    assert array.members.count() == 3


def test_mdadm_gives_the_uuid_and_the_order(host: Host) -> None:
    detail = """/dev/md1:
           Version : 1.2
        Raid Level : raid5
      Raid Devices : 3
             State : clean
              UUID : 4d798d62:adfb6a9f:cbe9a393:b79cd3f4

    Number   Major   Minor   RaidDevice State
       3       8       81        0      active sync   /dev/sdf1
       1       8       65        1      active sync   /dev/sde1
       0       8       49        2      active sync   /dev/sdd1
       4       8       97        -      spare   /dev/sdg1
"""
    receive(host, [*hosts.raid50(), output("mdadm", f"$ mdadm --detail /dev/md1\n{detail}")])
    md1 = Array.objects.get(name="md1", round="")
    assert (md1.uuid, md1.software_version) == ("4d798d62-adfb-6a9f-cbe9-a393b79cd3f4", "1.2")
    assert [str(m.disk) for m in md1.members.order_by("position")] == ["sdf", "sde", "sdd", "sdg"]


def test_mkfs_facts_of_ext_and_xfs_reach_their_filesystems(host: Host) -> None:
    receive(
        host,
        [
            *hosts.raid50(),
            output("xfs_info", seeds.XFS_INFO),
            output("tune2fs", seeds.TUNE2FS.replace("sda1", "nvme0n1p1")),
        ],
    )
    data, root = Filesystem.objects.get(mount_point="/data"), Filesystem.objects.get(mount_point="/")
    assert (data.block_size, data.stripe_unit, data.stripe_width) == (4096, 262144, 524288)
    assert data.mkfs_options.startswith("-b size=4096 -i size=512 -d agcount=32,sunit=512,swidth=1024")
    assert (root.block_size, root.stripe_width) == (4096, 1572864)


def test_md_alone_without_lsblk_leaves_everything_else_as_it_was(host: Host) -> None:
    receive(host, hosts.raid50())
    before = list(Disk.objects.values())
    receive(host, [output("lsblk", "killed", 137)])
    assert list(Disk.objects.values()) == before
    assert Array.objects.filter(is_present=True).count() == 3


@pytest.mark.slow
def test_this_machine_through_the_agents_own_functions(host: Host, tmp_path: Path) -> None:
    outputs = inventory.collect(Conf(defaults(str(tmp_path))), str(tmp_path))
    assert len({one["tool"] for one in outputs}) == len(outputs) <= 40
    receive(host, outputs)
    assert host.kernel
    assert host.cpu_count
    assert host.sysctl["vm.swappiness"].isdigit()
    assert Disk.objects.count() == Disk.objects.exclude(device_name="").count()
    before = [list(model.objects.order_by("pk").values()) for model in (Host, Disk, Array, Controller, Nic)]
    receive(host, inventory.collect(Conf(defaults(str(tmp_path))), str(tmp_path)))
    assert [list(model.objects.order_by("pk").values()) for model in (Host, Disk, Array, Controller, Nic)] == before


def test_tools_that_are_not_installed_are_no_problem(host: Host) -> None:
    absent = [output(tool, "", 127, "not found") for tool in ("storcli", "smartctl", "zpool", "mdadm", "dmidecode")]
    refused = output("dmidecode", "", 1, "/dev/mem: Permission denied")
    receive(host, [output("machine", machine()), *absent[:-1], refused])
    assert dict(ToolOutput.objects.exclude(problem="").values_list("tool", "problem")) == {
        "dmidecode": "dmidecode needs root (in a container also access to the devices); it said: /dev/mem: Permission denied"
    }


def test_a_tool_without_the_rights_says_so_and_a_kernel_without_device_mapper_is_no_problem(host: Host) -> None:
    version = "$ tune2fs -l /dev/vda\ntune2fs 1.47.0 (5-Feb-2023)\n"
    denied = (
        "tune2fs: Operation not permitted while trying to open /dev/vda\nCouldn't find valid filesystem superblock.\n"
    )
    no_mapper = (
        "/dev/mapper/control: open failed: No such device\nFailure to communicate with kernel device-mapper driver.\n"
    )
    receive(host, [output("tune2fs", version, 1, denied), output("dmsetup", "", 1, no_mapper)])
    problems = dict(ToolOutput.objects.values_list("tool", "problem"))
    assert problems["dmsetup"] == ""
    assert problems["tune2fs"].startswith("tune2fs needs root")
    assert problems["tune2fs"].endswith("it said: tune2fs: Operation not permitted while trying to open /dev/vda")
    closed = "/dev/mapper/control: open failed: Permission denied\n"
    receive(host, [output("dmsetup", "", 1, closed), output("tune2fs", version, 1, "Bad magic number in super-block")])
    newest = dict(ToolOutput.objects.order_by("id").values_list("tool", "problem"))
    assert newest["dmsetup"].startswith("dmsetup needs root")
    assert newest["tune2fs"].endswith("expected a filesystem that may be read")
