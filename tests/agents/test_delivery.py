"""Chunks and manifest: the same chunk twice, chunks out of order, altered or missing ones."""

import base64
import itertools
import json
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents import delivery
from apps.agents.delivery import Ending, finish
from apps.agents.tasks import ingest_attempt
from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent
from apps.runs.artefacts.ledger import find_ledger_breaks
from apps.runs.models import Attempt, Chunk, Run, RunArtefact
from apps.runs.states import State
from tests.agents.conftest import sha256

PARTS = [b"one ", b"two ", b"three"]


def _finish(agent, attempt, parts=PARTS, **more):
    whole = b"".join(parts)
    streams = {"result": {"chunks": len(parts), "bytes": len(whole), "sha256": sha256(whole)}}
    body = {"token": attempt.token, "outcome": "finished", "exit_status": 0, "streams": streams, **more}
    return agent.post(f"attempts/{attempt.pk}/finish/", **body)


@pytest.fixture
def attempt(agent, start):
    start()
    taken = agent.take()
    agent.post(f"attempts/{taken.pk}/running/", token=taken.token, boot_id="b", argv=["fio"], started_at=1.0)
    return agent.again(taken)


def test_the_same_chunk_twice_is_one(agent, attempt) -> None:
    assert agent.put_chunk(attempt, "result", 0, b"one").json()["stored"]
    assert agent.put_chunk(attempt, "result", 0, b"one").json() == {"stored": False}
    with all_labs():
        assert Chunk.objects.count() == 1


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_chunks_in_any_order_are_one_result(agent, attempt, order) -> None:
    for sequence in order:
        agent.put_chunk(attempt, "result", sequence, PARTS[sequence])
    assert _finish(agent, attempt).json() == {"complete": True}
    assert agent.again(attempt).state == State.FINISHED


def test_other_bytes_under_the_same_number_are_409_and_audited(agent, attempt) -> None:
    agent.put_chunk(attempt, "result", 0, b"one")
    assert agent.put_chunk(attempt, "result", 0, b"eno").status_code == 409
    with all_labs():
        assert AuditEvent.objects.filter(act="chunk conflict").count() == 1
        assert bytes(Chunk.objects.get().data) == b"one"


def test_altered_bytes_are_refused(agent, attempt) -> None:
    answer = agent.put_chunk(attempt, "result", 0, b"one", digest=sha256(b"two"))
    assert answer.status_code == 400
    with all_labs():
        assert not Chunk.objects.exists()


def test_an_attempt_may_send_so_much_and_no_more(agent, attempt, monkeypatch) -> None:
    monkeypatch.setattr(delivery, "MAX_ATTEMPT_BYTES", 1000)
    monkeypatch.setattr(delivery, "SURELY_ROOM", 1)
    assert [agent.put_chunk(attempt, "result", n, b"x" * 400).status_code for n in range(3)] == [200, 200, 413]
    assert agent.put_chunk(attempt, "result", 1, b"x" * 400).status_code == 200, "a repeat takes no more room"
    assert agent.put_chunk(attempt, "stderr", 1, b"x" * 200).status_code == 200
    with all_labs():
        assert sum(Chunk.objects.values_list("size", flat=True)) == 1000


def test_a_chunk_over_a_mebibyte_is_413(agent, attempt) -> None:
    assert agent.put_chunk(attempt, "result", 0, b"x" * (1024 * 1024 + 1)).status_code == 413


def test_an_unknown_stream_is_refused(agent, attempt) -> None:
    assert agent.put_chunk(attempt, "passwords", 0, b"x").status_code == 400


def test_an_incomplete_manifest_says_what_is_missing_and_ends_nothing(agent, attempt) -> None:
    agent.put_chunk(attempt, "result", 1, PARTS[1])
    assert _finish(agent, attempt).json() == {"complete": False, "missing": {"result": [0, 2]}}
    assert agent.again(attempt).state == State.RUNNING


def test_a_manifest_with_another_sum_is_409(agent, attempt) -> None:
    agent.put_chunk(attempt, "result", 0, b"one")
    streams = {"result": {"chunks": 1, "bytes": 3, "sha256": sha256(b"two")}}
    body = {"token": attempt.token, "outcome": "finished", "streams": streams}
    assert agent.post(f"attempts/{attempt.pk}/finish/", **body).status_code == 409
    assert agent.again(attempt).state == State.RUNNING


def test_finishing_twice_is_no_error(agent, attempt) -> None:
    for sequence, part in enumerate(PARTS):
        agent.put_chunk(attempt, "result", sequence, part)
    assert _finish(agent, attempt).json() == _finish(agent, attempt).json() == {"complete": True}


def test_a_repeat_after_the_end_is_no_error_and_a_new_chunk_is_410(agent, attempt) -> None:
    agent.put_chunk(attempt, "result", 0, PARTS[0])
    _finish(agent, attempt, PARTS[:1])
    assert agent.put_chunk(attempt, "result", 0, PARTS[0]).json() == {"stored": False}
    assert agent.put_chunk(attempt, "result", 1, PARTS[1]).status_code == 410


def test_a_late_genuine_result_ends_the_unknown(agent, attempt) -> None:
    with all_labs():
        Attempt.objects.update(state=State.UNKNOWN)
        Run.objects.update(state=State.UNKNOWN)
    agent.put_chunk(attempt, "result", 0, PARTS[0])
    assert _finish(agent, attempt, PARTS[:1]).json() == {"complete": True}
    with all_labs():
        run = Run.objects.get()
        assert (run.state, run.is_reading) == (State.RUNNING, True)  # finished when its samples are there


def test_the_ending_of_a_killed_fio_carries_its_signal(agent, attempt) -> None:
    _finish(agent, attempt, [], outcome="failed", exit_status=None, signal=9, reason="fio was killed", streams={})
    row = agent.again(attempt)
    assert (row.state, row.signal, row.run.problem) == (State.FAILED, 9, "fio was killed")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"outcome": "running"},
        {"outcome": "finished", "streams": {"result": {}}},
        {"outcome": "finished", "streams": {"x": {"chunks": 1, "bytes": 1, "sha256": ""}}},
    ],
)
def test_a_malformed_ending_is_400(agent, attempt, body) -> None:
    assert agent.post(f"attempts/{attempt.pk}/finish/", token=attempt.token, **body).status_code == 400


def test_protocol_page_names_every_route() -> None:
    from apps.agents.urls import urlpatterns

    page = Path(__file__).parents[2].joinpath("docs/reference/agent-protocol.md").read_text()
    for pattern in urlpatterns:
        if pattern.name is None:  # what catches every other address
            continue
        last = str(pattern.pattern).rstrip("/").split("/")[-1]
        assert last.replace("<int:sequence>", "chunks") in page, pattern
    assert json.dumps({"complete": True}).replace(" ", "")[:10] in page.replace(" ", "")


def _inline(*parts: bytes, **more):
    return [
        {"stream": "result", "seq": seq, "sha256": sha256(part), "data": base64.b64encode(part).decode(), **more}
        for seq, part in enumerate(parts)
    ]


def test_the_last_chunks_may_come_with_the_end(agent, attempt) -> None:
    agent.put_chunk(attempt, "result", 0, PARTS[0])
    assert _finish(agent, attempt, chunks=_inline(*PARTS)).json() == {"complete": True}
    assert _finish(agent, attempt, chunks=_inline(*PARTS)).json() == {"complete": True}
    with all_labs():
        assert [bytes(one.data) for one in Chunk.objects.order_by("sequence")] == PARTS


def test_what_came_with_an_end_that_lacks_something_is_kept(agent, attempt) -> None:
    assert _finish(agent, attempt, chunks=_inline(*PARTS[:1])).json()["missing"] == {"result": [1, 2]}
    with all_labs():
        assert Chunk.objects.count() == 1


def test_other_bytes_with_the_end_are_409_and_audited(agent, attempt) -> None:
    agent.put_chunk(attempt, "result", 0, b"eno ")
    assert _finish(agent, attempt, chunks=_inline(*PARTS)).status_code == 409
    assert agent.again(attempt).state == State.RUNNING
    with all_labs():
        assert AuditEvent.objects.filter(act="chunk conflict").count() == 1


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"sha256": "0" * 64}, 400), ({"stream": "passwd"}, 400), ({"seq": -1}, 413), ({"seq": 10**6}, 413), ({"seq": "x"}, 400),
        ({"data": "*"}, 400), ({"data": None}, 400), ({"data": base64.b64encode(bytes(2**20 + 1)).decode()}, 413),
    ],
)  # fmt: skip
def test_chunks_with_the_end_are_checked_like_any_other(agent, attempt, change, status) -> None:
    assert _finish(agent, attempt, chunks=_inline(PARTS[0], **change)).status_code == status
    with all_labs():
        assert not Chunk.objects.exists()


def test_an_end_that_the_server_made_is_no_whole_result(agent, attempt) -> None:
    """The lease ran out and somebody gave the attempt up: what the host brings later stays there, in quarantine."""
    with all_labs():
        Attempt.objects.update(state=State.INTERRUPTED)
    assert agent.poll((attempt.pk, attempt.token, "uploading"))["forget"] == []
    assert _finish(agent, attempt, chunks=_inline(*PARTS)).status_code == 410
    with all_labs():
        assert not Chunk.objects.exists()


def test_a_whole_result_may_be_forgotten(agent, attempt) -> None:
    assert _finish(agent, attempt, chunks=_inline(*PARTS)).json() == {"complete": True}
    assert agent.poll((attempt.pk, attempt.token, "uploading"))["forget"] == [attempt.pk]


def test_another_manifest_after_the_end_is_not_complete(agent, attempt) -> None:
    assert _finish(agent, attempt, chunks=_inline(*PARTS)).json() == {"complete": True}
    assert _finish(agent, attempt, [*PARTS, b"more"]).status_code == 409


def test_an_end_without_accept_is_not_complete(agent, start) -> None:
    start()
    [offer] = agent.poll()["offers"]
    with all_labs():
        attempt = Attempt.objects.get(pk=offer["attempt"])
    assert _finish(agent, attempt, chunks=_inline(*PARTS)).status_code == 409
    assert agent.again(attempt).state == State.OFFERED


def test_the_same_end_twice_at_once_is_one(agent, attempt) -> None:
    """The second was under way while the first ended the attempt and its bytes were read in."""
    whole = b"".join(PARTS)
    told = {"chunks": 3, "bytes": len(whole), "sha256": sha256(whole)}
    ending = Ending.from_json({"outcome": "finished", "streams": {"result": told}, "chunks": _inline(*PARTS)})
    with all_labs():
        late = Attempt.objects.get(pk=attempt.pk)
        assert finish(attempt, ending, timezone.now()) == {}
        Chunk.objects.update(data=None)
        assert finish(late, ending, timezone.now()) == {}
        assert Attempt.objects.get().state == State.FINISHED


@pytest.mark.parametrize("raw", ['"seq": 1e400', '"seq": 1e30', '"seq": true', '"seq": 99999999999999999999999'])
def test_odd_numbers_of_chunks_break_nothing(agent, attempt, raw) -> None:
    body = json.dumps({"token": attempt.token, "outcome": "finished", "streams": {}, "chunks": _inline(PARTS[0])})
    answer = Client().post(
        f"/agent/v1/attempts/{attempt.pk}/finish/",
        body.replace('"seq": 0', raw),
        content_type="application/json",
        headers=agent.headers,
    )
    assert answer.status_code in (200, 400, 413)


def _interrupted(agent, attempt, kept: list[bytes]):
    """The host was without power, and has only these chunks of those that it had sent."""
    return _finish(agent, attempt, kept, outcome="interrupted", exit_status=None, reason="the host was restarted")


@pytest.mark.parametrize("kept", [PARTS, PARTS[:2], []])
def test_what_a_host_has_sent_and_lost_with_its_power_is_kept(agent, attempt, kept, settings, tmp_path) -> None:
    settings.ARTEFACT_DIR = tmp_path
    for sequence, part in enumerate(PARTS):
        agent.put_chunk(attempt, "result", sequence, part)
    agent.put_chunk(attempt, "stderr", 0, b"a line")
    assert _interrupted(agent, attempt, kept).json() == {"complete": True}
    assert _interrupted(agent, attempt, kept).json() == {"complete": True}, "its answer was lost"
    row = agent.again(attempt)
    whole = b"".join(PARTS)
    assert row.manifest["result"] == {"chunks": 3, "bytes": len(whole), "sha256": sha256(whole)}
    assert row.manifest["stderr"]["bytes"] == 6
    ingest_attempt(attempt.pk)
    with all_labs():
        kinds = RunArtefact.objects.filter(run=row.run_id).values_list("kind", "artefact__sha256")
        assert dict(kinds)["result"] == sha256(whole)
    assert list(find_ledger_breaks()) == []
    assert _interrupted(agent, attempt, kept).json() == {"complete": True}, "and again when it has been read in"
    assert _interrupted(agent, attempt, [b"one ", b"two ", b"other"]).status_code == 409


def test_chunks_behind_a_gap_are_not_part_of_what_was_kept(agent, attempt) -> None:
    agent.put_chunk(attempt, "result", 0, PARTS[0])
    agent.put_chunk(attempt, "result", 2, PARTS[2])
    assert _interrupted(agent, attempt, []).json() == {"complete": True}
    assert agent.again(attempt).manifest["result"]["bytes"] == len(PARTS[0])
