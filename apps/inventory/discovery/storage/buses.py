"""What lsblk tells about how a disk is attached.

`tran` is the transport of the kernel's SCSI host: behind a SAS controller it says sas for SATA disks too, and those
have the vendor ATA. lsblk prints no PCI addresses, so a controller is known only by the kernel's number for it; with
AHCI that is one number per port.
"""

import re

from apps.inventory.discovery.models import FoundController
from apps.inventory.discovery.tools.lsblk.devices import Device

_NVME = re.compile(r"(nvme\d+)(c\d+)?n\d+")
_PATHS = ("virtio", "vmbus", "xen")
_VIRTUAL_VENDORS = ("qemu", "vmware", "vbox", "msft", "xen", "0x1af4", "google")
# What lsblk prints in place of a maker's name; virtio has the PCI number of its maker, 0x1af4.
_NO_VENDORS = re.compile(r"ata|nvme|usb|generic-?|0x[0-9a-f]+", re.IGNORECASE)
_SCSI_HOSTS = {"sata": "hba", "fc": "fc"}
# What RAID controllers call themselves where the kernel asks for a disk: such a device is an array, not a disk.
_VOLUMES = re.compile(
    r"(?:dell perc|hpe? logical volume|hpe? msa|(?:lsi|avago|broadcom|intel|lenovo|ibm|supermicro|fts|sun|cisco|ftm|inspur)[\w-]* "
    r"(?:mr|megaraid|raid|serveraid|ucsc|praid|rs[23]|smc\d|r\d{2,}|logical volume)|(?:amcc|3ware|adaptec|asr|serverra|areca|arc-)[\w-]* )",
    re.IGNORECASE,
)


def is_volume(vendor: str, model: str) -> bool:
    """Return whether vendor and model are those of a RAID controller's volume, such as `DELL PERC H730 Mini`."""
    return bool(_VOLUMES.match(" ".join(f"{vendor} {model} ".split()) + " "))


def is_virtual(device: Device) -> bool:
    """Return whether a disk is a hypervisor's, so that its mechanical properties are defaults and not facts."""
    chain = device.subsystems.split(":")
    return (
        device.tran == "virtio"
        or bool(re.match(r"(vd|xvd)[a-z]", device.kname))
        or any(part in chain for part in _PATHS)
        or device.vendor.lower().startswith(_VIRTUAL_VENDORS)
    )


def interface_of(device: Device) -> str:
    """Return SCSI, SATA, SAS, NVMe, FC, PATA or virtio; '' where lsblk does not tell.

    `ata` may be SATA or PATA, and USB is none of these.
    """
    if _NVME.fullmatch(device.kname):
        return "NVMe"
    if device.tran == "virtio" or device.kname.startswith("vd") or "virtio" in device.subsystems.split(":"):
        return "virtio"
    if device.tran == "sas":
        return "SATA" if device.vendor.strip() == "ATA" else "SAS"
    return {"sata": "SATA", "fc": "FC", "spi": "SCSI"}.get(device.tran, "")


def is_solid_state(device: Device) -> bool | None:
    return None if device.rota is None or is_virtual(device) else not device.rota


def vendor_of(device: Device) -> str:
    return "" if _NO_VENDORS.fullmatch(device.vendor) else device.vendor


def controller_of(device: Device) -> FoundController | None:
    """Return the controller of a device, such as nvme0, virtio or `sata host 4`; None where it has no number."""
    if nvme := _NVME.fullmatch(device.kname):
        bus = "PCI Express" if "pci" in device.subsystems.split(":") else ""
        return FoundController(nvme[1], "nvme", bus)
    host = re.match(r"(\d+):\d+:\d+:\d+", device.hctl)
    if interface_of(device) == "virtio":
        return FoundController(f"virtio-scsi host {host[1]}" if host else "virtio", "virtio")
    if host is None or device.tran in ("usb", "iscsi", "sbp"):
        return None
    return FoundController(f"{device.tran or 'scsi'} host {host[1]}", _SCSI_HOSTS.get(device.tran, ""))
