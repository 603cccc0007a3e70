"""A lab host for tests from outside: the real agent program with its own state folder and test directory, and what REST says of it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.outside.product import Client, Product, wait_until

QUICK = {"rw": "write", "block_size": 65536, "file_size": 1 << 20, "ioengine": "psync"}
ENDED = ("finished", "failed", "interrupted", "cancelled")


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def unmount(point: Path) -> None:
    subprocess.run(["umount", "-l", str(point)], check=False, capture_output=True)


def can_mount(folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    unmount(folder)
    return done.returncode == 0


def enrolment_token(owner: Client) -> str:
    """Ask for a one-use token as an owner does."""
    page = owner.post("/lab/agents/enrol/")
    return re.findall(r"spe_[\w-]+", page.text)[0]


def everything(client: Client, path: str) -> list[dict[str, Any]]:
    """All pages of a list of the REST interface."""
    found: list[dict[str, Any]] = []
    while path:
        page = client.get(path).json()
        found += page["results"]
        path = page["next"] or ""
    return found


def approve_all(owner: Client) -> None:
    """Approve every agent that waits for it."""
    page = owner.get("/lab/agents/").text
    for number in re.findall(r"/lab/agents/(\d+)/approve/", page):
        owner.post(f"/lab/agents/{number}/approve/")


class LabHost:
    """One host with the real agent. Its name on the server is this machine's, or a number behind it."""

    def __init__(self, product: Product, owner: Client, admin: Client, folder: Path) -> None:
        self.product, self.owner, self.admin, self.folder = product, owner, admin, folder
        self.state, self.log = folder / "state", folder / "agent.log"
        self.program = folder / "agent.pyz"
        folder.mkdir(parents=True, exist_ok=True)
        self.program.write_bytes(product.client().get("/agent/agent.pyz").body)
        self.process: subprocess.Popen[bytes] | None = None
        self.id, self.machine = 0, os.urandom(16).hex()

    def enrol(self, directory: Path) -> None:
        known = {one["id"] for one in self.hosts()}
        words = ["enrol", "--state", str(self.state), "--server", self.product.url.rstrip("/")]
        words += ["--token", enrolment_token(self.owner), "--directory", str(directory)]
        done = self._call(words)
        assert done.returncode == 0, done.stdout + done.stderr
        new = [one["id"] for one in self.hosts() if one["id"] not in known]
        self.id = new[0] if new else self.id

    def _call(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self._argv(words), capture_output=True, text=True, timeout=60, check=False)

    def _argv(self, words: list[str]) -> list[str]:
        """With a machine id of its own, where this account may: the agent of the product itself has this machine's."""
        program = [sys.executable, str(self.program), *words]
        own = self.folder / "machine-id"
        own.write_text(self.machine + "\n")
        script = f'mount --bind {own} /etc/machine-id && exec "$@"'
        return ["unshare", "-m", "--propagation", "slave", "sh", "-c", script, "sh", *program]

    def hosts(self) -> list[dict[str, Any]]:
        return list(self.admin.get("/api/v1/hosts/?limit=100").json()["results"])

    def approve(self) -> None:
        approve_all(self.owner)

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self._argv(["run", "--state", str(self.state)]), stderr=log, stdout=log)

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(20)

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def targets(self) -> list[dict[str, Any]]:
        found = self.admin.get(f"/api/v1/targets/?host={self.id}&limit=100").json()["results"]
        return [one for one in found if one["host"] == self.id]

    def target(self, seconds: float = 60, **wanted: Any) -> dict[str, Any]:
        """Wait for the target that takes this host's runs, and is as wanted: `type`, or `path`."""

        def found() -> Any:
            for one in self.targets():
                told = {**one, **{f"lies_{name}": value for name, value in (one.get("lies_on") or {}).items()}}
                if one["takes_runs"] and all(told.get(name) == value for name, value in wanted.items()):
                    return one
            return None

        return dict(wait_until(f"a target {wanted} of host {self.id}; {self.tail()}", seconds, found))

    def run(self, target: int, **job: Any) -> int:
        answer = self.admin.send("POST", "/api/v1/runs/", {"target": target, "workload": {**QUICK, **job}})
        assert answer.status == 201, answer.text
        return int(answer.json()["id"])

    def read(self, run: int) -> dict[str, Any]:
        return dict(self.admin.get(f"/api/v1/runs/{run}/").json())

    def ended(self, run: int, seconds: float = 60) -> dict[str, Any]:
        def end() -> Any:
            found = self.read(run)
            return found if found["state"] in ENDED else None

        return dict(wait_until(f"run {run} ends: {self.read(run)['state']}; {self.tail()}", seconds, end))

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-1500:] if self.log.exists() else ""
