"""fio's job file and command line from a checked workload. No option outside of OPTIONS can appear."""

import os
from typing import List, Tuple

from . import options
from .options import agreement
from .policy import Job, reads, writes

# Always ours.
FROM_AGENT = (  # noqa: SIM905
    "filename_format clocksource cpus_allowed randrepeat invalidate fallocate nrfiles thread unlink verify_state_save disk_util "
    "clat_percentiles lat_percentiles slat_percentiles percentile_list"
).split()
FROM_WORKLOAD = [options.fio_name(name) for name in options.OPTIONS] + ["fdatasync"]  # which policy.py has checked
OPTIONS = frozenset(FROM_WORKLOAD + FROM_AGENT)

UNUSUAL_ENGINES = options.METADATA + ("vsync", "splice", "io_uring")

FIXED = (
    (
        "clocksource",
        "clock_gettime",
    ),  # fio's own choice differs from start to start on virtual machines, and so do its figures
    ("randrepeat", 1),  # the same offsets at every run unless a seed says otherwise
    ("invalidate", 1),  # begin with none of our files in the page cache
    ("fallocate", "native"),  # fio's default for files that are only written, pinned so that the report holds it
    ("nrfiles", 1),
    ("thread", 0),
    ("unlink", 0),  # fio removes nothing; the runner removes its own files
    ("verify_state_save", 0),  # no further files
    ("disk_util", 1),
    ("clat_percentiles", 1),
    ("lat_percentiles", 1),
    ("slat_percentiles", 0),
    ("percentile_list", "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99:99.999"),
)


def job_file(jobs: List[Job], cpus: str) -> str:
    lines = ["[global]"] + [_line(option, value) for option, value in FIXED]
    if cpus:
        lines.append(_line("cpus_allowed", cpus))
    for number, job in enumerate(jobs):
        lines += ["", f"[{job['name']}]"] + [_line(option, value) for option, value in _options(number, job)]
    return "\n".join(lines) + "\n"


def files_to_fill(jobs: List[Job]) -> List[Tuple[str, int]]:
    """Return names and sizes of files that must hold data before fio starts.

    Reads of a file that fio or fallocate laid out can be answered without the disk, and fio would remove and lay out
    again a file that is too short.
    """
    return [
        (_file_name(number, job, clone, file), agreement.length_of_file(job, clone))
        for number, job in enumerate(jobs)
        if reads(job)
        for clone in range(job["numjobs"])
        for file in range(options.value_of(job, "nrfiles"))
    ]


def is_unusual(job: Job) -> bool:
    """Return whether a job has what not every fio knows: one of the rare options, or an engine of few."""
    return job["ioengine"] in UNUSUAL_ENGINES or any(
        option.is_rare and name in job for name, option in options.OPTIONS.items()
    )


def _has_fios_names(job: Job) -> bool:
    """Return whether the files of a job have fio's usual names: where it has several, and where fio insists on it to verify."""
    return options.value_of(job, "nrfiles") > 1 or agreement.is_set(job, "verify")


def _file_name(number: int, job: Job, clone: int, file: int) -> str:
    return f"{job['name']}.{clone}.{file}" if _has_fios_names(job) else f"data.{number}.{clone}"


def command_line(fio: str, spool: str, jobs: List[Job], status_interval: int) -> List[str]:
    argv = [
        fio,
        "--output-format=json+",
        "--output=" + os.path.join(spool, "result.json"),
        f"--status-interval={status_interval}",
        "--eta=never",
        "--aux-path=" + os.path.join(spool, "aux"),
        f"--max-jobs={sum(job['numjobs'] for job in jobs)}",
        "--warnings-fatal",
    ]
    if not any(writes(job) for job in jobs):
        argv.append("--readonly")  # then fio neither writes nor lays out, whatever the job file says
    return argv + [os.path.join(spool, "job.fio")]


def _options(number: int, job: Job) -> List[Tuple[str, str]]:
    lines = options.lines_of(job)
    always = sum(option.written == options.ALWAYS for option in options.OPTIONS.values())
    # A name relative to fio's working directory, which is the attempt's own; one file for each clone, or several.
    name = "$jobname.$jobnum.$filenum" if _has_fios_names(job) else f"data.{number}.$jobnum"
    return lines[:always] + [("filename_format", name)] + lines[always:]


def _line(option: str, value: object) -> str:
    if option not in OPTIONS:
        raise AssertionError(f"{option} is not in the table of options")
    return f"{option}={value}"
