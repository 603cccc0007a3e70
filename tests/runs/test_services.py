"""Starting and cancelling by every door: page, REST with a session, REST with a token. One rule, one audit event."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.agents.models import Agent
from apps.core import task_queue
from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, digest
from apps.runs.models import Run
from apps.runs.services import QuotaError, start_runs
from apps.runs.states import State
from apps.runs.workload import WorkloadError
from tests.comparison.factories import GIB, MIB, target
from tests.conftest import Cast
from tests.runs.test_pages import form

DOORS = ("page", "session", "token")
WHO = {"page": "engineer@example.org", "session": "engineer@example.org", "token": "token run token"}


class Doors:
    """Start and cancel by the door of this name. Returns statuses."""

    def __init__(self, door: str, place: Target, sign_in: Any, token: Any) -> None:
        self.door, self.place = door, place
        is_script = door == "token"
        self.client = Client() if is_script else sign_in("engineer")
        self.headers = {"Authorization": f"Bearer {token('run')}"} if is_script else {}

    def start(self, file_size: int, repetitions: int = 1) -> Any:
        if self.door == "page":
            asked = form(self.place, repetitions=repetitions, rw="write", file_size=str(file_size))
            return self.client.post(reverse("run-new"), asked)
        job = {"rw": "write", "block_size": 4096, "file_size": file_size}
        body = {"target": self.place.pk, "workload": job, "repetitions": repetitions}
        return self.client.post("/api/v1/runs/", body, content_type="application/json", headers=self.headers)

    def cancel(self, run: Run) -> Any:
        if self.door == "page":
            return self.client.post(reverse("run-cancel", args=[run.pk]))
        return self.client.post(f"/api/v1/runs/{run.pk}/cancel/", headers=self.headers)


@pytest.fixture
def place(cast: Cast) -> Target:
    with lab_scope(cast.lab.pk):
        return target(cast.lab)


@pytest.fixture(params=DOORS)
def doors(request: Any, place: Target, sign_in: Any, token: Callable[[str], str]) -> Doors:
    return Doors(request.param, place, sign_in, token)


def _events(cast: Cast, act: str) -> list[AuditEvent]:
    with lab_scope(cast.lab.pk):
        return list(AuditEvent.objects.filter(act=act).order_by("id"))


def _runs(cast: Cast) -> list[Run]:
    with lab_scope(cast.lab.pk):
        return list(Run.objects.order_by("id"))


def test_a_start_is_written_down_once_whatever_the_door(cast: Cast, doors: Doors) -> None:
    assert doors.start(16 * MIB, repetitions=2).status_code in (201, 302)
    runs = _runs(cast)
    assert [(run.state, run.repetition, run.created_by) for run in runs] == [
        (State.QUEUED, number, WHO[doors.door]) for number in (1, 2)
    ]
    [event] = _events(cast, "runs started")
    assert (event.who, event.subject) == (WHO[doors.door], str(doors.place))
    assert event.detail == {"runs": [run.pk for run in runs]}


def test_a_cancel_is_written_down_once_whatever_the_door(cast: Cast, doors: Doors) -> None:
    doors.start(16 * MIB)
    [run] = _runs(cast)
    assert doors.cancel(run).status_code in (202, 302)
    [event] = _events(cast, "run cancelled")
    assert (event.who, event.subject, event.detail) == (WHO[doors.door], str(run), {"state": "queued"})
    [cancelled] = _runs(cast)
    assert (cancelled.state, WHO[doors.door] in cancelled.problem) == (State.CANCELLED, True)
    assert doors.cancel(run).status_code in (409, 302)
    assert len(_events(cast, "run cancelled")) == 1


def test_the_hosts_quota_is_the_same_by_every_door(cast: Cast, doors: Doors) -> None:
    with lab_scope(cast.lab.pk):
        Agent.objects.create(
            lab=cast.lab, host=doors.place.host, secret_sha256=digest("x"), policy={"quota_bytes": GIB}
        )
    refused = doors.start(2 * GIB)
    assert refused.status_code == (422 if doors.door == "page" else 400)
    if doors.door == "page":
        text = html.unescape(refused.content.decode())
        assert re.search(r"in all, expected at most 1\sGiB \(this host's quota\)", text), text
    else:
        found = refused.json()
        assert (found["field"], found["found"]) == ("file_size", 2 * GIB)
        assert f"at most {GIB} bytes" in found["expected"]
    assert _runs(cast) == []
    assert _events(cast, "runs started") == []
    assert doors.start(GIB).status_code in (201, 302)


def test_a_start_that_is_rolled_back_leaves_nothing_and_sends_nothing(
    cast: Cast, place: Target, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(task_queue, "send", lambda *args, **_: sent.append(args))
    spec = {"jobs": [{"rw": "write", "block_size": 4096, "file_size": 2 * GIB}]}
    with lab_scope(cast.lab.pk):
        Agent.objects.create(lab=cast.lab, host=place.host, secret_sha256=digest("x"), policy={"quota_bytes": GIB})
        with pytest.raises(QuotaError), django_capture_on_commit_callbacks(execute=True):
            start_runs(lab=cast.lab, target=place, spec=spec, who="engineer")
    assert (_runs(cast), sent) == ([], [])


def test_the_host_is_dispatched_when_the_start_is_committed(
    cast: Cast, place: Target, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(task_queue, "send", lambda *args, **_: sent.append(args))
    spec = {"jobs": [{"rw": "write", "block_size": 4096, "file_size": MIB}]}
    with lab_scope(cast.lab.pk), django_capture_on_commit_callbacks(execute=True):
        start_runs(lab=cast.lab, target=place, spec=spec, who="engineer")
        assert sent == []
    assert sent == [("agents.dispatch_host", place.host_id)]


SIDE_BY_SIDE = {"rw": "write", "block_size": 4096, "file_size": MIB, "numjobs": 5, "stonewall": False}
GREEDY = {"rw": "write", "block_size": 16 * MIB, "file_size": GIB, "iodepth": 64, "ioengine": "libaio"}


@pytest.mark.parametrize(
    ("jobs", "field"),
    [([SIDE_BY_SIDE, SIDE_BY_SIDE], "numjobs"), ([GREEDY], "iodepth"), ([{**GREEDY, "iodepth": 32}] * 2, "")],
    ids=["processes side by side", "memory of one job", "one after the other"],
)
def test_what_the_host_would_refuse_of_all_jobs_together_is_refused_at_once(
    cast: Cast, place: Target, jobs: list[dict[str, Any]], field: str
) -> None:
    with lab_scope(cast.lab.pk):
        place.host.ram_bytes = 2 * GIB
        place.host.save()
        Agent.objects.create(lab=cast.lab, host=place.host, secret_sha256=digest("x"), policy={"max_numjobs": 8})
        if not field:
            assert start_runs(lab=cast.lab, target=place, spec={"jobs": jobs}, who="engineer")
            return
        with pytest.raises(WorkloadError, match=str(place.host)) as refused:
            start_runs(lab=cast.lab, target=place, spec={"jobs": jobs}, who="engineer")
    assert (refused.value.field, _runs(cast)) == (field, [])
