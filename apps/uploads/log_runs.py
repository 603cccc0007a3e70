"""fio's logs and the report of their test, runs of their own that belong together by the place of their files.

    beside = beside_of(uploaded)      # an `UploadedRun` of fio
    beside.logs                       # of a report: the runs of its logs
    beside.report                     # of a log: the run of its report, or None

Both are in one folder of one upload. A log belongs to the report that names it: `PREFIX_clat.1.log`, where PREFIX is the name
of one of its jobs (fio's default) or the report's own name (`PREFIX.json`). A log that no report names belongs to the only
report of its folder. Where several reports match, it belongs to none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from apps.parsers.fio.logs import format as logs_format
from apps.parsers.fio.logs import microseconds, nanoseconds
from apps.parsers.fio.logs.names import get_prefix
from apps.runs.models import Run
from apps.runs.sections import jobs_of
from apps.uploads.models import UploadedRun

MOST = 2000  # runs of one folder that are looked at: more are no test with its logs, but years of tests
_LOGS = (logs_format.NAME, nanoseconds.NAME, microseconds.NAME)


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
    """Return the logs of a report's run, or the report of a log's run, in two queries; nothing for other runs."""
    if uploaded is None or not uploaded.format.startswith("fio"):
        return LogsBeside()
    logs, reports = _in_folder(uploaded)
    owners = owners_of(logs, reports)
    mine = [log for log, report in owners.items() if report == uploaded.run_id]
    report = owners.get(uploaded.run_id)
    runs = Run.objects.select_related("workload").in_bulk([*mine, *([report] if report else [])])
    return LogsBeside([runs[pk] for pk in mine if pk in runs], runs.get(report) if report else None)


def owners_of(logs: Sequence[Lying], reports: Sequence[Lying]) -> dict[int, int]:
    """Return the run of a report by the run of each of its logs, in the order of the logs' names."""
    result = {log.run: _owner(get_prefix(log.name), reports) for log in sorted(logs, key=lambda log: log.name)}
    return {log: report for log, report in result.items() if report is not None}


def _owner(prefix: str, reports: Sequence[Lying]) -> int | None:
    named = [report for report in reports if prefix in {*report.jobs, PurePosixPath(report.name).stem}]
    able = named or reports
    return able[0].run if len(able) == 1 else None


def _in_folder(uploaded: UploadedRun) -> tuple[list[Lying], list[Lying]]:
    """Return the logs and the reports in the folder of the run's file; nothing where there are more than `MOST`."""
    folder = str(PurePosixPath(uploaded.file.name).parent)
    within = "" if folder == "." else f"{folder}/"
    beside = UploadedRun.objects.filter(
        file__upload=uploaded.file.upload_id, file__name__startswith=within, format__startswith="fio"
    )
    rows = list(beside.values_list("run_id", "file__name", "run__sections", "format")[: MOST + 1])
    if len(rows) > MOST:
        return [], []
    result = [row for row in rows if str(PurePosixPath(row[1]).parent) == folder]
    logs = [Lying(run, name) for run, name, _, form in result if form in _LOGS]
    return logs, [
        Lying(run, name, frozenset(jobs_of("fio", parts))) for run, name, parts, form in result if form not in _LOGS
    ]
