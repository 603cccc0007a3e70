"""The CPU was at its limit, so the disk was not the narrow part."""

from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading

LIMIT = 0.95  # of the cores that the processes can use


def usable_cores(reading: Reading) -> int:
    """One for each process, at most those of the machine."""
    processes = reading.threads or 1
    cores = reading.machine.host.get("cpu_count") if reading.machine else None
    return min(processes, int(cores)) if cores else processes


def is_at_limit(reading: Reading) -> bool:
    cpu = reading.beside.get("cpu")
    return cpu is not None and cpu >= LIMIT * usable_cores(reading)


def check(reading: Reading) -> str | None:
    if not is_at_limit(reading):
        return None
    cpu, cores = reading.beside["cpu"] or 0.0, usable_cores(reading)
    can = "1 process can use 1 core" if cores == 1 else f"its processes can use {cores} cores"
    return f"CPU {cpu:.0%} of one core ≥ {LIMIT:.0%} × {cores}: {can}"


RULE = Rule(
    name="cpu_bound",
    title="The CPU was the narrow part",
    text="The processor had nothing left, so a faster disk would not have given a higher value.",
    of_reading=check,
)
