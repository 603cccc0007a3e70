"""Shapes in which people paste outputs of lsblk, findmnt and lspci: shifted columns, garbled trees, folded lines, blanks of web pages."""

import pytest

from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

TABLE = """\
NAME                MAJ:MIN RM   SIZE RO TYPE MOUNTPOINT
sda                   8:0    0 111.8G  0 disk
├─sda1                8:1    0   600M  0 part /boot/efi
└─sda2                8:2    0 110.9G  0 part
  ├─east--lab-root  253:0    0    50G  0 lvm  /
  └─east--lab-swap  253:1    0     4G  0 lvm  [SWAP]
"""
ROWS = [
    ("sda", "8:0", "0", "111.8G", "0", "disk", None, None),
    ("sda1", "8:1", "0", "600M", "0", "part", "/boot/efi", "sda"),
    ("sda2", "8:2", "0", "110.9G", "0", "part", None, "sda"),
    ("east--lab-root", "253:0", "0", "50G", "0", "lvm", "/", "sda2"),
    ("east--lab-swap", "253:1", "0", "4G", "0", "lvm", "[SWAP]", "sda2"),
]
KEYS = ("name", "maj:min", "rm", "size", "ro", "type", "mountpoint", "parent")
FORMS = {
    "as it is": TABLE,
    "names changed": TABLE.replace("east--lab-", "e-"),
    "names made longer": TABLE.replace("east--lab-", "east--laboratory--of--others-"),
    "blanks of a web page": TABLE.replace("  ", " \xa0"),
    "only one blank": "\n".join(" ".join(line[20:].split()).join([f"{line[:20].rstrip()} ", ""]) for line in TABLE.splitlines()),
    "tree of UTF-8 read as CP1252": TABLE.replace("├─", "â”œâ”€").replace("└─", "â””â”€"),
    "tree of UTF-8 without its control characters": TABLE.replace("├─", "ââ").replace("└─", "ââ"),
    "folded by a mail": TABLE.replace(" TYPE M", "\nTYPE M").replace(" part /boot", "\npart /boot").replace("0 lvm  [", "0\nlvm  ["),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_block_devices_are_the_same_whatever_became_of_their_columns(form: str) -> None:
    text = f"$ lsblk\n{FORMS[form]}\nThanks\n"
    assert scores(SourceText(text)) == {"lsblk": 1.0}
    found = parsed("lsblk", text)
    assert not found.broken
    (one,) = found.inventory
    rows = [tuple(device.get(key) for key in KEYS) for device in one.content["blockdevices"]]
    names = {"names changed": "e-", "names made longer": "east--laboratory--of--others-"}
    assert rows == [(row[0].replace("east--lab-", names.get(form, "east--lab-")), *row[1:]) for row in ROWS]
    assert (one.line, one.last_line) == (2, len(FORMS[form].strip().splitlines()) + 1)


def test_words_below_a_table_are_no_place_where_something_is_mounted() -> None:
    found = parsed("lsblk", TABLE.replace("/boot/efi", "").rstrip() + "\npart of it is mounted elsewhere\n")
    mounted = [device.get("mountpoint") for device in found.inventory[0].content["blockdevices"]]
    assert mounted == [None, None, None, "/", "[SWAP]"]


def test_a_tree_of_odd_width_moves_what_stands_behind_it() -> None:
    text = (
        "NAME                    FSTYPE      LABEL UUID       MOUNTPOINT\nsda                     raid_member\n└─md126\n"
        "   ├─md126p1             vfat              88-97      /boot/efi\n   └─md126p2             LVM2_member       x-9Cd\n"
        "     └─rhel_example--02  xfs               bb-1a6     /\n"
    )
    found = [
        (one["name"], one["fstype"], one["uuid"], one["mountpoint"]) for one in content("lsblk", text)["blockdevices"]
    ]
    assert found == [
        ("sda", "raid_member", None, None), ("md126", None, None, None), ("md126p1", "vfat", "88-97", "/boot/efi"),
        ("md126p2", "LVM2_member", "x-9Cd", None), ("rhel_example--02", "xfs", "bb-1a6", "/"),
    ]  # fmt: skip


def test_names_as_long_as_their_column_are_names() -> None:
    text = (
        "NAME                     FSTYPE LABEL UUID    MOUNTPOINT\nsda                      raid\n"
        "  east_very_long_name_02 xfs          bb-1a6  /\n  east_very_long_name_03 xfs          bb-1a7  /home\n"
    )
    found = [
        (one["name"], one["fstype"], one["uuid"], one["mountpoint"]) for one in content("lsblk", text)["blockdevices"]
    ]
    assert found[1:] == [
        ("east_very_long_name_02", "xfs", "bb-1a6", "/"),
        ("east_very_long_name_03", "xfs", "bb-1a7", "/home"),
    ]


def test_marks_that_somebody_drew_below_a_table_do_not_hide_it() -> None:
    text = (
        "NAME    ALIGNMENT MIN-IO OPT-IO PHY-SEC LOG-SEC ROTA SCHED RQ-SIZE  RA WSAME\n"
        "nvme0n1         0   4096      0    4096    4096    0               128    0B\n                                   ^^^     ^^^\n"
    )
    (device,) = content("lsblk", text)["blockdevices"]
    assert (device["phy-sec"], device["log-sec"], device["ra"]) == ("4096", "4096", "128")


def _names(text: str) -> list[str]:
    return [device["name"] for device in content("lspci", text)["devices"]]


def test_folded_lines_are_not_cut_ones_because_two_of_them_are_of_one_length() -> None:
    text = (
        "0000:00:02.0 VGA compatible controller: Example Corporation Dummy-S\nGT1 (rev 0c)\n"
        "0000:00:0a.0 Signal processing controller: Example Corporate Dum-my\nMonitor (rev 01)\n"
    )
    assert len({len(line) for line in text.splitlines()[::2]}) == 1
    assert _names(text) == ["Example Corporation Dummy-S GT1", "Example Corporate Dum-my Monitor"]


def test_a_blank_at_the_end_of_a_line_tells_that_it_goes_on() -> None:
    text = "00:01.1 IDE interface: Example Corporation 82371SB PIIX3 IDE \n[Natoma/Triton II]\n00:03.0 SATA controller: Example Device\n"
    assert _names(text) == ["Example Corporation 82371SB PIIX3 IDE [Natoma/Triton II]", "Example Device"]


def test_what_stands_between_two_devices_belongs_to_the_first_where_it_had_no_room() -> None:
    text = (
        "0000:00:0e.0 RAID bus controller: Example Corporation Volumes Managed\nDevice NVMe RAID Controller\n"
        "0000:00:14.2 RAM memory: Example Corporation Dummy Lake-S PCH Shared SRAM (rev 11)\n"
    )
    assert _names(text)[0] == "Example Corporation Volumes Managed Device NVMe RAID Controller"
    details = content(
        "lspci",
        "01:00.0 SATA controller: Example\n\tFlags: bus master, latency 0, IRQ 16,\nNUMA node 0\n\tKernel driver in use: ahci\n",
    )
    assert details["devices"][0]["details"] == {
        "Flags": "bus master, latency 0, IRQ 16, NUMA node 0",
        "Kernel driver in use": "ahci",
    }


def test_the_programming_interface_is_kept_with_its_name() -> None:
    (device,) = content("lspci", "00:1f.2 SATA controller: Example AHCI (rev 05) (prog-if 01 [AHCI 1.0])\n")["devices"]
    assert (device["rev"], device["prog_if"], device["prog_if_name"]) == ("05", "01", "AHCI 1.0")


FOLDED = """\
# findmnt
TARGET                          SOURCE
                                FSTYPE OPTIONS
/
/dev/mapper/a[/@root]           btrfs
rw,noatime,subvol=/@root
├─/run                          tmpfs
                tmpfs
rw,size=5k
│ ├─/run/user/systemd-example.service
│ │                             ramfs      ramfs
ro,mode=700
└─/boot                         /dev/sda1  ext2   rw,relatime

Thanks
"""


def test_mounts_that_a_mail_folded_are_whole() -> None:
    assert scores(SourceText(FOLDED)) == {"findmnt": 1.0}
    (one,) = parsed("findmnt", FOLDED).inventory
    assert (one.line, one.last_line) == (2, 13)
    assert [tuple(row.values()) for row in one.content["filesystems"]] == [
        ("/", "/dev/mapper/a[/@root]", "btrfs", "rw,noatime,subvol=/@root"), ("/run", "tmpfs", "tmpfs", "rw,size=5k"),
        ("/run/user/systemd-example.service", "ramfs", "ramfs", "ro,mode=700"), ("/boot", "/dev/sda1", "ext2", "rw,relatime"),
    ]  # fmt: skip


def test_mounts_below_a_line_that_is_none_are_told() -> None:
    found = parsed("findmnt", FOLDED.replace("ro,mode=700", "ro,mode=700\nand more, and then"))
    assert len(found.inventory[0].content["filesystems"]) == 3
    assert [(broken.line, broken.found) for broken in found.broken] == [(13, "and more, and then")]


def test_zones_and_paths_have_columns_of_their_own() -> None:
    zones = "NAME    ZONED        ZONE-SZ ZONE-NR ZONE-AMAX ZONE-OMAX ZONE-APP ZONE-WGRAN\n"
    zones += "nvme0n1 host-managed      2G    3726        14        14     252K         4K\n"
    (device,) = content("lsblk", zones)["blockdevices"]
    assert (device["zone-sz"], device["zone-nr"], device["zone-wgran"]) == ("2G", "3726", "4K")
    paths = "PATH            SIZE MODEL       MOUNTPOINT\n/dev/sda      931.5G Example 870 \n/dev/mapper/x   930G             /\n"
    assert [(one["path"], one["size"], one["mountpoint"]) for one in content("lsblk", paths)["blockdevices"]] == [
        ("/dev/sda", "931.5G", None), ("/dev/mapper/x", "930G", "/"),
    ]  # fmt: skip


def test_a_row_that_stands_beside_its_headings_is_told() -> None:
    table = "NAME   SIZE OWNER GROUP MODE\nsda  931.5G root  disk  brw-rw----\nnvme0n1    3.5T   root    disk    brw-rw----\n"
    assert [(one.line, one.found) for one in parsed("lsblk", table).broken] == [
        (3, "nvme0n1    3.5T   root    disk    brw-rw----")
    ]
    prose = table.replace("nvme0n1    3.5T   root    disk    brw-rw----", "sda is the one that I mean")
    assert not parsed("lsblk", prose).broken


def test_ports_of_one_card_were_not_cut_because_they_are_of_one_length() -> None:
    text = "".join(
        f"3d:00.{port} Ethernet controller: Example Corporation Ethernet Link\nX722 for 10GBASE-T (rev 09)\n"
        for port in range(4)
    )
    assert _names(text) == ["Example Corporation Ethernet Link X722 for 10GBASE-T"] * 4


@pytest.mark.parametrize("below", ["00: 22 10 80 14 00 00 00 00", "Subsystem: Example Root Complex"])
def test_a_folded_device_is_whole_above_its_bytes_and_details(below: str) -> None:
    text = f"00:00.0 Host bridge: Advanced Example Devices, Inc. [AED] Renoir\nSample/Matisse Root Complex\n{below}\n"
    assert _names(text) == ["Advanced Example Devices, Inc. [AED] Renoir Sample/Matisse Root Complex"]


def test_a_rule_below_a_device_is_no_part_of_its_name() -> None:
    text = "91:00.1 Infiniband controller: Example Technologies Family \n----------------------------------\n"
    assert _names(text) == ["Example Technologies Family"]


def test_raw_rows_of_the_usual_columns_keep_their_blanks() -> None:
    text = (
        "NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT\nsda 8:0 0 10G 0 disk \neast-vg 253:0 0 10G 0 lvm /mnt/two\\x20words\n"
    )
    assert [one["mountpoint"] for one in content("lsblk", text)["blockdevices"]][1] == "/mnt/two words"


def test_every_place_where_a_device_is_mounted_is_kept() -> None:
    text = TABLE.replace("MOUNTPOINT", "MOUNTPOINTS").replace("[SWAP]", f"[SWAP]\n{' ' * 46}/second place")
    found = content("lsblk", text)["blockdevices"]
    assert [one["mountpoints"] for one in found] == [[], ["/boot/efi"], [], ["/"], ["[SWAP]", "/second place"]]
