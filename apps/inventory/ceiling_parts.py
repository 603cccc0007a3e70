"""A part of the way that everything must pass, and what software RAID sends along it."""

from dataclasses import dataclass
from fractions import Fraction

from apps.inventory.ceiling_disks import WHOLE, Carriers
from apps.inventory.ceiling_rates import mb

READ, WRITE = "read", "write"


@dataclass(frozen=True)
class Part:
    """One thing that everything must pass: `value` in bytes/s with its sum in words, whose quantities are written late."""

    name: str
    value: float
    arithmetic: str
    why: str = ""


def through_host(part: Part, carriers: Carriers, direction: str) -> Part:
    """Software RAID sends its copies and parity along this way too."""
    disks = carriers.disks
    share = sum((one.host_share for one in disks), Fraction(0)) / len(disks) if disks else WHOLE
    if direction == READ or share == WHOLE:
        return part
    value = part.value * float(share)
    why = "Software RAID sends its copies and parity along the same way."
    return Part(
        part.name, value, f"{part.arithmetic}; × {share} that is data = {mb(value)}", f"{part.why} {why}".strip()
    )
