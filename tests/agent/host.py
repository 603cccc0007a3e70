"""A real agent process with real folders, started, killed and looked at from outside."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agent.fake_server import Attempt, FakeServer
from worker.agent.main import main

PATIENCE = float(os.environ.get("SPINDLE_PATIENCE", "20"))


def until(truth: Callable[[], Any], what: str = "what was expected", patience: float = PATIENCE) -> Any:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = truth()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not happen within {patience} s")


def job(**changes: Any) -> dict[str, Any]:
    """A short job of the null engine, changed as said."""
    plain = {
        "rw": "write",
        "block_size": 4096,
        "file_size": 1 << 20,
        "iodepth": 1,
        "numjobs": 1,
        "ioengine": "null",
        "direct": False,
        "runtime": None,
        "time_based": False,
        "ramp_time": 0,
        "rwmixread": None,
        "sync": "none",
        "fsync_every": 0,
        "end_fsync": False,
        "randseed": None,
        "stonewall": True,
        "group_reporting": True,
    }
    return {**plain, **changes}


def workload(*jobs: dict[str, Any]) -> dict[str, Any]:
    return {"tool": "fio", "jobs": [{**each, "name": f"job{number}"} for number, each in enumerate(jobs)]}


def lasting(seconds: int = 4, **changes: Any) -> dict[str, Any]:
    return workload(job(runtime=seconds, time_based=True, **changes))


def processes_below(directory: Path) -> list[int]:
    """Everything that works in a folder below `directory`, whoever started it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "cwd").startswith(str(directory)):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def kill_below(directory: Path) -> None:
    def none_left() -> bool:
        for pid in processes_below(directory):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not processes_below(directory)

    until(none_left, "the end of all processes")


def call_here(*argv: str) -> tuple[int, str]:
    """Return the exit status and the words of a command of the agent that is carried out in this process."""
    before = os.umask(0o077)
    try:
        with contextlib.redirect_stderr(io.StringIO()) as said:
            return main(list(argv)), said.getvalue()
    finally:
        os.umask(before)


class Host:
    """One host: its state folder, its directory for test files, and the agents started on it."""

    def __init__(self, folder: Path, server: FakeServer, pyz: Path, python: str = sys.executable) -> None:
        self.state, self.files = folder / "state", folder / "files"
        self.server, self.pyz, self.python = server, pyz, python
        self.log = folder / "log"
        self.process: subprocess.Popen[bytes] | None = None
        self.enrol()

    def enrol(self) -> None:
        """Enrol, for this Python without a process of its own, which takes longer than all that it does."""
        argv = ["--server", self.server.address, "--token", "t", "--directory", str(self.files)]
        if self.python != sys.executable:
            done = self.call("enrol", *argv)
            assert done.returncode == 0, done.stderr
            return
        status, said = call_here("enrol", "--state", str(self.state), *argv)
        assert status == 0, said

    def call(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, str(self.pyz), command, "--state", str(self.state), *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def configure(self, **values: Any) -> None:
        path = self.state / "agent.conf"
        lines = [line for line in path.read_text().splitlines() if line.partition("=")[0].strip() not in values]
        path.write_text("\n".join([*lines, *(f"{key} = {value}" for key, value in values.items())]) + "\n")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [
                    self.python,
                    str(self.pyz),
                    "run",
                    "--state",
                    str(self.state),
                    "--server",
                    self.server.address,
                    *arguments,
                ],
                stderr=log,
            )
        return self.process

    def end(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(10)

    def exit_status(self) -> int:
        assert self.process is not None
        return self.process.wait(10)

    def spool(self, attempt: Attempt) -> Path:
        return self.state / "spool" / str(attempt.offer["attempt"])

    def fio_runs(self, attempt: Attempt) -> list[int]:
        if not (self.spool(attempt) / "started").exists():
            return []
        return processes_below(self.files)

    def runner(self, attempt: Attempt) -> int:
        """The process that holds the attempt's lock, and has nothing but the agent's program on its command line."""
        lock = os.stat(self.spool(attempt) / "lock")
        name = f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}:{lock.st_ino}"
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5] == name:
                assert str(self.state) in Path(f"/proc/{words[4]}/cmdline").read_text()
                return int(words[4])
        raise AssertionError("nobody holds the lock")

    def ended(self, attempt: Attempt, patience: float = PATIENCE) -> str:
        try:
            until(lambda: attempt.ending, f"the end of attempt {attempt.offer['attempt']}", patience)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log.read_text()}\n{self.leftovers()}") from None
        until(lambda: not self.spool(attempt).exists(), "removal of the spool")
        return attempt.state

    def leftovers(self) -> list[str]:
        """Processes and test files that should not be there any more; a process that is dying gets a moment for it."""
        end = time.monotonic() + 2
        while True:
            found = [str(pid) for pid in processes_below(self.files)] + [str(path) for path in self.files.glob("*")]
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.02)

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        kill_below(self.files)


def journal(attempt: Attempt) -> list[dict[str, Any]]:
    return [json.loads(line) for line in attempt.stream("journal").decode().splitlines()]


def starts(attempt: Attempt) -> int:
    return sum(1 for line in journal(attempt) if line["event"] == "fio started")
