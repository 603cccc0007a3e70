"""What a person sees: numbered steps with their time, plain lines between them, and trouble in one sentence."""

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class Trouble(Exception):  # noqa: N818  what a person reads, not a fault of the program
    """Something a person can put right; its text is the whole sentence and names the way out."""


class Step:
    """One step while it runs."""

    def __init__(self, console: "Console") -> None:
        self.console = console
        self.note = ""

    def progress(self, text: str) -> None:
        self.console.append(f" {text}")


class Console:
    """Prints steps on one line each; `say` may come in between at any time."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.count = 0
        self._open = False
        self._broken = False

    def append(self, text: str) -> None:
        print(text, end="", flush=True)
        self._open = True

    def close_line(self) -> None:
        if self._open:
            print(flush=True)
            self._broken = True
        self._open = False

    def say(self, text: str) -> None:
        self.close_line()
        print(text, flush=True)

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        self.count += 1
        started, step = time.monotonic(), Step(self)
        head = f"[{self.count:2}/{self.total}] {title}"
        self._broken = False
        self.append(f"{head} …")
        try:
            yield step
        except BaseException:
            self.close_line()
            raise
        note = f" ({step.note})" if step.note else ""
        if self._broken and not self._open:
            self.append(f"{head} …")
        print(f" {time.monotonic() - started:.1f} s{note}", flush=True)
        self._open = False


def run_logged(
    argv: Sequence[str],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    step: Step | None = None,
    whole: bool = False,
) -> tuple[int, str]:
    """Run a command with its output in a file; return its exit status and the last lines. A dot every five seconds.

    `whole`: Ctrl-C does not reach it and waits for its end.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        start = out.tell()
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=whole,
        )
        while True:
            try:
                status = child.wait(timeout=5)
                break
            except subprocess.TimeoutExpired:
                if step:
                    step.progress(".")
            except BaseException:
                if not whole:
                    child.terminate()
                elif step:
                    step.progress(f"{argv[0]} goes on to its end …")
                child.wait()
                raise
    return status, tail(log, start)


def tail(log: Path, start: int = 0, lines: int = 30) -> str:
    with log.open("rb") as text:
        text.seek(start)
        return b"".join(deque(text, lines)).decode(errors="replace")


def gist(said: str) -> str:
    """Return the last line that says what failed, or an empty text.

    Frames of a traceback and hints below an error are indented.
    """
    plain = [line for line in said.splitlines() if line[:1].strip()]
    return plain[-1].strip() if plain else ""


def shown(path: Path) -> str:
    """Return a path as a person would type it from here."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else str(path)


def fail(program: str, sentence: str) -> int:
    sys.stdout.flush()
    print(f"{program}: {sentence}", file=sys.stderr, flush=True)
    return 1
