"""agent.conf: what this host allows, written by its administrator. The server can only ask for less; nothing it sends widens this."""

import os
import stat
import sys
from functools import lru_cache
from typing import Dict, Optional

MIB = 1024 * 1024
GIB = 1024 * MIB
FREE_MARGIN = 64 * MIB  # never fill the filesystem under test to the last byte
FIO_PLACES = ("/usr/local/bin/fio", "/usr/bin/fio", "/bin/fio")

TEMPLATE = """\
# What Spindle may do on this host. Only this file can allow more; the server cannot. Read once, when the agent starts.

# Test files are made below this directory, on the filesystem under test, and removed after each run.
directory = {directory}
# All test files of one run together, in bytes.
quota_bytes = {quota_bytes}
# fio is stopped after this many seconds.
max_runtime_s = {max_runtime_s}
max_iodepth = {max_iodepth}
max_numjobs = {max_numjobs}
# CPUs that fio may use, such as 2-5,8 (empty: all).
cpus =
# Absolute path of fio (empty: {places}).
fio =
"""


class Mistake(Exception):
    """A sentence for the administrator; the agent does not start."""


def log(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


class Conf:
    """Sizes in bytes, times in seconds."""

    def __init__(self, values: Dict[str, str]) -> None:
        self.directory = os.path.realpath(values["directory"])
        self.quota_bytes = _positive(values, "quota_bytes")
        self.max_runtime_s = _positive(values, "max_runtime_s")
        self.max_iodepth = _positive(values, "max_iodepth")
        self.max_numjobs = _positive(values, "max_numjobs")
        self.cpus = values["cpus"]
        self.fio = values["fio"]
        if not os.path.isabs(values["directory"]) or self.directory == "/":
            raise Mistake(f"directory = {values['directory']} in agent.conf must be an absolute path below /.")
        if self.cpus.strip("0123456789,-"):
            raise Mistake(f"cpus = {self.cpus} in agent.conf must be a list such as 2-5,8.")
        if self.fio and not os.path.isabs(self.fio):
            raise Mistake(f"fio = {self.fio} in agent.conf must be an absolute path.")

    def free_bytes(self) -> int:
        disk = os.statvfs(self.directory)
        return disk.f_bavail * disk.f_frsize - FREE_MARGIN

    def fio_path(self) -> Optional[str]:
        """Found by absolute path only, never through PATH."""
        for place in [self.fio] if self.fio else FIO_PLACES:
            if os.access(place, os.X_OK) and os.path.isfile(place):
                return place
        return None

    def as_policy(self) -> Dict[str, object]:
        """What the server is told, so that it can say no before a person waits for it."""
        names = ("directory", "quota_bytes", "max_runtime_s", "max_iodepth", "max_numjobs")
        return {name: getattr(self, name) for name in names}


def defaults(directory: str) -> Dict[str, str]:
    disk = os.statvfs(directory)
    quota = min(8 * GIB, disk.f_bavail * disk.f_frsize // 2)
    return {
        "directory": directory,
        "quota_bytes": str(quota),
        "max_runtime_s": "86400",
        "max_iodepth": "4096",
        "max_numjobs": str(min(4 * (os.cpu_count() or 1), 256)),
        "cpus": "",
        "fio": "",
    }


def load(state: str) -> Conf:
    path = os.path.join(state, "agent.conf")
    for guarded in (state, path):
        refuse_if_others_can_write(guarded)
    with open(path) as source:
        conf = Conf(parse(source.read()))
    os.makedirs(conf.directory, 0o700, exist_ok=True)
    return conf


def create(state: str, directory: Optional[str] = None) -> None:
    """The state folder and an agent.conf with defaults; one that is there stays as it is."""
    os.makedirs(state, 0o700, exist_ok=True)
    path = os.path.join(state, "agent.conf")
    if os.path.exists(path):
        return
    directory = os.path.realpath(directory or os.path.join(state, "files"))
    os.makedirs(directory, 0o700, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as target:
        target.write(TEMPLATE.format(places=", ".join(FIO_PLACES), **defaults(directory)))


def parse(text: str) -> Dict[str, str]:
    values: Dict[str, str] = {}
    known = ("directory", "quota_bytes", "max_runtime_s", "max_iodepth", "max_numjobs", "cpus", "fio")
    for number, line in enumerate(text.splitlines(), 1):
        key, found, value = (part.strip() for part in line.partition("="))
        if not key or key.startswith("#"):
            continue
        if not found or key not in known or key in values:
            raise Mistake(
                f"agent.conf line {number}: {line.strip()!r} is not one of {', '.join(known)}, each once, as key = value."
            )
        values[key] = value
    for key in known:
        if key not in values:
            raise Mistake(f"agent.conf lacks {key}.")
    return values


def refuse_if_others_can_write(path: str) -> None:
    """Whoever can write the limits owns the limits."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}.") from error
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Mistake(f"{path} can be written by others than its owner. Say: chmod go-w {path}")
    if found.st_uid not in (0, os.geteuid()):
        raise Mistake(f"{path} belongs to another user (uid {found.st_uid}).")


def _positive(values: Dict[str, str], key: str) -> int:
    if not values[key].isdigit() or int(values[key]) < 1:
        raise Mistake(f"{key} = {values[key]} in agent.conf must be a whole number above 0.")
    return int(values[key])


def ram_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@lru_cache(maxsize=1)
def boot_id() -> str:
    """A new one at every boot: an attempt begun under another is over, whatever its files say."""
    with open("/proc/sys/kernel/random/boot_id") as source:
        return source.read().strip()
