"""The allowlist of workloads: a key that is not in OPTIONS is refused by name, and a new fio option adds nothing.

No text of a person reaches fio. A workload is integers, booleans and words from fixed lists; here each is checked for its exact
type and bounds, then all together against what agent.conf and the machine allow. The server checks the same; this does not rely on it.
"""

import os
import re
from typing import Any, Dict, List, Optional, Tuple

from .conf import FREE_MARGIN, Conf, ram_bytes
from .options import OPTIONS, REQUIRED

Job = Dict[str, Any]
MAX_JOBS = 16
RAM_SHARE = 4  # buffers may take a quarter of the memory
LONGEST_PATH = 500
RUN_DIR = re.compile(r"attempt-\d+")

READING = ("read", "randread", "rw", "randrw")
WRITING = ("write", "randwrite", "rw", "randrw")


class Refused(Exception):
    """Why this host will not run a workload, as a sentence that names the key."""


class PolicyLimits:
    """What agent.conf and the machine leave at this moment for a run in a directory, without one in the first root."""

    def __init__(self, conf: Conf, directory: str = "") -> None:
        self.conf = conf
        directory = directory or conf.directory
        root = conf.root_of(directory)
        self.quota_bytes = root.quota_bytes if root is not None else 0
        self.free_bytes = conf.free_bytes(directory)
        self.ram_bytes = ram_bytes()


def numbers_of(offer: Any) -> Optional[Tuple[int, int]]:
    """Return attempt and token of an offer, or None for an invalid offer."""
    try:
        result = [offer[key] for key in ("attempt", "token", "status_interval")]
    except (TypeError, KeyError):
        return None
    return (result[0], result[1]) if all(type(item) is int and 0 < item < 2**63 for item in result) else None


def directory_of(offer: Dict[str, Any], conf: Conf) -> str:
    """Return the directory in which the run of an offer is to be made; the first root where the offer names none.

    Raises:
        Refused: It is in none of the directories that agent.conf allows.
    """
    target = offer.get("target") or {}
    if type(target) is not dict:
        raise Refused(f"target: found {_shown(target)}, expected an object with path, type and uuid.")
    path = target.get("path")
    if path in (None, ""):
        return conf.directory  # servers of before know of one directory only
    forbidden = outside(path, conf)
    if forbidden:
        raise Refused(forbidden)
    return str(path)


def outside(path: Any, conf: Conf) -> str:
    """Return why a path that the server names is in no directory that agent.conf allows, or ''. The disk is not asked."""
    plain = type(path) is str and os.path.isabs(path) and not path.startswith("//") and path == os.path.normpath(path)
    if not plain or len(path) > LONGEST_PATH or "\0" in path:
        return f"target: found {_shown(path)}, expected an absolute path without . and .. in it."
    root = conf.root_of(path)
    if root is None:
        roots = ", ".join(item.path for item in conf.roots)
        return f"the run is for {path}, and this host offers {roots} now."
    if any(RUN_DIR.fullmatch(name) for name in path[len(root.path) :].split("/")):
        return f"{path} is in the folder of a run."
    if conf.state and (path + "/").startswith(conf.state + "/") and not (root.path + "/").startswith(conf.state + "/"):
        return f"{path} is in the agent's own folder."
    return ""


def check(workload: Any, limits: PolicyLimits) -> List[Job]:
    """Return the jobs of a workload with every key filled in.

    Raises:
        Refused: Something in it is not allowed.
    """
    if type(workload) is not dict:
        raise Refused("workload: expected an object with tool and jobs.")
    for key in workload:
        if key not in ("tool", "jobs"):
            raise Refused(f"{_shown(key)}: no such field in a workload; there are tool and jobs.")
    if workload.get("tool") != "fio":
        raise Refused(f"tool: found {_shown(workload.get('tool'))}, expected fio.")
    jobs = workload.get("jobs")
    if type(jobs) is not list or not 1 <= len(jobs) <= MAX_JOBS:
        raise Refused(f"jobs: expected a list of 1 to {MAX_JOBS} jobs.")
    checked = [_job(number, job) for number, job in enumerate(jobs)]
    for job in checked:
        _agrees_with_itself(job)
        _within_host(job, limits)
    _together(checked, limits)
    return checked


def reads(job: Job) -> bool:
    """Return whether the job reads data from files; the null engine touches none."""
    return job["rw"] in READING and job["ioengine"] != "null"


def writes(job: Job) -> bool:
    return job["rw"] in WRITING


def _job(number: int, given: Any) -> Job:
    where = f"jobs[{number}]"
    if type(given) is not dict:
        raise Refused(f"{where}: expected an object of job options.")
    for key in given:
        if key not in OPTIONS and key != "name":
            raise Refused(f"{where}.{_shown(key)}: this host does not know or does not allow this option.")
    name = f"job{number}"
    if given.get("name", name) != name:
        raise Refused(f"{where}.name: found {_shown(given['name'])}, expected {name}: names are made, not chosen.")
    job: Job = {"name": name}
    for key, option in OPTIONS.items():
        words, is_right = option.rule
        value = given.get(key, option.default)
        if value is REQUIRED:
            raise Refused(f"{where}.{key}: missing, expected {words}.")
        if not is_right(value):
            raise Refused(f"{where}.{key}: found {_shown(value)}, expected {words}.")
        job[key] = value
    return job


def _agrees_with_itself(job: Job) -> None:
    def need(truth: bool, key: str, expected: str) -> None:
        if not truth:
            raise Refused(f"{job['name']}.{key}: found {job[key]}, expected {expected}.")

    counted = job["sync"] in ("fsync", "fdatasync")
    need(job["runtime"] is not None or not job["time_based"], "time_based", "false, because there is no runtime")
    need(job["block_size"] <= job["file_size"], "block_size", f"at most the file_size, {job['file_size']}")
    need(job["rwmixread"] is None or job["rw"] in ("rw", "randrw"), "rwmixread", "null unless rw is rw or randrw")
    need(counted or job["fsync_every"] == 0, "fsync_every", "0 unless sync is fsync or fdatasync")
    need(job["ioengine"] != "mmap" or not job["direct"], "direct", "false: mmap goes through the page cache")


def _within_host(job: Job, limits: PolicyLimits) -> None:
    conf = limits.conf
    for key, most in (("iodepth", conf.max_iodepth), ("numjobs", conf.max_numjobs)):
        if job[key] > most:
            raise Refused(f"{job['name']}.{key}: {job[key]} is more than this host allows, {most}.")


def _together(jobs: List[Job], limits: PolicyLimits) -> None:
    """Check limits that jobs share: files of all jobs, processes and buffers of jobs between two stonewalls."""
    conf = limits.conf
    files = file_bytes(jobs)
    if files > limits.quota_bytes:
        raise Refused(f"file_size: {files} bytes in all are more than this host's quota, {limits.quota_bytes}.")
    if files and files > limits.free_bytes:
        raise Refused(
            f"file_size: {files} bytes in all do not fit: {max(0, limits.free_bytes)} are free beyond a margin of {FREE_MARGIN}."
        )
    seconds = sum((job["runtime"] or 0) + job["ramp_time"] for job in jobs)
    if seconds > conf.max_runtime_s:
        raise Refused(f"runtime: {seconds} s in all are more than this host allows, {conf.max_runtime_s} s.")
    for group in _groups(jobs):
        processes = sum(job["numjobs"] for job in group)
        if processes > conf.max_numjobs:
            raise Refused(f"numjobs: {processes} at the same time are more than this host allows, {conf.max_numjobs}.")
        buffers = sum(job["block_size"] * job["iodepth"] * job["numjobs"] for job in group)
        if buffers > limits.ram_bytes // RAM_SHARE:
            raise Refused(
                f"block_size × iodepth × numjobs: {buffers} bytes are more than a quarter of this host's memory."
            )


def file_bytes(jobs: List[Job]) -> int:
    """Return the size of all files of the jobs, which exist at the same time."""
    return sum(job["file_size"] * job["numjobs"] for job in jobs if job["ioengine"] != "null")


def _groups(jobs: List[Job]) -> List[List[Job]]:
    groups: List[List[Job]] = []
    for job in jobs:
        if job["stonewall"] or not groups:
            groups.append([])
        groups[-1].append(job)
    return groups


def _shown(value: Any) -> str:
    """Return a refused value for a sentence, short and in ASCII."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
