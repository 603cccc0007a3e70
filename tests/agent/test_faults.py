"""What may be killed, cut off or filled up while fio runs, and what must be true afterwards: nothing lost, nothing started twice,
nothing left behind. `SPINDLE_KILLS` says how often each kill is repeated."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import Host, job, kill_below, lasting, processes_below, starts, until, workload
from tests.sampling import IS_LONG
from worker.agent.work import ASKED_LIMIT, USUAL_LIMIT, Launcher, limits_of

pytestmark = [pytest.mark.fio, pytest.mark.faults]
KILLS = int(os.environ.get("SPINDLE_KILLS", "1"))


def fio_parent(host: Host, attempt: Attempt) -> int:
    """Of fio's processes the one whose parent is not among them."""
    pids = until(lambda: [pid for pid in host.fio_runs(attempt) if is_fio(pid)], "fio")
    return next(
        pid for pid in pids if int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) not in pids
    )


def is_fio(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/exe").endswith("/fio")
    except OSError:
        return False


def fio_children(host: Host, attempt: Attempt) -> list[int]:
    parent = fio_parent(host, attempt)
    return until(lambda: [pid for pid in host.fio_runs(attempt) if pid != parent], "fio's children")


@pytest.mark.parametrize("round_", range(KILLS))
def test_killed_agent_is_taken_over(host: Host, server: FakeServer, round_: int) -> None:
    attempt = server.offer(lasting(3, rw="randread", ioengine="psync", file_size=1 << 20))
    host.start()
    until(lambda: host.fio_runs(attempt), "fio")
    time.sleep(random.uniform(0, 1.5))
    fio = fio_parent(host, attempt)
    host.end(signal.SIGKILL)
    assert is_fio(fio)
    host.start()
    assert host.ended(attempt) == "finished"
    assert starts(attempt) == 1
    assert host.leftovers() == []


def test_agent_killed_at_any_moment_of_a_short_run(host: Host, server: FakeServer) -> None:
    """Kill after kill, so that they fall on every step from offer to finish; the attempts must all come through once."""
    attempts = [server.offer(workload(job(ioengine="psync", rw="read", file_size=4 << 20))) for _ in range(3 * KILLS)]
    kills = 0
    while not all(attempt.ending for attempt in attempts) and kills < 100 * KILLS:
        host.start()
        time.sleep(
            random.uniform(0.12, 0.5 + kills / 40)
        )  # longer and longer, for a machine where a start takes its time
        host.end(signal.SIGKILL)
        kills += 1
    print(f"{kills} kills, {len(attempts)} attempts")
    host.start()
    for attempt in attempts:
        assert host.ended(attempt) == "finished"
        assert starts(attempt) == 1
    assert host.leftovers() == []


def test_stopped_agent_leaves_fio_running_and_says_so(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(3))
    host.start()
    until(lambda: host.fio_runs(attempt), "fio")
    assert host.end(signal.SIGTERM) == 0
    assert host.fio_runs(attempt)
    assert "fio goes on for attempt 1" in host.log.read_text()
    until(lambda: not host.fio_runs(attempt), "the end of fio without an agent")
    host.start()
    assert host.ended(attempt) == "finished"


@pytest.mark.parametrize("round_", range(KILLS))
def test_killed_runner_means_interrupted_and_nothing_left(host: Host, server: FakeServer, round_: int) -> None:
    attempt = server.offer(lasting(30, numjobs=2, ioengine="psync"))
    host.start()
    fio_children(host, attempt)
    until(lambda: attempt.running, "the word that fio runs")
    os.kill(host.runner(attempt), signal.SIGKILL)
    assert host.ended(attempt) == "interrupted"
    assert "runner" in attempt.ending["reason"]
    assert host.leftovers() == []
    assert starts(attempt) == 1


def test_an_idle_agent_is_one_process_and_leaves_none(host: Host, server: FakeServer) -> None:
    host.start()
    until(lambda: len(server.polls) >= 2, "the long poll")
    until(lambda: len(same_program(host)) == 1, "the end of the look")
    for _ in range(2):
        assert host.ended(server.offer(workload(job()))) == "finished"
    until(lambda: len(same_program(host)) == 1, "the end of the runners")
    host.end(signal.SIGKILL)
    assert not same_program(host)


def test_a_runner_that_is_killed_before_it_has_go_is_replaced(host: Host, server: FakeServer) -> None:
    server.refuse_with["/accept/"] = 503
    attempt = server.offer(workload(job()))
    host.start()
    [waiting] = until(lambda: runners(host), "a runner that waits")
    os.kill(waiting, signal.SIGKILL)
    server.refuse_with.clear()
    assert host.ended(attempt, patience=60) == "finished"
    assert starts(attempt) == 1
    until(lambda: not runners(host), "the end of the runner")


def test_a_cancel_that_comes_while_the_runner_starts_ends_the_attempt(host: Host, server: FakeServer) -> None:
    """Stopped before Python has come to the runner's first line, as on a host that has no processor left for it."""
    server.refuse_with["/accept/"] = 503
    attempt = server.offer(workload(job()))
    host.start()
    [starting] = until(lambda: runners(host), "a runner")
    os.kill(starting, signal.SIGSTOP)
    server.cancel(attempt)
    server.refuse_with.clear()
    if holds_lock(host, attempt):  # stopped too late to be early: it hears the cancel when it goes on
        os.kill(starting, signal.SIGCONT)
    assert host.ended(attempt, patience=60) == "cancelled"
    with contextlib.suppress(ProcessLookupError):
        os.kill(starting, signal.SIGCONT)
    until(lambda: not runners(host), "the end of the runner")
    assert starts(attempt) == 0
    assert host.leftovers() == []


def holds_lock(host: Host, attempt: Attempt) -> bool:
    try:
        return bool(host.runner(attempt))
    except AssertionError:
        return False


def runners(host: Host) -> list[int]:
    return [pid for pid in same_program(host) if b"\0runner\0" in _command_line(pid)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def same_program(host: Host) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(host.state).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("round_", range(KILLS))
def test_killed_fio_is_reported_with_its_signal_and_its_children_end(
    host: Host, server: FakeServer, round_: int
) -> None:
    attempt = server.offer(lasting(30, numjobs=2))
    host.start()
    children = fio_children(host, attempt)
    os.kill(fio_parent(host, attempt), signal.SIGKILL)
    killed_at = time.time()
    assert host.ended(attempt, patience=10) == "failed"
    assert time.time() - killed_at < 5
    assert attempt.ending["signal"] == 9
    assert not [pid for pid in children if is_fio(pid)]
    assert host.leftovers() == []


@pytest.mark.parametrize("round_", range(KILLS))
def test_killed_child_of_fio_is_a_failure_although_fio_says_0(host: Host, server: FakeServer, round_: int) -> None:
    attempt = server.offer(lasting(30, numjobs=2))
    host.start()
    until(lambda: attempt.chunks.get("result"), "a first document")  # killed earlier, fio waits ten seconds for it
    os.kill(fio_children(host, attempt)[0], signal.SIGKILL)
    assert host.ended(attempt, patience=10) == "failed"
    assert attempt.ending["signal"] == 9
    assert "one of fio's processes" in attempt.ending["reason"]
    assert host.leftovers() == []


def test_cancel_while_running_keeps_what_fio_wrote(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(60, numjobs=2, ioengine="psync"))
    host.start()
    until(lambda: attempt.chunks.get("result"), "a first document")
    server.cancel(attempt)
    cancelled_at, polls = time.time(), len(server.polls)
    until(lambda: not processes_below(host.files), "the end of fio")
    assert time.time() - cancelled_at < 3
    assert len(server.polls) - polls <= 2
    assert host.ended(attempt) == "cancelled"
    assert b"terminating on signal 2" in attempt.stream("result")
    assert attempt.stream("result").endswith(b"}\n")
    assert host.leftovers() == []


def test_cancel_of_fio_that_ignores_the_polite_signal(host: Host, server: FakeServer, tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn"
    stubborn.write_text(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo fio-0 && exit\ntrap '' INT TERM\n"
        "/usr/bin/setsid /bin/sleep 300 &\nwhile :; do /bin/sleep 1; done\n"
    )
    stubborn.chmod(0o755)
    host.configure(fio=stubborn)
    attempt = server.offer(lasting(60))
    host.start()
    until(lambda: len(host.fio_runs(attempt)) >= 3, "the program and its runaway child")
    server.cancel(attempt)
    assert host.ended(attempt, 8) == "cancelled"
    assert host.leftovers() == []


def test_cancel_while_test_files_are_filled(host: Host, server: FakeServer) -> None:
    host.configure(quota_bytes=8 << 30)
    attempt = server.offer(workload(job(rw="read", ioengine="psync", file_size=6 << 30)))
    host.start()
    until(lambda: list(host.files.glob("*/data.0.0")), "a test file")
    server.cancel(attempt)
    assert host.ended(attempt, 10) == "cancelled"
    assert (starts(attempt), attempt.ending["started_at"]) == (0, None)
    assert host.leftovers() == []


def test_cancel_before_the_accept_got_through(host: Host, server: FakeServer) -> None:
    server.refuse_with["/accept/"] = 503
    attempt = server.offer(lasting(30))
    host.start()
    until(lambda: (host.spool(attempt) / "offer.json").exists(), "the offer on disk")
    server.cancel(attempt)
    until(lambda: (host.spool(attempt) / "exit.json").exists(), "the end")
    server.refuse_with.clear()
    assert host.ended(attempt) == "cancelled"
    assert starts(attempt) == 0
    assert host.leftovers() == []


def test_cancel_while_uploading_does_not_change_how_it_ended(host: Host, server: FakeServer) -> None:
    server.refuse_with["/finish/"] = 503
    attempt = server.offer(workload(job()))
    host.start()
    until(lambda: (host.spool(attempt) / "exit.json").exists(), "the end of fio")
    server.cancel(attempt)
    polls = len(server.polls)
    until(lambda: len(server.polls) > polls + 1, "a poll after the one that was answered with it")
    server.refuse_with.clear()
    assert host.ended(attempt) == "finished"


def test_abandoned_attempt_is_killed_and_kept_in_quarantine(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(60))
    host.start()
    until(lambda: attempt.chunks.get("result"), "a first document")
    server.refuse_with["/chunks/"] = 410
    until(lambda: list((host.state / "quarantine").glob("1-101-*")), "quarantine")
    (kept,) = (host.state / "quarantine").glob("1-101-*")
    assert {"offer.json", "result.json", "exit.json", "journal.jsonl"} <= {path.name for path in kept.iterdir()}
    assert host.leftovers() == []


def test_attempt_of_an_earlier_boot_is_interrupted_and_never_repeated(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(30, ioengine="psync"))
    host.start()
    until(lambda: attempt.running, "fio")
    host.end(signal.SIGKILL)
    os.kill(host.runner(attempt), signal.SIGKILL)
    kill_below(host.files)
    path = host.spool(attempt) / "offer.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "boot_id": "another"}))
    host.start()
    assert host.ended(attempt) == "interrupted"
    assert "restarted" in attempt.ending["reason"]
    assert starts(attempt) == 1
    assert host.leftovers() == []


def test_server_away_during_the_run_and_back(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(3))
    host.start()
    until(lambda: attempt.chunks.get("result"), "a first document")
    port = server.port
    server.stop()
    until(lambda: (host.spool(attempt) / "exit.json").exists(), "the end of fio, nobody listening")
    server.start(port)
    assert host.ended(attempt, 40) == "finished"


@pytest.mark.parametrize("every", [2, 3, 5] if IS_LONG else [3])
def test_lost_answers_have_no_effect(host: Host, server: FakeServer, every: int) -> None:
    server.lose_answers = every
    attempts = [server.offer(lasting(2)), server.offer(workload(job()))]
    host.start()
    for attempt in attempts:
        assert host.ended(attempt, 60) == "finished"
        assert starts(attempt) == 1


def test_a_server_that_wants_chunks_one_by_one_gets_them(host: Host, server: FakeServer) -> None:
    server.is_old = True
    attempt = server.offer(workload(job()))
    host.start()
    assert host.ended(attempt) == "finished"
    assert {name for name, chunks in attempt.chunks.items() if chunks} >= {"result", "job", "journal"}


def test_chunks_that_the_server_lost_are_sent_again(host: Host, server: FakeServer) -> None:
    server.drop_chunks = {("result", 0), ("journal", 0)}
    attempt = server.offer(lasting(2))
    host.start()
    assert host.ended(attempt) == "finished"


def test_stale_and_repeated_orders_start_nothing(host: Host, server: FakeServer) -> None:
    first = server.offer(workload(job()), number=1, token=50)
    host.start()
    assert host.ended(first) == "finished"
    for number, token in ((2, 49), (1, 50)):
        stale = server.offer(workload(job()), number=number, token=token)
        until(lambda stale=stale: stale.state == "refused", "refusal")
        assert "newer order" in stale.reason
        assert not stale.running


def test_refused_workload_names_the_key(host: Host, server: FakeServer) -> None:
    attempt = server.offer({"tool": "fio", "jobs": [job(exec_prerun="/bin/true")]})
    host.start()
    until(lambda: attempt.state == "refused", "refusal")
    assert "exec_prerun" in attempt.reason


def test_without_fio_every_offer_is_refused(host: Host, server: FakeServer) -> None:
    host.configure(fio="/nowhere/fio")
    attempt = server.offer(workload(job()))
    host.start()
    until(lambda: attempt.state == "refused", "refusal")
    assert attempt.reason == "fio is not installed on this host."
    assert server.polls[0]["fio_version"] is None


def test_fio_that_outlives_the_hosts_limit_is_stopped(host: Host, server: FakeServer, tmp_path: Path) -> None:
    host.configure(max_runtime_s=2)
    attempt = server.offer(workload(job(file_size=1 << 43, block_size=512)))  # no runtime; would take hours
    host.start()
    assert host.ended(attempt) == "failed"
    assert "longer than this host allows, 2 s" in attempt.ending["reason"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = tmp_path / "small"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=110m", "none", str(mount)], check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


def fill(path: Path) -> None:
    with open(path, "wb", buffering=0) as filler:
        while True:
            try:
                filler.write(b"x" * 65536)
            except OSError:
                return


def test_full_spool_stops_fio_and_keeps_its_last_report(
    small_disk: Path, server: FakeServer, pyz: Path, tmp_path: Path
) -> None:
    host = Host(small_disk, server, pyz)
    host.log = tmp_path / "log"
    try:
        attempt = server.offer(lasting(60))
        host.start()
        until(lambda: attempt.chunks.get("result"), "a first document")
        fill(small_disk / "filler")
        assert host.ended(attempt) == "failed"
        assert "spool is full" in attempt.ending["reason"]
        assert attempt.stream("result").endswith(b"}\n")
        refused = server.offer(workload(job()))
        until(lambda: refused.state == "refused", "refusal while the disk is full")
        assert "full" in refused.reason
        (small_disk / "filler").unlink()
        assert host.ended(server.offer(workload(job()))) == "finished"
    finally:
        host.close()


@pytest.mark.parametrize(
    ("status", "words"), [(403, "has not approved"), (409, "another copy"), (401, "does not know")]
)
def test_server_that_says_no_to_the_poll(host: Host, server: FakeServer, status: int, words: str) -> None:
    server.poll_status = status
    process = host.start()
    until(lambda: words in host.log.read_text(), words)
    if status == 401:
        assert process.wait(5) == 2
    else:
        assert host.end() == 0, "it had not ended by itself, but on SIGTERM"


def test_second_agent_with_the_same_state_does_not_start(host: Host, server: FakeServer) -> None:
    host.start()
    until(lambda: server.polls, "the first agent")
    assert "Another agent is running" in host.call("run", "--server", server.address).stderr


def test_a_plan_for_a_runner_that_is_dead_already_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever says "go" finds it dead and starts another one; the attempt is not refused."""
    monkeypatch.setattr("sys.executable", "/bin/true")
    runner = Launcher().start(str(tmp_path), {"plan": "x" * (1 << 20)})
    assert runner.wait(20) == 0
    assert runner.stdin is not None
    with pytest.raises(BrokenPipeError):
        runner.stdin.write(b"g")


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (True, "the time limit that was asked for, 2 s"),
        pytest.param(
            False, "its own time, three times its estimate and a margin, 2 s", marks=pytest.mark.long
        ),  # the words are below
    ],
)
def test_fio_is_stopped_at_the_limit_of_the_offer_and_says_whose_it_was(
    host: Host, server: FakeServer, asked: bool, words: str
) -> None:
    attempt = server.offer(lasting(60))
    attempt.offer.update(limit_s=2, is_limit_asked=asked)
    host.start()
    assert host.ended(attempt) == "failed"
    assert words in attempt.ending["reason"]


def test_a_limit_that_was_asked_for_does_not_count_the_filling_of_files() -> None:
    """How long that takes is not known when somebody asks; the host's own limit counts it as before."""
    conf: Any = SimpleNamespace(max_runtime_s=3600, probe_folder="", shared_directory=False)
    asked = limits_of({"limit_s": 90, "is_limit_asked": True}, conf)
    usual = limits_of({"limit_s": 90, "is_limit_asked": False}, conf)
    assert [(found["limit_s"], found["fill_limit_s"]) for found in (asked, usual)] == [(90, 3600), (90, 90)]
    assert [found["limit_of"] for found in (asked, usual)] == [ASKED_LIMIT, USUAL_LIMIT]
