"""Small inputs of other people's machines, each with its right reading, read where they lie.

Own inputs of the same kinds are in `test_listings_without_type.py`, `test_partial_looks.py`, `test_md_reports.py`,
`test_raid_excerpts.py` and `tests/parsers/test_unread_tools.py`, which run everywhere.
"""

from pathlib import Path

import pytest

from apps.inventory.discovery.receive import receive
from apps.inventory.models import Disk, Filesystem, Host
from apps.labs.models import Lab
from tests.inventory import hosts
from tests.inventory.brought import BroughtText
from tests.parsers.corpus import CORPUS
from tests.sampling import for_each

CASES = CORPUS.parent / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"the shared cases are not here ({CASES})")
MIB, GIB, TIB = 1024**2, 1024**3, 1024**4


def case(name: str) -> BroughtText:
    path = CASES / name
    if not path.is_file():
        pytest.skip(f"this case is not here ({path})")
    return BroughtText(path.read_bytes(), path.name)


def test_12_mdstat_whose_members_are_all_gone() -> None:
    text = case("12-mdstat-nobody-there.txt")
    assert (text.file.warnings, text.readings.problems) == ((), {})
    assert text.readings.mdstat is not None
    (array,) = text.readings.mdstat.arrays
    assert (array.name, array.level, array.raid_devices, array.active_devices) == ("md126", "raid5", 4, 0)
    assert (array.chunk_size, array.metadata, array.state, array.missing) == (65536, "1.2", "failed", 4)
    assert (text.arrays["md126"].state, text.arrays["md126"].member_count) == ("failed", 4)
    assert "of 0 devices" not in text.file.inventory[0].summary


def test_14_perccli2_topology_without_lists() -> None:
    text = case("14-perccli2-topology.txt")
    assert {(one.enclosure, one.slot_number) for one in text.disks.values()} == {
        ("c0 enclosure 268", n) for n in range(8)
    }
    assert {one.capacity_bytes for one in text.disks.values()} == {959656755200}
    (group,) = text.arrays.values()
    assert (group.level, group.capacity_bytes, group.member_count) == ("10", int(2.618 * TIB), 6)
    assert text.members(group.name) == [(f"c0 268:{slot}", "", "in sync") for slot in (0, 1, 2, 3, 5, 4)]
    assert text.readings.storcli is not None
    (card,) = text.readings.storcli.cards
    assert {one.place for one in card.drives if one.state == "spare"} == {"268:6", "268:7"}


def test_15_arcconf_logical_devices_without_the_first_line() -> None:
    text = case("15-arcconf-logical-devices.txt")
    disks = {one.serial: one for one in text.disks.values()}
    assert disks.keys() == {f"AAAA000{n}" for n in range(1, 5)}
    assert {(one.interface, one.is_solid_state, one.capacity_bytes) for one in disks.values()} == {
        ("SATA", True, 457862 * MIB)
    }
    top = text.arrays["adaptec c1/v0 LogicalDrv 0"]
    assert (top.level, top.capacity_bytes, top.chunk_size, top.state) == ("0", 915446 * MIB, 256 * 1024, "clean")
    spans = [[text.disks[key].serial for key, _, _ in text.members(name)] for name, _, _ in text.members(top.name)]
    assert spans == [["AAAA0001", "AAAA0002"], ["AAAA0003", "AAAA0004"]]
    assert {text.arrays[name].level for name, _, _ in text.members(top.name)} == {"1"}


def test_28_lsblk_with_columns_of_ones_own() -> None:
    text = case("28-lsblk-without-type.txt")
    found = {key: (one.model.replace("_", " "), one.serial, one.capacity_bytes) for key, one in text.disks.items()}
    assert found == {
        "sda": ("ST4000VN008-2DR1", "AAAA0001", int(3.6 * TIB)),
        "nvme0n1": ("WD BLACK SN850X", "AAAA0002", int(931.5 * GIB)),
    }
    assert text.arrays == {}


def test_28b_lsblk_f() -> None:
    text = case("28b-lsblk-f.txt")
    assert text.disks.keys() == {"sda", "sdb", "nvme0n1"}
    assert text.arrays.keys() == {"md0"}
    assert text.arrays["md0"].software == "md"
    assert [(disk, partition) for disk, partition, _ in text.members("md0")] == [("sda", "sda1"), ("sdb", "sdb1")]
    devices = text.readings.lsblk.by_kname()  # type: ignore[union-attr]
    assert (devices["md0"].fstype, devices["md0"].mountpoints) == ("ext4", ("/data",))
    assert [(devices[name].type, devices[name].fstype) for name in ("nvme0n1p1", "nvme0n1p2")] == [
        ("part", "vfat"),
        ("part", "ext4"),
    ]


def test_28e_lsblk_p() -> None:
    text = case("28e-lsblk-P.txt")
    assert {key: one.serial for key, one in text.disks.items()} == {"sda": "AAAA0001", "nvme0n1": "AAAA0002"}
    assert text.arrays == {}
    assert text.readings.lsblk.by_kname()["sda1"].type == "part"  # type: ignore[union-attr]


def test_29_mdadm_of_an_arrays_partitions() -> None:
    text = case("29-mdadm-detail-of-partitions.txt")
    assert text.arrays.keys() == {"md0"}
    assert (text.arrays["md0"].level, text.arrays["md0"].capacity_bytes) == ("1", 109931790336)
    (detail,) = text.readings.mdadm.by_name.values()  # type: ignore[union-attr]
    assert detail.array is not None
    assert [one.device for one in detail.array.members] == ["sda1", "sdb1"]


@pytest.mark.django_db
def test_32_partial_looks(lab: Lab) -> None:
    host = hosts.host(lab)

    def take(name: str) -> None:
        outputs = case(f"32-partial-looks/{name}").outputs.values()
        receive(host, [vars(one) for one in outputs])

    def present(model: type[Disk] | type[Filesystem], field: str) -> list[str]:
        return sorted(model.objects.filter(host=host, is_present=True).values_list(field, flat=True))

    take("1-all.txt")
    for name in ("2-one-device.txt", "3-d-without-type.txt"):
        take(name)
        assert present(Disk, "device_name") == ["sda", "sdb"], name
    assert Disk.objects.filter(host=host).count() == 2
    take("4-findmnt-all.txt")
    take("5-findmnt-one.txt")
    assert present(Filesystem, "mount_point") == ["/", "/data", "/home"]
    assert Host.objects.count() == 1


NAMED = [
    ("blkid.txt", "blkid"), ("btrfs-show.txt", "btrfs filesystem show"), ("camcontrol.txt", "camcontrol devlist"),
    ("diskutil-list.txt", "diskutil list"), ("fdisk-l.txt", "fdisk -l"), ("geom-disk-list.txt", "geom disk list"),
    ("get-physicaldisk.txt", "Get-PhysicalDisk"), ("hdparm-I.txt", "hdparm -I"), ("inxi-d.txt", "inxi"), ("lscpu.txt", "lscpu"),
    ("lshw-disk.txt", "lshw"), ("megaclisas-status.txt", "megaclisas-status"), ("multipath-ll.txt", "multipath -ll"),
    ("sas2ircu-display.txt", "sas2ircu"),
]  # fmt: skip


@for_each("name, tool", NAMED)
def test_tools_that_are_not_read_are_named_with_what_to_bring(name: str, tool: str) -> None:
    text = case(f"inventory/{name}")
    assert text.file.table == {}
    assert text.file.error is not None
    assert text.file.error.message.startswith(tool)
    assert text.file.error.message.endswith("prints this, which Spindle does not read")
    assert any(word in text.file.error.expected for word in ("lsblk", "smartctl", "dmidecode", "MegaCli")), (
        text.file.error.expected
    )


def test_no_case_of_an_inventory_tool_asks_about_columns() -> None:
    for path in sorted(Path(CASES / "inventory").iterdir()):
        text = BroughtText(path.read_bytes(), path.name)
        assert text.file.table == {}, path.name
        assert text.file.error is None or "mapping" not in text.file.error.message, path.name


def test_mdadm_export_names_its_array_by_the_command_line() -> None:
    text = case("inventory/mdadm-detail-export.txt")
    array = text.arrays["md0"]
    assert (array.level, array.member_count, array.software_version) == ("0", 2, "1.2")
    assert array.uuid == "7e81a856-abb9-c1c2-4b71-237a9778cc66"
    detail = text.readings.mdadm.by_name["md0"]  # type: ignore[union-attr]
    assert [one.device for one in detail.array.members] == ["vda1", "vda2"]  # type: ignore[union-attr]


@for_each("name, model, serial, firmware, size", [
    ("nvme-list.json", "SSD 500GB", "AAAA0001", "FW1", 500107862016),
    ("nvme-list-2.11.json", "SSD 500GB", "AAAA0001", "FW1", 500107862016),
    ("nvme-list.txt", "Samsung SSD 980 500GB", "AAAA000000001", "3B4QFXO7", 500110000000),
])  # fmt: skip
def test_nvme_list_is_read(name: str, model: str, serial: str, firmware: str, size: int) -> None:
    (disk,) = case(f"inventory/{name}").disks.values()
    assert (disk.device_name, disk.model, disk.serial, disk.firmware) == ("nvme0n1", model, serial, firmware)
    assert (disk.capacity_bytes, disk.interface, disk.logical_block_bytes) == (size, "NVMe", 512)


@for_each("name", ["zpool-status.txt", "zpool-status-j.json"])
def test_zpool_status_is_read(name: str) -> None:
    text = case(f"inventory/{name}")
    assert {key: one.state for key, one in text.arrays.items()} == {"tank": "degraded", "tank mirror-0": "degraded"}
    (pool,) = text.readings.zpool.pools  # type: ignore[union-attr]
    assert [(one.name.removeprefix("/dev/"), one.printed) for one in pool.below[0].below] == [
        ("sda1", "ONLINE"),
        ("sdb1", "FAULTED"),
    ]
