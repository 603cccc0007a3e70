"""Runs of a dead host that a person gives up: what the host may get, and what becomes of a result that comes late."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.agents.ingest import read_in
from apps.agents.long_poll import HOLD_POLL
from apps.agents.models import Agent
from apps.agents.queue import waiting_reasons
from apps.agents.tasks import dispatch_host, dispatch_waiting, sweep
from apps.agents.trust import decide
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt, Run, Sample
from apps.runs.queue import abandon_run
from apps.runs.services import cancel_run
from apps.runs.states import OPEN, State
from tests.agents.conftest import sha256
from tests.dashboard.world import FIO_RESULT

RESULT = FIO_RESULT.read_bytes()
REASON = "its power supply is dead"


def begin(agent, attempt: Attempt) -> None:
    assert agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token, started_at=1.7e9).status_code == 200


def go_quiet(agent) -> None:
    """Let the host's lease run out, and its agent be seen no more."""
    past = timezone.now() - timedelta(minutes=5)
    with all_labs():
        Attempt.objects.update(lease_until=past)
        Agent.objects.update(last_seen_at=past)
    sweep()


def give_up(run: Run) -> None:
    with lab_scope(run.lab_id):
        assert abandon_run(Run.objects.get(pk=run.pk), REASON, "engineer")


def now(run: Run) -> Run:
    with all_labs():
        return Run.objects.get(pk=run.pk)


@pytest.fixture
def lost(agent, start):
    """Return a run that began on a host that went quiet, its attempt, and a run that waits behind it; given up."""
    first, second = [*start(), *start()]
    attempt = agent.take()
    begin(agent, attempt)
    go_quiet(agent)
    give_up(first)
    return first, attempt, second


def deliver(agent, attempt: Attempt, result: bytes, outcome: str = "finished"):
    answer = agent.put_chunk(attempt, "result", 0, result)
    assert answer.status_code == 200, answer.content
    streams = {"result": {"chunks": 1, "bytes": len(result), "sha256": sha256(result)}}
    return agent.post(
        f"attempts/{attempt.pk}/finish/", token=attempt.token, outcome=outcome, exit_status=0, streams=streams
    )


def test_a_host_that_forgot_the_run_goes_on_with_its_queue(agent, lost) -> None:
    first, _, second = lost
    assert dispatch_host(agent.row.host_id) is None
    assert [offer["run"] for offer in agent.poll()["offers"]] == [second.pk]
    assert now(first).state == State.INTERRUPTED


def test_nothing_is_offered_between_the_agents_return_and_its_first_word(agent, lost) -> None:
    """Its restart alone makes it count as online, before it has named anything."""
    _, _, second = lost
    with all_labs():
        Agent.objects.update(last_seen_at=timezone.now())
    assert dispatch_host(agent.row.host_id) is None
    assert dispatch_waiting() == 0
    assert now(second).state == State.QUEUED
    with lab_scope(second.lab_id):
        reason = waiting_reasons(Run.objects.select_related("host").filter(pk=second.pk))[second.pk]
    assert "which was given up" in reason


@pytest.mark.parametrize("held", ["running", "uploading"])
def test_a_host_that_still_has_it_gets_nothing_else_until_it_has_ended(agent, lost, held) -> None:
    first, attempt, second = lost
    for _ in range(2):
        assert agent.poll((attempt.pk, attempt.token, held))["offers"] == []
    assert now(first).state == State.RUNNING
    assert now(first).problem == ""
    assert dispatch_host(agent.row.host_id) is None
    assert deliver(agent, attempt, b'{"fio version": "fio-3.33"}').json() == {"complete": True}
    assert [offer["run"] for offer in agent.poll()["offers"]] == [second.pk]


@pytest.mark.parametrize("first_word", ["poll", "running", "chunk", "finish"])
def test_whatever_the_host_says_first_its_late_result_is_kept(agent, lost, first_word, settings, tmp_path) -> None:
    settings.ARTEFACT_DIR = tmp_path
    first, attempt, second = lost
    if first_word == "poll":
        agent.poll((attempt.pk, attempt.token, "running"))
    elif first_word == "running":
        begin(agent, attempt)
    elif first_word == "finish":
        streams = {"result": {"chunks": 1, "bytes": len(RESULT), "sha256": sha256(RESULT)}}
        body = {"token": attempt.token, "outcome": "finished", "streams": streams}
        assert agent.post(f"attempts/{attempt.pk}/finish/", **body).json()["missing"] == {"result": [0]}
    assert dispatch_host(agent.row.host_id) is None
    assert deliver(agent, attempt, RESULT).json() == {"complete": True}
    assert deliver(agent, attempt, RESULT).json() == {"complete": True}
    with lab_scope(first.lab_id):
        read_in(Attempt.objects.select_related("run").get(pk=attempt.pk))
        assert Sample.objects.filter(run=first).exists()
        assert Attempt.objects.filter(run=first).count() == 1
    run = now(first)
    assert (run.state, run.is_late, run.problem) == (State.FINISHED, True, "")
    assert [offer["run"] for offer in agent.poll()["offers"]] == [second.pk]


def test_one_that_had_not_begun_does_not_begin_any_more(agent, start) -> None:
    [run] = start()
    attempt = agent.take()
    go_quiet(agent)
    give_up(run)
    answer = agent.poll((attempt.pk, attempt.token, "accepted"))
    assert (answer["offers"], answer["cancel"]) == ([], [attempt.pk])
    assert now(run).state == State.ACCEPTED
    ending = {"token": attempt.token, "outcome": "cancelled", "streams": {}}
    assert agent.post(f"attempts/{attempt.pk}/finish/", **ending).json() == {"complete": True}
    assert now(run).state == State.CANCELLED


def test_a_repeated_accept_of_it_is_refused(agent, start) -> None:
    [run] = start()
    attempt = agent.take()
    go_quiet(agent)
    give_up(run)
    assert agent.post(f"attempts/{attempt.pk}/accept/", token=attempt.token).status_code == 410
    assert now(run).state == State.INTERRUPTED


def test_one_that_is_back_can_be_cancelled_and_lost_and_given_up_again(agent, lost) -> None:
    first, attempt, _ = lost
    agent.poll((attempt.pk, attempt.token, "running"))
    go_quiet(agent)
    assert now(first).state == State.UNKNOWN
    give_up(first)
    assert now(first).state == State.INTERRUPTED
    agent.poll((attempt.pk, attempt.token, "running"))
    with lab_scope(first.lab_id):
        assert cancel_run(now(first), "engineer")
    assert agent.poll((attempt.pk, attempt.token, "running"))["cancel"] == [attempt.pk]
    assert deliver(agent, attempt, b"", "cancelled").json() == {"complete": True}
    assert now(first).state == State.CANCELLED


def test_a_wish_to_cancel_from_before_it_was_given_up_still_counts(agent, start) -> None:
    [run] = start()
    attempt = agent.take()
    begin(agent, attempt)
    go_quiet(agent)
    with lab_scope(run.lab_id):
        assert cancel_run(now(run), "engineer")
    give_up(run)
    assert agent.poll((attempt.pk, attempt.token, "running"))["cancel"] == [attempt.pk]


def test_a_wrong_token_takes_nothing_up(agent, lost) -> None:
    first, attempt, _ = lost
    agent.poll((attempt.pk, attempt.token - 1, "running"))
    assert now(first).state == State.INTERRUPTED
    assert dispatch_host(agent.row.host_id) is None


def test_a_result_after_the_host_said_that_it_is_gone_is_refused(agent, lost) -> None:
    _, attempt, _ = lost
    agent.poll()
    assert agent.put_chunk(attempt, "result", 0, RESULT).status_code == 410


def test_a_revoked_agent_holds_up_nobody_who_comes_in_its_place(agent, lost) -> None:
    _, attempt, second = lost
    with lab_scope(second.lab_id):
        decide(agent.row, "revoke", "owner")
        assert not Attempt.objects.may_be_on_host().filter(host=agent.row.host_id).exists()
        Agent.objects.update(state=Agent.State.APPROVED, last_seen_at=timezone.now())  # as the next one would be
    assert dispatch_host(agent.row.host_id)
    assert agent.again(attempt).state == State.INTERRUPTED


def test_an_idle_hosts_poll_settles_it_without_anything_in_the_queue(agent, start) -> None:
    """The short way of an idle host's poll must not pass it over."""
    [run] = start()
    attempt = agent.take()
    begin(agent, attempt)
    go_quiet(agent)
    give_up(run)
    values = {"id": agent.pk, "now": timezone.now(), "until": None, "open": sorted(OPEN), "queued": State.QUEUED}

    def has_news() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(HOLD_POLL, values)
            return cursor.fetchone()[0]

    assert has_news()
    agent.poll()
    assert agent.again(attempt).answered_at
    assert not has_news()


def test_an_attempt_that_ended_by_its_hosts_word_never_comes_back(agent, start) -> None:
    [run] = start()
    attempt = agent.take()
    begin(agent, attempt)
    assert deliver(agent, attempt, b"", "failed").json() == {"complete": True}
    assert json.loads(agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token).content)["status"] == 410
    assert now(run).state == State.FAILED
