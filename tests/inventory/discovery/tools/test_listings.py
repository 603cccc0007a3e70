"""What the tools print beside the layouts of the other files: short lists, sections, columns in another order."""

import pytest

from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

CONTROLLERS = """
Smart Array P222 in Slot 2                (sn: QACCP0001)
Smart Array P420i in Slot 0 (Embedded)    (sn: 5001400000000001)
"""
ADAPTER = """
Adapter #1

==============================================================================
                    Versions
                ================
Product Name    : Example RAID 9000-8i
Serial No       : EX0001

                Pending Images in Flash
                ================
None

                PCI Info
                ================
Vendor Id       : 1000
Number of Backend Port: 2
Port  :  Address
0        4433221100000000
1        4433221101000000

                HW Configuration
                ================
Alarm           : Present
Memory Size     : 512MB

                Settings
                ================
Alarm                            : Disabled
Ecc Bucket Size                  : 15

Allowed Mixing:

Mix of SAS/SATA of HDD type in VD Allowed

Exit Code: 0x00
"""
BATTERY = """\
BBU status for Adapter: 0

BatteryType: BBU
Battery State: Optimal
isSOHGood: Yes

BBU Capacity Info for Adapter: 0

  Cycle Count: 17
Max Error = 3 %

BBU Design Info for Adapter: 0

  Device Name: EX27

Exit Code: 0x00
"""
CONFIGURATION = """\
==============================================================================
Adapter: 0
Product Name: Example RAID 4
Memory: 64MB
==============================================================================
Number of DISK GROUPS: 2

DISK GROUPS: 0
Number of PDs: 1
Virtual Disk Information:
Virtual Disk: 0 (Target Id: 0)
State: Optimal
Physical Disk Information:
Physical Disk: 0
Enclosure Device ID: 252
Slot Number: 4
Firmware state: Online

DISK GROUPS: 1
Number of PDs: 0
"""
GPU = "0001:00:00.0 3D controller: Example Corporation EX104 [Example T4] (rev a1)\n\tKernel driver in use: example\n"


def test_controllers_alone_are_listed_with_their_serial_numbers() -> None:
    text = SourceText(CONTROLLERS)
    assert scores(text)["ssacli"] == 1
    assert [(one.summary, one.line) for one in parsed("ssacli", text).inventory] == [
        ("Smart Array P222 in Slot 2 (sn: QACCP0001)", 2),
        ("Smart Array P420i in Slot 0 (Embedded) (sn: 5001400000000001)", 3),
    ]


def test_a_controller_named_in_a_sentence_is_none() -> None:
    text = SourceText("We put the Smart Array P420i in Slot 3\nand it worked.\n")
    assert scores(text).get("ssacli", 0) < 0.5


def test_the_sections_of_an_adapter_keep_names_that_stand_in_several() -> None:
    found = content("megacli", ADAPTER)
    sections = found["sections"]
    assert (sections["HW Configuration"]["Alarm"], sections["Settings"]["Alarm"]) == ("Present", "Disabled")
    assert (found["adapter"], found["fields"]["Alarm"], found["fields"]["Serial No"]) == (1, "Present", "EX0001")
    assert sections["Settings"]["Ecc Bucket Size"] == 15
    assert sections["Pending Images in Flash"] == {}


def test_pci_numbers_of_an_adapter_stay_hexadecimal_and_ports_have_their_addresses() -> None:
    pci = content("megacli", ADAPTER)["sections"]["PCI Info"]
    assert (pci["Vendor Id"], pci["Port 0"], pci["Port 1"]) == ("1000", "4433221100000000", "4433221101000000")


def test_all_of_an_adapter_is_one_block() -> None:
    (one,) = parsed("megacli", SourceText(ADAPTER)).inventory
    assert (one.line, one.last_line, one.summary) == (2, ADAPTER.count("\n"), "adapter 1: Example RAID 9000-8i")


def test_a_battery_is_read_to_its_end() -> None:
    fields = content("megacli", BATTERY)["fields"]
    assert (fields["Max Error"], fields["Device Name"], fields["isSOHGood"]) == ("3 %", "EX27", "Yes")


def test_disk_groups_belong_to_the_adapter_and_not_to_the_drive_above() -> None:
    found = content("megacli", CONFIGURATION)
    assert found["fields"]["DISK GROUPS"] == [0, 1]
    assert found["fields"]["Product Name"] == "Example RAID 4"
    assert found["virtual_drives"] == [{"Virtual Drive": 0, "Target Id": 0, "State": "Optimal"}]
    assert found["physical_drives"] == [
        {"Virtual Drive": 0, "Enclosure Device ID": 252, "Slot Number": 4, "Firmware state": "Online"}
    ]


def test_the_enclosures_of_an_adapter_are_apart() -> None:
    text = (
        "    Number of enclosures on adapter 2 -- 2\n\n    Enclosure 0:\n    Device ID                     : 12\n"
        "    Number of Slots               : 24\n\n"
        "    Inquiry data                  :\n        Vendor Identification     : EXCORP\n\nNumber of Voltage Sensors         :1\n\n"
        "    Enclosure 1:\n    Device ID                     : 252\n    Number of Slots               : 8\n\nExit Code: 0x00\n"
    )
    assert scores(SourceText(text)) == {"megacli": 0.8}
    found = content("megacli", text)
    assert (found["adapter"], [one["Device ID"] for one in found["enclosures"]]) == (2, [12, 252])
    assert (found["enclosures"][0]["Vendor Identification"], found["enclosures"][0]["Number of Voltage Sensors"]) == (
        "EXCORP",
        1,
    )
    assert parsed("megacli", text).inventory[0].summary == "adapter 2: 2 enclosures"


def test_the_place_of_an_adapter_on_its_bus_stays_hexadecimal() -> None:
    text = "PCI information for Controller 1\n--------------------------------\nBus Number      : 82\nDevice Number   : 0\n\nExit Code: 0x00\n"
    found = content("megacli", text)
    assert (found["adapter"], found["sections"]["PCI Info"]["Bus Number"]) == (1, "82")


def test_a_class_of_devices_may_begin_with_a_digit() -> None:
    assert scores(SourceText(GPU))["lspci"] == 1
    (device,) = content("lspci", GPU)["devices"]
    assert (device["class"], device["name"]) == ("3D controller", "Example Corporation EX104 [Example T4]")


def test_mounts_are_read_where_the_target_is_not_the_first_column() -> None:
    text = "PARENT  ID TARGET PROPAGATION\n    21 430 /data  shared\n"
    assert scores(SourceText(text))["findmnt"] == 1
    assert content("findmnt", text)["filesystems"] == [
        {"parent": "21", "id": "430", "target": "/data", "propagation": "shared"}
    ]


MEGACLI_SUMMARY = """\
System
        Operating System:  Linux version 3.10.0
        CLI Version: 8.07.14

Hardware
        Controller
                 ProductName       : Example RAID 9000-8i(Bus 0, Dev 0)
                 Status            : Need Attention
        BBU
                 BBU Type          : EX09
                 Status            : Replace Battery pack        PD
                Connector          : Port 0 - 3<Internal>: Slot 5
                Product Id         : EX3000
                State              : Online

                Connector          : Port 0 - 3<Internal>: Slot 4
                State              : Failed

Storage

       Virtual Drives
                Virtual drive      : Target Id 0 ,VD name data
                Size               : 558.375 GB
                RAID Level         : 5

Exit Code: 0x00
"""


def test_a_summary_is_read_between_prompts_and_quoted() -> None:
    text = f"Hello,\n\nroot@host3:~# megacli\n{MEGACLI_SUMMARY}root@host3:~#\n\nBye.\n"
    for shown in (text, "".join(f"> {line}\n" for line in text.splitlines()), text.replace("\n", "\r\n")):
        assert scores(SourceText(shown)) == {"megacli": 1.0}
        (one,) = parsed("megacli", shown).inventory
        assert (one.tool, one.host, one.line, one.last_line) == (
            "megacli summary",
            "host3",
            4,
            3 + MEGACLI_SUMMARY.count("\n"),
        )
        assert (
            one.summary
            == "Example RAID 9000-8i(Bus 0, Dev 0), Need Attention, 1 virtual drive, 2 physical drives (Failed, Online)"
        )


def test_a_title_behind_the_state_of_a_battery_is_one() -> None:
    found = content("megacli", MEGACLI_SUMMARY)
    (card,) = found["summary"]["controllers"]
    assert card["BBU"] == {"BBU Type": "EX09", "Status": "Replace Battery pack"}
    assert [one["Connector"] for one in card["physical_drives"]] == [
        f"Port 0 - 3<Internal>: Slot {slot}" for slot in (5, 4)
    ]
    assert card["virtual_drives"] == [
        {"Virtual drive": "Target Id 0 ,VD name data", "Size": "558.375 GB", "RAID Level": 5}
    ]
    assert (found["adapter"], found["physical_drives"]) == (None, [])


def test_a_summary_beside_a_list_and_a_cut_one() -> None:
    both = parsed("megacli", MEGACLI_SUMMARY + "$ megacli\n" + ADAPTER).inventory
    assert [one.tool for one in both] == ["megacli summary", "megacli"]
    for end in range(0, len(MEGACLI_SUMMARY), 12):
        try:
            assert len(parsed("megacli", MEGACLI_SUMMARY[:end]).inventory) == 1
        except ParseError:
            assert "ProductName" not in MEGACLI_SUMMARY[:end]


@pytest.mark.parametrize(
    "named",
    ["Class 0600: Device 8086:6f00", "Unassigned class [ff00]: Device 1af4:1100", "USB Controller: Example UHCI #1",
     "FireWire (IEEE 1394): Example Link", "Fibre Channel: Example 8Gb Host Adapter"],
)  # fmt: skip
def test_a_device_of_any_class_is_recognised_alone(named: str) -> None:
    text = f"00:02.0 {named} (rev 01)\n\tSubsystem: Device 8086:0000\n"
    assert scores(SourceText(text)) == {"lspci": 1.0}
    (device,) = content("lspci", text)["devices"]
    assert (device["rev"], device["details"]) == ("01", {"Subsystem": "Device 8086:0000"})
