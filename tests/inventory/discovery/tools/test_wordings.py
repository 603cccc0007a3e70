"""Other versions' words for the same: capitals, orders of columns, tables of enclosures, containers."""

from apps.inventory.discovery.tools import arcconf
from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

DASHES = "-" * 70
ARCCONF = f"""\
Controllers Found: 1
{DASHES}
Controller Information
{DASHES}
   Controller Status                        : OK
   Controller Model                         : Adaptec ASR1
{DASHES}
Logical Device Information
{DASHES}
Logical Device Number 0
   Logical Device Name                      : video
   Status of Logical Device                 : Optimal

Command completed successfully.
"""
ENCLOSURE = """\
/c0/e0 Vendor = LSI CORP
/c0/e0 SEP=0, Firmware Version = 55.07

Encl        Status
-----------------------------
/c0/e0      OK

                                    ---Speed---
Fan         Status          State   Step   RPM     Identify
------------------------------------------------------------
fan0        OK              ON      1      4000    N/A

TempSensor    Status         Temperature     Identify
--------------------------------------------------------
temp0         OK             22C(71F)        N/A

PowerSupply  Status         State  Voltage        Current        Identify
---------------------------------------------------------------------------
pwrs0        OK             ON     -              -              N/A

Alarm     Status          State     Audibility
------------------------------------------------
alm0      ACTIVATED       ON        UNMUTE
"""
DDF = """\
/dev/vda:
          Magic : de11de11
        Version : 01.02.00
 Container GUID : 4C696E75:782D4D44:00000001
                  (Linux-MD 08/16/22 16:20:42)
  Virtual Disks : 1

      VD GUID[0] : 4C696E75:782D4D44:00000002
         unit[0] : 127
        state[0] : Optimal, Consistent
   init state[0] : Fully Initialised
       access[0] : Read/Write
         Name[0] : vol0
 Raid Devices[0] : 2 (1@0K 0@0K)
   Raid Level[0] : RAID1

 Physical Disks : 1023
      Number    RefNo      Size       Device      Type/State
         0    d32b14d7    786432K /dev/vda        active/Online
"""


def test_arcconf_with_other_capitals_is_the_same() -> None:
    (one,) = parsed("arcconf", ARCCONF).inventory
    assert one.summary == "Adaptec ASR1, 1 logical device (Optimal)"
    assert one.content["Logical device information"]["Logical device number 0"]["Logical Device Name"] == "video"


def test_arcconf_without_its_first_line_is_read_and_a_bare_title_is_not() -> None:
    below = ARCCONF.partition("\n")[2]
    (one,) = parsed("arcconf", below).inventory
    assert (one.line, one.summary) == (1, "Adaptec ASR1, 1 logical device (Optimal)")
    assert scores(SourceText(below)) == {"arcconf": 0.9}
    assert (
        arcconf.looks_like(SourceText(f"{DASHES}\nController Information\n{DASHES}\n   about the Controller Model\n"))
        == 0
    )


def test_all_tables_of_a_3ware_enclosure_are_one_output() -> None:
    found = content("tw_cli", ENCLOSURE)
    assert [one["kind"] for one in found["tables"]] == ["Encl", "Fan", "TempSensor", "PowerSupply", "Alarm"]
    assert found["tables"][1]["rows"][0]["RPM"] == 4000
    assert found["controllers"]["/c0/e0"]["SEP=0, Firmware Version"] == "55.07"


def test_a_ddf_container_names_its_virtual_disks() -> None:
    (one,) = parsed("mdadm", DDF).inventory
    assert (one.line, one.last_line) == (1, 19)
    assert one.summary == "/dev/vda: container of 1 virtual disk, vol0 RAID1"
    assert scores(SourceText(DDF)) == {"mdadm": 1.0}


def test_pairs_of_lsblk_begin_with_any_column() -> None:
    line = 'ALIGNMENT="0" FSTYPE="" KNAME="sda" MAJ:MIN="8:0" NAME="sda" SIZE="149G" TYPE="disk"\n'
    (one,) = parsed("lsblk", line * 2).inventory
    assert one.summary == "2 block devices: sda 149G, sda 149G"
    assert scores(SourceText('TYPE="bold" PRETTY_NAME="x"\nSIZE="1" MODEL="x"\n')) == {}


FOLDED = """\
NAME FSTYPE FSVER LABEL UUID      FSAVAIL FSUSE% MOUNTPOINTS
sda
├─sda1
│    vfat   FAT32       51B3-05FD  598.8M     0% /boot/efi
└─sda3
     crypto 2           0d2d-1f2e
  └─luks-0d2d
     btrfs        home  1d2d-1f2f  385.2G    18% /home
                                                 /
zram0
     swap   1     zram  2d2d-1f30                [SWAP]
and so on
"""


def test_rows_of_lsblk_that_a_narrow_terminal_folded_are_whole() -> None:
    (one,) = parsed("lsblk", FOLDED).inventory
    found = {row["name"]: row for row in one.content["blockdevices"]}
    assert {name: (row["fstype"], row["uuid"], row["mountpoints"]) for name, row in found.items()} == {
        "sda": (None, None, []), "sda1": ("vfat", "51B3-05FD", ["/boot/efi"]), "sda3": ("crypto", "0d2d-1f2e", []),
        "luks-0d2d": ("btrfs", "1d2d-1f2f", ["/home", "/"]), "zram0": ("swap", "2d2d-1f30", ["[SWAP]"]),
    }  # fmt: skip
    assert (found["luks-0d2d"]["parent"], found["sda1"]["fsver"], one.last_line) == ("sda3", "FAT32", 11)


def test_rows_of_lsblk_without_numbers_are_straightened_by_their_type() -> None:
    rows = "sda         931.5G disk\n├─sda1        512M part  /boot\n└─sda3        930G part\n    └─vg-home   880G lvm   /home\n"
    found = content("lsblk", f"NAME          SIZE TYPE  MOUNTPOINT\n{rows}")["blockdevices"]
    assert [(one["name"], one["size"], one["mountpoint"]) for one in found[2:]] == [
        ("sda3", "930G", None), ("vg-home", "880G", "/home"),
    ]  # fmt: skip


def test_branches_below_a_line_that_is_none_of_the_table_are_told() -> None:
    text = "NAME   SIZE FSTYPE\nsda    931G \nsee-what-somebody-wrote here\n└─sda1 512M vfat\n"
    assert [one.line for one in parsed("lsblk", text).broken] == [3]
