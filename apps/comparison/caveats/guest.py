"""Measured inside a guest: the hypervisor lies between the tool and the disks."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from apps.comparison.caveats.rule import Cells, Key, Rule
from apps.comparison.readings import Reading
from apps.comparison.words import text_of
from apps.lib.quantities import quantity
from apps.lib.units import significant
from apps.runs.metrics import METRICS

ENVIRONMENT, GUEST, NATIVE = "environment", "guest", "native"
# What must agree before a guest is held against a machine of its own.
ALIKE = (
    "tool", "interface", "raid_level", "raid_implementation", "controller", "controller_cache", "disk_model",
    "disk_count", "sync", "file_size", "block_size", "threads", "iodepth",
)  # fmt: skip


def check(reading: Reading) -> str | None:
    if reading.of(ENVIRONMENT) != GUEST:
        return None
    host = reading.machine.host if reading.machine else {}
    hypervisor = reading.of("hypervisor") or host.get("hypervisor") or "unknown"
    return f"environment guest, hypervisor {hypervisor}, {_ram(reading)}"


def _ram(reading: Reading) -> str:
    """What the guest has of it may be untold where the machine's own RAM is known."""
    ram, told = text_of("ram", reading.ram), reading.facts.get("guest_ram")
    return f"RAM of the machine {ram}, of the guest {told}" if told else f"RAM of the guest {ram}"


def against_native(cells: Cells) -> Mapping[Key, str]:
    """Where the same was measured without a hypervisor too: how far both are apart."""
    values: dict[tuple[Any, Any], list[float]] = {}
    every = [(one, one.of(ENVIRONMENT)) for readings in cells.values() for one in readings if one.value is not None]
    if not {GUEST, NATIVE} <= {environment for _, environment in every}:
        return {}
    for one, environment in every:
        values.setdefault((environment, _alike(one)), []).append(one.value or 0.0)
    told = {key: _told(readings, values) for key, readings in cells.items()}
    return {key: sentence for key, sentence in told.items() if sentence}


def _alike(reading: Reading) -> tuple[Any, ...]:
    return tuple(reading.of(name) for name in ALIKE)


def _told(readings: Any, values: Mapping[tuple[Any, Any], list[float]]) -> str:
    for one in readings:
        native = values.get((NATIVE, _alike(one)))
        guest = values.get((GUEST, _alike(one)))
        if one.of(ENVIRONMENT) == GUEST and native and guest and fmean(guest):
            unit = METRICS[one.metric].unit
            ratio = significant(fmean(native) / fmean(guest))
            return f"native {quantity(fmean(native), unit)} ÷ guest {quantity(fmean(guest), unit)} = {ratio} × with all else equal"
    return ""


RULE = Rule(
    name="guest",
    title="Measured inside a guest",
    text="The hypervisor's scheduler, caches and virtual disks are part of the value; compare it with the same machine "
    "without them.",
    of_reading=check,
    of_cells=against_native,
)
