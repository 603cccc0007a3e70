"""A fio job file as a workload: every line is taken over, or it is an error that names the line, the option and why.

Uploads are more lenient: there a job file may lie among results, and what is not taken over is said beside it.
"""

from dataclasses import dataclass
from typing import Any

from apps.parsers.core.models import Broken, ParsedWorkload, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.job_file import parse
from apps.parsers.fio.job_options.refusals import REFUSED
from apps.parsers.fio.job_options.table import BY_NAME
from apps.runs.start.repeat import FIO_DEFAULTS
from apps.runs.workload import MAX_JOBS, WorkloadError, checked

LONGEST_JOB_FILE = 64 * 1024  # characters
MOST_PROBLEMS = 50


@dataclass(frozen=True)
class JobFileProblem:
    """What is wrong with a line of a job file."""

    line: int | None
    option: str
    found: str
    expected: str

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}found {self.found}, expected {self.expected}"


class JobFileError(WorkloadError):
    """A job file that cannot be run as it stands; `problems` has what is wrong, in the order of its lines."""

    def __init__(self, problems: list[JobFileProblem]) -> None:
        first = problems[0]
        super().__init__("job_file", first.found, first.expected)
        more = f"; and {len(problems) - 1} more lines are not taken over" if len(problems) > 1 else ""
        self.args = (f"job_file: {first}{more}",)
        self.problems = problems[:MOST_PROBLEMS]


def read_job_file(text: str) -> dict[str, Any]:
    """Return the checked workload of a job file: what it does not say has fio's default.

    Raises:
        JobFileError: A line is no option that Spindle runs, or its value is not, or they do not go together.
    """
    if len(text) > LONGEST_JOB_FILE:
        raise JobFileError([_whole(f"{len(text)} characters", f"at most {LONGEST_JOB_FILE}")])
    try:
        parsed = parse(SourceText(text, "job.fio"))
    except ParseError as error:
        raise JobFileError([JobFileProblem(error.line, "", _first_line(text), error.expected)]) from None
    problems = _lines_outside(text, parsed.workloads)
    problems += [_problem_of(broken) for broken in parsed.broken]
    problems += [_problem_of(broken) for workload in parsed.workloads for broken in workload.refused]
    if not problems and len(parsed.workloads) != 1:
        problems.append(_whole(f"{len(parsed.workloads)} job files", "one"))
    if problems:
        raise JobFileError(sorted(problems, key=lambda problem: problem.line or 0))
    return _check(parsed.workloads[0])


def _check(parsed: ParsedWorkload) -> dict[str, Any]:
    if len(parsed.jobs) > MAX_JOBS:
        raise JobFileError([_whole(f"{len(parsed.jobs)} jobs", f"at most {MAX_JOBS}")])
    try:
        return checked({"jobs": [FIO_DEFAULTS | job for job in parsed.jobs]})
    except WorkloadError as error:
        raise JobFileError([_problem_of_check(error, parsed)]) from None


def _problem_of_check(error: WorkloadError, parsed: ParsedWorkload) -> JobFileProblem:
    job, _, option = error.field.partition(".")
    number = int(job[5:-1]) if job.startswith("jobs[") else 0
    lines = parsed.job_lines[number]
    name = BY_NAME[option].key if option in BY_NAME else option
    return JobFileProblem(lines.get(option, lines[""]), name, f"{name}={error.found}", error.expected)


def _problem_of(broken: Broken) -> JobFileProblem:
    return JobFileProblem(broken.line, broken.found.partition("=")[0].strip(), broken.found, broken.expected)


def _lines_outside(text: str, workloads: tuple[ParsedWorkload, ...]) -> list[JobFileProblem]:
    """Return the lines that belong to no section: the parser passes over the words around a job file, which may hide one."""
    ranges = [(workload.line or 0, workload.last_line or 0) for workload in workloads]
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if words and words[0] not in ";#" and not any(first <= number <= last for first, last in ranges):
            name = words.partition("=")[0].strip()
            why = (
                f"nothing, because {REFUSED[name]}"
                if name in REFUSED
                else "[name] of a section, or an option below one"
            )
            problems.append(JobFileProblem(number, name[:80], words[:80], why))
    return problems if workloads else []


def _whole(found: str, expected: str) -> JobFileProblem:
    return JobFileProblem(None, "", found, expected)


def _first_line(text: str) -> str:
    return repr(next((line.strip() for line in text.splitlines() if line.strip()), "")[:80])
