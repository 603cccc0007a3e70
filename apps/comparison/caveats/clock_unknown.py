"""A CPU-bound fio run whose clock source is not known.

Left to itself, fio takes the CPU's clock or the kernel's from start to start, and on virtual machines a null job does
6.4 or 4.9 million IOPS by that alone. Runs of the agent have it pinned.
"""

from apps.comparison.caveats.cpu_bound import LIMIT, is_at_limit
from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading


def is_bound_by_the_cpu(reading: Reading) -> bool:
    """By its own figure, or because the null engine touches no disk."""
    return str(reading.of("tool")) == "fio" and (is_at_limit(reading) or reading.of("ioengine") == "null")


def why_bound(reading: Reading) -> str:
    cpu = reading.beside.get("cpu")
    return f"CPU {cpu:.0%} ≥ {LIMIT:.0%} of a core" if cpu is not None and is_at_limit(reading) else "ioengine null"


def check(reading: Reading) -> str | None:
    is_known = reading.origin == "dispatched" or reading.of("clocksource") or reading.evidence.asked.get("clocksource")
    if is_known or not is_bound_by_the_cpu(reading):
        return None
    return (
        f"{why_bound(reading)}, clocksource not known: 6.4 ÷ 4.9 million null IOPS = 1.31 × between fio's two choices"
    )


RULE = Rule(
    name="clock_unknown",
    title="fio's clock is not known",
    text="Where the CPU is the limit, reading the time is part of the work, and fio's choice of a clock changes from "
    "start to start. Pin clocksource.",
    of_reading=check,
)
