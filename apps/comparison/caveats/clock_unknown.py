"""A CPU-bound fio run whose clock source is not known.

Left to itself, fio takes the CPU's clock or the kernel's from start to start. Measured on virtual machines: a null job
does 6.4 or 4.9 million IOPS by that alone, and 29 % of the runs took the slow one. Runs of the agent have it pinned.
"""

from apps.comparison.caveats.cpu_bound import LIMIT, is_at_limit, share_text, usable_cores
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading
from apps.core.quantities import quantity
from apps.core.units import significant
from apps.runs.metrics import METRICS

FAST, SLOW = 6.4e6, 4.9e6  # IOPS of a null job with either clock
SHARE_OF_SLOW = 0.29  # of runs without a pinned clock
RATES = ("iops", "bandwidth", "rate")


def is_bound_by_the_cpu(reading: Reading) -> bool:
    """Return whether the run is CPU-bound: by its own figure, or because the null engine touches no disk."""
    return str(reading.of("tool")) == "fio" and (is_at_limit(reading) or reading.of("ioengine") == "null")


def why_bound(reading: Reading) -> str:
    share, cores = share_text(reading), usable_cores(reading)
    if is_at_limit(reading):
        return f"{share} ≥ {LIMIT:.0%} × {cores} {'core' if cores == 1 else 'cores'}"
    return f"ioengine null touches no disk{f', {share}' if share else ''}"


def would_be(reading: Reading, sign: str, factor: float) -> str:
    """Return `4.90 M/s × 1.31 = 6.40 M/s` for a rate that the CPU bounds, else an empty text."""
    if not reading.value or reading.metric not in RATES:
        return ""
    unit = METRICS[reading.metric].unit
    return f"{quantity(reading.value, unit)} {sign} = {quantity(reading.value * factor, unit)}"


def check(reading: Reading) -> str | None:
    is_known = reading.origin == "dispatched" or reading.of("clocksource") or reading.evidence.asked.get("clocksource")
    if is_known or not is_bound_by_the_cpu(reading):
        return None
    text = f"{why_bound(reading)}; clocksource: none among the facts and options of this run"
    times = significant(FAST / SLOW)
    faster, slower = would_be(reading, f"× {times}", FAST / SLOW), would_be(reading, f"÷ {times}", SLOW / FAST)
    here = f", so with the other clock this may be {faster} or {slower}" if faster else ""
    measured = f"{FAST / 1e6:g} ÷ {SLOW / 1e6:g} million IOPS = {times} × between fio's two choices"
    return f"{text}; measured with a null job: {measured}, {SHARE_OF_SLOW:.0%} of runs took the slow one{here}"


RULE = CaveatRule(
    name="clock_unknown",
    title="fio's clock is not known",
    text="Where the CPU is the limit, reading the time is part of the work, and fio's choice of a clock changes from "
    "start to start. Pin clocksource.",
    of_reading=check,
)
