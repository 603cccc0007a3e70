"""Random writes until they are steady, or so many times: the state in which a solid-state disk is after long use."""

from collections.abc import Sequence
from typing import Any

from apps.core.quantities import quantity
from apps.plans.preparations.preparation import (
    FILE_SIZE,
    KIB,
    Parameters,
    PreparationKind,
    PreparationParameter,
)
from apps.plans.preparations.sequential_fill import times, word_size
from apps.studies.plans import stopping_rule

WINDOW = 5


def make_workload(values: Parameters, largest: int) -> dict[str, Any]:
    """Return one run: direct random writes of 4 KiB at depth 32."""
    job = {"rw": "randwrite", "block_size": 4 * KIB, "file_size": values.get("file_size") or largest, "direct": True,
           "ioengine": "libaio", "iodepth": 32, "runtime": values["seconds"], "time_based": True}  # fmt: skip
    return {"tool": "fio", "jobs": [job]}


def is_steady(values: Parameters, bandwidths: Sequence[float]) -> bool:
    """Return whether the last five runs are steady by the SNIA performance test's rule."""
    most = max(WINDOW, int(values["most"]))
    rule = stopping_rule.stopping_of({"kind": "steady_state", "window": WINDOW, "at_most": most})
    return stopping_rule.is_steady(bandwidths, rule.data)


def is_done(values: Parameters, bandwidths: Sequence[float]) -> bool:
    """Return whether there are as many runs as were asked for, or enough of them are steady."""
    if len(bandwidths) >= values["most"]:
        return True
    return bool(values["until_steady"]) and is_steady(values, bandwidths)


def describe(values: Parameters, bandwidths: Sequence[float]) -> str:
    """Return how many runs are done and whether they are steady, with the last one's bandwidth."""
    if not bandwidths:
        return f"0 of {'at most ' if values['until_steady'] else ''}{values['most']} runs"
    last = f"the last at {quantity(bandwidths[-1], 'B/s')}"
    if is_steady(values, bandwidths):
        return f"{len(bandwidths)} runs, steady over the last {WINDOW}, {last}"
    if len(bandwidths) >= values["most"]:
        return f"{len(bandwidths)} runs{', and not steady after them' if values['until_steady'] else ''}, {last}"
    return f"{len(bandwidths)} of {'at most ' if values['until_steady'] else ''}{values['most']} runs, {last}"


def _sentence(values: Parameters) -> str:
    how = f"until steady, at most {times(values['most'])}" if values["until_steady"] else times(values["most"])
    return f"Write 4 KiB at random into a file of {word_size(values)} for {values['seconds']} s, {how}."


KIND = PreparationKind(
    kind="random_writes",
    label="random writes",
    sentence=_sentence,
    times=("start", "round"),
    parameters=(
        PreparationParameter("seconds", "Seconds a run", 1, 86_400, 60),
        PreparationParameter("most", "Runs, at most", 1, 100, 25),
        PreparationParameter("until_steady", "Until steady; else exactly so many runs", 0, 1, 1),
        FILE_SIZE,
    ),
    workload=make_workload,
    is_done=is_done,
    verdict=describe,
    least_runs=lambda values: min(WINDOW, int(values["most"])) if values["until_steady"] else int(values["most"]),
)
