"""The allowlist of workloads: a key that is not in OPTIONS is refused by name, and a new fio option adds nothing.

No text of a person reaches fio. A workload is integers, booleans and words from fixed lists; here each is checked for its exact
type and bounds, then all together against what agent.conf and the machine allow. The server checks the same; this does not rely on it.
"""

import os
import re
from typing import Any, Dict, List, Optional, Set, Tuple

from .conf import FREE_MARGIN, Conf, cpu_numbers, ram_bytes
from .disk import text_of
from .options import METADATA, OPTIONS, REQUIRED, agreement, value_of
from .options.refusals import REFUSED

Job = Dict[str, Any]
MAX_JOBS = 16
MAX_FILES = 100000  # of a run
RAM_SHARE = 4  # buffers may take a quarter of the memory
LONGEST_PATH = 500
RUN_DIR = re.compile(r"attempt-\d+")

READING = ("read", "randread", "rw", "randrw")


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
        for key, expected in agreement.disagreements(job):
            raise Refused(f"{job['name']}.{key}: found {_shown(job.get(key))}, expected {expected}.")
        _within_host(job, limits)
    _together(checked, limits)
    return checked


def reads(job: Job) -> bool:
    """Return whether the job reads data from files; the null engine and those of metadata touch none."""
    return job["rw"] in READING and job["ioengine"] not in ("null", *METADATA)


def writes(job: Job) -> bool:
    return job["rw"] in agreement.WRITING or job["ioengine"] in METADATA


def _job(number: int, given: Any) -> Job:
    where = f"jobs[{number}]"
    if type(given) is not dict:
        raise Refused(f"{where}: expected an object of job options.")
    for key in given:
        if key not in OPTIONS and key != "name":
            reason = REFUSED.get(key, "") if type(key) is str else ""
            more = f": {reason}" if reason else ""
            raise Refused(f"{where}.{_shown(key)}: this host does not know or does not allow this option{more}.")
    name = f"job{number}"
    if given.get("name", name) != name:
        raise Refused(f"{where}.name: found {_shown(given['name'])}, expected {name}: names are made, not chosen.")
    job: Job = {"name": name}
    for key, option in OPTIONS.items():
        value = given.get(key, option.default)
        if option.is_rare and (value is None or value == option.default):
            continue
        words = option.rule.words
        if value is REQUIRED:
            raise Refused(f"{where}.{key}: missing, expected {words}.")
        if not option.rule.is_right(value):
            raise Refused(f"{where}.{key}: found {_shown(value)}, expected {words}.")
        job[key] = value
    return job


def _within_host(job: Job, limits: PolicyLimits) -> None:
    conf = limits.conf
    for key, most in (("iodepth", conf.max_iodepth), ("numjobs", conf.max_numjobs)):
        if job[key] > most:
            raise Refused(f"{job['name']}.{key}: {job[key]} is more than this host allows, {most}.")
    _within_cpus(job, conf)


def _within_cpus(job: Job, conf: Conf) -> None:
    """Refuse CPUs that agent.conf does not allow, or that this host does not have."""
    allowed = conf.allowed_cpus()
    for key in ("cpus_allowed", "numa_cpu_nodes"):
        if key not in job:
            continue
        wanted = set(job[key]) if key == "cpus_allowed" else _cpus_of_nodes(job[key])
        if not wanted or wanted - allowed:
            raise Refused(f"{job['name']}.{key}: found {_shown(job[key])}, expected CPUs among {sorted(allowed)}.")


def _cpus_of_nodes(nodes: List[int]) -> Set[int]:
    """Return the CPUs of NUMA nodes; empty where the kernel does not know one of them."""
    texts = [text_of(f"/sys/devices/system/node/node{node}/cpulist") for node in nodes]
    return set().union(*map(cpu_numbers, texts)) if all(texts) else set()


def _together(jobs: List[Job], limits: PolicyLimits) -> None:
    """Check limits that jobs share: files of all jobs, processes and memory of jobs between two stonewalls."""
    conf = limits.conf
    _files(jobs, limits)
    seconds = sum(max(map(agreement.seconds_of, group)) for group in agreement.groups_of(jobs))
    if seconds > conf.max_runtime_s:
        raise Refused(f"runtime: {seconds} s in all are more than this host allows, {conf.max_runtime_s} s.")
    if len({value_of(job, "steadystate_check_interval") for job in jobs}) > 1:
        raise Refused("steadystate_check_interval: expected the same for all jobs.")
    for group in agreement.groups_of(jobs):
        processes = sum(job["numjobs"] for job in group)
        if processes > conf.max_numjobs:
            raise Refused(f"numjobs: {processes} at the same time are more than this host allows, {conf.max_numjobs}.")
        memory = sum(map(agreement.memory_bytes, group))
        if memory > limits.ram_bytes // RAM_SHARE:
            raise Refused(
                f"block_size × iodepth × numjobs, with maps, verification and dedupe working set: {memory} bytes are"
                " more than a quarter of this host's memory."
            )


def _files(jobs: List[Job], limits: PolicyLimits) -> None:
    count = sum(map(agreement.files_count, jobs))
    if count > MAX_FILES:
        raise Refused(f"nrfiles: {count} files in all are more than {MAX_FILES}.")
    files = file_bytes(jobs)
    if files > limits.quota_bytes:
        raise Refused(f"file_size: {files} bytes in all are more than this host's quota, {limits.quota_bytes}.")
    if files and files > limits.free_bytes:
        raise Refused(
            f"file_size: {files} bytes in all do not fit: {max(0, limits.free_bytes)} are free beyond a margin of {FREE_MARGIN}."
        )


def file_bytes(jobs: List[Job]) -> int:
    """Return the size of all files of the jobs, which exist at the same time."""
    return sum(map(agreement.files_bytes, jobs))


def _shown(value: Any) -> str:
    """Return a refused value for a sentence, short and in ASCII."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
