"""An agent as the server sees it: headers and JSON, without the program."""

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from apps.agents import poll
from apps.agents.identity import Caller, identify
from apps.agents.models import Agent, Enrolment
from apps.agents.tasks import dispatch_host
from apps.inventory.models import Filesystem, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Lab
from apps.runs.models import Attempt, Run
from apps.runs.services import start_runs

WORKLOAD = {"tool": "fio", "jobs": [{"rw": "randread", "block_size": 4096, "file_size": 1048576}]}


def sha256(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


@dataclass
class FakeAgent:
    """Speaks the protocol as docs/reference/agent-protocol.md has it."""

    lab: Lab
    machine: str = field(default_factory=lambda: sha256(secrets.token_hex(8)))
    secret: str = field(default_factory=lambda: secrets.token_hex(32))
    instance: str = "first"
    pk: int = 0

    def enrol(self, token: str, hostname: str = "bench1") -> Any:
        body = {"token": token, "secret_sha256": sha256(self.secret), "machine": self.machine, "hostname": hostname}
        answer = Client().post("/agent/v1/enrol/", json.dumps(body), content_type="application/json")
        if answer.status_code == 201:
            self.pk = answer.json()["agent"]
        return answer

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer spa_{self.pk}_{self.secret}",
            "X-Spindle-Instance": self.instance,
            "X-Spindle-Machine": self.machine,
            "X-Spindle-Protocol": "1",
        }

    @property
    def row(self) -> Agent:
        with all_labs():
            return Agent.objects.select_related("host").get(pk=self.pk)

    def post(self, path: str, **body: Any) -> Any:
        return Client().post(
            f"/agent/v1/{path}", json.dumps(body), content_type="application/json", headers=self.headers
        )

    def put_chunk(self, attempt: Attempt, stream: str, sequence: int, data: bytes, digest: str | None = None) -> Any:
        path = f"/agent/v1/attempts/{attempt.pk}/streams/{stream}/chunks/{sequence}/"
        headers = {**self.headers, "X-Spindle-Token": str(attempt.token), "X-Spindle-SHA256": digest or sha256(data)}
        return Client().put(path, data, content_type="application/octet-stream", headers=headers)

    def poll(self, *held: tuple[int, int, str], is_dispatched: bool = True) -> dict[str, Any]:
        """The poll's work without the waiting. `is_dispatched`: a worker has carried out the task that the poll may send."""
        agent = identify(Caller.from_headers({key.lower(): value for key, value in self.headers.items()}))
        report = poll.Report.from_json({"attempts": [{"attempt": a, "token": t, "state": s} for a, t, s in held]})
        with lab_scope(agent.lab_id):
            poll.note(agent, report)
            poll.ask_for_dispatch(agent, report)
        if is_dispatched:
            dispatch_host(agent.host_id)
        with lab_scope(agent.lab_id):
            return poll.answer(agent, report) or poll.message([], [], [])

    def take(self) -> Attempt:
        """Poll, take the offer and accept it."""
        offer = self.poll()["offers"][0]
        with all_labs():
            attempt = Attempt.objects.get(pk=offer["attempt"])
        assert self.post(f"attempts/{attempt.pk}/accept/", token=attempt.token).status_code == 200
        return self.again(attempt)

    def again(self, attempt: Attempt) -> Attempt:
        with all_labs():
            return Attempt.objects.select_related("run").get(pk=attempt.pk)


@pytest.fixture
def agent(cast) -> FakeAgent:
    """Enrolled and approved, with its own directory as target."""
    fake = FakeAgent(cast.lab)
    with lab_scope(cast.lab.pk):
        _, token = Enrolment.objects.issue(cast.lab, "owner", trusted=True)
    assert fake.enrol(token).status_code == 201
    with lab_scope(cast.lab.pk):
        host = fake.row.host
        disk_fs = Filesystem.objects.create(lab=cast.lab, host=host, type="ext4", mount_point="/")
        Target.objects.create(
            lab=cast.lab, host=host, name="agent directory", path="/srv/spindle", is_agents_own=True, filesystem=disk_fs
        )
    return fake


@pytest.fixture
def start(agent):
    """`start(2)` queues two runs on the agent's host."""

    def started(repetitions: int = 1) -> list[Run]:
        with lab_scope(agent.lab.pk):
            target = Target.objects.get(host=agent.row.host)
            return start_runs(lab=agent.lab, target=target, spec=WORKLOAD, repetitions=repetitions, who="engineer")

    return started
