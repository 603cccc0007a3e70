"""The small process that outlives the agent: it holds the attempt's lock, starts fio, watches it, and writes exit.json last."""

import os
import re
import resource
import select
import signal
import subprocess
import time
from typing import Any, Dict, List, Optional, Tuple

from .activity import Watch
from .conf import MIB
from .disk import conclude, is_low, journal, release, write_whole
from .hold import Hold
from .leftovers import kill_all, remove_run_dir
from .render import ENVIRONMENT

GRACE_S = 2.0  # from the polite SIGINT, which makes fio write its totals, to SIGKILL
LOOK_EVERY_S = 2.0  # at free space and the time limit; all else wakes the runner by itself
QUIET_S = 0.002  # fio's first instructions may be on this processor
CHILD_KILLED = re.compile(rb"got signal=(\d+)")


class Stop(Exception):
    """Before fio was started: outcome and reason."""


class Runner:
    """Made before there is anything to run; what can be made ready then need not be afterwards."""

    def __init__(self) -> None:
        self._redirect()
        self.ended, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.ended, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # fio's too
        self.hold = Hold()

    def _redirect(self) -> None:
        """What fio will have: nothing to read, and a pipe for what it says."""
        self.orders = os.dup(0)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        self.errors, says = os.pipe()
        for fd in (1, 2):
            os.dup2(says, fd)
        os.close(says)

    def run(self, plan: Dict[str, Any], go: bool) -> None:
        self.told = go
        self.spool: str = plan["spool"]
        self.run_dir: str = plan["run_dir"]
        self.argv: List[str] = plan["argv"]
        self.files: List[Tuple[str, int]] = plan["files"]
        self.limit_s: int = plan["limit_s"]
        self.idle: Dict[str, Any] = plan["idle"]
        self.verdict: Optional[Tuple[str, str]] = None  # why fio is being stopped: outcome, reason
        self.child_signal: Optional[int] = None
        self.kill_at: Optional[float] = None
        self._run()

    def _run(self) -> None:
        if not self.hold.is_of(self.spool) and not self.hold.take(self.spool):
            return  # this runner is one too many, and may not even write to the journal
        if any(os.path.exists(self._file(name)) for name in ("started", "exit.json")):
            return  # it comes too late: another has been here, or the agent has ended the attempt
        try:
            self._make_run_dir()
            early = self._look_around() if self.files else None  # filling them is nobody else's activity
            if not self.told and not self._hears_go():
                remove_run_dir(self.run_dir)
                return
            self._fill_files()
            self._start_fio()
            self.watch = early or self._look_around()  # counters show nothing of fio yet, which need not wait for this
            self.watch.begin()
            ending = self._judge(self._watch())
        except (Stop, OSError) as stop:
            outcome, reason = stop.args if isinstance(stop, Stop) else ("failed", f"the runner could not go on: {stop}")
            ending = (outcome, reason, None, None)
        self._finish(*ending)

    def _make_run_dir(self) -> None:
        try:
            os.mkdir(self.run_dir, 0o700)
        except FileExistsError:  # of an earlier try that never started
            remove_run_dir(self.run_dir)
            os.mkdir(self.run_dir, 0o700)

    def _look_around(self) -> Watch:
        return Watch(self.idle, self.run_dir, self._file("result.json"))

    def _hears_go(self) -> bool:
        """Sleep until the agent says something. False: it died before "go". A cancel may come first."""
        poller = select.poll()
        for fd in (self.orders, self.hold.control):
            poller.register(fd, select.POLLIN)
        if self.hold.control in [fd for fd, _ in poller.poll()]:
            raise Stop("cancelled", "cancelled before fio was started")
        return os.read(self.orders, 1) == b"g"

    def _start_fio(self) -> None:
        """`started` is made by O_EXCL, so no attempt can get past here twice. Should this process be killed now, the new one holds the
        lock until it is fio, and can then be found by its folder."""
        os.chdir(self.run_dir)
        os.close(os.open(self._file("started"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            self.fio = spawn(self.argv)
        except OSError as error:
            raise Stop("failed", f"fio could not be started: {error}") from error
        os.chdir("/")
        time.sleep(QUIET_S)
        for fd in (1, 2):
            os.dup2(0, fd)  # the pipe ends with fio
        self.deadline = time.monotonic() + self.limit_s
        os.write(self.hold.alive, b"s")  # wakes the agent
        self._journal("fio started", pid=self.fio, argv=self.argv)

    def _fill_files(self) -> None:
        """Real bytes that no layer can compress or deduplicate, on the disk and out of the cache before fio reads them."""
        begun = time.monotonic()
        for name, size in self.files:
            handle = os.open(os.path.join(self.run_dir, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
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

    def _stop_before_start(self, begun: float) -> None:
        if select.select([self.hold.control], [], [], 0)[0]:
            raise Stop("cancelled", "cancelled while test files were being filled")
        if time.monotonic() - begun > self.limit_s:
            raise Stop("failed", f"test files were not filled within the limit of {self.limit_s} s")

    def _watch(self) -> int:
        """Sleep until fio ends, writes to stderr or is to be cancelled. fio's wait status."""
        poller = select.poll()
        for fd in (self.hold.control, self.errors, self.ended):
            poller.register(fd, select.POLLIN)
        stderr = os.open(self._file("stderr"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        while True:
            for fd, _ in poller.poll(50 if self.kill_at else LOOK_EVERY_S * 1000):
                data = os.read(fd, 65536)
                if fd == self.hold.control:
                    self._stop("cancelled", "cancelled")
                elif fd == self.errors and data:
                    self._keep(stderr, data)
                elif fd == self.errors:
                    poller.unregister(fd)
            pid, status, used = os.wait4(self.fio, os.WNOHANG)
            if pid:
                whole = os.WIFEXITED(status)  # else it did not wait for its processes, and their time is not in `used`
                self._journal("activity", **self.watch.end(used.ru_utime if whole else None))
                self._empty_stderr(stderr)
                return status
            self._check_limits()
            self.watch.look()

    def _keep(self, stderr: int, data: bytes) -> None:
        """fio ends with status 0 although one of its processes was killed; only a line of stderr tells."""
        try:
            os.write(stderr, data)
        except OSError:
            pass  # a full disk is `_check_limits`' matter
        found = CHILD_KILLED.search(data)
        if found and self.verdict is None:
            self.child_signal = int(found.group(1))
            self._stop("failed", f"one of fio's processes was killed by signal {self.child_signal}")

    def _check_limits(self) -> None:
        now = time.monotonic()
        if self.kill_at and now > self.kill_at:
            kill_all(self.run_dir)
        elif now > self.deadline:
            self._stop("failed", f"fio was stopped: it ran longer than this host allows, {self.limit_s} s")
        elif is_low(self.spool):
            release(self._state())  # room for what fio writes when it is stopped
            self._stop("failed", "fio was stopped: the disk of the agent's spool is full")

    def _stop(self, outcome: str, reason: str) -> None:
        if self.verdict is None:
            self.verdict = (outcome, reason)
            self.kill_at = time.monotonic() + GRACE_S
            self._journal("stopping fio", reason=reason)
            os.kill(self.fio, signal.SIGINT)

    def _empty_stderr(self, stderr: int) -> None:
        """fio's parent is gone; end the rest, which also closes the pipe, and keep the last words."""
        kill_all(self.run_dir)
        os.set_blocking(self.errors, False)
        try:
            for data in iter(lambda: os.read(self.errors, 65536), b""):
                self._keep(stderr, data)
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
        kill_all(self.run_dir)
        self._journal("files removed", left=remove_run_dir(self.run_dir))
        conclude(self.spool, outcome, reason, status, number)
        os.write(self.hold.alive, b"e")

    def _journal(self, event: str, **facts: Any) -> None:
        journal(self.spool, event, **facts)

    def _file(self, name: str) -> str:
        return os.path.join(self.spool, name)

    def _state(self) -> str:
        return os.path.dirname(os.path.dirname(self.spool))


def spawn(argv: List[str]) -> int:
    """fio's process id. What is not standard input or output is closed to it by Python's rule; the signals that Python ignores are as
    they should be. Where Python can spawn (3.8), nothing of this process is copied first, which takes as long as fio's own start."""
    posix_spawn: Any = getattr(os, "posix_spawn", None)
    if posix_spawn is None:
        return subprocess.Popen(argv, env=ENVIRONMENT, close_fds=False).pid
    pid: int = posix_spawn(argv[0], argv, ENVIRONMENT, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    return pid
