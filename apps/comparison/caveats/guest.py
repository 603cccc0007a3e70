"""Measured inside a guest: the hypervisor lies between the tool and the disks."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from apps.comparison.caveats.rule import CaveatRule, Cells, Key
from apps.comparison.labels import text_of
from apps.comparison.readings import Reading
from apps.core.quantities import quantity
from apps.core.units import significant
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
    """Return the guest's RAM in words; it may be unreported where the machine's own RAM is known."""
    ram, guest_ram = text_of("ram", reading.ram), reading.facts.get("guest_ram")
    return f"RAM of the machine {ram}, of the guest {guest_ram}" if guest_ram else f"RAM of the guest {ram}"


def against_native(cells: Cells) -> Mapping[Key, str]:
    """Return how far a guest's value is from one measured without a hypervisor, where both were measured."""
    values: dict[tuple[Any, Any], list[float]] = {}
    every = [
        (reading, reading.of(ENVIRONMENT))
        for readings in cells.values()
        for reading in readings
        if reading.value is not None
    ]
    if not {GUEST, NATIVE} <= {environment for _, environment in every}:
        return {}
    for native, environment in every:
        values.setdefault((environment, _alike(native)), []).append(native.value or 0.0)
    sentences = {key: _sentence(readings, values) for key, readings in cells.items()}
    return {key: sentence for key, sentence in sentences.items() if sentence}


def _alike(reading: Reading) -> tuple[Any, ...]:
    return tuple(reading.of(name) for name in ALIKE)


def _sentence(readings: Any, values: Mapping[tuple[Any, Any], list[float]]) -> str:
    for reading in readings:
        native = values.get((NATIVE, _alike(reading)))
        guest = values.get((GUEST, _alike(reading)))
        if reading.of(ENVIRONMENT) == GUEST and native and guest and fmean(guest):
            unit = METRICS[reading.metric].unit
            ratio = significant(fmean(native) / fmean(guest))
            return f"native {quantity(fmean(native), unit)} ÷ guest {quantity(fmean(guest), unit)} = {ratio} × with all else equal"
    return ""


RULE = CaveatRule(
    name="guest",
    title="Measured inside a guest",
    text="The hypervisor's scheduler, caches and virtual disks are part of the value; compare it with the same machine "
    "without them.",
    of_reading=check,
    of_cells=against_native,
)
