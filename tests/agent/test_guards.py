"""Guards on a host, right before fio: what each looks at, and with real fio that nothing is started until they hold."""

import json
import mmap
import os
import re
import signal
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import Host, job, journal, lasting, starts, until
from worker.agent import guards, mount
from worker.agent.admin import probe
from worker.agent.guards import (
    alone,
    arrays,
    filesystem,
    idle,
    old_files,
    page_cache,
    processes,
    queues_off,
    temperature,
    users_out,
)
from worker.agent.guards.evidence import HostFinding, RunSite, limit

MIB = 1 << 20
CLEAN = """Personalities : [raid1] [raid6] [raid5] [raid4]
md127 : active raid5 sdd1[3] sdc1[1] sdb1[0]
      1953258496 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]
      bitmap: 2/8 pages [8KB], 65536KB chunk

md0 : active raid1 sda1[0]
      523264 blocks super 1.2 [2/1] [U_]

unused devices: <none>
"""
RECOVERY = """Personalities : [raid6] [raid5] [raid4]
md127 : active raid5 sdd1[4] sdc1[1] sdb1[0]
      1953258496 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      [==>..................]  recovery = 12.6% (123456/976629248) finish=127.5min speed=33440K/sec
      bitmap: 2/8 pages [8KB], 65536KB chunk

unused devices: <none>
"""
WIDE = {"guard": "idle", "seconds": 1, "load": 100000, "rate": 1e12}


def site(folder: Path, files: list[tuple[str, int]] | None = None, **place: str) -> RunSite:
    handle = os.open(folder, os.O_RDONLY)
    return RunSite(handle, files or [], 0, place or mount.place_of(handle), time.sleep)


# What each looks at


def test_an_array_with_all_members_and_nothing_under_way_is_settled() -> None:
    found = arrays.judge(CLEAN, ["md127"])
    assert found.outcome == "passed"
    assert found.figures["mdstat"].startswith("md127 : active raid5 sdd1[3]")
    assert "[3/3] [UUU]" in found.figures["mdstat"]
    assert "md0" not in found.figures["mdstat"], "the lines of this array alone"


@pytest.mark.parametrize(
    ("text", "own", "words"),
    [
        (RECOVERY, ["md127"], "md127: degraded, 2 of 3 members; md127: recovery 12.6%"),
        (CLEAN, ["md0", "md127"], "md0: degraded, 1 of 2 members"),
        (
            RECOVERY.replace("recovery = 12.6%", "check = 3.0%").replace("[3/2]", "[3/3]"),
            ["md127"],
            "md127: check 3.0%",
        ),
        (CLEAN.replace("      bitmap", "      resync=DELAYED\n      bitmap"), ["md127"], "md127: resync DELAYED"),
        (CLEAN.replace("md127 : active", "md127 : inactive"), ["md127"], "md127: inactive"),
    ],
)
def test_an_array_that_is_not_settled_says_what_is_under_way(text: str, own: list[str], words: str) -> None:
    found = arrays.judge(text, own)
    assert (found.outcome, found.text) == ("failed", words)


def test_an_array_that_mdstat_does_not_list_is_not_checked() -> None:
    assert arrays.judge(CLEAN, ["md7"]).outcome == "not checked"


def test_arrays_below_volumes_and_partitions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = tmp_path / "devices"
    for path in ("virtual/block/dm-0/slaves", "virtual/block/md127/md", "virtual/block/md127/md127p1", "sda"):
        (devices / path).mkdir(parents=True)
    (devices / "virtual/block/md127/md127p1/partition").write_text("1")
    names = tmp_path / "class" / "block"
    names.mkdir(parents=True)
    (names / "md127p1").symlink_to(devices / "virtual/block/md127/md127p1")
    (devices / "virtual/block/dm-0/slaves/md127p1").mkdir()
    (tmp_path / "dev" / "block").mkdir(parents=True)
    device = os.stat(tmp_path).st_dev
    (tmp_path / "dev" / "block" / f"{os.major(device)}:{os.minor(device)}").symlink_to(devices / "virtual/block/dm-0")
    monkeypatch.setattr(mount, "SYS", str(tmp_path))
    if mount._mounted(str(tmp_path))[0] in mount.IN_MEMORY:
        pytest.skip("the temporary folder lies in memory")
    assert arrays.arrays_below(str(tmp_path)) == {"md127"}


def test_pages_of_the_test_file_are_dropped_and_read_back(tmp_path: Path) -> None:
    (tmp_path / "data.0.0").write_bytes(os.urandom(3 * MIB))
    found = page_cache.check({}, site(tmp_path, [("data.0.0", 3 * MIB)], type="ext4"))
    pages = 3 * MIB // mmap.PAGESIZE
    assert found.outcome == "passed", found
    assert found.figures == {"files": 1, "pages": pages, "resident_before": pages, "resident_pages": 0}


def test_pages_that_somebody_keeps_in_memory_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "data.0.0"
    path.write_bytes(os.urandom(MIB))
    with in_memory(path):
        found = page_cache.check({}, site(tmp_path, [("data.0.0", MIB)], type="ext4"))
    assert found.outcome == "failed"
    assert found.figures["resident_pages"] == MIB // mmap.PAGESIZE
    assert found.text.startswith(f"{MIB // mmap.PAGESIZE} of {MIB // mmap.PAGESIZE} pages")


def test_where_the_cache_cannot_be_read_back_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page_cache.check({}, site(tmp_path, [("data.0.0", 1)], type="zfs")).outcome == "not checked"
    (tmp_path / "data.0.0").write_bytes(b"x")
    monkeypatch.setattr(page_cache, "resident_pages", lambda *_: None)
    found = page_cache.check({}, site(tmp_path, [("data.0.0", 1)], type="ext4"))
    assert (found.outcome, found.figures) == ("not checked", {})
    assert "could not be read back" in found.text


def test_a_disk_that_is_too_warm_fails_and_one_without_sensor_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvme = tmp_path / "class/block/nvme0n1/device/hwmon1"
    sata = tmp_path / "class/block/sda/device/hwmon/hwmon2"
    for folder, now, most in ((nvme, "71850", "81850"), (sata, "34000", "")):
        folder.mkdir(parents=True)
        (folder / "temp1_input").write_text(now + "\n")
        if most:
            (folder / "temp1_max").write_text(most + "\n")
    monkeypatch.setattr(mount, "SYS", str(tmp_path))
    monkeypatch.setattr(mount, "disks_below", lambda _: ({"nvme0n1", "sda"}, True))
    place = site(tmp_path)
    hot = temperature.check({"celsius": 60}, place)
    assert (hot.outcome, hot.text) == ("failed", "nvme0n1 71.85 °C, at most 60 °C")
    assert hot.figures == {"nvme0n1": 71.85, "sda": 34.0}
    assert temperature.check({"celsius": 80}, place).outcome == "passed"
    usual = temperature.check({}, place)
    assert (usual.outcome, usual.limits) == ("not checked", {"nvme0n1": 81.85})
    assert "no limit is known of sda" in usual.text
    for strange in (float("nan"), True, "60"):  # no limit, so each drive's own threshold holds
        assert temperature.check({"celsius": strange}, place).limits == {"nvme0n1": 81.85}
    assert temperature.check({"celsius": 10**400}, place).limits == {"nvme0n1": 1000.0, "sda": 1000.0}
    monkeypatch.setattr(mount, "disks_below", lambda _: ({"sdq"}, True))
    assert "no sensor of sdq" in temperature.check({"celsius": 60}, place).text


def test_other_mount_options_than_planned_are_named(tmp_path: Path) -> None:
    place = {"type": "ext4", "source": "/dev/sdb1", "options": "rw,noatime,discard", "path": "/data"}
    expected = {"type": "ext4", "source": "/dev/sdb1", "options": "rw,relatime"}
    found = filesystem.check({"expected": expected}, site(tmp_path, **place))
    assert (found.outcome, found.text) == ("failed", "new options discard, noatime; missing options relatime")
    assert found.figures["options"] == "rw,noatime,discard"
    assert (
        filesystem.check({"expected": {**expected, "options": "discard,rw,noatime"}}, site(tmp_path, **place)).outcome
        == "passed"
    )
    other = filesystem.check({"expected": {**expected, "source": "/dev/sdc1"}}, site(tmp_path, **place))
    assert other.text == "found ext4 on /dev/sdb1, expected ext4 on /dev/sdc1"
    assert filesystem.check({}, site(tmp_path, **place)).outcome == "not checked"


def test_figures_of_a_busy_machine_fail_with_the_limit_that_they_exceed() -> None:
    figures = {
        "runnable_tasks": 0.1,
        "cores_busy": 1.9,
        "in_flight": 0.0,
        "disks": 4e7,
        "network": 5.0,
        "seconds": 10.0,
    }
    found = idle.judge(figures, idle.limits_of({}))
    assert found.outcome == "failed"
    assert found.text == "cores busy 1.9 (at most 0.5), disks 40 MB/s (at most 1 MB/s), over 10.0 s"
    assert idle.judge({**figures, "cores_busy": 0.2, "disks": 9.0}, idle.limits_of({})).outcome == "passed"
    assert idle.judge({**figures, "cores_busy": 0.2, "disks": 9.0}, idle.limits_of({}), None).outcome == "not checked"
    assert idle.judge(figures, idle.limits_of({"load": 2, "rate": 5e7})).outcome == "passed"
    assert "(at most 1000)" in idle.judge(figures, idle.limits_of({"load": 1000, "rate": 2e9})).text
    assert "(at most 2000 MB/s)" in idle.judge(figures, idle.limits_of({"load": 1000, "rate": 2e9})).text


def test_running_and_blocked_tasks_count_without_this_one() -> None:
    assert idle.runnable("cpu  1 2 3\nprocs_running 3\nprocs_blocked 2\n") == 4
    assert idle.runnable("") == 0


def test_a_process_that_computes_is_seen_on_this_machine(tmp_path: Path) -> None:
    pid = os.fork()
    if not pid:
        while True:
            pass
    try:
        found = idle.check({"seconds": 1, "load": 0.3, "rate": 1e12}, site(tmp_path))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert found.outcome == "failed"
    assert found.figures["cores_busy"] > 0.3
    assert found.figures["seconds"] >= 1


def test_guards_of_an_offer_come_in_the_order_in_which_they_are_looked_at() -> None:
    asked = [{"guard": "caches_dropped"}, {"guard": "idle"}, {"guard": "pause"}, {"guard": "new one"}]
    assert [guard["guard"] for guard in guards.read_guards(asked)] == ["new one", "pause", "idle", "caches_dropped"]
    assert guards.read_guards(None) == []
    for wrong in ({}, ["idle"], [{"guard": 5}], [{"guard": "idle"}] * 21):
        with pytest.raises(ValueError, match="guards: expected"):
            guards.read_guards(wrong)


# Before real fio


@contextmanager
def in_memory(path: Path) -> Iterator[None]:
    """Keep all pages of a file mapped, so that the kernel cannot drop them."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[at] for at in range(0, len(mapped), mmap.PAGESIZE)) >= 0
        yield


def test_file(host: Host) -> Path:
    def filled() -> Path | None:
        return next((path for path in host.files.glob("attempt-*/data.0.0") if path.stat().st_size == MIB), None)

    return until(filled, "the test file")


test_file.__test__ = False  # type: ignore[attr-defined]
READING = lasting(1, rw="randread", ioengine="psync", file_size=MIB)
FILES_OF_OTHERS = {"guard": "file_removed", "wait_s": 60}
HELD_UP: list[dict[str, Any]] = [FILES_OF_OTHERS, {"guard": "caches_dropped", "wait_s": 60}]
AGAIN = b"AGAIN_S, LONGEST_AGAIN_S = 5.0, 30.0"


@pytest.fixture(scope="module")
def impatient(pyz: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program with guards that look again after a fifth of a second instead of five."""
    path = tmp_path_factory.mktemp("impatient") / "agent.pyz"
    with zipfile.ZipFile(pyz) as source, zipfile.ZipFile(path, "w") as made:
        for name in source.namelist():
            text = source.read(name)
            if name == "agent/guards/__init__.py":
                assert AGAIN in text
                text = text.replace(AGAIN, b"AGAIN_S, LONGEST_AGAIN_S = 0.2, 0.2")
            made.writestr(name, text)
    return path


@pytest.fixture
def guarded(tmp_path: Path, server: FakeServer, impatient: Path) -> Iterator[Host]:
    """A host on which a run that is `HELD_UP` waits until `kept_in_memory` has its test file."""
    made = Host(tmp_path, server, impatient)
    of_others(made).mkdir()
    (of_others(made) / "notes").write_text("not the agent's, which leaves it where it is")
    yield made
    made.close()


def of_others(host: Host) -> Path:
    return host.files / "attempt-900"


@contextmanager
def kept_in_memory(host: Host) -> Iterator[None]:
    """Keep the test file in memory from before the guard of the page cache looks at it."""
    with in_memory(test_file(host)):
        (of_others(host) / "notes").unlink()
        of_others(host).rmdir()
        yield


def newest(attempt: Attempt) -> dict[str, dict[str, Any]]:
    """Return the evidence that was sent last, by guard."""
    return {entry["guard"]: entry for entry in attempt.evidence[-1]} if attempt.evidence else {}


def wait_for_the_guard(host: Host, attempt: Attempt) -> Path:
    """Return the file that says that fio was started, once the run waits. To be used in `kept_in_memory`."""
    until(lambda: newest(attempt).get("caches_dropped", {}).get("is_waiting"), "a run that waits for its guard")
    return host.spool(attempt) / "started"


@pytest.mark.slow
@pytest.mark.fio
def test_guards_that_hold_are_evidence_with_their_figures(host: Host, server: FakeServer) -> None:
    place = mount.look_at(str(host.files))
    expected = {name: place[name] for name in ("type", "source", "options")}
    asked = [
        {**WIDE, "wait_s": 5}, {"guard": "caches_dropped"}, {"guard": "space"}, {"guard": "array_settled"},
        {"guard": "filesystem", "expected": expected}, {"guard": "temperature", "is_required": False},
        {"guard": "flux compensated"},
    ]  # fmt: skip
    attempt = server.offer(READING, guards=asked)
    host.start()
    assert host.ended(attempt) == "finished"
    found = newest(attempt)
    assert set(found) == {guard["guard"] for guard in asked}
    assert found["flux compensated"]["outcome"] == "not checked"
    for kind in ("idle", "caches_dropped", "space", "filesystem"):
        assert found[kind]["outcome"] == "passed", found[kind]
    assert found["caches_dropped"]["figures"]["pages"] == MIB // mmap.PAGESIZE
    assert found["caches_dropped"]["figures"]["resident_pages"] == 0
    assert found["idle"]["figures"]["seconds"] >= 1
    assert found["space"]["figures"]["free_bytes"] > 0
    assert found["idle"]["checked_at"] <= attempt.running["started_at"]
    assert attempt.at["guards"] <= attempt.at["running"], "before the server hears that fio runs"
    told = [line for line in journal(attempt) if line["event"] == "guard"]
    assert {line["guard"] for line in told} == set(found)
    (activity,) = [line for line in journal(attempt) if line["event"] == "activity"]
    assert {"load_before", "disk_before", "network_before"} <= set(activity)
    assert activity["seconds_before"] >= 1


@pytest.mark.slow
@pytest.mark.fio
def test_a_run_waits_until_its_guard_holds_and_starts_then(guarded: Host, server: FakeServer) -> None:
    attempt = server.offer(READING, guards=HELD_UP)
    guarded.start()
    with kept_in_memory(guarded):
        started = wait_for_the_guard(guarded, attempt)
        assert attempt.state == "accepted"
        assert not started.exists()
        named = server.polls[-1]["attempts"]
        assert named == [{"attempt": 1, "token": attempt.token, "state": "accepted"}], "its lease is renewed"
    assert guarded.ended(attempt) == "finished"
    found = newest(attempt)["caches_dropped"]
    assert (found["outcome"], found["figures"]["resident_pages"]) == ("passed", 0)
    assert found["waited_s"] > 0
    assert found["tries"] >= 2
    assert starts(attempt) == 1


@pytest.mark.slow
@pytest.mark.fio
def test_a_guard_that_does_not_hold_in_time_refuses_the_run_with_its_figures(guarded: Host, server: FakeServer) -> None:
    attempt = server.offer(READING, guards=[FILES_OF_OTHERS, {"guard": "caches_dropped", "wait_s": 0}])
    guarded.start()
    with kept_in_memory(guarded):
        assert guarded.ended(attempt) == "failed"
    pages = MIB // mmap.PAGESIZE
    assert attempt.ending["reason"].startswith(
        f"guard caches dropped did not hold within 0 s: {pages} of {pages} pages of the test files in memory"
    )
    assert attempt.running == {}
    assert attempt.stream("result") == b""
    assert newest(attempt)["caches_dropped"]["is_waiting"] is False
    assert guarded.leftovers() == []


@pytest.mark.slow
@pytest.mark.fio
def test_a_guard_that_is_not_required_holds_nothing_up(guarded: Host, server: FakeServer) -> None:
    asked = [FILES_OF_OTHERS, {"guard": "caches_dropped", "is_required": False, "wait_s": 60}]
    attempt = server.offer(READING, guards=asked)
    guarded.start()
    with kept_in_memory(guarded):
        assert guarded.ended(attempt) == "finished"
    assert newest(attempt)["caches_dropped"]["outcome"] == "failed"


@pytest.mark.slow
@pytest.mark.fio
def test_a_run_that_waits_for_its_guard_is_cancelled_at_once(guarded: Host, server: FakeServer) -> None:
    attempt = server.offer(READING, guards=HELD_UP)
    guarded.start()
    with kept_in_memory(guarded):
        wait_for_the_guard(guarded, attempt)
        begun = time.monotonic()
        server.cancel(attempt)
        assert guarded.ended(attempt) == "cancelled"
        assert time.monotonic() - begun < 3
    assert attempt.running == {}
    assert guarded.leftovers() == []


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.parametrize("killed", ["agent", pytest.param("both", marks=pytest.mark.long)])
def test_killed_while_a_guard_waits_starts_once(guarded: Host, server: FakeServer, killed: str) -> None:
    attempt = server.offer(READING, guards=HELD_UP)
    process = guarded.start()
    with kept_in_memory(guarded):
        wait_for_the_guard(guarded, attempt)
        runner = guarded.runner(attempt)
        process.kill()
        process.wait()
        if killed == "both":
            os.kill(runner, signal.SIGKILL)
        assert not (guarded.spool(attempt) / "started").exists()
        guarded.start()
        if killed == "agent":
            until(lambda: server.polls[-1]["attempts"], "the new agent's poll")
    assert guarded.ended(attempt, 60) == "finished"
    assert starts(attempt) == 1
    assert newest(attempt)["caches_dropped"]["outcome"] == "passed"


@pytest.mark.fio
def test_guards_that_are_not_written_as_they_should_be_are_refused(host: Host, server: FakeServer) -> None:
    attempt = server.offer(READING, guards={"idle": True})
    host.start()
    until(lambda: attempt.state == "refused", "a refusal")
    assert "guards: expected a list" in attempt.reason


@pytest.mark.slow
@pytest.mark.fio
def test_a_second_repetition_has_a_load_before_it(host: Host, server: FakeServer) -> None:
    host.start()
    loads = []
    for number in (1, 2, 3):
        attempt = server.offer(lasting(1, rw="write", ioengine="psync", file_size=MIB), number)
        assert host.ended(attempt) == "finished"
        (line,) = [line for line in journal(attempt) if line["event"] == "activity"]
        loads.append(line["load_before"])
    cores = os.cpu_count() or 1
    assert all(0 <= load <= cores + 0.5 for load in loads[1:]), "of others, without fio's own"


def test_jobs_of_the_null_engine_have_no_file_to_look_at(tmp_path: Path) -> None:
    assert job()["ioengine"] == "null"
    assert page_cache.check({}, site(tmp_path, [], type="ext4")).figures == {"files": 0, "resident_pages": 0}


@pytest.mark.parametrize("forged", [float("nan"), float("inf"), 10**400, -1, "60", True, None])
def test_no_offer_makes_a_guard_wait_without_end(forged: Any) -> None:
    """A limit that is no number counts as none; all others lie within what the host allows."""
    (watch,) = guards.GuardRound([{"guard": "idle", "wait_s": forged}], None, print).watches  # type: ignore[arg-type]
    assert 0.0 <= watch.limit_s <= guards.LONGEST_WAIT_S
    assert limit({"load": forged}, "load", 0.5, 0.0, 8.0) in (0.0, 0.5, 8.0)


# What people used to vouch for


def utmp(*records: tuple[int, int, str]) -> bytes:
    """Return records of utmp(5) on x86-64: type, process and terminal."""
    return b"".join(
        users_out.RECORD.pack(kind, process, line.encode(), b"", b"ada").ljust(384, b"\0")
        for kind, process, line in records
    )


def test_somebody_who_is_logged_in_is_seen_by_terminal_and_not_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions, nologin = tmp_path / "sessions", tmp_path / "nologin"
    monkeypatch.setattr(users_out, "UTMP", str(tmp_path / "utmp"))
    monkeypatch.setattr(users_out, "SESSIONS", str(sessions))
    monkeypatch.setattr(users_out, "CLOSED", (str(nologin),))
    place = site(tmp_path)
    assert users_out.check({}, place).outcome == "not checked", "neither is there"
    gone = os.fork()
    if not gone:
        os._exit(0)
    os.waitpid(gone, 0)
    (tmp_path / "utmp").write_bytes(utmp((2, 0, "~"), (7, gone, "tty2"), (8, os.getpid(), "tty3")))
    empty = users_out.check({}, place)
    assert (empty.outcome, empty.figures) == ("passed", {"sessions_utmp": 0, "logins_closed": False})
    assert empty.text == "nobody is logged in, by utmp; logins are not closed (there is no nologin)"
    nologin.write_text("maintenance")
    assert f"logins are closed by {nologin}" in users_out.check({}, place).text
    sessions.mkdir()
    (sessions / "4").write_text("USER=ada\nCLASS=user\nSTATE=online\nTTY=pts/0\n")
    (sessions / "c1").write_text("USER=gdm\nCLASS=greeter\nSTATE=online\n")
    (sessions / "4.ref").write_text("")
    there = users_out.check({}, place)
    assert (there.outcome, there.figures["sessions_logind"]) == ("failed", 1)
    assert there.text == "somebody is logged in: pts/0, by logind and utmp"
    (sessions / "4").unlink()
    (tmp_path / "utmp").write_bytes(utmp((2, 0, "~"), (7, os.getpid(), "tty1")))
    assert users_out.check({}, place).text == "somebody is logged in: tty1, by logind and utmp"
    for nobody_writes_it in (b"x" * 7, b"", utmp((7, os.getpid(), "tty1"))):
        (tmp_path / "utmp").write_bytes(nobody_writes_it)
        assert users_out.utmp_terminals(str(tmp_path / "utmp")) is None


def processes_of(folder: Path, *names: str) -> str:
    for number, name in enumerate(names, 1):
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / "comm").write_text(name + "\n")
    return str(folder)


@pytest.mark.parametrize(
    ("names", "queues", "alone_words"),
    [
        (("systemd", "sshd"), ("passed", "none of slurmstepd"), ("passed", "none of fio")),
        (("systemd", "slurmd"), ("not checked", "slurmd (Slurm) runs"), ("passed", "none of fio")),
        (("systemd", "slurmd", "slurmstepd"), ("failed", "1 slurmstepd (Slurm)"), ("passed", "none of fio")),
        (("systemd", "fio", "fio", "dd"), ("passed", "none of"), ("failed", "another benchmark runs: 2 fio, 1 dd")),
    ],
)
def test_batch_systems_and_benchmarks_are_known_by_their_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], queues: tuple[str, str], alone_words: Any
) -> None:
    monkeypatch.setattr(processes, "PROC", processes_of(tmp_path / "proc", *names))
    for check, (outcome, words) in ((queues_off.check, queues), (alone.check, alone_words)):
        found = check({}, site(tmp_path))
        assert found.outcome == outcome
        assert words in found.text


def test_where_processes_are_hidden_nothing_is_claimed_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "proc" / "77"
    own.mkdir(parents=True)
    (own / "comm").write_text("python3\n")
    monkeypatch.setattr(processes, "PROC", str(tmp_path / "proc"))
    for check in (queues_off.check, alone.check):
        found = check({}, site(tmp_path))
        assert (found.outcome, "hidden" in found.text) == ("not checked", True)


def test_files_of_an_earlier_run_are_seen_beside_its_own(tmp_path: Path) -> None:
    own = tmp_path / "attempt-7"
    own.mkdir()
    (tmp_path / "notes").mkdir()
    assert old_files.check({}, site(own)).outcome == "passed"
    (tmp_path / "attempt-3").mkdir()
    found = old_files.check({}, site(own))
    assert (found.outcome, found.figures) == ("failed", {"folders": 1})
    assert "attempt-3" in found.text
    assert "attempt-7" not in found.text
    shared = old_files.check({}, site(own)._replace(is_shared=True))
    assert (shared.outcome, "shared_directory" in shared.text) == ("not checked", True)


def test_the_page_cache_is_left_alone_while_another_guard_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """To drop it may reach the whole host, on which somebody works at that moment."""
    looked: list[str] = []
    outcomes = iter(["failed", "failed", "passed"])

    def look(kind: str, asked: Any, place: Any) -> HostFinding:
        looked.append(kind)
        return HostFinding(next(outcomes) if kind == "idle" else "passed", "as it was found", {}, {})

    monkeypatch.setattr(guards, "look", look)
    asked = [{"guard": "idle", "wait_s": 60, "is_required": True}, {"guard": "caches_dropped", "wait_s": 60}]
    place = RunSite(-1, [], 0, {}, lambda seconds: None)
    guards.GuardRound(asked, place, lambda evidence: None).hold()
    assert looked == ["idle", "idle", "idle", "caches_dropped"]


# The whole page cache, by the root probe


def test_without_a_probe_the_page_cache_guard_says_that_only_the_files_were_dropped(tmp_path: Path) -> None:
    (tmp_path / "data.0.0").write_bytes(os.urandom(MIB))
    place = site(tmp_path, [("data.0.0", MIB)], type="ext4")
    none = page_cache.check({}, place._replace(state=str(tmp_path / "state"), probe_folder=str(tmp_path / "none")))
    assert none.outcome == "passed"
    assert "the whole page cache was not dropped: this host has no root probe" in none.text
    probe.drop_caches(str(tmp_path / "no request"), str(tmp_path / "probe"))
    forbidden = page_cache.check(
        {}, place._replace(state=str(tmp_path / "state"), probe_folder=str(tmp_path / "probe"))
    )
    assert "allow_drop_caches in its probe.conf is not yes" in forbidden.text
    assert not (tmp_path / "state").exists(), "nothing is asked for"


def test_a_probe_that_may_drops_the_page_cache_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "data.0.0").write_bytes(os.urandom(MIB))
    folder, state = tmp_path / "probe", tmp_path / "state"
    probe.drop_caches(str(tmp_path / "no request"), str(folder))
    (folder / probe.CONF).write_text("allow_drop_caches = yes\n")
    request = state / "requests" / probe.REQUEST
    asked: list[bool] = []

    def answer(seconds: float) -> None:
        """Act as the unit that the request starts, without touching this machine's page cache."""
        if request.exists():
            asked.append(True)
            request.unlink()
            result = {"at": time.time(), "done": True, "cached_before": 5 * 10**9, "cached_after": 2 * 10**8}
            (folder / probe.DROPPED).write_text(json.dumps(result))

    place = site(tmp_path, [("data.0.0", MIB)], type="ext4")
    found = page_cache.check({}, place._replace(state=str(state), probe_folder=str(folder), sleep=answer))
    assert asked == [True]
    assert found.outcome == "passed"
    assert found.text.endswith("the host's probe dropped the whole page cache, from 5 GB to 0.2 GB")
    assert (found.figures["cached_before"], found.figures["cached_after"]) == (5 * 10**9, 2 * 10**8)
    assert found.figures["resident_pages"] == 0


def test_a_cancelled_run_does_not_wait_for_the_probe(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    probe.drop_caches(str(tmp_path / "no request"), str(folder))
    (folder / probe.CONF).write_text("allow_drop_caches = yes\n")

    def cancel(seconds: float) -> None:
        raise KeyboardInterrupt

    place = site(tmp_path, type="ext4")._replace(state=str(tmp_path / "s"), probe_folder=str(folder), sleep=cancel)
    with pytest.raises(KeyboardInterrupt):
        page_cache.check({}, place)


# What the administrator reads meanwhile


@pytest.mark.fio
def test_status_says_which_run_and_since_when(host: Host, server: FakeServer) -> None:
    assert "no run is under way" in host.call("status").stdout or not host.state.exists()
    attempt = server.offer(lasting(30), 42)
    attempt.offer["about"] = "round 2 of ext4 at \x1b[2J4k randread"
    host.start()
    until(lambda: attempt.state == "running", "fio")
    said = host.call("status").stdout
    found = re.search(r"run 42 \((.*)\), in (\S+): fio runs since \d{4}-\d\d-\d\d \d\d:\d\d \(\d+ s\)", said)
    assert found, said
    assert found[1] == "round 2 of ext4 at ?[2J4k randread", "nothing of the server steers the terminal"
    assert found[2] == str(host.files)
    assert "attempt" not in said
    refused = host.call("upgrade")
    assert "a run is not over yet. run 42" in refused.stderr
    server.cancel(attempt)
    assert host.ended(attempt) == "cancelled"


@pytest.mark.parametrize(
    "expected", [{"type": ["ext4"]}, {"type": {}, "options": 5}, {"type": 1, "source": {"a": 1}}, "x", 5]
)
def test_limits_that_make_no_sense_end_no_runner(tmp_path: Path, expected: Any) -> None:
    found = guards.look("filesystem", {"expected": expected, "wait_s": []}, site(tmp_path))
    assert found.outcome in ("failed", "not checked")
    for kind in guards.GUARDS.keys() - {"idle", "caches_dropped"}:
        assert guards.look(
            kind, {name: [{}] for name in ("expected", "seconds", "celsius", "load")}, site(tmp_path)
        ).text
