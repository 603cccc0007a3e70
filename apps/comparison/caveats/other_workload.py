"""fio's own report tells another job than the host was asked for: the value is of that other job."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.labels import label_of, text_of
from apps.comparison.readings import Reading

OPTIONS = {"block_size": "block_size", "iodepth": "iodepth", "threads": "numjobs"}  # of a reading, in a workload
SEVERAL_SIZES = ("bsrange", "bssplit", "write_block_size")


def check(reading: Reading) -> str | None:
    """Compare what both tell of the only job; of several, which of them a value belongs to is not certain."""
    jobs: Sequence[Mapping[str, Any]] = reading.evidence.asked.get("jobs") or ()
    if reading.origin != "dispatched" or len(jobs) != 1:
        return None
    differences = [
        f"{label_of(name)} {text_of(name, reported)}, asked for {text_of(name, requested)}"
        for name, reported, requested in _pair_values(reading, jobs[0])
        if reported != requested
    ]
    return f"fio's report: {'; '.join(differences)}" if differences else None


def _pair_values(reading: Reading, job: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return the reported and the requested value of each dimension that has both."""
    pairs = [(name, getattr(reading, name), job.get(option)) for name, option in OPTIONS.items()]
    has_several_sizes = any(job.get(name) for name in SEVERAL_SIZES)
    return [pair for pair in pairs if None not in pair and not (has_several_sizes and pair[0] == "block_size")]


RULE = CaveatRule(
    name="other_workload",
    title="Another workload than was asked for",
    text="fio's report describes another job than the host was asked to run, so the value is of that job.",
    of_reading=check,
)
