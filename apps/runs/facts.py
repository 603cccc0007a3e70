"""The facts of a run: what comparisons group by. Strings and numbers only, taken once from the evidence and kept on the
run.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from apps.inventory.facts import labels_of
from apps.inventory.models import Snapshot
from apps.runs.models import Workload

Fact = str | int | float
_WORKLOAD = ("rw", "ioengine", "direct", "sync")


class HasFacts(Protocol):
    """A `Run`, or one on its way into the database."""

    @property
    def tool(self) -> str: ...
    @property
    def tool_version(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, Any]: ...
    @property
    def snapshot(self) -> Snapshot | None: ...
    @property
    def workload(self) -> Workload | None: ...


def run_facts(run: HasFacts) -> dict[str, Fact]:
    """The snapshot's facts, the tool, the workload's, and labels where no fact has their name: the run's before those of target and host.

    `sync` is none, fsync, fdatasync, dsync, sync or direct; `direct` is 0 or 1. Jobs that differ are joined: `randread
    + write`.
    """
    facts: dict[str, Fact] = dict(_fit(run.snapshot.facts)) if run.snapshot else {}
    free = labels_of(run.snapshot.content) if run.snapshot and run.snapshot.content and run.labels else {}
    facts = {name: value for name, value in facts.items() if name not in run.labels or free.get(name) != value}
    facts["tool"] = run.tool
    if run.tool_version:
        facts["tool_version"] = run.tool_version
    if run.workload:
        facts |= workload_facts(run.workload.jobs) if run.workload.jobs else _told(run.workload.spec)
    return dict(_fit(run.labels)) | facts


def workload_facts(jobs: list[dict[str, Any]]) -> dict[str, Fact]:
    if not jobs:
        return {}
    return {
        "rw": _joined(job["rw"] for job in jobs),
        "ioengine": _joined(job["ioengine"] for job in jobs),
        "direct": _joined(int(job["direct"]) for job in jobs),
        "sync": _joined(map(sync_of, jobs)),
    }


def _told(spec: dict[str, Any]) -> dict[str, Fact]:
    """What an uploaded result says of its own workload; what it does not say is no fact."""
    return {name: spec[name] for name in _WORKLOAD if name in spec}


def sync_of(job: dict[str, Any]) -> str:
    """How a job's writes reach the disk: by a sync of its own, by O_DIRECT, by one fsync at the end, or not surely at
    all.
    """
    if (word := job.get("sync", "none")) != "none":
        return str(word)
    if job.get("direct"):
        return "direct"
    return "fsync" if job.get("end_fsync") else "none"


def _joined(values: Iterable[Fact]) -> Fact:
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else " + ".join(map(str, different))


def _fit(found: Mapping[str, Any]) -> Iterable[tuple[str, Fact]]:
    """Yes and no become 1 and 0; what is empty, or holds more than one value, is no fact."""
    for name, value in found.items():
        if isinstance(value, bool):
            yield name, int(value)
        elif isinstance(value, str | int | float) and value != "":
            yield name, value
