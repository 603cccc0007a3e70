"""What discovery makes of older and newer versions' words for the same."""

import json

from apps.inventory.discovery.cards import Card, Drive
from apps.inventory.discovery.models import FoundController
from apps.inventory.discovery.storage.drive_matching import Disks, with_drives
from apps.inventory.discovery.tools import dmidecode, nvme, omreport, ssacli
from apps.inventory.discovery.tools.mdadm import arrays as mdadm
from apps.inventory.discovery.tools.storcli import cards as storcli

OLD = """\
# dmidecode 2.10
SMBIOS 2.7 present.

Handle 0x0100, DMI type 1, 27 bytes
System Information
\tManufacturer: Example
\tProduct Name: Machine 7
\tSerial Number: {serial}

Handle 0x1100, DMI type 17, 28 bytes
Memory Device
\tSize: 4096 MB
\tType: {kind}
\tSpeed: 1333 MHz
"""


def test_a_dmidecode_that_is_older_than_the_memory_tells_nothing_of_its_type() -> None:
    assert dmidecode.discover(OLD.format(serial="S7", kind="<OUT OF SPEC>")).ram_type == "1 × 4 GB 1333 MHz"


def test_zero_is_no_serial_number_of_a_machine() -> None:
    assert dmidecode.discover(OLD.format(serial="0", kind="DDR3")).serial == ""
    assert dmidecode.discover(OLD.format(serial="S0", kind="DDR3")).serial == "S0"


def test_members_of_an_array_are_found_wherever_their_columns_stand() -> None:
    text = (
        "/dev/md4:\n           Version : 1.2\n        Raid Level : raid1\n      Raid Devices : 2\n             State : clean\n"
        "Number Major Minor RaidDevice State\n4 8 17 1 active sync /dev/sdb1\n3 8 1 0 active sync /dev/sda1\n"
    )
    detail = mdadm.discover(text).by_name["md4"]
    assert detail.places == {"sdb1": 1, "sda1": 0}
    assert detail.array
    assert [one.device for one in detail.array.members] == ["sdb1", "sda1"]


def test_older_arrays_have_another_word_for_the_block_size_of_a_drive() -> None:
    text = (
        "Smart Array P410i in Slot 0 (Embedded)\n   Slot: 0\n\n   Array: A\n      Status: OK\n\n      physicaldrive 1I:1:2\n"
        "         Status: OK\n         Size: 300 GB\n         Native Block Size: 512\n"
    )
    (card,) = ssacli.discover(text).cards
    assert [(drive.place, drive.logical_block_bytes) for drive in card.drives] == [("1I:1:2", 512)]


def test_namespaces_beside_the_controllers_of_a_subsystem_are_theirs() -> None:
    space = {"NameSpace": "nvme0n1", "NSID": 1, "PhysicalSize": 1920383410176, "SectorSize": 4096}
    drive = {"Controller": "nvme0", "SerialNumber": "S7", "ModelNumber": "Example 7", "Firmware": "F1"}
    inside = {"Subsystems": [{"Controllers": [{**drive, "Namespaces": [space]}], "Namespaces": []}]}
    beside = {
        "Subsystems": [
            {"Controllers": [{**drive, "Namespaces": [], "Paths": [{"Path": "nvme0c0n1"}]}], "Namespaces": [space]}
        ]
    }
    for found in (inside, beside):
        (one,) = nvme.discover(json.dumps({"Devices": [found]})).drives
        assert (one.device, one.capacity_bytes, one.logical_block_bytes) == ("nvme0n1", 1920383410176, 4096)


def controller(**data: object) -> dict[str, object]:
    return {"Command Status": {"Controller": 0, "Status": "Success"}, "Response Data": data}


def kind_of(*outputs: dict[str, object]) -> str:
    (card,) = storcli.discover(json.dumps({"Controllers": outputs})).cards
    return card.kind


def test_a_card_that_is_an_hba_stays_one_in_whatever_its_tool_tells_later() -> None:
    drives = controller(**{"PD LIST": [{"EID:Slt": "0:1", "State": "JBOD", "Size": "3.638 TB"}]})
    assert kind_of(controller(**{"Product Name": "Example 7", "Driver Name": "mpt3sas"}), drives) == "hba"
    assert kind_of(controller(**{"Product Name": "Example 7", "Driver Name": "megaraid_sas"}), drives) == "raid"


def test_the_personality_tells_an_hba() -> None:
    about = {"Product Name": "Example 7", "Driver Name": "mpi3mr"}
    assert kind_of(controller(**about, **{"Controller Personality": "eHBA"})) == "hba"
    assert kind_of(controller(**about, **{"Current Personality": "HBA-Mode "})) == "hba"
    assert kind_of(controller(**about, **{"Controller Personality": "RAID"})) == "raid"


def test_drives_that_a_plain_card_mirrors_are_found_beside_what_the_kernel_sees() -> None:
    """The kernel sees the mirror, not its drives."""
    drives = [Drive(f"0:{n}", serial=f"SERIAL-7{n}", state=state) for n, state in enumerate(("online", "online", ""))]
    card, disks = Card("omreport", "c1", kind="hba", drives=tuple(drives)), Disks([])
    assert list(with_drives(disks, "card", card, FoundController("card", "hba"), has_lsblk=True)) == ["0:0", "0:1"]
    assert [disk.serial for disk in disks.done()] == ["SERIAL-70", "SERIAL-71"]


def test_hba_drives_make_their_card_an_hba() -> None:
    drive = "      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS HDD, 300 GB, OK)\n"
    (card,) = ssacli.discover(f"Smart HBA H240 in Slot 1\n\n   HBA Drives\n\n{drive}").cards
    assert (card.kind, len(card.drives)) == ("hba", 1)
    array = "   Array A (SAS, Unused Space: 0 MB)\n\n      logicaldrive 1 (558.7 GB, RAID 1, OK)\n\n"
    (card,) = ssacli.discover(f"Smart Array P840 in Slot 1\n\n{array}   HBA Drives\n\n{drive}").cards
    assert card.kind == "raid"
    (card,) = ssacli.discover(f"Smart Array P840 in Slot 1\n\n   Unassigned\n\n{drive}").cards
    assert (card.kind, len(card.drives)) == ("raid", 1)


def test_a_drive_that_an_hba_gives_to_the_kernel_says_so() -> None:
    fields = "         Status: OK\n         Drive Type: HBA Mode Drive\n         Size: 6 TB\n"
    text = f"Smart HBA H240 in Slot 1 (HBA Mode)\n\n   HBA Drives\n\n      physicaldrive 2I:1:29\n{fields}"
    assert [drive.state for drive in ssacli.discover(text).cards[0].drives] == ["jbod"]


def test_drives_above_a_controllers_name_are_not_that_controllers() -> None:
    drive = (
        "ID : 0:1:{0}\nStatus : Ok\nState : Online\nCapacity : 558.38 GB\nProduct ID : Example\nSerial No. : S{0}\n\n"
    )
    (card,) = omreport.discover(f"{drive.format(0)}Controller PERC Example (Slot 2)\n\n{drive.format(1)}").cards
    assert [one.serial for one in card.drives] == ["S1"]
