"""Outputs as people copy them: some of their lines, with blank ones between them, wrapped, without titles, of old versions."""

import pytest

from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

SCSI = """\
smartctl {version}
Copyright (C) 2002-12 by Bruce Allen, http://smartmontools.sourceforge.net

{named}
Serial number: 7E57-1
Device type: disk
Transport protocol: SAS
Local Time is: Sun Jun 17 10:11:31 2012 UTC
Device supports SMART and is Enabled
Temperature Warning Disabled or Not Supported
SMART Health Status: OK

Current Drive Temperature:     23 C
Elements in grown defect list: 0
"""
LONG = "Vendor:               {}\nProduct:              {}\nRevision:             {}\nUser Capacity:        1,000 bytes [1 kB]"
WRAPPED = """\
Adapter #0

Enclosure Device ID: 8
Slot Number: 3
Raw Size: 1.819 TB [0xe8e088b0
Sectors]
SAS Address(0):
 0x1221000000000000
Firmware state: Online, Spun Up
Inquiry Data:      7E57000001EXAMPLE 7
"""
WITHOUT_BLANKS = """\
Personalities : [raid1] [raid10]
md4 : active raid10 sdb2[1] sda2[0]
1000 blocks super 1.2 4096K chunks 2 offset-copies [2/1] [U_]
resync=DELAYED
bitmap: 2/3 pages [8KB], 65536KB chunk

md3 : active raid5 sda1[0]
sdb1[1] sdc1[3]

3000 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/2] [UU_]
[=>...................]  recovery =  6.8% (10/20) finish=6.3min speed=7K/sec

md0 : active raid1 nvme0n1p3[1]
500 blocks [2/1] [_U]

unused devices: <none>
"""
GREPPED = """\
example:~ # mdadm -D /dev/md4 | egrep '/dev|Level'
/dev/md4:
     Raid Level : raid1
       0       8       17        0      active sync   /dev/sdb1
       1       8       34        1      active sync   /dev/sdc2
"""
LEFT_OUT = """\
/dev/md5:
...
        Raid Level : raid5
        Array Size : 1000 (1000.00 KiB 1.02 MB)
[...]
      Raid Devices : 3
...

What now?
"""
APART = """\
NAME        MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINTS
sda           8:0    0   7.3T  0 disk
└─sda1        8:1    0   7.3T  0 part  /data

sdb           8:16   0   447G  0 disk  (a spare one)
├─sdb1        8:17   0   340G  0 part  (cache)
└─sdb2        8:18   0     2G  0 part  [SWAP]

There are two of them.
"""
SPACED = """\
    Unit  UnitType  Status         %Cmpl  Stripe  Size(GB)  Cache  AVerify  IgnECC

    ------------------------------------------------------------------------------

    u0    RAID-5    OK             -      64K     465.641   OFF    OFF      OFF

    Port   Status           Unit   Size        Blocks        Serial

    ---------------------------------------------------------------

    p0     OK               u0     233.76 GB   490234752     7E57-0

    p3     NOT-PRESENT      -      -           -             -

That is all.
"""
UNTITLED = """\
-----------------------------------------------------------------
EID:Slt DID State DG     Size Intf Med SED PI SeSz Model      Sp
-----------------------------------------------------------------
8:0       9 Onln   0 2.728 TB SAS  HDD N   N  512B EXAMPLE7   U
-----------------------------------------------------------------
"""
OF_A_DRIVE = """\
Drive /c3/e8/s0 - Detailed Information :
======================================

Drive /c3/e8/s0 Device attributes :
=================================
SN =         7E57-9
Firmware Revision = A280
"""


@pytest.mark.parametrize(
    ("version", "named", "told"),
    [
        ("5.40 2010-03-16 r3077 [x86_64-unknown-linux-gnu]", "Device: EXAMPLE      ST360          Version: ER62", ("EXAMPLE", "ST360", "ER62")),
        ("version 5.38 [i686-redhat-linux-gnu]", "Device: MAKER-EX ST9300603SS   F  Version: B536", ("MAKER-EX", "ST9300603SS   F", "B536")),
        ("5.43 2012-06-30 r3573 [x86_64-linux]", LONG.format("EXAMPLE", "ST360", "ER62"), ("EXAMPLE", "ST360", "ER62")),
    ],
)  # fmt: skip
def test_an_old_smartctl_tells_what_a_scsi_drive_is_without_sections(
    version: str, named: str, told: tuple[str, ...]
) -> None:
    found = content("smartctl text", SCSI.format(version=version, named=named))
    about = found["information"]
    assert tuple(about[key] for key in ("Vendor", "Product", "Revision")) == told
    assert (about["Serial number"], about["Local Time is"]) == ("7E57-1", "Sun Jun 17 10:11:31 2012 UTC")
    assert found["data"] == {"Current Drive Temperature": "23 C", "Elements in grown defect list": 0}
    assert found["health"] == "OK"


def test_a_value_that_a_mail_wrapped_does_not_end_a_drive() -> None:
    (drive,) = content("megacli", WRAPPED)["physical_drives"]
    assert drive["Raw Size"] == "1.819 TB [0xe8e088b0 Sectors]"
    assert drive["SAS Address(0)"] == "0x1221000000000000"
    assert drive["Inquiry Data"] == "7E57000001EXAMPLE 7"


def test_arrays_of_mdstat_without_the_blanks_before_their_lines_are_whole() -> None:
    found = content("mdstat", WITHOUT_BLANKS)["arrays"]
    assert [(one["name"], one["state"], one["size"], one["places"], one["bitmap"]) for one in found] == [
        ("md4", "resyncing", 1000 << 10, "U_", "2/3 pages [8KB], 65536KB chunk"),
        ("md3", "recovering", 3000 << 10, "UU_", ""),
        ("md0", "degraded", 500 << 10, "_U", ""),
    ]
    assert [one["chunk_size"] for one in found] == [4096 << 10, 64 << 10, None]
    assert (found[1]["progress"], found[1]["layout"], len(found[1]["members"])) == (0.068, "left-symmetric", 3)


def test_some_lines_of_mdadm_are_those_of_an_array_and_the_prompt_names_the_host() -> None:
    assert scores(SourceText(GREPPED)) == {"mdadm": 1.0}
    (one,) = parsed("mdadm", GREPPED).inventory
    assert (one.host, one.line, one.last_line) == ("example", 2, 5)
    assert one.content["raid_level"] == "raid1"
    assert [row["device"] for row in one.content["device_table"]] == ["/dev/sdb1", "/dev/sdc2"]


def test_lines_that_somebody_left_out_do_not_end_an_array() -> None:
    found = parsed("mdadm", LEFT_OUT)
    (one,) = found.inventory
    assert (one.content["raid_level"], one.content["raid_devices"], one.last_line) == ("raid5", 3, 6)
    assert not found.broken


def test_rows_of_lsblk_go_on_behind_a_blank_line_and_remarks_are_no_mounts() -> None:
    found = parsed("lsblk", APART)
    (one,) = found.inventory
    assert [(row["name"], row.get("parent"), row["mountpoints"]) for row in one.content["blockdevices"]] == [
        ("sda", None, []), ("sda1", "sda", ["/data"]),
        ("sdb", None, []), ("sdb1", "sdb", []), ("sdb2", "sdb", ["[SWAP]"]),
    ]  # fmt: skip
    assert (one.last_line, found.broken) == (7, ())


def test_a_table_of_tw_cli_with_blank_lines_between_all_of_its_rows_is_one() -> None:
    (one,) = parsed("tw_cli", SPACED).inventory
    units, ports = one.content["tables"]
    assert [(row["Unit"], row["Size(GB)"]) for row in units["rows"]] == [("u0", "465.641")]
    assert [(row["Port"], row["Serial"]) for row in ports["rows"]] == [("p0", "7E57-0"), ("p3", "-")]
    assert one.last_line == SPACED.splitlines().index("That is all.") - 1


def test_tables_of_storcli_without_a_title_have_that_of_their_columns() -> None:
    text = f"Look:\n\n{UNTITLED}\n\n{OF_A_DRIVE}"
    assert scores(SourceText(text)) == {"storcli text": 1.0}
    (one,) = parsed("storcli text", text).inventory
    data = one.content["Response Data"]
    assert [(row["EID:Slt"], row["Model"]) for row in data["PD LIST"]] == [("8:0", "EXAMPLE7")]
    attributes = data["Drive /c3/e8/s0 - Detailed Information"]["Drive /c3/e8/s0 Device attributes"]
    assert attributes == {"SN": "7E57-9", "Firmware Revision": "A280"}
    assert one.content["Command Status"] == {"Controller": 3}


def test_what_stands_far_below_a_table_of_storcli_that_is_cut_off_is_none_of_it() -> None:
    rows = CARDS["storcli text"].splitlines()
    place = next(at for at, row in enumerate(rows) if row.startswith("EID:Slt"))
    text = "\n".join([*rows[place - 1 : place + 4], "", *["So I looked again."] * 60, "Speed = 7", ""])
    (one,) = parsed("storcli text", text).inventory
    assert (one.line, one.last_line) == (1, 5)


def test_a_table_of_storcli_has_as_many_rows_as_drives() -> None:
    rows = CARDS["storcli text"].splitlines()
    place = next(index for index, row in enumerate(rows) if row.startswith("EID:Slt")) + 2
    text = "\n".join([*rows[:place], *rows[place : place + 1] * 60, *rows[place:]])
    (one,) = parsed("storcli text", text).inventory
    (few,) = parsed("storcli text", CARDS["storcli text"]).inventory
    assert len(one.content["Response Data"]["PD LIST"]) == 60 + len(few.content["Response Data"]["PD LIST"])
    assert (one.content.keys(), one.last_line) == (few.content.keys(), (few.last_line or 0) + 60)


def test_a_drive_of_storcli_stands_alone() -> None:
    assert parsed("storcli text", OF_A_DRIVE).inventory[0].content["Command Status"] == {"Controller": 3}


CARDS = {
    "arcconf": """\
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Example 8
   --------------------------------------------------------
   Controller Battery Information
   --------------------------------------------------------
   Status                                   : Optimal

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical device number 0
   RAID level                               : 1
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Segment 0                                : Present (0,0) 7E57-0

----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
   Channel #0:
      Device #0
         Device is a Hard drive
         Vendor                             :
         Serial number                      : 7E57-0
      Device #1
         Device is a Hard drive
         Serial number                      : 7E57-1

Command completed successfully.
""",
    "ssacli": """\
Smart Array Example 7 in Slot 3
   Bus Interface: PCI
   Controller Status: OK

   Array: A
      Interface Type: SAS

      Logical Drive: 1
         Size: 279.4 GB
         Fault Tolerance: 1
         Mirror Group 1:
            physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 300 GB, OK)
         Drive Type: Data

      physicaldrive 1I:1:1
         Port: 1I
         Serial Number:      7E57-1

   unassigned

      physicaldrive 1I:1:2
         Port: 1I
""",
    "storcli text": f"""\
CLI Version = 007.1 Jan 01, 2020
Operating system = Linux 5
Controller = 0
Status = Success
Description = None

PD LIST :
=======

{UNTITLED}
VD LIST :
=======

---------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC      Size Name
---------------------------------------------------------------
0/0   RAID1 Optl  RW     Yes     NRWTC -   ON  36.380 TB
1/1   RAID0 Optl  RW     Yes     NRWTC -   ON   1.819 TB two words
---------------------------------------------------------------
""",
    "mdstat": """\
Personalities : [raid1]
md7 : active raid1 sdb1[1] sda1[0]
      1000 blocks super 1.2 [2/2] [UU]
      [=>...................]  resync =  6.8% (68/1000) finish=6.3min speed=7K/sec
      bitmap: 1/1 pages [4KB], 65536KB chunk

unused devices: <none>
""",
}


@pytest.mark.parametrize("name", CARDS)
def test_a_blank_line_between_all_lines_changes_nothing_but_their_numbers(name: str) -> None:
    spaced = CARDS[name].replace("\n", "\n\n")
    assert scores(SourceText(spaced)) == scores(SourceText(CARDS[name])) != {}
    one, other = parsed(name, CARDS[name]), parsed(name, spaced)
    assert [found.content for found in other.inventory] == [found.content for found in one.inventory]
    assert [(found.line, found.last_line) for found in other.inventory] == [
        (2 * (found.line or 0) - 1, 2 * (found.last_line or 0) - 1) for found in one.inventory
    ]


@pytest.mark.parametrize("name", CARDS)
def test_lines_that_lost_the_blanks_before_them_mean_the_same(name: str) -> None:
    flat = "".join(f"{line.lstrip()}\n" for line in CARDS[name].splitlines())
    assert content(name, flat) == content(name, CARDS[name])
    tabbed = "".join(line.replace("         ", "\t\t").replace("      ", "\t") for line in CARDS[name].splitlines(True))
    assert content(name, tabbed) == content(name, CARDS[name]) or name == "storcli text"


def test_tables_of_storcli_with_one_blank_between_words_are_read() -> None:
    text = "\n".join(" ".join(line.split()) for line in CARDS["storcli text"].splitlines())
    assert content("storcli text", text) == content("storcli text", CARDS["storcli text"])


def test_a_drive_of_ssacli_that_somebody_points_at_is_a_drive() -> None:
    text = """\
Smart Array P840 in Slot 3

   array A

      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, Solid State SATA, 960.1 GB, OK)   <-- the system (old)
      physicaldrive 1I:1:2 (port 1I:box 1:bay 2, Solid State SATA, 960.1 GB, OK)
"""
    (array,) = content("ssacli", text)["parts"]
    assert [(one["name"], one["words"][-1]) for one in array["parts"]] == [("1I:1:1", "OK"), ("1I:1:2", "OK")]


def test_the_host_of_a_prompt_that_has_a_blank_before_its_folder() -> None:
    text = "kaa ~ # cat /proc/mdstat\nPersonalities : [raid1]\nmd0 : active raid1 sda1[0] sdb1[1]\n      9 blocks [2/2] [UU]\n"
    (one,) = parsed("mdstat", text + "kaa /srv # ls\n").inventory
    assert (one.host, one.last_line) == ("kaa", 4)


def test_the_health_of_parts_is_a_table_of_omreport() -> None:
    text = "Health\n\nMain System Chassis\n\nSEVERITY;COMPONENT\nOk;Fans\nCritical;Intrusion\n\nFor further help, type the command\n"
    assert content("omreport", text)["sections"][0]["rows"] == [
        {"SEVERITY": "Ok", "COMPONENT": "Fans"}, {"SEVERITY": "Critical", "COMPONENT": "Intrusion"},
    ]  # fmt: skip


def test_devices_of_arcconf_that_somebody_looked_for_are_read() -> None:
    text = """\
# arcconf getconfig 1 pd | egrep "Device #|State\\>|Reported Channel|S.M.A.R.T"
      Device #0
         State                              : Online
         Reported Channel,Device(T:L)       : 0,0(0:0)
         S.M.A.R.T. warnings                : 0
      Device #1
         State                              : Failed
         Reported Channel,Device(T:L)       : 0,1(1:0)
         S.M.A.R.T. warnings                : 3
# arcconf getconfig 1 ld | egrep "number|Status"
Logical device number 0
   Status of logical device                 : Degraded
"""
    assert scores(SourceText(text)) == {"arcconf": 0.9}
    physical, logical = parsed("arcconf", text).inventory
    devices = physical.content["Physical Device information"]
    assert {key: (one["State"], one["S.M.A.R.T. warnings"]) for key, one in devices.items()} == {
        "Device #0": ("Online", 0), "Device #1": ("Failed", 3),
    }  # fmt: skip
    assert (physical.line, physical.last_line, physical.summary) == (2, 9, "2 physical devices")
    assert logical.summary == "1 logical device (Degraded)"
