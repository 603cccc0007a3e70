"""The life of an attempt, as filtered UPDATEs: nothing starts twice, nothing ends by a lost lease."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.agents.tasks import sweep
from apps.inventory.models import Host
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt, Run
from apps.runs.services import cancel_run, offer_next_run
from apps.runs.states import ENDED, FOLLOWERS, State


def _run_state(run: Run) -> str:
    with all_labs():
        return Run.objects.get(pk=run.pk).state


def test_an_offer_is_repeatable_until_it_is_accepted(agent, start) -> None:
    start()
    first, second = agent.poll()["offers"], agent.poll()["offers"]
    assert first == second
    assert len(first) == 1


def test_an_offer_carries_the_typed_workload_only(agent, start) -> None:
    [run] = start()
    [offer] = agent.poll()["offers"]
    assert offer["run"] == run.pk
    assert offer["workload"]["jobs"][0]["block_size"] == 4096
    assert offer["status_interval"] == 1


def test_accept_is_idempotent_and_names_the_run(agent, start) -> None:
    [run] = start()
    attempt = agent.take()
    assert agent.post(f"attempts/{attempt.pk}/accept/", token=attempt.token).json() == {"state": "accepted"}
    assert _run_state(run) == State.ACCEPTED


def test_a_wrong_fencing_token_is_409(agent, start) -> None:
    start()
    attempt = agent.take()
    assert agent.post(f"attempts/{attempt.pk}/accept/", token=attempt.token - 1).status_code == 409


def test_another_hosts_attempt_is_404(agent, start, cast) -> None:
    start()
    attempt = agent.take()
    with lab_scope(cast.lab.pk):
        other = Host.objects.create(lab=cast.lab, name="other")
        Attempt.objects.filter(pk=attempt.pk).update(host=other)
    assert agent.post(f"attempts/{attempt.pk}/accept/", token=attempt.token).status_code == 404


def test_one_attempt_at_a_time_per_host(agent, start) -> None:
    start(2)
    attempt = agent.take()
    assert agent.poll((attempt.pk, attempt.token, "accepted"))["offers"] == []


def test_a_host_in_maintenance_gets_nothing(agent, start) -> None:
    start()
    with all_labs():
        Host.objects.update(is_in_maintenance=True)
    assert agent.poll()["offers"] == []


def test_a_refusal_fails_the_run_with_the_hosts_reason(agent, start) -> None:
    [run] = start()
    [offer] = agent.poll()["offers"]
    path = f"attempts/{offer['attempt']}/refuse/"
    assert agent.post(path, token=offer["token"], reason="iodepth 9999").status_code == 200
    with all_labs():
        assert "iodepth 9999" in Run.objects.get(pk=run.pk).problem


def test_a_lost_lease_means_unknown_and_starts_nothing(agent, start) -> None:
    [run] = start()
    attempt = agent.take()
    with all_labs():
        Attempt.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert sweep()["lost"] == 1
    assert _run_state(run) == State.UNKNOWN
    assert agent.poll((attempt.pk, attempt.token, "running"))["offers"] == []
    assert _run_state(run) == State.RUNNING


def test_a_host_that_lost_its_spool_ends_the_unknown(agent, start) -> None:
    [run] = start()
    agent.take()
    with all_labs():
        Attempt.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep()
    agent.poll()
    assert _run_state(run) == State.INTERRUPTED


def test_cancel_reaches_every_state(agent, start) -> None:
    queued, *_ = runs = start(3)
    with lab_scope(agent.lab.pk):
        assert cancel_run(queued, "engineer")
    assert _run_state(queued) == State.CANCELLED
    agent.poll()  # offers the second
    with lab_scope(agent.lab.pk):
        assert cancel_run(runs[1], "engineer")
    assert _run_state(runs[1]) == State.CANCELLED
    attempt = agent.take()
    with lab_scope(agent.lab.pk):
        assert cancel_run(runs[2], "engineer")
    assert agent.poll((attempt.pk, attempt.token, "running"))["cancel"] == [attempt.pk]


def test_an_offer_cancelled_meanwhile_can_not_be_accepted(agent, start) -> None:
    [run] = start()
    [offer] = agent.poll()["offers"]
    with lab_scope(agent.lab.pk):
        cancel_run(run, "engineer")
    assert agent.post(f"attempts/{offer['attempt']}/accept/", token=offer["token"]).status_code == 410


def test_no_state_follows_an_end() -> None:
    assert all(not FOLLOWERS[state] for state in ENDED)
    assert set(FOLLOWERS) == set(State)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_many_claims_at_once_make_one_attempt(agent, start) -> None:
    start(5)
    host_id = agent.row.host_id

    def claim(_: int) -> int | None:
        try:
            with all_labs():
                attempt = offer_next_run(host_id)
            return attempt.pk if attempt else None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        made = {pk for pk in pool.map(claim, range(40)) if pk}
    with all_labs():
        assert Attempt.objects.count() == len(made) == 1
