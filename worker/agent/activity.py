"""The activity of this machine before and during a run, so that everybody can see whether it was idle.

Counters of /proc are read: at a poll while nothing is measured, when an offer has come, and every ten seconds of the run. No process is
looked at. Load during a run is the time that others' processes spent in user mode, in cores: the load average holds fio's own jobs, and
the kernel's time holds what its threads do for fio (RAID, encryption, writing back), but user time is fio's own or somebody else's.
It is a lower bound, and a filesystem that runs in user space counts as somebody else.
"""

import json
import os
import re
import time
from typing import Any, Dict, List, Optional, Set

from .conf import boot_id
from .mount import disks_below

SECTOR = 512  # of /proc/diskstats, whatever the disk has
EVERY_S = 9.9  # the runner wakes every two, but a look takes some milliseconds of a machine whose caches fio has
SHORTEST_S = 1.0  # in less, one line of a log is a high rate
SPAN_S, LONGEST_S = (
    5.0,
    120.0,
)  # what is looked at before a run: at least the last so many seconds, where there are as many, and no more
MINUTE_S = 60.0  # over which the kernel averages the load, and we where we have to do it
SETTLED_S = 420.0  # then what the 256 processes that a run may have left in the load average is below 0.25
# Counted again on the disks below them; nbd and drbd are network. nvme0c1n1 is one path of nvme0n1.
STACKED = re.compile(r"(?:loop|ram|zram|dm-|md|sr|fd|zd|bcache|nbd|drbd|rbd).*|nvme\d+c\d+n\d+")
Sample = Dict[str, Any]
Figures = Dict[str, float]


def sample() -> Sample:
    """Return counters since boot: `disks` and `nics` in bytes by name, `user` in seconds of all cores, `load` averaged over a minute."""
    return {
        "clock": time.monotonic(),
        "load": float((_text("/proc/loadavg") or "nan").split()[0]),
        "user": user_seconds(_text("/proc/stat")),
        "disks": disks(_text("/proc/diskstats"), whole_disks()),
        "nics": nics(_text("/proc/net/dev")),
    }


def _text(path: str) -> str:
    """Return a file's text by plain system calls, ten times faster than Python's files; '' where it does not exist."""
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
    """Return user and nice time in seconds from the line `cpu  17053 352 4987 …`, which counts ticks."""
    words = stat.split(None, 3)
    return (int(words[1]) + int(words[2])) / float(os.sysconf("SC_CLK_TCK")) if len(words) > 3 else 0.0


def whole_disks() -> Set[str]:
    """Return the names of whole disks, as in /proc/diskstats."""
    try:
        return {name.replace("!", "/") for name in os.listdir("/sys/block")}
    except OSError:
        return set()


def disks(diskstats: str, whole: Set[str]) -> Dict[str, int]:
    """Return the bytes read and written by each whole disk."""
    lines = (line.split(None, 10) for line in diskstats.splitlines())
    return {w[2]: (int(w[5]) + int(w[9])) * SECTOR for w in lines if w[2] in whole and not STACKED.fullmatch(w[2])}


def nics(dev: str) -> Dict[str, int]:
    """Return the bytes received and sent by each NIC.

    Loopback, bridges, bonds and VLANs are counted at their devices.
    """
    result = {}
    for line in dev.splitlines()[2:]:
        name, _, words = line.strip().partition(":")
        if os.path.exists(f"/sys/class/net/{name}/device"):
            result[name] = int(words.split()[0]) + int(words.split()[8])
    return result


def moved(before: Dict[str, int], after: Dict[str, int], without: Optional[Set[str]] = None) -> int:
    """Return the bytes between two samples; a device that is new, or whose counters restarted, counts nothing."""
    names = set(before) & set(after) - (without or set())
    return sum(max(0, after[name] - before[name]) for name in names)


class Idle:
    """The agent's looks while nothing is measured: what the next run is told of the time before it."""

    def __init__(self) -> None:
        self.samples: List[Sample] = []

    def look(self) -> None:
        if not self.samples or time.monotonic() - self.samples[-1]["clock"] >= SPAN_S:
            self.samples = self.samples[-1:] + [sample()]

    def figures_for_runner(self, last_run: Optional[float], run_before: Optional[Figures] = None) -> Dict[str, Any]:
        """Return the figures for the runner, once.

        Args:
            last_run: When a run of this agent ended here, in seconds since 1970, or None.
            run_before: What the last run noted at its end (`note_end`), if it is known.
        """
        now = time.monotonic()
        enough = [item for item in self.samples if now - item["clock"] >= SPAN_S][-1:] or self.samples[:1]
        self.samples = []
        return {"sample": enough[0] if enough else None, "last_run": last_run, "run_before": run_before}


def before(idle: Dict[str, Any], now: Sample) -> Figures:
    """Return load_before (average of a minute), disk_before and network_before (bytes/s of all disks and NICs) over the last seconds.

    Soon after another run of ours the kernel's average holds that run's own load. Then load_before is the time that others' processes
    spent in user mode, in cores: since the agent looked last, or where that was less than a second ago, beside that run and since.
    """
    figures: Figures = {}
    earlier = idle["sample"]
    seconds = now["clock"] - earlier["clock"] if earlier else 0.0
    is_long = SHORTEST_S <= seconds <= LONGEST_S
    since_run = SETTLED_S if idle["last_run"] is None else time.time() - idle["last_run"]
    if since_run >= SETTLED_S:
        load = now["load"] if now["load"] >= 0 else None  # type: Optional[float]
    elif earlier and is_long:
        load = max(0.0, now["user"] - earlier["user"]) / seconds
    else:
        load = load_beside_last_run(idle.get("run_before"), now)
    if load is not None:
        figures["load_before"] = load
    if earlier and is_long:
        figures["seconds_before"] = seconds
        for name, kind in (("disk_before", "disks"), ("network_before", "nics")):
            if now[kind]:
                figures[name] = moved(earlier[kind], now[kind]) / seconds
    return figures


def load_beside_last_run(run_before: Optional[Figures], now: Sample) -> Optional[float]:
    """Return the cores that others kept busy in the last minute: beside the run before this one, and since its end.

    None where that run has noted nothing, ended more than a minute ago, or before the host was restarted.
    """
    if not run_before:
        return None
    since = now["clock"] - run_before["clock"]  # type: float
    if not 0 <= since <= MINUTE_S or now["user"] < run_before["user"]:
        return None
    beside = min(run_before["seconds"], MINUTE_S - since)
    busy: float = run_before["load"] * beside + now["user"] - run_before["user"]
    return busy / (beside + since)


LAST = "activity.json"


def note_end(state: str, at_end: Figures) -> None:
    """Store the figures of a run's end in the agent's folder for the run after it; a full disk is no reason to fail."""
    try:
        with open(os.path.join(state, LAST), "w") as target:
            json.dump(dict(at_end, boot_id=boot_id()) if at_end else {}, target)
    except OSError:
        pass


def read_end(state: str) -> Optional[Figures]:
    """Return what the last run has noted at its end, or None where there is nothing of it since the host's start."""
    try:
        with open(os.path.join(state, LAST)) as source:
            noted = dict(json.load(source))
        return noted if noted.pop("boot_id", "") == boot_id() else None
    except (OSError, ValueError, TypeError):
        return None


class ActivityWatch:
    """Beside one run, in its runner."""

    def __init__(self, idle: Dict[str, Any], directory: str, result: str) -> None:
        """Observe a run in `directory`.

        What fio writes to `result` is sent by the agent and is no foreign network activity.
        """
        self.idle, self.directory, self.result = idle, directory, result
        self.first = self.last = sample()
        self.figures: Figures = before(idle, self.first)
        self.total: Figures = {}
        self.most: Figures = {}
        self.own: Optional[Set[str]] = None
        self.at_end: Figures = {}  # for the run after this one
        self.is_local = False
        self.sent = 0

    def begin(self) -> None:
        """Take the first sample when fio starts.

        The one from before will do unless files were filled or the server was slow.
        """
        if time.monotonic() - self.first["clock"] > SHORTEST_S:
            self.first = self.last = sample()

    def look(self) -> None:
        if time.monotonic() - self.last["clock"] >= EVERY_S:
            self._take(sample())

    def end(self, own_user_s: Optional[float]) -> Dict[str, Any]:
        """Return the figures with load_during (cores), and other_disk_during and network_during in bytes/s over seconds_during.

        Each also with `_max`, the greatest over ten seconds.

        Args:
            own_user_s: CPU time of fio with all its processes, None where some were lost.
        """
        result: Dict[str, Any] = dict(self.figures)
        now = sample()
        seconds = now["clock"] - self.first["clock"]
        if seconds >= SHORTEST_S:
            self._take(now)
            result["seconds_during"] = seconds
            result.update((name, amount / seconds) for name, amount in self.total.items())
            result.update((f"{name}_max", amount) for name, amount in self.most.items())
            if own_user_s is not None and now["user"]:
                result["load_during"] = max(0.0, now["user"] - self.first["user"] - own_user_s) / seconds
                self.at_end = {
                    "clock": now["clock"],
                    "user": now["user"],
                    "seconds": seconds,
                    "load": result["load_during"],
                }
        result = {name: round(value, 3) for name, value in result.items()}
        return result if self.own is None else dict(result, own_disks=sorted(self.own))

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
        result = {}
        if self.own is not None and now["disks"]:
            result["other_disk_during"] = moved(self.last["disks"], now["disks"], self.own)
        if self.is_local and now["nics"]:
            try:
                size = os.stat(self.result).st_size
            except OSError:
                size = self.sent
            result["network_during"] = max(0, moved(self.last["nics"], now["nics"]) - (size - self.sent))
            self.sent = size
        return result
