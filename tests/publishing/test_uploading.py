"""The usual upload is answered outside Django and says the same; everything else goes on to the view, and nothing has been done."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent, Token
from apps.lib import bell
from apps.lib.asgi import HungUpError
from apps.publishing import throttling, uploading
from apps.publishing.throttling import TokenThrottle
from apps.publishing.uploading import LARGEST, upload
from apps.runs.arrivals import arrived
from apps.runs.artefact_store import SMALL
from apps.runs.models import Artefact, Run, Sample, Workload
from apps.studies.models import Study
from apps.uploads import at_once, keeping, parsing
from apps.uploads.models import Upload, UploadedFile, UploadState
from apps.uploads.sandbox.parent import SandboxError, alone, reader
from tests.conftest import Cast
from tests.faults.stack import until
from tests.publishing.test_form_data import KIND as TYPE
from tests.publishing.test_form_data import body, piece, word
from tests.publishing.test_uploads import Sender
from tests.uploads.conftest import OTHER, REPORT, zipped

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
ON = 299  # what the application behind answers here
OWN = {"id", "url", "page", "created_at", "finished_at", "files"}
OWN_OF_FILE = {"id", "page", "run_ids", "sha256"}


async def _went_on(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": ON, "headers": []})
    await send({"type": "http.response.body", "body": (await receive())["body"]})


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With a warm reader, and a thread whose database connection does not outlive the test."""
    monkeypatch.setattr(at_once, "_is_allowed", True)
    with alone:
        reader().warm_up()
    uploading.remembered.clear()
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(uploading, "_thread", pool)
        yield
        pool.submit(connections.close_all).result()


def _scope(secret: str, raw: bytes, query: bytes, headers: dict[str, str]) -> dict[str, Any]:
    given = {
        "host": "testserver", "content-type": TYPE, "content-length": str(len(raw)), "authorization": f"Bearer {secret}",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }  # fmt: skip
    return {
        "type": "http", "method": "POST", "path": "/api/v1/uploads/", "query_string": query, "scheme": "http", "server": ("testserver", 80),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
    }  # fmt: skip


def _ask(secret: str, raw: bytes, query: bytes = b"keep=true", **headers: str) -> tuple[int, Any, dict[str, str]]:
    """Status, body and headers; a request that went on has reached the next application whole."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": raw}

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(upload(_scope(secret, raw, query, headers), receive, send, _went_on))
    uploading._thread.submit(lambda: None).result()  # what comes after the answer is done too
    head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert sent[0]["status"] != ON or sent[1]["body"] == raw
    return sent[0]["status"], json.loads(sent[1]["body"]) if sent[0]["status"] != ON else None, head


def _nothing_was_done() -> bool:
    with all_labs():
        return not any(model.objects.exists() for model in (Upload, Artefact, Run, Workload, AuditEvent))


def _same(here: Any, there: Any) -> None:
    """But for numbers and times."""
    assert list(here) == list(there)
    assert {name for name in here if here[name] != there[name]} <= OWN
    for mine, theirs in zip(here["files"], there["files"], strict=True):
        assert list(mine) == list(theirs)
        assert {name for name in mine if mine[name] != theirs[name]} <= OWN_OF_FILE
        assert len(mine["run_ids"]) == len(theirs["run_ids"])


@pytest.mark.parametrize("query", [b"keep=true", b""])
@pytest.mark.parametrize("data", [REPORT, b"bring milk\n", b"nothing \xe9 here\n"])
def test_it_says_what_the_view_says(cast: Cast, token: Callable[[str], str], data: bytes, query: bytes) -> None:
    secret = token("upload")
    words = {"labels": "cable=old", "path": "host3/run.json"}
    status, here, head = _ask(secret, body(piece(data), *[word(n, w.encode()) for n, w in words.items()]), query)
    assert status == 202
    assert Sender(secret).get(here["url"]).json() == here, "and what the upload's own address says"
    view = Sender(secret).post({"run 1(a).json": data + b"\n"}, f"?{query.decode()}", **words)
    _same(
        here, json.loads(view.content) | {"files": [{**one, "size": one["size"] - 1} for one in view.json()["files"]]}
    )
    known = {name.lower(): value for name, value in view.headers.items()}
    differ = {name for name in head | known if head.get(name) != known.get(name)}
    assert differ <= {"location", "content-length", "content-security-policy"}, (head, known)
    assert head["location"] == here["url"]


def test_its_rows_are_those_of_the_view(cast: Cast, token: Callable[[str], str]) -> None:
    secret = token("upload")
    (here,) = _ask(secret, body(piece(REPORT), word("labels", b"cable=old")))[1]["files"]
    (there,) = Sender(secret).post({"run 1(a).json": REPORT + b"\n"}, "?keep=1", labels="cable=old").json()["files"]
    with lab_scope(cast.lab.pk):
        both = [Run.objects.get(pk=one["run_ids"][0]) for one in (here, there)]
        for field in (
            "tool",
            "tool_version",
            "state",
            "facts",
            "labels",
            "workload_id",
            "started_at",
            "created_by",
            "origin",
        ):
            assert getattr(both[0], field) == getattr(both[1], field), field
        values = [
            list(Sample.objects.filter(run=run).order_by("source_line", "measure").values_list(
                "measure", "point", "section", "value", "printed", "source_line", "provenance__quality"))
            for run in both
        ]  # fmt: skip
        assert values[0] == values[1]
        assert len(values[0]) == here["samples"] > 40
        assert [run.artefacts.get().artefact.sha256 for run in both] == [here["sha256"], there["sha256"]]
        assert len({(one.who, one.act, one.subject) for one in AuditEvent.objects.filter(act="files uploaded")}) == 1
        assert [one.detail["upload"] for one in AuditEvent.objects.order_by("id")] == list(
            Upload.objects.order_by("id").values_list("pk", flat=True)
        )
        assert Token.objects.get().last_used_at is not None
        assert Upload.objects.filter(lease_until=None, tries=1, state="parsed").count() == 2


def test_the_same_bytes_again_are_known(cast: Cast, token: Callable[[str], str]) -> None:
    secret = token("admin")
    (first,) = _ask(secret, body(piece(REPORT)))[1]["files"]
    again = _ask(secret, body(piece(REPORT)))[1]
    assert (again["state"], again["files"][0]["state"]) == ("parsed", "known")
    assert (again["files"][0]["known_as"], again["files"][0]["run_ids"]) == (first["id"], [])
    assert Sender(secret).get(again["url"]).json() == again


def test_another_lab_knows_nothing_of_them(cast: Cast, token: Callable[[str], str]) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Token.objects.issue(cast.other_lab, "upload", "theirs")[1]
        Host.objects.create(lab=cast.other_lab, name="host3")
    assert _ask(theirs, body(piece(REPORT)))[1]["files"][0]["state"] == "parsed"
    ours = _ask(token("upload"), body(piece(REPORT), word("path", b"host3/x.json")))[1]
    assert (ours["files"][0]["state"], len(ours["files"][0]["run_ids"])) == ("parsed", 1)
    with lab_scope(cast.lab.pk):
        assert Run.objects.get().host_id is None
        assert Workload.objects.count() == Artefact.objects.count() == 1
    assert _ask(token("upload"), body(piece(OTHER), word("host", b"host3")))[0] == ON


def test_host_and_study_are_given_by_name(cast: Cast, token: Callable[[str], str]) -> None:
    with lab_scope(cast.lab.pk):
        host = Host.objects.create(lab=cast.lab, name="beta")
        Study.objects.create(lab=cast.lab, slug="cables", title="Cables")
    said = _ask(token("upload"), body(piece(REPORT), word("host", b"beta"), word("study", b"cables")))[1]
    assert (said["host"], said["study"], said["state"]) == (host.pk, "cables", "parsed")
    with lab_scope(cast.lab.pk):
        assert Run.objects.get().study_run.configuration.study.slug == "cables"


@pytest.mark.parametrize("scope", ["read", "run"])
def test_a_token_of_another_scope_goes_on(cast: Cast, token: Callable[[str], str], scope: str) -> None:
    assert _ask(token(scope), body(piece(REPORT)))[0] == ON
    assert _nothing_was_done()


@pytest.mark.parametrize(
    "change",
    [
        {"revoked_at": timezone.now()}, {"expires_at": timezone.now() - timedelta(days=1)}, {"scope": "read"}, {"secret_sha256": "0" * 64},
    ],
)  # fmt: skip
def test_what_is_remembered_of_a_token_is_looked_at_again(
    cast: Cast, token: Callable[[str], str], change: dict[str, Any]
) -> None:
    secret = token("upload")
    assert _ask(secret, body(piece(REPORT)))[0] == 202
    with all_labs():
        Token.objects.update(**change)
    assert [_ask(secret, body(piece(OTHER)))[0] for _ in range(2)] == [ON, ON]
    with all_labs():
        assert Upload.objects.count() == AuditEvent.objects.count() == 1


@pytest.mark.parametrize("authorization", ["", "Bearer ", "Bearer spl_unknown", "Basic eDp5"])
def test_who_has_no_token_goes_on(cast: Cast, authorization: str) -> None:
    assert _ask("", body(piece(REPORT)), authorization=authorization)[0] == ON
    assert _nothing_was_done()


@pytest.mark.parametrize(
    "raw",
    [
        b"", body(), body(piece(b"")), body(piece(REPORT), piece(OTHER)), body(piece(b"x" * (SMALL + 1))), body(piece(zipped({"a": REPORT}))),
        body(piece(REPORT), word("host", b"gamma")), body(piece(REPORT), word("study", b"99")), body(piece(REPORT), word("labels", b"cable")),
        body(piece(REPORT), word("hots", b"beta")), body(piece(REPORT), word("keep", b"maybe")),
    ],
)  # fmt: skip
def test_what_is_unusual_or_wrong_goes_on(cast: Cast, token: Callable[[str], str], raw: bytes) -> None:
    assert _ask(token("upload"), raw)[0] == ON
    assert _nothing_was_done()


@pytest.mark.parametrize(
    "headers",
    [
        {"accept": "text/csv"}, {"cookie": "sessionid=x"}, {"host": "elsewhere.example"}, {"content_length": str(LARGEST + 1)},
        {"content_length": ""}, {"content_length": "-1"}, {"content_type": "multipart/form-data; boundary=other"},
    ],
)  # fmt: skip
def test_another_kind_of_request_goes_on(cast: Cast, token: Callable[[str], str], headers: dict[str, str]) -> None:
    secret = token("upload")
    assert _ask(secret, body(piece(REPORT)), **headers)[0] == ON
    assert _ask(secret, body(piece(REPORT)), b"format=csv")[0] == ON
    assert _nothing_was_done()


def test_more_than_the_limit_goes_on(cast: Cast, token: Callable[[str], str], settings: Any) -> None:
    settings.MAX_UPLOAD = 1000
    assert _ask(token("upload"), body(piece(REPORT)))[0] == ON


def test_too_many_requests_go_on(cast: Cast, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenThrottle, "THROTTLE_RATES", {"token": "2/min"})
    monkeypatch.setattr(throttling, "time", SimpleNamespace(time=lambda: 999_970.0))
    secret = token("upload")
    assert [_ask(secret, body(piece(REPORT)))[0] for _ in range(4)] == [202, 202, ON, ON]


def test_a_cold_or_busy_reader_makes_it_go_on(cast: Cast, token: Callable[[str], str]) -> None:
    secret = token("upload")
    with alone:
        assert _ask(secret, body(piece(REPORT)))[0] == ON
    reader().close()
    assert _ask(secret, body(piece(REPORT)))[0] == ON
    assert _nothing_was_done()
    until("the reader is warm for the next one", 60, lambda: reader().is_warm)
    with alone:  # who warms it up has done
        pass


def test_who_comes_while_another_one_is_read_goes_on(cast: Cast, token: Callable[[str], str]) -> None:
    with uploading._one:
        assert _ask(token("upload"), body(piece(REPORT)))[0] == ON
    assert _ask(token("upload"), body(piece(REPORT)))[0] == 202


def test_a_reader_that_dies_is_told_as_ever(
    cast: Cast, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> Any:
        reader().close()
        raise SandboxError("reading it used more than its limits and was ended (signal 9)")

    monkeypatch.setattr(type(reader()), "_ask", dies)
    status, said, _ = _ask(token("upload"), body(piece(REPORT)))
    assert (status, said["state"]) == (202, "failed")
    assert "signal 9" in said["files"][0]["error"]["message"]
    with lab_scope(cast.lab.pk):
        assert Artefact.objects.count() == 1, "its bytes are kept"


def test_what_the_database_refuses_is_told_and_nothing_is_half_there(
    cast: Cast, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found out only at the end of what was sent in one go."""
    monkeypatch.setattr(keeping, "state_of", lambda _: "x" * 100)
    said = _ask(token("upload"), body(piece(REPORT)))[1]
    assert "could not be stored" in said["files"][0]["error"]["message"]
    assert (said["state"], said["files"][0]["is_kept"], said["files"][0]["run_ids"]) == ("failed", False, [])
    with lab_scope(cast.lab.pk):
        assert not Run.objects.exists()
        assert not Sample.objects.exists()


def test_what_goes_wrong_is_a_workers(cast: Cast, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(parsing._Parsing, "only", broken)
    assert _ask(token("upload"), body(piece(REPORT)))[1]["state"] == "queued"
    with lab_scope(cast.lab.pk):
        found = Upload.objects.get()
        assert (found.state, found.tries, found.lease_until) == (UploadState.QUEUED, 0, None)


def test_what_breaks_after_it_was_taken_does_not_go_on_to_take_it_again(
    cast: Cast, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise OperationalError("the connection is gone")

    monkeypatch.setattr(uploading, "note_use", broken)
    with pytest.raises(OperationalError):
        _ask(token("upload"), body(piece(REPORT)))
    with all_labs():
        assert Upload.objects.count() == 1
    assert not uploading._one.locked()


def test_without_redis_it_is_as_quick_and_says_the_same(
    cast: Cast, token: Callable[[str], str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(bell, "_local", SimpleNamespace())
    assert _ask(token("upload"), body(piece(REPORT)))[1]["state"] == "parsed"


def test_who_follows_runs_hears_of_them_after_the_answer(cast: Cast, token: Callable[[str], str]) -> None:
    heard: list[Any] = []

    def listen(sender: object, lab_id: int, runs: list[int], **_: Any) -> None:
        heard.append((lab_id, runs))

    arrived.connect(listen)
    try:
        said = _ask(token("upload"), body(piece(REPORT)))[1]
    finally:
        arrived.disconnect(listen)
    assert heard == [(cast.lab.pk, said["files"][0]["run_ids"])]


def test_a_request_that_was_cut_off_goes_nowhere(cast: Cast, token: Callable[[str], str]) -> None:
    raw = body(piece(REPORT))
    events = [{"type": "http.request", "body": raw, "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return events.pop(0)

    with pytest.raises(HungUpError):
        asyncio.run(upload(_scope(token("upload"), raw, b"", {}), receive, _went_on, _went_on))
    assert _nothing_was_done()
    assert not uploading._one.locked()


def test_many_at_once_are_all_taken_once(cast: Cast, token: Callable[[str], str]) -> None:
    """The same bytes by many: one artefact, one run, and nobody waits for ever. Who finds the reader busy goes on."""
    secret, raw = token("upload"), body(piece(REPORT))
    statuses: list[int] = []

    async def one() -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": raw}

        async def send(event: Any) -> None:
            statuses.extend([event["status"]] if "status" in event else [])

        await upload(_scope(secret, raw, b"keep=true", {}), receive, send, _went_on)

    async def all_of_them() -> None:
        await asyncio.gather(*(one() for _ in range(8)))

    asyncio.run(all_of_them())
    assert set(statuses) == {202, ON}
    with lab_scope(cast.lab.pk):
        assert UploadedFile.objects.count() == statuses.count(202)
        assert Artefact.objects.count() == Run.objects.count() == 1
