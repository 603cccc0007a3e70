"""A plan's point as an fio workload with the sizes of its cell."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from apps.runs import workload
from apps.runs.fio_options import OPTIONS
from apps.studies.plans.problems import PlanError

FROM_THE_POINT = ("block_size", "file_size", "numjobs", "iodepth")
SOME_SIZE = 1 << 30  # a multiple of the RAM is known only with a host; the job is checked with this one


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
    def job(self) -> dict[str, Any] | None: ...


def workload_at(point: HasJob, file_size: int | None) -> dict[str, Any] | None:
    """Return the checked workload for a file size in bytes; None where fio cannot run it.

    Raises:
        WorkloadError: The job does not fit.
    """
    if point.tool != "fio" or not point.job or file_size is None or point.block_size is None:
        return None
    sizes = {"file_size": file_size, "block_size": point.block_size}
    side_by_side = {"numjobs": point.threads or 1, "iodepth": point.iodepth or 1}
    return workload.checked({"jobs": [{**point.job, **sizes, **side_by_side}]})


def check_job(where: str, point: HasJob) -> None:
    """Check that a point's job could run.

    Raises:
        PlanError: It could not.
    """
    if point.job is None:
        return
    if not isinstance(point.job, dict) or set(point.job) & set(FROM_THE_POINT):
        raise PlanError(f"{where}.job", point.job, f"fio's options without {', '.join(FROM_THE_POINT)}")
    if point.tool != "fio" or point.block_size is None:
        raise PlanError(f"{where}.job", point.job, "a job only with tool fio and a block size")
    try:
        workload_at(point, point.file_size or SOME_SIZE)
    except workload.WorkloadError as error:
        field = error.field.removeprefix("jobs[0].")
        raise PlanError(f"{where}.{field}", error.found, error.expected) from None


def unlike_options(points: Iterable[Any]) -> dict[int, Mapping[str, Any]]:
    """Return fio's options that are not the same in all points of a plan, by the point's id, in the order of the form.

    An option that a point leaves out has its default. Points that fio cannot run have none.
    """
    jobs = {point.pk: point.job for point in points if point.tool == "fio" and point.job}
    names = [option for option in OPTIONS if option.name not in NOT_TOLD_BY_COLUMNS]
    unlike = [option for option in names if len({job.get(option.name, option.default) for job in jobs.values()}) > 1]
    return {pk: {option.name: job.get(option.name, option.default) for option in unlike} for pk, job in jobs.items()}
