"""The processes that are forked ahead: too late, without their runner, or for an offer that came to nothing, they start nothing."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, processes_below, until, workload
from worker.agent import conf, hire, policy, spool
from worker.agent.attempt import Attempt
from worker.agent.child import Child
from worker.agent.leftovers import kill_all
from worker.agent.work import Work


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    one = spool.Spool(str(tmp_path / "state"))
    offer = {"attempt": 3, "token": 9, "status_interval": 1}
    record = {"offer": offer, "boot_id": conf.boot_id(), "run_dir": str(tmp_path / "files"), "job_file": "[global]\n"}
    one.create(record)
    return one.attempt(record)


def _plan(attempt: Attempt) -> dict[str, Any]:
    argv = ["/bin/sh", "-c", f"echo ran >> {attempt.file('ran')}"]
    return {"spool": attempt.path, "run_dir": attempt.run_dir, "argv": argv, "files": [], "limit_s": 10}


def _nobody_listens(pipe: int) -> bool:
    try:
        os.write(pipe, b"g")
    except BrokenPipeError:
        return True
    return False


def _hire(attempt: Attempt) -> None:
    """One that has "go" already; until it has ended."""
    orders = hire.warm()
    os.write(orders, json.dumps(_plan(attempt)).encode() + b"\ng")
    until(lambda: _nobody_listens(orders), "the end of the runner")
    os.close(orders)


def test_a_runner_starts_what_it_is_told(attempt: Attempt) -> None:
    _hire(attempt)
    assert Path(attempt.file("ran")).read_text() == "ran\n"
    assert json.loads(Path(attempt.file("exit.json")).read_text())["outcome"] == "finished"


def test_a_runner_that_comes_after_another_changes_nothing(attempt: Attempt) -> None:
    """It had its "go" and was stopped for longer than the agent waits; another one has done the work."""
    _hire(attempt)
    before = {path.name: path.read_bytes() for path in Path(attempt.path).iterdir() if path.is_file()}
    _hire(attempt)
    assert {path.name: path.read_bytes() for path in Path(attempt.path).iterdir() if path.is_file()} == before


def test_a_runner_that_comes_after_a_cancel_starts_nothing(attempt: Attempt) -> None:
    """The agent found the lock free, and has told that fio was never started."""
    attempt.conclude("cancelled", "cancelled before fio was started")
    _hire(attempt)
    assert not attempt.has("started")
    assert not attempt.has("ran")
    assert json.loads(Path(attempt.file("exit.json")).read_text())["outcome"] == "cancelled"


def test_while_the_agent_settles_no_runner_gets_in(attempt: Attempt) -> None:
    lock = attempt.lock()
    assert lock is not None
    assert attempt.runner_lives()
    _hire(attempt)
    assert not attempt.has("started")
    os.close(lock)
    assert not attempt.runner_lives()


@pytest.fixture
def waiting(attempt: Attempt) -> Iterator[tuple[int, int]]:
    """A runner, and the pipe on which the process that becomes fio hears "go" from the agent."""
    os.mkdir(attempt.run_dir)
    listens, orders = os.pipe()
    runner = os.fork()
    if runner == 0:
        try:
            os.dup2(listens, 0)
            os.close(orders)
            Child().plan({**_plan(attempt), "started": attempt.file("started"), "hears_the_agent": True})
            signal.pause()
        finally:
            os._exit(0)
    os.close(listens)
    until(lambda: processes_below(Path(attempt.run_dir)), "the process that becomes fio")
    yield runner, orders
    os.close(orders)
    with suppress(ChildProcessError):
        _kill(runner)


def _kill(runner: int) -> None:
    if os.waitpid(runner, os.WNOHANG) == (0, 0):
        os.kill(runner, signal.SIGKILL)
        os.waitpid(runner, 0)


def test_without_its_runner_nothing_becomes_fio(attempt: Attempt, waiting: tuple[int, int]) -> None:
    """The agent has not yet seen that the runner is dead, and says "go"."""
    runner, orders = waiting
    _kill(runner)
    os.write(orders, b"g")
    until(lambda: not processes_below(Path(attempt.run_dir)), "the end of the one that waited")
    assert not attempt.has("started")


def test_a_copy_of_this_program_that_waits_in_the_folder_is_killed(attempt: Attempt, waiting: tuple[int, int]) -> None:
    kill_all(attempt.run_dir)
    until(lambda: not processes_below(Path(attempt.run_dir)), "the end of the one that waited")


class Line:
    """A connection on which the accept goes out and nothing comes back."""

    is_open = True

    def send(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        self.is_open = False


def test_an_offer_that_is_not_on_disk_leaves_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, files = tmp_path / "state", tmp_path / "files"
    conf.create(str(state), str(files))
    work, line = Work(str(state), conf.load(str(state))), Line()
    work.fio = "/bin/true"

    def broken(attempt: Attempt) -> None:
        until(lambda: processes_below(files), "the process that becomes fio")
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(work.spool, "commit", broken)
    offer: Any = {"attempt": 3, "token": 9, "status_interval": 1, "workload": workload(job())}
    with pytest.raises(policy.Refused, match="spool cannot be written"):
        work.take(offer, line)  # type: ignore[arg-type]
    assert not line.is_open
    until(lambda: not processes_below(files) and not list(files.iterdir()), "the end of the runner")
    assert not list((state / "spool").iterdir())
    assert not work.attempts


def test_a_number_given_twice_does_not_cost_the_first_ones_result(host: Host, server: FakeServer) -> None:
    server.refuse_with["/finish/"] = 503
    first = server.offer(workload(job()), number=1, token=50)
    host.start()
    until(lambda: (host.spool(first) / "exit.json").exists(), "the end of fio")
    second = server.offer(workload(job()), number=1, token=60)
    polls = len(server.polls)
    until(lambda: len(server.polls) > polls + 2, "polls that are answered with it")
    assert json.loads((host.spool(first) / "offer.json").read_text())["offer"]["token"] == 50
    assert (host.spool(first) / "result.json").exists()
    assert second.state == "offered"


def test_an_accept_that_is_told_to_wait_waits(host: Host, server: FakeServer) -> None:
    server.refuse_with["/accept/"] = 503
    server.offer(workload(job()))
    host.start()
    until(lambda: [path for _, _, path in server.requests if "accept" in path], "the accept")
    time.sleep(0.5)
    assert len([path for _, _, path in server.requests if "accept" in path]) == 1
