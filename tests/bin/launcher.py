"""Starts `bin/up` of a checkout as a person does, and reads what it prints."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE = 30  # seconds


class Launcher:
    def __init__(self, checkout: Path, python: str = sys.executable, **popen: Any) -> None:
        self.checkout, self.python, self.popen = checkout, python, popen
        self.started: list[subprocess.Popen[str]] = []
        self.output = ""

    def __enter__(self) -> "Launcher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                self.wait(process)
            if process.stdout:
                process.stdout.close()

    def up(self, *options: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start it and return at once."""
        process = subprocess.Popen(
            [self.python, str(self.checkout / "bin" / "up"), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.checkout,
            env={**clean_environment(), **(env or {})},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in the background of a script
            **self.popen,
        )
        self.started.append(process)
        return process

    def serving(self, *options: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start it and wait for the closing lines."""
        process = self.up("--port", "0", *options, env=env)
        self.read_until(process, "Ctrl-C stops it")
        return process

    def read_until(self, process: subprocess.Popen[str], words: str, patience: float = PATIENCE) -> str:
        assert process.stdout
        seen: list[str] = []
        end = time.monotonic() + patience
        while time.monotonic() < end:
            line = process.stdout.readline()
            assert line, f"bin/up ended with {process.wait()} before it said {words!r}:\n{''.join(seen)}"
            seen.append(line)
            self.output += line
            if words in line:
                return "".join(seen)
        raise AssertionError(f"bin/up did not say {words!r} in {patience} s:\n{''.join(seen)}")

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        """Exit status and the rest of what it printed."""
        try:
            rest, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"bin/up did not end in {PATIENCE} s:\n{self.output}{where_it_is(process)}") from None
        self.output += rest
        return process.returncode, rest

    def wait(self, process: subprocess.Popen[str]) -> None:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise

    def stop(self, process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> tuple[int, str, float]:
        """Exit status, what it printed, seconds."""
        begin = time.monotonic()
        process.send_signal(number)
        status, rest = self.ended(process)
        return status, rest, time.monotonic() - begin

    @property
    def url(self) -> str:
        found = re.findall(r"Start page +(http://\S+)", self.output)
        return str(found[-1])

    def get(self, path: str = "/") -> str:
        with urllib.request.urlopen(self.url.rstrip("/") + path, timeout=5) as answer:
            return str(answer.read().decode())


def where_it_is(process: subprocess.Popen[str]) -> str:
    """The rest of what it printed, with its stack as the last of it; it is killed."""
    process.send_signal(signal.SIGUSR1)
    time.sleep(1)
    process.kill()
    return process.communicate()[0]


def clean_environment() -> dict[str, str]:
    """As on a person's machine: none of the variables that the test run itself set."""
    ours = ("DATABASE_URL", "REDIS_URL", "SPINDLE_", "DJANGO_", "PYTEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def processes_below(folder: Path) -> list[int]:
    """Live processes whose command line or working folder lies below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace")
            if str(folder) in words or (process / "cwd").resolve().is_relative_to(folder):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def pid_of(folder: Path, word: str) -> int:
    """The leader of a session below a folder whose command line holds a word."""
    for pid in processes_below(folder):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        if word in words and os.getsid(pid) == pid:
            return pid
    raise AssertionError(f"no process with {word!r} below {folder}")


def wait_for(condition: Any, seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False
