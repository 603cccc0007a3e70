"""smartctl `-i -H`, JSON or text, any number of drives in one text: what a drive says of itself.

The serial number and the world wide name identify it; the device name is only where it was asked. Behind a RAID
controller (`-d megaraid,3`) several drives answer at one device name. A drive that slept or could not be opened leaves
only a message and is passed over, and so is what is no disk: optical drives, tapes and enclosures have numbers too.
"""

import re
from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.storage.buses import is_volume
from apps.inventory.discovery.tool_text import (
    LONGEST,
    contents,
    dictionary,
    generation_of,
    interface_named,
    slower,
    told,
    wwn_of,
)
from apps.inventory.discovery.tool_values import UnreadableError, whole
from apps.inventory.discovery.tools.smartctl import json
from apps.inventory.discovery.tools.smartctl import text as printed_text

TOOL = "smartctl"
MAX_DRIVES = 4096
_BEHIND = re.compile(r"megaraid|cciss|3ware|areca|aacraid|hpt|sssraid")
_NO_DISK = re.compile(  # SCSI's types of devices, in smartmontools' words
    r"tape|printer|processor|CD/DVD|scanner|medi(?:um|a) changer|communications|graphics|storage array|enclosure",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:\D\d{3})*(?=\s|$)|\d+")


@dataclass(frozen=True)
class SmartDrive:
    """A drive as smartctl describes it.

    `device` is its kernel name, '' behind a RAID controller; `health` is passed or failed.
    """

    device: str = ""
    vendor: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    firmware: str = ""
    interface: str = ""
    generation: str = ""
    link_generation: str = ""
    rpm: int | None = None
    is_solid_state: bool | None = None
    capacity_bytes: int | None = None
    logical_block_bytes: int | None = None
    health: str = ""


@dataclass(frozen=True)
class SmartDrives:
    drives: tuple[SmartDrive, ...]


def discover(printed: str) -> SmartDrives:
    """Parse the output of smartctl, JSON or text; of a drive that was asked twice the later answer counts.

    Raises:
        UnreadableError: for text that is not output of smartctl, or where smartctl may not open the drives.
    """
    found: dict[tuple[str, ...], SmartDrive] = {}
    for content in contents(TOOL, printed, (json.parse, printed_text.parse), LONGEST):
        if _NO_DISK.match(_kind(content)):
            continue
        drive = _of_json(content) if "smartctl" in content else _of_text(content)
        key = (drive.serial, drive.wwn, "" if drive.serial or drive.wwn else f"{len(found)}")
        is_drive = bool(drive.serial or drive.wwn or drive.model) and not is_volume(drive.vendor, drive.model)
        if is_drive and (key in found or len(found) < MAX_DRIVES):
            found[key] = drive  # of several reports on one drive the last counts
    if not found and "Permission denied" in printed[:1_000_000]:
        raise UnreadableError(TOOL, "Permission denied", "drives that may be opened")
    return SmartDrives(tuple(found.values()))


def _kind(content: dict[str, Any]) -> str:
    """Return the device type, such as `disk` or `CD/DVD`; '' for ATA and NVMe, which print none."""
    named = dictionary(content.get("device_type")).get("name")
    return told(named or dictionary(content.get("information")).get("Device type"), 60)


def _of_json(one: dict[str, Any]) -> SmartDrive:
    device = dictionary(one.get("device"))
    turns, interface = whole(one.get("rotation_rate")), _interface(one, device)
    rates = dictionary(one.get("interface_speed"))
    speed, now = (dictionary(rates.get(name)).get("string") for name in ("max", "current"))
    vendor = told(one.get("scsi_vendor") or one.get("vendor"), 40)
    named = one.get("model_name") or one.get("scsi_product") or one.get("product") or one.get("scsi_model_name")
    passed = dictionary(one.get("smart_status")).get("passed")
    return SmartDrive(
        device=_device(device), vendor="" if vendor == "ATA" else vendor, model=_model(named, vendor),
        serial=told(one.get("serial_number"), 80), wwn=_wwn(one), interface=interface, generation=generation_of(interface, speed),
        link_generation=slower(generation_of(interface, speed), generation_of(interface, now)),
        firmware=told(one.get("firmware_version") or one.get("scsi_revision") or one.get("revision"), 60),
        rpm=turns or None, is_solid_state=True if interface == "NVMe" or turns == 0 else False if turns else None,
        capacity_bytes=whole(dictionary(one.get("user_capacity")).get("bytes")) or whole(one.get("nvme_total_capacity")),
        logical_block_bytes=whole(one.get("logical_block_size")), health=_health(passed),
    )  # fmt: skip


def _health(passed: object) -> str:
    return "passed" if passed is True else "failed" if passed is False else ""


def _device(device: dict[str, Any]) -> str:
    if _BEHIND.search(told(device.get("type"), 60)):
        return ""
    return _kernel_name(told(device.get("name"), 60))


def _kernel_name(path: str) -> str:
    return path.removeprefix("/dev/") if re.fullmatch(r"/dev/(?:sd[a-z]+|nvme\d+(?:n\d+)?|hd[a-z])", path) else ""


def _model(named: object, vendor: str) -> str:
    model = told(named)
    return model.removeprefix(vendor).strip() if vendor and model.startswith(f"{vendor} ") else model


def _interface(one: dict[str, Any], device: dict[str, Any]) -> str:
    transport = told(dictionary(one.get("scsi_transport_protocol")).get("name"), 40)
    if device.get("protocol") == "NVMe":
        return "NVMe"
    if transport.startswith("Fibre"):
        return "FC"
    return interface_named(transport) or ("SATA" if one.get("sata_version") else "")


def _wwn(one: dict[str, Any]) -> str:
    parts = dictionary(one.get("wwn"))
    numbers = [whole(parts.get(key)) for key in ("naa", "oui", "id")]
    if None not in numbers:
        naa, oui, rest = (int(number or 0) for number in numbers)
        return wwn_of(f"{naa:x}{oui:06x}{rest:09x}")
    return wwn_of(one.get("logical_unit_id"))


def _of_text(content: dict[str, Any]) -> SmartDrive:
    about = {key.lower(): value for key, value in dictionary(content.get("information")).items()}
    turning = told(about.get("rotation rate"), 40)
    turns = re.match(r"(\d{3,6}) rpm", turning)
    transport = told(about.get("transport protocol"), 40)
    is_nvme, sata = "nvme version" in about or "model number" in about, told(about.get("sata version is"), 80)
    interface = (
        "NVMe"
        if is_nvme
        else "FC"
        if transport.startswith("Fibre")
        else interface_named(transport) or ("SATA" if sata else "")
    )
    blocks = ("logical block size", "sector sizes", "sector size", "namespace 1 formatted lba size")
    block = re.match(r"\d{3,5}", next((told(about[key], 40) for key in blocks if about.get(key)), ""))
    vendor, health = told(about.get("vendor"), 40), told(content.get("health"), 60)
    return SmartDrive(
        vendor="" if vendor == "ATA" else vendor, model=told(about.get("device model") or about.get("model number") or about.get("product")),
        serial=told(about.get("serial number"), 80), wwn=wwn_of(about.get("lu wwn device id") or about.get("logical unit id")),
        firmware=told(about.get("firmware version") or about.get("revision"), 60), interface=interface, generation=generation_of(interface, sata),
        link_generation=slower(generation_of(interface, sata), generation_of(interface, sata.partition("(current:")[2])),
        rpm=int(turns[1]) if turns else None, is_solid_state=True if is_nvme or "Solid State" in turning else False if turns else None,
        capacity_bytes=_grouped(about.get("user capacity") or about.get("namespace 1 size/capacity") or about.get("total nvm capacity")),
        logical_block_bytes=int(block[0]) if block else None,
        health="passed" if health in ("OK", "PASSED") else "failed" if "FAIL" in health.upper() else "",
    )  # fmt: skip


def _grouped(value: object) -> int | None:
    """Parse a size such as `4,000,787,030,016 bytes [4.00 TB]`, whatever the locale's thousands separator is."""
    match = _GROUPED.match(told(value, 80))
    return whole(int(re.sub(r"\D", "", match[0]))) if match else None


def drives_of(found: SmartDrives | None) -> tuple[SmartDrive, ...]:
    return found.drives if found else ()
