"""Readings built from what three reports print of their machines, for the pure parts."""

from typing import Any

from apps.comparison.readings import Reading
from tests.comparison.factories import GIB, MIB, reading

# Tristan System Integration, SAS and SATA: one dd line of 1000 MiB for each configuration, bytes/s; the reference's
# environment is inferred by its own report's wording.
TRISTAN = {
    "SAS RAID 5 of five disks, 256 MB cache, ESXi": 167854882.0,
    "SAS RAID 10, no cache, ESXi": 22342325.0,
    "SATA RAID 10, no cache, ESXi": 11334548.0,
    "SATA RAID 1, no cache, ESXi": 8919656.0,
    "SATA RAID 10, no cache, native": 68532932.0,
    "SAS RAID 10, no cache, native": 153324369.0,
}


def tristan() -> list[Reading]:
    made = []
    for number, (label, value) in enumerate(TRISTAN.items(), start=1):
        cached = "256 MB" in label
        facts = {
            "host": "dl160-ref" if cached else "dl160", "ram": 4 * GIB, "cpu": "Intel Xeon E5504, quad core",
            "os": "FreeBSD 8.1", "interface": label.split()[0], "raid_level": label.split("RAID ")[1].split()[0].rstrip(","),
            "raid_implementation": "hardware", "controller_cache": 256 * MIB if cached else "none",
            "controller": "256 MB, model not printed" if cached else "HP Smart Array P410 (ZM, zero memory)",
            "environment": "guest" if "ESXi" in label else "native", "sync": "none", "tool": "dd",
        }  # fmt: skip
        facts["configuration"] = label
        made.append(_reading(number, value, label, facts, 1000 * MIB))
    return made


# The Thumper's rounds: ext2 was the system disk's by chance, the arrays had ext3. The ext3 figures are in lost plots.
THUMPER = {
    "raw system disk, ext2": (1e9, "ext2", "single", "none", None),
    "raw disk, ext3": (1e8, "ext3", "single", "none", None),
    "RAID 50, ext3": (1.1e8, "ext3", "50", "software", 4 * MIB),
}


def thumper() -> list[Reading]:
    made = []
    for number, (label, told) in enumerate(THUMPER.items(), start=1):
        value, filesystem, level, implementation, chunk = told
        facts = {
            "host": "x4500", "ram": 8 * GIB, "filesystem": filesystem, "raid_level": level, "chunk_size": chunk,
            "raid_implementation": implementation, "disk_count": 8 if chunk else 1, "interface": "SATA",
            "kernel": "2.6.9-34.0.2", "controller": "Marvell SATA", "configuration": label, "tool": "iozone",
        }  # fmt: skip
        made.append(_reading(number, value, label, facts, 500 * MIB))
    return made


# CRS4, SCSI and Serial ATA: block writes of 1000 MB, KiB/s; only the hardware RAID host is called 32-bit, the others'
# Opteron is a 64-bit processor.
CRS4 = {
    "SATA, 3ware hardware RAID 5": ("aiodda2", "hardware", "5", 32115.5, "SATA"),
    "SCSI, zero-channel hardware RAID 5": ("aiodda2", "hardware", "5", 25000.0, "SCSI"),
    "SATA, software RAID 1": ("noral3", "software", "1", 100000.0, "SATA"),
    "SCSI, software RAID 0": ("agumu02", "software", "0", 200000.0, "SCSI"),
    "SCSI, software RAID 1": ("agumu02", "software", "1", 150000.0, "SCSI"),
}


def crs4() -> list[Reading]:
    made = []
    for number, (label, (host, implementation, level, value, interface)) in enumerate(CRS4.items(), start=1):
        old = host == "aiodda2"
        facts: dict[str, Any] = {
            "host": host, "ram": (1 if old else 2) * GIB, "interface": interface, "raid_level": level,
            "cpu": "Intel Xeon 3.06 GHz" if old else "AMD Opteron 246 2.0 GHz", "raid_implementation": implementation,
            "kernel": "2.4.21-9.0.1.EL.c0smp" if old else "2.6.7", "configuration": label, "tool": "bonnie",
            "architecture": "32-bit x86" if old else "64-bit x86",
        }  # fmt: skip
        made.append(_reading(number, value * 1024, label, facts, 1000 * MIB))
    return made


def _reading(number: int, value: float, label: str, facts: dict[str, Any], file_size: int) -> Reading:
    return reading(number, value, label, facts=facts, file_size=file_size, block_size=MIB)
