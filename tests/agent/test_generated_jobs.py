"""Drawn jobs of all options, as the host renders them, in the hands of the real fio: it takes them, and writes only its own files."""

import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apps.runs.fio_options import OPTIONS
from tests.runs.option_values import draw_job
from tests.runs.test_fio_options import LIMITS
from tests.sampling import IS_LONG
from worker.agent import directory, policy, render
from worker.agent.runner import ENVIRONMENT

pytestmark = [pytest.mark.fio, pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")]
FIO = shutil.which("fio") or ""
# What a version of fio may not have yet, and what a filesystem or a device may say no to while a job runs.
OTHER_VERSION = re.compile(r"Bad option|failed parsing (?:verify=pattern_hdr|fadvise_hint=noreuse|steadystate=lat)")
MAY_FAIL = ("nowait", "atomic", "rate_min", "rate_iops_min", "max_latency", "verify", "verify_only", "latency_target")
DRAWN = 1500 if IS_LONG else 40
RUN = 250 if IS_LONG else 8


def rendered(job: dict[str, Any], folder: Path) -> tuple[list[Any], list[str]]:
    """Write the job file; return the checked jobs and fio's command line."""
    jobs = policy.check({"tool": "fio", "jobs": [job]}, LIMITS)
    (folder / "job.fio").write_text(render.job_file(jobs, ""))
    return jobs, render.command_line(FIO, str(folder), jobs, 1)


def call(argv: list[str], folder: Path, patience: int = 60) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        argv, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=patience, check=False
    )


@pytest.mark.slow
def test_fio_takes_every_drawn_job(tmp_path: Path) -> None:
    taken, seen = 0, set()
    for number in range(DRAWN):
        job = draw_job(random.Random(number))
        _, argv = rendered(job, tmp_path)
        parsed = call([*argv[:-1], "--parse-only", argv[-1]], tmp_path)
        text = (tmp_path / "job.fio").read_text()
        assert parsed.returncode == 0 or OTHER_VERSION.search(parsed.stderr), f"{parsed.stderr}\n{text}"
        taken += parsed.returncode == 0
        seen |= set(job) if parsed.returncode == 0 else set()
    assert taken > DRAWN * 0.5
    assert len(seen) > (120 if IS_LONG else 60)
    assert set(os.listdir(tmp_path)) == {"job.fio", "result.json"}  # the second is empty: nothing was run


@pytest.mark.slow
@pytest.mark.parametrize(
    "option", [option for option in OPTIONS if option.is_rare][:: 1 if IS_LONG else 9], ids=lambda option: option.name
)
def test_fio_takes_each_rare_option_alone(option: Any, tmp_path: Path) -> None:
    for number in range(200):
        job = draw_job(random.Random(number), 1, [option])
        if option.name in job:
            _, argv = rendered(job, tmp_path)
            parsed = call([*argv[:-1], "--parse-only", argv[-1]], tmp_path)
            assert parsed.returncode == 0 or OTHER_VERSION.search(parsed.stderr), parsed.stderr
            return
    raise AssertionError(f"{option.name} goes with none of 200 drawn jobs")


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_drawn_job_writes_nothing_outside_of_its_folder_and_re_lays_nothing(tmp_path: Path) -> None:
    ended_well = 0
    for number in range(RUN):
        job = draw_job(random.Random(9000 + number)) | {"runtime": 1}
        job.pop("startdelay", None)
        place = tmp_path / str(number)
        run_dir, spool, outside = place / "attempt-1", place / "spool", place / "outside"
        for folder in (run_dir, spool, outside):
            folder.mkdir(parents=True)
        (outside / "foreign").write_text("not fio's")
        before = contents(outside)
        jobs, argv = rendered(job, spool)
        for name, size in render.files_to_fill(jobs):
            (run_dir / name).write_bytes(os.urandom(size))
        filled = {path.name: path.stat().st_ino for path in run_dir.iterdir()}
        done = call(argv, run_dir)
        text = (spool / "job.fio").read_text()
        assert all(directory.OWN_FILE.fullmatch(name) for name in os.listdir(run_dir)), (os.listdir(run_dir), text)
        assert set(os.listdir(place)) == {"attempt-1", "spool", "outside"}
        assert set(os.listdir(spool)) <= {"job.fio", "result.json"}
        assert contents(outside) == before
        assert all((run_dir / name).stat().st_ino == inode for name, inode in filled.items()), text
        well = done.returncode == 0 and '"jobs"' in (spool / "result.json").read_text()
        assert well or OTHER_VERSION.search(done.stderr) or any(name in job for name in MAY_FAIL), (
            f"{done.stderr}\n{text}"
        )
        ended_well += well
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        assert directory.remove_run_dir(handle, "attempt-1") == []
        os.close(handle)
        shutil.rmtree(place)
    assert ended_well >= RUN // 2
