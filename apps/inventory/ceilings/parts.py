"""A part of the way that everything must pass, and what software RAID sends along it."""

from dataclasses import dataclass
from fractions import Fraction

from apps.inventory.ceilings.disks import WHOLE, Carriers
from apps.inventory.ceilings.rates import mb

READ, WRITE = "read", "write"


@dataclass(frozen=True)
class CeilingPart:
    """A part of the way that all data must pass.

    `value` is in bytes/s, with its sum in words, whose quantities are formatted late.
    """

    name: str
    value: float
    arithmetic: str
    why: str = ""


def through_host(part: CeilingPart, carriers: Carriers, direction: str) -> CeilingPart:
    """Return the part reduced, for writes, to the share that is data.

    Software RAID sends its copies and parity along the same way.
    """
    disks = carriers.disks
    share = sum((disk.host_share for disk in disks), Fraction(0)) / len(disks) if disks else WHOLE
    if direction == READ or share == WHOLE:
        return part
    value = part.value * float(share)
    why = "Software RAID sends its copies and parity along the same way."
    return CeilingPart(
        part.name, value, f"{part.arithmetic}; × {share} that is data = {mb(value)}", f"{part.why} {why}".strip()
    )
