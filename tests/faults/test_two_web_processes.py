"""Two web processes and one database: a bell rung by one wakes a poll that the other holds, and both know who polls."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from tests.faults.stack import Stack, free_port, until
from tests.faults.standing import StandingServers

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
WORKLOAD = {"rw": "randread", "block_size": 4096, "file_size": 1048576}


class Webs:
    """Two web processes, worker and dispatcher on the test's own database; `first` and `second` are their ports."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.first, self.second = stack, stack.port, free_port()

    def start(self) -> None:
        self.stack.start_servers()
        self.stack.start_web("web2", self.second)


@pytest.fixture
def webs(cast, tmp_path: Path, standing: StandingServers) -> Iterator[Webs]:
    made = Webs(Stack(tmp_path, cast.lab, port=standing.port, standing=standing))
    try:
        made.start()
        yield made
    finally:
        made.stack.down()


def _send(port: int, path: str, headers: dict[str, str], body: Any) -> tuple[int, Any]:
    """Status and JSON."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {**headers, "Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=40) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def _poll(agent: Any, port: int, wait: float = 0, **body: Any) -> tuple[int, Any]:
    return _send(port, "/agent/v1/poll/", agent.headers, {"wait": wait, **body})


def _is_held(agent: Any) -> bool:
    until = agent.row.polling_until
    return until is not None and until > timezone.now()


def _hold(pool: ThreadPoolExecutor, agent: Any, port: int, **body: Any) -> Future[tuple[int, Any]]:
    """A poll that the web process at this port holds when this returns."""
    held = pool.submit(_poll, agent, port, 20, **body)
    until("the poll is held", 10, lambda: _is_held(agent))
    return held


def test_a_start_and_a_cancel_at_one_process_reach_a_poll_at_the_other(webs, agent, token) -> None:
    script = {"Authorization": f"Bearer {token('run')}"}
    with lab_scope(agent.lab.pk):
        target = Target.objects.get(host=agent.row.host).pk
    with ThreadPoolExecutor(1) as pool:
        held = _hold(pool, agent, webs.second)
        status, run = _send(webs.first, "/api/v1/runs/", script, {"target": target, "workload": WORKLOAD})
        assert (status, run["state"]) == (201, "queued")
        status, news = held.result(15)
        [offer] = news["offers"]
        assert (status, offer["run"]) == (200, run["id"])
        attempt = f"/agent/v1/attempts/{offer['attempt']}"
        assert _send(webs.first, f"{attempt}/accept/", agent.headers, {"token": offer["token"]})[0] == 200
        said = {"token": offer["token"], "started_at": 1.0}
        assert _send(webs.second, f"{attempt}/running/", agent.headers, said)[0] == 200
        named = [{"attempt": offer["attempt"], "token": offer["token"], "state": "running"}]
        until("the former poll is over", 10, lambda: not _is_held(agent))
        held = _hold(pool, agent, webs.second, attempts=named)
        assert _send(webs.first, f"/api/v1/runs/{run['id']}/cancel/", script, {})[0] == 202
        assert held.result(15)[1]["cancel"] == [offer["attempt"]]
    connection.close()


def test_a_second_copy_at_another_process_gets_409(webs, agent) -> None:
    assert _poll(agent, webs.first)[0] == 200
    copy = replace(agent, instance="second")
    with ThreadPoolExecutor(1) as pool:
        held = _hold(pool, agent, webs.second)
        assert _poll(copy, webs.first)[0] == 409
        assert _poll(copy, webs.second)[0] == 409
        webs.stack.kill("web2")  # with the poll that it held
        with pytest.raises(OSError):  # however the connection ends
            held.result(15)
    assert _poll(agent, webs.first)[0] == 200  # the same copy as ever may go on at once
