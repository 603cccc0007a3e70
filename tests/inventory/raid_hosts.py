"""Hosts with RAID controllers to discover. Their outputs are written from the makers' manuals and the corpus' real files."""

import json
from typing import Any

from tests.inventory.hosts import device, findmnt, lsblk, mount, output, part

NAA = "600605b00d1a2b3c2f0e11220a0b0c0d"
PCI = "0000:03:00.0"


def attributes(slot: int, serial: str, **changed: Any) -> dict[str, Any]:
    """`/c0/e252/sN show all J`, as far as discovery reads it: a 4 TB SATA drive."""
    name = f"Drive /c0/e252/s{slot}"
    row = {"EID:Slt": f"252:{slot}", "DID": 8 + slot, "State": "Onln", "DG": 0, "Size": "3.637 TB", "Intf": "SATA", "Med": "HDD",
           "SeSz": "512B", "Model": "ST4000NM0033-9ZM170", "Sp": "U", **changed}  # fmt: skip
    detail = {
        f"{name} State": {"S.M.A.R.T alert flagged by drive": "No"},
        f"{name} Device attributes": {
            "SN": f"            {serial}", "Manufacturer Id": "ATA     ", "Model Number": "ST4000NM0033-9ZM170",
            "WWN": f"5000C500{slot:08X}", "Firmware Revision": "SN04    ", "Raw size": "3.638 TB [0x1d1c0beb0 Sectors]",
            "Device Speed": "6.0Gb/s", "Link Speed": "6.0Gb/s", "Sector Size": "512B",
        },
    }  # fmt: skip
    return {name: [row], f"{name} - Detailed Information": detail}


def topology(level: str, spans: int, each: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"DG": 0, "Arr": "-", "Row": "-", "EID:Slot": "-", "DID": "-", "Type": level}]
    for span in range(spans):
        rows.append({"DG": 0, "Arr": span, "Row": "-", "EID:Slot": "-", "DID": "-", "Type": level})
        for row in range(each):
            slot = span * each + row
            rows.append({"DG": 0, "Arr": span, "Row": row, "EID:Slot": f"252:{slot}", "DID": 8 + slot, "Type": "DRIVE"})
    return rows


def storcli(level: str = "RAID50", spans: int = 2, each: int = 3, state: str = "Optl", serials: str = "Z1Z") -> str:
    status = {"Controller": 0, "Status": "Success", "Description": "None"}
    basics = {
        "Basics": {"Controller": 0, "Model": "AVAGO MegaRAID SAS 9361-8i", "Serial Number": "SV50123456", "PCI Address": "00:03:00:00"},
        "Version": {"Firmware Version": "4.680.00-8290", "Driver Name": "megaraid_sas"},
        "HwCfg": {"On Board Memory Size": "1024MB", "BBU": "Absent", "Backend Port Count": 8},
        "TOPOLOGY": topology(level, spans, each),
        "VD LIST": [{"DG/VD": "0/0", "TYPE": level, "State": state, "Cache": "RWBD", "Size": "14.551 TB", "Name": "data"}],
        "Enclosure LIST": [{"EID": 252, "State": "OK", "Slots": 8, "PD": spans * each, "ProdID": "SGPIO"}],
        "Cachevault_Info": [{"Model": "CVPM02", "State": "Optimal", "Temp": "31C"}],
    }  # fmt: skip
    drives: dict[str, Any] = {}
    for slot in range(spans * each):
        drives |= attributes(slot, f"{serials}{slot:05d}")
    volume = {
        "/c0/v0": [
            {"DG/VD": "0/0", "TYPE": level, "State": state, "Cache": "RWBD", "Size": "14.551 TB", "Name": "data"}
        ],
        "VD0 Properties": {"Strip Size": "256 KB", "OS Drive Name": "/dev/sda", "SCSI NAA Id": NAA},
    }
    documents = [
        {"Controllers": [{"Command Status": status, "Response Data": data}]} for data in (basics, drives, volume)
    ]
    return "".join(f"$ storcli64 show\n{json.dumps(one, indent=1)}\n" for one in documents)


def sysfs() -> str:
    return json.dumps(
        {
            "block": {"sda": f"pci0000:00/0000:00:02.0/{PCI}/host0/target0:2:0/0:2:0:0/block/sda"},
            "nvme": {},
            "net": {"eth0": {"path": "pci0000:00/0000:00:03.0/0000:05:00.0/net/eth0", "driver": "ixgbe", "speed": 10000, "mtu": 9000,
                             "address": "0c:c4:7a:00:00:01"}},
            "pci": {PCI: {"driver": "megaraid_sas", "speed": "8.0 GT/s PCIe", "width": "8"},
                    "0000:05:00.0": {"driver": "ixgbe", "speed": "5.0 GT/s PCIe", "width": "8"}},
            "enclosures": {},
        }
    )  # fmt: skip


LSPCI = """\
Slot:\t0000:03:00.0
Class:\tRAID bus controller [0104]
Vendor:\tBroadcom / LSI [1000]
Device:\tMegaRAID SAS-3 3108 [Invader] [005d]
SVendor:\tBroadcom / LSI [1000]
SDevice:\tMegaRAID SAS 9361-8i [9361]
Driver:\tmegaraid_sas

Slot:\t0000:05:00.0
Class:\tEthernet controller [0200]
Vendor:\tIntel Corporation [8086]
Device:\t82599ES 10-Gigabit SFI/SFP+ Network Connection [10fb]
Driver:\tixgbe

Slot:\t0000:81:00.0
Class:\tFibre Channel [0c04]
Vendor:\tQLogic Corp. [1077]
Device:\tISP2532-based 8Gb Fibre Channel to PCI Express HBA [2532]
Driver:\tqla2xxx
"""
ETHTOOL = """\
$ ethtool eth0
Settings for eth0:
\tSpeed: 10000Mb/s
$ ethtool -i eth0
driver: ixgbe
firmware-version: 0x800003df
bus-info: 0000:05:00.0
"""


def volume_device(**fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "vendor": "AVAGO",
        "model": "MR9361-8i",
        "hctl": "0:2:0:0",
        "wwn": f"0x{NAA}",
        "size": 16_001_600_000_000,
        "serial": f"00{NAA}",
    }
    return device("sda", part("sda1"), **(known | fields))


def megaraid(**told: Any) -> list[dict[str, Any]]:
    """A RAID 50 of six drives behind one card, seen by the kernel as sda, with XFS on it."""
    return [
        output("lsblk", lsblk(volume_device())),
        output("findmnt", findmnt(mount("/data", "/dev/sda1", "xfs", uuid="aa"))),
        output("sysfs", sysfs()), output("lspci", LSPCI), output("ethtool", ETHTOOL), output("storcli", storcli(**told)),
    ]  # fmt: skip
