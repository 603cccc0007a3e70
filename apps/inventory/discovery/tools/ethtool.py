"""ethtool of each interface, and `ethtool -i`, one behind the other with the command before each: rate, driver, firmware.

$ ethtool -i eth0
driver: ixgbe
firmware-version: 0x800003df
"""

import re
from dataclasses import dataclass, field

from apps.inventory.discovery.tool_text import pci_of, told
from apps.inventory.discovery.tool_values import UnreadableError, text, whole

TOOL = "ethtool"
MAX_LINES = 20_000
_HEAD = re.compile(r"\$ ethtool (?:-i )?([\w.:@-]{1,60})|Settings for ([\w.:@-]{1,60}):")
_FIELD = re.compile(r"\s*(driver|version|firmware-version|bus-info|Speed|Supported ports|Port): (.*)")


@dataclass
class EthtoolReport:
    bits_per_second: int | None = None
    driver: str = ""
    firmware: str = ""
    pci: str = ""


@dataclass(frozen=True)
class Rates:
    by_name: dict[str, EthtoolReport] = field(default_factory=dict)


def discover(printed: str) -> Rates:
    found: dict[str, EthtoolReport] = {}
    here: EthtoolReport | None = None
    for line in printed.splitlines()[:MAX_LINES]:
        if head := _HEAD.match(line[:200]):
            here = found.setdefault(head[1] or head[2], EthtoolReport())
        elif here is not None and (match := _FIELD.match(line[:400])):
            _take(here, match[1], text(match[2], 120))
    if not found:
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "Settings for eth0:", 1)
    return Rates(found)


def _take(here: EthtoolReport, key: str, value: str) -> None:
    if key == "Speed" and (speed := re.fullmatch(r"(\d{1,7})Mb/s", value)):
        here.bits_per_second = (whole(speed[1]) or 0) * 10**6 or None
    elif key == "driver":
        here.driver = told(value, 60)
    elif key == "firmware-version":
        here.firmware = told(value, 120)
    elif key == "bus-info":
        here.pci = pci_of(value)
