"""Celery alone makes offers: who sends its task, what the task claims, and what pages say while nobody does it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import tasks
from apps.agents.dispatch import TASKS_EVERY, find_dispatcher_silence, stand_in
from apps.agents.models import Agent, WorkerHeartbeat
from apps.agents.queue import waiting_reasons
from apps.agents.tasks import dispatch_host, dispatch_waiting
from apps.core import task_queue
from apps.inventory.editing.views import set_maintenance
from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt, Run
from apps.runs.services import cancel_run, offer_next_run
from apps.runs.states import State

Sent = list[tuple[str, int]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The tasks that are sent by their names, in place of the broker."""
    found: Sent = []
    monkeypatch.setattr(task_queue, "send", lambda name, host, **_: found.append((name, host)))
    return found


@pytest.fixture
def committed(django_capture_on_commit_callbacks) -> Any:
    """`with committed(): …` does what waits for the end of the transaction."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


def _states() -> list[str]:
    with all_labs():
        return list(Run.objects.order_by("id").values_list("state", flat=True))


def _set(model: Any, **fields: Any) -> None:
    with all_labs():
        model.objects.update(**fields)


def test_no_web_process_claims_work(agent, start) -> None:
    start()
    agent.poll(is_dispatched=False)
    assert agent.poll(is_dispatched=False)["offers"] == []
    assert _states() == [State.QUEUED]
    assert dispatch_host(agent.row.host_id)
    assert len(agent.poll(is_dispatched=False)["offers"]) == 1


def test_the_oldest_run_is_offered_and_a_duplicate_finds_nothing_to_do(agent, start) -> None:
    first, _ = [*start(), *start()]
    agent.poll(is_dispatched=False)
    assert dispatch_host(agent.row.host_id)
    assert dispatch_host(agent.row.host_id) is None
    assert _states() == [State.OFFERED, State.QUEUED]
    assert [offer["run"] for offer in agent.poll()["offers"]] == [first.pk]


def test_a_newer_attempt_has_the_greater_token_also_than_those_whose_lower_bits_were_drawn(agent, start) -> None:
    start(2)
    first = agent.take()
    drawn = first.token + 2**24 - 1
    with all_labs():
        Attempt.objects.update(token=drawn)
        Attempt.objects.get().move(State.INTERRUPTED)
    assert agent.take().token > drawn


@pytest.mark.parametrize("state", [Agent.State.PENDING, Agent.State.QUARANTINED, Agent.State.REVOKED])
def test_an_agent_that_is_not_approved_gets_nothing(agent, start, state) -> None:
    start()
    agent.poll(is_dispatched=False)
    _set(Agent, state=state)
    assert dispatch_host(agent.row.host_id) is None
    assert _states() == [State.QUEUED]


def test_a_host_that_is_not_there_gets_its_run_when_it_comes(agent, start, sent, committed) -> None:
    start()
    agent.poll(is_dispatched=False)
    _set(Agent, last_seen_at=timezone.now() - timedelta(minutes=5))
    assert dispatch_host(agent.row.host_id) is None
    sent.clear()
    with committed():
        agent.poll(is_dispatched=False)
    assert sent == [("agents.dispatch_host", agent.row.host_id)]
    assert dispatch_host(agent.row.host_id)


def test_a_host_in_maintenance_keeps_its_offer_until_that_ends(agent, start, sent, committed) -> None:
    start()
    agent.poll()
    host = agent.row.host
    with lab_scope(agent.lab.pk), committed():
        set_maintenance(host, True)
    assert agent.poll()["offers"] == []
    sent.clear()
    with lab_scope(agent.lab.pk), committed():
        set_maintenance(host, False)
    assert sent == [("agents.dispatch_host", host.pk)]
    assert len(agent.poll()["offers"]) == 1


def test_a_start_and_every_end_send_the_task(agent, start, sent, committed) -> None:
    with committed():
        start(3)
    assert sent == [("agents.dispatch_host", agent.row.host_id)]
    sent.clear()
    [offer] = agent.poll()["offers"]
    with committed():
        agent.post(f"attempts/{offer['attempt']}/refuse/", token=offer["token"], reason="no")
    agent.poll()
    with committed(), lab_scope(agent.lab.pk):
        cancel_run(Run.objects.get(state=State.OFFERED), "engineer")
    attempt = agent.take()
    with committed():
        ending = {"outcome": "finished", "exit_status": 0, "streams": {}}
        assert agent.post(f"attempts/{attempt.pk}/finish/", token=attempt.token, **ending).status_code == 200
    with lab_scope(agent.lab.pk):
        ended = [("plans.run_ended", pk) for pk in Run.objects.order_by("pk").values_list("pk", flat=True)]
    of_host = ("agents.dispatch_host", agent.row.host_id)
    assert sent == [entry for end in ended for entry in (of_host, end)], "its host and its plan go on"


def test_nothing_is_sent_for_what_was_rolled_back(agent, start, sent, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=False) as waiting:
        start()
    assert waiting
    assert sent == []


def test_every_ten_seconds_all_hosts_that_could_begin_are_looked_at(agent, start, monkeypatch) -> None:
    hosts: list[int] = []
    monkeypatch.setattr(tasks, "publish", lambda task, host: hosts.append(host))
    agent.poll()
    assert dispatch_waiting() == 0
    start(2)
    assert dispatch_waiting() == 0, "its own message is under way"
    _set(Run, created_at=timezone.now() - timedelta(minutes=1))
    assert dispatch_waiting() == 1
    assert hosts == [agent.row.host_id]
    dispatch_host(agent.row.host_id)
    assert dispatch_waiting() == 0  # it is busy
    with all_labs():
        assert Attempt.objects.get().move(State.CANCELLED)
    assert dispatch_waiting() == 1
    _set(Host, is_in_maintenance=True)
    assert dispatch_waiting() == 0
    _set(Host, is_in_maintenance=False)
    _set(Agent, last_seen_at=timezone.now() - timedelta(minutes=5))
    assert dispatch_waiting() == 0


def test_a_run_that_was_cancelled_is_not_offered(agent, start) -> None:
    first, second = start(2)
    with lab_scope(agent.lab.pk):
        cancel_run(first, "engineer")
    assert [offer["run"] for offer in agent.poll()["offers"]] == [second.pk]


def test_another_hosts_work_is_nobody_elses(agent, start) -> None:
    start()
    with lab_scope(agent.lab.pk):
        other = Host.objects.create(lab=agent.lab, name="other")
        Target.objects.create(lab=agent.lab, host=other, name="own", path="/x", is_agents_own=True)
        assert offer_next_run(other.pk) is None
    assert _states() == [State.QUEUED]


def _reason(run: Run) -> str:
    with lab_scope(run.lab_id):
        return waiting_reasons(Run.objects.select_related("host").filter(pk=run.pk)).get(run.pk, "")


def test_a_run_says_that_no_dispatcher_answers(agent, start) -> None:
    [run] = start()
    agent.poll(is_dispatched=False)
    assert _reason(run).startswith("No dispatcher has answered yet: bench1 is online")
    WorkerHeartbeat.objects.create(name="dispatcher", answered_at=timezone.now() - timedelta(seconds=40))
    assert _reason(run).startswith("No dispatcher has answered for 40 s")
    dispatch_waiting()
    assert find_dispatcher_silence() == ""
    assert _reason(run) == "bench1 is online and gets it in a moment."


def test_while_no_task_comes_the_dispatcher_offers_by_itself_and_says_so(agent, start) -> None:
    [run] = start()
    agent.poll(is_dispatched=False)
    dispatch_waiting()
    assert stand_in() == [], "a task came a moment ago"
    assert _states() == [State.QUEUED]
    WorkerHeartbeat.objects.update(answered_at=timezone.now() - TASKS_EVERY)
    _set(Run, created_at=timezone.now() - TASKS_EVERY)
    [attempt] = stand_in()
    assert [offer["attempt"] for offer in agent.poll(is_dispatched=False)["offers"]] == [attempt]
    assert stand_in() == [], "its host is busy"
    WorkerHeartbeat.objects.filter(name="dispatcher").update(answered_at=timezone.now() - timedelta(minutes=5))
    assert find_dispatcher_silence() == ""
    assert dispatch_host(run.host_id) is None, "the task that comes after all finds nothing to do"
