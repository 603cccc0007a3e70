"""Shapes in which people paste outputs of RAID tools: single records, stripped blanks, sections without a head."""

from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

DRIVE = """\
$ omreport storage pdisk controller=0 pdisk=0:0:7

ID                              : 0:0:7
Status                          : Ok
Name                            : Physical Disk 0:0:7
State                           : Ready
Capacity                        : 931.00 GB (999653638144 bytes)
"""
BELONGING = """\
List of Physical Disks belonging to data

Controller PERC H700 Integrated (Slot 4)
ID       : 0:0:7
Status   : Ok
Capacity : 931.00 GB (999653638144 bytes)
"""
STRIPPED = """\
Controller = 0
Status = Success
Description = None
TOPOLOGY :
---------------------------------------------------------------------------
DG Arr Row EID:Slot DID Type  State BT     Size PDC  PI SED DS3  FSpace TR
---------------------------------------------------------------------------
0 -   -   -        -   RAID1 Optl  N  1.089 TB dflt N  N   dflt N      N
0 0   0   134:0    1   DRIVE Onln  N  1.089 TB dflt N  N   dflt -      N
---------------------------------------------------------------------------
DG=Disk Group Index|Arr=Array Index|Row=Row Index|EID=Enclosure Device ID
TR=Transport Ready
Virtual Drives = 1
VD LIST :
-------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC     Size Name
-------------------------------------------------------------
0/0   RAID1 Optl  RW     No      RWBD  -   ON  1.089 TB
-------------------------------------------------------------
"""
BARE = """\
$ storcli64 /call/vall show all | grep -A20 /c1/v2
/c1/v2 :
======
--------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC      Size Name
--------------------------------------------------------------
3/2   RAID5 Optl  RW     Yes     NRWBD -   ON  36.383 TB
--------------------------------------------------------------
"""
DETAILS = """\
CLI Version = 007.1513.0000.0000 Apr 01, 2021
Operating system = Linux 5.10
Controller = 0
Status = Success
Description = Show Drive Information Succeeded.


Drive /c0/e252/s0 - Detailed Information :
========================================

Drive /c0/e252/s0 State :
=======================
S.M.A.R.T alert flagged by drive = No

Drive /c0/e252/s0 Device attributes :
===================================
SN =             Z1Z0AAAA
Firmware Revision = SN04

Port Information :
================

-----------------------------------------
Port Status Linkspeed SAS address
-----------------------------------------
   0 Active 6.0Gb/s   0x4433221100000000
-----------------------------------------


Drive /c0/e252/s1 - Detailed Information :
========================================

Drive /c0/e252/s1 Device attributes :
===================================
SN =             Z1Z0BBBB
"""
OVERVIEW = """\
------------------------------------------------------------------------------------
Ctl Model                   Ports PDs DGs DNOpt VDs VNOpt BBU sPR DS  EHS ASOs Hlth
------------------------------------------------------------------------------------
  0 AVAGOMegaRAIDSAS9361-8i     8  36   4     1   4     1 Opt On  1&2 Y       4 NdAtn
------------------------------------------------------------------------------------
"""


def test_a_record_of_omreport_counts_without_its_title() -> None:
    (section,) = content("omreport", DRIVE)["sections"]
    assert section["rows"][0]["Capacity"] == "931.00 GB (999653638144 bytes)"
    assert len(parsed("omreport", BELONGING + "\n" + DRIVE).inventory) == 2


def test_a_list_of_drives_says_whose_they_are() -> None:
    (section,) = content("omreport", BELONGING)["sections"]
    assert (section["above"], section["title"]) == (
        "List of Physical Disks belonging to data",
        "Controller PERC H700 Integrated (Slot 4)",
    )


def test_blanks_and_underlines_that_a_page_cut_hide_no_section_of_storcli() -> None:
    data = content("storcli text", STRIPPED)["Response Data"]
    assert [(row["DG"], row["Arr"], row["EID:Slot"]) for row in data["TOPOLOGY"]] == [(0, "-", "-"), (0, 0, "134:0")]
    assert data["VD LIST"][0]["DG/VD"] == "0/0"


def test_sections_of_storcli_count_without_its_head() -> None:
    found = content("storcli text", BARE)
    assert scores(SourceText(BARE)) == {"storcli text": 1.0}
    assert found["Command Status"] == {"Controller": 1}
    assert found["Response Data"]["/c1/v2"][0]["Size"] == "36.383 TB"


def test_what_storcli_tells_of_a_drive_is_below_it_as_in_its_json() -> None:
    data = content("storcli text", DETAILS)["Response Data"]
    first = data["Drive /c0/e252/s0 - Detailed Information"]
    assert first["Drive /c0/e252/s0 Device attributes"] == {"SN": "Z1Z0AAAA", "Firmware Revision": "SN04"}
    assert first["Port Information"][0]["Linkspeed"] == "6.0Gb/s"
    second = data["Drive /c0/e252/s1 - Detailed Information"]
    assert second == {"Drive /c0/e252/s1 Device attributes": {"SN": "Z1Z0BBBB"}}


def test_an_overview_of_storcli_is_none_of_3ware() -> None:
    assert scores(SourceText(OVERVIEW)) == {}


def test_the_mdstat_of_linux_2_4_is_one_and_its_spare_is_rebuilt() -> None:
    text = """\
Personalities : [raid1]
read_ahead 1024 sectors
Event: 8
md0 : active raid1 sdb1[2] sda1[1]
      2097024 blocks [2/1] [_U]
      [>....................]  recovery =  0.4%
(10168/2097024) finish=23.8min speed=1452K/sec
unused devices: <none>
"""
    (array,) = content("mdstat", text)["arrays"]
    assert [(one["device"], one["state"]) for one in array["members"]] == [("sda1", "in sync"), ("sdb1", "rebuilding")]
    newer = text.replace("blocks [2/1]", "blocks super 1.2 [2/1]")  # there a number tells no place
    assert {one["state"] for one in content("mdstat", newer)["arrays"][0]["members"]} == {"in sync"}


def test_what_smartctl_tells_of_a_seagate_in_small_letters_counts() -> None:
    text = """\
smartctl 6.6 2016-05-31 r4324 [x86_64-linux-4.9.0-3-amd64] (local build)
Copyright (C) 2002-16, Bruce Allen, Christian Franke, www.smartmontools.org

=== START OF READ SMART DATA SECTION ===
Current Drive Temperature:     34 C

Vendor (Seagate) cache information
  Blocks sent to initiator = 51448
  Number of read and write commands whose size <= segment size = 214

Vendor (Seagate/Hitachi) factory information
  number of hours powered up = 1668.58
"""
    assert content("smartctl text", text)["data"] == {
        "Current Drive Temperature": "34 C",
        "Blocks sent to initiator": 51448,
        "Number of read and write commands whose size <= segment size": 214,
        "number of hours powered up": "1668.58",
    }
