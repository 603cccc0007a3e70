"""Agents by the hundred and thousand: enrolled through the real protocol with real tokens, but without a program or a machine of their own."""

import http.client
import json
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.utils import timezone

from apps.agents.models import Agent, Enrolment
from apps.inventory.history.authors import by
from apps.inventory.models import Host
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab, digest

AT_ONCE = 4  # connections that enrol
ENROLLED = (
    500  # through the protocol; the rows of more are written as it writes them, which takes seconds in place of minutes
)
# What a real agent says of itself (docs/reference/agent-protocol.md).
REPORT = {
    "boot_id": "6d4f0a52-50c5-4d0c-8f0f-0c1f7d3f6c01",
    "agent_version": "1.0",
    "fio_version": "fio-3.33",
    "policy": {
        "directory": "/srv/spindle",
        "quota_bytes": 1 << 36,
        "max_runtime_s": 3600,
        "max_iodepth": 256,
        "max_numjobs": 64,
    },
}


@dataclass
class Identity:
    name: str
    secret: str = field(default_factory=lambda: secrets.token_hex(32))
    machine: str = field(default_factory=lambda: secrets.token_hex(32))
    instance: str = field(default_factory=lambda: secrets.token_hex(16))
    agent: int = 0

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer spa_{self.agent}_{self.secret}",
            "X-Spindle-Protocol": "1",
            "X-Spindle-Instance": self.instance,
            "X-Spindle-Machine": self.machine,
        }

    def request(self, method: str, path: str, body: bytes, **more: str) -> bytes:
        """The bytes of a request, as the real agent sends them."""
        lines = {
            "Host": "127.0.0.1",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **self.headers,
            **more,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} /agent/v1/{path} HTTP/1.1\r\n{head}\r\n".encode() + body

    def poll(self, wait: float, **more: Any) -> bytes:
        return self.request("POST", "poll/", json.dumps({**REPORT, "attempts": [], "wait": wait, **more}).encode())


def enrolled(port: int, lab: Lab, count: int) -> list[Identity]:
    """So many approved agents, each on a host of its own."""
    everybody = [Identity(f"idle{number:05}") for number in range(count)]
    return _through_the_protocol(port, lab, everybody[:ENROLLED]) + _as_rows(lab, everybody[ENROLLED:])


def _through_the_protocol(port: int, lab: Lab, everybody: Sequence[Identity]) -> list[Identity]:
    with lab_scope(lab.pk):
        tokens = [Enrolment.objects.issue(lab, "benchmark", trusted=True)[1] for _ in everybody]
    named = list(zip(everybody, tokens, strict=True))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        groups = pool.map(partial(_enrol, port), [named[start::AT_ONCE] for start in range(AT_ONCE)])
    return [one for group in groups for one in group]


def _as_rows(lab: Lab, everybody: Sequence[Identity]) -> list[Identity]:
    with lab_scope(lab.pk), by(Author.AGENT, "benchmark"):
        hosts = Host.objects.bulk_create([Host(lab=lab, name=one.name) for one in everybody])
        rows = [
            Agent(
                lab=lab, host=host, secret_sha256=digest(one.secret), machine=one.machine, version="1.0",
                state=Agent.State.APPROVED, approved_at=timezone.now(),
            )
            for one, host in zip(everybody, hosts, strict=True)
        ]  # fmt: skip
        for one, row in zip(everybody, Agent.objects.bulk_create(rows), strict=True):
            one.agent = row.pk
    return list(everybody)


def _enrol(port: int, named: Sequence[tuple[Identity, str]]) -> list[Identity]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for one, token in named:
        body = {
            "token": token,
            "secret_sha256": digest(one.secret),
            "machine": one.machine,
            "hostname": one.name,
            "agent_version": "1.0",
            "python": "3.11",
        }
        connection.request("POST", "/agent/v1/enrol/", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        made = json.loads(answer.read())
        assert answer.status == 201, made
        one.agent = made["agent"]
    connection.close()
    return [one for one, _ in named]
