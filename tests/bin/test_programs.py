"""What bin/up says of the project's own programs: a command that failed, a run that goes on."""

import subprocess
from pathlib import Path

import pytest

from bin._lib import django
from bin._lib.console import Trouble, gist
from bin._lib.layout import DataFolder
from bin._lib.programs import running_fio
from tests.bin.launcher import wait_for


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    return folder


@pytest.mark.slow
def test_a_command_that_failed_is_named_with_its_last_words(data: DataFolder) -> None:
    with pytest.raises(Trouble, match=r"manage.py no_such_command failed: .*all of it is in .*manage\.log"):
        django.run(data, {"DATABASE_URL": "postgresql:///x", "SPINDLE_SECRET_KEY": "k"}, "no_such_command")
    assert "Unknown command" in (data.logs / "manage.log").read_text()


@pytest.mark.slow
def test_a_disk_too_full_for_the_reason_is_named_as_the_reason(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(django, "FULL", 2**60)  # more than any disk has free
    with pytest.raises(
        Trouble, match=r"The disk filled up during manage\.py no_such_command; make room and run bin/up"
    ):
        django.run(data, {"DATABASE_URL": "postgresql:///x", "SPINDLE_SECRET_KEY": "k"}, "no_such_command")


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (
            'Traceback:\n  File "x"\na.Error: connection refused\n\tIs the server running?\n',
            "a.Error: connection refused",
        ),
        ("one\ntwo\n\n", "two"),
        ("  only a frame\n", ""),
        ("", ""),
    ],
)
def test_the_line_that_says_what_failed(said: str, what: str) -> None:
    assert gist(said) == what


@pytest.mark.fio
def test_two_runs_of_several_jobs_are_two(tmp_path: Path) -> None:
    agent = tmp_path.resolve() / "agent"
    job = ["--name=x", "--ioengine=null", "--size=1m", "--runtime=60", "--time_based", "--numjobs=3"]
    runs = []
    try:
        for name in ("1", "2"):
            (agent / name).mkdir(parents=True)
            runs.append(subprocess.Popen(["fio", *job], cwd=agent / name, stdout=subprocess.DEVNULL))
        assert wait_for(lambda: sum(map(children, runs)) == 6), "three jobs of each"
        assert sorted(running_fio(agent)) == sorted(run.pid for run in runs)
        assert running_fio(agent / "1") == [runs[0].pid]
    finally:
        for run in runs:
            run.terminate()
            run.wait()


def children(process: subprocess.Popen[bytes]) -> int:
    return len(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
