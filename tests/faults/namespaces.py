"""Several hosts on one machine: each agent in network, mount and UTS namespaces of its own, with its own machine id and disk.

A host is joined to the server by a pair of virtual network cards, which is what the tests cut. Its test directory is a
filesystem in an image file, mounted for this host alone.
"""

import os
import shutil
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

import psutil

from apps.agents.models import Enrolment
from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from tests.faults.stack import ROOT, Stack, until

IMAGE_BYTES = 96 << 20
TOOLS = ("ip", "unshare", "mount", "mkfs.ext4", "fio")


def explain_missing() -> str:
    """Return why this machine cannot have such hosts; empty where it can."""
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    probe = subprocess.run(
        ["unshare", "--net", "--mount", "--uts", "true"], capture_output=True, text=True, check=False
    )
    if probe.returncode:
        return f"namespaces are not allowed here: {probe.stderr.strip()}"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    return ""


def make_network(name: str, number: int) -> None:
    """Make the network namespace `name`, joined to the server by 10.201.`number`.0/30: the server has .1, the host .2."""
    server, host = f"{name}s", f"{name}h"
    for command in (
        f"ip netns add {name}",
        f"ip link add {server} type veth peer name {host}",
        f"ip link set {host} netns {name}",
        f"ip addr add 10.201.{number}.1/30 dev {server}",
        f"ip link set {server} up",
        f"ip -n {name} addr add 10.201.{number}.2/30 dev {host}",
        f"ip -n {name} link set {host} up",
        f"ip -n {name} link set lo up",
    ):
        subprocess.run(command.split(), check=True, capture_output=True)


@dataclass
class NamespaceHost:
    """A host `number` of a stack, whose network is 10.201.`number`.0/30; the server has .1 of it, the host .2."""

    stack: Stack
    number: int
    name: str = ""
    image_type: str = "ext4"
    process: "subprocess.Popen[bytes] | None" = None
    machine: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        self.name = self.name or f"sp{os.getpid() % 100_000}n{self.number}"
        self.folder = self.stack.folder / self.name
        self.mount = self.folder / "data"

    @property
    def state(self) -> Path:
        return self.folder / "agent"

    @property
    def url(self) -> str:
        return f"http://10.201.{self.number}.1:{self.stack.port}"

    def make(self) -> None:
        """Make the namespace, its network, the image of its disk and its machine id."""
        make_network(self.name, self.number)
        self.mount.mkdir(parents=True)
        with (self.folder / "image").open("wb") as image:
            image.truncate(IMAGE_BYTES)
        subprocess.run(["mkfs.ext4", "-q", str(self.folder / "image")], check=True, capture_output=True)
        (self.folder / "machine-id").write_text(f"{self.machine}\n")

    def _inside(self, *argv: str) -> list[str]:
        """Return the command that runs another one as on this host."""
        lines = [
            f"hostname {self.name}",
            f"mount --bind {quote(str(self.folder / 'machine-id'))} /etc/machine-id",
            f"mount -o loop {quote(str(self.folder / 'image'))} {quote(str(self.mount))}",
            "exec " + " ".join(map(quote, argv)),
        ]
        return ["ip", "netns", "exec", self.name, "unshare", "--mount", "--uts", "sh", "-ec", "\n".join(lines)]

    def _agent(self, command: str, *more: str) -> list[str]:
        return [sys.executable, "-m", "worker.agent", command, *more, "--state", str(self.state)]

    def enrol(self) -> None:
        with lab_scope(self.stack.lab.pk):
            _, token = Enrolment.objects.issue(self.stack.lab, "test", trusted=True)
        enrol = self._agent("enrol", "--server", self.url, "--token-file", "-", "--directory", str(self.mount))
        subprocess.run(
            self._inside(*enrol), cwd=ROOT, check=True, capture_output=True, timeout=120, input=token.encode()
        )

    def start_agent(self) -> None:
        log = (self.stack.folder / f"{self.name}.log").open("ab")
        self.process = subprocess.Popen(
            self._inside(*self._agent("run")), cwd=ROOT, stdout=log, stderr=log, start_new_session=True
        )

    def cut(self) -> None:
        """Take the network away, as somebody who pulls the cable: no packet is answered or refused."""
        subprocess.run(["ip", "link", "set", f"{self.name}s", "down"], check=True)

    def join(self) -> None:
        subprocess.run(["ip", "link", "set", f"{self.name}s", "up"], check=True)

    def target(self) -> Target | None:
        """Return the host's directory, once its agent has reported it."""
        with lab_scope(self.stack.lab.pk):
            targets = Target.objects.filter(is_agents_own=True, path=str(self.mount))
            return targets.select_related("host", "filesystem").first()

    def remove(self) -> None:
        """End the agent, and take down what `make` made; the mount goes with its namespace."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            self.process.wait(timeout=20)
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", f"{self.name}s"], check=False, capture_output=True)


@dataclass
class LivingHost(NamespaceHost):
    """A host whose mounts and names last when its agent dies, as those of a machine do; it can be restarted.

    A process that sleeps holds its namespaces. Its boot id is its own, and changes when it is restarted.
    """

    keeper: "subprocess.Popen[bytes] | None" = None

    def make(self) -> None:
        super().make()
        (self.folder / "boot-id").write_text(f"{uuid.uuid4()}\n")
        boot_id = f"mount --bind {quote(str(self.folder / 'boot-id'))} /proc/sys/kernel/random/boot_id"
        argv = super()._inside("sh", "-ec", f"{boot_id}; exec sleep infinity")
        self.keeper = subprocess.Popen(argv, start_new_session=True)
        until(f"{self.name} is up", 20, lambda: psutil.Process(self.keeper.pid).name() == "sleep")  # type: ignore[union-attr]

    def _inside(self, *argv: str) -> list[str]:
        assert self.keeper
        return ["nsenter", "-t", str(self.keeper.pid), "--net", "--mount", "--uts", f"--wd={ROOT}", *argv]

    @property
    def processes(self) -> list[psutil.Process]:
        """Return what runs on the host beside its keeper."""
        pids = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, text=True, check=True).stdout
        found = []
        for pid in map(int, pids.split()):
            with suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(pid))
        return [process for process in found if self.keeper is None or process.pid != self.keeper.pid]

    def find(self, kind: str) -> list[psutil.Process]:
        """Return the host's processes of a kind: `fio` or `runner`."""
        found = []
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                if process.name() == kind or kind in process.cmdline():
                    found.append(process)
        return found

    def start_agent(self) -> None:
        if self.process is None or self.process.poll() is not None:
            super().start_agent()

    def kill_agent(self) -> None:
        """Kill the agent alone; its runner and fio live on."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=20)

    def lose_power(self) -> None:
        """End everything that runs on the host, and start it again under another boot id; its agent is still to be started."""
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.process is not None:
            self.process.wait(timeout=20)
        (self.folder / "boot-id").write_text(f"{uuid.uuid4()}\n")

    def remove(self) -> None:
        self.kill_agent()
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.keeper is not None:
            self.keeper.kill()
            self.keeper.wait(timeout=20)
        super().remove()
