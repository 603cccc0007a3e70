"""Requests to a web process of a stack, as scripts and agents send them; a FakeAgent that goes over the wire."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.agents.models import Enrolment
from apps.inventory.models import Filesystem, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Attempt
from tests.agents.conftest import FakeAgent, sha256

PATIENCE_S = 30.0


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def status_code(self) -> int:
        return self.status

    def json(self) -> Any:
        return json.loads(self.body)


def call(
    port: int,
    method: str,
    path: str,
    body: bytes | dict[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    patience: float = PATIENCE_S,
) -> Reply:
    """Send one request on a connection of its own.

    Raises:
        OSError: The server is away, or went away before it answered.
    """
    is_json = not isinstance(body, bytes)
    data = json.dumps(body or {}).encode() if is_json and method != "GET" else body if isinstance(body, bytes) else None
    kind = "application/json" if is_json else "application/octet-stream"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
    try:
        connection.request(method, path, data, {"Content-Type": kind, **(headers or {})})
        answer = connection.getresponse()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    except http.client.HTTPException as error:
        raise ConnectionError(str(error)) from error
    finally:
        connection.close()


@dataclass
class RemoteAgent(FakeAgent):
    """Speaks the protocol to the web process at `port`; a request whose answer does not come raises OSError."""

    port: int = field(default=0, kw_only=True)

    def post(self, path: str, **body: Any) -> Reply:
        return call(self.port, "POST", f"/agent/v1/{path}", body, self.headers)

    def put_chunk(self, attempt: Attempt, stream: str, sequence: int, data: bytes, digest: str | None = None) -> Reply:
        path = f"/agent/v1/attempts/{attempt.pk}/streams/{stream}/chunks/{sequence}/"
        headers = {**self.headers, "X-Spindle-Token": str(attempt.token), "X-Spindle-SHA256": digest or sha256(data)}
        return call(self.port, "PUT", path, data, headers)


def enrol_remote(lab: Lab, port: int) -> RemoteAgent:
    """Return an approved agent with one target, which speaks to the web process at this port."""
    agent = RemoteAgent(lab, port=port)
    with lab_scope(lab.pk):
        _, token = Enrolment.objects.issue(lab, "test", trusted=True)
    assert agent.enrol(token).status_code == 201
    with lab_scope(lab.pk):
        host = agent.row.host
        filesystem = Filesystem.objects.create(lab=lab, host=host, type="ext4", mount_point="/")
        Target.objects.create(
            lab=lab, host=host, name="data", path="/srv/spindle", is_agents_own=True, filesystem=filesystem
        )
    return agent
