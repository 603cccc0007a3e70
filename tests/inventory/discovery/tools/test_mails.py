"""Outputs as mails, forums and terminals show them: wrapped, cited, indented or without any indentation."""

import pytest

from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

MAIL = """\
Hello,
this is what is in there:
00:00.0 Host bridge: Example Corporation 9000 Series Root Complex (rev 02)
00:01.0 PCI bridge: Example Corporation 9000 Series Dummy Port of the Host
Bridge
03:00.0 RAID bus controller: Sample Systems, Inc. [SSI] Family 17h (Models
10h-1fh) RAID Controller
04:00.0 SATA controller: Example Corporation 9000 Series 6-Port SATA
Controller [AHCI mode] (rev 05)
Thanks
"""


def _names(text: str) -> list[str]:
    return [device["name"] for device in content("lspci", text)["devices"]]


def test_devices_that_a_mail_wrapped_are_whole() -> None:
    assert _names(MAIL) == [
        "Example Corporation 9000 Series Root Complex",
        "Example Corporation 9000 Series Dummy Port of the Host Bridge",
        "Sample Systems, Inc. [SSI] Family 17h (Models 10h-1fh) RAID Controller",
        "Example Corporation 9000 Series 6-Port SATA Controller [AHCI mode]",
    ]
    (one,) = parsed("lspci", MAIL).inventory
    assert (one.line, one.last_line) == (3, 9)


def test_words_behind_the_last_device_are_none_of_it() -> None:
    text = MAIL.replace("Controller [AHCI mode] (rev 05)", "I hope that this helps you with that controller.")
    assert _names(text)[-1] == "Example Corporation 9000 Series 6-Port SATA"
    alone = "04:00.0 SATA controller: Example Corporation 9000 Series 6-Port SATA Device\nNothing else is in it.\n"
    assert _names(alone) == ["Example Corporation 9000 Series 6-Port SATA Device"]


def test_what_a_terminal_cut_inside_words_is_put_together() -> None:
    whole = [
        "00:00.0 Host bridge: Example Corporation 9000 Series Memory Controller Hub (rev 02)",
        "00:1a.0 USB controller: Example Corporation 9000 Series USB UHCI Controller #4 (rev 02)",
        "00:1b.0 Audio device: Example Corporation 9000 Series HD Audio Codecs Controller (rev 02)",
        "00:1c.0 Audio device: Example Corporation 9000 Series HD Audio Codec Controller (rev 02)",
        "00:1f.0 ISA bridge: Example Corporation LPC",
    ]
    assert (whole[2][80], whole[3][79]) == (" ", " ")
    cut = "\n".join("\n".join(filter(None, (line[:80].rstrip(), line[80:]))) for line in whole)
    assert content("lspci", cut) == content("lspci", "\n".join(whole))


VERBOSE = """\
00:1f.2 SATA controller: Example Corporation 9000 Series
Serial ATA Storage Controller AHCI (rev 01) (prog-if 01 [AHCI 1.0])
        Subsystem: Sample Systems, Inc. Device 2606
        Control: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop-
ParErr- Stepping- SERR- FastB2B-
        Latency: 0
"""


@pytest.mark.parametrize("prefix", ["", "> ", ">>> "])
def test_details_that_a_mail_wrapped_are_whole(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in VERBOSE.splitlines())
    (device,) = content("lspci", text)["devices"]
    assert device["name"] == "Example Corporation 9000 Series Serial ATA Storage Controller AHCI"
    assert device["details"] == {
        "Subsystem": "Sample Systems, Inc. Device 2606", "Latency": "0",
        "Control": "I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B-",
    }  # fmt: skip


def test_details_without_their_tab_belong_to_the_device_above() -> None:
    text = (
        "03:00.0 RAID bus controller: Example 9000 (rev 05)\nSubsystem: Sample Mini\nFlags: bus master, fast devsel\nMemory at dd9fc000 [size=16K]\n"
        "Kernel driver in use: example\n\n04:00.0 SATA controller: Example 9001\nKernel driver in use: ahci\n\nThat is all.\n"
    )
    first, second = content("lspci", text)["devices"]
    assert first["details"] == {
        "Subsystem": "Sample Mini", "Flags": "bus master, fast devsel", "lines": ["Memory at dd9fc000 [size=16K]"],
        "Kernel driver in use": "example",
    }  # fmt: skip
    assert second["details"] == {"Kernel driver in use": "ahci"}


DETAIL = """\
/dev/md4:
           Version : 1.2
        Raid Level : raid5
      Raid Devices : 3
             State : clean
"""


@pytest.mark.parametrize("prefix", ["Anna> ", " Bob> ", "   ", "\t", "      "])
def test_who_wrote_a_line_and_how_far_a_page_indented_it_change_nothing(prefix: str) -> None:
    text = "He says:\n\n" + "".join(f"{prefix}{line}\n" for line in DETAIL.splitlines()) + "\nwhich is odd.\n"
    assert scores(SourceText(text)) == {"mdadm": 1.0}
    (one,) = parsed("mdadm", text).inventory
    assert (one.content, one.line, one.last_line) == (content("mdadm", DETAIL), 3, 7)


def test_an_inactive_array_is_read() -> None:
    text = (
        "/dev/md127:\n        Version : 1.2\n     Raid Level : raid0\n  Total Devices : 1\n          State : inactive\n"
    )
    assert scores(SourceText(text)) == {"mdadm": 1.0}
    assert content("mdadm", text)["state"] == "inactive"


@pytest.mark.parametrize(
    "text",
    [
        "The output has lines such as\n  - Raid Level : raid5 and\n  - RaidDevice\n",
        'print("00:1f.2 SATA controller: Example")\n#        Slot:   02:00.0\n',
    ],
)
def test_words_of_a_tool_without_its_output_are_not_claimed(text: str) -> None:
    assert scores(SourceText(text)) == {}


MOUNTS = """\
NAME        MAJ:MIN RM   SIZE RO TYPE MOUNTPOINTS
sda           8:0    0 931.5G  0 disk
├─sda1        8:1    0   512M  0 part /boot/efi
├─sda2        8:2    0   931G  0 part /var/snap
│                                     /
└─sda3        8:3    0     1G  0 part
nvme0n1     259:0    0 465.8G  0 disk
└─nvme0n1p1 259:1    0   465G  0 part [SWAP]
                                      /srv
"""


def test_devices_that_are_mounted_in_several_places_have_them_all() -> None:
    (one,) = parsed("lsblk", MOUNTS + "Thanks!\n").inventory
    assert (one.line, one.last_line) == (1, 9)
    found = {device["name"]: (device["mountpoints"], device.get("parent")) for device in one.content["blockdevices"]}
    assert found == {
        "sda": ([], None), "sda1": (["/boot/efi"], "sda"), "sda2": (["/var/snap", "/"], "sda"), "nvme0n1": ([], None), "sda3": ([], "sda"),
        "nvme0n1p1": (["[SWAP]", "/srv"], "nvme0n1"),
    }  # fmt: skip


def test_a_mount_point_that_a_mail_has_on_a_line_of_its_own_belongs_to_the_row_above() -> None:
    text = (
        "NAME   MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINT\nsda      8:0    0 931.5G  0 disk\n└─md0    9:0    0   931G  0 raid1\n"
        "/very/long\nsdb      8:16   0 931.5G  0 disk\n"
    )
    (one,) = parsed("lsblk", text).inventory
    assert [(device["name"], device["mountpoint"]) for device in one.content["blockdevices"]] == [
        ("sda", None), ("md0", "/very/long"), ("sdb", None),
    ]  # fmt: skip
    assert one.last_line == 5


@pytest.mark.parametrize("words", ["As you can see there is nothing else: why?", "My setup is old.", "It works."])
def test_words_right_behind_a_table_are_none_of_its_rows(words: str) -> None:
    text = f"NAME    FSTYPE   LABEL UUID\nsda\n└─sda1  ext4     root  aa3e-02\n{words}\n"
    assert [device["name"] for device in content("lsblk", text)["blockdevices"]] == ["sda", "sda1"]


def test_a_heading_without_rows_is_not_claimed() -> None:
    assert scores(SourceText("I ran lsblk with\n\nNAME FSTYPE SIZE\n\nand that was it.\n")) == {}


def test_fields_and_rows_of_an_array_that_a_mail_wrapped_are_whole() -> None:
    text = (
        "/dev/md0:\n        Version : 1.2\n     Raid Level : raid6\n     Array Size : 7813770240 (7451.79 GiB\n8001.30 GB)\n   Raid Devices : 6\n"
        "          State : clean, degraded,\nrecovering\n Active Devices : 5\n\n    Number   Major   Minor   RaidDevice State\n"
        "       0       8       16        0      active sync\n/dev/sdb\n"
        "       1       8       32        1      active sync   /dev/sdc\nThanks\n\nBob\n"
    )
    (one,) = parsed("mdadm", text).inventory
    assert (one.content["array_size"], one.content["state"]) == (
        "7813770240 (7451.79 GiB 8001.30 GB)",
        "clean, degraded, recovering",
    )
    assert [row["device"] for row in one.content["device_table"]] == ["/dev/sdb", "/dev/sdc"]
    assert one.last_line == 14


REPORT = """\
smartctl 7.2 2020-12-30 r5155 [x86_64-linux] (local build)
=== START OF INFORMATION SECTION ===
Device Model:     EXAMPLE 3000
Serial Number:    E-1

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

SMART Extended Self-test Log Version: 1 (1 sectors)
Num  Test_Description    Status                  Remaining
LifeTime(hours)  LBA_of_first_error
# 1  Short offline       Completed without error       00%        42         -

Device Statistics (GP Log 0x04)
Page  Offset Size        Value Flags Description
0x01  =====  =               =  ===  == General Statistics (rev 1) ==
0x01  0x008  4              46  ---  Lifetime Power-On Resets
                                |||_ C monitored condition
"""


def test_a_report_of_smartctl_ends_where_somebodys_words_begin() -> None:
    words = "--00000\nContent-Type: text/plain\n\nKind regards,\nDan\nPhone: 555-1\n\nFilesystem state: clean\n\nAfter that it is gone\n"
    (one,) = parsed("smartctl text", REPORT + words).inventory
    assert one.last_line == 18
    assert one.content["data"].keys() == {"SMART Extended Self-test Log Version"}
    assert [line for line in one.content["lines"] if line.startswith(("#", "0x01  0x008"))] == [
        "# 1  Short offline       Completed without error       00%        42         -",
        "0x01  0x008  4              46  ---  Lifetime Power-On Resets",
    ]


def test_a_report_of_smartctl_goes_on_behind_somebodys_words() -> None:
    more = "\nAnd this, Dan: look!\nSee: there\n\nSCT Error Recovery Control:\n           Read: Disabled\n          Write: Disabled\n"
    (one,) = parsed("smartctl text", REPORT + more).inventory
    assert one.last_line == 25
    assert one.content["data"]["SCT Error Recovery Control"] == {"Read": "Disabled", "Write": "Disabled"}


def test_attributes_that_somebody_moved_in_have_their_values() -> None:
    text = "ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE\n"
    text += "    5 Reallocated_Sector_Ct   PO--CK   184   184   140    - 126\n    9 Power_On_Hours -O--CK 017 017 000 - 61089\n"
    assert [(one["id"], one["raw"]) for one in content("smartctl text", text)["attributes"]] == [
        (5, "126"),
        (9, "61089"),
    ]


def test_the_layout_of_an_array_may_be_wrapped_below_its_margin() -> None:
    text = """\
     Personalities : [raid6]
     md3 : active raid6 sdr[0] sdp[1]
sds[2] sdm[3]
           1562574 blocks super 1.2 level 6, 1024k chunk, algorithm\x20
2 [4/4] [UUUU]
           bitmap: 0/117 pages [0KB], 65536KB chunk

     md4 : active raid10 sda[0] sdb[1]
           1562574 blocks 64K chunks 2
near-copies
[2/2] [UU]
"""
    (one,) = parsed("mdstat", text).inventory
    told = [[array[key] for key in ("name", "layout", "places", "raid_devices")] for array in one.content["arrays"]]
    assert told == [["md3", "left-symmetric", "UUUU", 4], ["md4", "2 near-copies", "UU", 2]]
    assert len(one.content["arrays"][0]["members"]) == 4
