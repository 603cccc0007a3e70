"""Streams are cut once and for all, files survive half writes, and only our own things are removed."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worker.agent import cleanup, spool
from worker.agent.attempt import HostAttempt
from worker.agent.client import LONGEST_PAUSE_S, Backoff, split_address
from worker.agent.disk import read_lines, write_durably

DOCUMENT = b'{\n  "jobs" : [\n    {\n    }\n  ]\n}\n'


@pytest.fixture
def attempt(tmp_path: Path) -> HostAttempt:
    one = spool.Spool(str(tmp_path))
    record = {
        "offer": {"attempt": 3, "token": 9, "status_interval": 1},
        "boot_id": "b",
        "run_dir": "/f/attempt-3",
        "job_file": "[global]\n",
    }
    one.create(record)
    made = one.attempt(record)
    one.commit(made)
    return made


def written(attempt: HostAttempt, data: bytes) -> None:
    with open(attempt.file("result.json"), "ab") as target:
        target.write(data)


def test_a_document_that_has_not_ended_waits(attempt: HostAttempt) -> None:
    written(attempt, DOCUMENT[:-2])
    assert attempt.cut("result", everything=False, durable=False)
    assert attempt.chunks == []
    written(attempt, DOCUMENT[-2:] + b"{\n")
    assert attempt.cut("result", everything=False, durable=True)
    assert [attempt.bytes_of(chunk) for chunk in attempt.unsent] == [DOCUMENT]


def test_chunks_never_change_and_never_exceed_1_mib(attempt: HostAttempt) -> None:
    huge = b"{\n" + b"x" * (3 << 20) + b"\n}\n"
    for data in (DOCUMENT * 2, huge, DOCUMENT, b"fio: terminating on signal 2\n", DOCUMENT * 50000):
        before = list(attempt.chunks)
        written(attempt, data)
        attempt.cut("result", everything=False, durable=False)
        assert attempt.chunks[: len(before)] == before
    attempt.cut("result", everything=True, durable=True)
    whole = Path(attempt.file("result.json")).read_bytes()
    assert b"".join(attempt.bytes_of(chunk) for chunk in attempt.chunks) == whole
    assert max(chunk["length"] for chunk in attempt.chunks) <= 1 << 20
    assert [chunk["seq"] for chunk in attempt.chunks] == list(range(len(attempt.chunks)))
    assert attempt.manifest()["result"] == {
        "chunks": len(attempt.chunks),
        "bytes": len(whole),
        "sha256": hashlib.sha256(whole).hexdigest(),
    }


def test_a_new_agent_knows_the_same_chunks(attempt: HostAttempt, tmp_path: Path) -> None:
    written(attempt, DOCUMENT)
    attempt.cut("result", everything=False, durable=True)
    written(attempt, DOCUMENT)
    attempt.cut("result", everything=False, durable=True)
    with open(attempt.file("chunks.jsonl"), "ab") as torn:
        torn.write(b'{"stream": "resu')
    (again,) = spool.Spool(str(tmp_path)).load()
    assert again.chunks == attempt.chunks
    assert again.unsent == attempt.chunks[-1:]


def test_half_a_last_line_is_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\nthr")
    assert read_lines(str(path)) == ["one", "two"]
    assert path.read_bytes() == b"one\ntwo\n"


def test_folder_without_a_whole_offer_was_never_accepted(attempt: HostAttempt, tmp_path: Path) -> None:
    Path(attempt.file("offer.json")).write_text('{"offer": {"att')
    assert spool.Spool(str(tmp_path)).load() == []
    assert not Path(attempt.path).exists()


def test_an_offer_whose_folder_lost_its_name_in_a_power_cut_is_known(attempt: HostAttempt, tmp_path: Path) -> None:
    os.rename(attempt.path, tmp_path / "spool" / "next")
    [again] = spool.Spool(str(tmp_path)).load()
    assert (again.id, again.path) == (attempt.id, attempt.path)
    assert os.listdir(tmp_path / "spool") == [str(attempt.id)]


def test_the_next_folder_is_no_attempt_and_takes_any_offer(tmp_path: Path) -> None:
    one = spool.Spool(str(tmp_path))
    one.prepare()
    assert (one.glance(), spool.Spool(str(tmp_path)).load()) == ({}, [])
    for number, length in ((1, 10), (2, 3 * spool.BLANKS)):
        one.prepare()
        offer = {"attempt": number, "token": number, "status_interval": 1}
        record = {"offer": offer, "run_dir": "/f", "job_file": "x" * length}
        one.create(record)
        assert spool.read_offer(one.folder(number)) == record
    assert [known.id for known in spool.Spool(str(tmp_path)).load()] == [1, 2]


def test_an_offer_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = spool.Spool(str(tmp_path))
    one.prepare()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "write_whole", full)
    with pytest.raises(OSError, match="No space"):
        one.create({"offer": {"attempt": 1, "token": 1}})
    assert os.listdir(tmp_path / "spool") == []


def test_fence_remembers_the_highest_token(attempt: HostAttempt, tmp_path: Path) -> None:
    one = spool.Spool(str(tmp_path))
    assert one.fence("/f") == 0
    one.remove(attempt)
    assert (one.fence("/f"), one.fence("/g")) == (9, 0)
    assert spool.Spool(str(tmp_path)).fence("/f") == 9


def test_durable_write_leaves_the_old_when_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_durably(str(path), "old")
    (tmp_path / "file.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_durably(str(path), "new")
    assert path.read_text() == "old"


def test_only_own_files_are_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("stays")
    folder = tmp_path / "attempt-1"
    folder.mkdir()
    for name in ("data.0.0", "data.12.3", "data.x.0", "notes"):
        (folder / name).write_text("x")
    (folder / "data.1.1").symlink_to(outside)
    assert sorted(cleanup.remove_run_dir(str(folder))) == ["data.x.0", "notes"]
    assert outside.read_text() == "stays"


def test_an_administrators_shell_in_the_folder_is_not_killed(tmp_path: Path) -> None:
    with (
        subprocess.Popen(["/bin/sleep", "60"], cwd=tmp_path) as shell,
        subprocess.Popen(["/bin/sleep", "60"], cwd=tmp_path, env={"LC_ALL": "C", "PATH": "/nonexistent"}) as ours,
    ):
        try:
            time.sleep(0.1)
            assert cleanup.processes_of(str(tmp_path)) == [ours.pid]
            waiter = subprocess.Popen([sys.executable, "-c", f"import os; os.waitid(os.P_PID, {ours.pid}, os.WEXITED)"])
            waiter.wait()
            cleanup.kill_all(str(tmp_path))
            assert ours.wait(5) == -9
            assert shell.poll() is None
        finally:
            shell.kill()


def test_backoff_doubles_to_five_minutes_with_jitter_and_obeys_the_server() -> None:
    backoff, pauses = Backoff(), []
    for exponent in range(12):
        pause = backoff.failed()
        pauses.append(pause)
        assert 0 <= pause <= min(2.0**exponent, LONGEST_PAUSE_S)
    assert backoff.ceiling == LONGEST_PAUSE_S
    assert 40 <= backoff.failed(retry_after=40) <= 41
    backoff.reset()
    assert backoff.failed() <= 1


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("http://a:1", (False, "a:1", "/agent/v1/")),
        ("https://a/", (True, "a", "/agent/v1/")),
        ("https://a/base/", (True, "a", "/base/agent/v1/")),
    ],
)
def test_server_addresses(address: str, parts: tuple[bool, str, str]) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize("address", ["a", "ftp://a", "http://", ""])
def test_what_is_no_server_address(address: str) -> None:
    with pytest.raises(ValueError, match="must look like"):
        split_address(address)


def test_journal_and_identity_are_for_their_owner_only(attempt: HostAttempt) -> None:
    attempt.journal("accepted")
    assert os.stat(attempt.file("journal.jsonl")).st_mode & 0o077 == 0
    assert json.loads(Path(attempt.file("journal.jsonl")).read_text())["event"] == "accepted"
