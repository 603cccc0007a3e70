"""A1: on a CPU-bound run the agent costs next to nothing. fio's null engine on all cores, bare and through the agent, in turn."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import Host, job, until, workload
from tests.benchmarks.figures import cpu_ns, only_long, pairs, report

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]
SECONDS = 8
CORES = os.cpu_count() or 1
LOAD = workload(
    job(rw="randread", runtime=SECONDS, time_based=True, numjobs=CORES, block_size=4096, file_size=64 << 20)
)


def _iops(text: str) -> float:
    """Of the last document: fio's result, after its progress."""
    decoder, at, last = json.JSONDecoder(), text.find("{"), None
    while at >= 0:
        last, end = decoder.raw_decode(text, at)
        at = text.find("{", end)
    assert last
    return float(sum(one["read"]["iops"] for one in last["jobs"]))


def _bare(job_file: str, folder: Path) -> float:
    """The same job file, by hand."""
    folder.mkdir(exist_ok=True)
    (folder / "job.fio").write_text(job_file)
    argv = [
        str(shutil.which("fio")),
        "--output-format=json+",
        f"--output={folder}/result.json",
        str(folder / "job.fio"),
    ]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True, timeout=60)
    return _iops((folder / "result.json").read_text())


def _busy_share(host: Host, attempt: Attempt) -> float:
    """Per cent of a core that agent and runner take while fio runs and a document a second goes out."""
    until(lambda: attempt.stream("result"), "the first document", 30)
    assert host.process
    pids = [host.process.pid, host.runner(attempt)]
    assert all(pids)
    before, begin = sum(map(cpu_ns, pids)), time.monotonic()
    time.sleep(SECONDS - 3)
    return (sum(map(cpu_ns, pids)) - before) / (time.monotonic() - begin) / 1e9 * 100


@only_long
def test_a1_the_agent_costs_next_to_nothing(tmp_path: Path, server: FakeServer, host: Host) -> None:
    host.start()
    ratios, shares = [], []
    for _ in range(pairs(2, 20)):
        attempt = server.offer(LOAD)
        shares.append(_busy_share(host, attempt))
        host.ended(attempt, 60)
        assert attempt.ending["outcome"] == "finished"
        bare = _bare(attempt.stream("job").decode(), tmp_path / "bare")
        ratios.append(_iops(attempt.stream("result").decode()) / bare)
    middle = report("A1", "IOPS through the agent ÷ bare fio (null engine, all cores)", ratios, "≥ 0.99")
    report(
        "A1",
        "CPU of agent and runner while fio runs, one document a second",
        shares,
        "≤ 0.2",
        "% of a core",
    )
    assert (
        middle > 0.75
    )  # two pairs on shared cores scatter by 10 %; below this something is broken. The target is read from the long form
