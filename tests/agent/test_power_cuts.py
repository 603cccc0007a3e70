"""A host loses its power at random moments: its disk has what was flushed by then, and its kernel another boot id.

The agent's folder and its test files lie on a filesystem in an image file. To cut the power all processes are stopped, the
image is copied as it is (what the kernel still has in memory is not in it), and the next boot mounts the copy.
"""

import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import Host, kill_below, lasting, processes_below, until
from tests.agent.test_faults import same_program
from tests.faults.namespaces import explain_missing
from tests.sampling import IS_LONG, SEED

MISSING = explain_missing()
pytestmark = [pytest.mark.fio, pytest.mark.faults, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
CUTS = 50 if IS_LONG else 1
IMAGE_BYTES = 256 << 20
BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Machine:
    """A disk that can be taken away, and the agent that is started on it after each boot."""

    def __init__(self, folder: Path, server: FakeServer, pyz: Path) -> None:
        self.folder, self.disk = folder, folder / "disk"
        self.image, self.boot_id, self.python = folder / "image", folder / "boot-id", folder / "python"
        self.disk.mkdir()
        with self.image.open("wb") as image:
            image.truncate(IMAGE_BYTES)
        subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0", str(self.image)], check=True)
        self.python.write_text(
            f'#!/bin/sh\nexec unshare --mount sh -ec \'mount --bind {self.boot_id} {BOOT_ID}; exec {sys.executable} "$@"\' sh "$@"\n'
        )
        self.python.chmod(0o755)
        self.boot()
        self.host = Host(self.disk, server, pyz, str(self.python))
        self.host.log = folder / "log"

    def boot(self) -> None:
        self.boot_id.write_text(f"{uuid.uuid4()}\n")
        subprocess.run(["mount", "-o", "loop", str(self.image), str(self.disk)], check=True)

    def cut_power(self) -> None:
        """Stop everything at one moment, keep the disk as it is then, and end the rest, which can change it no more."""
        pids = same_program(self.host) + processes_below(self.host.files)
        self._signal(pids, signal.SIGSTOP)
        copy = self.folder / "image-then"
        subprocess.run(["cp", "--sparse=always", str(self.image), str(copy)], check=True)
        self._signal(pids, signal.SIGKILL)
        if self.host.process is not None:
            self.host.process.wait(10)
        kill_below(self.host.files)
        until(lambda: not same_program(self.host), "the end of every process")
        self.unmount()
        shutil.move(copy, self.image)

    def _signal(self, pids: list[int], number: int) -> None:
        subprocess.run(["kill", f"-{number}", *map(str, pids)], check=False, capture_output=True)

    def unmount(self) -> None:
        subprocess.run(["umount", "-l", str(self.disk)], check=True)


@pytest.fixture
def machine(tmp_path: Path, server: FakeServer, pyz: Path) -> Iterator[Machine]:
    made = Machine(tmp_path, server, pyz)
    yield made
    made.host.close()
    made.unmount()


def was_started(attempt: Attempt) -> bool:
    return bool(attempt.running) or b'"fio started"' in attempt.stream("journal")


def test_after_a_power_cut_a_run_is_interrupted_and_never_begun_again(machine: Machine, server: FakeServer) -> None:
    chance = random.Random(SEED)
    outcomes: dict[str, int] = {}
    for _ in range(CUTS):
        machine.host.start()
        attempt = server.offer(lasting(2, rw="write", ioengine="psync"))
        until(lambda: attempt.state != "offered", "the accept")  # noqa: B023
        time.sleep(chance.uniform(0, 2.4))
        was_running = bool(machine.host.fio_runs(attempt))
        machine.cut_power()
        machine.boot()
        machine.host.start()
        outcome = machine.host.ended(attempt)
        said = (outcome, was_running, machine.host.log.read_text()[-2000:])
        assert outcome == "interrupted" if was_running else outcome in ("interrupted", "finished"), said
        assert outcome == "finished" or "restarted" in attempt.ending["reason"], said
        assert attempt.stream("journal").count(b'"fio started"') <= 1, said
        assert not machine.host.leftovers()
        assert server.violations == []
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        machine.host.end(signal.SIGKILL)
    machine.host.start()
    following = server.offer(lasting(1))
    assert machine.host.ended(following) == "finished"
    print(f"\n{CUTS} power cuts: {outcomes}; begun again 0")
