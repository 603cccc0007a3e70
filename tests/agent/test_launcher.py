"""Runners as processes: too late, without their agent, or for an offer that came to nothing, they start nothing."""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, processes_below, until, workload
from worker.agent import conf, policy, runner, spool, work
from worker.agent.attempt import HostAttempt
from worker.agent.cleanup import kill_all, processes_of
from worker.agent.runner import ENVIRONMENT
from worker.agent.work import Work

IDLE = {"sample": None, "last_run": None}


@pytest.fixture
def attempt(tmp_path: Path) -> HostAttempt:
    one = spool.Spool(str(tmp_path / "state"))
    offer = {"attempt": 3, "token": 9, "status_interval": 1}
    record = {"offer": offer, "boot_id": conf.boot_id(), "run_dir": str(tmp_path / "files"), "job_file": "[global]\n"}
    one.create(record)
    return one.attempt(record)


def _plan(attempt: HostAttempt) -> dict[str, Any]:
    argv = ["/bin/sh", "-c", f"echo ran >> {attempt.file('ran')}"]
    return {"run_dir": attempt.run_dir, "argv": argv, "files": [], "limit_s": 10, "idle": IDLE}


def _open_files(pid: int) -> set[str]:
    """Return the paths that a process has open, without its pipes and what closed while this looked."""
    paths = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            paths.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return {path for path in paths if not path.startswith("pipe:")}


def _run(attempt: HostAttempt) -> None:
    """A runner that has "go" already; until it has ended."""
    attempt.runner = process = work.Launcher().start(attempt.path, _plan(attempt))
    attempt.say_go()
    process.wait(20)
    attempt.dismiss_runner()


def test_a_runner_starts_what_it_is_told(attempt: HostAttempt) -> None:
    _run(attempt)
    assert Path(attempt.file("ran")).read_text() == "ran\n"
    assert json.loads(Path(attempt.file("exit.json")).read_text())["outcome"] == "finished"


def test_a_runner_has_its_own_session_and_nothing_of_the_agent_open(attempt: HostAttempt) -> None:
    process = work.Launcher().start(attempt.path, _plan(attempt))
    until(attempt.runner_lives, "a runner that waits")
    assert os.getsid(process.pid) == process.pid
    spool_files = [attempt.file(name) for name in ("lock", "alive", "control")]
    expected = {*spool_files, attempt.run_dir, str(Path(attempt.run_dir).parent), "/dev/null"}
    # The runner writes small files of its own before it waits for "go"; what stays open is what counts.
    until(lambda: _open_files(process.pid) <= expected, "a runner with its own files alone")
    assert process.stdin
    process.stdin.close()
    process.wait(20)


def test_a_dismissed_runner_leaves_no_trace_and_no_process(attempt: HostAttempt) -> None:
    launches = work.Launcher()
    attempt.runner = process = launches.start(attempt.path, _plan(attempt))
    until(attempt.runner_lives, "a runner that waits")
    attempt.dismiss_runner()
    until(lambda: not attempt.runner_lives(), "the end of the runner")
    until(lambda: launches.reap() or not launches.runners, "its exit status")
    assert process.returncode is not None
    assert not attempt.has("started")
    assert not os.path.exists(attempt.run_dir)


def test_a_runner_that_cannot_be_started_is_told(attempt: HostAttempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work.sys, "executable", "/nonexistent")
    with pytest.raises(work.NotStarted, match="could not be started"):
        work.Launcher().start(attempt.path, _plan(attempt))


def test_one_folder_has_one_runner(attempt: HostAttempt) -> None:
    first, second = runner.SpoolLock(), runner.SpoolLock()
    assert first.take(attempt.path)
    assert not second.take(attempt.path)
    with pytest.raises(FileNotFoundError):
        second.take(attempt.path + "0")


def test_a_runner_that_comes_after_another_changes_nothing(attempt: HostAttempt) -> None:
    """It had its "go" and was stopped for longer than the agent waits; another one has done the work."""
    _run(attempt)
    before = {path.name: path.read_bytes() for path in Path(attempt.path).iterdir() if path.is_file()}
    _run(attempt)
    assert {path.name: path.read_bytes() for path in Path(attempt.path).iterdir() if path.is_file()} == before


def test_a_runner_that_comes_after_a_cancel_starts_nothing(attempt: HostAttempt) -> None:
    """The agent found the lock free, and has told that fio was never started."""
    attempt.conclude("cancelled", "cancelled before fio was started")
    _run(attempt)
    assert not attempt.has("started")
    assert not attempt.has("ran")
    assert json.loads(Path(attempt.file("exit.json")).read_text())["outcome"] == "cancelled"


def test_while_the_agent_settles_no_runner_gets_in(attempt: HostAttempt) -> None:
    lock = attempt.lock()
    assert lock is not None
    assert attempt.runner_lives()
    _run(attempt)
    assert not attempt.has("started")
    os.close(lock)
    assert not attempt.runner_lives()


def _runner(attempt: HostAttempt, argv: list[str], start: Callable[[list[str]], int] = runner.spawn) -> tuple[int, int]:
    """A runner of our own, which can be killed, and the pipe on which it hears "go"."""
    listens, orders = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(listens, 0)
            os.close(orders)
            runner.spawn = start
            runner.Runner().run({**_plan(attempt), "argv": argv, "spool": attempt.path}, go=False)
        finally:
            os._exit(0)
    os.close(listens)
    until(lambda: os.path.isdir(attempt.run_dir), "a runner that waits")
    return pid, orders


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_a_dead_runner_starts_nothing(attempt: HostAttempt) -> None:
    """The agent has not yet seen that it is dead, and says "go"."""
    pid, orders = _runner(attempt, _plan(attempt)["argv"])
    _kill(pid)
    with pytest.raises(BrokenPipeError):
        os.write(orders, b"g")
    os.close(orders)
    assert not attempt.has("started")
    assert not attempt.has("ran")
    assert not attempt.runner_lives()


def test_without_its_agent_a_runner_starts_nothing(attempt: HostAttempt) -> None:
    pid, orders = _runner(attempt, _plan(attempt)["argv"])
    os.close(orders)
    os.waitpid(pid, 0)
    assert not attempt.has("started")
    assert not os.path.exists(attempt.run_dir)


def test_what_a_runner_was_about_to_start_when_it_was_killed_is_found(attempt: HostAttempt) -> None:
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
    work.fio.path = "/bin/true"

    def broken(attempt: HostAttempt) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(work.spool, "commit", broken)
    offer: Any = {"attempt": 3, "token": 9, "status_interval": 1, "workload": workload(job())}
    with pytest.raises(policy.Refused, match="spool cannot be written"):
        work.take(offer, line)  # type: ignore[arg-type]
    assert not line.is_open
    time.sleep(0.3)
    assert not list(files.iterdir()), "a runner was started"
    assert not list((state / "spool").iterdir())
    assert not work.attempts


@pytest.mark.slow
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
    until(lambda: len(times_of(server, "accept")) > 1, "the second accept")
    first, second, *_ = times_of(server, "accept")
    assert second - first > 0.9, "the server said to come again in a second"


def times_of(server: FakeServer, word: str) -> list[float]:
    return [at for at, _, path in server.requests if word in path]
