"""Hosts for tests from outside: one that only speaks the protocol, and real agents on machines with ids of their own."""

import hashlib
import html
import os
import re
import secrets
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.outside.product import Answer, Client, Product, wait_until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="a machine id of its own needs a mount")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def install_line(owner: Client) -> tuple[str, str]:
    """The line that *Add a host* shows, and the token in it."""
    page = owner.post("/lab/agents/enrol/").text
    shown = re.search(r'id="install-line"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert shown, page[:2000]
    line = html.unescape(shown[1])
    return line, re.findall(r"spe_[\w-]+", line)[0]


@dataclass
class SpokenHost:
    """Speaks the agent's protocol with an id and network cards of its choice."""

    product: Product
    name: str
    machine: str = field(default_factory=lambda: sha256(secrets.token_hex(8)))
    cards: tuple[str, ...] = ()
    secret: str = field(default_factory=lambda: secrets.token_hex(32))
    instance: str = field(default_factory=lambda: secrets.token_hex(8))
    agent: int = 0

    def enrol(self, token: str, **more: Any) -> Answer:
        body = {"token": token, "secret_sha256": sha256(self.secret), "machine": self.machine, "hostname": self.name}
        client = self.product.client()
        answer = client.send("POST", "/agent/v1/enrol/", {**body, "hardware": list(self.cards), **more})
        if answer.status == 201:
            self.agent = answer.json()["agent"]
        return answer

    def poll(self) -> Answer:
        client = self.product.client(
            **{
                "Authorization": f"Bearer spa_{self.agent}_{self.secret}",
                "X-Spindle-Instance": self.instance,
                "X-Spindle-Machine": self.machine,
                "X-Spindle-Hardware": ",".join(self.cards),
            }
        )
        said = {"boot_id": "b", "agent_version": "1.0", "fio_version": "fio-3.33", "policy": {"directory": "/f"}}
        return client.send("POST", "/agent/v1/poll/", {**said, "attempts": [], "wait": 0})

    def decide(self, owner: Client, act: str, **form: Any) -> Answer:
        return owner.post(f"/lab/agents/{self.agent}/{act}/", form)


class RealHost:
    """The agent's program as other hosts get it, on a machine whose id is its own (a mount that only its processes see)."""

    def __init__(self, product: Product, folder: Path, server: str = "") -> None:
        self.product, self.state, self.log = product, folder / "state", folder / "log"
        self.server = server or product.url
        self.program = folder / "agent.pyz"
        self.program.write_bytes(product.client().get("/agent/agent.pyz").body)
        (folder / "machine-id").write_text(secrets.token_hex(16) + "\n")
        self.inside = [
            "unshare",
            "-m",
            "sh",
            "-c",
            f'mount --bind {folder}/machine-id /etc/machine-id && exec "$@"',
            "-",
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def call(self, command: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        argv = [*self.inside, "python3", str(self.program), command, "--state", str(self.state), *arguments]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, cwd="/", **options)

    def enrol(self, token: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.call("enrol", "--server", self.server, "--token-file", "-", *arguments, input=token)

    def start(self) -> None:
        argv = [*self.inside, "python3", str(self.program), "run", "--state", str(self.state)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(argv, stdout=log, stderr=log, cwd="/")

    def said(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def hears(self, words: str, seconds: float = 30) -> None:
        wait_until(f"the agent says {words!r}", seconds, lambda: any(words in line for line in self.said()))

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            self.process.kill()
