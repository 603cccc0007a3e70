"""The facts of a run, by which comparisons group: from its snapshot, tool, workload, labels and the host's activity.

Facts are strings and numbers, taken once when the run begins or is imported and stored on the run. The activity of the
host comes from the attempt's journal, JSON lines of which one is

    {"event": "activity", "load_before": 0.05, "disk_before": 1204.2, …, "seconds_before": 25.0, "own_disks": ["sda"], "at": …}

How the kernel was set for what the run lay on is read when the run begins, and is in the place of the run as its host
reports it, `settings` of

    {"type": "ext4", "path": "/data", …, "settings": {"device": {"read_ahead_kb": "128"}, "governors": ["performance"],
     "disks": {"sda": {"scheduler": "none [mq-deadline]", "rotational": "1", "write_cache": "write back", …}}}}

Loads are numbers of processes or cores, all other figures are in B/s. A figure that the host could not measure is
missing, and older agents write no such line (docs/agent-protocol.md).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from apps.inventory.snapshots.content import freeze
from apps.inventory.snapshots.facts import labels_of
from apps.inventory.target_identity import Place
from apps.parsers.fio.workload import read_job_facts
from apps.runs.models import Run

Fact = str | int | float
_WORKLOAD = ("rw", "ioengine", "direct", "sync")


def run_facts(run: Run) -> dict[str, Fact]:
    """Return the facts of a run: from its snapshot, tool, workload and labels.

    A label counts where no fact has its name; the run's labels come before those of target and host. `sync` is none,
    fsync,
    fdatasync, dsync, sync or direct; `direct` is 0 or 1. Values of different jobs are joined: `randread + write`.
    """
    facts: dict[str, Fact] = dict(_fit(run.snapshot.facts)) if run.snapshot else {}
    free = labels_of(run.snapshot.content) if run.snapshot and run.snapshot.content and run.labels else {}
    facts = {name: value for name, value in facts.items() if name not in run.labels or free.get(name) != value}
    facts["tool"] = run.tool
    if run.tool_version:
        facts["tool_version"] = run.tool_version
    facts |= settings_facts(run.place.get("settings") or {})
    if run.workload:
        facts |= workload_facts(run.workload.jobs) if run.workload.jobs else _told(run)
    return dict(_fit(run.labels)) | facts


def settings_facts(settings: Mapping[str, Any]) -> dict[str, Fact]:
    """Return `io_scheduler`, `rotational` and `drive_write_cache` of the disks, `read_ahead` in bytes, `cpu_governor`.

    The read-ahead is that of the mounted device or of btrfs itself, by which the page cache reads, never that of disks
    below; the others are those of all disks below it, joined where they differ. What the host could not read is left
    out. Source: Linux,
    Documentation/ABI/stable/sysfs-block and Documentation/admin-guide/pm/cpufreq.rst.
    """
    device: Mapping[str, str] = settings.get("device") or {}
    disks: list[Mapping[str, str]] = list((settings.get("disks") or {}).values()) or [device]
    every: dict[str, list[Fact | None]] = {
        "io_scheduler": [_active(queue.get("scheduler", "")) for queue in disks],
        "rotational": [_number(queue.get("rotational", "")) for queue in disks],
        "drive_write_cache": [queue.get("write_cache") for queue in disks],
        "read_ahead": [_bytes_of_kib(queue.get("read_ahead_kb", "")) for queue in [device]],
        "cpu_governor": list(settings.get("governors") or [None]),
    }
    known = {name: [value for value in values if value is not None] for name, values in every.items()}
    return {name: _joined(sorted(values, key=str)) for name, values in known.items() if len(values) == len(every[name])}


def _active(schedulers: str) -> str | None:
    """Return the scheduler in brackets of `none [mq-deadline] bfq`; a kernel that has only one prints its name alone."""
    if match := re.search(r"\[([\w-]+)\]", schedulers):
        return match[1]
    return schedulers if re.fullmatch(r"[\w-]+", schedulers) else None


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None


def _bytes_of_kib(text: str) -> int | None:
    number = _number(text)
    return None if number is None else number * 1024


def workload_facts(jobs: list[dict[str, Any]]) -> dict[str, Fact]:
    if not jobs:
        return {}
    return {
        "rw": _joined(job["rw"] for job in jobs),
        "ioengine": _joined(job["ioengine"] for job in jobs),
        "direct": _joined(int(job["direct"]) for job in jobs),
        "sync": _joined(map(sync_of, jobs)),
    }


def _told(run: Run) -> dict[str, Fact]:
    """Return the facts that an uploaded result tells of its own workload.

    fio's report has the options of each job: they give the same facts as those of a run that an agent made.
    """
    spec: Mapping[str, Any] = run.workload.spec if run.workload else {}
    facts = {name: spec[name] for name in _WORKLOAD if name in spec}
    options = [section.get("options") for section in run.sections.values()] if run.tool == "fio" else []
    if not options or not all(options):
        return facts
    jobs = [read_job_facts(some) for some in options]
    return facts | {name: _joined(job[name] for job in jobs) for name in _WORKLOAD if all(name in job for job in jobs)}


def sync_of(job: dict[str, Any]) -> str:
    """Return how a job's writes reach the disk: its own sync option, `direct` for O_DIRECT, `fsync` for one at the end, or `none`."""
    if (word := job.get("sync", "none")) != "none":
        return str(word)
    if job.get("direct"):
        return "direct"
    return "fsync" if job.get("end_fsync") else "none"


def _joined(values: Iterable[Fact]) -> Fact:
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else " + ".join(map(str, different))


def _fit(facts: Mapping[str, Any]) -> Iterable[tuple[str, Fact]]:
    """Yield the facts with booleans as 0 or 1, without empty values and lists."""
    for name, value in facts.items():
        if isinstance(value, bool):
            yield name, int(value)
        elif isinstance(value, str | int | float) and value != "":
            yield name, value


def freeze_for(run: Run, place: Place | None = None, settings: Mapping[str, Any] | None = None) -> None:
    """Give the run its snapshot and facts, unless it has them. Editing the inventory later changes neither.

    `place`: where the run really lies, as its host read it from the open directory; `settings`: how the kernel was set
    for it.
    """
    if run.snapshot_id or run.target is None:
        return
    run.snapshot = freeze(run.target, place)
    run.place = {**(place.as_json if place else {}), **({"settings": settings} if settings else {})}
    run.facts = run_facts(run)
    Run.objects.filter(pk=run.pk, snapshot=None).update(snapshot=run.snapshot, facts=run.facts, place=run.place)


def change_labels(run: Run, labels: dict[str, str]) -> dict[str, Fact]:
    """Give the run other labels and return the facts that it has then; nothing is stored.

    What its facts say besides, of the host's activity or from a published report, stays. A run that has not begun has
    no facts yet.
    """
    before = run_facts(run)
    others = {name: value for name, value in run.facts.items() if before.get(name) != value}
    run.labels = labels
    facts: dict[str, Fact] = run_facts(run) | others if run.facts else {}
    return facts
