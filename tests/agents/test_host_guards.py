"""What the guards of a run find on its host: offered with the run, stored as it comes, and never a reason to refuse."""

from typing import Any

import pytest

from apps.agents.tasks import ingest_attempt
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from tests.agents.conftest import FakeAgent

ENTRY: dict[str, Any] = {
    "guard": "idle", "purpose": "", "outcome": "failed", "text": "cores busy 3", "is_required": True, "is_waiting": True,
    "figures": {"cores_busy": 3.0, "mdstat": "md0 : active"}, "limits": {"cores_busy": 0.5}, "checked_at": 1764180000.5,
    "waited_s": 12.0, "limit_s": 600, "tries": 2,
}  # fmt: skip
ASKED = [{"guard": "idle", "is_required": True, "wait_s": 600}]


@pytest.fixture
def attempt(agent: FakeAgent, start) -> Attempt:
    start()
    with all_labs():
        Run.objects.update(guards=ASKED)
    return agent.take()


def send(agent: FakeAgent, attempt: Attempt, evidence: Any, **changes: Any) -> tuple[int, Any]:
    answer = agent.post(f"attempts/{attempt.pk}/guards/", **{"token": attempt.token, "evidence": evidence, **changes})
    return answer.status_code, answer.json()


def test_an_offer_has_the_guards_of_its_run(agent: FakeAgent, start) -> None:
    start()
    assert "guards" not in agent.poll()["offers"][0], "older agents get what they know"
    with all_labs():
        Run.objects.update(guards=ASKED)
    assert agent.poll()["offers"][0]["guards"] == ASKED


def test_evidence_is_stored_as_it_was_sent_and_the_newest_counts(agent: FakeAgent, attempt: Attempt) -> None:
    assert send(agent, attempt, [ENTRY]) == (200, {"stored": True})
    assert agent.again(attempt).guards == [ENTRY]
    passed = {**ENTRY, "outcome": "passed", "is_waiting": False}
    assert send(agent, attempt, [passed]) == (200, {"stored": True})
    assert agent.again(attempt).guards == [passed]
    assert agent.again(attempt).state == State.ACCEPTED, "nothing was started"


@pytest.mark.parametrize(
    ("entry", "stored"),
    [
        ({"guard": "idle", "outcome": "splendid"}, None),
        ("idle", None),
        ({**ENTRY, "text": "x" * 5000, "figures": {"mdstat": "y" * 9000}}, ("x" * 1000, {"mdstat": "y" * 4000})),
        ({**ENTRY, "figures": {"a": 1e308, "b": -1e20, "c": 2**70, "d": 1.5}}, (ENTRY["text"], {"d": 1.5})),
        ({**ENTRY, "text": 5, "figures": {"a": {"nested": 1}, "b": [1], "c": True}}, ("", {"c": True})),
        (
            {**ENTRY, "figures": "none", "checked_at": -4, "limits": {str(n): n for n in range(400)}},
            (ENTRY["text"], {}),
        ),
    ],
)
def test_what_people_cannot_read_is_left_out_or_cut(agent, attempt, entry: Any, stored: Any) -> None:
    assert send(agent, attempt, [entry])[0] == 200
    found = [(row["text"], row["figures"]) for row in agent.again(attempt).guards]
    assert found == ([] if stored is None else [stored])


@pytest.mark.parametrize("evidence", ["idle", [ENTRY] * 21])
def test_what_is_no_list_of_evidence_is_refused(agent, attempt, evidence: Any) -> None:
    status, answer = send(agent, attempt, evidence)
    assert status == 400
    assert "evidence: found" in answer["detail"]


def test_another_token_stores_nothing(agent: FakeAgent, attempt: Attempt) -> None:
    assert send(agent, attempt, [ENTRY], token=attempt.token + 1)[0] == 409
    assert agent.again(attempt).guards == []


def test_a_run_that_its_guard_refused_ends_with_that_reason_alone(agent: FakeAgent, attempt: Attempt) -> None:
    send(agent, attempt, [{**ENTRY, "is_waiting": False}])
    reason = "guard idle did not hold within 600 s: cores busy 3"
    ended = agent.post(
        f"attempts/{attempt.pk}/finish/", token=attempt.token, outcome="failed", reason=reason, streams={}
    )
    assert ended.json() == {"complete": True}
    ingest_attempt(attempt.pk)
    with lab_scope(agent.lab.pk):
        run = Run.objects.get()
        assert (run.state, run.problem) == (State.FAILED, reason)
    assert send(agent, attempt, []) == (200, {"stored": False}), "a late repetition changes nothing"
    assert agent.again(attempt).guards[0]["text"] == "cores busy 3"


def test_a_run_that_was_given_up_while_its_guard_waited_does_not_begin(agent: FakeAgent, attempt: Attempt) -> None:
    with all_labs():
        assert attempt.lose()
        assert attempt.abandon("eve", "the cable was cut")
    assert send(agent, attempt, [ENTRY]) == (200, {"stored": True})
    assert agent.again(attempt).cancel_wanted_at is not None
    assert agent.poll((attempt.pk, attempt.token, "accepted"))["cancel"] == [attempt.pk]


def test_of_a_run_that_is_over_the_host_is_told_so(agent: FakeAgent, attempt: Attempt) -> None:
    with all_labs():
        assert attempt.move(State.FAILED, reason="its host said so")
    assert send(agent, attempt, [ENTRY])[0] == 410
