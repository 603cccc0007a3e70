"""storcli2 and perccli2 (8.x, for controllers with the mpi3mr driver) in the words of their first generation.

    268:2   259 Conf  Failed  0 893.75 GiB SAS  SSD Enterprise 512B KRM6VVUG960G     U            1 -

What differs: a drive's `State` says what it is there for and its `Status` how it is; the persistent id is `PID`, cache
policies are `CurrentCache` (`NR,WB`), a span is `Span`; `show all` of volumes nests `VD Info`, `PDs` and `VD
Properties`, that of drives a `Drives List`. Sizes are printed in GiB and TiB.
"""

import re
from typing import Any

from apps.inventory.discovery.tool_text import dictionary, rows, told

_STATES = (("UConf", "UGood"), ("Conf", "Onln"), ("JBOD", "JBOD"), ("GHS", "GHS"), ("DHS", "DHS"))
_STATUSES = {
    "failed": "Failed", "fail": "Failed", "bad": "UBad", "unusable": "UBad", "offline": "Offln", "missing": "Msng",
    "rebuild": "Rbld",
}  # fmt: skip
_NUMBER = re.compile(r"\d{1,5}/(\d{1,5})")
_PLACE = re.compile(r"(\d{0,5}) ?:(\d{1,5})")


def is_second(status: dict[str, Any]) -> bool:
    """By the version that the tool prints; the first generation ends with 7.x."""
    return bool(re.match(r"00[89]\.", told(status.get("CLI Version"), 60)))


def as_first(data: dict[str, Any]) -> dict[str, Any]:
    """The `Response Data` as storcli 7.x would have printed it."""
    found = {key: _table(value) if isinstance(value, list) else value for key, value in data.items()}
    found["Enclosure LIST"] = found.get("Enclosure List") or found.get("Enclosure LIST")
    found["Cachevault_Info"], found["BBU_Info"] = _packs(data)
    for volume in rows(data.get("Virtual Drives")):
        found |= _volume(volume)
    for drive in rows(data.get("Drives List")):
        found |= _drive(drive)
    for key, value in data.items():
        if re.fullmatch(r"VD\d{1,5} Properties", key):
            found[key] = _properties(dictionary(value))
    hardware = dictionary(data.get("HwCfg"))
    if size := hardware.get("DDR Memory Size(MiB)"):
        found["HwCfg"] = {**hardware, "On Board Memory Size": f"{size} MiB"}
    return found


def _table(table: list[Any]) -> list[dict[str, Any]]:
    return [_row(row) for row in rows(table)]


def _row(row: dict[str, Any]) -> dict[str, Any]:
    if "EID:Slt" in row:
        return {**row, "State": _state(row)}
    if "DG/VD" in row:
        return {**row, "Cache": told(row.get("CurrentCache"), 20).replace(",", "")}
    return {**row, "Arr": row["Span"]} if "Span" in row else row


def _state(row: dict[str, Any]) -> str:
    state, status = told(row.get("State"), 20), told(row.get("Status"), 20).lower()
    return _STATUSES.get(status) or next((known for word, known in _STATES if state.startswith(word)), "")


def _packs(data: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Energy packs: those with capacitors, which write the cache to flash, and batteries."""
    packs = [{**row, "State": row.get("Status")} for row in rows(data.get("Energy Pack Info"))]
    batteries = [row for row in packs if "batt" in told(row.get("Type"), 40).lower()]
    return [row for row in packs if row not in batteries], batteries


def _volume(volume: dict[str, Any]) -> dict[str, Any]:
    info = dictionary(volume.get("VD Info"))
    match = _NUMBER.fullmatch(told(info.get("DG/VD"), 20))
    if not match:
        return {}
    return {
        f"/c0/v{match[1]}": [_row(info)],
        f"PDs for VD {match[1]}": [_row(row) for row in rows(volume.get("PDs"))],
        f"VD{match[1]} Properties": _properties(dictionary(volume.get("VD Properties"))),
    }


def _properties(fields: dict[str, Any]) -> dict[str, Any]:
    """`Number of Drives` counts those of the whole volume."""
    is_plain = f"{fields.get('Span Depth')}" == "1"
    return {**fields, "Number of Drives Per Span": fields.get("Number of Drives") if is_plain else None}


def _drive(drive: dict[str, Any]) -> dict[str, Any]:
    row, more = dictionary(drive.get("Drive Information")), dictionary(drive.get("Drive Detailed Information"))
    match = _PLACE.fullmatch(told(row.get("EID:Slt"), 20))
    if not match:
        return {}
    name = f"Drive /c0/e{match[1]}/s{match[2]}" if match[1] else f"Drive /c0/s{match[2]}"
    link = next(iter(rows(more.get("Path Information"))), {}).get("Negotiated Speed")
    attributes = {
        "SN": more.get("Serial Number"), "Manufacturer Id": more.get("Vendor"), "Model Number": more.get("Model"),
        "WWN": more.get("WWN"), "Firmware Revision": more.get("Firmware Revision Level"), "Raw size": more.get("Raw size"),
        "Device Speed": more.get("Capable Speed"), "Link Speed": link, "Hard Disk Drive RPM": more.get("Hard Disk Drive RPM"),
    }  # fmt: skip
    return {name: [_row(row)], f"{name} - Detailed Information": {f"{name} Device attributes": attributes}}
