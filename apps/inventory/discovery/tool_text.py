"""Outputs of tools that the parsers of uploads read as well: one parser for both ways, and words and sizes in common."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from apps.inventory.discovery.tool_values import MAX_WHOLE, UnreadableError, text, whole
from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.source_text import SourceText

LONGEST = 4 << 20
LONGEST_TEXT = 1 << 20  # tables and outlines cost more than JSON
_SIZE = re.compile(r"([\d,]{1,20}(?:\.\d{1,6})?)\s*([KMGTP]?)(i?)B\b", re.IGNORECASE)
_SECTORS = re.compile(r"\[0x([0-9a-f]{1,15}) Sectors\]", re.IGNORECASE)
_EXACT = re.compile(r"\((\d{1,18}) bytes\)")
_WWN = re.compile(r"(?:[0-9a-f]{16}|[0-9a-f]{32})", re.IGNORECASE)
_NO = re.compile(
    r"not (?:specified|available|applicable|present|supported|provided|settable)|n/?a|none|unknown|null|-+|redacted"
    r"|to be filled.*|default string|system (?:serial number|product name|manufacturer|version)|o\.?e\.?m\.?"
    r"|chassis serial.*|0?123456789.*|[-*#.?xX]+|0{2,}|\[?empty\]?|type1productconfigid",
    re.IGNORECASE,
)
_GENERATION = re.compile(r"(\d{1,2}(?:\.\d)?)\d*\s*Gb(?:/s|ps|it/s)?", re.IGNORECASE)
_RATES = {"1.5": "1.5G", "3.0": "3G", "6.0": "6G", "12.0": "12G", "22.5": "22.5G", "24.0": "24G"}
_LEVEL = re.compile(r"(?:RAID|Primary)?[- ]?(10|50|60|00|1E|[01456])(?:\D|$)", re.IGNORECASE)
_BELOW = {"10": "1", "50": "5", "60": "6", "00": "0"}
_STATES = (
    (
        "failed",
        r"fail(?!ed redundancy)|offln|offline|dead|inoperable|fatal|inactive|unusable|critical \(failed\)|^ofln",
    ),
    ("degraded", r"degr|dgrd|pdgd|interim|partial|critical|suboptimal|impacted|failed redundancy|ready for rebuild"),
    (
        "resyncing",
        r"rebuild|recover|verif|initiali|background|migrat|expand|consist|resync|transform|reconstruct|regenerat|rec$",
    ),
    ("clean", r"opt|^ok|ready|online|clean|okay"),
)


def contents(
    tool: str, printed: str, parsers: tuple[Callable[[SourceText], ParsedFile], ...], longest: int = LONGEST_TEXT
) -> Iterator[Any]:
    """Yield the content of each block, read by the first of the parsers that recognises the text.

    Raises:
        UnreadableError: if none of the parsers does.
    """
    source = SourceText(printed[:longest], tool)
    problem: ParseError | None = None
    for parse in parsers:
        try:
            found = parse(source)
        except ParseError as error:
            problem = problem or error
            continue
        yield from (one.content for one in found.inventory)
        return
    broken = problem.broken if problem else None
    raise UnreadableError(tool, broken.found if broken else "", broken.expected if broken else "output")


def told(value: object, limit: int = 200) -> str:
    """Return a value as clean text; '' for the many words that tools print for no value."""
    found = re.sub(r"\s+", " ", text(value, limit))
    return "" if _NO.fullmatch(found) else found


def dictionary(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: object, limit: int = 8192) -> list[dict[str, Any]]:
    """Return the dictionaries of a list, at most `limit` entries of it; anything but a list has none."""
    return [one for one in (value if isinstance(value, list) else [])[:limit] if isinstance(one, dict)]


def size_of(value: object, base: int = 1024) -> int | None:
    """Parse a size to bytes, exactly where the tool prints it exactly; None for anything else.

    Reads `465.761 GB [0x3a386030 Sectors]`, `93.13 GiB (99999547392 bytes)`, `256 KB` and `1,117.25 GB`; `base` is 1000
    or 1024, whichever the tool means by its KB and GB.
    """
    shown = text(value, 200)
    if exact := _EXACT.search(shown):
        return whole(int(exact[1]))
    rounded = _rounded(shown, base)
    if sectors := _SECTORS.search(shown):
        count = int(sectors[1], 16)
        # Sectors are the drive's own: 512 or 4096 bytes; the rounded figure tells which.
        return whole(min((count * 512, count * 4096), key=lambda size: abs(size - (rounded or size))))
    return rounded


def _rounded(shown: str, base: int) -> int | None:
    match = _SIZE.search(shown)
    if not match:
        return None
    number = float(match[1].replace(",", "") or "x") if match[1].strip(",") else 0.0
    power = " KMGTP".index(match[2].upper() or " ")
    size = number * float(1024 if match[3] else base) ** power
    return int(size) if 0 < size <= MAX_WHOLE else None


def wwn_of(value: object) -> str:
    """Return a WWN as lsblk prints it, `0x5000c5004a1f0000`; '' for anything else."""
    shown = re.sub(r"\s", "", text(value, 80)).lower().removeprefix("0x").removeprefix("naa.")
    return f"0x{shown}" if _WWN.fullmatch(shown) and set(shown) != {"0"} else ""


def drives_wwn_of(value: object) -> str:
    """Return a drive's own WWN; '' for one that a RAID card made up for the place of a SATA drive.

    Locally assigned names (NAA 3) and Adaptec's own belong to the place: another drive there gets the same one.
    """
    found = wwn_of(value)
    return "" if found.startswith(("0x3", "0x50000d1")) else found


def generation_of(interface: str, speed: object) -> str:
    """Return the generation of a link: SATA and `6.0Gb/s` → `SATA-6G`."""
    match = _GENERATION.search(text(speed, 60))
    if interface not in ("SATA", "SAS") or not match:
        return ""
    rate = _RATES.get(f"{float(match[1]):.1f}", "")
    return f"{interface}-{rate}" if rate else ""


def slower(generation: str, now: str) -> str:
    """Return the generation that the link runs at if it differs from what the drive could do, else ''."""
    return now if generation and now != generation else ""


def interface_named(value: object) -> str:
    """Return SATA, SAS, NVMe, SCSI or '' for words such as `Solid State SATA`, `SAS HDD` or `PCIe`."""
    shown = text(value, 60).upper()
    for word, name in (("SATA", "SATA"), ("SAS", "SAS"), ("NVME", "NVMe"), ("PCIE", "NVMe"), ("SCSI", "SCSI")):
        if word in shown:
            return name
    return ""


def is_ssd(value: object) -> bool | None:
    shown = text(value, 60).upper()
    if "SSD" in shown or "SOLID STATE" in shown:
        return True
    return False if re.search(r"HDD|HARD DISK|\bSATA\b|\bSAS\b", shown) else None


def level_of(value: object) -> tuple[str, str]:
    """Return (level of the whole, level of a span): `RAID50` → ("0", "5"), `RAID6` → ("6", ""), unknown → ("", "")."""
    shown = text(value, 60)
    if re.search(r"jbod|simple|volume|single", shown, re.IGNORECASE):
        return "single", ""
    match = _LEVEL.search(shown)
    if not match:
        return "", ""
    level = match[1].upper()
    return ("0", _BELOW[level]) if level in _BELOW else ("1" if level == "1E" else level, "")


def state_of(value: object) -> str:
    """Return an array's state as clean, degraded, resyncing or failed; '' where it is not recognised."""
    shown = text(value, 120).strip().lower()
    return next((state for state, pattern in _STATES if shown and re.search(pattern, shown)), "")


def pci_of(value: object) -> str:
    """Return a PCI address in the kernel's form: `00:3b:00:00` → `0000:3b:00.0`; '' for anything else."""
    found = re.fullmatch(
        r"(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})[:.]([0-9a-f]{1,2})", text(value, 40).strip().lower()
    )
    if not found:
        return ""
    domain, bus, device, function = (int(part or "0", 16) for part in found.groups())
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}"


def slot_number(value: object) -> int | None:
    number = whole(value)
    return number if number is not None and number < 10_000 else None
