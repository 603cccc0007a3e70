"""What else a machine does: counted from files as a real kernel wrote them, from this machine, and beside a real run."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import Host, journal, lasting, until
from worker.agent import activity, mount, spool

RECORDED = Path(__file__).with_name("fixtures")
MIB = 2**20
MEMORY = Path("/dev/shm")
NEVER = {"sample": None, "last_run": None}


def recorded(name: str) -> tuple[str, str]:
    before, after = ((RECORDED / f"{name}-{when}.txt").read_text() for when in ("before", "after"))
    return before, after


def looked(clock: float, **counters: Any) -> dict[str, Any]:
    return {"clock": clock, "load": 0.1, "user": 0.0, "disks": {"sda": 0, "sdb": 0}, "nics": {"eth0": 0}, **counters}


# Counters


def test_a_disk_is_counted_once_and_what_is_stacked_on_it_not_at_all() -> None:
    """Recorded around `dd` of 32 MiB to vda and of 16 MiB to loop0, whose file lies on vda but was not synced yet."""
    before, after = (activity.disks(text, {"vda", "loop0", "zram0"}) for text in recorded("diskstats"))
    assert set(before) == {"vda"}
    assert 32 * MIB <= activity.moved(before, after) < 36 * MIB


def test_partitions_paths_and_devices_of_old_drivers(tmp_path: Path) -> None:
    line = "   8 {minor} {name} 1 0 {read} 0 1 0 {written} 0 0 0 0"
    names = ("sda", "sda1", "nvme0n1", "nvme0c0n1", "cciss/c0d0", "dm-0", "md127", "sr0")
    text = "\n".join(line.format(minor=n, name=name, read=2, written=4) for n, name in enumerate(names))
    assert activity.disks(text, set(names) - {"sda1"}) == dict.fromkeys(("sda", "nvme0n1", "cciss/c0d0"), 6 * 512)


@pytest.mark.skipif(not Path("/sys/class/net/eth0/device").exists(), reason="this machine has no NIC called eth0")
def test_loopback_and_devices_without_hardware_are_no_network() -> None:
    """Recorded around 50 datagrams of 1,000 bytes out of eth0 and 300 over loopback."""
    before, after = map(activity.nics, recorded("net-dev"))
    assert set(before) == {"eth0"}
    assert 50_000 <= activity.moved(before, after) < 200_000


def test_user_time_is_that_of_user_and_nice() -> None:
    before, after = map(activity.user_seconds, recorded("stat"))
    assert after - before == pytest.approx((83027 - 82819) / os.sysconf("SC_CLK_TCK"))


def test_devices_that_come_or_begin_anew_count_nothing() -> None:
    assert activity.moved({"sda": 100, "sdb": 900}, {"sda": 150, "sdb": 20, "sdc": 5000}) == 50
    assert activity.moved({"sda": 100}, {"sda": 150}, without={"sda"}) == 0


def test_a_write_by_another_process_is_seen_on_this_machine(tmp_path: Path) -> None:
    own = mount.disks_below(str(tmp_path))[0]
    if not own:
        pytest.skip("the temporary folder lies on no disk")
    before = activity.sample()["disks"]
    with open(tmp_path / "other", "wb") as file:
        file.write(os.urandom(16 * MIB))
        os.fsync(file.fileno())
    after = activity.sample()["disks"]
    assert activity.moved(before, after) >= 16 * MIB
    assert activity.moved(before, after, own) == activity.moved(before, after) - sum(after[n] - before[n] for n in own)


# Before a run


def test_before_a_run_every_disk_counts() -> None:
    idle = {"sample": looked(100.0), "last_run": None}
    now = looked(110.0, disks={"sda": 30_000_000, "sdb": 10_000_000}, nics={"eth0": 5000})
    assert activity.before(idle, now) == {
        "load_before": 0.1, "seconds_before": 10.0, "disk_before": 4_000_000, "network_before": 500
    }  # fmt: skip


@pytest.mark.parametrize("seconds", [0.5, 500.0])
def test_too_short_and_too_long_ago_say_nothing(seconds: float) -> None:
    idle = {"sample": looked(100.0), "last_run": None}
    assert activity.before(idle, looked(100.0 + seconds)) == {"load_before": 0.1}


@pytest.mark.parametrize(("ago", "known"), [(5.0, False), (300.0, False), (500.0, True), (-50.0, False)])
def test_the_load_that_a_run_of_ours_left_is_not_told(ago: float, known: bool) -> None:
    assert ("load_before" in activity.before({"sample": None, "last_run": time.time() - ago}, looked(1.0))) is known


def test_the_last_five_seconds_are_looked_at_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("worker.agent.activity.time.monotonic", lambda: clock[0])
    idle = activity.Idle()
    for clock[0] in (0.0, 2.0, 25.0, 26.0, 50.0):
        idle.look()
    clock[0] = 51.0
    assert idle.figures_for_runner(None)["sample"]["clock"] == 25.0
    assert idle.figures_for_runner(None)["sample"] is None, (
        "the next run comes after this one, and not after the time before it"
    )


def test_the_spool_knows_when_the_last_run_ended(tmp_path: Path) -> None:
    one = spool.Spool(str(tmp_path))
    assert one.last_run() is None
    (tmp_path / "fence.json").write_text("{}")
    os.utime(tmp_path / "fence.json", (1000, 1000))
    assert one.last_run() == 1000
    (tmp_path / "spool" / "7").mkdir()
    (tmp_path / "spool" / "7" / "exit.json").write_text("{}")
    os.utime(tmp_path / "spool" / "7" / "exit.json", (2000, 2000))
    assert one.last_run() == 2000


# During a run


@pytest.fixture
def samples(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the next looks will see; the directory under test lies on sda."""
    waiting: list[dict[str, Any]] = []
    monkeypatch.setattr("worker.agent.activity.sample", lambda: waiting.pop(0))
    monkeypatch.setattr("worker.agent.activity.disks_below", lambda _: ({"sda"}, True))
    monkeypatch.setattr("worker.agent.activity.time.monotonic", lambda: waiting[0]["clock"])
    return waiting


def test_means_and_greatest_of_others_beside_a_run(samples: list[dict[str, Any]], tmp_path: Path) -> None:
    samples += [
        looked(0.0),
        looked(10.0, user=8.0, disks={"sda": 900 * MIB, "sdb": 0}, nics={"eth0": 1000}),
        looked(20.0, user=16.0, disks={"sda": 1800 * MIB, "sdb": 40_000}, nics={"eth0": 2000}),
        looked(20.5, user=33.4, disks={"sda": 1800 * MIB, "sdb": 41_000}, nics={"eth0": 4100}),
    ]
    result = tmp_path / "result.json"
    watch = activity.ActivityWatch(NEVER, "/srv", str(result))
    watch.look()
    result.write_bytes(b"x" * 900)  # the agent has sent it: of 1000 bytes 100 are somebody else's
    watch.look()
    assert watch.end(own_user_s=12.9) == {
        "load_before": 0.1, "seconds_during": 20.5, "own_disks": ["sda"], "load_during": 1.0,
        "other_disk_during": 2_000.0, "other_disk_during_max": 4_000.0,
        "network_during": round((1000 + 100 + 2100) / 20.5, 3), "network_during_max": 100.0,
    }  # fmt: skip


def test_a_run_of_less_than_a_second_is_not_judged(samples: list[dict[str, Any]]) -> None:
    samples += [looked(0.0), looked(0.9, disks={"sda": 0, "sdb": 10**9})]
    assert activity.ActivityWatch(NEVER, "/srv", "").end(0.5) == {"load_before": 0.1}


def test_what_is_not_known_is_left_out(samples: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.agent.activity.disks_below", lambda _: (None, False))
    samples += [looked(0.0, load=float("nan")), looked(9.0, user=90.0, nics={"eth0": 10**9})]
    assert activity.ActivityWatch(NEVER, "/srv", "").end(own_user_s=None) == {"seconds_during": 9.0}


# Beside real fio


@pytest.fixture
def in_memory(tmp_path: Path, host: Host) -> Iterator[Host]:
    """Its files lie in memory, so that this machine's disks are none of the run's."""
    if mount._mounted(str(MEMORY))[0] != "tmpfs":
        pytest.skip(f"{MEMORY} is no filesystem in memory")
    host.files = MEMORY / f"spindle-{os.getpid()}"
    host.files.mkdir()
    host.configure(directory=host.files)
    yield host
    host.close()
    host.files.rmdir()


def told(attempt: Attempt) -> dict[str, Any]:
    (found,) = [line for line in journal(attempt) if line["event"] == "activity"]
    return found


@pytest.mark.slow
@pytest.mark.fio
def test_another_process_that_computes_and_writes_is_told_with_the_run(
    in_memory: Host, server: FakeServer, tmp_path: Path
) -> None:
    if not mount.disks_below(str(tmp_path))[0]:
        pytest.skip("the temporary folder lies on no disk")
    in_memory.start()
    until(lambda: server.polls, "the first poll")
    time.sleep(1.5)  # the time before the run
    attempt = server.offer(lasting(5, rw="write", ioengine="psync", file_size=4 * MIB))
    until(lambda: in_memory.fio_runs(attempt), "fio")
    script = "import os,sys\nwith open(sys.argv[1], 'wb') as f:\n f.write(b'x' * (64 << 20)); os.fsync(f.fileno())\nwhile True: pass"
    other = subprocess.Popen(["python3", "-c", script, str(tmp_path / "other")])
    try:
        assert in_memory.ended(attempt) == "finished"
    finally:
        other.kill()
        other.wait()
    found = told(attempt)
    assert found["other_disk_during"] * found["seconds_during"] >= 64 * MIB
    assert found["other_disk_during_max"] >= found["other_disk_during"]
    assert found["load_during"] > 0.3, "another process has one core, or half of it where fio takes its share"
    assert found["seconds_during"] == pytest.approx(5, abs=1.5)
    assert {"load_before", "disk_before", "seconds_before"} <= set(found)
    assert found["own_disks"] == []


@pytest.mark.slow
@pytest.mark.fio
def test_what_fio_itself_does_is_not_somebody_elses(host: Host, server: FakeServer) -> None:
    """As many processes as there are cores, which do nothing but count: all user time is theirs."""
    cores = os.cpu_count() or 1
    attempt = server.offer(lasting(4, numjobs=cores))
    host.start()
    assert host.ended(attempt) == "finished"
    text = attempt.stream("result").decode()
    fio = json.loads(text[text.rindex("\n{\n") :])["jobs"][0]
    found = told(attempt)
    assert found["own_disks"] == sorted(mount.disks_below(str(host.files))[0] or ())
    assert 0 <= found["load_during"] <= cores * (1 - fio["usr_cpu"] / 100) + 0.1 * cores
