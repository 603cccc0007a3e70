"""The small process that outlives the agent: it holds the attempt's lock, starts fio, watches it, and writes exit.json last."""

import fcntl
import json
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
from typing import Any, Dict, List, Optional, Tuple

from . import directory
from .activity import ActivityWatch, note_end
from .cleanup import kill_all
from .conf import MIB
from .disk import conclude, is_low, journal, release, write_whole
from .mount import note


class SpoolLock:
    def __init__(self) -> None:
        self.alive = self.control = -1

    def take(self, folder: str) -> bool:
        """Return False if another process has it. Raise OSError where there is no such folder."""
        lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)  # open until this process ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self.alive, self.control = (
            os.open(os.path.join(folder, name), os.O_RDWR | os.O_NONBLOCK) for name in ("alive", "control")
        )
        return True


# fio's whole environment: nothing to expand in a value, nothing to find by PATH, no library to preload.
ENVIRONMENT = {"LC_ALL": "C", "PATH": "/nonexistent"}


def spawn(argv: List[str]) -> int:
    """Return fio's process id.

    What is not standard input or output is closed to it by Python's rule; the signals that Python ignores are as they should be.
    Where Python can spawn (3.8), nothing of this process is copied first, which takes as long as fio's own start.
    """
    posix_spawn: Any = getattr(os, "posix_spawn", None)
    if posix_spawn is None:
        import subprocess  # here, because a runner that can spawn starts sooner without it

        return subprocess.Popen(argv, env=ENVIRONMENT, close_fds=False).pid
    pid: int = posix_spawn(argv[0], argv, ENVIRONMENT, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    return pid


GRACE_S = 2.0  # from the polite SIGINT, which makes fio write its totals, to SIGKILL
LOOK_EVERY_S = 2.0  # at free space and the time limit; all else wakes the runner by itself
QUIET_S = 0.002  # fio's first instructions may be on this processor
CHILD_KILLED = re.compile(rb"got signal=(\d+)")


class Stop(Exception):
    """Before fio was started: outcome and reason."""


class Runner:
    """The work of one attempt, in a process of its own (`runner_process`)."""

    def __init__(self) -> None:
        self._redirect()
        self.ended, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.ended, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # fio's too
        self.lock = SpoolLock()

    def _redirect(self) -> None:
        """Give fio no input, and a pipe for its messages."""
        self.orders = os.dup(0)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        self.errors, says = os.pipe()
        for fd in (1, 2):
            os.dup2(says, fd)
        os.close(says)

    def run(self, plan: Dict[str, Any], go: bool) -> None:
        self.has_go = go
        self.spool: str = plan["spool"]
        self.run_dir: str = plan["run_dir"]
        self.argv: List[str] = plan["argv"]
        self.files: List[Tuple[str, int]] = plan["files"]
        self.limit_s: int = plan["limit_s"]
        self.fill_limit_s: int = plan.get("fill_limit_s", self.limit_s)
        self.shared: bool = plan.get("shared", False)
        self.above = self.folder = -1  # handles on the directory, and on this run's folder in it
        self.limit_words = f"{plan.get('limit_of') or 'this host allows'}, {self.limit_s} s"
        self.target: Dict[str, Any] = plan.get("target") or {}
        self.idle: Dict[str, Any] = plan["idle"]
        self.guards: List[Dict[str, Any]] = plan.get("guards") or []
        self.file_bytes: int = plan.get("file_bytes", 0)
        self.probe_folder: str = plan.get("probe_folder", "")
        self.verdict: Optional[Tuple[str, str]] = None  # why fio is being stopped: outcome, reason
        self.child_signal: Optional[int] = None
        self.kill_at: Optional[float] = None
        self._run()

    def _run(self) -> None:
        if not self.lock.take(self.spool):
            return  # this runner is one too many, and may not even write to the journal
        if any(os.path.exists(self._file(name)) for name in ("started", "exit.json")):
            return  # it comes too late: another has been here, or the agent has ended the attempt
        try:
            self._make_run_dir()
            early = self._look_around() if self.files else None  # filling them is nobody else's activity
            if not self.has_go and not self._hears_go():
                self._remove_run_dir()
                return
            self._fill_files()
            early = self._hold_guards() or early
            self._start_fio()
            self.watch = early or self._look_around()  # counters show nothing of fio yet, which need not wait for this
            self.watch.begin()
            ending = self._judge(self._watch())
        except (Stop, OSError) as stop:
            outcome, reason = stop.args if isinstance(stop, Stop) else ("failed", f"the runner could not go on: {stop}")
            ending = (outcome, reason, None, None)
        self._finish(*ending)

    def _make_run_dir(self) -> None:
        above, name = os.path.split(self.run_dir)
        self.above = directory.open_directory(above, self.shared, self._state())
        self.folder = directory.make_run_dir(self.above, name)
        elsewhere = note(self.folder, above, self.target, self._file("place.json"))
        if elsewhere:
            raise Stop("failed", elsewhere)

    def _remove_run_dir(self) -> List[str]:
        name = os.path.basename(self.run_dir)
        return [] if self.folder < 0 else directory.remove_run_dir(self.above, name, self.folder)

    def _kill_all(self) -> None:
        if self.folder >= 0:
            kill_all(self.run_dir, directory.place_of(self.folder))

    def _look_around(self) -> ActivityWatch:
        return ActivityWatch(self.idle, self.run_dir, self._file("result.json"))

    def _hears_go(self) -> bool:
        """Sleep until the agent says something. False: it died before "go". A cancel may come first."""
        poller = select.poll()
        for fd in (self.orders, self.lock.control):
            poller.register(fd, select.POLLIN)
        if self.lock.control in [fd for fd, _ in poller.poll()]:
            raise Stop("cancelled", "cancelled before fio was started")
        return os.read(self.orders, 1) == b"g"

    def _start_fio(self) -> None:
        """Start fio; the file `started` is created with O_EXCL, so that no attempt starts twice.

        If this process is killed, fio is found by its working directory.
        """
        self.stderr = os.open(
            self._file("stderr"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
        )  # while nothing is lost
        os.chdir(self.folder)
        started = os.open(self._file("started"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(started, b"%d %d\n" % directory.place_of(self.folder))
        os.close(started)
        try:
            self.fio = spawn(self.argv)
        except OSError as error:
            raise Stop("failed", f"fio could not be started: {error}") from error
        os.chdir("/")
        time.sleep(QUIET_S)
        for fd in (1, 2):
            os.dup2(0, fd)  # the pipe ends with fio
        self.deadline = time.monotonic() + self.limit_s
        os.write(self.lock.alive, b"s")  # wakes the agent
        self._journal("fio started", pid=self.fio, argv=self.argv)

    def _fill_files(self) -> None:
        """Fill files with bytes that no layer can compress or deduplicate, on disk and out of the cache before fio reads them."""
        begun = time.monotonic()
        for name, size in self.files:
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=self.folder)
            for offset in range(0, size, MIB):
                self._stop_before_start(begun)
                write_whole(handle, os.urandom(min(MIB, size - offset)))
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)
        if self.files:
            self._journal(
                "files filled",
                count=len(self.files),
                bytes=sum(size for _, size in self.files),
                seconds=round(time.monotonic() - begun, 3),
            )

    def _hold_guards(self) -> Optional[ActivityWatch]:
        """Wait until the guards of the offer hold, or stop with what they found. A fresh look around where one looked for idleness."""
        if not self.guards:
            return None
        from . import guards  # here, because a runner without them starts sooner
        from .guards.evidence import RunSite

        with open(self._file("place.json")) as source:
            place = json.load(source)
        more = max(0, self.file_bytes - sum(size for _, size in self.files))
        site = RunSite(self.folder, self.files, more, place, self._sleep, self._state(), self.probe_folder, self.shared)
        held = guards.GuardRound(self.guards, site, self._tell_guards)
        try:
            held.hold()
        except guards.GuardRefusal as refusal:
            raise Stop("failed", str(refusal)) from refusal
        finally:
            for entry in held.evidence:
                self._journal("guard", **entry)
        if not guards.idle.SAMPLES:
            return None
        last_run = time.time() if self.files else self.idle["last_run"]  # the load average holds the filling
        self.idle = {"sample": guards.idle.SAMPLES[0], "last_run": last_run, "run_before": None}
        return self._look_around()

    def _sleep(self, seconds: float) -> None:
        if select.select([self.lock.control], [], [], seconds)[0]:
            raise Stop("cancelled", "cancelled before fio was started, while its guards were checked")

    def _tell_guards(self, evidence: List[Dict[str, Any]]) -> None:
        """Store what the guards found for the agent, which sends it on, and wake it."""
        with open(self._file("guards.new"), "w") as target:
            json.dump(evidence, target)
        os.rename(self._file("guards.new"), self._file("guards.json"))
        try:
            os.write(self.lock.alive, b"g")
        except BlockingIOError:
            pass  # nobody has read for days

    def _stop_before_start(self, begun: float) -> None:
        if select.select([self.lock.control], [], [], 0)[0]:
            raise Stop("cancelled", "cancelled while test files were being filled")
        if time.monotonic() - begun > self.fill_limit_s:
            words = (
                self.limit_words if self.fill_limit_s == self.limit_s else f"this host allows, {self.fill_limit_s} s"
            )
            raise Stop("failed", f"test files were not filled within {words}")

    def _watch(self) -> int:
        """Sleep until fio ends, writes to stderr or is to be cancelled. fio's wait status."""
        poller = select.poll()
        for fd in (self.lock.control, self.errors, self.ended):
            poller.register(fd, select.POLLIN)
        while True:
            for fd, _ in poller.poll(50 if self.kill_at else LOOK_EVERY_S * 1000):
                data = os.read(fd, 65536)
                if fd == self.lock.control:
                    self._stop("cancelled", "cancelled")
                elif fd == self.errors and data:
                    self._keep(data)
                elif fd == self.errors:
                    poller.unregister(fd)
            pid, status, used = os.wait4(self.fio, os.WNOHANG)
            if pid:
                whole = os.WIFEXITED(status)  # else it did not wait for its processes, and their time is not in `used`
                self._journal("activity", **self.watch.end(used.ru_utime if whole else None))
                note_end(self._state(), self.watch.at_end)
                self._empty_stderr()
                return status
            self._check_limits()
            self.watch.look()

    def _keep(self, data: bytes) -> None:
        """Store fio's messages and look for a killed process, which fio's exit status 0 hides."""
        try:
            os.write(self.stderr, data)
        except OSError:
            pass  # a full disk is `_check_limits`' matter
        match = CHILD_KILLED.search(data)
        if match and self.verdict is None:
            self.child_signal = int(match.group(1))
            self._stop("failed", f"one of fio's processes was killed by signal {self.child_signal}")

    def _check_limits(self) -> None:
        now = time.monotonic()
        if self.kill_at and now > self.kill_at:
            self._kill_all()
        elif now > self.deadline:
            self._stop("failed", f"fio was stopped: it ran longer than {self.limit_words}")
        elif is_low(self.spool):
            release(self._state())  # room for what fio writes when it is stopped
            self._stop("failed", "fio was stopped: the disk of the agent's spool is full")

    def _stop(self, outcome: str, reason: str) -> None:
        if self.verdict is None:
            self.verdict = (outcome, reason)
            self.kill_at = time.monotonic() + GRACE_S
            self._journal("stopping fio", reason=reason)
            os.kill(self.fio, signal.SIGINT)

    def _empty_stderr(self) -> None:
        """End fio's remaining processes, which closes the pipe, and store the last messages."""
        self._kill_all()
        os.set_blocking(self.errors, False)
        try:
            for data in iter(lambda: os.read(self.errors, 65536), b""):
                self._keep(data)
        except BlockingIOError:
            pass

    def _judge(self, status: int) -> Tuple[str, str, Optional[int], Optional[int]]:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        code = os.WEXITSTATUS(status) if number is None else None
        if self.verdict:
            return self.verdict + (code, self.child_signal or number)
        if number:
            return "failed", f"fio was killed by signal {number}", None, number
        return ("finished", "", 0, None) if code == 0 else ("failed", f"fio ended with status {code}", code, None)

    def _finish(self, outcome: str, reason: str, status: Optional[int], number: Optional[int]) -> None:
        self._kill_all()
        self._journal("files removed", left=self._remove_run_dir())
        conclude(self.spool, outcome, reason, status, number)
        os.write(self.lock.alive, b"e")

    def _journal(self, event: str, **facts: Any) -> None:
        journal(self.spool, event, **facts)

    def _file(self, name: str) -> str:
        return os.path.join(self.spool, name)

    def _state(self) -> str:
        return os.path.dirname(os.path.dirname(self.spool))


def main() -> int:
    """Run `agent.pyz runner FOLDER` with the attempt's folder; the plan comes on the standard input."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)  # an agent in the background of a shell has them ignored
    signal.signal(signal.SIGHUP, _pass_over)
    os.umask(0o077)
    runner, text = Runner(), b""
    while b"\n" not in text:
        part = os.read(runner.orders, 65536)
        if not part:
            return 1  # the agent is dead, or the offer came to nothing
        text += part
    line, _, more = text.partition(b"\n")  # "go" may have come with it
    spool = sys.argv[2]
    try:
        runner.run(dict(json.loads(line.decode()), spool=spool), bool(more))
    except Exception:
        if not os.path.exists(os.path.join(spool, "exit.json")):
            journal(spool, "runner broke", traceback=traceback.format_exc())
        return 1
    return 0


def _pass_over(*_: Any) -> None:
    """Ignore a signal without SIG_IGN, which fio would inherit."""
