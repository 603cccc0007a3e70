"""Children that die are started again, more and more slowly, and all are stopped in order."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bin._lib.process import Command, Process
from bin._lib.supervisor import STOP_ORDER, Supervisor
from tests.bin.launcher import wait_for


def shell(name: str, script: str, folder: Path) -> Command:
    return Command(name, ["/bin/sh", "-c", script], folder / f"{name}.log", dict(os.environ), folder)


@pytest.mark.slow
def test_a_child_that_keeps_dying_is_started_more_and_more_slowly(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor(said.append, first_pause=0.1)
    supervisor.start(shell("web", "echo started; exit 3", tmp_path))
    supervisor.wait(2)
    assert said[0].startswith("web ended with status 3; starting it again in 0 s")
    assert said[1] == "web was started again."
    starts = (tmp_path / "web.log").read_text().count("started")
    assert 3 <= starts <= 5  # after 0.1, 0.2, 0.4, 0.8 s …


@pytest.mark.slow
def test_a_program_that_is_gone_is_tried_again(tmp_path: Path) -> None:
    said: list[str] = []
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    supervisor = Supervisor(said.append, first_pause=0.1)
    supervisor.start(Command("web", [str(program)], tmp_path / "web.log", {}, tmp_path))
    program.unlink()
    supervisor.wait(1)
    assert any("could not be started (No such file or directory)" in line for line in said)


@pytest.mark.slow
def test_those_that_do_not_listen_are_killed_with_their_children(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor(said.append)
    process = supervisor.start(
        shell("valkey", "trap '' TERM; sleep 60 & echo $! > child; while :; do sleep 1; done", tmp_path)
    )
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        time.sleep(0.01)
    begin = time.monotonic()
    supervisor.stop_all()
    assert time.monotonic() - begin < 4
    assert said == ["valkey did not end in time and was made to."]
    assert not process.alive()
    child = int((tmp_path / "child").read_text())
    assert wait_for(lambda: not is_alive(child), 5)


class Interrupting:
    """A lock; a signal comes just when it has been taken for the first time."""

    def __init__(self, lock: Any) -> None:
        self.lock, self.has_interrupted = lock, False

    def acquire(self, *how: Any) -> bool:
        taken = self.lock.acquire(*how)
        if not self.has_interrupted:
            self.has_interrupted = True
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)  # to no other thread of the test run
        return bool(taken)

    def release(self) -> None:
        self.lock.release()

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def test_a_signal_amid_the_look_at_a_child_leaves_it_able_to_end(tmp_path: Path) -> None:
    class Stopped(BaseException):
        pass

    def stop(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    try:
        process = Process(shell("web", "exec sleep 60", tmp_path))
        child: Any = process._child
        child._waitpid_lock = Interrupting(child._waitpid_lock)
        with pytest.raises(Stopped):
            process.alive()
        assert not child._waitpid_lock.lock.locked()
        process.ask_to_stop()
        assert process.end(5)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_patience_for_all_together_is_fifteen_seconds() -> None:
    assert sum(seconds + 1 for _, seconds in STOP_ORDER) <= 15


def test_a_long_log_is_put_aside(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * (11 * 2**20))
    Process(shell("web", "echo new", tmp_path)).end(5)
    assert log.read_text() == "new\n"
    assert log.with_suffix(".log.1").stat().st_size > 10**7


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False
