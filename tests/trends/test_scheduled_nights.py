"""A schedule, a trend and a notification together: nights become slower, and the team is told once.

The plan is fired by its task, its runs go through the tasks of plans, and each arrives as a result that was read in does;
only the clock is moved, and the runs' hosts are not there.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from apps.labs.models import Lab
from apps.notifications.models import Delivery
from apps.notifications.tasks import send_delivery
from apps.plans.models import ScheduleFiring
from apps.plans.schedules.services import ScheduleRequest, fire, set_schedule
from apps.plans.tasks import fire_schedules
from apps.runs.models import Run
from apps.runs.services import announce
from apps.studies.models import Plan
from apps.trends.models import DEBOUNCE, Watch
from apps.trends.tasks import evaluate_watch
from tests.conftest import Cast
from tests.plans.conftest import GIB, JOB, MIB, advance_all, end, study, write_plan
from tests.trends.nights import destination, noise

__all__ = ["study", "write_plan"]
WritePlan = Callable[..., Plan]
SignIn = Callable[[str], Client]
LEVEL = 4e8
SLOWER = 0.85
STEADY, SLOW = 10, 6  # nights
POINT = {"name": "small", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB}


class Nights:
    """The nights of one schedule, from 20 March of next year on: the clock of its zone changes in one of them.

    Next year, because rows that take the time by themselves take the machine's, and must not wait for it.
    """

    def __init__(self, plan: Plan, monkeypatch: pytest.MonkeyPatch, published: list[Any], on_commit: Any) -> None:
        self.plan, self.published, self.on_commit = plan, published, on_commit
        self.now = datetime(timezone.now().year + 1, 3, 20, 12, tzinfo=UTC)
        monkeypatch.setattr(timezone, "now", lambda: self.now)

    def pass_one(self, values: dict[str, float]) -> None:
        """Let the schedule come due, its copy run with these values by host, and every task be done that follows."""
        self.now = self.plan.schedule.next_at + timedelta(seconds=15)
        assert fire_schedules() == 1
        copy = ScheduleFiring.objects.filter(plan=self.plan).first().started_plan
        for _ in range(10):
            advance_all(copy)
            runs = list(Run.objects.open().select_related("workload", "host"))
            if not runs:
                break
            for run in runs:
                self.now += timedelta(minutes=5)
                end(run, value=values[run.host.name])
                with self.on_commit(execute=True):
                    announce(run.lab_id, [run.pk])
        copy.execution.refresh_from_db()
        assert copy.execution.state == "done"
        self.now += DEBOUNCE
        self.do_published()
        self.plan.schedule.refresh_from_db()

    def do_published(self) -> None:
        """Do what workers would get: looks at trends, and deliveries."""
        tasks = {"trends.evaluate_watch": evaluate_watch, "notifications.send_delivery": send_delivery}
        while self.published:
            name, *arguments = self.published.pop(0)
            if name in tasks:
                with self.on_commit(execute=True):
                    tasks[name](*arguments)


@pytest.mark.slow
def test_a_nightly_plan_that_becomes_slower_is_told_once_and_its_page_leads_to_the_trend(
    write_plan: WritePlan, lab: Lab, cast: Cast, sign_in: SignIn, published: list[Any], mailoutbox: list[Any],
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any,
) -> None:  # fmt: skip
    plan = write_plan(points=[POINT], stopping={"kind": "fixed", "rounds": 1})
    nights = Nights(plan, monkeypatch, published, django_capture_on_commit_callbacks)
    set_schedule(plan, ScheduleRequest("nightly", "Europe/Rome", at=time(2, 30)), actor="eve")
    usual = LEVEL * noise(STEADY + SLOW, seed=4, cv=0.01)
    nights.pass_one({"alpha": usual[0], "beta": LEVEL})
    client = sign_in("engineer")
    assert f'hx-get="/plans/{plan.pk}/trends/"' in client.get(f"/plans/{plan.pk}/").content.decode()
    part = client.get(f"/plans/{plan.pk}/trends/", headers={"hx-request": "true"}).content.decode()
    assert "No trend follows these runs yet" in part
    assert "<html" not in part
    watch = follow(client, part, "alpha", destination(lab))

    for value in usual[1:STEADY]:
        nights.pass_one({"alpha": value, "beta": LEVEL})
    assert not Delivery.objects.exists()
    told = []
    for value in usual[STEADY:]:
        nights.pass_one({"alpha": SLOWER * value, "beta": LEVEL})
        told.append(Delivery.objects.count())
    assert told[:2] == [0, 0], "two slow nights are no level"
    assert told[-1] == 1, "once"
    assert 1 in told[2:5], "by the fifth slow night"
    assert [len(mailoutbox), mailoutbox[0].to] == [1, ["team@example.org"]]
    assert "became worse" in mailoutbox[0].subject
    change = watch.change_points.get()
    firing = change.run.planned_run.row.plan.fired_by
    assert firing == list(ScheduleFiring.objects.filter(plan=plan).order_by("due_at"))[STEADY], "the first slow night"
    assert change.low < SLOWER < change.high
    client = sign_in("engineer")  # weeks later
    page = client.get(f"/plans/{plan.pk}/trends/").content.decode()
    assert f'href="/trends/{watch.pk}/"' in page
    assert "1 change to acknowledge" in page
    copy_page = client.get(firing.started_plan.get_absolute_url()).content.decode()
    assert f'href="/plans/{plan.pk}/trends/">Trends of its runs</a>' in copy_page
    local = [one.due_at.astimezone(ZoneInfo("Europe/Rome")) for one in ScheduleFiring.objects.filter(plan=plan)]
    assert sorted(f"{due:%H:%M}" for due in local) == ["02:30"] * (STEADY + SLOW - 1) + ["03:30"]
    assert fire(plan.pk, nights.now) is None


def follow(client: Client, part: str, name: str, told: Any) -> Watch:
    """Make a watch as somebody does who presses the button below a plan's schedule and takes one of the series."""
    found = re.search(r'href="(/trends/new/[^"]+)"', part)
    assert found
    form = unescape(client.get(unescape(found[1])).content.decode())
    queries = re.findall(r'name="query"[^>]*value="([^"]+)"', form) or re.findall(r'value="(metric=[^"]+)"', form)
    [query] = [query for query in queries if f"configuration={name}" in query]
    wanted = {"name": f"{name} by night", "threshold": "5", "query": query, "recipients": [str(told.pk)]}
    made = client.post("/trends/", wanted)
    assert made.status_code == 302, made.content.decode()
    watch: Watch = Watch.objects.get()
    return watch


def test_trends_of_a_plan_that_has_not_run_are_not_there_yet_and_others_see_nothing(
    write_plan: WritePlan, cast: Cast, sign_in: SignIn
) -> None:
    plan = write_plan()
    page = sign_in("viewer").get(f"/plans/{plan.pk}/trends/").content.decode()
    assert "when the first runs have finished" in page
    assert "Follow a configuration" not in page
    assert sign_in("stranger").get(f"/plans/{plan.pk}/trends/").status_code == 404
