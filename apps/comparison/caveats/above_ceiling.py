"""A value above what the topology can carry."""

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading
from apps.core.quantities import quantity
from apps.core.units import significant
from apps.inventory.ceilings.ceiling import Bound, Ceiling

READS = (
    "read", "reread", "randread", "char_read", "backward_read", "stride_read", "fread", "freread", "pread",
)  # fmt: skip
WRITES = (
    "write", "rewrite", "randwrite", "char_write", "record_rewrite", "fwrite", "frewrite", "pwrite", "copy",
)  # fmt: skip
NETWORK = ("net_send", "net_receive")


def check(reading: Reading) -> str | None:
    if reading.machine is None:
        return None
    speed, bound = speed_of(reading), bound_of(reading.machine.ceiling, reading.operation)
    if speed is None or bound is None or bound.decides is None or speed <= bound.decides.value:
        return None
    part, unknown = bound.decides, "; ".join(reading.machine.ceiling.unknown)
    times = f"{significant(speed / part.value)} ×"
    text = f"{quantity(speed, 'B/s')} > {quantity(part.value, 'B/s')}, {times} the {part.name}: {part.arithmetic}"
    return f"{text}. Not known, so taken at its widest or left out: {unknown}" if unknown else text


def speed_of(reading: Reading) -> float | None:
    """Return bytes/s; for I/Os per second their block size each, for a lower bound the bound."""
    value = reading.value if reading.value is not None else reading.low
    if value is None or reading.metric == "bandwidth":
        return value
    return value * reading.block_size if reading.block_size else None


def bound_of(ceiling: Ceiling, operation: str) -> Bound | None:
    if operation in NETWORK:
        return ceiling.network
    return ceiling.read if operation in READS else ceiling.write if operation in WRITES else None


RULE = CaveatRule(
    name="above_ceiling",
    title="Above what the topology can carry",
    text="The disks, links and buses under this target cannot carry that much. The value is that of a memory on the "
    "way, of data that were compressed, or a slip of the unit.",
    of_reading=check,
    metrics=("bandwidth", "iops"),
)
