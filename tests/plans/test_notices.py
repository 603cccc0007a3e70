"""Who follows a plan is told when it pauses itself, is done or does not begin; a schedule that only fails pauses itself."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.notifications import messages
from apps.notifications.models import Delivery, Destination
from apps.plans import services, tasks
from apps.plans.models import Execution, PlanSchedule, ScheduleFiring
from apps.plans.notices.late_begins import BEGINS_WITHIN
from apps.plans.schedules.services import fire, resume_schedule, set_schedule
from apps.plans.services import ExecutionError
from apps.studies.models import Plan
from tests.api.conftest import Script, script
from tests.conftest import Cast
from tests.page_text import page_text
from tests.plans.conftest import advance_all, end_all
from tests.plans.test_schedules import NIGHTLY, at, fail_all, finish, scheduled

__all__ = ["script"]
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]


@pytest.fixture
def channel(cast: Cast) -> Any:
    with lab_scope(cast.lab.pk):
        return Destination.objects.create(
            lab=cast.lab, kind="webhook", name="ops", address="https://example.org/hook", created_by="owner"
        )


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """`looks()` is a sweep, and a worker carries out at once what it sends about plans that do not begin."""
    monkeypatch.setattr(tasks, "publish", lambda task, *ids: task(*ids) if task is tasks.check_plan_begin else None)
    return tasks.sweep


def complete(plan: Plan) -> None:
    """Let a plan run to its end; the end of each run starts the next one of its host."""
    advance_all(plan)
    while end_all():
        pass
    assert Execution.objects.get(plan=plan).state == "done"


def events() -> list[str]:
    return [told.payload["event"] for told in Delivery.objects.order_by("pk")]


def test_a_plan_that_is_done_tells_who_follows_it(write_plan: WritePlan, channel: Destination) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve", recipients=[channel.pk])
    assert not Delivery.objects.exists()
    complete(plan)
    told = Delivery.objects.get()
    assert (told.destination, told.payload["event"], told.payload["plan"]["id"]) == (channel, "plan-done", plan.pk)
    assert "schedule" not in told.payload
    text = re.sub(r"\d+\Ws after", "2 s after", told.payload["text"])
    assert text == "Reading is done, 2 s after eve started it: 8 runs finished, 4 cells done."
    assert messages.subject(told.payload) == "Spindle: Reading is done"
    assert messages.text(told.payload).endswith(f"/plans/{plan.pk}/\n")
    services.add_repetitions(plan, 1, actor="eve")
    complete(plan)
    assert events() == ["plan-done", "plan-done"]


def test_a_plan_that_pauses_itself_tells_and_one_that_a_person_pauses_does_not(
    write_plan: WritePlan, channel: Destination
) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve", recipients=[channel.pk])
    services.pause_plan(plan, actor="eve")
    services.resume_plan(plan, actor="eve")
    assert not Delivery.objects.exists(), "eve knows"
    assert fail_all(plan).state == "paused"
    told = Delivery.objects.get()
    assert told.payload["event"] == "plan-paused"
    assert told.payload["text"].startswith("Reading has paused itself. The last 3 runs on ")
    assert "The disk is full." in told.payload["reason"]
    assert told.payload["text"].endswith("It goes on when somebody resumes it.")


def test_nobody_is_told_who_was_not_chosen_or_is_switched_off(write_plan: WritePlan, channel: Destination) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    complete(plan)
    other = write_plan(name="other")
    services.start_plan(other, actor="eve", recipients=[channel.pk])
    Destination.objects.update(is_active=False)
    complete(other)
    assert not Delivery.objects.exists()


def test_a_plan_that_does_not_begin_tells_once_what_its_hosts_wait_for(
    write_plan: WritePlan, channel: Destination, looks: Callable[[], Any]
) -> None:
    plan = write_plan()
    Host.objects.filter(name="alpha").update(is_in_maintenance=True, maintenance_note="new PSU")
    services.start_plan(plan, actor="eve", recipients=[channel.pk])
    advance_all(plan)
    looks()
    assert not Delivery.objects.exists(), "it is too early"
    Execution.objects.update(started_at=timezone.now() - BEGINS_WITHIN - timedelta(seconds=1))
    looks()
    looks()
    told = Delivery.objects.get()
    assert told.payload["event"] == "plan-not-begun"
    assert "alpha: alpha is in maintenance (new PSU)." in told.payload["text"]
    assert "beta: " in told.payload["text"]
    assert "has no agent" in told.payload["text"]


def test_a_plan_that_has_begun_is_looked_at_once_and_tells_nothing(
    write_plan: WritePlan, channel: Destination, looks: Callable[[], Any]
) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve", recipients=[channel.pk])
    advance_all(plan)
    end_all()
    Execution.objects.update(started_at=timezone.now() - BEGINS_WITHIN - timedelta(seconds=1))
    looks()
    assert not Delivery.objects.exists()
    assert Execution.objects.get().start_checked_at is not None
    services.cancel_plan(plan, actor="eve")
    services.start_plan(plan, actor="eve")
    assert Execution.objects.get().start_checked_at is None, "the next start is looked at anew"


def test_channels_are_chosen_at_the_start_and_changed_while_it_runs(
    write_plan: WritePlan, channel: Destination, sign_in: SignIn, cast: Cast
) -> None:
    plan = write_plan()
    engineer, address = sign_in("engineer"), f"/plans/{plan.pk}/"
    page = engineer.get(address).content.decode()
    assert "checked" not in page.partition('name="recipients"')[2].partition(">")[0], "nobody, at first"
    assert "Notified:" not in page_text(engineer.get(address).content.decode())
    engineer.post(f"{address}start/", {"asks_recipients": "True", "recipients": [str(channel.pk)]})
    assert [entry.destination for entry in plan.recipients.all()] == [channel]
    assert "Notified: ops · Change…" in page_text(engineer.get(address).content.decode())
    assert "Change…" not in page_text(sign_in("viewer").get(address).content.decode())
    form = engineer.get(f"{address}recipients/").content.decode()
    assert "checked" in form.partition('name="recipients"')[2].partition(">")[0]
    assert engineer.post(f"{address}recipients/", {}).status_code == 302
    assert not plan.recipients.exists()
    assert "Notified: nobody" in page_text(engineer.get(address).content.decode())
    assert engineer.post(f"{address}recipients/", {"recipients": ["987654"]}).status_code == 422
    assert sign_in("viewer").post(f"{address}recipients/", {}).status_code == 403
    assert AuditEvent.objects.filter(act="plan recipients changed").count() == 1
    second = write_plan(name="second")
    engineer.post(f"{address}recipients/", {"recipients": [str(channel.pk)]})
    again = engineer.get(f"/plans/{second.pk}/").content.decode()
    assert "checked" in again.partition('name="recipients"')[2].partition(">")[0], "as the person chose last"
    engineer.post(f"/plans/{second.pk}/start/", {"retries": "0"})
    assert not second.recipients.exists(), "a form that does not ask changes nothing"


def test_channels_by_rest(write_plan: WritePlan, channel: Destination, script: Scripts, cast: Cast) -> None:
    plan = write_plan()
    client, address = script("run"), f"plans/{plan.pk}/"
    shown = [{"id": channel.pk, "name": "ops"}]
    assert client("POST", f"{address}start/", {"recipients": [channel.pk]}).json()["recipients"] == shown
    assert client.get(address).json()["recipients"] == shown
    assert client("PATCH", address, {"priority": "low"}).json()["recipients"] == shown, "as before"
    assert client("PATCH", address, {"recipients": []}).json()["recipients"] == []
    with lab_scope(cast.other_lab.pk):
        theirs = Destination.objects.create(
            lab=cast.other_lab, kind="webhook", name="x", address="https://example.org/x", created_by="s"
        )
    refused = client("PATCH", address, {"priority": "high", "recipients": [theirs.pk]})
    assert (refused.status_code, client.get(address).json()["priority"]) == (400, "low"), "all of it, or nothing"
    for method, path in (("PATCH", address), ("POST", f"{address}start/")):
        services.cancel_plan(plan, actor="eve") if path.endswith("start/") else None
        refused = client(method, path, {"recipients": [theirs.pk]})
        assert (refused.status_code, refused.json()["field"]) == (400, "recipients")
    assert Execution.objects.get().state == "cancelled", "a start with a wrong channel starts nothing"


@pytest.mark.slow
def test_a_run_of_a_schedule_tells_those_of_its_plan_and_not_that_it_is_done(
    write_plan: WritePlan, channel: Destination, sign_in: SignIn, script: Scripts
) -> None:
    plan = write_plan()
    set_schedule(plan, replace(NIGHTLY, recipients=[channel.pk]), actor="eve")
    scheduled(plan)
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    copy = first.started_plan
    text = page_text(sign_in("engineer").get(f"/plans/{copy.pk}/").content.decode())
    assert "Notified: ops, as its schedule says" in text
    with pytest.raises(ExecutionError, match="change who is notified there"):
        services.change_recipients(copy, [], actor="eve")
    client, shown = script("run"), [{"id": channel.pk, "name": "ops"}]
    assert client.get(f"plans/{copy.pk}/").json()["recipients"] == shown
    assert [entry["recipients"] for entry in client.get("plans/").json()["results"]] == [shown, shown]
    finish(plan)
    refused = client("POST", f"plans/{copy.pk}/start/", {"recipients": [channel.pk]})
    assert (refused.status_code, Execution.objects.get(plan=copy).state) == (409, "done")
    assert not Delivery.objects.exists(), "each night would tell"
    services.start_plan(plan, actor="eve")
    complete(plan)
    assert events() == ["plan-done"], "a person started this one"


def fail_night(plan: Plan, night: int) -> Plan:
    firing = fire(plan.pk, at(f"2026-03-{night}T01:30"))
    assert firing is not None
    assert firing.outcome == "started"
    assert fail_all(firing.started_plan).has_paused_itself
    return firing.started_plan  # type: ignore[no-any-return]


def followed(plan: Plan, channel: Destination) -> None:
    """Set the schedule of a plan, long before its first night."""
    set_schedule(plan, replace(NIGHTLY, recipients=[channel.pk]), actor="eve")
    scheduled(plan)
    PlanSchedule.objects.update(changed_at=at("2026-03-10T12:00"))


@pytest.mark.slow
def test_a_schedule_of_which_three_runs_in_a_row_failed_pauses_itself_and_tells(
    write_plan: WritePlan, channel: Destination, sign_in: SignIn, script: Scripts
) -> None:
    plan = write_plan()
    followed(plan, channel)
    copies = [fail_night(plan, night) for night in (11, 12, 13)]
    texts = [told.payload["text"] for told in Delivery.objects.order_by("pk")]
    assert "the next due time pauses the schedule" not in texts[1]
    assert "the next due time pauses the schedule" in texts[2]
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "None of the last three runs has succeeded: the next due time pauses the schedule" in text
    fourth = fire(plan.pk, at("2026-03-14T01:30"))
    assert fourth is not None
    assert (fourth.outcome, fourth.started_plan) == ("skipped", None)
    schedule = PlanSchedule.objects.get(plan=plan)
    assert (schedule.is_paused, schedule.next_at, schedule.reason) == (True, None, fourth.reason)
    assert schedule.reason.startswith(
        f"The schedule is paused, because of its last 3 runs none succeeded. Look into {copies[-1]}, then resume"
    )
    assert "The disk is full." in schedule.reason
    assert events()[-1] == "schedule-paused"
    told = Delivery.objects.latest("pk").payload
    assert messages.subject(told) == "Spindle: Reading is not started by its schedule any more"
    assert told["text"] == f"Reading: {schedule.reason}"
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert f"paused {schedule.reason} Nothing is due until it is resumed." in text
    assert script("read").get(f"plans/{plan.pk}/schedule/").json()["reason"] == schedule.reason
    assert fire(plan.pk, at("2026-03-15T01:30")) is None
    assert Execution.objects.get(plan=copies[-1]).state == "paused", "a person looks into it"

    resume_schedule(plan, actor="mia")
    moment = at("2026-03-15T12:00")
    PlanSchedule.objects.update(changed_at=moment, considered_at=moment, next_at=at("2026-03-16T01:30"))
    assert PlanSchedule.objects.get(plan=plan).reason == ""
    assert fire(plan.pk, at("2026-03-16T01:30")).outcome == "started", "what failed before is forgiven"


@pytest.mark.slow
def test_one_night_that_measured_something_or_that_a_person_mended_keeps_a_schedule_going(
    write_plan: WritePlan, channel: Destination
) -> None:
    plan = write_plan()
    followed(plan, channel)
    fail_night(plan, 11)
    mended = fail_night(plan, 12)
    services.retry_failed(mended, actor="eve")
    services.resume_plan(mended, actor="eve")
    complete(mended)
    fail_night(plan, 13)
    fail_night(plan, 14)
    assert fire(plan.pk, at("2026-03-15T01:30")).outcome == "started"
    assert "schedule-paused" not in events()


@pytest.mark.slow
def test_a_host_in_use_night_after_night_does_not_pause_the_schedule(
    write_plan: WritePlan, channel: Destination
) -> None:
    plan = write_plan()
    followed(plan, channel)
    for night in (11, 12, 13, 14):
        firing = fire(plan.pk, at(f"2026-03-{night}T01:30"))
        assert firing.outcome == "started"
        assert fail_all(firing.started_plan).has_paused_itself
        for row in firing.started_plan.rows.all():
            row.planned_runs.update(is_refused=True)
    assert ScheduleFiring.objects.filter(outcome="started").count() == 4


def test_a_schedule_whose_zone_the_server_no_longer_knows_tells_also_after_a_failed_night(
    write_plan: WritePlan, channel: Destination
) -> None:
    plan = write_plan()
    followed(plan, channel)
    before = {"due_at": at("2026-03-10T01:30"), "fired_at": at("2026-03-10T01:30")}
    ScheduleFiring.objects.create(plan=plan, outcome="failed", reason="No target is left.", **before)
    PlanSchedule.objects.update(time_zone="Atlantis/Capital")
    firing = fire(plan.pk, at("2026-03-11T01:30"))
    assert firing is not None
    assert PlanSchedule.objects.get().is_paused
    assert events() == ["schedule-paused"]


def test_another_lab_that_may_read_a_plan_sees_no_channels(
    write_plan: WritePlan, channel: Destination, sign_in: SignIn, cast: Cast
) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve", recipients=[channel.pk])
    for name in ("viewer", "stranger"):
        if name == "stranger":
            cast.lab.__class__.objects.filter(pk=cast.lab.pk).update(is_published=True)
        for more in ({}, {"HX-Request": "true"}):
            answer = sign_in(name).get(f"/plans/{plan.pk}/", headers=more)
            assert answer.status_code == 200
            assert ("Notified: ops" in page_text(answer.content.decode())) == (name == "viewer")
