"""A hostile account beside the agent: links, foreign folders and swaps in the directory for test files. The agent is the real program; its
server only speaks the protocol."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, kill_below, lasting, until, workload

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
pytestmark = [
    pytest.mark.outside,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="another account's folders can be made by root only"),
]
READS = workload(job(rw="read", ioengine="psync"))
WRITES = workload(job(ioengine="psync"))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "agent.pyz"
    subprocess.run([sys.executable, str(ROOT / "worker" / "build_agent.py"), str(path)], check=True)
    return path


@pytest.fixture
def folder() -> Iterator[Path]:
    """Below /tmp, which is sticky, and open to look into, as a lab's disk is."""
    path = Path(tempfile.mkdtemp(prefix="spindle-safe-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    kill_below(path)
    shutil.rmtree(path)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    running = FakeServer()
    yield running
    running.stop()
    assert running.violations == []


@pytest.fixture
def host(folder: Path, server: FakeServer, program: Path) -> Iterator[Host]:
    one = Host(folder, server, program)
    one.files.rmdir()
    one.files = folder / "disk" / "files"
    one.files.mkdir(0o700, parents=True)
    one.configure(directory=one.files)
    yield one
    one.close()


@pytest.fixture
def victim(folder: Path) -> Path:
    """Files that belong to somebody else and look like the agent's own."""
    path = folder / "victim"
    path.mkdir()
    for name in ("data.0.0", "data.1.0", "diary"):
        (path / name).write_text(name)
    return path


def _unharmed(victim: Path) -> None:
    assert {one.name: one.read_text() for one in victim.iterdir()} == {
        name: name for name in ("data.0.0", "data.1.0", "diary")
    }


def _refused(host: Host, server: FakeServer) -> str:
    attempt = server.offer(WRITES)
    until(lambda: attempt.state in ("refused", "ended"), "the host's word")
    assert attempt.state == "refused"
    assert not any(host.files.iterdir())
    return str(attempt.reason)


def test_a_directory_that_others_may_write_is_refused_by_name(host: Host, server: FakeServer) -> None:
    """Whoever may write there, or rename what is above it, could place links; it is looked at before every run."""
    above = host.files.parent
    host.start()
    assert host.ended(server.offer(WRITES)) == "finished"
    for path, mode in ((host.files, 0o777), (host.files, 0o1777), (host.files, 0o770), (above, 0o777), (above, 0o775)):
        before = path.stat().st_mode
        path.chmod(mode)
        reason = _refused(host, server)
        path.chmod(before & 0o7777)
        assert f"can write in {path} (mode {mode:04o})" in reason
        assert "shared_directory = yes" in reason
    for path in (host.files, above):
        os.chown(path, NOBODY, NOBODY)
        assert f"{path} belongs to the account nobody" in _refused(host, server)
        os.chown(path, 0, 0)
    above.chmod(0o1777)  # as /tmp is: what is ours there stays ours
    assert host.ended(server.offer(WRITES)) == "finished"


def test_a_directory_that_became_a_link_is_refused(host: Host, server: FakeServer, victim: Path) -> None:
    host.start()
    until(lambda: server.polls, "the agent")
    host.files.rename(host.files.with_name("moved"))
    host.files.symlink_to(victim)
    attempt = server.offer(WRITES)
    until(lambda: attempt.state == "refused", "the refusal")
    assert "is a link" in attempt.reason
    _unharmed(victim)


def test_a_link_that_others_placed_before_the_start_is_not_followed(
    host: Host, server: FakeServer, victim: Path
) -> None:
    """Where it leads belongs to root alone, and would do if it were written in agent.conf."""
    disk = host.files.parent
    host.files.rename(disk / "moved")
    host.files.symlink_to(victim)
    os.chown(host.files, NOBODY, NOBODY, follow_symlinks=False)
    disk.chmod(0o777)
    host.start()
    attempt = server.offer(WRITES)
    until(lambda: attempt.state == "refused", "the refusal")
    disk.chmod(0o755)
    attempt = server.offer(WRITES)
    until(lambda: attempt.state == "refused", "the refusal")
    assert "is a link" in attempt.reason
    _unharmed(victim)


def test_a_link_of_the_administrators_is_followed_from_where_nobody_else_can_write(
    host: Host, server: FakeServer, folder: Path
) -> None:
    (folder / "disks").symlink_to(host.files.parent)
    host.configure(directory=folder / "disks" / "files")
    host.start()
    assert host.ended(server.offer(WRITES)) == "finished"
    assert server.polls[-1]["policy"]["directory"] == str(host.files)


def test_enrolment_makes_nothing_behind_a_link_of_others(
    folder: Path, server: FakeServer, program: Path, victim: Path
) -> None:
    (folder / "link").symlink_to(victim)
    os.chown(folder / "link", NOBODY, NOBODY, follow_symlinks=False)
    argv = [sys.executable, str(program), "enrol", "--state", str(folder / "second"), "--server", server.address]
    env = {**os.environ, "SPINDLE_ENROL_TOKEN": "x"}
    done = subprocess.run(
        [*argv, "--directory", str(folder / "link" / "new")], env=env, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"is a link" in done.stderr
    _unharmed(victim)
    assert not (folder / "second" / "agent.conf").exists()  # so that the next try may name another directory


def test_enrolment_refuses_it_too_and_status_and_server_are_told(
    folder: Path, server: FakeServer, program: Path, host: Host
) -> None:
    open_to_all = folder / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    argv = [sys.executable, str(program), "enrol", "--state", str(folder / "second"), "--server", server.address]
    done = subprocess.run(
        [*argv, "--directory", str(open_to_all)],
        env={**os.environ, "SPINDLE_ENROL_TOKEN": "x"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"can write in" in done.stderr
    told = subprocess.run(
        [*argv, "--directory", str(open_to_all), "--shared-directory"],
        env={**os.environ, "SPINDLE_ENROL_TOKEN": "x"},
        capture_output=True,
        check=False,
    )
    assert told.returncode == 0
    assert "shared_directory = yes" in (folder / "second" / "agent.conf").read_text()
    host.files.chmod(0o777)
    host.start()
    until(lambda: server.polls, "the agent")
    assert "can write in" in server.polls[0]["policy"]["directory_refused"]
    assert "directory_refused: other accounts can write" in host.call("status").stdout


def test_told_otherwise_it_works_there(host: Host, server: FakeServer) -> None:
    host.files.chmod(0o777)
    host.configure(shared_directory="yes")
    host.start()
    assert host.ended(server.offer(READS)) == "finished"
    assert host.leftovers() == []


def test_an_agents_folder_that_others_could_replace_is_refused_or_told_of(
    folder: Path, server: FakeServer, program: Path
) -> None:
    above = folder / "above"
    above.mkdir()
    state = above / "inner" / "state"
    argv = [sys.executable, str(program), "enrol", "--state", str(state), "--server", server.address]

    def enrol(**more: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "SPINDLE_ENROL_TOKEN": "x", **more}
        return subprocess.run([*argv, "--again"], env=env, capture_output=True, text=True, check=False)

    for mode in (0o777, 0o775):
        above.chmod(mode)
        done = enrol()
        assert done.returncode == 2
        assert f"can write in {above} (mode {mode:04o})" in done.stderr
        assert not state.exists()
    above.chmod(0o755)
    os.chown(above, NOBODY, NOBODY)
    assert "belongs to another account" in enrol().stderr
    assert not state.exists()
    told = enrol(AGENT_FOLDERS_ABOVE="warn")
    assert told.returncode == 0, told.stderr
    assert f"can replace the agent's folder {state}" in told.stderr
    os.chown(state, NOBODY, NOBODY)  # root in a user's own checkout: that folder is the user's anyway
    assert "belongs to another user" in enrol().stderr
    os.chown(state, 0, 0)
    os.chown(above, 0, 0)
    above.chmod(0o1777)
    assert enrol(SPINDLE_ENROL_TOKEN="y").returncode == 0


@pytest.mark.parametrize("name", ["reserve", "spool", "quarantine"])
def test_links_in_the_agents_own_folder_are_not_followed(
    host: Host, server: FakeServer, victim: Path, folder: Path, name: str
) -> None:
    place = host.state / name
    if place.is_dir():
        shutil.rmtree(place)
    elif place.exists():
        place.unlink()
    place.symlink_to(folder / "elsewhere" if name == "reserve" else victim)
    process = host.start()
    if name == "reserve":
        attempt = server.offer(WRITES)
        until(lambda: attempt.state == "refused", "the refusal")
        assert "reserve is a link" in host.log.read_text()
    else:
        assert process.wait(20) == 2
    _unharmed(victim)
    assert not (folder / "elsewhere").exists()


def test_nonsense_in_the_option_is_said(host: Host) -> None:
    host.configure(shared_directory="perhaps")
    assert "must be yes or no" in host.call("status").stderr


def test_an_agent_conf_from_before_the_option_refuses(host: Host, server: FakeServer) -> None:
    path = host.state / "agent.conf"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "shared" not in line))
    host.start()
    assert host.ended(server.offer(WRITES)) == "finished"
    host.files.chmod(0o777)
    assert "can write in" in _refused(host, server)


@pytest.fixture
def shared(host: Host) -> Host:
    host.files.chmod(0o777)
    host.configure(shared_directory="yes")
    return host


def test_a_link_in_place_of_a_former_runs_folder_is_not_followed_at_the_start(
    shared: Host, server: FakeServer, victim: Path
) -> None:
    (shared.files / "attempt-999").symlink_to(victim)
    theirs = shared.files / "attempt-998"
    theirs.mkdir()
    os.link(victim / "data.0.0", theirs / "data.0.0")
    os.chown(theirs, NOBODY, NOBODY)
    shared.start()
    assert shared.ended(server.offer(WRITES)) == "finished"
    _unharmed(victim)
    assert (theirs / "data.0.0").exists()
    assert (shared.files / "attempt-999").is_symlink()


def _next(server: FakeServer) -> str:
    return f"attempt-{max(server.attempts, default=0) + 1}"


def _link(place: Path, victim: Path) -> None:
    place.symlink_to(victim)


def _foreign_folder(place: Path, victim: Path) -> None:
    place.mkdir(0o777)
    (place / "data.0.0").symlink_to(victim / "data.0.0")
    os.link(victim / "data.1.0", place / "data.1.0")
    os.chown(place, NOBODY, NOBODY)


def _file(place: Path, victim: Path) -> None:
    os.link(victim / "diary", place)


@pytest.mark.parametrize("plant", [_link, _foreign_folder, _file])
@pytest.mark.parametrize("what", [READS, WRITES])
def test_what_lies_in_the_way_of_a_run_fails_it_and_is_left_alone(
    shared: Host, server: FakeServer, victim: Path, plant: Callable[[Path, Path], None], what: dict[str, object]
) -> None:
    shared.start()
    until(lambda: server.polls, "the agent")
    plant(shared.files / _next(server), victim)
    attempt = server.offer(what)
    assert shared.ended(attempt) == "failed"
    assert "in the directory for test files" in attempt.ending["reason"]
    assert not attempt.running
    _unharmed(victim)


def test_a_run_whose_folder_is_swapped_for_a_link_stays_in_its_own(
    shared: Host, server: FakeServer, victim: Path, folder: Path
) -> None:
    shared.start()
    until(lambda: server.polls, "the agent")
    mine = shared.files / _next(server)
    attempt = server.offer(lasting(3, ioengine="psync"))
    until(lambda: attempt.state == "running", "fio")
    mine.rename(folder / "stolen")
    mine.symlink_to(victim)
    assert shared.ended(attempt) == "finished"
    _unharmed(victim)
    assert mine.is_symlink()
    assert [one.name for one in (folder / "stolen").iterdir()] == []
    assert not [where for where in _fio() if str(folder) in where]


def test_an_agent_that_comes_back_ends_fio_in_a_folder_that_was_moved(
    shared: Host, server: FakeServer, victim: Path, folder: Path
) -> None:
    process = shared.start()
    mine = shared.files / _next(server)
    attempt = server.offer(lasting(60, ioengine="psync"))
    until(lambda: attempt.state == "running", "fio")
    mine.rename(folder / "stolen")
    mine.symlink_to(victim)
    process.kill()
    process.wait()
    for pid in _runners(folder):
        os.kill(pid, 9)
    shared.start()
    assert shared.ended(attempt) == "interrupted"
    _unharmed(victim)
    assert not [where for where in _fio() if str(folder) in where]


def _fio() -> list[str]:
    """The folders in which fio works."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == "fio":
                found.append(os.readlink(entry / "cwd"))
        except OSError:
            pass
    return found


def _runners(folder: Path) -> list[int]:
    """Processes of the agent's program that hold an attempt's lock."""
    held = f"{folder}/state/spool/"
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and any(
                (target := os.readlink(one)).startswith(held) and target.endswith("/lock")
                for one in (entry / "fd").iterdir()
            ):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def test_swaps_between_look_and_use_lead_nowhere(shared: Host, server: FakeServer, victim: Path, folder: Path) -> None:
    """Somebody exchanges each new folder for a link as fast as he can, before, while and after it is filled."""
    done, swaps = threading.Event(), []

    def attack() -> None:
        while not done.is_set():
            for one in shared.files.glob("attempt-*"):
                try:
                    if not one.is_symlink():
                        one.rename(folder / f"stolen-{len(swaps)}")
                        one.symlink_to(victim)
                        swaps.append(one.name)
                    else:
                        one.unlink()
                except OSError:
                    pass
            time.sleep(0.0005)

    attacker = threading.Thread(target=attack)
    attacker.start()
    try:
        shared.start()
        for what in (READS, WRITES) * 6:
            assert shared.ended(server.offer(what)) in ("finished", "failed")
    finally:
        done.set()
        attacker.join()
    assert swaps, "nobody attacked"
    _unharmed(victim)


def test_an_agent_of_before_that_wrote_no_place_is_taken_over(host: Host, server: FakeServer) -> None:
    """Its `started` file is empty: fio is then known by the path of its folder."""
    process = host.start()
    attempt = server.offer(lasting(60, ioengine="psync"))
    until(lambda: attempt.state == "running", "fio")
    [started] = host.state.glob("spool/*/started")
    at = started.stat()
    started.write_text("")
    os.utime(started, ns=(at.st_atime_ns, at.st_mtime_ns))
    process.kill()
    process.wait()
    for pid in _runners(host.state.parent):
        os.kill(pid, 9)
    host.start()
    assert host.ended(attempt) == "interrupted"
    assert host.leftovers() == []


def test_fio_may_be_installed_after_the_agent(host: Host, server: FakeServer, folder: Path) -> None:
    program = folder / "fio"
    host.configure(fio=program)
    host.start()
    until(lambda: server.polls, "the agent")
    assert server.polls[0]["fio_version"] is None
    attempt = server.offer(WRITES)
    until(lambda: attempt.state == "refused", "the refusal")
    assert "fio is not installed" in attempt.reason
    found = shutil.which("fio")
    assert found
    program.symlink_to(found)
    server.offer(WRITES)
    until(lambda: server.polls[-1]["fio_version"], "fio's version")
    assert json.dumps(server.polls[-1]["fio_version"]).startswith('"fio-')
