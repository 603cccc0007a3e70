"""Shapes in which people paste outputs of mdadm, dmidecode, smartctl and storcli: shifted columns, parts of outputs, cuts."""

import pytest

from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

MEMBER = "/dev/sdb:\n          Magic : Intel Raid ISM Cfg Sig.\n        Version : 1.3.00\n          Disks : 2\n"
IMSM = f"""\
{MEMBER}   RAID Devices : 1

  Disk01 Serial : SER-B
          State : active
             Id : 00000002
    Usable Size : 1000 (0.50 MiB 0.51 MB)

Bad Block Management Log:
       Log Size : 16

[Volume1]:
           UUID : aa:bb:cc:dd
     RAID Level : 1 <-- 1
          Slots : [UU] <-- [UU]
      Map State : normal <-- uninitialized

  Disk00 Serial : SER-A
          State : failed
             Id : 00000001
    Usable Size : 2000 (1.00 MiB 1.02 MB)

Migration Record Information:
                     Status : Normal
"""
BITMAP = """\
# mdadm -X /dev/sdb
        Filename : /dev/sdb
           Magic : 6d746962
         Version : 5
            UUID : 01020304:05060708:090a0b0c:0d0e0f10
       Chunksize : 64 MB
      Write Mode : Normal
       Sync Size : 306176 (299.00 MiB 313.52 MB)
    Cluster name : east
       Node Slot : 0
          Events : 44
          Bitmap : 5 bits (chunks), 2 dirty (40.0%)
       Node Slot : 1
          Events : 7
          Bitmap : 5 bits (chunks), 0 dirty (0.0%)

mdadm: stopped
"""
DETAIL = """\
/dev/md0:
           Version : 1.2
        Raid Level : raid1
      Raid Devices : 2
{table}"""


@pytest.mark.parametrize("margin", ["", "  ", "   ", "\t"])
def test_members_of_an_array_are_read_wherever_their_columns_stand(margin: str) -> None:
    rows = (
        "Number Major Minor RaidDevice State",
        "3 8 17 0 active sync set-A /dev/sdb1",
        "- 0 0 1 removed",
        "4 8 33 - faulty /dev/sdc1",
    )
    table = "".join(f"{margin}{row}\n" for row in rows)
    assert content("mdadm", DETAIL.format(table=table))["device_table"] == [
        {"number": 3, "major": 8, "minor": 17, "raid_device": 0, "state": "active sync set-A", "device": "/dev/sdb1"},
        {"number": "-", "major": 0, "minor": 0, "raid_device": 1, "state": "removed", "device": None},
        {"number": 4, "major": 8, "minor": 33, "raid_device": "-", "state": "faulty", "device": "/dev/sdc1"},
    ]


def test_members_of_an_array_that_is_not_assembled_have_no_state() -> None:
    table = "  Number   Major   Minor   RaidDevice\n\n      -     259       16        -        /dev/nvme0n1p1\n"
    assert content("mdadm", DETAIL.format(table=table))["device_table"] == [
        {"number": "-", "major": 259, "minor": 16, "raid_device": "-", "device": "/dev/nvme0n1p1"}
    ]


def test_rows_of_superblock_0_90_have_their_place_before_their_number() -> None:
    table = (
        "      Number   Major   Minor   RaidDevice State\nthis     2       8       34        2      spare   /dev/sdc2\n\n"
        "   0     0       8        2        0      active sync   /dev/sda2\n"
        "   1     1       0        0        1      faulty removed\n   2     2       8       34        2      spare   /dev/sdc2\n"
    )
    found = content("mdadm", DETAIL.format(table=table))["device_table"]
    assert [(one["number"], one["raid_device"], one["state"], one["device"]) for one in found] == [
        (0, 0, "active sync", "/dev/sda2"), (1, 1, "faulty removed", None), (2, 2, "spare", "/dev/sdc2"),
    ]  # fmt: skip


def test_what_intels_metadata_says_of_other_disks_is_not_said_of_the_volume() -> None:
    assert scores(SourceText(IMSM)) == {"mdadm": 1.0}
    (one,) = parsed("mdadm", IMSM).inventory
    assert (one.summary, one.last_line) == ("/dev/sdb: 2 disks, 1 volume, Volume1 RAID 1 <-- 1", len(IMSM.splitlines()))
    found = one.content
    assert found["[Volume1]"] == {
        "uuid": "aa:bb:cc:dd", "raid_level": "1 <-- 1", "slots": "[UU] <-- [UU]", "map_state": "normal <-- uninitialized",
    }  # fmt: skip
    assert found["disk_list"] == [
        {
            "disk": "Disk01",
            "serial": "SER-B",
            "state": "active",
            "id": "00000002",
            "usable_size": "1000 (0.50 MiB 0.51 MB)",
        },
        {
            "disk": "Disk00",
            "serial": "SER-A",
            "state": "failed",
            "id": "00000001",
            "usable_size": "2000 (1.00 MiB 1.02 MB)",
        },
    ]
    assert found["bad_block_management_log"] == {"log_size": 16}
    assert found["migration_record_information"] == {"status": "Normal"}


def test_a_members_metadata_that_is_cut_behind_its_head_is_that_head() -> None:
    assert content("mdadm", MEMBER)["magic"] == "Intel Raid ISM Cfg Sig."


def test_a_bitmap_is_read_with_its_nodes_apart() -> None:
    assert scores(SourceText(BITMAP)) == {"mdadm": 1.0}
    (one,) = parsed("mdadm", BITMAP).inventory
    assert (one.line, one.last_line, one.summary) == (2, 15, "/dev/sdb: bitmap, chunk 64 MB")
    assert one.content["sync_size"] == "306176 (299.00 MiB 313.52 MB)"
    assert one.content["slots"] == [
        {"node_slot": 0, "events": 44, "bitmap": "5 bits (chunks), 2 dirty (40.0%)"},
        {"node_slot": 1, "events": 7, "bitmap": "5 bits (chunks), 0 dirty (0.0%)"},
    ]


def test_scanned_containers_volumes_and_members() -> None:
    text = (
        "   ARRAY metadata=imsm UUID=aa:bb\n   ARRAY /dev/md/vol container=aa:bb member=0 UUID=cc:dd\n"
        "   ARRAY /dev/md3 level=raid1 num-devices=2 metadata=1.2 UUID=ee:ff\n      devices=/dev/sda1,/dev/sdb1\n"
    )
    assert scores(SourceText(text)) == {"mdadm": 0.8}
    assert content("mdadm", text)["arrays"] == [
        {"metadata": "imsm", "UUID": "aa:bb"},
        {"device": "/dev/md/vol", "container": "aa:bb", "member": "0", "UUID": "cc:dd"},
        {"device": "/dev/md3", "level": "raid1", "num-devices": "2", "metadata": "1.2", "UUID": "ee:ff", "devices": "/dev/sda1,/dev/sdb1"},
    ]  # fmt: skip


TABLES = """\
# dmidecode 2.12
SMBIOS 2.7 present.
3 structures occupying 900 bytes.
Table at 0x000EC000.

Handle 0x0100, DMI type 1, 27 bytes
System Information
\tManufacturer: To Be Filled By O.E.M.
\tProduct Name: To Be Filled By O.E.M.

Handle 0x0200, DMI type 2, 15 bytes
Base Board Information
\tManufacturer: Example
\tProduct Name: Board 7
"""


def test_a_table_that_ends_before_its_last_structure_is_told() -> None:
    found = parsed("dmidecode", TABLES)
    assert [(one.line, one.found, one.expected) for one in found.broken] == [
        (14, "2 structures", "3, as it says at its beginning")
    ]
    assert found.inventory[0].summary == "Example Board 7, 2 structures"


@pytest.mark.parametrize(
    "text",
    [
        f"{TABLES}\nWrong DMI structures count: 3 announced, only 2 decoded.\n",
        f"{TABLES}\nHandle 0x7F00, DMI type 127, 4 bytes\nEnd Of Table\n",
        TABLES.replace("3 structures occupying 900 bytes.\n", ""),
    ],
)
def test_a_table_that_is_whole_or_asked_for_in_part_is_not_cut(text: str) -> None:
    assert not parsed("dmidecode", text).broken


def test_what_has_no_field_in_a_report_of_smartctl_is_kept_as_it_stands() -> None:
    text = (
        "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-5.4.0] (local build)\nCopyright (C) 2002-22, Bruce Allen\n\n"
        "=== START OF INFORMATION SECTION ===\nVendor:               EXAMPLE\nFormatted with type 2 protection\nSerial number:        S1\n"
        "=== START OF READ SMART DATA SECTION ===\nSMART Health Status: OK\n\nError counter log:\n"
        "read:    8        1         9        12          3      10311.154           2\nNon-medium error count:        5\n"
    )
    assert content("smartctl text", text)["lines"] == [
        "Formatted with type 2 protection", "Error counter log:",
        "read:    8        1         9        12          3      10311.154           2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "above", ["Getting SMBIOS data from sysfs.\n", "PNP BIOS present.\nSYSID present.\n", " dmidecode 2.6\n", ""]
)
def test_the_version_of_smbios_stands_above_the_first_handle(above: str) -> None:
    text = f"# dmidecode -t 17\n{above}SMBIOS 3.2.0 present.\n\nHandle 0x0008, DMI type 16, 23 bytes\nPhysical Memory Array\n\tNumber Of Devices: 4\n"
    (one,) = parsed("dmidecode", text).inventory
    assert (one.line, one.content["smbios"]) == (2, "3.2.0")
    assert one.content["version"] == ("2.6" if "dmidecode" in above else "")


def test_a_report_that_lost_the_ends_of_its_lines_is_told() -> None:
    text = "=== START OF INFORMATION SECTION === Device Model: Example 840 Serial Number: S1 User Capacity: 120,034,123,776 bytes\n"
    with pytest.raises(ParseError) as told:
        parsed("smartctl text", text)
    assert (told.value.broken.line, told.value.broken.expected) == (1, "each field of smartctl on a line of its own")


def test_a_table_of_members_that_is_cut_is_told() -> None:
    rows = "Number Major Minor RaidDevice State\n3 8 17 0 active sync /dev/sdb1\n"
    assert [(one.line, one.found, one.expected) for one in parsed("mdadm", DETAIL.format(table=rows)).broken] == [
        (6, "1 place", "2, as it says in Raid Devices")
    ]
    for rest in ("- 0 0 1 removed\n", "0 0 0 0 removed\n"):
        assert not parsed("mdadm", DETAIL.format(table=rows + rest)).broken


DASHES = "-" * 62
VOLUMES = f"""\
CLI Version = 007.2408.0000.0000 Nov 15, 2022
Controller = 0
Status = Success
Description = None

Virtual Drives = 3

VD LIST :
=======

{DASHES}
DG/VD TYPE  State Access Consist Cache Cac sCC     Size Name
{DASHES}
0/0   RAID1 Optl  RW     Yes     NRWTD -   OFF 2.178 TB
"""


@pytest.mark.parametrize("more", ["", "1/1   RAID5 Dgrd  RW     Yes     NRWTD -   OFF 3.178 TB data\n"])
def test_rows_of_a_table_that_is_cut_are_read_and_the_cut_is_told(more: str) -> None:
    found = parsed("storcli text", VOLUMES + more)
    rows = found.inventory[0].content["Response Data"]["VD LIST"]
    assert [(row["DG/VD"], row["State"], row["Size"]) for row in rows] == [
        ("0/0", "Optl", "2.178 TB"), *([("1/1", "Dgrd", "3.178 TB")] if more else []),
    ]  # fmt: skip
    assert [(one.line, one.found) for one in found.broken] == [(len((VOLUMES + more).splitlines()), "VD LIST")]
    assert not parsed("storcli text", f"{VOLUMES}{more}{DASHES}\n\nThis is it  as it stands.\n").broken
