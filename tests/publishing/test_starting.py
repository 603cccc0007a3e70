"""The usual start is answered outside Django and says the same; everything else goes on to the view, and nothing has been done."""

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Token
from apps.lib.asgi import HungUpError
from apps.lib.loop_sql import lines
from apps.lib.sql import ALWAYS
from apps.publishing import starting, throttling
from apps.publishing.starting import LARGEST, start
from apps.publishing.throttling import Allowance, TokenThrottle
from apps.runs.models import Run, Workload
from apps.runs.waiting import Waiting, accepts, waiting_here
from tests.comparison.factories import MIB, target
from tests.conftest import Cast
from tests.publishing.conftest import Script
from tests.threads import own_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
JOB = {"rw": "write", "block_size": MIB, "file_size": 16 * MIB}
ON = 299  # what the application behind answers here


async def _went_on(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": ON, "headers": []})
    await send({"type": "http.response.body", "body": (await receive())["body"]})


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_threads(monkeypatch):
        yield


@pytest.fixture
def place(cast: Cast) -> Target:
    with lab_scope(cast.lab.pk):
        return target(cast.lab)


def _ask(secret: str, body: Any, query: bytes = b"", **headers: str) -> tuple[int, Any, dict[str, str]]:
    """Status, body and headers; a request that went on has reached the next application whole."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {
        "host": "testserver", "content-type": "application/json", "content-length": str(len(raw)),
        "authorization": f"Bearer {secret}", **{name.replace("_", "-"): value for name, value in headers.items()},
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": raw}

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(start(_scope(given, query), receive, send, _went_on))
    head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert sent[0]["status"] != ON or sent[1]["body"] == raw
    return sent[0]["status"], json.loads(sent[1]["body"]) if sent[0]["status"] != ON else None, head


def _scope(headers: dict[str, str], query: bytes = b"") -> dict[str, Any]:
    return {
        "type": "http", "method": "POST", "path": "/api/v1/runs/", "query_string": query, "scheme": "http", "server": ("testserver", 80),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }  # fmt: skip


def _wish(place: Target, **more: Any) -> dict[str, Any]:
    return {"target": place.pk, "workload": {"tool": "fio", "jobs": [JOB]}, **more}


def _nothing_was_done() -> bool:
    with all_labs():
        return not Run.objects.exists() and not Workload.objects.exists()


def test_it_says_what_the_view_says(place: Target, token: Callable[[str], str]) -> None:
    secret = token("run")
    status, here, head = _ask(secret, _wish(place, repetitions=2))
    view = Script(secret)("POST", "runs/", _wish(place, repetitions=2))
    assert status == view.status_code == 201
    there, own = view.json(), {"id", "url", "page", "runs", "created_at"}
    assert list(here) == list(there)
    assert {name for name in here if here[name] != there[name]} <= own | {
        name for name in here if name.endswith("_url")
    }
    assert len(here["runs"]) == 2
    assert head["location"] == here["url"]
    known = {name.lower(): value for name, value in view.headers.items()}
    differ = {name for name in head | known if head.get(name) != known.get(name)}
    assert differ <= {"location", "content-length", "content-security-policy"}, (
        head,
        known,
    )  # as long as their numbers


def test_the_runs_are_there_with_their_starter(place: Target, token: Callable[[str], str], cast: Cast) -> None:
    _, found, _ = _ask(token("run"), _wish(place, repetitions=3))
    with lab_scope(cast.lab.pk):
        runs = Run.objects.filter(pk__in=found["runs"]).order_by("id")
        assert [(run.repetition, run.state, run.created_by) for run in runs] == [
            (number, "queued", "token run token") for number in (1, 2, 3)
        ]
        assert Token.objects.get().last_used_at is not None
        assert found["workload"]["file_size"] == 16 * MIB


def test_the_same_workload_is_stored_once_and_one_job_may_stand_alone(
    place: Target, token: Callable[[str], str]
) -> None:
    secret = token("admin")
    assert _ask(secret, _wish(place))[0] == _ask(secret, _wish(place, workload=JOB))[0] == 201
    with all_labs():
        assert Workload.objects.count() == 1


@pytest.mark.parametrize("scope", ["read", "upload"])
def test_a_token_of_another_scope_goes_on(place: Target, token: Callable[[str], str], scope: str) -> None:
    assert _ask(token(scope), _wish(place))[0] == ON
    assert _nothing_was_done()


@pytest.mark.parametrize("change", [{"revoked_at": timezone.now()}, {"expires_at": timezone.now() - timedelta(days=1)}])
def test_a_dead_token_goes_on(place: Target, token: Callable[[str], str], change: dict[str, Any]) -> None:
    secret = token("run")
    with all_labs():
        Token.objects.update(**change)
    assert _ask(secret, _wish(place))[0] == ON
    assert _nothing_was_done()


@pytest.mark.parametrize("authorization", ["", "Bearer ", "Bearer spl_unknown", "Basic eDp5", "spl_unknown"])
def test_who_has_no_token_goes_on(place: Target, authorization: str) -> None:
    """Among them sessions, which need their CSRF token."""
    assert _ask("", _wish(place), authorization=authorization, cookie="sessionid=whatever")[0] == ON
    assert _nothing_was_done()


def test_another_labs_target_goes_on(cast: Cast, token: Callable[[str], str]) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = target(cast.other_lab)
    assert _ask(token("run"), _wish(theirs))[0] == ON
    assert _nothing_was_done()


def test_a_host_in_maintenance_or_a_foreign_folder_goes_on(place: Target, token: Callable[[str], str]) -> None:
    secret = token("run")
    with all_labs():
        Host.objects.update(is_in_maintenance=True)
    assert _ask(secret, _wish(place))[0] == ON
    with all_labs():
        Host.objects.update(is_in_maintenance=False)
        Target.objects.update(is_agents_own=False)
    assert _ask(secret, _wish(place))[0] == ON
    assert _nothing_was_done()


@pytest.mark.parametrize(
    "change",
    [
        {"target": None}, {"target": True}, {"target": "1"}, {"target": 2**80}, {"repetitions": 0}, {"repetitions": 101}, {"repetitions": 1.0},
        {"workload": None}, {"workload": {}}, {"workload": {"jobs": [{**JOB, "rw": "shred"}]}}, {"workload": {**JOB, "exec_prerun": "rm"}},
    ],
)  # fmt: skip
def test_what_is_wrong_goes_on(place: Target, token: Callable[[str], str], change: dict[str, Any]) -> None:
    assert _ask(token("run"), _wish(place) | change)[0] == ON
    assert _nothing_was_done()


@pytest.mark.parametrize("raw", [b"", b"[]", b"1", b"{", b'{"target": 1}', b"\xff"])
def test_what_is_no_wish_goes_on(token: Callable[[str], str], raw: bytes) -> None:
    assert _ask(token("run"), raw)[0] == ON


@pytest.mark.parametrize(
    "headers",
    [
        {"accept": "text/csv"}, {"content_type": "multipart/form-data"}, {"host": "elsewhere.example"}, {"content_length": str(LARGEST + 1)},
        {"content_length": "-1"}, {"content_length": ""}, {"content_length": "\xb2"},
    ],
)  # fmt: skip
def test_another_kind_of_request_goes_on(place: Target, token: Callable[[str], str], headers: dict[str, str]) -> None:
    assert _ask(token("run"), _wish(place), **headers)[0] == ON
    assert _ask(token("run"), _wish(place), b"format=csv")[0] == ON
    assert _nothing_was_done()


def test_too_many_requests_go_on(place: Target, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenThrottle, "THROTTLE_RATES", {"token": "3/min"})
    monkeypatch.setattr(throttling, "time", SimpleNamespace(time=lambda: 999_970.0))
    secret = token("run")
    assert [_ask(secret, _wish(place))[0] for _ in range(5)] == [201, 201, 201, ON, ON]
    assert Script(secret)("POST", "runs/", _wish(place)).status_code == 429


def test_the_loop_takes_only_what_is_at_hand(place: Target) -> None:
    who, allowance = f"test:{place.pk}", Allowance()
    assert not allowance.take_at_hand(who, 1)
    assert allowance.take(who, 1, 60, 300)  # three at once, of which this is one
    assert [allowance.take_at_hand(who, 1) for _ in range(3)] == [True, True, False]
    assert allowance.take(who, 2, 60, 300)
    assert not allowance.take_at_hand(who, 1)
    with allowance._lock:  # somebody asks Redis
        assert not allowance.take_at_hand(who, 2)


def test_processes_take_no_more_than_the_limit_between_them(place: Target) -> None:
    """Nearly all of it: what one has taken and does not use is at most a hundredth."""
    processes, given = [Allowance(), Allowance()], 0
    for number in range(1000):
        given += processes[number % 3 == 0].take(f"test:{place.pk}", 1, 60, 500)
    assert 495 <= given <= 500
    assert processes[0].take(f"test:{place.pk}", 2, 60, 500)


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Token, {"revoked_at": timezone.now()}), (Token, {"expires_at": timezone.now() - timedelta(days=1)}), (Token, {"scope": "read"}),
        (Token, {"secret_sha256": "0" * 64}), (Host, {"is_in_maintenance": True}), (Target, {"is_agents_own": False}),
    ],
)  # fmt: skip
def test_what_is_remembered_of_the_last_start_is_looked_at_again(
    place: Target, token: Callable[[str], str], model: Any, change: dict[str, Any]
) -> None:
    secret = token("run")
    assert _ask(secret, _wish(place))[0] == 201
    with all_labs():
        model.objects.update(**change)
    assert _ask(secret, _wish(place))[0] == ON
    with all_labs():
        assert Run.objects.count() == 1


def test_new_names_are_seen_at_the_next_start(place: Target, token: Callable[[str], str]) -> None:
    secret = token("run")
    _ask(secret, _wish(place))
    with all_labs():
        Host.objects.update(name="renamed")
        Token.objects.update(name="other")
    _, found, _ = _ask(secret, _wish(place))
    assert (found["host_name"], found["created_by"]) == ("renamed", "token other")


def test_a_host_that_is_not_allowed_goes_on_though_another_was_looked_at(
    place: Target, token: Callable[[str], str]
) -> None:
    """What is remembered of a request's head is remembered for that head alone."""
    secret = token("run")
    assert _ask(secret, _wish(place))[0] == 201
    assert _ask(secret, _wish(place), host="elsewhere.example")[0] == ON
    assert _ask(secret, _wish(place), accept="text/csv")[0] == ON
    assert _ask(secret, _wish(place))[0] == 201


def test_two_tokens_in_one_request_go_on(place: Target, token: Callable[[str], str]) -> None:
    scope = _scope({"host": "testserver", "content-type": "application/json", "content-length": "2"})
    scope["headers"] += [(b"authorization", f"Bearer {token('run')}".encode())] * 2
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}"}

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(start(scope, receive, send, _went_on))
    assert sent[0]["status"] == ON


def test_a_database_that_ends_the_connection_is_asked_on_another(place: Target, token: Callable[[str], str]) -> None:
    secret = token("run")
    assert _ask(secret, _wish(place))[0] == 201
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [lines.idle[-1].pgconn.backend_pid])
        cursor.execute("SELECT pg_sleep(0.1)")
    assert _ask(secret, _wish(place))[0] == 201


@pytest.mark.parametrize(("is_accepted", "waits"), [(True, 0), (False, 1)])
def test_a_start_is_on_disk_before_it_is_answered(
    place: Target, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, is_accepted: bool, waits: int
) -> None:
    """By the accept of the host that heard of it, or by itself where none comes soon."""
    waited: list[int] = []
    monkeypatch.setattr(starting, "wait_for_disk", lambda: waited.append(1))
    monkeypatch.setitem(
        waiting_here, place.host_id, Waiting(ALWAYS, lambda offer: accepts[offer.run].set() if is_accepted else None)
    )
    assert _ask(token("run"), _wish(place))[1]["state"] == "offered"
    assert (len(waited), accepts) == (waits, {})


def test_what_breaks_after_the_insert_does_not_go_on_to_start_it_again(
    place: Target, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise OperationalError("the connection is gone")

    monkeypatch.setattr(starting, "note_use", broken)
    with pytest.raises(OperationalError):
        _ask(token("run"), _wish(place))
    with all_labs():
        assert Run.objects.count() == 1


def test_a_request_that_was_cut_off_goes_nowhere(place: Target, token: Callable[[str], str]) -> None:
    """Even where what has come so far would be a whole wish."""
    raw = json.dumps(_wish(place)).encode()
    given = {
        "host": "testserver", "content-type": "application/json", "content-length": str(len(raw) + 1),
        "authorization": f"Bearer {token('run')}",
    }  # fmt: skip
    events = [{"type": "http.request", "body": raw, "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return events.pop(0)

    with pytest.raises(HungUpError):
        asyncio.run(start(_scope(given), receive, _went_on, _went_on))
    assert _nothing_was_done()
