"""A2: on a disk the agent costs neither speed nor latency. Random reads and sequential writes, bare and through the agent, in turn."""

import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, workload
from tests.benchmarks.figures import LONG, pairs, report

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]
SECONDS = 3 if LONG else 2
SIZE = (128 if LONG else 64) << 20
DISK = {"ioengine": "libaio", "direct": True, "runtime": SECONDS, "time_based": True, "file_size": SIZE}
LOADS = {
    "random read": ("read", job(rw="randread", block_size=4096, iodepth=16, **DISK)),
    "sequential write": ("write", job(rw="write", block_size=1 << 20, iodepth=4, **DISK)),
}
Figures = tuple[float, float]  # bytes in a second, and ns below which 99 % of the requests were done


def _figures(text: str, direction: str) -> Figures:
    """Of the last document: fio's result, after its progress."""
    decoder, at, last = json.JSONDecoder(), text.find("{"), None
    while at >= 0:
        last, end = decoder.raw_decode(text, at)
        at = text.find("{", end)
    assert last
    found: dict[str, Any] = last["jobs"][0][direction]
    return float(found["bw_bytes"]), float(found["clat_ns"]["percentile"]["99.000000"])


def _fill(path: Path) -> None:
    """As the agent does before a read: data that are on the disk, just written, and in no cache of this kernel."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        for _ in range(SIZE >> 20):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())


def _bare(job_file: str, folder: Path, direction: str) -> Figures:
    """The same job file, by hand."""
    folder.mkdir(exist_ok=True)
    data = folder / "data.0.0"
    if direction == "read":
        _fill(data)
    else:
        data.unlink(missing_ok=True)
    (folder / "job.fio").write_text(job_file)
    argv = [str(shutil.which("fio")), "--output-format=json+", f"--output={folder}/result.json", f"{folder}/job.fio"]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True, timeout=120)
    return _figures((folder / "result.json").read_text(), direction)


@pytest.mark.parametrize("name", LOADS)
def test_a2_the_agent_costs_no_disk(tmp_path: Path, server: FakeServer, host: Host, name: str) -> None:
    direction, load = LOADS[name]
    host.start()
    job_file = ""

    def through_the_agent() -> Figures:
        nonlocal job_file
        attempt = server.offer(workload(load))
        host.ended(attempt, 120)
        assert attempt.ending["outcome"] == "finished", attempt.ending
        job_file = attempt.stream("job").decode()
        return _figures(attempt.stream("result").decode(), direction)

    through_the_agent()  # what the job file is; and the first run of all is no measurement
    ours, bare = [], []
    for number in range(pairs(1, 20)):
        acts = [(ours, through_the_agent), (bare, lambda: _bare(job_file, tmp_path / "bare", direction))]
        for found, act in acts if number % 2 else reversed(acts):
            found.append(act())
    rate, latency = ([mine[place] / least[place] for mine, least in zip(ours, bare, strict=True)] for place in range(2))
    middle = report("A2", f"{name}: bytes/s through the agent ÷ bare fio", rate, "≥ 0.98")
    report("A2", f"{name}: p99 latency through the agent ÷ bare fio", latency, "≤ 1.05")
    for number, what in enumerate(("bytes/s", "p99 latency")):
        whole = statistics.median(one[number] for one in ours) / statistics.median(one[number] for one in bare)
        print(f"\nA2 {name}: median {what} through the agent ÷ median of bare fio {whole:.3f} ×", flush=True)
    assert middle > 0.4  # one pair on a shared disk scatters widely; the target is read from the long form
