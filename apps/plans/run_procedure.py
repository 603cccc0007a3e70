"""The job of a run as points of a plan: "measure the same there", with other file sizes, and direct or buffered."""

from collections.abc import Iterable, Sequence
from typing import Any

from apps.core.text import whole_number
from apps.core.units import size as size_words
from apps.plans.presets.preset import PlanPointData, slug
from apps.plans.value_lists import FileSize
from apps.runs.models import Run
from apps.runs.start.repeat import template_of
from apps.studies.plans.problems import PlanError
from apps.studies.plans.workload import FROM_THE_POINT

PREFIX = "run-"  # before the id of a run in the list of procedures
WAYS = {"direct": (True,), "buffered": (False,), "both": (True, False)}


def find_run(name: str) -> Run | None:
    """Return the run that a procedure `run-12` names, among those in scope."""
    pk = whole_number(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    run: Run | None = Run.objects.select_related("workload").filter(pk=pk).first() if pk else None
    return run


def points_of_run(run: Run, file_sizes: Sequence[FileSize] = (), direct: str = "") -> list[PlanPointData]:
    """Return a point for the job of a run, for each file size and way of I/O; without them as the run had them.

    Raises:
        PlanError: The run cannot be repeated, or has several jobs.
    """
    template = template_of(run)
    if template.problem or len(template.jobs) != 1:
        raise PlanError("preset", f"run {run.pk}", template.problem or "a run with one job: a step of a plan has one")
    sizes: Sequence[FileSize] = file_sizes or [FileSize(bytes=template.jobs[0]["file_size"])]
    ways = WAYS.get(direct, (template.jobs[0]["direct"],))
    jobs = [(size, {**template.jobs[0], "direct": way}) for size in sizes for way in ways]
    return points_of_jobs(jobs)


def points_of_jobs(jobs: Iterable[tuple[FileSize, dict[str, Any]]]) -> list[PlanPointData]:
    """Return a point for each job with the size of its file."""
    points = []
    for size, job in jobs:
        words = f"{size.ram_multiple:g} × RAM" if size.ram_multiple is not None else size_words(size.bytes)
        label = f"{job['rw']} {words}, {size_words(job['block_size'])}, {'direct' if job['direct'] else 'buffered'}"
        own = {name: value for name, value in job.items() if name not in (*FROM_THE_POINT, "name")}
        of_file = {"file_size": size.bytes} if size.bytes is not None else {"ram_multiple": size.ram_multiple}
        points.append({
            "name": slug(label), "label": label, "tool": "fio", **of_file, "block_size": job["block_size"],
            "threads": job["numjobs"], "iodepth": job["iodepth"], "job": own,
        })  # fmt: skip
    return points
