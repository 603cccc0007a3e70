"""The child that reads strangers' bytes dies of its limits alone, and the next file is read by a new one."""

import io
import os
import tempfile
from pathlib import Path

import pytest

from apps.uploads.file_reader import FileReading
from apps.uploads.sandbox.parent import NOTHING, Asked, Sandbox, SandboxError
from tests.uploads.conftest import OTHER, REPORT, zipped


def test_it_reads_one_file_after_another_in_one_process(sandbox: Sandbox) -> None:
    first = sandbox.read(REPORT, "a.json")
    child = sandbox._child
    assert sandbox.read(b"nothing known\n").error is not None
    assert sandbox.read(REPORT) == first
    assert sandbox._child is child


@pytest.mark.slow
def test_a_big_file_comes_by_its_descriptor(sandbox: Sandbox) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(REPORT)
        file.seek(0)
        assert sandbox.read(file, "a.json") == sandbox.read(REPORT, "a.json")


@pytest.mark.slow
def test_a_child_that_is_killed_costs_one_file(sandbox: Sandbox) -> None:
    sandbox.read(REPORT)
    assert sandbox._child
    sandbox._child.kill()
    sandbox._child.wait()
    assert sandbox.read(REPORT).format == "fio json"


def asked(*files: bytes) -> list[Asked]:
    return [(data, "a.json", "", None, NOTHING) for data in files]


def test_many_files_are_one_question(sandbox: Sandbox) -> None:
    hear = sandbox.begin(asked(REPORT, b"nothing known\n", OTHER))
    first, unknown, last = hear()
    assert first == sandbox.read(REPORT, "a.json")
    assert isinstance(unknown, FileReading)
    assert unknown.error is not None
    assert last == sandbox.read(OTHER, "a.json")
    assert sandbox.begin([])() == []


@pytest.mark.slow
def test_where_the_child_dies_each_of_them_is_read_by_itself(sandbox: Sandbox) -> None:
    hear = sandbox.begin(asked(REPORT, OTHER))
    assert sandbox._child
    sandbox._child.kill()
    assert [one.format for one in hear() if isinstance(one, FileReading)] == ["fio json", "fio json"]


@pytest.mark.slow
def test_an_answer_that_nobody_heard_is_not_taken_for_the_next_one(sandbox: Sandbox) -> None:
    sandbox.begin(asked(OTHER))
    assert sandbox.read(b"nothing known\n").error is not None


@pytest.mark.slow
def test_endless_work_is_ended_by_processor_time(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.read(REPORT)
    assert sandbox._child
    monkeypatch.setattr(sandbox, "read_s", 0.001)
    with pytest.raises(SandboxError, match=r"longer than|limits"):
        sandbox.read(b"0, 1, 0, 4096\n" * 4_000_000, "x_lat.1.log")
    monkeypatch.setattr(sandbox, "read_s", 10)
    assert sandbox.read(REPORT).format == "fio json"


@pytest.mark.slow
def test_too_much_memory_is_refused_and_the_next_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPINDLE_PARSER_MEMORY", str(160 << 20))
    small = Sandbox(read_s=20)
    try:
        with tempfile.TemporaryFile() as file:
            file.truncate(400 << 20)
            with pytest.raises(SandboxError, match=r"memory|limits|ended"):
                small.read(file, "zeros")
        assert small.read(REPORT).format == "fio json"
    finally:
        small.close()


@pytest.mark.slow
def test_it_can_write_no_file_and_keeps_no_secret(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret@/x")
    sandbox.close()  # so that a child is started with this environment
    sandbox.read(REPORT)
    assert sandbox._child
    proc = Path(f"/proc/{sandbox._child.pid}")
    environment = (proc / "environ").read_bytes()
    assert b"secret" not in environment
    assert b"SPINDLE_SECRET_KEY" not in environment
    limits = (proc / "limits").read_text()
    assert [line.split()[3:5] for line in limits.splitlines() if line.startswith("Max file size")] == [["0", "0"]]
    opened = {os.readlink(link) for link in (proc / "fd").iterdir() if int(link.name) > 2}
    assert not [path for path in opened if path.startswith("/") and not path.startswith("/dev/")]


@pytest.mark.slow
def test_members_of_an_archive_stream_out_of_it(sandbox: Sandbox) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(zipped({"a.json": REPORT, "b/c.txt": b"hello\n"}))
        file.seek(0)
        found = list(sandbox.unpack(file))
    assert [(one.path, len(getattr(one, "data", b""))) for one in found] == [("a.json", len(REPORT)), ("b/c.txt", 6)]


@pytest.mark.slow
def test_an_archive_that_nobody_reads_to_its_end_leaves_nothing_behind(sandbox: Sandbox) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(zipped({f"{n}.json": REPORT for n in range(20)}))
        file.seek(0)
        members = sandbox.unpack(file)
        next(members)
        members.close()  # type: ignore[attr-defined]
    assert sandbox.read(REPORT).format == "fio json"


def test_bytes_of_any_kind_are_answered(sandbox: Sandbox) -> None:
    for data in (b"", b"\0" * 1000, bytes(range(256)) * 50, b"\xff\xfe", io.BytesIO(b"x" * 70_000).read()):
        found = sandbox.read(data)
        assert found.error is not None
        assert found.runs == ()
