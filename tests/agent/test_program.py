"""The program as handed out: its size, its command line, and each Python it promises to run on."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, call_here, job, starts, workload
from worker.build_agent import SOURCES, build

PROMISED = ["3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]
ENDS = (PROMISED[0], PROMISED[-1])  # and the tests' own Python, which all other tests use


def python(version: str) -> str:
    """From pyenv or PATH, if it starts there (a pyenv shim may stand for a version that is not chosen)."""
    found = [
        *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))[-1:],
        shutil.which(f"python{version}"),
    ]
    for path in filter(None, found):
        if subprocess.run([str(path), "-c", ""], capture_output=True, check=False).returncode == 0:
            return str(path)
    pytest.skip(f"Python {version} is not on this machine")


@pytest.mark.slow
@pytest.mark.parametrize(
    "version",
    [pytest.param(version, marks=() if version in ENDS else pytest.mark.long) for version in PROMISED],
)
def test_a_real_run_on_each_python(version: str, tmp_path: Path, server: FakeServer, pyz: Path) -> None:
    host = Host(tmp_path, server, pyz, python(version))
    try:
        attempt = server.offer(workload(job(rw="randrw", ioengine="psync")))
        host.start("--once")
        assert host.ended(attempt) == "finished"
        assert host.exit_status() == 0
        assert starts(attempt) == 1
        assert "fio: fio-" in host.call("status").stdout
        (tmp_path / "w.json").write_text(json.dumps(workload(job())))
        assert "rw=write" in host.call("check-policy", str(tmp_path / "w.json")).stdout
    finally:
        host.close()


def test_syntax_and_library_of_python_36() -> None:
    subprocess.run(
        [str(Path(sys.executable).with_name("vermin")), "-t=3.6-", "--no-tips", str(SOURCES)],
        check=True,
        capture_output=True,
    )


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    build(tmp_path / "a")
    build(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes().startswith(b"#!/usr/bin/env python3\n")


def test_small_enough_to_be_read() -> None:
    for source in SOURCES.rglob("*.py"):
        assert len(source.read_text().splitlines()) <= 450, source.name
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 40, f"{source.name}: {node.name}"


def test_only_the_standard_library_is_imported() -> None:
    for source in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names, source.name


def test_enrolment_with_a_lost_answer_keeps_its_secret(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.agent.main.time.sleep", lambda _: None)  # a second between two of its tries
    server.lose_answers = 1
    state = tmp_path / "state"
    command = ("enrol", "--state", str(state), "--server", server.address, "--token", "once")
    assert call_here(*command)[0] == 3
    assert len(server.requests) > 1
    server.lose_answers = 0
    assert call_here(*command)[0] == 0
    identity = state / "identity.json"
    assert identity.stat().st_mode & 0o777 == 0o600
    assert len(json.loads(identity.read_text())["secret"]) == 64
    assert not (state / "enrolling.json").exists()


def test_refused_enrolment_is_said(tmp_path: Path, server: FakeServer, pyz: Path, host: Host) -> None:
    again = Host.call(host, "enrol", "--server", server.address, "--token", "t", "--again")
    assert again.returncode == 1
    assert "The server refused the enrolment: 401 The token was used already" in again.stderr


def test_check_policy_shows_the_job_file_or_the_refusal(tmp_path: Path, pyz: Path) -> None:
    path = tmp_path / "w.json"

    def check(text: str) -> subprocess.CompletedProcess[str]:
        path.write_text(text)
        return subprocess.run(
            [sys.executable, str(pyz), "check-policy", str(path)], capture_output=True, text=True, check=False
        )

    assert "[job0]\nrw=write\n" in check(json.dumps(workload(job()))).stdout
    refused = check(json.dumps(workload(job(ioengine="sg"))))
    assert refused.returncode == 1
    assert "jobs[0].ioengine: found 'sg', expected one of psync" in refused.stderr
    assert check("{").returncode == 2


def test_a_state_folder_without_identity_says_enrol_first(tmp_path: Path, pyz: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(pyz), "run", "--state", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Enrol first" in done.stderr) == (2, True)
