"""Several directories of one host: what the agent reports of them, where its runs go, and what it refuses."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import Host, job, lasting, starts, until, workload
from tests.agent.test_place import Tree
from worker.agent import mount, policy
from worker.agent.conf import MIB, Conf, Mistake, create, load

pytestmark = pytest.mark.fio
FILES = workload(job(ioengine="psync", file_size=MIB, rw="randrw"))


@pytest.fixture
def memory() -> Iterator[Path]:
    """A directory on another filesystem than the temporary folder."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if os.stat(folder).st_dev == os.stat(tempfile.gettempdir()).st_dev:
            pytest.skip("the temporary folder is in memory too")
        yield Path(folder)


@pytest.fixture
def two(host: Host, memory: Path) -> Host:
    """A host whose agent.conf allows its first directory and `memory`."""
    host.configure(directories=str(memory))
    return host


def reported(server: FakeServer, path: Path) -> dict[str, Any]:
    """What the newest poll says of a directory, once one says anything of it."""

    def entry() -> dict[str, Any]:
        newest = server.polls[-1]["directories"] if server.polls else []
        return next((dict(one) for one in newest if one["path"] == str(path)), {})

    return dict(until(entry, f"a report of {path}"))


def target_of(place: dict[str, Any]) -> dict[str, str]:
    return {name: place[name] for name in ("path", "type", "uuid", "source", "mount_point") if place.get(name)}


def refused(host: Host, attempt: Attempt) -> str:
    until(lambda: attempt.state == "refused" or attempt.ending, f"a refusal; {host.log.read_text()}")
    assert not host.spool(attempt).exists()
    assert not attempt.running
    return attempt.reason


def test_each_directory_is_reported_with_its_filesystem_and_takes_runs(
    two: Host, server: FakeServer, memory: Path
) -> None:
    two.start()
    places = [reported(server, two.files), reported(server, memory)]
    assert [place["root"] for place in places] == [str(two.files), str(memory)]
    assert places[1]["type"] == "tmpfs"
    assert places[0]["device"] != places[1]["device"]
    first_poll = server.polls[0]
    assert first_poll["directory"]["path"] == first_poll["policy"]["directory"] == str(two.files), "for older servers"
    assert first_poll["policy"]["directories"] == [str(two.files), str(memory)]
    for place in (*places, places[0]):
        attempt = server.offer(FILES, **target_of(place))
        assert two.ended(attempt) == "finished", attempt.ending
        found = attempt.running["place"]
        assert (found["path"], found["device"], found["type"]) == (place["path"], place["device"], place["type"])
        assert attempt.running["argv"][-1].endswith("/job.fio")
    assert list(memory.iterdir()) == two.leftovers() == []


def test_fio_works_in_the_directory_of_its_target(two: Host, server: FakeServer, memory: Path) -> None:
    two.start()
    attempt = server.offer(lasting(20, ioengine="psync"), **target_of(reported(server, memory)))
    folder = memory / f"attempt-{attempt.offer['attempt']}"
    until(lambda: list(folder.glob("data.*")), "test files in the target's own filesystem")
    assert not list(two.files.iterdir())
    server.cancel(attempt)
    assert two.ended(attempt) == "cancelled"
    assert not list(memory.iterdir())


def test_an_offer_without_a_directory_is_for_the_first_one(two: Host, server: FakeServer) -> None:
    """Servers of before know of one directory only."""
    two.start()
    attempt = server.offer(FILES)
    assert two.ended(attempt) == "finished"
    assert attempt.running["place"]["path"] == str(two.files)


def test_directories_outside_of_the_roots_are_refused(two: Host, server: FakeServer, memory: Path) -> None:
    (two.files / "attempt-77" / "deep").mkdir(parents=True)
    (two.files / "link").symlink_to(memory)
    (two.files / "sub").mkdir()
    two.start()
    for path, words in (
        ("/etc", f"the run is for /etc, and this host offers {two.files}, {memory} now"),
        (str(two.state / "spool"), "the run is for"),
        (f"{memory}x", "the run is for"),
        (f"{memory}/..", "without . and .."),
        (f"{two.files}/sub/../../state", "without . and .."),
        (f"{two.files}//sub", "without . and .."),
        (f"/{two.files}", "without . and .."),
        (f"{two.files}/sub\0", "without . and .."),
        ("files", "without . and .."),
        (f"{two.files}/attempt-77/deep", "is in the folder of a run"),
        (f"{two.files}/link", "is a link, which is not followed"),
        (f"{two.files}/link/sub", "is a link, which is not followed"),
        (f"{two.files}/not-there", "No such file or directory"),
    ):
        assert words in refused(two, server.offer(FILES, path=path)), path
    assert not list(memory.iterdir())
    assert sorted(path.name for path in two.files.iterdir()) == ["attempt-77", "link", "sub"]


def test_another_filesystem_than_the_targets_is_refused(two: Host, server: FakeServer, memory: Path) -> None:
    two.start()
    swapped = target_of(reported(server, two.files)) | {"path": str(memory)}
    assert "another filesystem is at" in refused(two, server.offer(FILES, **swapped))
    other_uuid = target_of(reported(server, two.files)) | {"uuid": "0f0f", "source": "/dev/other"}
    assert "another filesystem is at" in refused(two, server.offer(FILES, **other_uuid))


def test_each_directory_has_its_own_quota(two: Host, server: FakeServer, memory: Path) -> None:
    two.configure(quota_bytes=f"{4 * MIB}, {2 * MIB}")
    two.start()
    place = target_of(reported(server, memory))
    assert reported(server, memory)["quota_bytes"] == 2 * MIB
    big = workload(job(ioengine="psync", file_size=3 * MIB))
    assert f"more than this host's quota, {2 * MIB}" in refused(two, server.offer(big, **place))
    attempt = server.offer(big, path=str(two.files))
    assert two.ended(attempt) == "finished"


def test_a_directory_below_a_root_is_reported_when_the_server_asks_and_takes_runs(
    two: Host, server: FakeServer, memory: Path
) -> None:
    below = memory / "bench" / "deep"
    below.mkdir(parents=True)
    server.look_at = [str(below), "/etc", f"{memory}/nothing"]
    two.start()
    place = reported(server, below)
    assert (place["root"], place["type"]) == (str(memory), "tmpfs")
    assert "this host offers" in reported(server, Path("/etc"))["problem"]
    assert "type" not in reported(server, Path("/etc"))
    assert reported(server, memory / "nothing")["problem"] == "No such file or directory"
    attempt = server.offer(FILES, **target_of(place))
    assert two.ended(attempt) == "finished"
    assert attempt.running["place"]["path"] == str(below)
    assert not list(below.iterdir())
    below.rmdir()
    server.offer(FILES)  # wakes the poll
    until(lambda: "problem" in reported(server, below), "that it has vanished")


def test_a_stale_order_for_another_directory_starts_nothing(two: Host, server: FakeServer, memory: Path) -> None:
    two.start()
    place = target_of(reported(server, memory))
    newer = server.offer(FILES, token=500, **place)
    assert two.ended(newer) == "finished"
    stale = server.offer(FILES, token=499)
    assert "newer order" in refused(two, stale)
    two.end()
    two.start()
    assert "newer order" in refused(two, server.offer(FILES, token=498, path=str(two.files)))
    assert starts(newer) == 1


def test_left_over_folders_are_removed_from_all_directories_and_nothing_else(
    two: Host, server: FakeServer, memory: Path
) -> None:
    below = memory / "below"
    below.mkdir()
    server.look_at = [str(below)]
    two.start()
    assert two.ended(server.offer(FILES, **target_of(reported(server, below)))) == "finished"
    two.end()
    for folder in (two.files, memory, below):
        (folder / "attempt-900").mkdir()
        (folder / "attempt-900" / "data.0.0").write_bytes(b"x")
        (folder / "attempt-901").mkdir()
        (folder / "attempt-901" / "somebody's").write_bytes(b"x")
        (folder / "attempt-902").symlink_to("/etc")
        (folder / "mine").mkdir()
    two.start()
    until(lambda: not (below / "attempt-900").exists(), "the last one's removal")
    for folder in (two.files, memory, below):
        names = {path.name for path in folder.iterdir()} - {"below"}
        assert names == {"attempt-901", "attempt-902", "mine"}, folder
        assert (folder / "attempt-901" / "somebody's").exists()


def test_a_killed_runner_leaves_nothing_in_the_second_directory(two: Host, server: FakeServer, memory: Path) -> None:
    two.start()
    attempt = server.offer(lasting(30, ioengine="psync"), **target_of(reported(server, memory)))
    until(lambda: attempt.running, "fio")
    os.kill(two.runner(attempt), 9)
    assert two.ended(attempt) == "interrupted"
    assert not list(memory.iterdir())


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A folder of this test's own with a tmpfs mounted on it, where this account may mount."""
    point = tmp_path / "mounted"
    point.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "mode=700", "scratch", str(point)], check=False, capture_output=True
    ).returncode:
        pytest.skip("this account may not mount")
    yield point
    subprocess.run(["umount", "-l", str(point)], check=False, capture_output=True)


def test_a_root_that_is_not_mounted_any_more_takes_no_runs(host: Host, server: FakeServer, mounted: Path) -> None:
    host.configure(directories=str(mounted))
    host.start()
    place = reported(server, mounted)
    assert (place["type"], place["mount_point"]) == ("tmpfs", str(mounted))
    subprocess.run(["umount", str(mounted)], check=True)
    attempt = server.offer(FILES, **target_of(place))
    assert f"{mounted} is not mounted" in refused(host, attempt)
    until(lambda: reported(server, mounted)["mount_point"] != str(mounted), "a report of where it lies now")
    assert host.ended(server.offer(FILES, path=str(host.files))) == "finished", "the other one goes on"
    assert not list(mounted.iterdir())
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=700", "scratch", str(mounted)], check=True)
    server.answer_at_once()  # each poll says anew what lies where
    until(lambda: reported(server, mounted)["mount_point"] == str(mounted), "a report that it is mounted again")
    assert host.ended(server.offer(FILES, **target_of(place))) == "finished", "it takes runs again by itself"


def test_enrolment_takes_several_directories(tmp_path: Path, server: FakeServer, host: Host) -> None:
    state, paths = tmp_path / "other", [tmp_path / "a", tmp_path / "b" / "c"]
    words = [word for path in paths for word in ("--directory", str(path))]
    argv = [host.python, str(host.pyz), "enrol", "--state", str(state), "--server", server.address, "--token", "u"]
    done = subprocess.run([*argv, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [root.path for root in load(str(state)).roots] == list(map(str, paths))
    assert all(path.is_dir() for path in paths)
    shown = subprocess.run(
        [host.python, str(host.pyz), "status", "--state", str(state)], capture_output=True, text=True, check=True
    )
    assert all(f"directory: {path}, " in shown.stdout for path in paths)
    assert "a run takes at most 86400 s (max_runtime_s in agent.conf)" in shown.stdout
    for word in ("True", "False", "is_there", "may_drop", "{", "None"):
        assert word not in shown.stdout, "a person reads it"
    again = subprocess.run(
        [*argv, "--again", "--directory", str(tmp_path / "d")], capture_output=True, text=True, check=False
    )
    assert f"{tmp_path / 'd'} is not in {state}/agent.conf" in again.stderr


VALUES = {"max_runtime_s": "1", "max_iodepth": "1", "max_numjobs": "1", "cpus": "", "fio": "", "quota_bytes": "5"}


@pytest.mark.parametrize(
    ("values", "roots"),
    [
        ({"directory": "/a"}, [("/a", 5)]),
        ({"directory": "/a, b"}, [("/a, b", 5)]),
        ({"directories": "/a,/b/c/ , /d"}, [("/a", 5), ("/b/c", 5), ("/d", 5)]),
        ({"directory": "/a", "directories": "/b"}, [("/a", 5), ("/b", 5)]),
        ({"directories": "/a, /b,", "quota_bytes": "1, 2"}, [("/a", 1), ("/b", 2)]),
    ],
)
def test_the_roots_of_agent_conf(values: dict[str, str], roots: list[tuple[str, int]]) -> None:
    conf = Conf({**VALUES, **values})
    assert [(root.path, root.quota_bytes) for root in conf.roots] == roots
    assert (conf.directory, conf.quota_bytes) == roots[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"directories": "/a, b"}, "directories = b in agent.conf must be an absolute path"),
        ({"directories": "/a, /"}, "below /"),
        ({"directories": "/a, /b, /a/"}, "names the directory /a twice"),
        ({"directories": "/a, /b, /c", "quota_bytes": "1, 2"}, "has 2 numbers, expected one, or one for each"),
        ({"directories": "/a, /b", "quota_bytes": "1, 2G"}, "2G in agent.conf must be a whole number"),
        ({"directories": ", ".join(f"/d{number}" for number in range(33))}, "at most 32"),
    ],
)
def test_mistakes_in_the_roots_are_told(values: dict[str, str], words: str) -> None:
    with pytest.raises(Mistake, match=words):
        Conf({**VALUES, **values})


def test_a_conf_without_any_directory_is_refused(tmp_path: Path) -> None:
    create(str(tmp_path / "state"))
    path = tmp_path / "state" / "agent.conf"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("directory")))
    with pytest.raises(Mistake, match="lacks directory, or directories"):
        load(str(tmp_path / "state"))


def test_the_innermost_root_counts() -> None:
    conf = Conf({**VALUES, "directories": "/data, /data/fast", "quota_bytes": "1, 2"})
    for path, quota in (("/data/x", 1), ("/data/fast", 2), ("/data/fast/x", 2), ("/data/faster", 1)):
        root = conf.root_of(path)
        assert root is not None
        assert root.quota_bytes == quota, path
    assert conf.root_of("/dat") is conf.root_of("/") is None


def test_the_agents_own_folder_takes_no_runs_but_in_a_root_of_its_own() -> None:
    conf = Conf({**VALUES, "directories": "/var, /var/agent/files"}, "/var/agent")
    assert "in the agent's own folder" in policy.outside("/var/agent/spool", conf)
    assert "in the agent's own folder" in policy.outside("/var/agent", conf)
    assert policy.outside("/var/agent/files", conf) == policy.outside("/var/agents", conf) == ""


def test_settings_of_an_array_and_its_disks(tree: Tree, tmp_path: Path) -> None:
    for name, scheduler, cache in (("sda", "none [mq-deadline] bfq", "write back"), ("sdb", "[none]", "write through")):
        tree.device(f"devices/pci0000:00/ata1/block/{name}")
        queue = tree.sys / f"devices/pci0000:00/ata1/block/{name}/queue"
        queue.mkdir()
        for file, text in (
            ("scheduler", scheduler),
            ("read_ahead_kb", "128"),
            ("rotational", "1"),
            ("write_cache", cache),
        ):
            (queue / file).write_text(text + "\n")
    tree.device("devices/virtual/block/md7", "sda", "sdb")
    (tree.sys / "devices/virtual/block/md7/queue").mkdir()
    (tree.sys / "devices/virtual/block/md7/queue/read_ahead_kb").write_text("1024\n")
    for number, governor in ((0, "performance"), (4, "powersave"), (2, "performance")):
        cpu = tree.sys / f"devices/system/cpu/cpufreq/policy{number}"
        cpu.mkdir(parents=True)
        (cpu / "scaling_governor").write_text(governor + "\n")
    tree.mount("md7")
    handle = os.open(tree.folder, os.O_RDONLY)
    found = mount.settings_below(handle)
    os.close(handle)
    assert found["device"] == {"read_ahead_kb": "1024"}
    assert found["disks"]["sda"] == {
        "scheduler": "none [mq-deadline] bfq", "read_ahead_kb": "128", "rotational": "1", "write_cache": "write back",
    }  # fmt: skip
    assert found["disks"]["sdb"]["write_cache"] == "write through"
    assert found["governors"] == ["performance", "powersave"]


def test_nothing_is_said_of_settings_that_cannot_be_read(tree: Tree) -> None:
    tree.mount(kind="tmpfs")
    handle = os.open(tree.folder, os.O_RDONLY)
    assert mount.settings_below(handle) == {}
    os.close(handle)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return Tree(tmp_path, monkeypatch)


def test_a_directory_is_allowed_beside_those_that_are(host: Host, server: FakeServer, memory: Path) -> None:
    fresh = memory / "made" / "here"
    done = host.call("allow", "--directory", str(fresh), "--directory", str(host.files))
    assert done.returncode == 0, done.stderr
    assert f"allows {fresh} too" in done.stderr
    again = host.call("allow", "--directory", str(memory), "--directory", str(fresh))
    assert again.returncode == 0, again.stderr
    assert [root.path for root in load(str(host.state)).roots] == [str(host.files), str(fresh), str(memory)]
    assert (host.state / "agent.conf").stat().st_mode & 0o777 == 0o600
    before = (host.state / "agent.conf").read_bytes()
    assert "Nothing was changed" in host.call("allow", "--directory", str(fresh)).stderr
    (memory / "open").mkdir()
    (memory / "open").chmod(0o777)
    assert "other accounts can write" in host.call("allow", "--directory", str(memory / "open")).stderr
    assert host.call("allow", "--directory", "/").returncode == 2
    assert (host.state / "agent.conf").read_bytes() == before
    host.start()
    attempt = server.offer(FILES, **target_of(reported(server, fresh)))
    assert host.ended(attempt) == "finished"


def test_quotas_of_their_own_are_kept_when_a_directory_is_allowed(host: Host, memory: Path) -> None:
    host.configure(directories=str(memory), quota_bytes=f"{MIB}, {2 * MIB}")
    fresh = memory / "third"
    assert host.call("allow", "--directory", str(fresh)).returncode == 0
    assert [root.quota_bytes for root in load(str(host.state)).roots][:2] == [MIB, 2 * MIB]
    assert len(load(str(host.state)).roots) == 3
