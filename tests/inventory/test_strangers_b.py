"""What discovery makes of RAID tools' shapes that its own collector does not meet: older and newer versions, text forms."""

import json

from apps.inventory.discovery.tool_text import state_of
from apps.inventory.discovery.tools import arcconf, omreport, ssacli, tw_cli
from apps.inventory.discovery.tools.mdadm import arrays as mdadm
from apps.inventory.discovery.tools.storcli import cards as storcli
from tests.inventory.discovery.tools.test_strangers_b import DETAILS

HEAD = '"Command Status": {"CLI Version": "008.0011.0000.0014 Sep 26, 2024", "Controller": "0", "Status": "Success"}'
TWO_EMBEDDED = """\
List of Virtual Disks in the System

Controller PERC H730P Mini (Embedded)
ID                  : 0
Status              : Ok
Name                : data
State               : Reconstructing
Layout              : RAID-5
Size                : 1,197.06 GB (1285329059840 bytes)

Controller BOSS-S1 (Embedded)
ID                  : 0
Status              : Ok
Name                : system
State               : Ready
Layout              : RAID-1
Size                : 223.51 GB (239990276096 bytes)

List of Physical Disks belonging to data

Controller PERC H730P Mini (Embedded)
ID         : 0:1:3
Status     : Ok
State      : Online
Type       : SAS
Capacity   : 446.63 GB (479559942144 bytes)
Hot Spare  : No
Product ID : MBA3073RC
"""
TOPOLOGY = """\
Controller = 0
Status = Success
Description = None

TOPOLOGY :
========

---------------------------------------------------------------------------
DG Arr Row EID:Slot DID Type  State BT     Size PDC  PI SED DS3  FSpace TR
---------------------------------------------------------------------------
 0 -   -   -        -   RAID5 Dgrd  N  2.178 TB dflt N  N   dflt N      N
 0 0   -   -        -   RAID5 Dgrd  N  2.178 TB dflt N  N   dflt N      N
 0 0   0   134:0    1   DRIVE Onln  N  1.089 TB dflt N  N   dflt -      N
 0 0   1   134:1    0   DRIVE Onln  N  1.089 TB dflt N  N   dflt -      N
 0 0   2   -        -   DRIVE Msng  -  1.089 TB -    -  -   -    -      N
 0 -   -   134:3    4   DRIVE DHS   -  1.089 TB -    -  -   -    -      N
---------------------------------------------------------------------------

VD LIST :
=======

-------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC     Size Name
-------------------------------------------------------------
0/0   RAID5 Dgrd  RW     No      RWBD  -   ON  2.178 TB
-------------------------------------------------------------
"""


def second(data: object) -> str:
    """An output of storcli2."""
    return f'{{"Controllers": [{{{HEAD}, "Response Data": {json.dumps(data)}}}]}}'


def drive(status: str, state: str = "Conf") -> dict[str, object]:
    return {
        "EID:Slt": "306:1", "PID": 294, "State": state, "Status": status, "DG": 1, "Size": "9.094 TiB", "Intf": "SAS",
        "Med": "HDD", "SeSz": "512B", "Model": "ST10000NM018B   ",
    }  # fmt: skip


def test_two_controllers_of_one_place_are_two() -> None:
    perc, boss = omreport.discover(TWO_EMBEDDED).cards
    assert [(card.model, [volume.name for volume in card.volumes]) for card in (perc, boss)] == [
        ("PERC H730P Mini", ["data"]),
        ("BOSS-S1", ["system"]),
    ]
    assert (perc.number, perc.volumes[0].state, perc.volumes[0].spans) == ("cEmbedded", "resyncing", (("0:1:3",),))
    assert [(one.interface, one.capacity_bytes, one.slot) for one in perc.drives] == [("SAS", 479559942144, 3)]
    assert [state_of(word) for word in ("Regenerating", "Failed Redundancy", "Failed")] == [
        "resyncing",
        "degraded",
        "failed",
    ]


def test_storclis_text_tells_serials_and_health() -> None:
    (card,) = storcli.discover(DETAILS).cards
    assert [(one.serial, one.firmware, one.health) for one in card.drives] == [
        ("Z1Z0AAAA", "SN04", "passed"),
        ("Z1Z0BBBB", "", ""),
    ]


def test_a_missing_drive_is_counted_and_a_dedicated_spare_is_no_member() -> None:
    (volume,) = storcli.discover(TOPOLOGY).cards[0].volumes
    assert (volume.spans, volume.spares, volume.member_count) == ((("134:0", "134:1"),), ("134:3",), 3)


def test_storcli2_tells_how_a_drive_is_beside_what_it_is_for() -> None:
    words = [("Online", "Conf"), ("Failed", "Conf"), ("Good", "UConf"), ("Rebuild", "Conf"), ("Missing", "JBOD")]
    found = [storcli.discover(second({"PD LIST": [drive(*word)]})).cards[0].drives[0].state for word in words]
    assert found == ["online", "failed", "unconfigured", "rebuilding", "missing"]


def test_storcli2_nests_volumes_and_drives() -> None:
    volume = {
        "VD Info": {"DG/VD": "1/2", "TYPE": "RAID0", "State": "Optl", "CurrentCache": "NR,WB", "Size": "9.094 TiB", "Name": "x"},
        "PDs": [drive("Online")],
        "VD Properties": {
            "Strip Size": "256 KiB", "Span Depth": 1, "Number of Drives": 1, "OS Drive Name": "/dev/sdc",
            "SCSI NAA Id": "600062b22066d54069faf44d843b9bb2",
        },
    }  # fmt: skip
    (found,) = storcli.discover(second({"Virtual Drives": [volume]})).cards[0].volumes
    assert (found.number, found.level, found.spans, found.member_count) == ("v2", "RAID0", (("306:1",),), 1)
    assert (found.chunk_size, found.device, found.naa) == (262144, "/dev/sdc", "0x600062b22066d54069faf44d843b9bb2")
    assert (found.write_policy, found.read_policy) == ("write back", "no read ahead")
    details = {
        "Serial Number": "WWY00000", "Vendor": "SEAGATE ", "Model": "ST10000NM018B   ", "WWN": "5000C500EF30DE9C",
        "Firmware Revision Level": "E001", "Raw size": "9.095 TiB [0x48c400000 Sectors]", "Capable Speed": "12.0Gb/s",
        "Hard Disk Drive RPM": 7200, "Path Information": [{"Negotiated Speed": "6.0Gb/s"}],
    }  # fmt: skip
    listed = {"Drives List": [{"Drive Information": drive("Online"), "Drive Detailed Information": details}]}
    (one,) = storcli.discover(second(listed)).cards[0].drives
    assert (one.serial, one.vendor, one.wwn, one.firmware) == ("WWY00000", "SEAGATE", "0x5000c500ef30de9c", "E001")
    assert (one.capacity_bytes, one.rpm, one.generation, one.link_generation) == (
        10000831348736,
        7200,
        "SAS-12G",
        "SAS-6G",
    )


def test_storcli2_tells_spans_cache_and_its_protection() -> None:
    rows = [{"DG": 0, "Span": span, "EID:Slot": f"306:{slot}", "Type": "DRIVE", "State": "Conf", "Status": "Online"}
            for slot, span in enumerate((0, 0, 1, 1))]  # fmt: skip
    data = {
        "TOPOLOGY": rows, "HostInterface": {"PCI Address": "00:16:00:0"}, "HwCfg": {"DDR Memory Size(MiB)": 4096},
        "VD LIST": [{"DG/VD": "0/1", "TYPE": "RAID10", "State": "Optl", "Size": "1.0 TiB"}],
        "Energy Pack Info": [{"Type": "Supercap", "Status": "Optimal"}],
    }  # fmt: skip
    (card,) = storcli.discover(second(data)).cards
    assert card.volumes[0].spans == (("306:0", "306:1"), ("306:2", "306:3"))
    assert (card.pci, card.cache_bytes, card.cache_protection) == ("0000:16:00.0", 2**32, "non-volatile")


def test_hpes_words_for_levels_states_and_serials() -> None:
    printed = """\
Smart Array P440 in Slot 2                (sn: PDNLH0BRH0000A)

   array A (SAS, Unused Space: 0 MB)

      logicaldrive 1 (5.5 TB, RAID 6 (ADG), Recovering, 45% complete)

      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 2 TB, OK)
      physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS, 2 TB, Predictive Failure)
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS, 2 TB, Failed)
"""
    (card,) = ssacli.discover(printed).cards
    assert card.serial == "PDNLH0BRH0000A"
    assert [(one.level, one.state) for one in card.volumes] == [("RAID6", "resyncing")]
    assert [(one.state, one.health) for one in card.drives] == [
        ("online", "passed"),
        ("online", "failed"),
        ("failed", "failed"),
    ]


def test_adaptecs_level_may_name_its_code() -> None:
    printed = (
        "Controllers found: 1\n"
        + "-" * 70
        + "\nLogical device information\n"
        + "-" * 70
        + "\nLogical device number 0\n"
        "   RAID level                               : {}\n   Status of logical device                 : Optimal\n"
        "   Size                                     : 953334 MB\n"
    )
    levels = [
        arcconf.discover(printed.format(word)).cards[0].volumes[0].level for word in ("6 Reed-Solomon", "5EE", "10")
    ]
    assert levels == ["RAID6", "RAID5EE", "RAID10"]


def test_3wares_drives_that_are_verified_are_in_use_and_those_of_spare_units_are_spares() -> None:
    printed = """\
Unit  UnitType  Status         %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy
------------------------------------------------------------------------------
u0    RAID-1    VERIFYING      -       12%     -       298.013   RiW    ON
u1    SPARE     OK             -       -       -       298.09    -      ON

VPort Status         Unit Size      Type  Phy Encl-Slot    Model
------------------------------------------------------------------------------
p0    OK             u0   298.09 GB SATA  0   -            ST3320620AS
p1    VERIFYING      u0   298.09 GB SATA  1   -            ST3320620AS
p2    OK             u1   298.09 GB SATA  2   -            ST3320620AS
"""
    (card,) = tw_cli.discover(printed).cards
    assert [one.state for one in card.drives] == ["online", "online", "spare"]
    assert [(one.number, one.spans) for one in card.volumes] == [("u0", (("p0", "p1"),))]


def test_mdadm_knows_no_level_of_an_array_that_is_not_assembled() -> None:
    printed = """\
/dev/md227:
           Version : 1.2
        Raid Level : raid0
     Total Devices : 2
       Persistence : Superblock is persistent

             State : inactive

    Number   Major   Minor   RaidDevice

       -       8      176        -        /dev/sdl
       -       8       17        -        /dev/sdb1
"""
    array = mdadm.discover(printed).by_name["md227"].array
    assert array is not None
    assert (array.level, array.activity, len(array.members)) == ("", "inactive", 2)


def test_mdadm_tells_a_spare_that_is_being_rebuilt_from_one_that_waits() -> None:
    printed = """\
/dev/md127:
        Version : 1.2
     Raid Level : raid1
     Array Size : 732442432 (698.51 GiB 750.02 GB)
   Raid Devices : 2
          State : clean, degraded, recovering
    Number   Major   Minor   RaidDevice State
       2       8       17        0      spare rebuilding   /dev/sdb1
       1       8       33        1      active sync   /dev/sdc1
       3       8       49        -      spare   /dev/sdd1
"""
    array = mdadm.discover(printed).by_name["md127"].array
    assert array is not None
    assert [one.state for one in array.members] == ["rebuilding", "in sync", "spare"]


def test_adaptecs_further_states() -> None:
    drive = (
        "   Device #{0}\n      Device is a Hard drive\n      State                              : {1}\n"
        "      Reported Channel,Device            : 0,{0}\n      Size                               : 70006 MB\n"
    )
    rule = "-" * 70
    head = f"Controllers found: 1\n{rule}\nPhysical Device information\n{rule}\n"
    found = arcconf.discover(head + drive.format(0, "Online (JBOD)") + drive.format(1, "Defunct")).cards[0].drives
    assert [one.state for one in found] == ["jbod", "failed"]


def test_the_state_of_a_cachevault_is_a_row_of_its_own() -> None:
    printed = """\
Controller = 0
Status = Success
Description = None

Cachevault_Info :
===============

--------------------
Property    Value
--------------------
Type        CVPM02
Temperature 29 C
State       Optimal
--------------------
"""
    (card,) = storcli.discover(printed).cards
    assert (card.cache_protection, card.protection_state) == ("non-volatile", "Optimal")
