"""What else this machine does before a run and during it, so that everybody can see whether it was idle.

Counters of /proc are read: at a poll while nothing is measured, when an offer has come, and every ten seconds of the run. No process is
looked at. Load during a run is the time that others' processes spent in user mode, in cores: the load average holds fio's own jobs, and
the kernel's time holds what its threads do for fio (RAID, encryption, writing back), but user time is fio's own or somebody else's.
It is a lower bound, and a filesystem that runs in user space counts as somebody else.
"""

import os
import re
import time
from typing import Any, Dict, List, Optional, Set

from .place import disks_below

SECTOR = 512  # of /proc/diskstats, whatever the disk has
EVERY_S = 9.9  # the runner wakes every two, but a look takes some milliseconds of a machine whose caches fio has
SHORTEST_S = 1.0  # in less, one line of a log is a high rate
SPAN_S, LONGEST_S = (
    5.0,
    120.0,
)  # what is looked at before a run: at least the last so many seconds, where there are as many, and no more
SETTLED_S = 420.0  # then what the 256 processes that a run may have left in the load average is below 0.25
# Counted again on the disks below them; nbd and drbd are network. nvme0c1n1 is one path of nvme0n1.
STACKED = re.compile(r"(?:loop|ram|zram|dm-|md|sr|fd|zd|bcache|nbd|drbd|rbd).*|nvme\d+c\d+n\d+")
Sample = Dict[str, Any]
Figures = Dict[str, float]


def sample() -> Sample:
    """Counters since boot: `disks` and `nics` in bytes both ways, by name; `user` in seconds of all cores. `load` is the average of a minute."""
    return {
        "clock": time.monotonic(),
        "load": float((_text("/proc/loadavg") or "nan").split()[0]),
        "user": user_seconds(_text("/proc/stat")),
        "disks": disks(_text("/proc/diskstats"), whole_disks()),
        "nics": nics(_text("/proc/net/dev")),
    }


def _text(path: str) -> str:
    """Without Python's layers of files, which take ten times as long as the kernel does; '' where it is not there."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return b"".join(iter(lambda: os.read(handle, 65536), b"")).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


def user_seconds(stat: str) -> float:
    """User and nice: `cpu  17053 352 4987 …`, in ticks."""
    words = stat.split(None, 3)
    return (int(words[1]) + int(words[2])) / float(os.sysconf("SC_CLK_TCK")) if len(words) > 3 else 0.0


def whole_disks() -> Set[str]:
    """As /proc/diskstats spells them."""
    try:
        return {name.replace("!", "/") for name in os.listdir("/sys/block")}
    except OSError:
        return set()


def disks(diskstats: str, whole: Set[str]) -> Dict[str, int]:
    """Bytes read and written by each whole disk."""
    lines = (line.split(None, 10) for line in diskstats.splitlines())
    return {w[2]: (int(w[5]) + int(w[9])) * SECTOR for w in lines if w[2] in whole and not STACKED.fullmatch(w[2])}


def nics(dev: str) -> Dict[str, int]:
    """Bytes received and sent by each NIC. Loopback, bridges, bonds and VLANs have no device of their own: theirs are counted below."""
    found = {}
    for line in dev.splitlines()[2:]:
        name, _, words = line.strip().partition(":")
        if os.path.exists(f"/sys/class/net/{name}/device"):
            found[name] = int(words.split()[0]) + int(words.split()[8])
    return found


def moved(before: Dict[str, int], after: Dict[str, int], without: Optional[Set[str]] = None) -> int:
    """Bytes between two looks. A device that came between them, or whose counters began anew, counts nothing."""
    names = set(before) & set(after) - (without or set())
    return sum(max(0, after[name] - before[name]) for name in names)


class Idle:
    """The agent's looks while nothing is measured: what the next run is told of the time before it."""

    def __init__(self) -> None:
        self.samples: List[Sample] = []

    def look(self) -> None:
        if not self.samples or time.monotonic() - self.samples[-1]["clock"] >= SPAN_S:
            self.samples = self.samples[-1:] + [sample()]

    def told(self, last_run: Optional[float]) -> Dict[str, Any]:
        """For the runner, once. `last_run`: when a run of ours ended here, by the clock; None before the first."""
        now = time.monotonic()
        enough = [one for one in self.samples if now - one["clock"] >= SPAN_S][-1:] or self.samples[:1]
        self.samples = []
        return {"sample": enough[0] if enough else None, "last_run": last_run}


def before(idle: Dict[str, Any], now: Sample) -> Figures:
    """load_before (average of the last minute), disk_before and network_before (bytes/s; every disk, for nothing of ours runs yet) over
    seconds_before. What is not known is left out: a run that follows another has no time before it, and its load average is the other's."""
    found: Figures = {}
    since_run = SETTLED_S if idle["last_run"] is None else time.time() - idle["last_run"]
    if since_run >= SETTLED_S and now["load"] >= 0:
        found["load_before"] = now["load"]
    earlier = idle["sample"]
    seconds = now["clock"] - earlier["clock"] if earlier else 0.0
    if earlier and SHORTEST_S <= seconds <= LONGEST_S:
        found["seconds_before"] = seconds
        for name, kind in (("disk_before", "disks"), ("network_before", "nics")):
            if now[kind]:
                found[name] = moved(earlier[kind], now[kind]) / seconds
    return found


class Watch:
    """Beside one run, in its runner."""

    def __init__(self, idle: Dict[str, Any], directory: str, result: str) -> None:
        """`directory` is under test. What fio writes to `result` is what the agent sends, and no one else's network activity."""
        self.idle, self.directory, self.result = idle, directory, result
        self.first = self.last = sample()
        self.figures: Figures = before(idle, self.first)
        self.total: Figures = {}
        self.most: Figures = {}
        self.own: Optional[Set[str]] = None
        self.is_local = False
        self.sent = 0

    def begin(self) -> None:
        """fio has just been started. The look from before it will do, unless files were filled meanwhile or the server took its time."""
        if time.monotonic() - self.first["clock"] > SHORTEST_S:
            self.first = self.last = sample()

    def look(self) -> None:
        if time.monotonic() - self.last["clock"] >= EVERY_S:
            self._take(sample())

    def end(self, own_user_s: Optional[float]) -> Dict[str, Any]:
        """Adds load_during (cores), and other_disk_during, network_during with their greatest over ten seconds, …_max (bytes/s), over
        seconds_during. `own_user_s`: of fio with all its processes, None where some were lost."""
        found: Dict[str, Any] = dict(self.figures)
        now = sample()
        seconds = now["clock"] - self.first["clock"]
        if seconds >= SHORTEST_S:
            self._take(now)
            found["seconds_during"] = seconds
            found.update((name, amount / seconds) for name, amount in self.total.items())
            found.update((f"{name}_max", amount) for name, amount in self.most.items())
            if own_user_s is not None and now["user"]:
                found["load_during"] = max(0.0, now["user"] - self.first["user"] - own_user_s) / seconds
        found = {name: round(value, 3) for name, value in found.items()}
        return found if self.own is None else dict(found, own_disks=sorted(self.own))

    def _take(self, now: Sample) -> None:
        if self.last is self.first:  # not before: fio's start does not wait for it
            self.own, self.is_local = disks_below(self.directory)
        seconds = now["clock"] - self.last["clock"]
        for name, amount in self._since(now).items():
            self.total[name] = self.total.get(name, 0) + amount
            if seconds >= SHORTEST_S:
                self.most[name] = max(self.most.get(name, 0.0), amount / seconds)
        self.last = now

    def _since(self, now: Sample) -> Dict[str, int]:
        found = {}
        if self.own is not None and now["disks"]:
            found["other_disk_during"] = moved(self.last["disks"], now["disks"], self.own)
        if self.is_local and now["nics"]:
            try:
                size = os.stat(self.result).st_size
            except OSError:
                size = self.sent
            found["network_during"] = max(0, moved(self.last["nics"], now["nics"]) - (size - self.sent))
            self.sent = size
        return found
