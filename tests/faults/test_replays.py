"""Requests of a host that come twice, late, in any order, with other bytes, or after its secret was revoked."""

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from apps.agents.models import Agent
from apps.agents.trust import decide
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent
from apps.runs.models import Attempt, Chunk, Run
from apps.runs.states import State
from tests.agents.conftest import FakeAgent, sha256
from tests.sampling import IS_LONG, SEED

pytestmark = [pytest.mark.faults, pytest.mark.django_db]
ORDERS = 2000 if IS_LONG else 6
CALLS = 10_000 if IS_LONG else 150
LOST = 0.3
STREAMS = ("result", "stderr", "job", "journal")
Start = Callable[..., list[Run]]
Chunks = dict[tuple[str, int], bytes]


def begin(agent: FakeAgent, start: Start) -> Attempt:
    start()
    attempt = agent.take()
    agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token, boot_id="b", argv=["fio"], started_at=1.0)
    return agent.again(attempt)


def cut(chance: random.Random) -> Chunks:
    """Return streams of random bytes, cut at random places."""
    chunks = {}
    for stream in chance.sample(STREAMS, chance.randint(1, len(STREAMS))):
        for sequence in range(chance.randint(1, 5)):
            chunks[stream, sequence] = chance.randbytes(chance.randint(1, 400))
    return chunks


def manifest(chunks: Chunks) -> dict[str, Any]:
    streams: dict[str, list[bytes]] = {}
    for (stream, _), data in sorted(chunks.items()):
        streams.setdefault(stream, []).append(data)
    return {
        name: {"chunks": len(parts), "bytes": sum(map(len, parts)), "sha256": sha256(b"".join(parts))}
        for name, parts in streams.items()
    }


def stored(attempt: Attempt) -> Chunks:
    with all_labs():
        return {(row.stream, row.sequence): bytes(row.data) for row in Chunk.objects.filter(attempt=attempt)}


def test_chunks_in_any_order_with_gaps_repeats_and_other_bytes_are_byte_identical(
    agent: FakeAgent,
    start: Start,
) -> None:
    chance = random.Random(SEED)
    seen: Counter[str] = Counter()
    for _ in range(ORDERS):
        attempt, chunks = begin(agent, start), cut(chance)
        sent: set[tuple[str, int]] = set()
        gaps = set(chance.sample(sorted(chunks), chance.randint(0, len(chunks) - 1)))
        body = {"token": attempt.token, "outcome": "finished", "exit_status": 0, "streams": manifest(chunks)}
        for wanted in (set(chunks) - gaps, gaps):
            order = [*wanted, *chance.choices(sorted(sent | wanted), k=3 if sent | wanted else 0)]
            chance.shuffle(order)
            for key in order:
                reply = agent.put_chunk(attempt, *key, chunks[key])
                assert (reply.status_code, reply.json()) == (200, {"stored": key not in sent})
                seen["repeated" if key in sent else "new"] += 1
                sent.add(key)
                if chance.random() < 0.1:
                    assert agent.put_chunk(attempt, *key, chunks[key] + b"x").status_code == 409
                    seen["other bytes"] += 1
            missing: dict[str, list[int]] = {}
            for stream, sequence in sorted(set(chunks) - sent):
                missing.setdefault(stream, []).append(sequence)
            answer = agent.post(f"attempts/{attempt.pk}/finish/", **body).json()
            if missing:
                assert answer == {"complete": False, "missing": missing}
        assert answer == {"complete": True}
        assert stored(attempt) == chunks
        assert agent.again(attempt).state == State.FINISHED
        key = chance.choice(sorted(chunks))
        assert agent.put_chunk(attempt, *key, chunks[key]).json() == {"stored": False}
        assert agent.put_chunk(attempt, *key, b"other").status_code == 409
        seen["other bytes"] += 1
    with all_labs():
        conflicts = AuditEvent.objects.filter(act="chunk conflict")
        told = sum(event.detail.get("times", 1) for event in conflicts)
    print(
        f"\n{ORDERS} deliveries in random orders: {dict(seen)}; byte-identical {ORDERS}; conflicts in the trail {told}"
    )
    assert conflicts.exists()


@dataclass
class ForgetfulAgent(FakeAgent):
    """An agent that does not hear some answers, and says it again."""

    chance: random.Random = field(default_factory=lambda: random.Random(SEED))
    calls: int = 0
    lost: int = 0

    def _until_heard(self, say: Callable[[], Any]) -> Any:
        while True:
            answer = say()
            self.calls += 1
            assert answer.status_code == 200, answer.content
            if self.chance.random() >= LOST:
                return answer
            self.lost += 1

    def post(self, path: str, **body: Any) -> Any:
        plain = super().post
        return self._until_heard(lambda: plain(path, **body))

    def put_chunk(self, *args: Any, **named: Any) -> Any:
        plain = super().put_chunk
        return self._until_heard(lambda: plain(*args, **named))


def test_requests_whose_answers_are_lost_have_their_effect_once(agent: FakeAgent, start: Start) -> None:
    forgetful = ForgetfulAgent(agent.lab, agent.machine, agent.secret, agent.instance, agent.pk)
    chance, runs = random.Random(SEED), 0
    while forgetful.calls < CALLS:
        attempt, chunks = begin(forgetful, start), cut(chance)
        runs += 1
        for key in chance.sample(sorted(chunks), len(chunks)):
            forgetful.put_chunk(attempt, *key, chunks[key])
        body = {"token": attempt.token, "outcome": "finished", "exit_status": 0, "streams": manifest(chunks)}
        forgetful.post(f"attempts/{attempt.pk}/finish/", **body)
        assert stored(attempt) == chunks
        now = agent.again(attempt)
        assert (now.state, now.manifest) == (State.FINISHED, manifest(chunks))
    with all_labs():
        assert Run.objects.count() == Attempt.objects.count() == runs
        assert not AuditEvent.objects.filter(act="chunk conflict").exists()
    print(f"\n{forgetful.calls} requests, {forgetful.lost} of whose answers were lost: {runs} runs, one attempt each")


@dataclass
class RecordedAgent(FakeAgent):
    """An agent between which and the server somebody listens."""

    heard: list[tuple[str, str, bytes, dict[str, str]]] = field(default_factory=list)

    def post(self, path: str, **body: Any) -> Any:
        headers = {**self.headers, "Content-Type": "application/json"}
        self.heard.append(("POST", f"/agent/v1/{path}", json.dumps(body).encode(), headers))
        return super().post(path, **body)

    def put_chunk(self, attempt: Attempt, stream: str, sequence: int, data: bytes, digest: str | None = None) -> Any:
        path = f"/agent/v1/attempts/{attempt.pk}/streams/{stream}/chunks/{sequence}/"
        headers = {**self.headers, "X-Spindle-Token": str(attempt.token), "X-Spindle-SHA256": digest or sha256(data)}
        self.heard.append(("PUT", path, data, {**headers, "Content-Type": "application/octet-stream"}))
        return super().put_chunk(attempt, stream, sequence, data, digest)


def effects() -> list[Any]:
    with all_labs():
        attempts = list(Attempt.objects.order_by("pk").values_list("state", "lease_until", "manifest", "started_at"))
        agents = list(Agent.objects.values_list("last_seen_at", "instance", "boot_id", "polling_until"))
        return [attempts, agents, Run.objects.count(), Chunk.objects.count(), AuditEvent.objects.count()]


@pytest.mark.parametrize("how", ["revoked", "replaced"])
def test_recorded_requests_are_worth_nothing_once_the_secret_is(
    agent: FakeAgent,
    start: Start,
    how: str,
) -> None:
    recorded = RecordedAgent(agent.lab, agent.machine, agent.secret, agent.instance, agent.pk)
    done, chunks = begin(recorded, start), cut(random.Random(SEED))
    for key, data in chunks.items():
        recorded.put_chunk(done, *key, data)
    ending = {"outcome": "finished", "exit_status": 0, "streams": manifest(chunks)}
    recorded.post(f"attempts/{done.pk}/finish/", token=done.token, **ending)
    running = begin(recorded, start)
    recorded.put_chunk(running, "result", 0, b"the first of several")
    recorded.post("inventory/", outputs=[])
    recorded.heard.append(("GET", "/agent/v1/self/", b"", recorded.headers))
    with lab_scope(agent.lab.pk):
        if how == "revoked":
            assert decide(agent.row, "revoke", "owner")
        else:
            Agent.objects.filter(pk=agent.pk).update(secret_sha256=sha256(f"{agent.pk} another"))
    before = effects()
    for method, path, body, headers in recorded.heard:
        kind = headers.pop("Content-Type", "application/json")
        answer = Client().generic(method, path, body, content_type=kind, headers=headers)
        assert answer.status_code == 401, path
    assert effects() == before
    assert len(recorded.heard) > 10
