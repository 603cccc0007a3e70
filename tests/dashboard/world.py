"""A furnished lab for page tests: hosts with a real shape, and runs in every state, one of them read in from fio's
own output."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from apps.agents.models import Agent
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Filesystem, Host, Target, ToolOutput
from apps.labs.models import Lab, digest
from apps.runs.facts import freeze_for
from apps.runs.ingest import ingest
from apps.runs.models import Attempt, Chunk, Run
from apps.runs.services import start_runs
from apps.runs.states import State

FIO_RESULT = Path(__file__).parent.parent / "parsers/fixtures/fio_json/stonewall.json"
GIB = 1024**3
JOBS: list[dict[str, Any]] = [
    {
        "rw": "randread",
        "block_size": 4096,
        "file_size": GIB,
        "runtime": 30,
        "time_based": True,
        "ioengine": "libaio",
        "iodepth": 16,
    },
    {"rw": "write", "block_size": 1024**2, "file_size": 4 * GIB, "runtime": 30, "time_based": True},
]


@dataclass
class World:
    lab: Lab
    host: Host
    target: Target
    agent: Agent
    finished: Run
    queued: Run


def furnish(lab: Lab, result: bytes | None = None) -> World:
    """Needs the lab's scope."""
    host = raid_host(lab, "storage1")
    agent = agent_on(host)
    target = Target.objects.get(host=host, is_agents_own=True)
    finished = finished_run(lab, target, result or FIO_RESULT.read_bytes())
    queued = start(lab, target)
    return World(lab, host, target, agent, finished, queued)


def start(lab: Lab, target: Target, repetitions: int = 1) -> Run:
    return start_runs(
        lab=lab, target=target, spec={"tool": "fio", "jobs": JOBS}, repetitions=repetitions, who="engineer@example.org"
    )[0]


def raid_host(lab: Lab, name: str) -> Host:
    """Two controllers, eight disks, RAID 50 of two md RAID 5, a boot disk, and the agent's directory."""
    known = dict.fromkeys(("kernel", "os", "cpu_model", "cpu_count", "ram_bytes", "architecture"), "discovered")
    host = Host.objects.create(
        lab=lab, name=name, os="Debian GNU/Linux 12", kernel="6.1.0-18-amd64",
        cpu_model="AMD EPYC 7302P 16-Core Processor", cpu_count=32,
        ram_bytes=64 * GIB, architecture="x86_64", environment="native", role="storage server",
        sources=known | {"role": "typed"},
        absent={"ram_type": "not_printed", "hypervisor": "none"},
    )  # fmt: skip
    cards = [
        Controller.objects.create(
            lab=lab, host=host, name=f"{name} HBA {n}", vendor="Broadcom", model="SAS3008", kind="hba",
            bus="PCIe 3.0 x8",
            absent={"cache_bytes": "none"},
        )
        for n in (1, 2)
    ]  # fmt: skip
    arrays = [_raid5(host, cards[n], n) for n in (0, 1)]
    top = Array.objects.create(
        lab=lab, host=host, name="md10", level="0", implementation="software", software="md", chunk_size=512 * 1024,
        state="clean",
        capacity_bytes=24 * 10**12,
    )  # fmt: skip
    for position, one in enumerate(arrays):
        ArrayMember.objects.create(array=top, position=position, member_array=one)
    data = Filesystem.objects.create(
        lab=lab, host=host, array=top, type="xfs", mount_point="/srv/data", device_name="/dev/md10",
        size_bytes=24 * 10**12,
        used_bytes=3 * 10**12, free_bytes=21 * 10**12,
        mount_options="rw,noatime,inode64,logbsize=256k,sunit=1024,swidth=6144",
    )  # fmt: skip
    Target.objects.create(
        lab=lab, host=host, name="data", path="/srv/data/spindle", filesystem=data, is_agents_own=True
    )
    boot_disk(host, "nvme0n1", "/")
    ToolOutput.objects.create(
        lab=lab, host=host, tool="lsblk", argv=["lsblk", "-J", "-O", "-b"], exit_status=0,
        stdout='{"blockdevices": []}',
        sha256=hashlib.sha256(name.encode()).hexdigest(),
    )  # fmt: skip
    return host


def _raid5(host: Host, card: Controller, number: int) -> Array:
    made = Array.objects.create(
        lab=host.lab, host=host, name=f"md{number}", level="5", implementation="software", software="md",
        chunk_size=512 * 1024,
        layout="left-symmetric", state="degraded" if number else "clean", capacity_bytes=12 * 10**12,
    )  # fmt: skip
    disks = Disk.objects.bulk_create(
        Disk(
            lab=host.lab, host=host, controller=card, device_name=f"sd{letter}", vendor="Seagate",
            model="ST4000NM0023", serial=f"Z1Z{host.pk}{letter}",
            interface="SAS", generation="SAS-6G", rpm=7200, is_solid_state=False, capacity_bytes=4 * 10**12,
        )
        for letter in "abcdefgh"[number * 4 : number * 4 + 4]
    )  # fmt: skip
    ArrayMember.objects.bulk_create(
        ArrayMember(array=made, position=position, disk=disk, state="in_sync") for position, disk in enumerate(disks)
    )
    return made


def boot_disk(host: Host, name: str, mount_point: str) -> None:
    disk = Disk.objects.create(
        lab=host.lab, host=host, device_name=name, model="SAMSUNG MZVLB512HBJQ", serial=f"S4{host.pk}{name}",
        interface="NVMe", is_solid_state=True,
        capacity_bytes=512110190592,
    )  # fmt: skip
    root = Filesystem.objects.create(
        lab=host.lab,
        host=host,
        disk=disk,
        type="ext4",
        mount_point=mount_point,
        device_name=f"/dev/{name}p2",
        size_bytes=480 * 10**9,
    )
    Target.objects.create(lab=host.lab, host=host, name=f"on {name}", path=mount_point, filesystem=root)


def agent_on(host: Host, state: str = "approved", seen_seconds_ago: int | None = 3) -> Agent:
    seen = None if seen_seconds_ago is None else timezone.now() - timedelta(seconds=seen_seconds_ago)
    policy = {
        "directory": "/srv/data/spindle",
        "quota_bytes": 100 * GIB,
        "max_runtime_s": 3600,
        "max_iodepth": 1024,
        "max_numjobs": 64,
    }
    agent: Agent = Agent.objects.create(
        lab=host.lab, host=host, secret_sha256=digest(f"secret {host.pk}"), machine=digest(host.name), state=state,
        version="1.0",
        fio_version="fio-3.33", policy=policy, last_seen_at=seen,
    )  # fmt: skip
    return agent


def _token() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('runs_fencing_token')")
        return int(cursor.fetchone()[0])


def attempt_at(run: Run, state: State, **fields: Any) -> Attempt:
    """An attempt in this state, and its run with it, as the host's words would have left them."""
    now = timezone.now()
    attempt: Attempt = Attempt.objects.create(
        lab_id=run.lab_id, run=run, host_id=run.host_id, number=run.attempts.count() + 1, token=_token(),
        state=state, offered_at=now, **fields,
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(
        state=state, problem=fields.get("reason", ""), started_at=fields.get("started_at")
    )
    run.refresh_from_db()
    return attempt


def finished_run(lab: Lab, target: Target, result: bytes) -> Run:
    """A run whose result was delivered in chunks and read in, as from a host."""
    run = start(lab, target)
    started = timezone.now() - timedelta(minutes=3)
    freeze_for(run)
    manifest = {"result": {"chunks": 1, "bytes": len(result), "sha256": hashlib.sha256(result).hexdigest()}}
    attempt = attempt_at(
        run, State.FINISHED, manifest=manifest, started_at=started, ended_at=started + timedelta(seconds=61),
        exit_status=0,
        argv=["fio", "--output-format=json+", "job.fio"],
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(finished_at=started + timedelta(seconds=61))
    Chunk.objects.create(
        attempt=attempt, stream="result", sequence=0, sha256=manifest["result"]["sha256"], size=len(result), data=result
    )
    ingest(attempt)
    run.refresh_from_db()
    return run


__all__ = ["agent_on", "attempt_at", "finished_run", "furnish", "raid_host", "start"]
