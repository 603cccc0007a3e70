"""What lsblk prints is read whatever its version and mood."""

import json

import pytest

from apps.inventory.discovery.storage.drives import drives
from apps.inventory.discovery.tool_values import UnreadableError
from apps.inventory.discovery.tools.lsblk import devices as lsblk
from tests.inventory import hosts


def test_a_real_virtual_machine_has_one_disk_and_a_zram_device() -> None:
    devices = lsblk.discover(hosts.fixture("guest/lsblk.json")).by_kname()
    vda = devices["vda"]
    assert set(devices) == {"zram0", "vda"}
    assert (vda.type, vda.size, vda.log_sec, vda.phy_sec) == ("disk", 274877906944, 512, 4096)
    assert (vda.vendor, vda.subsystems, vda.rota, vda.mountpoints) == ("0x1af4", "block:virtio:pci", True, ("/",))
    [found] = drives([vda], {})
    assert (found.vendor, found.interface) == ("", "virtio")  # a number of the PCI register is no name


def test_pairs_tell_the_same_as_json() -> None:
    vda = lsblk.discover(hosts.fixture("guest/lsblk-pairs.txt")).by_kname()["vda"]
    assert (vda.size, vda.type, vda.numbers, vda.mountpoints) == (274877906944, "disk", "254:0", ("/",))


def test_old_versions_print_numbers_and_booleans_as_strings_and_one_mountpoint() -> None:
    old = {
        "name": "sda1",
        "kname": "sda1",
        "type": "part",
        "size": "512",
        "rota": "1",
        "log-sec": "512",
        "mountpoint": "/boot",
    }
    [sda1] = lsblk.discover(json.dumps({"blockdevices": [old]})).devices
    assert (sda1.size, sda1.rota, sda1.log_sec, sda1.mountpoints) == (512, True, 512, ("/boot",))


def test_a_device_printed_below_each_of_its_parents_is_one_device() -> None:
    md0 = hosts.device("md0", kind="raid1")
    printed = hosts.lsblk(*(hosts.sas(x, hosts.part(f"sd{x}1", md0)) for x in "ab"))
    assert lsblk.discover(printed).by_kname()["md0"].parents == ("sda1", "sdb1")


def test_a_flat_list_tells_parents_by_pkname() -> None:
    flat = [
        hosts.device("sda"),
        hosts.part("sda1", pkname="/dev/sda"),
        hosts.device("md0", kind="raid1", pkname="sda1"),
    ]
    devices = lsblk.discover(hosts.lsblk(*flat)).by_kname()
    assert (devices["sda1"].parents, devices["md0"].parents) == (("sda",), ("sda1",))


@pytest.mark.parametrize(
    ("disk", "partition"), [("sda", "sda12"), ("nvme0n1", "nvme0n1p3"), ("mmcblk0", "mmcblk0p2"), ("dasdb", "dasdb1")]
)
def test_without_any_hint_the_kernels_rule_for_names_finds_the_disk(disk: str, partition: str) -> None:
    entries = [{"kname": disk, "type": "disk"}, {"kname": partition, "type": "part"}]
    assert lsblk.discover(json.dumps({"blockdevices": entries})).by_kname()[partition].parents == (disk,)


def test_a_prompt_before_and_a_prompt_after_do_no_harm() -> None:
    printed = "$ lsblk -J -O -b\n" + hosts.fixture("guest/lsblk.json") + "\n$ "
    assert "vda" in lsblk.discover(printed).by_kname()


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("", "lsblk: found 'nothing', expected blockdevices as JSON, pairs or a table"),
        (
            "lsblk: unknown option -- J",
            "found 'lsblk: unknown option -- J', expected blockdevices as JSON, pairs or a table",
        ),
        ('{\n"blockdevices": [{"name": }]}', "lsblk, line 2: found '}]}', expected JSON (Expecting value)"),
        ('{"filesystems": []}', "found \"the keys ['filesystems']\", expected blockdevices with a list"),
        ('{"blockdevices": "none"}', "expected blockdevices with a list"),
    ],
)
def test_what_cannot_be_read_is_said_with_place_found_and_expected(printed: str, says: str) -> None:
    with pytest.raises(UnreadableError) as error:
        lsblk.discover(printed)
    assert says in str(error.value)


def test_wrong_types_nan_nul_and_lone_surrogates_are_empty_fields_not_errors() -> None:
    odd = (
        '{"blockdevices": [null, 3, {"kname": "sda", "type": ["disk"], "size": NaN, "rota": "maybe", "model": {"a": 1},'
        ' "serial": "AB\\u0000C\\ud800", "log-sec": -5, "phy-sec": 1e999, "children": "none"}, {"size": 5}]}'
    )
    read = lsblk.discover(odd)
    [sda] = read.devices
    assert (sda.type, sda.size, sda.rota, sda.model, sda.log_sec, sda.phy_sec) == ("", None, None, "", None, None)
    assert sda.serial == "AB C"
    assert read.warnings == ("lsblk: 1 entries have no name, expected name or kname",)


def test_a_bottomless_tree_and_an_endless_list_are_bounded() -> None:
    with pytest.raises(UnreadableError, match="nested without end"):
        lsblk.discover('{"blockdevices": ' + "[" * 200_000)
    many = lsblk.discover(
        json.dumps({"blockdevices": [{"kname": f"sd{i}", "size": 1} for i in range(lsblk.MAX_DEVICES + 5)]})
    )
    assert len(many.devices) == lsblk.MAX_DEVICES
    assert "the rest was not read" in many.warnings[0]


TABLE = """NAME              MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINT
sda                 8:0    0 223.6G  0 disk
├─sda1              8:1    0     1G  0 part  /boot
└─sda2              8:2    0 222.6G  0 part
  ├─vg0-root (dm-0) 253:0  0    50G  0 lvm   /
  └─vg0-swap (dm-1) 253:1  0     4G  0 lvm   [SWAP]
sdb                 8:16   0   1.8T  0 disk
└─md0               9:0    0   1.8T  0 raid1 /srv/two words
sdc                 8:32   0   1.8T  0 disk
└─md0               9:0    0   1.8T  0 raid1 /srv/two words
"""


def test_a_table_as_lsblk_alone_prints_it() -> None:
    found = lsblk.discover(TABLE).by_kname()
    assert {name: (one.type, one.parents, one.mountpoints) for name, one in found.items()} == {
        "sda": ("disk", (), ()),
        "sda1": ("part", ("sda",), ("/boot",)),
        "sda2": ("part", ("sda",), ()),
        "dm-0": ("lvm", ("sda2",), ("/",)),
        "dm-1": ("lvm", ("sda2",), ("[SWAP]",)),
        "sdb": ("disk", (), ()),
        "md0": ("raid1", ("sdb", "sdc"), ("/srv/two words",)),
        "sdc": ("disk", (), ()),
    }
    assert found["sda1"].size == 1 << 30
    assert found["sda"].size == round(223.6 * (1 << 30))
    assert found["dm-0"].name == "vg0-root"
