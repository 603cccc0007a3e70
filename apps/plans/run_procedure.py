"""The jobs of a run as points of a plan: "measure the same there", with other file sizes, and direct or buffered."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.core.text import whole_number
from apps.core.units import size as size_words
from apps.parsers.fio.job_options.agreement import groups_of
from apps.plans.presets.preset import PlanPointData, slug, words_of
from apps.plans.value_lists import FileSize
from apps.runs.models import Run
from apps.runs.start.repeat import template_of
from apps.studies.plans.problems import PlanError
from apps.studies.plans.workload import FROM_THE_POINT, SET_BY_THE_PLAN, share_size

PREFIX = "run-"  # before the id of a run in the list of procedures


def find_run(name: str) -> Run | None:
    """Return the run that a procedure `run-12` names, among those in scope."""
    pk = whole_number(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    run: Run | None = Run.objects.select_related("workload").filter(pk=pk).first() if pk else None
    return run


def points_of_run(run: Run, file_sizes: Sequence[FileSize] = ()) -> list[PlanPointData]:
    """Return a point for the jobs of each turn of a run, for each file size; without them as the run had it.

    Raises:
        PlanError: The run cannot be repeated.
    """
    template = template_of(run)
    if template.problem:
        raise PlanError("preset", f"run {run.pk}", template.problem)
    turns = groups_of(list(template.jobs))
    return [point_of_turn(turn, size) for turn in turns for size in file_sizes or (None,)]


def point_of_turn(jobs: Sequence[Mapping[str, Any]], file_size: FileSize | None = None) -> PlanPointData:
    """Return the point of jobs that run at the same time.

    Args:
        jobs: Complete, one or several.
        file_size: Of every job's file; None: as the jobs have it.
    """
    if len(jobs) == 1:
        job = dict(jobs[0])
        return points_of_jobs([(file_size or FileSize(bytes=job["file_size"]), job)])[0]
    own = [{name: value for name, value in job.items() if name not in (*SET_BY_THE_PLAN, "name")} for job in jobs]
    if file_size is None:
        shared, own = share_size(own)
        file_size = FileSize(bytes=shared)
    else:
        own = [{name: value for name, value in job.items() if name != "file_size"} for job in own]
    point = {"name": "", "label": "", "tool": "fio", **_field_of(file_size), "jobs": own}
    label = label_of_jobs(point)
    return {**point, "name": slug(label), "label": label}


def _field_of(size: FileSize) -> dict[str, Any]:
    return {"file_size": size.bytes} if size.bytes is not None else {"ram_multiple": size.ram_multiple}


def points_of_jobs(jobs: Iterable[tuple[FileSize, dict[str, Any]]]) -> list[PlanPointData]:
    """Return a point for each job with the size of its file."""
    points = []
    for size, job in jobs:
        own = {name: value for name, value in job.items() if name not in (*FROM_THE_POINT, "name", "stonewall")}
        point = {
            "name": "", "label": "", "tool": "fio", **_field_of(size), "block_size": job["block_size"],
            "threads": job["numjobs"], "iodepth": job["iodepth"], "job": own,
        }  # fmt: skip
        label = label_of_job(point)
        points.append({**point, "name": slug(label), "label": label})
    return points


def label_of_job(point: PlanPointData) -> str:
    """Return `randread 4 GiB, 4 KiB, direct` for a point of one job."""
    job = point["job"]
    words = f"{job['rw']} {words_of(size_of(point))}, {size_words(point['block_size'])}"
    return f"{words}, {'direct' if job['direct'] else 'buffered'}"


def label_of_jobs(point: PlanPointData) -> str:
    """Return `randread 4 KiB + write 1 MiB, 4 GiB, direct` for a point of several jobs."""
    jobs = count_words(f"{job['rw']} {size_words(job['block_size'])}" for job in point["jobs"])
    ways = dict.fromkeys("direct" if job["direct"] else "buffered" for job in point["jobs"])
    return f"{jobs}, {words_of(size_of(point))}, {' and '.join(ways)}"


def label_of_point(point: PlanPointData) -> str:
    """Return the label of a point of one job or of several."""
    return label_of_jobs(point) if "jobs" in point else label_of_job(point)


def count_words(words: Iterable[str]) -> str:
    """Return words with a sign between them, equal ones counted: `2 × randread 4k + write 1m`."""
    counts = Counter(words)
    return " + ".join(f"{count} × {word}" if count > 1 else word for word, count in counts.items())


def size_of(point: PlanPointData) -> FileSize:
    """Return the size of a point's file."""
    return FileSize(bytes=point.get("file_size"), ram_multiple=point.get("ram_multiple"))
