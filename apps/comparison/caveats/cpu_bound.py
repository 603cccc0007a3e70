"""The CPU was at its limit, so the disk was not the narrow part.

Known from the CPU share that the tool prints beside the value, or from the label `cpu_at_least` where a person or a
report says only that it was no less: `1` is one core ("well above 100 %").
"""

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading

LIMIT = 0.95  # of the cores that the processes can use


def usable_cores(reading: Reading) -> int:
    """Return how many cores the test can use: one for each process, at most those of the machine."""
    processes = reading.threads or 1
    cores = reading.machine.host.get("cpu_count") if reading.machine else None
    return min(processes, int(cores)) if cores else processes


def share_of(reading: Reading) -> float | None:
    """Return the share of one core, so 1.3 is possible."""
    printed = reading.beside.get("cpu")
    return _number(reading.of("cpu_at_least")) if printed is None else printed


def share_text(reading: Reading) -> str:
    share, least = share_of(reading), "" if reading.beside.get("cpu") is not None else "at least "
    return "" if share is None else f"CPU {least}{share:.0%} of one core"


def is_at_limit(reading: Reading) -> bool:
    cpu = share_of(reading)
    return cpu is not None and cpu >= LIMIT * usable_cores(reading)


def check(reading: Reading) -> str | None:
    if not is_at_limit(reading):
        return None
    cores = usable_cores(reading)
    can = "1 process can use 1 core" if cores == 1 else f"its processes can use {cores} cores"
    return f"{share_text(reading)} ≥ {LIMIT:.0%} × {cores}: {can}"


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None


RULE = CaveatRule(
    name="cpu_bound",
    title="CPU-bound",
    text="The processor had nothing left, so a faster disk would not have given a higher value.",
    of_reading=check,
)
