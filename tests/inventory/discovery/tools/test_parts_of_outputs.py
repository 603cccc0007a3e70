"""Outputs of smartctl and mdadm as people paste them: many in one text, without their heads, indented, degraded."""

import pytest

from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores


def _disk(device: str, serial: str, health: str) -> str:
    return (
        f"{device}\n=== START OF INFORMATION SECTION ===\nDevice Model:     EXAMPLE 4000\nSerial Number:    {serial}\n"
        f"User Capacity:    4,000,787,030,016 bytes [4.00 TB]\n\n=== START OF READ SMART DATA SECTION ===\n"
        f"SMART overall-health self-assessment test result: {health}\n\n"
    )


def test_each_disk_without_a_version_line_is_one() -> None:
    text = _disk("/dev/sda", "EX01", "PASSED") + _disk("/dev/sdb", "EX02", "FAILED!")
    first, second = parsed("smartctl text", text).inventory
    assert [(one.line, one.last_line) for one in (first, second)] == [(1, 8), (10, 17)]
    assert (first.content["device"], first.content["information"]["Serial Number"], first.content["health"]) == (
        "/dev/sda",
        "EX01",
        "PASSED",
    )
    assert (second.content["information"]["Serial Number"], second.content["health"]) == ("EX02", "FAILED!")


@pytest.mark.parametrize("device", ["", "/dev/sdx"])
def test_the_second_information_section_begins_a_disk(device: str) -> None:
    found = parsed("smartctl text", _disk("", "EX01", "PASSED") + _disk(device, "EX02", "PASSED")).inventory
    assert [one.content["information"]["Serial Number"] for one in found] == ["EX01", "EX02"]


def test_health_of_several_disks_is_told_for_each() -> None:
    section = "=== START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: "
    found = parsed("smartctl text", f"/dev/sda\n{section}PASSED\n\n/dev/sdb\n{section}FAILED!\n").inventory
    assert [(one.content["device"], one.content["health"]) for one in found] == [
        ("/dev/sda", "PASSED"),
        ("/dev/sdb", "FAILED!"),
    ]


def test_a_list_of_devices_above_a_report_names_none_of_it() -> None:
    text = "/dev/sda\n/dev/sdb\nsmartctl 7.2 2020-12-30 r5155\n\n" + _disk("", "EX01", "PASSED").lstrip()
    assert "device" not in content("smartctl text", text)


def test_another_tool_behind_a_report_is_none_of_it() -> None:
    text = (
        _disk("/dev/sda", "EX01", "PASSED")
        + "/dev/md0:\n           Version : 1.2\nCreation Time : Mon Jan  1 10:00:00 2024\n"
    )
    (one,) = parsed("smartctl text", text).inventory
    assert (one.last_line, one.content["data"]) == (8, {})


ATTRIBUTES = """\
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   200   200   140    Pre-fail  Always       -       0
  9 Power_On_Hours          0x0032   050   050   000    Old_age   Always       -       36920
"""
MODEL = """\
Model Family:     Example Red
Device Model:     EXAMPLE 4000
Serial Number:    EX01
User Capacity:    4,000,787,030,016 bytes [4.00 TB]
"""
LOG = """\
SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x00
Temperature:                        34 Celsius
"""
LIMITS = "SCT Error Recovery Control:\n           Read:    100 (10.0 seconds)\n          Write: Disabled\n"


@pytest.mark.parametrize(
    ("text", "key", "found", "summary"),
    [
        (ATTRIBUTES, "attributes", 2, "smartctl: 2 attributes"),
        (MODEL, "information", 4, "EXAMPLE 4000 (EX01), 4,000,787,030,016 bytes [4.00 TB]"),
        (LOG, "data", 2, "smartctl: 2 values"),
        (LIMITS, "data", 1, "smartctl: SCT error recovery control Read 100 (10.0 seconds), Write Disabled"),
    ],
)
def test_a_part_of_a_report_is_read_without_its_head(text: str, key: str, found: int, summary: str) -> None:
    shown = f"Hello,\n\n{text}\nThanks: it works.\n"
    assert scores(SourceText(shown)) == {"smartctl text": 0.7}
    (one,) = parsed("smartctl text", shown).inventory
    assert (len(one.content[key]), one.summary) == (found, summary)
    assert (one.line, one.last_line) == (3, 2 + text.count("\n"))


def test_tables_of_attributes_one_below_the_other_are_of_several_disks() -> None:
    assert [
        len(one.content["attributes"]) for one in parsed("smartctl text", f"{ATTRIBUTES}\n{ATTRIBUTES}").inventory
    ] == [2, 2]


@pytest.mark.parametrize(
    "words", ["Device Model:     EXAMPLE 4000\n", "Model Family: any\nfoo\n", "ID# ATTRIBUTE_NAME\n\n"]
)
def test_a_name_alone_is_no_report(words: str) -> None:
    assert scores(SourceText(f"I have\n\n{words}\nin it\n")) == {}


@pytest.mark.parametrize(
    ("printed", "limits"),
    [
        (LIMITS, {"Read": "100 (10.0 seconds)", "Write": "Disabled"}),
        ("SCT Error Recovery Control set to:\nRead: 70 (7.0 seconds)\n", {"Read": "70 (7.0 seconds)"}),
        ("SCT Error Recovery Control command not supported\n", "command not supported"),
    ],
)
def test_limits_of_error_recovery_are_kept(printed: str, limits: object) -> None:
    found = content("smartctl text", f"smartctl 6.5 2016-01-24 r4214\nCopyright (C) 2002-16, Example\n\n{printed}")
    assert found["data"] == {"SCT Error Recovery Control": limits}


DETAIL = """\
/dev/md1:
           Version : 1.2
        Raid Level : raid0
     Total Devices : 2

             State : inactive

    Number   Major   Minor   RaidDevice State
       0       8       16        0      active sync   /dev/sdb
"""


@pytest.mark.parametrize("margin", ["    ", "  ", "\t"])
def test_an_indented_array_beside_one_that_is_not_is_read(margin: str) -> None:
    indented = "".join(f"{margin}{line}\n" if line else "\n" for line in DETAIL.splitlines())
    found = parsed("mdadm", f"This:\n\n{indented}\nAnd the other one:\n\n{DETAIL.replace('md1', 'md2')}").inventory
    assert [(one.content["device"], one.line) for one in found] == [("/dev/md1", 3), ("/dev/md2", 15)]
    assert [one.content["device_table"][0]["device"] for one in found] == ["/dev/sdb"] * 2


def test_tabs_behind_a_margin_are_the_blanks_that_were_there() -> None:
    text = "  /dev/md52:\n\t     Version : 1.2\n\t  Raid Level : raid5\n\tRaid Devices : 4\n\t       State : clean \n"
    (one,) = parsed("mdadm", text).inventory
    assert (one.content["device"], one.content["raid_devices"]) == ("/dev/md52", 4)


def test_scans_of_arrays_that_a_page_indented_beside_others_are_read() -> None:
    scan = "ARRAY /dev/md0 metadata=1.2 UUID=aa:bb\n"
    found = parsed("mdadm", f"{scan}\nand\n\n    {scan}").inventory
    assert [one.line for one in found] == [1, 5]


@pytest.mark.parametrize(
    ("command", "device"), [("# mdadm --detail /dev/md7\n", "/dev/md7"), ("Old output:\n\n", None)]
)
def test_an_array_without_its_own_line_is_named_by_the_command(command: str, device: str | None) -> None:
    (one,) = parsed("mdadm", command + DETAIL.partition("\n")[2]).inventory
    assert (one.content.get("device"), one.content["raid_level"], one.content["state"]) == (device, "raid0", "inactive")
    assert one.content["device_table"][0]["device"] == "/dev/sdb"


SUPERBLOCK = """\
/dev/sda2:
          Magic : a92b4efc
        Version : 0.90.00
     Raid Level : raid1
   Raid Devices : 2
          State : active


      Number   Major   Minor   RaidDevice State
this     0       8        2        0      active sync   /dev/sda2

   0     0       8        2        0      active sync   /dev/sda2
   1     1       0        0        1      faulty removed
"""


@pytest.mark.parametrize("state", ["faulty removed", "active sync"])
@pytest.mark.parametrize("blanks", ["", " "])
def test_a_member_of_an_old_superblock_may_have_no_device(state: str, blanks: str) -> None:
    text = (
        SUPERBLOCK.replace("faulty removed", state)
        .replace("\n   0 ", f"\n{blanks}   0 ")
        .replace("\n   1 ", f"\n{blanks}   1 ")
    )
    found = content("mdadm", text)
    assert [(row["raid_device"], row["state"], row["device"]) for row in found["device_table"]] == [
        (0, "active sync", "/dev/sda2"),
        (1, state, None),
    ]


def test_a_disk_with_a_partition_table_alone_is_no_broken_array() -> None:
    table = "/dev/sda:\n   MBR Magic : aa55\nPartition[0] :   4294967295 sectors at            1 (type ee)\n"
    found = parsed("mdadm", table + SUPERBLOCK)
    assert not found.broken
    assert found.inventory[0].summary == "/dev/sda: MBR with 1 partition"
    assert found.inventory[0].content["mbr_magic"] == "aa55"


PLATFORM = """\
       Platform : Example Rapid Storage
        Version : 5.3.0.1052
    RAID Levels : raid0 raid1
      Max Disks : 32
 I/O Controller : /sys/devices/pci0000:00/0000:00:17.0 (SATA)
          Port1 : /dev/sdd (EX01)
          Port0 : - no device attached -
 I/O Controller : /sys/devices/pci0000:85/0000:85:05.5 (VMD)
 NVMe under VMD : /dev/nvme0n1 (EX02)
"""


@pytest.mark.parametrize("is_indented", [True, False])
def test_what_a_platform_can_do_is_read(is_indented: bool) -> None:
    text = PLATFORM if is_indented else "".join(f"{line.strip()}\n" for line in PLATFORM.splitlines())
    shown = f"# mdadm --detail-platform\n{text}\n{text}\nRegards\n"
    assert scores(SourceText(shown)) == {"mdadm": 1.0}
    one, other = parsed("mdadm", shown).inventory
    assert (one.line, one.last_line, other.line, one.content) == (2, 10, 12, other.content)
    assert one.summary == "Example Rapid Storage 5.3.0.1052: 2 controllers, 2 devices"
    assert (one.content["max_disks"], one.content["raid_levels"]) == (32, "raid0 raid1")
    assert one.content["controllers"] == [
        {"controller": "/sys/devices/pci0000:00/0000:00:17.0 (SATA)", "ports": {"Port1": "/dev/sdd (EX01)", "Port0": None}, "nvme": []},
        {"controller": "/sys/devices/pci0000:85/0000:85:05.5 (VMD)", "ports": {}, "nvme": ["/dev/nvme0n1 (EX02)"]},
    ]  # fmt: skip


def test_what_somebody_looked_for_in_members_is_each_devices_own() -> None:
    text = """\
$ for d in sda1 sdb1; do echo $d; mdadm -E /dev/$d | egrep 'Events|Role'; done
sda1
         Events : 57862
    Device Role : Active device 0
sdb1
         Events : 48959
    Device Role : spare
$ mdadm -E /dev/sd[ab]2 | egrep '/dev/sd|Update'
/dev/sda2:
    Update Time : Thu May  4 14:39:03 2023
/dev/sdb2:
    Update Time : Thu May  4 14:39:04 2023
"""
    assert scores(SourceText(text))["mdadm"] == 1
    found = [one.content for one in parsed("mdadm", text).inventory]
    keys = ("device", "events", "device_role", "update_time")
    assert [[one.get(key) for key in keys] for one in found] == [
        ["sda1", 57862, "Active device 0", None],
        ["sdb1", 48959, "spare", None],
        ["/dev/sda2", None, None, "Thu May  4 14:39:03 2023"],
        ["/dev/sdb2", None, None, "Thu May  4 14:39:04 2023"],
    ]
    assert [one.summary for one in parsed("mdadm", text).inventory][:2] == [
        "sda1: Active device 0, events 57862", "sdb1: spare, events 48959",
    ]  # fmt: skip


def test_names_without_a_colon_are_no_rest_of_the_device_above() -> None:
    text = "/dev/md5:\n           Version : 1.2\n             State : inactive\n            Events : 4\n"
    text += "sdd5\n        Raid Level : raid5\n             State : clean\n            Events : 7\n"
    array, member = (one.content for one in parsed("mdadm", text + "sde5\n").inventory)
    assert (array["device"], array["state"], array["events"]) == ("/dev/md5", "inactive", 4)
    assert (member["device"], member["state"], member["events"]) == ("sdd5", "clean", 7)


def test_an_array_of_a_container_that_was_not_started_is_read() -> None:
    text = """\
/dev/md125:
         Container : /dev/md/imsm0, member 0
      Raid Devices : 2
     Total Devices : 1

             State : active, FAILED, Not Started

    Number   Major   Minor   RaidDevice
       -       8       32        0        sync   /dev/sdc
"""
    (one,) = parsed("mdadm", text).inventory
    assert scores(SourceText(text)) == {"mdadm": 1.0}
    assert (one.content["container"], one.content["raid_devices"]) == ("/dev/md/imsm0, member 0", 2)
    assert one.summary == "/dev/md125: of 2 devices, active, FAILED, Not Started"


def test_a_member_that_is_being_reshaped_is_read_to_its_end() -> None:
    text = """\
/dev/sda2:
          Magic : a92b4efc
        Version : 1.2
     Raid Level : raid5
   Raid Devices : 4

  Reshape pos'n : 2048 (2.00 MiB 2.10 MB)
  Delta Devices : 1 (3->4)

         Events : 158195

    Device Role : Active device 1
"""
    found = content("mdadm", text)
    assert (found["reshape_pos_n"], found["delta_devices"]) == ("2048 (2.00 MiB 2.10 MB)", "1 (3->4)")
    assert (found["events"], found["device_role"]) == (158195, "Active device 1")


def test_slots_of_a_member_that_a_mail_wrapped_over_many_lines_are_one_value() -> None:
    slots = "2 (failed, failed, 2, 3, failed,\n" + "failed, failed, failed, failed, failed,\n" * 40 + "failed)\n"
    member = "/dev/sd{0}2:\n          Magic : a92b4efc\n        Version : 1.0\n     Raid Level : raid5\n   Raid Devices : 4\n"
    text = f"{member.format('a')}    Array Slot : {slots}   Array State : __Uu 380 failed\n{member.format('b')}         Events : 7\n"
    one, other = (one.content for one in parsed("mdadm", text).inventory)
    assert (one["array_slot"].count("failed"), one["array_state"]) == (204, "__Uu 380 failed")
    assert (other["device"], other["events"]) == ("/dev/sdb2", 7)


def test_a_spare_is_counted_beside_an_arrays_devices() -> None:
    text = "Personalities : [raid5]\nmd1 : active raid5 sdd1[3](S) sdc1[2] sdb1[1] sda1[0]\n"
    text += "      3750244352 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]\n\nunused devices: <none>\n"
    (one,) = parsed("mdstat", text).inventory
    assert one.summary == "md1: raid5 of 3 devices and 1 spare, clean, chunk 512K"
