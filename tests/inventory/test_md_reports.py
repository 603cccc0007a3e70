"""md's own words: arrays of which nothing is left, partitions of arrays, names that are not the kernel's, `--export`."""

import pytest

from apps.inventory.discovery.receive import receive
from apps.inventory.discovery.tools import mdstat
from apps.inventory.discovery.tools.mdadm import arrays as mdadm
from apps.inventory.models import Array
from apps.labs.models import Lab
from tests.inventory import hosts
from tests.inventory.brought import BroughtText
from tests.sampling import for_each

STATES = [
    ("md0 : active raid1 super 1.2 [2/0] [__]", "failed"),
    ("md0 : active raid0 super 1.2 512k chunks", "failed"),
    ("md0 : active raid6 level 6, 128k chunk, algorithm 2 [6/0] [______]", "failed"),
    ("md0 : active (read-only) raid5 super 1.1 level 5, 64k chunk, algorithm 2 [3/0] [___]", "failed"),
    ("md0 : broken raid0 sdq1[0] sdr1[1]\n      9 blocks super 1.2 512k chunks", "failed"),
    ("md0 : active raid6 sdq1[0] sdr1[1]\n      9 blocks super 1.2 level 6, 128k chunk, algorithm 2 [5/2] [UU___]", "failed"),
    ("md0 : active raid6 sdq1[0] sdr1[1] sds1[2]\n      9 blocks level 6, 128k chunk, algorithm 2 [5/3] [UU__U]", "degraded"),
    ("md0 : active raid1 sdq1[0](F) sdr1[1](F)\n      9 blocks super 1.2 [2/0] [__]", "failed"),
    ("md0 : active raid1 sdq1[0]\n      9 blocks super 1.2 [3/1] [U__]", "degraded"),
    ("md0 : active raid10 sdq1[0] sdr1[2]\n      9 blocks super 1.2 64K chunks 2 near-copies [4/2] [U_U_]", "degraded"),
    ("md0 : active raid10 sdq1[0] sdr1[1]\n      9 blocks super 1.2 64K chunks 2 near-copies [4/2] [UU__]", "failed"),
    ("md0 : active raid10 sdq1[1] sdr1[3]\n      9 blocks super 1.2 64K chunks 2 far-copies [4/2] [_U_U]", "degraded"),
    ("md0 : active raid10 sdq1[1] sdr1[2]\n      9 blocks super 1.2 64K chunks 2 far-copies [4/2] [_UU_]", "failed"),
    ("md0 : active raid0 sdq1[0](F) sdr1[1]\n      9 blocks super 1.2 512k chunks", "failed"),
    ("md0 : inactive sdq1[0](S)\n      9 blocks super 1.2", "inactive"),
    ("md0 : active raid5 sdq1[0] sdr1[1] sds1[3]\n      9 blocks level 5, 64k chunk, algorithm 2 [3/3] [UUU]", "clean"),
]  # fmt: skip


@for_each("printed, state", STATES)
def test_what_is_missing_decides_what_an_array_is(printed: str, state: str) -> None:
    (array,) = mdstat.discover(f"Personalities : [raid1]\n{printed}\n\nunused devices: <none>\n").arrays
    assert array.state == state


def test_words_behind_the_level_are_no_members() -> None:
    text = BroughtText(
        "Personalities : [raid10]\nmd44 : active raid10 super 1.2 256K chunks 2 near-copies [6/0] [______]\n\nunused devices: <none>\n"
    )
    assert (text.file.warnings, text.file.error) == ((), None)
    (array,) = text.readings.mdstat.arrays  # type: ignore[union-attr]
    assert (array.members, array.chunk_size, array.metadata) == ((), 262144, "1.2")
    assert (array.raid_devices, array.active_devices, array.layout, array.size) == (6, 0, "2 near-copies", None)
    assert text.file.inventory[0].summary == "md44: raid10 of 6 devices, failed, chunk 256K"


def test_an_array_that_is_not_started_has_no_size_and_no_spares() -> None:
    """md prints the size of its members together, and calls each of them a spare."""
    disks = "NAME   TYPE\nsdq    disk\n`-sdq1 part\nsdr    disk\n`-sdr1 part\n"
    text = BroughtText(f"$ lsblk -o NAME,TYPE\n{disks}\n$ cat /proc/mdstat\nPersonalities :\nmd9 : inactive sdr1[1](S) sdq1[0](S)\n"
                       "      3906764800 blocks super 1.2\n\nunused devices: <none>\n")  # fmt: skip
    assert text.arrays["md9"].capacity_bytes is None
    assert {state for _, _, state in text.members("md9")} == {""}


DETAIL = """\
/dev/{name}:
           Version : 1.2
        Raid Level : raid5
        Array Size : {size} (of some)
      Raid Devices : 3
     Total Devices : 3
             State : clean
    Active Devices : 3
              UUID : {uuid}

    Number   Major   Minor   RaidDevice State
       0       8       17        0      active sync   /dev/sdb1
       1       8       33        1      active sync   /dev/sdc1
       3       8       49        2      active sync   /dev/sdd1
"""
UUID = "01020304:05060708:090a0b0c:0d0e0f10"


@pytest.mark.parametrize("name", ["md6", "md126", "md_d3"])
def test_a_partition_of_an_array_is_the_array(name: str) -> None:
    reports = [
        DETAIL.format(name=each, size=size, uuid=UUID)
        for each, size in ((name, 4000), (f"{name}p1", 1000), (f"{name}p12", 3000))
    ]
    for printed in ("\n".join(reports), "\n".join(reports[::-1])):
        text = BroughtText(printed)
        assert len(text.file.inventory) == 1
        assert {key: one.capacity_bytes for key, one in text.arrays.items()} == {name: 4000 * 1024}
    alone = mdadm.discover(reports[1]).by_name
    assert {key: one.array.size for key, one in alone.items() if one.array} == {
        name: None
    }  # the size is the partition's


def test_another_array_whose_name_ends_like_a_partitions_is_one() -> None:
    text = BroughtText(
        DETAIL.format(name="md/vol1", size=4000, uuid=UUID) + DETAIL.format(name="md/vol1p1", size=9, uuid=UUID[::-1])
    )
    assert text.arrays.keys() == {"md/vol1", "md/vol1p1"}


def test_a_name_that_is_not_the_kernels_is_its_path() -> None:
    assert (
        BroughtText(DETAIL.format(name="md/Store1", size=4000, uuid=UUID)).arrays["md/Store1"].device_name
        == "/dev/md/Store1"
    )


def test_a_name_that_is_not_the_kernels_is_found_by_members_or_uuid() -> None:
    kernels = "Personalities : [raid5]\nmd125 : active raid5 sdd1[3] sdc1[1] sdb1[0]\n      9 blocks level 5, 64k chunk, algorithm 2 [3/3] [UUU]\n"
    text = BroughtText(
        f"{kernels}\nunused devices: <none>\n$ mdadm -D /dev/md/Store1\n"
        + DETAIL.format(name="md/Store1", size=4, uuid=UUID)
    )
    assert {key: one.device_name for key, one in text.arrays.items()} == {"md125": "/dev/md125"}
    assert text.arrays["md125"].uuid == "01020304-0506-0708-090a-0b0c0d0e0f10"


EXPORT = """\
MD_LEVEL=raid1
MD_DEVICES=2
MD_METADATA=1.2
MD_UUID=01020304:05060708:090a0b0c:0d0e0f10
{more}MD_DEVICE_dev_sdw1_ROLE=1
MD_DEVICE_dev_sdw1_DEV=/dev/sdw1
MD_DEVICE_dev_sdv1_ROLE=0
MD_DEVICE_dev_sdv1_DEV=/dev/sdv1
MD_DEVICE_dev_sdx1_ROLE=spare
MD_DEVICE_dev_sdx1_DEV=/dev/sdx1
"""


@for_each("command, more, name, device", [
    ("", "MD_DEVNAME=md11\nMD_NAME=box:11\n", "md11", "/dev/md11"),
    ("", "MD_DEVNAME=store\nMD_NAME=box:store\n", "md/store", "/dev/md/store"),
    ("# mdadm -D --export /dev/md12\n", "MD_NAME=box:12\n", "md12", "/dev/md12"),
    ("$ sudo mdadm --detail --export /dev/md13 2>/dev/null\n", "MD_DEVNAME=store\n", "md13", "/dev/md13"),
    ("# mdadm --detail --export /dev/md/store\n", "", "md/store", "/dev/md/store"),
    ("", "MD_NAME=box:14\n", "box:14", ""),
])  # fmt: skip
def test_an_export_is_named_by_what_tells_its_device(command: str, more: str, name: str, device: str) -> None:
    text = BroughtText(command + EXPORT.format(more=more))
    assert {key: one.device_name for key, one in text.arrays.items()} == {name: device}
    array = text.arrays[name]
    assert (array.level, array.member_count, array.state, array.software_version) == ("1", 2, "", "1.2")
    detail = text.readings.mdadm.by_name[name]  # type: ignore[union-attr]
    assert [(one.device, one.state) for one in detail.array.members] == [
        ("sdv1", "in sync"),
        ("sdw1", "in sync"),
        ("sdx1", "spare"),
    ]  # type: ignore[union-attr]


@for_each("printed, reason", [
    (EXPORT.format(more=""), "does not tell which array this is"),
    ("ARRAY /dev/md0 metadata=1.2 name=box:0 UUID=01020304:05060708:090a0b0c:0d0e0f10\n", "lists names and UUIDs alone"),
])  # fmt: skip
def test_what_changes_nothing_says_why(printed: str, reason: str) -> None:
    found = BroughtText(printed).readings.mdadm
    assert found is not None
    assert found.by_name == {}
    assert reason in found.empty_because


SUPERBLOCK = """\
/dev/{device}:
          Magic : a92b4efc
        Version : 1.2
     Array UUID : 01020304:05060708:090a0b0c:0d0e0f10
           Name : box:21  (local to host box)
     Raid Level : raid1
   Raid Devices : 2
     Array Size : 4000 KiB
    Device UUID : 11111111:22222222:33333333:{place}4444444
         Events : 17
   Device Role : Active device {place}
   Array State : AA ('A' == active, '.' == missing, 'R' == replacing)
"""


def test_superblocks_of_two_members_are_one_array() -> None:
    text = BroughtText(
        "".join(SUPERBLOCK.format(device=f"sd{letter}1", place=place) for place, letter in enumerate("kj"))
    )
    assert {key: (one.level, one.device_name, one.state) for key, one in text.arrays.items()} == {
        "box:21": ("1", "", "")
    }
    (detail,) = text.readings.mdadm.by_name.values()  # type: ignore[union-attr]
    assert [one.device for one in detail.array.members] == ["sdk1", "sdj1"]  # type: ignore[union-attr]


def test_a_superblocks_array_is_the_one_that_its_device_is_in() -> None:
    kernels = "Personalities : [raid1]\nmd21 : active raid1 sdj1[1] sdk1[0]\n      9 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n"
    text = BroughtText(kernels + SUPERBLOCK.format(device="sdk1", place=0))
    assert text.arrays.keys() == {"md21"}
    assert text.arrays["md21"].uuid == "01020304-0506-0708-090a-0b0c0d0e0f10"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "first", [DETAIL.format(name="md/Store1", size=4000, uuid=UUID), EXPORT.format(more="MD_NAME=box:31\n")]
)
def test_an_array_gets_the_kernels_name_when_that_is_known(lab: Lab, first: str) -> None:
    host = hosts.host(lab)
    members = "sdd1[3] sdc1[1] sdb1[0]" if "Store1" in first else "sdx1[2](S) sdw1[1] sdv1[0]"
    kernels = f"Personalities : [raid5]\nmd31 : active raid5 {members}\n      4000 blocks [3/3] [UUU]\n\nunused devices: <none>\n"
    for printed in (first, kernels):
        receive(host, [vars(one) for one in BroughtText(printed).outputs.values()])
    (array,) = Array.objects.filter(host=host)
    assert (array.name, array.device_name, array.is_present) == ("md31", "/dev/md31", True)
    assert array.uuid == "01020304-0506-0708-090a-0b0c0d0e0f10"
