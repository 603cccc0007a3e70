"""agent.conf: what this host allows, written by its administrator. The server can only ask for less; nothing it sends widens this."""

import os
import stat
import sys
from functools import lru_cache
from typing import Any, Dict, List, Optional, Set

from . import directory as directories

MIB = 1024 * 1024
GIB = 1024 * MIB
FREE_MARGIN = 64 * MIB  # never fill the filesystem under test to the last byte
FIO_PLACES = ("/usr/local/bin/fio", "/usr/bin/fio", "/bin/fio")
MOST_ROOTS = 32
PROBE_FOLDER = "/var/lib/spindle-probe"  # of the unit that runs as root, if the administrator has installed it

TEMPLATE = """\
# What Spindle may do on this host. Only this file can allow more; the server cannot. Read once, when the agent starts.

# Test files are made below this directory, on the filesystem under test, and removed after each run. For several filesystems name
# a directory on each, with commas: directories = /data/ext4, /data/xfs, /mnt/md0
{roots}
# yes: also where other accounts can write in that directory or above it, and could place links there. Links are never followed.
shared_directory = {shared}
# All test files of one run together, in bytes. One number counts for each directory; or one for each, with commas, in the same order.
quota_bytes = {quota_bytes}
# fio is stopped after this many seconds.
max_runtime_s = {max_runtime_s}
max_iodepth = {max_iodepth}
max_numjobs = {max_numjobs}
# CPUs that fio may use, such as 2-5,8 (empty: all).
cpus =
# Absolute path of fio (empty: {places}).
fio =
# yes: a newer version of this program is taken from the server when it has one, between runs (agent.pyz upgrade does it once).
upgrade = no
"""


class Mistake(Exception):
    """A sentence for the administrator; the agent does not start."""


def log(sentence: str) -> None:
    sys.stderr.write(printable(sentence, len(sentence), "\n\t") + "\n")
    sys.stderr.flush()


def printable(value: Any, most: int = 300, also: str = "") -> str:
    """Return a text that may be the server's as a terminal may show it: short, on one line and without control characters."""
    text = value if isinstance(value, str) else ""
    return "".join(letter if letter.isprintable() or letter in also else "?" for letter in text[:most])


class Root:
    """A directory in which, and below which, test files may be made: of one run at most `quota_bytes` together."""

    def __init__(self, path: str, quota_bytes: int) -> None:
        self.path, self.quota_bytes = path, quota_bytes

    def holds(self, path: str) -> bool:
        """Return whether a path is this directory or lies below it; both are absolute, without `.` and `..`."""
        return path == self.path or path.startswith(self.path + "/")


class Conf:
    """Sizes in bytes, times in seconds. `state` is the agent's own folder, `directory` the first of the roots."""

    def __init__(self, values: Dict[str, str], state: str = "") -> None:
        self.state = state
        self.roots = _roots(values)
        self.directory, self.quota_bytes = self.roots[0].path, self.roots[0].quota_bytes
        self.max_runtime_s = _positive(values, "max_runtime_s")
        self.max_iodepth = _positive(values, "max_iodepth")
        self.max_numjobs = _positive(values, "max_numjobs")
        self.cpus = values["cpus"]
        self.fio = values["fio"]
        self.shared_directory = values.get("shared_directory", "no") == "yes"
        if values.get("shared_directory", "no") not in ("yes", "no"):
            raise Mistake(f"shared_directory = {values['shared_directory']} in agent.conf must be yes or no.")
        self.upgrade = values.get("upgrade", "no") == "yes"
        self.probe_folder = values.get("probe_folder") or PROBE_FOLDER
        if values.get("upgrade", "no") not in ("yes", "no"):
            raise Mistake(f"upgrade = {values['upgrade']} in agent.conf must be yes or no.")
        if not os.path.isabs(self.probe_folder):
            raise Mistake(f"probe_folder = {self.probe_folder} in agent.conf must be an absolute path.")
        if self.cpus.strip("0123456789,-"):
            raise Mistake(f"cpus = {self.cpus} in agent.conf must be a list such as 2-5,8.")
        if self.fio and not os.path.isabs(self.fio):
            raise Mistake(f"fio = {self.fio} in agent.conf must be an absolute path.")

    def root_of(self, path: str) -> Optional[Root]:
        """Return the root that holds a path, the innermost one of several, or None."""
        return max((root for root in self.roots if root.holds(path)), key=lambda root: len(root.path), default=None)

    def free_bytes(self, path: str) -> int:
        disk = os.statvfs(path)
        return disk.f_bavail * disk.f_frsize - FREE_MARGIN

    def allowed_cpus(self) -> Set[int]:
        """Return the numbers of the CPUs that fio may use: those of agent.conf, or all on which this process may run."""
        return cpu_numbers(self.cpus) if self.cpus else set(os.sched_getaffinity(0))

    def fio_path(self) -> Optional[str]:
        """Return the absolute path of fio, never found through PATH."""
        for place in [self.fio] if self.fio else FIO_PLACES:
            if os.access(place, os.X_OK) and os.path.isfile(place):
                return place
        return None

    def directory_refused(self, path: str) -> Optional[str]:
        """Return why nothing may run in a directory now, or None."""
        try:
            os.close(directories.open_directory(path, self.shared_directory, self.state))
        except directories.Unsafe as problem:
            return str(problem)
        except OSError:  # not there, or not readable: `mount` has the words
            pass
        return None

    def spool_on(self, path: str) -> bool:
        """Return whether the spool is on the filesystem of a directory, and is measured with it."""
        try:
            return os.stat(self.state).st_dev == os.stat(path).st_dev
        except (OSError, ValueError):  # ValueError: of letters that this host's file names cannot have
            return False

    def log_what_is_amiss(self) -> None:
        for root in self.roots:
            if self.spool_on(root.path):
                log(f"The spool in {self.state} is on the filesystem under test, that of {root.path}.")
                log("Better give --state on another disk.")
            refused = self.directory_refused(root.path)
            if refused:
                log(f"Until this is put right every run in {root.path} is refused: {refused}")
        if self.fio_path() is None:
            log("fio was not found. Until it is installed every run is refused; it is looked for at each poll.")

    def as_policy(self) -> Dict[str, object]:
        """Return the policy that the server is told, so that it can refuse before a person waits."""
        names = ("directory", "quota_bytes", "max_runtime_s", "max_iodepth", "max_numjobs")
        reported = {name: getattr(self, name) for name in names}
        reported["directories"] = [root.path for root in self.roots]
        if self.spool_on(self.directory):
            reported["spool_on_directory"] = True
        refused = self.directory_refused(self.directory)
        return dict(reported, directory_refused=refused) if refused else reported


def defaults(*paths: str) -> Dict[str, str]:
    """Return the values of a new agent.conf that allows these directories."""
    quotas = []
    for path in paths:
        disk = os.statvfs(path)
        quotas.append(str(min(8 * GIB, disk.f_bavail * disk.f_frsize // 2)))
    return {
        "directory" if len(paths) == 1 else "directories": ", ".join(paths),
        "quota_bytes": quotas[0] if len(set(quotas)) == 1 else ", ".join(quotas),
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
    _make_once(state, [root.path for root in conf.roots])
    return conf


def _make_once(state: str, paths: List[str]) -> None:
    """Create each directory unless it existed before.

    One that did is on a disk that is not mounted, and a new one would be elsewhere.
    Where a directory may not be used nothing is created, and that is reported when somebody wants to use it.
    """
    note = os.path.join(state, "directory")
    try:
        with open(note) as source:
            known = source.read().splitlines()
    except OSError:
        known = []  # an agent of before, or the first start
    made = []
    for path in paths:
        if path in known:
            continue
        try:
            os.close(directories.open_directory(path, make=True))
        except OSError as problem:
            if len(paths) == 1 and not isinstance(problem, directories.Unsafe):
                raise
            continue  # the other directories can be used meanwhile
        made.append(path)
    if made:
        with open(note, "w") as target:
            target.write("\n".join(known + made))


def create(state: str, *paths: str, shared: bool = False) -> None:
    """Create the state folder and an agent.conf with defaults, whole and on disk; an existing one stays as it is."""
    os.makedirs(state, 0o700, exist_ok=True)
    file = os.path.join(state, "agent.conf")
    if os.path.exists(file):
        return
    resolved = [directories.resolve(path) for path in paths or [os.path.join(state, "files")]]
    _prepare(resolved, state, shared, len(resolved) > 1)
    values = defaults(*dict.fromkeys(resolved))
    names = [f"{name} = {values.pop(name)}" for name in ("directory", "directories") if name in values]
    values.update(roots="\n".join(names), shared="yes" if shared else "no", places=", ".join(FIO_PLACES))
    handle = os.open(file + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w") as target:
        target.write(TEMPLATE.format(**values))
        target.flush()
        os.fsync(target.fileno())  # a power cut would leave an empty file, with which no agent starts
    os.rename(file + ".new", file)
    above = os.open(state, os.O_RDONLY)
    os.fsync(above)
    os.close(above)


def _prepare(paths: List[str], state: str, shared: bool, is_listed: bool) -> None:
    """Create directories that are missing.

    Raises:
        Mistake: One cannot be used, or not written into a list with commas.
    """
    for path in paths:
        if "," in path and is_listed:
            raise Mistake(f"{path}: a directory among several cannot have a comma in its name.")
        try:
            os.close(directories.open_directory(path, shared, state, make=True))
        except directories.Unsafe as problem:
            raise Mistake(str(problem)) from problem


def with_directories(text: str, paths: List[str], conf: Conf) -> str:
    """Return the text of an agent.conf that allows further directories, which are made; all else stays as it is."""
    _prepare(paths, conf.state, conf.shared_directory, True)
    fresh = defaults(*paths)
    quotas = fresh["quota_bytes"].split(", ")
    lines, place = text.splitlines(), 0
    for number, line in enumerate(lines):
        key, _, value = (part.strip() for part in line.partition("="))
        if key == "directory" and not place:
            place = number + 1
        elif key == "directories" and value:
            lines[number] = f"directories = {', '.join([value.rstrip(', ')] + paths)}"
            place = -1
        elif key == "quota_bytes" and "," in value:
            lines[number] = f"quota_bytes = {', '.join([value] + (quotas * len(paths))[: len(paths)])}"
    if place >= 0:
        lines = [line for line in lines if line.partition("=")[0].strip() != "directories"]
        lines.insert(place, f"directories = {', '.join(paths)}")
    return "\n".join(lines) + "\n"


def parse(text: str) -> Dict[str, str]:
    values: Dict[str, str] = {}
    needed = ("quota_bytes", "max_runtime_s", "max_iodepth", "max_numjobs", "cpus", "fio")
    known = (
        ("directory", "directories") + needed + ("shared_directory", "upgrade", "probe_folder")
    )  # which older files lack
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
    if not values.get("directory") and not values.get("directories"):
        raise Mistake("agent.conf lacks directory, or directories.")
    return values


def _roots(values: Dict[str, str]) -> List[Root]:
    """Return the directories of `directory` and of `directories`, with the quota of each.

    Raises:
        Mistake: A path is not absolute, or is / itself; one is named twice; the quotas are not one, or one for each.
    """
    typed = [values["directory"]] if values.get("directory") else []
    typed += [path.strip() for path in values.get("directories", "").split(",") if path.strip()]
    if len(typed) > MOST_ROOTS:
        raise Mistake(f"directories in agent.conf names {len(typed)}, expected at most {MOST_ROOTS}.")
    quotas = [part.strip() for part in values["quota_bytes"].split(",")]
    if len(quotas) not in (1, len(typed)):
        raise Mistake(f"quota_bytes in agent.conf has {len(quotas)} numbers, expected one, or one for each directory.")
    roots: List[Root] = []
    for number, path in enumerate(typed):
        quota = quotas[number if len(quotas) > 1 else 0]
        resolved = directories.resolve(path)
        if not os.path.isabs(path) or resolved == "/":
            name = "directory" if len(typed) == 1 else "directories"
            raise Mistake(f"{name} = {path} in agent.conf must be an absolute path below /.")
        if resolved in [root.path for root in roots]:
            raise Mistake(f"agent.conf names the directory {resolved} twice.")
        roots.append(Root(resolved, _positive({"quota_bytes": quota}, "quota_bytes")))
    return roots


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


def cpu_numbers(text: str) -> Set[int]:
    """Return the numbers of a list such as `2-5,8`."""
    numbers: Set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def ram_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Return the kernel's boot id; an attempt that began under another one is over, whatever its files say."""
    with open("/proc/sys/kernel/random/boot_id") as source:
        return source.read().strip()
