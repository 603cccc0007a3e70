"""The processes that are forked ahead: too late, without their agent, or for an offer that came to nothing, they start nothing."""

import contextlib
import fcntl
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, processes_below, until, workload
from worker.agent import conf, hire, hold, policy, runner, spool
from worker.agent.attempt import Attempt
from worker.agent.leftovers import kill_all, processes_of
from worker.agent.render import ENVIRONMENT
from worker.agent.work import Work

IDLE = {"sample": None, "last_run": None}


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    one = spool.Spool(str(tmp_path / "state"))
    offer = {"attempt": 3, "token": 9, "status_interval": 1}
    record = {"offer": offer, "boot_id": conf.boot_id(), "run_dir": str(tmp_path / "files"), "job_file": "[global]\n"}
    one.create(record)
    return one.attempt(record)


def _plan(attempt: Attempt) -> dict[str, Any]:
    argv = ["/bin/sh", "-c", f"echo ran >> {attempt.file('ran')}"]
    return {"spool": attempt.path, "run_dir": attempt.run_dir, "argv": argv, "files": [], "limit_s": 10, "idle": IDLE}


def _nobody_listens(pipe: int) -> bool:
    try:
        os.write(pipe, b"g")
    except BrokenPipeError:
        return True
    return False


def _hire(attempt: Attempt, waiting_in: str | None = None) -> None:
    """One that has "go" already; until it has ended."""
    orders = hire.Foreman().hire(waiting_in or attempt.path)
    os.write(orders, json.dumps(_plan(attempt)).encode() + b"\ng")
    until(lambda: _nobody_listens(orders), "the end of the runner")
    os.close(orders)


def test_a_runner_starts_what_it_is_told(attempt: Attempt) -> None:
    _hire(attempt)
    assert Path(attempt.file("ran")).read_text() == "ran\n"
    assert json.loads(Path(attempt.file("exit.json")).read_text())["outcome"] == "finished"


@pytest.mark.parametrize("lock", [None, "", "another's"])
def test_a_runner_that_waited_elsewhere_starts_it_too(attempt: Attempt, tmp_path: Path, lock: str | None) -> None:
    """The folder that it waited in was removed with a refused offer, or its agent has found this attempt in the spool."""
    elsewhere = tmp_path / "elsewhere"
    if lock is not None:
        elsewhere.mkdir()
        for pipe in ("alive", "control"):
            os.mkfifo(elsewhere / pipe)
    with contextlib.ExitStack() as held:
        if lock:
            fcntl.flock(held.enter_context((elsewhere / "lock").open("w")), fcntl.LOCK_EX)
        _hire(attempt, str(elsewhere))
    assert Path(attempt.file("ran")).read_text() == "ran\n"


def test_a_folder_that_gets_its_name_while_it_is_taken_can_be_taken_by_it(tmp_path: Path) -> None:
    """Between the lock and the pipes, which are then not to be found."""
    place = hold.Hold()
    with pytest.raises(FileNotFoundError):
        place.take(str(tmp_path))
    for pipe in ("alive", "control"):
        os.mkfifo(tmp_path / pipe)
    assert not place.is_of(str(tmp_path))
    assert place.take(str(tmp_path))
    assert place.is_of(str(tmp_path))


def test_a_runner_waits_in_the_folder_that_becomes_the_attempt(attempt: Attempt) -> None:
    """Named after it while the runner waits there with its lock."""
    orders = hire.Foreman().hire(attempt.path)
    until(attempt.runner_lives, "the runner in its folder")
    named = attempt.path + "0"
    os.rename(attempt.path, named)
    os.write(orders, json.dumps({**_plan(attempt), "spool": named, "argv": ["/bin/true"]}).encode() + b"\ng")
    until(lambda: _nobody_listens(orders), "the end of the runner")
    os.close(orders)
    assert json.loads(Path(named, "exit.json").read_text())["outcome"] == "finished"


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


def _runner(attempt: Attempt, argv: list[str], start: Callable[[list[str]], int] = runner.spawn) -> tuple[int, int]:
    """A runner of our own, which can be killed, and the pipe on which it hears "go"."""
    listens, orders = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(listens, 0)
            os.close(orders)
            runner.spawn = start
            runner.Runner().run({**_plan(attempt), "argv": argv}, go=False)
        finally:
            os._exit(0)
    os.close(listens)
    until(lambda: os.path.isdir(attempt.run_dir), "a runner that waits")
    return pid, orders


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_a_dead_runner_starts_nothing(attempt: Attempt) -> None:
    """The agent has not yet seen that it is dead, and says "go"."""
    pid, orders = _runner(attempt, _plan(attempt)["argv"])
    _kill(pid)
    with pytest.raises(BrokenPipeError):
        os.write(orders, b"g")
    os.close(orders)
    assert not attempt.has("started")
    assert not attempt.has("ran")
    assert not attempt.runner_lives()


def test_without_its_agent_a_runner_starts_nothing(attempt: Attempt) -> None:
    pid, orders = _runner(attempt, _plan(attempt)["argv"])
    os.close(orders)
    os.waitpid(pid, 0)
    assert not attempt.has("started")
    assert not os.path.exists(attempt.run_dir)


def test_what_a_runner_was_about_to_start_when_it_was_killed_is_found(attempt: Attempt) -> None:
    """Until it is fio it holds the lock, so that nobody settles the attempt; then it has fio's folder and environment."""

    def slowly(argv: list[str]) -> int:
        pid = os.fork()
        if pid == 0:
            time.sleep(1)
            os.execve(argv[0], argv, ENVIRONMENT)
        signal.pause()  # it is killed here
        return pid

    pid, orders = _runner(attempt, ["/bin/sleep", "60"], slowly)
    os.write(orders, b"g")
    until(lambda: len(processes_below(Path(attempt.run_dir))) == 2, "the runner, and what is about to become fio")
    _kill(pid)
    os.close(orders)
    assert attempt.runner_lives()
    until(lambda: not attempt.runner_lives(), "the end of the runner's lock")
    assert len(processes_of(attempt.run_dir)) == 1
    kill_all(attempt.run_dir)
    assert not processes_below(Path(attempt.run_dir))


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
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(work.spool, "commit", broken)
    offer: Any = {"attempt": 3, "token": 9, "status_interval": 1, "workload": workload(job())}
    with pytest.raises(policy.Refused, match="spool cannot be written"):
        work.take(offer, line)  # type: ignore[arg-type]
    assert not line.is_open
    time.sleep(0.3)
    assert not list(files.iterdir()), "a runner was hired"
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
