"""What discovery makes of RAID tools' lists that differ by version: members of volumes, and what an inquiry says of a drive."""

import json

import pytest

from apps.inventory.discovery.tools import arcconf, findmnt, megacli, omreport
from apps.inventory.discovery.tools.smartctl import drives as smartctl

LINE = "----------------------------------------------------------------------"
SHORT = "   --------------------------------------------------------"
CARD = f"""\
Controllers found: 1
{LINE}
Controller information
{LINE}
   Controller Model                         : Adaptec Example 8
   Controller Serial Number                 : 7E57

{LINE}
Logical device information
{LINE}
Logical Device number 0
   RAID level                               : 5
   Status of Logical Device                 : Optimal
   Size                                     : 2000 MB
   Volume Unique Identifier                 : 600508B1001C50CDC910104454AF6DA9
{{segments}}
{LINE}
Physical Device information
{LINE}
   Channel #0:
"""
DRIVE = """\
      Device #{number}
         Device is a Hard drive
         State                              : Online
         Transfer Speed                     : SATA 6.0 Gb/s
         Reported Channel,Device(T:L)       : 0,{device}({device}:0)
         Reported Location                  : {location}
         Vendor                             : {vendor}
         Model                              : {model}
         Serial number                      : {serial}
         Total Size                         : 1000 MB
"""


def card(segments: str, *drives: str) -> str:
    return CARD.format(segments=segments) + "".join(drives)


def drive(
    number: int, location: str, serial: str, vendor: str = "", model: str = "Example 3", device: int | None = None
) -> str:
    place = number if device is None else device
    return DRIVE.format(number=number, device=place, location=location, vendor=vendor, model=model, serial=serial)


@pytest.mark.parametrize(
    "words",
    [
        "(Controller:1,Enclosure:0,Slot:{slot}) {serial}",
        "(953869MB, SATA, HDD, Enclosure:0, Slot:{slot})      {serial}",
        "(953869MB, SATA, HDD, Channel:0, Enclosure:0, Slot:{slot}) {serial}",
        "(953869MB, SATA, HDD, Channel:0, Device:{device}) {serial}",
        "(0,{device}) {serial}",
        "(Controller:1,Enclosure:0,              Slot:{slot})",
    ],
)
def test_segments_of_any_version_are_members(words: str) -> None:
    listed = "".join(
        f"   Segment {slot} : Present {words.format(slot=slot, device=slot + 8, serial=f'SER-{slot}')}\n"
        for slot in (0, 1)
    )
    drives = [drive(slot, f"Enclosure 0, Slot {slot}", f"SER-{slot}", device=slot + 8) for slot in (0, 1)]
    (found,) = arcconf.discover(
        card(f"{SHORT}\n   Logical Device segment information\n{SHORT}\n{listed}", *drives)
    ).cards
    assert [volume.spans for volume in found.volumes] == [(("0,8", "0,9"),)]
    assert [one.serial for one in found.drives][:2] == ["SER-0", "SER-1"]


def test_a_smartraid_lists_members_below_the_volume_and_a_virtual_enclosure_with_a_drives_number() -> None:
    listed = "".join(
        f"   Device {number} : Present (953869MB, SATA, HDD, Connector:1, Device:{number}) SER-{number}\n"
        for number in (4, 5)
    )
    where = "Enclosure Direct Attached, Slot {}(Connector 1:CN1)"
    text = card(
        f"{SHORT}\n   Array Physical Device Information\n{SHORT}\n{listed}",
        *(drive(number, where.format(number), f"SER-{number}") for number in (4, 5)),
        "   Channel #2:\n      Device #4\n         Device is an Enclosure Services Device\n         Enclosure ID : 0\n",
    )
    (found,) = arcconf.discover(text).cards
    assert [(one.place, one.serial, one.slot) for one in found.drives] == [("0,4", "SER-4", 4), ("0,5", "SER-5", 5)]
    assert [(one.spans, one.naa) for one in found.volumes] == [
        ((("0,4", "0,5"),), "0x600508b1001c50cdc910104454af6da9")
    ]


def test_a_sata_drives_name_may_begin_in_the_vendors_field() -> None:
    text = card(
        "",
        drive(0, "Connector 0, Device 0", "S0", vendor="ST310003", model="40NS"),
        drive(1, "Connector 0, Device 1", "S1", vendor="EXAMPLE", model="Fast 7"),
        drive(2, "Connector 0, Device 2", "S2", vendor="*MISSING*", model=""),
    )
    (found,) = arcconf.discover(text).cards
    assert [(one.vendor, one.model) for one in found.drives] == [("", "ST31000340NS"), ("EXAMPLE", "Fast 7"), ("", "")]


@pytest.mark.parametrize(
    ("kind", "inquiry", "told"),
    [
        ("", "EXAMPLE DISK10K5_1470SASBP00J498LV8K", ("EXAMPLE", "DISK10K5_1470SAS", "J498LV8K", "BP00")),
        ("", "ATA     ST9500620NS     FTA1            9XF1KAGA", ("", "ST9500620NS", "9XF1KAGA", "FTA1")),
        ("SAS", "MAKER-EXST9300603SS   F B53B3SE0WJ1Y0825B53B", ("MAKER-EX", "ST9300603SS F", "3SE0WJ1Y0825B53B", "B53B")),
        ("SAS", "MAKER-EXST9146803SS B53C6SD1LQ9C0324B53C", ("MAKER-EX", "ST9146803SS", "6SD1LQ9C0324B53C", "B53C")),
        ("SATA", f"{'BTYG9513480BGN':20}{'EXSC2KG480G8R':40}XCV1DL65", ("", "EXSC2KG480G8R", "BTYG9513480BGN", "XCV1DL65")),
    ],
)  # fmt: skip
def test_an_inquiry_has_columns_whether_the_kind_of_drive_is_told_or_not(
    kind: str, inquiry: str, told: tuple[str, ...]
) -> None:
    lines = [
        "Enclosure Device ID: 8", "Slot Number: 1", *([f"PD Type: {kind}"] if kind else []), "Raw Size: 140014MB [0x11177328 Sectors]",
        "Firmware state: Online", f"Inquiry Data: {inquiry}    ",
    ]  # fmt: skip
    (found,) = megacli.discover("Adapter #0\n\n" + "\n".join(lines) + "\n").cards
    assert [(one.vendor, one.model, one.serial, one.firmware) for one in found.drives] == [told]


def test_other_columns_of_findmnt_keep_their_meaning() -> None:
    text = (
        "TARGET           SIZE  USED FSTYPE SOURCE\n/               1.8T  1.5G ext4   /dev/sda2\n"
        "└─/boot         512M    2M vfat   /dev/sda1\n"
    )
    found = {one.target: one for one in findmnt.discover(text).mounts}
    assert (found["/"].source, found["/"].fstype, found["/"].used) == ("/dev/sda2", "ext4", int(1.5 * 1024**3))
    assert (found["/boot"].source, found["/boot"].size) == ("/dev/sda1", 512 << 20)


@pytest.mark.parametrize(
    ("drives", "spans", "level", "count"),
    [
        ("Number Of Drives:2", 3, "RAID10", 6),
        ("Number Of Drives per span:2", 3, "RAID10", 6),
        ("Number Of Drives    : 2", 1, "RAID1", 2),
    ],
)
def test_megacli_counts_the_drives_of_a_span_whether_it_says_so_or_not(
    drives: str, spans: int, level: str, count: int
) -> None:
    (found,) = megacli.discover(
        "Adapter 0 -- Virtual Drive Information:\nVirtual Disk: 0 (Target Id: 0)\nName:data\n"
        "RAID Level: Primary-1, Secondary-0, RAID Level Qualifier-0\nSize:1429248MB\nState: Optimal\nStripe Size: 64kB\n"
        f"{drives}\nSpan Depth:{spans}\n"
    ).cards
    assert [(one.level, one.member_count, one.span_depth) for one in found.volumes] == [(level, count, spans)]


def test_omreport_may_put_no_blank_before_a_cards_slot() -> None:
    (found,) = omreport.discover(
        " Controller  PERC H730P Mini(Embedded)\n\nController\nID                    : 0\nStatus                : Ok\n"
        "Name                  : PERC H730P Mini\nSlot ID               : Embedded\nNumber of Connectors  : 2\n\n"
        "List of Physical Disks on Controller PERC H730P Mini(Embedded)\n\nController PERC H730P Mini(Embedded)\n"
        "ID            : 0:1:3\nStatus        : Ok\nState         : Online\nBus Protocol  : SAS\n"
        "Capacity      : 446.63 GB (479559942144 bytes)\nHot Spare     : No\nProduct ID    : MBA3073RC\n"
    ).cards
    assert (found.number, found.model) == ("cEmbedded", "PERC H730P Mini")
    assert [(one.place, one.model) for one in found.drives] == [("0:1:3", "MBA3073RC")]


def test_what_is_no_disk_is_none_though_smartctl_prints_its_numbers() -> None:
    text = (
        "smartctl 6.6 2017-11-05 r4594\nCopyright (C) 2002-17, Bruce Allen\n\n=== START OF INFORMATION SECTION ===\n"
        "Vendor:               EXAMPLE\nProduct:              {product}\nSerial number:        {serial}\nDevice type:          {kind}\n\n"
    )
    printed = text.format(product="DVD A", serial="D1", kind="CD/DVD") + text.format(
        product="E4", serial="D2", kind="disk"
    )
    assert [one.serial for one in smartctl.discover(printed).drives] == ["D2"]
    shelf = {"smartctl": {}, "scsi_product": "SHELF", "serial_number": "E1", "device_type": {"name": "enclosure"}}
    assert smartctl.discover(json.dumps(shelf)).drives == ()


@pytest.mark.parametrize(
    ("printed", "wwn"),
    [("50000D1101D8A111", ""), ("30000D1F048FCC02", ""), ("5000CCA295371915", "0x5000cca295371915")],
)
def test_a_name_that_the_card_gave_a_drive_is_not_the_drives_own(printed: str, wwn: str) -> None:
    (found,) = arcconf.discover(
        card("", drive(0, "Connector 0, Device 0", "S0") + f"         World-wide name : {printed}\n")
    ).cards
    assert [(one.serial, one.wwn) for one in found.drives] == [("S0", wwn)]
