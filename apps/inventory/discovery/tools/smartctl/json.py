"""smartctl `-j` (smartmontools 7.0 on): ATA, NVMe, SCSI, behind RAID controllers and USB bridges, `--scan`, failures.

    "model_name": "WDC WD140EDFZ-11A0VA0",

Source: smartmontools' json.cpp and smartctl.8. Content: the document as it is. `exit_status` is a mask of bits, set in
good reports too; a device that could not be opened leaves only `smartctl.messages`.
"""

import re

from apps.core import units
from apps.inventory.discovery.tool_output import Content, count, inventory, json_values, whole
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory
from apps.parsers.core.source_text import SourceText

NAME = "smartctl json"
TITLE = "smartctl -j"
TOOL = "smartctl"
_LIKE = re.compile(r'"smartctl"\s*:\s*\{')


def looks_like(text: SourceText) -> float:
    return 1.0 if _LIKE.search(text.text) else 0.0


def parse(text: SourceText) -> ParsedFile:
    found: list[ParsedInventory] = []
    broken: list[Broken] = []
    for block, value in json_values(text, broken) if looks_like(text) else ():
        if isinstance(value, dict) and isinstance(value.get("smartctl"), dict):
            found.append(inventory(text, TOOL, block, summary(value), value))
    return whole(text, TOOL, found, broken, 'a JSON object with "smartctl"')


def summary(document: Content) -> str:
    if isinstance(document.get("devices"), list):
        names = [str(_of(one, "name")) for one in document["devices"]]
        return f"{count(len(names), 'device')}: {', '.join(names[:4])}"
    parts = [_model(document), _size(document), _health(document), _hours(document)]
    if not any(parts):
        messages = _of(document, "smartctl", "messages")
        parts = [str(_of(one, "string")) for one in messages] if isinstance(messages, list) else ["no data"]
    return ", ".join(part for part in parts if part)


def _of(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _model(document: Content) -> str:
    scsi = " ".join(str(document[key]) for key in ("vendor", "product") if document.get(key))
    scsi_named = " ".join(str(document[key]) for key in ("scsi_vendor", "scsi_product") if document.get(key))
    model = str(document.get("model_name") or document.get("scsi_model_name") or scsi or scsi_named or "")
    serial = document.get("serial_number")
    return f"{model} ({serial})".strip() if serial else model


def _size(document: Content) -> str:
    size = _of(document, "user_capacity", "bytes") or _of(document, "nvme_total_capacity")
    return units.human(size, "B") if isinstance(size, int) else ""


def _health(document: Content) -> str:
    passed = _of(document, "smart_status", "passed")
    return "" if passed is None else "SMART passed" if passed else "SMART failed"


def _hours(document: Content) -> str:
    hours = _of(document, "power_on_time", "hours")
    return f"{hours} h" if isinstance(hours, int) else ""
