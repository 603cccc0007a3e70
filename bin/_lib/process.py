"""One child process: started in a session of its own, written to its own log, ended with its whole group."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bin._lib.account import Account

LOG_LIMIT = 10 * 2**20  # bytes; of a longer log the end is put aside and the program goes on writing from its beginning
LOGS_LIMIT = 200 * 2**20  # bytes of all logs in a folder; then the oldest of those that were put aside go
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # what ends this program
KILLED = 5.0  # seconds that one may take to be gone after SIGKILL; waiting for a disk it may take longer
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass
class Command:
    """How to start something."""

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str]
    cwd: Path
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    hurry_signal: signal.Signals = signal.SIGKILL  # when it did not end in time
    before: Callable[[], object] = field(default=lambda: None)  # tidies up before each start


class Process:
    """A started command. It gets the stop signal too when this process is killed, so that nothing is left behind."""

    def __init__(self, command: Command) -> None:
        self.command = command
        command.before()
        rotate(command.log)
        self.started = time.monotonic()
        self._group_gone = False
        with command.log.open("ab") as log:
            self._child = subprocess.Popen(
                command.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(command.env),
                cwd=command.cwd,
                start_new_session=True,  # Ctrl-C reaches the supervisor only, which then stops all in order
                preexec_fn=lambda: die_with_parent(command.stop_signal),
                **(command.account.popen() if command.account else {}),
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    def alive(self) -> bool:
        return self._status() is None

    def how_it_ended(self) -> str:
        status = self._status()
        if status is None:
            return "still runs"
        return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"

    def _status(self) -> int | None:
        """Let a signal whose handler raises wait meanwhile.

        Between taking and giving back `Popen`'s lock it would leave the lock taken, and the next to wait for this child
        would do so forever.
        """
        held = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            return self._child.poll()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)

    def signal(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Wait; return True when it has ended."""
        try:
            self._child.wait(timeout=max(seconds, 0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill_group(self) -> None:
        """End what is left of it: the pool of a worker outlives its parent. A group that is gone is fine."""
        if self._group_gone:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        if self.wait(KILLED):
            self._group_gone = True

    def ask_to_stop(self) -> None:
        if self.alive():
            self.signal(self.command.stop_signal)

    def end(self, seconds: float) -> bool:
        """Wait for it, then end it by force; True when it ended by itself."""
        in_time = self.wait(seconds)
        if not in_time:
            self.signal(self.command.hurry_signal)
            self.wait(1)
        self.kill_group()
        return in_time


def die_with_parent(number: signal.Signals) -> None:
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, int(number))


def rotate(log: Path) -> None:
    """Put the end of a long log aside as `.log.1`. Its writer goes on: it was opened for appending, which is at the new end then."""
    with contextlib.suppress(OSError):
        if log.stat().st_size <= LOG_LIMIT:
            return
        with log.open("r+b") as file:
            with contextlib.suppress(
                OSError
            ):  # where the disk is full, what is there is lost and the writer has room again
                file.seek(-LOG_LIMIT, os.SEEK_END)
                aside = log.with_suffix(".log.1")
                aside.unlink(missing_ok=True)
                with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
                    shutil.copyfileobj(file, copy, 2**20)
            file.truncate(0)


def keep_small(folder: Path) -> None:
    """Shorten every log of the folder, whoever writes it, and all of them together."""
    for log in folder.glob("*.log"):
        rotate(log)
    aside = sorted(folder.glob("*.log.*"), key=modified)
    total = sum(size(log) for log in folder.iterdir())
    while aside and total > LOGS_LIMIT:
        total -= size(aside[0])
        aside.pop(0).unlink(missing_ok=True)


def modified(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size if path.is_file() else 0
    return 0
