"""A host whose clock is wrong by an hour or ten years changes neither leases nor the order of its queue or its runs."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents.dispatch import find_dispatcher_silence, note_dispatcher
from apps.agents.models import Agent, WorkerHeartbeat
from apps.agents.tasks import sweep
from apps.labs.isolation import all_labs
from apps.notifications.models import Delivery, Destination
from apps.runs.models import IN_TIME, LEASE, Attempt, Run
from apps.runs.states import State
from apps.trends.models import Watch
from apps.uploads.models import Upload, UploadState
from tests.agents.conftest import FakeAgent

pytestmark = [pytest.mark.faults, pytest.mark.django_db]
SECOND, HOUR, TEN_YEARS = timedelta(seconds=1), timedelta(hours=1), timedelta(days=3652)
SKEWS = [-HOUR, HOUR, -TEN_YEARS, TEN_YEARS]


class SkewedHost:
    """A host whose clock is off; `tells`: it says with each message what its clock shows then."""

    def __init__(self, agent: FakeAgent, skew: timedelta, tells: bool) -> None:
        self.agent, self.skew, self.tells = agent, skew, tells

    def time_of(self, moment: datetime) -> float:
        return (moment + self.skew).timestamp()

    def say(self, attempt: Attempt, what: str, **body: Any) -> None:
        clock = {"clock": self.time_of(timezone.now())} if self.tells else {}
        answer = self.agent.post(f"attempts/{attempt.pk}/{what}/", token=attempt.token, **clock, **body)
        assert answer.status_code == 200, answer.content

    def measure(self, seconds: float = 0) -> Run:
        """Take the next run, begin now and end it: `seconds` ago by the host's clock, before the host could say so."""
        attempt = self.agent.take()
        self.say(attempt, "running", boot_id="b", argv=["fio"], started_at=self.time_of(timezone.now()))
        ended = timezone.now() - timedelta(seconds=seconds)
        ending = {"outcome": "failed", "reason": "as told", "streams": {}}
        self.say(attempt, "finish", ended_at=self.time_of(ended), **ending)
        with all_labs():
            run: Run = Run.objects.get(pk=attempt.run_id)
        return run


@pytest.mark.parametrize("skew", SKEWS, ids=str)
def test_what_a_host_says_of_the_time_is_shown_and_decides_nothing(agent: FakeAgent, start, sign_in, skew) -> None:
    first, second = (run.pk for run in [*start(), *start()])
    attempt = agent.take()
    said = (timezone.now() + skew).timestamp()
    agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token, boot_id="b", argv=["fio"], started_at=said)
    now = agent.again(attempt)
    assert (now.run_id, now.state) == (first, State.RUNNING)
    assert abs(now.lease_until - timezone.now() - LEASE) < timedelta(seconds=10)
    assert timezone.now() < now.overdue_at < timezone.now() + timedelta(days=1)
    sweep()
    assert agent.again(attempt).state == State.RUNNING
    ending = {"outcome": "failed", "reason": "as told", "streams": {}, "ended_at": said + 10}
    agent.post(f"attempts/{attempt.pk}/finish/", token=attempt.token, **ending)
    with all_labs():
        run = Run.objects.get(pk=first)
        assert run.state == State.FAILED
    page = sign_in("viewer").get(run.get_absolute_url())
    assert page.status_code == 200
    assert agent.take().run_id == second
    with all_labs():
        assert Attempt.objects.count() == 2


@pytest.mark.parametrize(("skew", "tells"), list(product(SKEWS, [True, False])), ids=str)
def test_a_run_has_the_servers_time_whatever_its_host_says(
    agent: FakeAgent, start, sign_in: Callable[[str], Client], skew: timedelta, tells: bool
) -> None:
    began = timezone.now()
    start()
    off = SkewedHost(agent, skew, tells).measure()
    start()
    right = SkewedHost(agent, timedelta(), True).measure()
    for run in (off, right):
        assert run.started_at
        assert run.finished_at
        assert began - SECOND < run.started_at <= run.finished_at <= timezone.now() + SECOND
    with all_labs():
        in_time = list(Run.objects.annotate(at=IN_TIME).order_by("at").values_list("pk", flat=True))
        told = Attempt.objects.get(run=off).started_at
    assert in_time == [off.pk, right.pk], "the later run is the newer one"
    assert told
    assert abs(told - off.started_at - skew) < SECOND, "the attempt keeps what the host said"
    page = sign_in("viewer").get(off.get_absolute_url()).content.decode()
    words = "1\u00a0h" if abs(skew) == HOUR else "3652 days"
    assert f"clock was {words} {'ahead of' if skew > timedelta() else 'behind'} the server" in page
    assert "stand here as the host says" in page
    assert "as the host says" not in sign_in("viewer").get(right.get_absolute_url()).content.decode()


@pytest.mark.parametrize("skew", [timedelta(), *SKEWS], ids=str)
def test_a_result_that_comes_late_ended_when_it_ended(agent: FakeAgent, start, skew: timedelta) -> None:
    """The server was away for three days and the run began before: an hour of them is between its start and its end."""
    start()
    host, attempt = SkewedHost(agent, skew, True), agent.take()
    now = timezone.now()
    with all_labs():
        Attempt.objects.update(offered_at=now - 4 * HOUR, accepted_at=now - 4 * HOUR)
    host.say(attempt, "running", boot_id="b", argv=["fio"], started_at=host.time_of(now - 3 * HOUR))
    ending = {"outcome": "failed", "reason": "as told", "streams": {}}
    host.say(attempt, "finish", ended_at=host.time_of(now - 2 * HOUR), **ending)
    with all_labs():
        run = Run.objects.get()
    assert run.started_at
    assert run.finished_at
    assert abs(run.started_at - (now - 3 * HOUR)) < SECOND
    assert abs(run.finished_at - (now - 2 * HOUR)) < SECOND


@pytest.mark.parametrize("skew", SKEWS, ids=str)
def test_a_start_that_no_host_tells_is_when_it_was_heard_of(agent: FakeAgent, start, skew: timedelta) -> None:
    start()
    host, attempt = SkewedHost(agent, skew, True), agent.take()
    with all_labs():
        Attempt.objects.update(offered_at=timezone.now() - HOUR, accepted_at=timezone.now() - HOUR)
    host.say(attempt, "running", boot_id="b", argv=["fio"], started_at=None)
    with all_labs():
        began = Run.objects.get().started_at
    assert began
    assert timezone.now() - began < 5 * SECOND


@pytest.mark.parametrize("to", [-TEN_YEARS, -HOUR, HOUR, TEN_YEARS], ids=str)
def test_a_clock_that_is_set_while_fio_runs_does_not_change_how_long_it_took(
    agent: FakeAgent, start, to: timedelta
) -> None:
    start()
    host, attempt = SkewedHost(agent, timedelta(), True), agent.take()
    host.say(attempt, "running", boot_id="b", argv=["fio"], started_at=host.time_of(timezone.now()))
    host.skew = to
    host.say(attempt, "finish", ended_at=host.time_of(timezone.now()), outcome="failed", reason="x", streams={})
    with all_labs():
        run = Run.objects.get()
    assert run.seconds is not None
    assert 0 <= run.seconds < 5


def test_what_was_stored_while_the_servers_clock_was_a_month_ahead_is_not_put_off(agent: FakeAgent, start) -> None:
    """A lease of a host that is gone, a result, a notification, an upload and a trend: all wait for a next look."""
    start()
    attempt, now = agent.take(), timezone.now()
    ahead = now + timedelta(days=30)
    with all_labs():
        Attempt.objects.update(lease_until=ahead, next_try_at=ahead, manifest={})
        to = Destination.objects.create(lab=agent.lab, name="mail", kind="email", address="a@example.org")
        Delivery.objects.create(lab=agent.lab, destination=to, payload={}, next_try=ahead)
        Upload.objects.create(lab=agent.lab, name="x", state=UploadState.PARSING, lease_until=ahead)
        Watch.objects.create(lab=agent.lab, name="w", query="metric=iops", created_by="w", due_at=ahead)
        waiting = (
            Attempt.objects.lease_expired, Attempt.objects.to_read_in, Delivery.objects.due, Upload.objects.to_parse,
            Watch.objects.due,
        )  # fmt: skip
        assert [find(now).count() for find in waiting] == [1] * len(waiting)
        soon = now + timedelta(seconds=20)
        Attempt.objects.update(lease_until=soon, next_try_at=soon)
        Delivery.objects.update(next_try=soon)
        Upload.objects.update(lease_until=soon)
        Watch.objects.update(due_at=soon)
        assert [find(now).count() for find in waiting] == [0] * len(waiting)
    sweep()
    assert agent.again(attempt).state == State.ACCEPTED


def test_agents_and_dispatchers_are_heard_of_anew_after_the_servers_clock_was_set_back(agent: FakeAgent, start) -> None:
    start()
    agent.poll()
    ahead = timezone.now() + timedelta(days=30)
    with all_labs():
        Agent.objects.update(last_seen_at=ahead, polling_until=ahead)
        WorkerHeartbeat.objects.all().delete()
        WorkerHeartbeat.objects.create(name="dispatcher", answered_at=ahead)
        assert not Agent.objects.ready().exists(), "it was not heard of since"
        assert not Agent.objects.get().is_online
    assert find_dispatcher_silence() == "No dispatcher has answered since the clock was set back"
    agent.instance = "another start of it"
    assert agent.poll() is not None, "nobody holds a poll for a month"
    with all_labs():
        assert Agent.objects.ready().exists()
        assert Agent.objects.get().is_online
    note_dispatcher()
    assert find_dispatcher_silence() == ""
