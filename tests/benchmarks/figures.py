"""Benchmarks print ratios against a floor of the same run, with their spread. A short form runs in `bin/test`, a long one with SPINDLE_LONG=1."""

import os
import statistics
import time
from collections.abc import Sequence

import pytest

_OF_SCHEDULER = 2  # CPUCLOCK_SCHED of the kernel
LONG = os.environ.get("SPINDLE_LONG", "") not in ("", "0")
only_long = pytest.mark.skipif(not LONG, reason="takes long; bin/test --long has it")


def pairs(short: int, long: int) -> int:
    return long if LONG else short


def cpu_ns(pid: int) -> int:
    """Nanoseconds on a CPU of all threads of a process, ended ones too; finer than the clock ticks of `ps`.

    By the process's own clock, as `clock_getcpuclockid(3)` names it, which Python does not have.
    """
    return time.clock_gettime_ns((~pid << 3) | _OF_SCHEDULER)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report(name: str, what: str, values: Sequence[float], target: str, unit: str = "×") -> float:
    """Print one line and give the median back."""
    middle = statistics.median(values)
    print(
        f"\n{name} {what}: median {middle:.4g} {unit}, from {min(values):.4g} to {max(values):.4g}, n = {len(values)}; target {target}",
        flush=True,
    )
    return middle
