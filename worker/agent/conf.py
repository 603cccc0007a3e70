"""agent.conf: what this host allows, written by its administrator. The server can only ask for less; nothing it sends widens this."""

import os
import stat
import sys
from functools import lru_cache
from typing import Dict, Optional

from . import directory as directories

MIB = 1024 * 1024
GIB = 1024 * MIB
FREE_MARGIN = 64 * MIB  # never fill the filesystem under test to the last byte
FIO_PLACES = ("/usr/local/bin/fio", "/usr/bin/fio", "/bin/fio")

TEMPLATE = """\
# What Spindle may do on this host. Only this file can allow more; the server cannot. Read once, when the agent starts.

# Test files are made below this directory, on the filesystem under test, and removed after each run.
directory = {directory}
# yes: also where other accounts can write in that directory or above it, and could place links there. Links are never followed.
shared_directory = {shared}
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
    """Sizes in bytes, times in seconds. `state` is the agent's own folder."""

    def __init__(self, values: Dict[str, str], state: str = "") -> None:
        self.state = state
        self.directory = directories.resolve(values["directory"])
        self.quota_bytes = _positive(values, "quota_bytes")
        self.max_runtime_s = _positive(values, "max_runtime_s")
        self.max_iodepth = _positive(values, "max_iodepth")
        self.max_numjobs = _positive(values, "max_numjobs")
        self.cpus = values["cpus"]
        self.fio = values["fio"]
        self.shared_directory = values.get("shared_directory", "no") == "yes"
        if values.get("shared_directory", "no") not in ("yes", "no"):
            raise Mistake(f"shared_directory = {values['shared_directory']} in agent.conf must be yes or no.")
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
        """Return the absolute path of fio, never found through PATH."""
        for place in [self.fio] if self.fio else FIO_PLACES:
            if os.access(place, os.X_OK) and os.path.isfile(place):
                return place
        return None

    def directory_refused(self) -> Optional[str]:
        """Return why nothing may run in the directory now, or None."""
        try:
            os.close(directories.open_directory(self.directory, self.shared_directory, self.state))
        except directories.Unsafe as problem:
            return str(problem)
        except OSError:  # not there, or not readable: `mount` has the words
            pass
        return None

    def spool_on_directory(self) -> bool:
        """Return whether the spool is on the filesystem that is measured."""
        try:
            return os.stat(self.state).st_dev == os.stat(self.directory).st_dev
        except OSError:
            return False

    def log_what_is_amiss(self) -> None:
        if self.spool_on_directory():
            log(f"The spool in {self.state} is on the filesystem under test. Better give --state on another disk.")
        refused = self.directory_refused()
        if refused:
            log(f"Until this is put right every run is refused: {refused}")
        if self.fio_path() is None:
            log("fio was not found. Until it is installed every run is refused; it is looked for at each poll.")

    def as_policy(self) -> Dict[str, object]:
        """Return the policy that the server is told, so that it can refuse before a person waits."""
        names = ("directory", "quota_bytes", "max_runtime_s", "max_iodepth", "max_numjobs")
        reported = {name: getattr(self, name) for name in names}
        if self.spool_on_directory():
            reported["spool_on_directory"] = True
        refused = self.directory_refused()
        return dict(reported, directory_refused=refused) if refused else reported


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
        conf = Conf(parse(source.read()), state)
    _make_once(state, conf.directory)
    return conf


def _make_once(state: str, directory: str) -> None:
    """Create the directory unless it existed before: then it is on a disk that is not mounted, and a new one would be elsewhere.

    Where the directory may not be used nothing is created, and that is reported when somebody wants to use it.
    """
    note = os.path.join(state, "directory")
    try:
        with open(note) as source:
            if source.read() == directory:
                return
    except OSError:
        pass  # an agent of before, or the first start
    try:
        os.close(directories.open_directory(directory, make=True))
    except directories.Unsafe:
        return
    with open(note, "w") as target:
        target.write(directory)


def create(state: str, directory: Optional[str] = None, shared: bool = False) -> None:
    """Create the state folder and an agent.conf with defaults; an existing one stays as it is."""
    os.makedirs(state, 0o700, exist_ok=True)
    path = os.path.join(state, "agent.conf")
    if os.path.exists(path):
        return
    directory = directories.resolve(directory or os.path.join(state, "files"))
    try:
        os.close(directories.open_directory(directory, shared, state, make=True))
    except directories.Unsafe as problem:
        raise Mistake(str(problem)) from problem
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as target:
        target.write(
            TEMPLATE.format(places=", ".join(FIO_PLACES), **dict(defaults(directory), shared="yes" if shared else "no"))
        )


def parse(text: str) -> Dict[str, str]:
    values: Dict[str, str] = {}
    needed = ("directory", "quota_bytes", "max_runtime_s", "max_iodepth", "max_numjobs", "cpus", "fio")
    known = needed + ("shared_directory",)  # which older files lack
    for number, line in enumerate(text.splitlines(), 1):
        key, separator, value = (part.strip() for part in line.partition("="))
        if not key or key.startswith("#"):
            continue
        if not separator or key not in known or key in values:
            raise Mistake(
                f"agent.conf line {number}: {line.strip()!r} is not one of {', '.join(known)}, each once, as key = value."
            )
        values[key] = value
    for key in needed:
        if key not in values:
            raise Mistake(f"agent.conf lacks {key}.")
    return values


def refuse_if_others_can_write(path: str) -> None:
    """Refuse a file that others can write: whoever can write the limits owns the limits."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}.") from error
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Mistake(f"{path} can be written by others than its owner. Say: chmod go-w {path}")
    if status.st_uid not in (0, os.geteuid()):
        raise Mistake(f"{path} belongs to another user (uid {status.st_uid}).")


def refuse_if_others_can_write_above(state: str, others_are_told: bool = False) -> None:
    """Refuse a folder above the agent's own in which others can place another folder, or a link.

    Args:
        others_are_told: Report it instead, as where `bin/up` runs in somebody's checkout.
    """
    try:
        owner = os.stat(state).st_uid
    except FileNotFoundError:  # not made yet: it will be ours
        owner = os.geteuid()
    above = os.path.dirname(state)
    while True:
        try:
            status = os.lstat(above)
        except FileNotFoundError:
            status = None
        if status is not None:
            problem = directories.open_to_others(above, status, owner)
            if problem and not others_are_told:
                raise Mistake(
                    f"{problem} Say chmod go-w {above}, or give --state below folders of root or of this account alone."
                )
            if problem:
                log(f"{problem} Whoever can write there can replace the agent's folder {state}.")
        if above == "/":
            return
        above = os.path.dirname(above)


def _positive(values: Dict[str, str], key: str) -> int:
    if not values[key].isdigit() or int(values[key]) < 1:
        raise Mistake(f"{key} = {values[key]} in agent.conf must be a whole number above 0.")
    return int(values[key])


def ram_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Return the kernel's boot id; an attempt that began under another one is over, whatever its files say."""
    with open("/proc/sys/kernel/random/boot_id") as source:
        return source.read().strip()
