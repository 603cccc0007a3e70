"""Real fio, from offer to complete."""

import json
import re
from pathlib import Path

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, journal, lasting, starts, until, workload

pytestmark = pytest.mark.fio


def documents(text: str) -> list[dict[str, object]]:
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        document, at = decoder.raw_decode(text, at)
        found.append(document)
        at = len(text) - len(text[at:].lstrip())
    return found


def test_null_engine_end_to_end(host: Host, server: FakeServer) -> None:
    attempt = server.offer(workload(job()))
    host.start()
    assert host.ended(attempt) == "finished"
    assert attempt.ending["exit_status"] == 0
    assert attempt.running["argv"][0] == "/usr/bin/fio"
    assert attempt.running["job_file"].encode() == attempt.stream("job")
    assert documents(attempt.stream("result").decode())[-1]["fio version"] == attempt.running["fio_version"]
    assert starts(attempt) == 1
    assert host.leftovers() == []


@pytest.mark.slow
def test_writes_and_reads_go_to_files_of_their_own(host: Host, server: FakeServer) -> None:
    attempt = server.offer(
        workload(
            job(rw="write", ioengine="psync", file_size=4 << 20, end_fsync=True),
            job(rw="randrw", ioengine="libaio", direct=True, iodepth=8, numjobs=2, file_size=4 << 20, rwmixread=70),
        )
    )
    host.start("--once")
    assert host.ended(attempt) == "finished"
    assert host.exit_status() == 0
    last = documents(attempt.stream("result").decode())[-1]
    written, mixed = last["jobs"]  # type: ignore[misc]
    assert written["write"]["io_bytes"] == 4 << 20
    assert mixed["read"]["io_bytes"] + mixed["write"]["io_bytes"] == 8 << 20
    filled = [line for line in journal(attempt) if line["event"] == "files filled"]
    assert (filled[0]["count"], filled[0]["bytes"]) == (2, 8 << 20)
    assert host.leftovers() == []


@pytest.mark.slow
def test_read_only_workload_reads_data_it_was_given(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(60, rw="randread", ioengine="psync", file_size=8 << 20))
    host.start()
    until(lambda: host.fio_runs(attempt), "fio")
    (data,) = host.files.glob("*/data.0.0")
    content = data.read_bytes()
    assert len(content) == 8 << 20
    assert len({content[at : at + 4096] for at in range(0, len(content), 4096)}) == 2048  # real blocks, all different
    assert data.stat().st_blocks * 512 >= 8 << 20
    until(lambda: attempt.running, "the word that fio runs")
    server.cancel(attempt)
    assert host.ended(attempt) == "cancelled"
    assert "--readonly" in attempt.running["argv"]


@pytest.mark.slow
def test_results_stream_while_fio_runs_cut_after_whole_documents(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(4))
    host.start()
    until(lambda: len(attempt.chunks.get("result", {})) >= 3, "three chunks")
    assert attempt.state == "running"
    for chunk in list(attempt.chunks["result"].values()):
        assert chunk.startswith(b"{\n")
        assert chunk.endswith(b"\n}\n")
    assert host.ended(attempt) == "finished"
    assert len(documents(attempt.stream("result").decode())) >= 4


def environment_of(argv: list[str], pids: list[int]) -> set[str]:
    """Of the one of these processes that has this command line; others come and go."""
    for pid in pids:
        try:
            if Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1] == argv:
                return set(Path(f"/proc/{pid}/environ").read_text().strip("\0").split("\0"))
        except OSError:
            continue
    return set()


@pytest.mark.slow
def test_fio_sees_the_fixed_command_line_and_an_empty_environment(host: Host, server: FakeServer) -> None:
    attempt = server.offer(lasting(60, rw="read"))
    host.start()
    spool = host.spool(attempt)
    argv = [
        "/usr/bin/fio",
        "--output-format=json+",
        f"--output={spool}/result.json",
        "--status-interval=1",
        "--eta=never",
        f"--aux-path={spool}/aux",
        "--max-jobs=1",
        "--warnings-fatal",
        "--readonly",
        f"{spool}/job.fio",
    ]
    found = until(lambda: environment_of(argv, host.fio_runs(attempt)), "fio with this command line")
    assert found == {"LC_ALL=C", "PATH=/nonexistent"}
    server.cancel(attempt)
    assert host.ended(attempt) == "cancelled"


def test_fio_that_fails_is_reported_with_its_words(host: Host, server: FakeServer) -> None:
    host.configure(cpus="4000")  # no such processor
    attempt = server.offer(workload(job(ioengine="psync")))
    host.start()
    assert host.ended(attempt) == "failed"
    assert re.search(r"fio ended with status \d+", attempt.ending["reason"])
    assert attempt.ending["exit_status"] != 0
    assert b"cpu" in (attempt.stream("stderr") + attempt.stream("result")).lower()
    assert host.leftovers() == []


def test_inventory_comes_once_and_verbatim(host: Host, server: FakeServer) -> None:
    host.start()
    until(lambda: server.inventories, "the inventory")
    outputs = {output["tool"]: output for output in server.inventories[0]["outputs"]}
    assert set(outputs) == {
        "lsblk", "findmnt", "mdstat", "cpuinfo", "meminfo", "os-release", "uname", "machine", "sysfs", "sysctl", "lspci", "dmidecode",
        "ip", "ethtool", "smartctl", "nvme", "mdadm", "pvs", "vgs", "lvs", "dmsetup", "zpool", "zfs", "tune2fs", "xfs_info", "storcli",
        "megacli", "ssacli", "arcconf", "tw_cli", "omreport",
    }  # fmt: skip
    assert outputs["meminfo"]["stdout"].startswith("MemTotal:")
    assert json.loads(outputs["machine"]["stdout"])["directory"] == str(host.files)
    assert json.loads(outputs["lsblk"]["stdout"])["blockdevices"]


def test_rare_options_run_and_leave_nothing(host: Host, server: FakeServer) -> None:
    rare = {
        "nrfiles": 4, "bssplit": [[[4096, 60], [8192, 40]]], "rate": [50 << 20], "loops": 2,
        "random_distribution": ["zipf", 1.2], "file_service_type": ["random", 2], "thread": True, "nice": 5,
    }  # fmt: skip
    attempt = server.offer(workload(job(rw="randrw", ioengine="psync", numjobs=2, **rare)))
    host.start("--once")
    assert host.ended(attempt) == "finished", attempt.stream("stderr")
    text = attempt.stream("job").decode()
    assert {"nrfiles=4", "bssplit=4096/60:8192/40", "rate=52428800", "thread=1"} <= set(text.splitlines())
    assert "filename_format=$jobname.$jobnum.$filenum" in text
    assert list(host.files.iterdir()) == []
    assert host.exit_status() == 0


def test_what_the_installed_fio_does_not_know_is_refused_before_anything_starts(host: Host, server: FakeServer) -> None:
    newer = {"random_sequence_stride": True, "random_distribution": ["sequence", 2, 0, 1]}
    attempt = server.offer(workload(job(rw="randread", ioengine="psync", **newer)))
    host.start("--once")
    until(lambda: attempt.state in ("refused", "finished"), "the end")
    if attempt.state == "refused":  # fio before 3.42
        assert "of this host does not take the job: " in attempt.reason
        assert "random_" in attempt.reason
        assert not attempt.running
    assert list(host.files.iterdir()) == []


def test_an_option_that_is_refused_is_named_with_its_reason(host: Host, server: FakeServer) -> None:
    attempt = server.offer(workload(job(exec_prerun="id")))
    host.start("--once")
    until(lambda: attempt.state == "refused", "the refusal")
    assert "exec_prerun" in attempt.reason
    assert "it runs programs" in attempt.reason
