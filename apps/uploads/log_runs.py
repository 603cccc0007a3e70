"""fio's logs and the report of their test: runs of their own, found beside each other by where their files lie.

    beside = beside_of(uploaded)      # an `UploadedRun` of fio
    beside.logs                       # of a report: the runs of its logs
    beside.report                     # of a log: the run of its report, or None

Both lie in one folder of one upload. A log belongs to the report that names it: `PREFIX_clat.1.log`, where PREFIX is the
name of one of its jobs, which fio takes where nothing else was asked for, or the report's own (`PREFIX.json`). Where no
report names it, it belongs to the only one of its folder. Where several could have it, none has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from apps.parsers import fio_logs, fio_logs_ns, fio_logs_us
from apps.parsers.fio_log_names import prefix_of
from apps.runs.models import Run
from apps.runs.sections import jobs_of
from apps.uploads.models import UploadedRun

MOST = 2000  # runs of one folder that are looked at: more are no test with its logs, but years of tests
_LOGS = (fio_logs.NAME, fio_logs_ns.NAME, fio_logs_us.NAME)


@dataclass(frozen=True)
class Lying:
    """A run and the file that it was read from."""

    run: int
    name: str
    jobs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LogsBeside:
    logs: list[Run] = field(default_factory=list)
    report: Run | None = None


def beside_of(uploaded: UploadedRun | None) -> LogsBeside:
    """Two statements for a run of fio that was uploaded, none for others."""
    if uploaded is None or not uploaded.format.startswith("fio"):
        return LogsBeside()
    logs, reports = _in_folder(uploaded)
    owners = owners_of(logs, reports)
    mine = [log for log, report in owners.items() if report == uploaded.run_id]
    report = owners.get(uploaded.run_id)
    found = Run.objects.select_related("workload").in_bulk([*mine, *([report] if report else [])])
    return LogsBeside([found[pk] for pk in mine if pk in found], found.get(report) if report else None)


def owners_of(logs: Sequence[Lying], reports: Sequence[Lying]) -> dict[int, int]:
    """Run of a log → run of its report, for those that have one; in the order of the logs' names."""
    found = {log.run: _owner(prefix_of(log.name), reports) for log in sorted(logs, key=lambda log: log.name)}
    return {log: report for log, report in found.items() if report is not None}


def _owner(prefix: str, reports: Sequence[Lying]) -> int | None:
    named = [one for one in reports if prefix in {*one.jobs, PurePosixPath(one.name).stem}]
    able = named or reports
    return able[0].run if len(able) == 1 else None


def _in_folder(uploaded: UploadedRun) -> tuple[list[Lying], list[Lying]]:
    """Logs and reports of the folder that the run's file lies in; nothing where there are too many of them."""
    folder = str(PurePosixPath(uploaded.file.name).parent)
    within = "" if folder == "." else f"{folder}/"
    beside = UploadedRun.objects.filter(
        file__upload=uploaded.file.upload_id, file__name__startswith=within, format__startswith="fio"
    )
    rows = list(beside.values_list("run_id", "file__name", "run__sections", "format")[: MOST + 1])
    if len(rows) > MOST:
        return [], []
    found = [row for row in rows if str(PurePosixPath(row[1]).parent) == folder]
    logs = [Lying(run, name) for run, name, _, form in found if form in _LOGS]
    return logs, [
        Lying(run, name, frozenset(jobs_of("fio", parts))) for run, name, parts, form in found if form not in _LOGS
    ]
