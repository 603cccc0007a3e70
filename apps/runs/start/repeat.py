"""What of a former run can be started again: its jobs as the start form takes them, and what the form cannot carry.

A dispatched run has its workload in full. Of an uploaded fio output the options of its jobs are read as a job file,
where it shows them; each that Spindle does not run is named, so that nobody takes the new run for the same.
"""

from dataclasses import dataclass
from typing import Any

from apps.parsers.core.models import ParsedWorkload, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.job_file import parse
from apps.parsers.fio.job_options.refusals import SET_BY_SPINDLE
from apps.runs.models import Run
from apps.runs.sections import MOST_WITH_OPTIONS
from apps.runs.workload import MAX_JOBS, WorkloadError, checked

# fio's defaults where a job does not say otherwise; the form begins with others.
FIO_DEFAULTS: dict[str, Any] = {
    "rw": "read", "block_size": 4096, "ioengine": "psync", "iodepth": 1, "numjobs": 1, "direct": False,
    "runtime": None, "time_based": False, "ramp_time": 0, "rwmixread": None, "sync": "none", "fsync_every": 0,
    "end_fsync": False, "randseed": None,
}  # fmt: skip


@dataclass(frozen=True)
class JobTemplate:
    """Jobs for the start form, and what the new run would not repeat. Without jobs, `problem` says why there are none."""

    jobs: tuple[dict[str, Any], ...] = ()
    differences: tuple[str, ...] = ()
    problem: str = ""


def template_of(run: Run) -> JobTemplate:
    """Return what the start form can be filled in with to repeat the run."""
    if run.tool != "fio":
        return JobTemplate(problem=f"Agents run fio only; this is a run of {run.tool}.")
    if run.workload and run.workload.jobs:
        return _of_workload(run.workload.jobs)
    options = {int(number): section["options"] for number, section in run.sections.items() if section.get("options")}
    if not options or len(options) < min(len(run.sections), MOST_WITH_OPTIONS):
        return JobTemplate(problem="Its output does not show the options of all its jobs.")
    if len(options) > MAX_JOBS:
        return JobTemplate(problem=f"It has {len(options)} jobs; a run has at most {MAX_JOBS}.")
    return _of_options([options[number] for number in sorted(options)])


def _of_workload(jobs: list[dict[str, Any]]) -> JobTemplate:
    try:
        return JobTemplate(tuple(checked({"jobs": jobs})["jobs"]))
    except WorkloadError as error:
        return JobTemplate(problem=f"Its workload cannot be started as it stands: {error}.")


def _of_options(jobs: list[dict[str, str]]) -> JobTemplate:
    """Read the options of the jobs as fio reads a job file with them."""
    sections = ["\n".join([f"[job{number}]", *_lines(options)]) for number, options in enumerate(jobs)]
    try:
        parsed = parse(SourceText("\n".join(sections) + "\n")).workloads
    except ParseError:
        parsed = ()
    if len(parsed) != 1 or len(parsed[0].jobs) != len(jobs):
        return JobTemplate(problem="The options of its jobs in its output are not as in a job file.")
    if not all(isinstance(job.get("file_size"), int) for job in parsed[0].jobs):
        return JobTemplate(problem="Its output does not say how large the files were.")
    filled = tuple(FIO_DEFAULTS | job for job in parsed[0].jobs)
    return JobTemplate(filled, tuple(_differences(parsed[0])))


def _lines(options: dict[str, str]) -> list[str]:
    """Return the options as lines of a job file; the pattern always, for it makes it one."""
    given = options if {"rw", "readwrite"} & options.keys() else {"rw": FIO_DEFAULTS["rw"], **options}
    written = ((name, " ".join(str(value).split())) for name, value in given.items())
    return [f"{name}={value}" if value else name for name, value in written]


def _differences(parsed: ParsedWorkload) -> list[str]:
    refused = [broken for broken in parsed.refused if SET_BY_SPINDLE not in broken.expected]
    return list(dict.fromkeys(f"{broken.found} is not taken over" for broken in refused))
