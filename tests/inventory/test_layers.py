"""From devices to disks and arrays: partitions and paths are seen through, what spreads or encrypts is a layer."""

import pytest

from apps.inventory.discovery.models import NOTHING, FoundArray, FoundStorage, Layer
from apps.inventory.discovery.storage.layers import Layers
from apps.inventory.discovery.tools import mdstat
from apps.inventory.discovery.tools.lsblk import devices as lsblk
from tests.inventory import hosts
from tests.inventory.hosts import Node, device, dm, md_part, part, sas
from tests.sampling import for_each


def layers(*devices: Node, md: str = "", hardware: dict[str, str] | None = None) -> Layers:
    return Layers(lsblk.discover(hosts.lsblk(*devices)), mdstat.discover(md) if md else None, hardware)


def arrays(storage: FoundStorage) -> dict[str, FoundArray]:
    return {array.name: array for array in storage.arrays}


def below(array: FoundArray) -> list[tuple[str, str]]:
    return [(member.layer.name, member.partition) for member in array.members]


def test_raid_50_is_a_raid_0_over_two_raid_5() -> None:
    outputs = {o["tool"]: o["stdout"] for o in hosts.raid50()}
    built = Layers(lsblk.discover(outputs["lsblk"]), mdstat.discover(outputs["mdstat"]))
    found = arrays(built.storage())
    assert [m.layer for m in found["md2"].members] == [Layer("array", "md0"), Layer("array", "md1")]
    assert below(found["md0"]) == [("sda", "sda1"), ("sdb", "sdb1"), ("sdc", "sdc1")]
    assert (found["md0"].level, found["md0"].uuid, found["md0"].layout) == ("5", hosts.UUIDS["md0"], "left-symmetric")
    assert [m.state for m in found["md1"].members] == ["in sync"] * 3 + ["spare"]
    assert built.layer_of("md2", "xfs") == Layer("array", "md2")


def test_without_mdstat_lsblk_still_tells_level_and_members() -> None:
    md0 = device("md0", kind="raid6")
    found = arrays(layers(*(sas(x, md_part(f"sd{x}1", "u1", md0)) for x in "abcd")).storage())["md0"]
    assert (found.level, len(found.members), found.state, found.uuid) == ("6", 4, "", "u1")


def test_lvm_on_crypt_on_a_mirror_are_three_layers() -> None:
    volume = dm("vg-root", 1, "lvm", fstype="ext4")
    crypt = dm("luks-1", 0, "crypt", volume)
    built = layers(*(sas(x, part(f"sd{x}2", device("md1", crypt, kind="raid1"))) for x in "ab"))
    found = arrays(built.storage())
    assert [(a.name, a.software, a.level) for a in found.values()] == [
        ("md1", "md", "1"), ("luks-1", "dm-crypt", "single"), ("vg-root", "LVM", "linear"),
    ]  # fmt: skip
    assert (below(found["vg-root"]), below(found["luks-1"])) == ([("luks-1", "")], [("md1", "")])
    assert built.layer_of("dm-1") == Layer("array", "vg-root")
    assert found["md1"].chunk_size is NOTHING


@pytest.mark.parametrize(
    ("min_io", "opt_io", "level", "chunk"),
    [(65536, 131072, "0", 65536), (4096, 0, "linear", NOTHING), (65536, 65536, "linear", NOTHING)],
)
def test_a_striped_volume_is_known_by_the_io_it_asks_for(min_io: int, opt_io: int, level: str, chunk: object) -> None:
    volume = dm("vg-fast", 0, "lvm", min_io=min_io, opt_io=opt_io)
    found = arrays(layers(sas("a", volume), sas("b", volume)).storage())["vg-fast"]
    assert (found.level, found.chunk_size, "level" in found.inferred) == (level, chunk, True)


@pytest.mark.parametrize(
    ("images", "times", "level"),
    [(2, 1, "1"), (3, 1, "1"), (3, 2, "5"), (5, 3, "6"), (6, 3, "10"), (4, 2, "10"), (3, 3, "0"), (4, 7, "")],
)
def test_a_raid_volume_is_known_by_its_size_against_its_parts(images: int, times: int, level: str) -> None:
    volume = dm("vg-r", 90, "lvm", size=times * hosts.GIB)
    disks = [
        sas("abcdef"[i], dm(f"vg-r_rimage_{i}", i * 2, "lvm", volume, size=hosts.GIB),
            dm(f"vg-r_rmeta_{i}", i * 2 + 1, "lvm", volume, size=4096))
        for i in range(images)
    ]  # fmt: skip
    found = arrays(layers(*disks).storage())
    assert list(found) == ["vg-r"]
    assert (found["vg-r"].level, len(found["vg-r"].members)) == (level, images)


def test_a_thin_volume_lies_on_its_pools_disk() -> None:
    thin = dm("vg-thin", 3, "lvm")
    pool = dm("vg-pool-tpool", 2, "lvm", thin)
    disk = sas("a", part("sda3", dm("vg-pool_tmeta", 0, "lvm", pool), dm("vg-pool_tdata", 1, "lvm", pool)))
    found = arrays(layers(disk).storage())
    assert {name: below(array) for name, array in found.items()} == {"vg-thin": [("sda", "sda3")]}


def test_two_paths_to_one_disk_are_one_disk_of_that_name() -> None:
    path = dm("mpatha", 0, "mpath", dm("mpatha1", 1, "part", fstype="xfs"))
    one = {"serial": "LUN1", "wwn": "0x600a0b80", "tran": "fc"}
    built = layers(sas("a", path, **one), sas("b", path, hctl="1:0:0:0", **one), sas("c"))
    storage = built.storage()
    assert (storage.disks[0].device_name, storage.disks[0].aliases, storage.disks[0].serial) == (
        "sda",
        ("sdb",),
        "LUN1",
    )
    assert len(storage.disks) == 2
    assert built.rests_on("dm-1") == [(Layer("disk", "sda"), "dm-1")]


def test_namespaces_of_one_nvme_drive_are_one_disk() -> None:
    two = [device(f"nvme0n{n}", tran="nvme", serial="PHLJ1", model="INTEL", size=500, wwn=f"eui.{n}") for n in (1, 2)]
    [disk] = layers(*two).storage().disks
    assert (disk.device_name, disk.aliases, disk.capacity_bytes, disk.interface) == (
        "nvme0n1",
        ("nvme0n2",),
        1000,
        "NVMe",
    )


def test_a_number_that_unrelated_disks_share_identifies_none() -> None:
    clones = [sas(x, serial="CLONE123", wwn="0x5000c500") for x in "ab"]
    common = device("sdc", serial="QM00001", wwn="0x0000000000000000")
    assert [(d.serial, d.wwn) for d in layers(*clones, common).storage().disks] == [("", "")] * 3


def test_zram_ram_rom_floppies_and_empty_readers_are_no_disks() -> None:
    names = ["zram0", "ram1", "fd0", "mtdblock3", "mmcblk0boot0", "sr0"]
    devices = [device(name) for name in names] + [device("sdx", size=0), device("sr1", kind="rom"), device("mmcblk0")]
    assert [disk.device_name for disk in layers(*devices).storage().disks] == ["mmcblk0"]


def test_a_loop_device_counts_only_where_something_kept_lies_on_it() -> None:
    loops = [device("loop0", kind="loop", mountpoint="/snap/core/1"), device("loop1", kind="loop", fstype="ext4")]
    under_lvm = device("loop2", dm("vg-test", 0, "lvm"), kind="loop")
    built = layers(*loops, under_lvm)
    assert [d.device_name for d in built.storage().disks] == ["loop2"]
    assert [d.device_name for d in built.storage(["loop1"]).disks] == ["loop1", "loop2"]
    assert built.storage().disks[0].model == "loop device"


@for_each(
    "fields, interface, controller, kind, solid",
    [
        ({"tran": "sata", "hctl": "4:0:0:0", "vendor": "ATA     "}, "SATA", "sata host 4", "hba", True),
        ({"tran": "sas", "hctl": "0:0:7:0", "vendor": "ATA     "}, "SATA", "sas host 0", "", True),
        ({"tran": "sas", "hctl": "0:0:7:0", "vendor": "SEAGATE"}, "SAS", "sas host 0", "", True),
        ({"tran": "fc", "hctl": "2:0:0:1"}, "FC", "fc host 2", "fc", True),
        ({"tran": "spi", "hctl": "3:0:1:0"}, "SCSI", "spi host 3", "", True),
        ({"tran": "ata", "hctl": "1:0:0:0"}, "", "ata host 1", "", True),
        ({"tran": None, "hctl": "0:2:0:0", "vendor": "DELL", "model": "PERC H730P"}, "", "scsi host 0", "", True),
        ({"tran": "usb", "hctl": "6:0:0:0"}, "", None, None, True),
        (
            {"hctl": "2:0:0:0", "vendor": "QEMU", "subsystems": "block:scsi:virtio:pci"},
            "virtio",
            "virtio-scsi host 2",
            "virtio",
            None,
        ),
        ({"hctl": "0:0:0:0", "vendor": "Msft", "subsystems": "block:scsi:vmbus:acpi"}, "", "scsi host 0", "", None),
    ],
)
def test_interface_and_controller_are_only_what_lsblk_tells(
    fields: dict[str, str], interface: str, controller: str | None, kind: str | None, solid: bool | None
) -> None:
    [disk] = layers(device("sda", **fields)).storage().disks
    assert (disk.interface, disk.is_solid_state) == (interface, solid)
    found = disk.controller
    assert (found.address if found else None, found.kind if found else None) == (controller, kind)


def test_a_virtual_disk_has_virtio_and_says_nothing_of_its_mechanics() -> None:
    printed = hosts.fixture("guest/lsblk.json")
    [vda] = Layers(lsblk.discover(printed), None).storage().disks
    assert (vda.interface, vda.is_solid_state, vda.controller and vda.controller.kind) == ("virtio", None, "virtio")


@pytest.mark.parametrize(
    ("fstype", "source", "software"),
    [("btrfs", "/dev/sda", "btrfs"), ("zfs_member", "tank/data", "ZFS"), ("bcachefs", "/dev/sda:/dev/sdb", "bcachefs")],
)
def test_a_filesystem_over_several_devices_is_an_array_of_unknown_level(
    fstype: str, source: str, software: str
) -> None:
    built = layers(*(sas(x, fstype=fstype, uuid="42aa", label="tank") for x in "ab"))
    [pool] = built.storage().arrays
    assert (pool.software, pool.level, pool.name, below(pool)) == (software, "", "tank", [("sda", ""), ("sdb", "")])
    kname = built.device_of("", source)
    assert built.layer_of(kname, "zfs" if software == "ZFS" else fstype, source) == Layer("array", "tank")


def test_a_pool_on_one_device_lies_on_the_disk_itself() -> None:
    built = layers(sas("a", part("sda1", fstype="zfs_member", uuid="1", label="tank")))
    assert built.storage().arrays == []
    assert built.layer_of("", "zfs", "tank/data") == Layer("disk", "sda")


@pytest.mark.parametrize("source", ["/dev/mapper/vg--a-lv", "/dev/vg-a/lv", "/dev/dm-0"])
def test_a_volume_is_found_by_each_of_its_names(source: str) -> None:
    assert layers(sas("a", dm("vg--a-lv", 0, "lvm"))).device_of("", source) == "dm-0"


def test_major_and_minor_find_what_the_source_does_not_name() -> None:
    assert layers(sas("a", part("sda1", **{"maj:min": "8:1"}))).device_of("8:1", "/dev/root") == "sda1"


def test_a_container_of_a_bios_raid_is_no_array_but_the_volume_in_it_is() -> None:
    md = (
        "Personalities : [raid0]\nmd126 : active raid0 sda[1] sdb[0]\n"
        "      8 blocks super external:/md127/0 64k chunks\n\n"
        "md127 : inactive sdb[1](S) sda[0](S)\n      8 blocks super external:imsm\n\nunused devices: <none>\n"
    )
    below_it = (device("md126", device("md126p1", kind="md"), kind="raid0"), device("md127", kind="md"))
    built = layers(sas("a", *below_it), sas("b", *below_it), md=md)
    found = arrays(built.storage())
    assert {name: (a.level, a.chunk_size, len(a.members)) for name, a in found.items()} == {"md126": ("0", 65536, 2)}
    assert built.rests_on("md126p1") == [(Layer("array", "md126"), "md126p1")]


def test_a_disk_that_is_known_to_be_a_raid_controllers_volume_is_that_array() -> None:
    built = layers(device("sda", part("sda1")), hardware={"sda": "logical drive 1"})
    assert built.storage().disks == []
    assert built.rests_on("sda1") == [(Layer("array", "logical drive 1"), "sda1")]


def test_arrays_in_a_circle_lose_their_nesting_and_it_is_said() -> None:
    flat = [device("md0", kind="raid1", pkname="md1"), device("md1", kind="raid1", pkname="md0")]
    storage = layers(*flat).storage()
    assert [array.members for array in storage.arrays] == [(), ()]
    assert "in a circle" in storage.warnings[0]
    assert layers(part("a1", pkname="a2"), part("a2", pkname="a1")).rests_on("a1") == []
