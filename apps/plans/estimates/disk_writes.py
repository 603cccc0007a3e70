"""How what is written to a target is spread over its disks, and what an SSD is rated for.

The rated endurance is a label of the disk, `endurance` = `600 TB` (or `600 TBW`, `1.2 PBW`): no tool reports it.
"""

import re
from collections import defaultdict

from apps.inventory.models import Disk
from apps.inventory.topology.stack import ArrayLayer, DiskLayer, Layer
from apps.inventory.vocabulary import RaidLevel

ENDURANCE = re.compile(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*(GB|TB|PB)W?\s*", re.IGNORECASE | re.ASCII)
FACTORS = {"GB": 1e9, "TB": 1e12, "PB": 1e15}
PARITY = {RaidLevel.RAID4: 1, RaidLevel.RAID5: 1, RaidLevel.RAID6: 2}
COPIED = RaidLevel.RAID1
PAIRS = RaidLevel.RAID10


def shares_of(layer: Layer | None) -> dict[Disk, float]:
    """Return for each disk of a stack how many bytes it gets for each byte that is written, without a cache's help.

    Writes of whole stripes are assumed; smaller ones of parity RAID cost more. Empty where nothing is known below the
    filesystem.
    """
    shares: dict[Disk, float] = defaultdict(float)
    if layer is not None:
        _add(layer, 1.0, shares)
    return dict(shares)


def _add(layer: Layer, share: float, shares: dict[Disk, float]) -> None:
    if isinstance(layer, DiskLayer):
        shares[layer.disk] += share
    elif layer.places:
        part = share * _part_of_each(layer)
        for place in layer.places:
            _add(place.layer, part, shares)


def _part_of_each(layer: ArrayLayer) -> float:
    count, level = len(layer.places), layer.array.level
    if level == COPIED:
        return 1.0
    if level == PAIRS:
        return min(1.0, 2 / count)
    data = count - PARITY.get(RaidLevel(level), 0) if level in RaidLevel.values else count
    return 1 / max(1, data)


def endurance_of(disk: Disk) -> float | None:
    """Return the bytes that a disk is rated to take in its life; None where its label does not say."""
    match = ENDURANCE.fullmatch(str(disk.labels.get("endurance", "")))
    return float(match[1]) * FACTORS[match[2].upper()] if match else None
