"""Outputs with parts left out, folded or joined on the way: what is whole is read, what is not is told, nothing is made of it."""

import re
import textwrap

import pytest

from apps.parsers.core.models import ParseError
from apps.parsers.core.registry import get_format
from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed

VOLUMES = """\
Controller = 0
Status = Success
Description = None

VD LIST :
=======

--------------------------------------------
DG/VD TYPE  State Access       Size Name
--------------------------------------------
0/0   RAID1 Optl  RW     446.625 GB os
{}
PD LIST :
=======

--------------------------------------------
EID:Slt DID State DG       Size Intf Med
--------------------------------------------
252:0     1 Onln   0 446.625 GB SATA SSD
252:1     2 Onln   0 446.625 GB SATA SSD
{}
"""
DASHES = "-" * 44 + "\n"
SCAN = """\
ARRAY /dev/md1 level=raid5 num-devices=3 UUID=aa:bb
   spares=1   devices=/dev/sdd,/dev/sdc,/dev/sdb
ARRAY /dev/md2 level=raid5 num-devices=3 UUID=cc:dd
   spares=1
ARRAY /dev/md3 level=raid1 num-devices=2
UUID=ee:ff
"""
DETAIL = """\
/dev/md0:
        Raid Level : raid1
      Raid Devices : 2
       0       8       17        0      active sync   /dev/sdb1
       1       8       33        1      active sync   /dev/sdc1
"""


@pytest.mark.parametrize("gap", ["...\n", "", "[snip]\n\n"])
def test_a_table_of_storcli_that_lost_its_end_takes_nothing_of_the_next_one(gap: str) -> None:
    found = parsed("storcli text", VOLUMES.format(gap, DASHES))
    data = found.inventory[0].content["Response Data"]
    assert [row["DG/VD"] for row in data["VD LIST"]] == ["0/0"]
    assert [row["EID:Slt"] for row in data["PD LIST"]] == ["252:0", "252:1"]
    assert [(one.line, one.found) for one in found.broken] == [(11, "VD LIST")]


def test_the_last_table_of_storcli_is_told_to_be_cut_whatever_follows() -> None:
    found = parsed("storcli text", VOLUMES.format(DASHES, "[snip]\n\nThat was all of it.\n"))
    assert len(found.inventory[0].content["Response Data"]["PD LIST"]) == 2
    assert [(one.line, one.found) for one in found.broken] == [(21, "PD LIST")]


def test_no_table_of_storcli_is_cut_that_has_its_dashes() -> None:
    assert parsed("storcli text", VOLUMES.format(DASHES, DASHES)).broken == ()


def test_spares_and_members_of_scanned_arrays_stand_on_a_second_line() -> None:
    assert content("mdadm", SCAN)["arrays"] == [
        {"device": "/dev/md1", "level": "raid5", "num-devices": "3", "UUID": "aa:bb", "spares": "1",
         "devices": "/dev/sdd,/dev/sdc,/dev/sdb"},
        {"device": "/dev/md2", "level": "raid5", "num-devices": "3", "UUID": "cc:dd", "spares": "1"},
        {"device": "/dev/md3", "level": "raid1", "num-devices": "2", "UUID": "ee:ff"},
    ]  # fmt: skip


def test_members_whose_headings_a_grep_left_out_are_read() -> None:
    table = content("mdadm", DETAIL)["device_table"]
    assert [(row["raid_device"], row["state"], row["device"]) for row in table] == [
        (0, "active sync", "/dev/sdb1"),
        (1, "active sync", "/dev/sdc1"),
    ]


def test_what_mdstat_prints_right_behind_mdadm_is_none_of_its_fields() -> None:
    (one,) = parsed("mdadm", f"{DETAIL}Personalities : [raid1]\nmd0 : active raid1 sdb1[0] sdc1[1]\n").inventory
    assert (one.last_line, "personalities" in one.content) == (5, False)


def test_headings_that_a_mail_folded_are_no_device() -> None:
    text = "NAME   FSTYPE SIZE\nFSUSE% MOUNTPOINTS\nsda\n└─sda1 ext4   9.1G\n10% /\n"
    with pytest.raises(ParseError) as caught:
        parsed("lsblk", text)
    assert caught.value.broken.expected == "headings on one line"


def test_file_systems_that_a_mail_folded_have_what_stands_on_the_next_lines() -> None:
    text = """\
NAME   FSTYPE            FSVER LABEL    UUID
    FSAVAIL FSUSE% MOUNTPOINTS
sda
├─sda1 ext4              1.0   my root  01020304-0506-0708-090a-0b0c0d0e0f10
    9.1G    10% /
│
            /var
├─sda2 linux_raid_member       here:0
01020304-0506-0708-090a-0b0c0d0e0f11
└─sda3 swap
            [SWAP]
.
.
sdb                                     51B3-05FD      <---- new
My setup is old.
"""
    (one,) = parsed("lsblk", text).inventory
    keys = ("name", "fstype", "fsver", "label", "uuid", "fsavail", "fsuse%", "mountpoints", "parent")
    assert [tuple(row.get(key) for key in keys) for row in one.content["blockdevices"]] == [
        ("sda", None, None, None, None, None, None, [], None),
        ("sda1", "ext4", "1.0", "my root", "01020304-0506-0708-090a-0b0c0d0e0f10", "9.1G", "10%", ["/", "/var"], "sda"),
        ("sda2", "linux_raid_member", None, "here:0", "01020304-0506-0708-090a-0b0c0d0e0f11", None, None, [], "sda"),
        ("sda3", "swap", None, None, None, None, None, ["[SWAP]"], "sda"),
        ("sdb", None, None, None, "51B3-05FD", None, None, [], None),
    ]
    assert (one.line, one.last_line) == (1, 14)


def test_rows_of_a_narrow_terminal_that_a_mail_folded_are_read() -> None:
    text = """\
NAME FSTYPE FSVER LABEL      UUID
FSAVAIL FSUSE% MOUNTPOINTS
sdb
└─sdb1
     ntfs         New Volume 7A4E55864E553BD7
nvme0n1
│
└─nvme0n1p1
     vfat   FAT32            51B3-05FD
 504.9M     1% /boot/efi
"""
    (one,) = parsed("lsblk", text).inventory
    keys = ("name", "fstype", "label", "uuid", "fsavail", "mountpoints", "parent")
    assert [tuple(row.get(key) for key in keys) for row in one.content["blockdevices"]] == [
        ("sdb", None, None, None, None, [], None),
        ("sdb1", "ntfs", "New Volume", "7A4E55864E553BD7", None, [], "sdb"),
        ("nvme0n1", None, None, None, None, [], None),
        ("nvme0n1p1", "vfat", None, "51B3-05FD", "504.9M", ["/boot/efi"], "nvme0n1"),
    ]
    assert one.last_line == 10


def test_rows_of_a_narrow_terminal_go_on_wherever_a_cell_was_too_long() -> None:
    text = """\
NAME FSTYPE FSVER LABEL UUID                                 FSAVAIL FSUSE% MOUNTPOINTS
nvme0n1

├─nvme0n1p1
│    vfat   FAT32 EFI_PART
│                       51B3-05FD                             504.9M     1% /boot/efi
├─nvme0n1p2
│
└─nvme0n1p3
     xfs          data  1a1b2c3d-0123-4567-89ab-cdef00112233      2T    73% /srv
                                                                            /mnt
sr0  iso966 Jolie Disc 1.0 of 2
                        2024-02-10-11-31-15-00

nvme0n1p1 is the one to boot from.
"""
    (indented,) = parsed("lsblk", textwrap.indent(text, "    ", bool)).inventory
    (one,) = parsed("lsblk", text).inventory
    assert (indented.content, indented.last_line) == (one.content, one.last_line)
    rows = [[row[key] for key in ("name", "label", "uuid", "mountpoints")] for row in one.content["blockdevices"]]
    assert rows == [
        ["nvme0n1", None, None, []],
        ["nvme0n1p1", "EFI_PART", "51B3-05FD", ["/boot/efi"]],
        ["nvme0n1p2", None, None, []],
        ["nvme0n1p3", "data", "1a1b2c3d-0123-4567-89ab-cdef00112233", ["/srv", "/mnt"]],
        ["sr0", "Disc 1.0 of 2", "2024-02-10-11-31-15-00", []],
    ]
    assert [row.get("parent") for row in one.content["blockdevices"]] == [None, *["nvme0n1"] * 3, None]
    assert (one.line, one.last_line) == (1, 13)


def test_a_blank_line_below_a_long_name_ends_a_table_that_does_not_go_on() -> None:
    text = "NAME FSTYPE\nsda\n└─sda1\n     ext4\nnvme0n1\n\nThanks\n"
    (one,) = parsed("lsblk", text).inventory
    assert [row["name"] for row in one.content["blockdevices"]] == ["sda", "sda1", "nvme0n1"]


def test_rows_are_folded_below_a_wider_column_too() -> None:
    head = "NAME      MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINT\n"
    text = f"{head}nvme0n1   259:0    0 931.5G  0 disk\n├─nvme0n1p1\n│         259:1    0   512M  0 part  /boot/efi\n"
    rows = content("lsblk", text)["blockdevices"]
    assert [(row["name"], row["size"], row["mountpoint"]) for row in rows] == [
        ("nvme0n1", "931.5G", None),
        ("nvme0n1p1", "512M", "/boot/efi"),
    ]


def test_cells_that_slipped_into_other_columns_are_not_read() -> None:
    head = "NAME    SIZE MODEL                TRAN ROTA\n"
    whole = f"{head}sda   447.1G INTEL SSDSC2BB480G4  sata    0\nsdb     3.7T ST4000NM0035         sas     1\n"
    assert [one["rota"] for one in content("lsblk", whole)["blockdevices"]] == ["0", "1"]
    with pytest.raises(ParseError):
        parsed("lsblk", re.sub(" +", " ", whole))
    found = parsed("lsblk", f"{head}sda   447.1G INTEL SSDSC2BB480G4  sata    0\nsdb disk 3.7T ST4000NM0035 sas 1\n")
    assert [one["name"] for one in found.inventory[0].content["blockdevices"]] == ["sda"]
    assert [one.line for one in found.broken] == [3]


def test_dmidecode_without_its_tabs_has_its_fields() -> None:
    text = "Handle 0x0001, DMI type 1, 27 bytes\nSystem Information\nManufacturer: Example\nProduct Name: Machine 7\n"
    (one,) = parsed("dmidecode", text).inventory
    assert one.summary == "Example Machine 7, 1 structure"
    assert one.content["structures"][0]["fields"] == {"Manufacturer": "Example", "Product Name": "Machine 7"}


def test_a_title_of_omreport_names_nothing_that_stands_above_it() -> None:
    drive = "ID : 0:1:{}\nStatus : Ok\nName : Physical Disk 0:1:{}\n\n"
    text = f"{drive.format(0, 0)}Controller Example B (Slot 2)\n\n{drive.format(1, 1)}"
    found = content("omreport", text)
    assert found["title"] == ""
    titles = [(one["title"], [row["ID"] for row in one["rows"]]) for one in found["sections"]]
    assert titles == [("", ["0:1:0"]), ("Controller Example B (Slot 2)", ["0:1:1"])]


def test_a_cut_table_is_told_at_a_line_of_the_file_also_where_one_overwrites_itself() -> None:
    cut = "Controller = 0\nStatus = Success\nDescription = None\n\nVD LIST :\n=======\n\n" + DASHES
    text = f"{cut}DG/VD TYPE  State Access       Size Name\n{DASHES}" + "0/0   RAID1 Optl  RW     446.625 GB os\r" * 3
    lines = [one.line for one in parsed("storcli text", text).broken]
    assert lines == [11]


def test_bare_rows_that_make_no_table_cost_the_other_rows_nothing() -> None:
    odd = "zram...0 253:0 0 0B \t0 disk\nvda 0:0 0 256G 0 disk\n"
    found = get_format("lsblk").parse(SourceText(f"sda 8:0 0 1G 0 disk\n\n\nand the other one:\n{odd}"))
    assert [one.content["blockdevices"][0]["name"] for one in found.inventory] == ["sda"]
    assert [(one.line, one.message) for one in found.broken] == [(5, "lsblk: not readable")]
    with pytest.raises(ParseError):
        get_format("lsblk").parse(SourceText(odd))
