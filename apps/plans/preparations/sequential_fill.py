"""The target's filesystem is written sequentially so many times, within the host's quota, and the file removed each time."""

from collections.abc import Sequence
from typing import Any

from apps.core.quantities import quantity
from apps.core.units import size
from apps.plans.preparations.preparation import (
    FILE_SIZE,
    MIB,
    Parameters,
    PreparationKind,
    PreparationParameter,
)


def make_workload(values: Parameters, largest: int) -> dict[str, Any]:
    """Return one pass: direct sequential writes of 1 MiB, on the disk at the end."""
    job = {"rw": "write", "block_size": MIB, "file_size": values.get("file_size") or largest, "direct": True,
           "ioengine": "libaio", "iodepth": 8, "end_fsync": True}  # fmt: skip
    return {"tool": "fio", "jobs": [job]}


def describe(values: Parameters, bandwidths: Sequence[float]) -> str:
    """Return how many passes are done, and how fast the last one was."""
    last = f", the last at {quantity(bandwidths[-1], 'B/s')}" if bandwidths else ""
    return f"{len(bandwidths)} of {values['passes']} passes{last}"


def word_size(values: Parameters) -> str:
    return size(values["file_size"]) if values.get("file_size") else "the size of the target's largest file"


def times(number: float) -> str:
    return "once" if number == 1 else f"{number} times"


KIND = PreparationKind(
    kind="sequential_fill",
    label="sequential fill",
    sentence=lambda values: f"Write a file of {word_size(values)} sequentially, {times(values['passes'])}.",
    times=("start", "round"),
    parameters=(PreparationParameter("passes", "Passes", 1, 20, 2), FILE_SIZE),
    workload=make_workload,
    is_done=lambda values, bandwidths: len(bandwidths) >= values["passes"],
    verdict=describe,
    least_runs=lambda values: int(values["passes"]),
)
