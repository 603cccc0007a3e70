"""A plan's point as an fio workload with the sizes of its cell: one job, or several that run at the same time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from apps.runs import workload
from apps.runs.fio_options import OPTIONS
from apps.studies.plans.problems import PlanError

FROM_THE_POINT = ("block_size", "file_size", "numjobs", "iodepth")
# Of jobs that run at the same time: they begin together, and each has a result of its own in fio's report.
SET_BY_THE_PLAN = ("stonewall", "group_reporting", "new_group")
SOME_SIZE = 1 << 30  # a multiple of the RAM is known only with a host; the job is checked with this one
Job = dict[str, Any]

NOT_TOLD_BY_COLUMNS = (*FROM_THE_POINT, "rw")  # a column says these itself


class HasJob(Protocol):
    """A `PlanPoint`, or one that is being written."""

    @property
    def tool(self) -> str: ...
    @property
    def file_size(self) -> int | None: ...
    @property
    def block_size(self) -> int | None: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def iodepth(self) -> int | None: ...
    @property
    def job(self) -> Job | None: ...
    @property
    def jobs(self) -> list[Job] | None: ...


def workload_at(point: HasJob, file_size: int | None) -> dict[str, Any] | None:
    """Return the checked workload for a file size in bytes; None where fio cannot run it.

    Raises:
        WorkloadError: A job does not fit.
    """
    if point.tool != "fio" or file_size is None:
        return None
    if point.jobs:
        return workload.checked({"jobs": jobs_at(point.jobs, file_size)})
    if not point.job or point.block_size is None:
        return None
    sizes = {"file_size": file_size, "block_size": point.block_size}
    side_by_side = {"numjobs": point.threads or 1, "iodepth": point.iodepth or 1}
    return workload.checked({"jobs": [{**point.job, **sizes, **side_by_side}]})


def jobs_at(jobs: Sequence[Mapping[str, Any]], file_size: int) -> list[Job]:
    """Return jobs that run at the same time, with a file of this size where a job has none of its own."""
    return [
        {"file_size": file_size, **job, "stonewall": not number, "group_reporting": True, "new_group": number > 0}
        for number, job in enumerate(jobs)
    ]


def share_size(jobs: Sequence[Mapping[str, Any]]) -> tuple[int | None, list[Job]]:
    """Return the size of the largest file of jobs, and the jobs without it; None where a job says no size of its own."""
    sizes = [job.get("file_size") for job in jobs]
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes):
        return None, [dict(job) for job in jobs]
    shared = max(known)
    return shared, [
        {name: value for name, value in job.items() if (name, value) != ("file_size", shared)} for job in jobs
    ]


def jobs_of(point: HasJob) -> list[Job]:
    """Return the jobs of a point with what the point says of its only one; empty where fio cannot run it."""
    if point.jobs:
        return [dict(job) for job in point.jobs]
    if not point.job:
        return []
    own = {"block_size": point.block_size, "numjobs": point.threads, "iodepth": point.iodepth}
    return [{**point.job, **{name: value for name, value in own.items() if value is not None}}]


def begins_at(job: Mapping[str, Any]) -> int:
    """Return how many seconds after its turn began a job is measured."""
    return int(job.get("startdelay") or 0) + int(job.get("ramp_time") or 0)


def read_job(where: str, given: Any) -> Job:
    """Return a point's job, in which people may write values as fio does: `4k`, `5s`.

    Raises:
        PlanError: It is no object, or a text is no such value.
    """
    if not isinstance(given, dict) or not given:
        raise PlanError(where, given, "an object of fio's options; a point that fio does not run leaves `job` out")
    try:
        (job,) = workload.read_values({"jobs": [given]})["jobs"]
    except workload.WorkloadError as error:
        raise PlanError(f"{where}.{error.field.removeprefix('jobs[0].')}", error.found, error.expected) from None
    return dict(job)


def read_jobs(where: str, given: Any) -> list[Job]:
    """Return the jobs of a point that run at the same time, each read as `read_job` does.

    Raises:
        PlanError: They are no list of several jobs, or one has an option that the plan sets.
    """
    if not isinstance(given, list) or not 2 <= len(given) <= workload.MAX_JOBS:
        found = f"{len(given)} jobs" if isinstance(given, list) else given
        expected = f"a list of 2 to {workload.MAX_JOBS} jobs that run at the same time; a single one is `job`"
        raise PlanError(where, found, expected)
    jobs = [read_job(f"{where}[{number}]", job) for number, job in enumerate(given)]
    for number, job in enumerate(jobs):
        job.pop("name", None)
        if name := next((name for name in SET_BY_THE_PLAN if name in job), None):
            expected = "nothing: jobs of one point begin together, and each has a result of its own"
            raise PlanError(f"{where}[{number}].{name}", job[name], expected)
    return jobs


def check_job(where: str, point: HasJob) -> None:
    """Check that a point's jobs could run.

    Raises:
        PlanError: They could not.
    """
    if point.jobs is not None:
        _check_jobs(where, point)
        return
    if point.job is None:
        return
    if set(point.job) & set(FROM_THE_POINT):
        raise PlanError(f"{where}.job", point.job, f"fio's options without {', '.join(FROM_THE_POINT)}")
    for name, value in (("tool", point.tool), ("block_size", point.block_size)):
        if value is None or (name == "tool" and value != "fio"):
            raise PlanError(f"{where}.{name}", value, "a job only with tool fio and a block size")
    try:
        workload_at(point, point.file_size or SOME_SIZE)
    except workload.WorkloadError as error:
        field = error.field.removeprefix("jobs[0].")
        raise PlanError(f"{where}.{field}", error.found, error.expected) from None


def _check_jobs(where: str, point: Any) -> None:
    if point.tool != "fio":
        raise PlanError(f"{where}.tool", point.tool, "fio, which alone runs jobs")
    for name in ("job", "block_size", "threads", "iodepth", "operations"):
        if value := getattr(point, name):
            raise PlanError(f"{where}.{name}", value, "nothing beside jobs, which say it each by itself")
    if point.file_size is None and point.ram_multiple is None:
        raise PlanError(
            f"{where}.file_size", None, "a file size or a multiple of the RAM, or a size in each of the jobs"
        )
    if all("file_size" in job for job in point.jobs):
        raise PlanError(
            f"{where}.file_size", point.file_size, "nothing, because each of the jobs has a size of its own"
        )
    try:
        workload_at(point, point.file_size or SOME_SIZE)
    except workload.WorkloadError as error:
        raise PlanError(f"{where}.{error.field}", error.found, error.expected) from None


def unlike_options(points: Iterable[Any]) -> dict[int, Mapping[str, Any]]:
    """Return fio's options that are not the same in all jobs of a plan, of each point with one job, by its id."""
    return {pk: jobs[0] for pk, jobs in unlike_options_of_jobs(points).items() if len(jobs) == 1}


def unlike_options_of_jobs(points: Iterable[Any]) -> dict[int, list[Mapping[str, Any]]]:
    """Return fio's options that are not the same in all jobs of a plan, by the point's id and for each of its jobs.

    They are in the order of the form. An option that a job leaves out has its default. Points that fio cannot run have
    none. Values are compared as they are written: some are lists.
    """
    jobs = {
        point.pk: point.jobs or [point.job] for point in points if point.tool == "fio" and (point.jobs or point.job)
    }
    every = [job for of_point in jobs.values() for job in of_point]
    is_of_several = any(len(of_point) > 1 for of_point in jobs.values())
    named = {name for job in every for name in job} - set(NOT_TOLD_BY_COLUMNS)
    named -= set(SET_BY_THE_PLAN) if is_of_several else set()
    names = [option for option in OPTIONS if option.name in named]
    unlike = [option for option in names if len({repr(job.get(option.name, option.default)) for job in every}) > 1]
    return {
        pk: [{option.name: job.get(option.name, option.default) for option in unlike} for job in of_point]
        for pk, of_point in jobs.items()
    }
