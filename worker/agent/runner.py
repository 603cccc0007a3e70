"""The small process that outlives the agent: it holds the attempt's lock, starts fio, watches it, and writes exit.json last.

The process that becomes fio has been forked before (`child`); until "go" it is only a Python that waits.
"""

import fcntl
import os
import re
import select
import signal
import time
from typing import Any, Dict, List, Optional, Tuple

from .child import Child
from .conf import MIB
from .disk import conclude, is_low, journal, release
from .leftovers import kill_all, remove_run_dir

GRACE_S = 2.0  # from the polite SIGINT, which makes fio write its totals, to SIGKILL
LOOK_EVERY_S = 2.0  # at free space and the time limit; all else wakes the runner by itself
CHILD_KILLED = re.compile(rb"got signal=(\d+)")


class Stop(Exception):
    """Before fio was started: outcome and reason."""


class Runner:
    def __init__(self, plan: Dict[str, Any], go: bool, child: Child) -> None:
        self.told = go
        self.child = child
        self.spool: str = plan["spool"]
        self.run_dir: str = plan["run_dir"]
        self.argv: List[str] = plan["argv"]
        self.files: List[Tuple[str, int]] = plan["files"]
        self.limit_s: int = plan["limit_s"]
        self.verdict: Optional[Tuple[str, str]] = None  # why fio is being stopped: outcome, reason
        self.child_signal: Optional[int] = None
        self.kill_at: Optional[float] = None

    def run(self) -> None:
        lock = os.open(self._file("lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return  # somebody has it: this runner is one too many, and may not even write to the journal
        if any(os.path.exists(self._file(name)) for name in ("started", "exit.json")):
            return  # it comes too late: another has been here, or the agent has ended the attempt
        self.alive = os.open(self._file("alive"), os.O_RDWR | os.O_NONBLOCK)
        self.control = os.open(self._file("control"), os.O_RDWR | os.O_NONBLOCK)
        try:
            self._prepare()
            if not self._fio_started():
                self.child.kill()  # not fio yet: it waits for its byte
                remove_run_dir(self.run_dir)
                return
            ending = self._judge(self._watch())
        except (Stop, OSError) as stop:
            self.child.kill()
            outcome, reason = stop.args if isinstance(stop, Stop) else ("failed", f"the runner could not go on: {stop}")
            ending = (outcome, reason, None, None)
        self._finish(*ending)

    def _prepare(self) -> None:
        remove_run_dir(self.run_dir)  # of an earlier try that never started
        os.mkdir(self.run_dir, 0o700)
        self.ended, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.ended, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        plan: Dict[str, Any] = {"run_dir": self.run_dir, "argv": self.argv, "started": self._file("started")}
        plan["hears_the_agent"] = not self._fio_waits_for_us()
        try:
            self.child.plan(plan)
        except BrokenPipeError:  # somebody killed the waiting one
            self.child = Child()
            self.child.plan(plan)
        self.fio, self.errors = self.child.pid, self.child.errors

    def _fio_started(self) -> bool:
        """False: the agent died before "go". With no files to fill, the process that becomes fio hears "go" itself."""
        if self._fio_waits_for_us():
            if not self.told and not self._word_on(0):
                return False
            self._fill_files()
            self.child.go()
        self._word_on(self.child.failure)
        problem = os.read(self.child.failure, 4096)  # ends empty when exec has succeeded, or "go" never came
        if problem:
            raise Stop("failed", f"fio could not be started: {problem.decode()}")
        if not os.path.exists(self._file("started")):
            return False
        self.deadline = time.monotonic() + self.limit_s
        os.write(self.alive, b"s")  # wakes the agent
        self._journal("fio started", pid=self.fio, argv=self.argv)
        return True

    def _fio_waits_for_us(self) -> bool:
        return bool(self.files) or self.told

    def _word_on(self, pipe: int) -> bool:
        """Sleep until the pipe says something or ends; a cancel may come first."""
        poller = select.poll()
        poller.register(pipe, select.POLLIN)
        poller.register(self.control, select.POLLIN)
        for fd, _ in poller.poll():
            if fd == self.control:
                raise Stop("cancelled", "cancelled before fio was started")
        return pipe != 0 or os.read(0, 1) == b"g"

    def _fill_files(self) -> None:
        """Real bytes that no layer can compress or deduplicate, on the disk and out of the cache before fio reads them."""
        begun = time.monotonic()
        for name, size in self.files:
            handle = os.open(os.path.join(self.run_dir, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            for offset in range(0, size, MIB):
                self._stop_before_start(begun)
                data = os.urandom(min(MIB, size - offset))
                while data:
                    data = data[os.write(handle, data) :]
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
        if select.select([self.control], [], [], 0)[0]:
            raise Stop("cancelled", "cancelled while test files were being filled")
        if time.monotonic() - begun > self.limit_s:
            raise Stop("failed", f"test files were not filled within the limit of {self.limit_s} s")

    def _watch(self) -> int:
        """Sleep until fio ends, writes to stderr or is to be cancelled. fio's wait status."""
        poller = select.poll()
        for fd in (self.control, self.errors, self.ended):
            poller.register(fd, select.POLLIN)
        stderr = os.open(self._file("stderr"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        while True:
            for fd, _ in poller.poll(50 if self.kill_at else LOOK_EVERY_S * 1000):
                data = os.read(fd, 65536)
                if fd == self.control:
                    self._stop("cancelled", "cancelled")
                elif fd == self.errors and data:
                    self._keep(stderr, data)
                elif fd == self.errors:
                    poller.unregister(fd)
            pid, status = os.waitpid(self.fio, os.WNOHANG)
            if pid:
                self._empty_stderr(stderr)
                return status
            self._check_limits()

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
        os.write(self.alive, b"e")

    def _journal(self, event: str, **facts: Any) -> None:
        journal(self.spool, event, **facts)

    def _file(self, name: str) -> str:
        return os.path.join(self.spool, name)

    def _state(self) -> str:
        return os.path.dirname(os.path.dirname(self.spool))
