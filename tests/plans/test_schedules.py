"""Schedules of plans: each due time makes a copy and starts it, once, and says what became of it."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import takewhile
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent
from apps.notifications import messages
from apps.notifications.models import Delivery, Destination
from apps.plans import services
from apps.plans.models import Execution, PlanRecipient, PlanSchedule, ScheduleFiring
from apps.plans.schedules.recurrence import RecurrenceError
from apps.plans.schedules.services import (
    PARTS,
    ScheduleRequest,
    fire,
    next_times,
    pause_schedule,
    recurrence_of,
    remove_schedule,
    resume_schedule,
    set_schedule,
    words_of,
)
from apps.plans.services import ExecutionError
from apps.plans.tasks import fire_schedules
from apps.runs.models import Run
from apps.studies.models import Plan
from tests.api.conftest import Script, script
from tests.conftest import Cast
from tests.page_text import page_text
from tests.plans.conftest import advance_all, end_all
from tests.sampling import for_each

__all__ = ["script"]
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
NIGHTLY = ScheduleRequest("nightly", "Europe/Rome", at=time(2, 30))
DAY = timedelta(days=1)
ONE_ROUND = {"kind": "fixed", "rounds": 1}
NOT_PARTS = {Plan, Execution, PlanRecipient, PlanSchedule, ScheduleFiring}


class Clock:
    """The server's clock, as a test sets it."""

    now: datetime


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    clock.now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: clock.now)
    return clock


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def scheduled(plan: Plan, wanted: ScheduleRequest = NIGHTLY, considered: str = "2026-03-10T12:00") -> PlanSchedule:
    """Set a schedule as if somebody had done so at that time."""
    schedule = set_schedule(plan, wanted, actor="eve")
    first = next_times(schedule, 1, at(considered))[0]
    PlanSchedule.objects.filter(pk=schedule.pk).update(considered_at=at(considered), next_at=first)
    schedule.refresh_from_db()
    return schedule


def finish(plan: Plan) -> None:
    """Let the copies of a plan run to their end."""
    for firing in ScheduleFiring.objects.filter(plan=plan, started_plan__execution__state="running"):
        advance_all(firing.started_plan)
    for _ in range(30):
        if not Run.objects.open().exists():
            return
        end_all()
    raise AssertionError("not over")


def test_a_due_time_starts_a_copy_of_the_plan(write_plan: WritePlan) -> None:
    plan = write_plan(guards=[{"kind": "idle"}], cells=[{"row": "beta", "point": "large", "reason": "too large"}])
    scheduled(plan)
    assert fire(plan.pk, at("2026-03-11T01:29")) is None, "not yet"
    firing = fire(plan.pk, at("2026-03-11T01:30"))
    assert firing is not None
    assert (firing.outcome, firing.due_at, firing.reason, firing.missed) == ("started", at("2026-03-11T01:30"), "", 0)
    copy = Plan.objects.whole().get(pk=firing.started_plan_id)
    assert copy.title == "Reading, 2026-03-11 02:30", "by the clock of the zone"
    assert copy.study == plan.study
    assert [point.name for point in copy.points.all()] == ["small", "large"]
    assert [row.configuration.name for row in copy.rows.all()] == ["alpha", "beta"]
    assert [guard.kind for guard in copy.guards.all()] == ["idle"]
    assert [(cell.row.name, cell.point.name, cell.reason) for cell in copy.cells.all()] == [
        ("beta", "large", "too large")
    ]
    assert (copy.execution.state, copy.execution.started_by) == ("running", "schedule of Reading")
    finish(plan)
    copy.execution.refresh_from_db()
    assert copy.execution.state == "done"
    assert Run.objects.filter(state="finished").count() == 3 * 2
    assert set(Run.objects.values_list("target__host__name", flat=True)) == {"alpha", "beta"}
    assert PlanSchedule.objects.get(plan=plan).next_at == at("2026-03-12T01:30")


@pytest.mark.slow
def test_each_night_has_its_own_runs_on_the_same_targets_and_workloads(write_plan: WritePlan) -> None:
    plan = write_plan(stopping=ONE_ROUND)
    scheduled(plan)
    for night in range(3):
        assert fire(plan.pk, at("2026-03-11T01:30") + night * DAY)
        finish(plan)
    copies = [firing.started_plan_id for firing in ScheduleFiring.objects.filter(plan=plan)]
    runs = {copy: Run.objects.filter(planned_run__row__plan=copy) for copy in copies}
    assert [found.count() for found in runs.values()] == [4, 4, 4]
    workloads = [sorted(found.values_list("target_id", "workload__sha256")) for found in runs.values()]
    assert workloads[0] == workloads[1] == workloads[2], "so trends follow them from night to night"


def test_every_part_of_a_plan_is_copied_or_is_known_to_belong_to_what_became_of_it() -> None:
    parts = {field.related_model for field in Plan._meta.related_objects}
    assert parts == {*PARTS, *NOT_PARTS}, "copy the new part in apps/plans/schedules/services.py, or name it here"


def test_a_second_task_finds_nothing_to_do(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    assert fire(plan.pk, at("2026-03-11T01:30"))
    assert fire(plan.pk, at("2026-03-11T01:30")) is None
    assert fire(plan.pk, at("2026-03-11T01:31")) is None
    assert ScheduleFiring.objects.count() == 1


def test_while_the_one_before_runs_a_due_time_is_skipped_with_the_reason(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    second = fire(plan.pk, at("2026-03-12T01:30"))
    assert second is not None
    assert (second.outcome, second.started_plan) == ("skipped", None)
    assert second.reason.startswith("Reading, 2026-03-11 02:30, started")
    assert second.reason.endswith("is still running.")
    services.pause_plan(first.started_plan, actor="eve")
    third = fire(plan.pk, at("2026-03-13T01:30"))
    assert third is not None
    assert third.reason.endswith("is still paused. Paused by eve."), "with the reason of the pause"
    services.resume_plan(first.started_plan, actor="eve")
    finish(plan)
    assert fire(plan.pk, at("2026-03-14T01:30")).outcome == "started"
    assert AuditEvent.objects.filter(act="plan schedule skipped").count() == 2


def test_what_was_missed_is_made_up_once_late_and_says_so(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    firing = fire(plan.pk, at("2026-03-13T09:10"))
    assert firing is not None
    assert (firing.outcome, firing.due_at, firing.missed) == ("started", at("2026-03-13T01:30"), 2)
    assert firing.reason == "Late: it was started 7 h 40 min after it was due, for no worker ran then."
    assert fire(plan.pk, at("2026-03-13T09:11")) is None
    assert PlanSchedule.objects.get(plan=plan).next_at == at("2026-03-14T01:30")


@pytest.mark.parametrize(
    ("considered", "moments"),
    [
        ("2026-03-28T12:00", ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30", "2026-03-29T02:30"]),
        ("2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30", "2026-10-25T12:00"]),
    ],
    ids=["02:30 does not exist", "02:30 comes twice"],
)
def test_in_a_night_on_which_the_clock_changes_it_runs_once(
    write_plan: WritePlan, considered: str, moments: list[str]
) -> None:
    plan = write_plan()
    scheduled(plan, considered=considered)
    fired = [fire(plan.pk, at(moment)) for moment in moments]
    assert [firing.outcome for firing in fired if firing] == ["started"]
    assert ScheduleFiring.objects.count() == 1


def test_a_paused_schedule_rests(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    pause_schedule(plan, actor="eve")
    assert fire(plan.pk, at("2026-03-12T01:30")) is None
    assert next_times(PlanSchedule.objects.get(plan=plan)) == []
    assert PlanSchedule.objects.get(plan=plan).next_at is None


def test_what_was_due_in_a_pause_is_not_made_up_and_says_who_paused_it(write_plan: WritePlan, clock: Clock) -> None:
    plan = write_plan()
    clock.now = at("2026-03-10T12:00")
    set_schedule(plan, NIGHTLY, actor="eve")
    pause_schedule(plan, actor="eve")
    clock.now = at("2026-03-13T09:00")
    schedule = resume_schedule(plan, actor="mia")
    assert schedule.next_at == at("2026-03-14T01:30")
    assert fire(plan.pk, clock.now) is None
    left_out = ScheduleFiring.objects.get()
    assert (left_out.outcome, left_out.due_at, left_out.missed) == ("skipped", at("2026-03-13T01:30"), 2)
    assert left_out.reason == "eve had paused the schedule."


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda plan: set_schedule(plan, ScheduleRequest("nightly", "UTC", at=time(4)), actor="eve"), "changed"),
        (lambda plan: pause_schedule(plan, actor="eve"), "paused"),
        (lambda plan: remove_schedule(plan, actor="eve"), "removed"),
    ],
    ids=["changed", "paused", "removed"],
)
def test_a_due_time_that_an_act_overtakes_is_left_out_with_a_word(
    write_plan: WritePlan, clock: Clock, act: Callable[[Plan], Any], words: str
) -> None:
    plan = write_plan()
    clock.now = at("2026-03-10T12:00")
    set_schedule(plan, NIGHTLY, actor="eve")
    clock.now = at("2026-03-12T03:00")
    act(plan)
    assert fire(plan.pk, clock.now) is None
    left_out = ScheduleFiring.objects.get()
    assert (left_out.outcome, left_out.due_at, left_out.missed) == ("skipped", at("2026-03-12T01:30"), 1)
    assert left_out.reason == f"eve {words} the schedule before this was carried out."


def test_what_runs_still_says_what_it_waits_for(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    Host.objects.filter(name="alpha").update(is_in_maintenance=True, maintenance_note="new PSU")
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    advance_all(first.started_plan)
    second = fire(plan.pk, at("2026-03-12T01:30"))
    assert second is not None
    assert second.outcome == "skipped"
    assert "alpha is in maintenance (new PSU)." in second.reason
    assert "beta has no agent" in second.reason


@pytest.mark.slow
def test_a_host_that_is_not_done_is_left_out_and_the_others_have_their_night(write_plan: WritePlan) -> None:
    plan = write_plan(stopping=ONE_ROUND)
    scheduled(plan)
    Host.objects.filter(name="alpha").update(is_in_maintenance=True, maintenance_note="new PSU")
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    for _ in range(3):
        advance_all(first.started_plan)
        end_all()
    for night in (12, 13):
        firing = fire(plan.pk, at(f"2026-03-{night}T01:30"))
        assert firing is not None
        assert firing.outcome == "started"
        assert firing.reason.startswith("Without alpha: Reading, 2026-03-11 02:30, started ")
        assert firing.reason.endswith("is still running. alpha is in maintenance (new PSU).")
        copy = firing.started_plan
        for _ in range(3):
            advance_all(copy)
            end_all()
        copy.execution.refresh_from_db()
        assert copy.execution.state == "done"
        hosts = Run.objects.filter(planned_run__row__plan=copy).values_list("target__host__name", flat=True)
        assert sorted(hosts) == ["beta"] * 2
        assert [bool(row.reason) for row in copy.rows.order_by("position")] == [True, False]
    Host.objects.filter(name="alpha").update(is_in_maintenance=False)
    finish(plan)
    assert Run.objects.filter(target__host__name="alpha", state="finished").count() == 2, "the night that waited"
    whole = fire(plan.pk, at("2026-03-14T01:30"))
    assert whole is not None
    assert (whole.outcome, whole.reason) == ("started", "")
    assert not any(row.reason for row in whole.started_plan.rows.all())


def test_a_run_that_is_not_ended_although_nothing_is_left_is_waited_for(write_plan: WritePlan) -> None:
    plan = write_plan(stopping=ONE_ROUND)
    scheduled(plan)
    fire(plan.pk, at("2026-03-11T01:30"))
    finish(plan)
    Execution.objects.update(state="running")
    firing = fire(plan.pk, at("2026-03-12T01:30"))
    assert firing is not None
    assert (firing.outcome, firing.reason[-17:]) == ("skipped", "is still running.")


@pytest.mark.slow
def test_a_clock_that_is_set_back_carries_nothing_out_twice_and_leaves_nothing_out(
    write_plan: WritePlan, clock: Clock
) -> None:
    plan = write_plan(stopping=ONE_ROUND)
    scheduled(plan)
    assert fire(plan.pk, at("2026-03-11T01:35"))
    finish(plan)
    back = at("2026-03-11T00:35")
    assert PlanSchedule.objects.due(back).exists(), "considered in the future"
    assert fire(plan.pk, back) is None
    assert PlanSchedule.objects.get(plan=plan).next_at == at("2026-03-11T01:30")
    assert fire(plan.pk, at("2026-03-11T01:31")) is None, "it was carried out"
    assert fire(plan.pk, at("2026-03-12T01:30")).outcome == "started"
    finish(plan)
    clock.now = at("2026-03-12T00:40")
    set_schedule(plan, NIGHTLY, actor="eve")
    assert fire(plan.pk, at("2026-03-12T01:30")) is None
    assert PlanSchedule.objects.get(plan=plan).next_at == at("2026-03-13T01:30")
    assert ScheduleFiring.objects.count() == 2


def test_a_clock_that_was_a_month_ahead_does_not_silence_a_schedule(write_plan: WritePlan) -> None:
    plan = write_plan(stopping=ONE_ROUND)
    scheduled(plan)
    assert fire(plan.pk, at("2026-04-11T01:35"))
    finish(plan)
    assert fire(plan.pk, at("2026-03-11T12:00")) is None
    assert fire(plan.pk, at("2026-03-12T01:30")).outcome == "started"


def test_a_zone_that_the_server_does_not_know_any_more_pauses_the_schedule_and_says_so(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    plan = write_plan()
    scheduled(plan)
    PlanSchedule.objects.update(time_zone="Mars/Olympus")
    page = sign_in("engineer").get(f"/plans/{plan.pk}/").content.decode()
    assert "This server cannot tell when it is due." in page
    assert "Mars/Olympus" in page
    firing = fire(plan.pk, at("2026-03-11T01:30"))
    assert firing is not None
    assert (firing.outcome, firing.due_at) == ("failed", at("2026-03-11T01:30"))
    assert "'Mars/Olympus'" in firing.reason
    assert PlanSchedule.objects.get(plan=plan).is_paused
    assert fire(plan.pk, at("2026-03-12T01:30")) is None
    with pytest.raises(ExecutionError, match="Change it"):
        resume_schedule(plan, actor="eve")
    changed = set_schedule(plan, NIGHTLY, actor="eve")
    assert (changed.is_paused, changed.next_at) == (True, None)
    assert resume_schedule(plan, actor="eve").next_at > timezone.now()


def test_a_paused_schedule_that_is_changed_stays_paused_and_keeps_its_reason(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    plan = write_plan()
    set_schedule(plan, NIGHTLY, actor="eve")
    pause_schedule(plan, actor="eve")
    PlanSchedule.objects.update(reason="Three runs in a row have failed.")
    answer = sign_in("engineer").post(
        f"/plans/{plan.pk}/schedule/", {"kind": "nightly", "at": "04:15", "time_zone": "UTC", "retries": 1}, follow=True
    )
    assert "once its schedule is resumed, which is paused." in answer.content.decode()
    schedule = PlanSchedule.objects.get(plan=plan)
    assert (schedule.is_paused, schedule.next_at, schedule.cron) == (True, None, "15 4 * * *")
    assert schedule.reason == "Three runs in a row have failed."
    assert fire(plan.pk, timezone.now() + timedelta(days=2)) is None
    assert resume_schedule(plan, actor="eve").next_at > timezone.now()


ZONES = ("Europe/Rome", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Nuuk", "UTC")


@pytest.mark.parametrize("start", ["2026-03-05T12:00", "2026-03-26T12:00", "2026-10-01T12:00", "2026-10-23T12:00"])
def test_whatever_is_done_to_a_schedule_no_due_time_is_left_without_a_word(
    write_plan: WritePlan, clock: Clock, start: str
) -> None:
    """Over days in which clocks change: looks, a stopped scheduler, pauses, other times and other zones, at random."""
    draw = random.Random(start)
    plan = write_plan()
    clock.now = at(start)
    schedule = set_schedule(plan, NIGHTLY, actor="eve")
    expected: set[datetime] = set()
    for _ in range(60):
        before = clock.now
        clock.now += timedelta(minutes=draw.choice((1, 20, 45, 300, 1500, 4000)))
        expected |= set(takewhile(lambda due: due <= clock.now, recurrence_of(schedule).after(before)))
        act = draw.choice(("look", "look", "look", "change", "pause", "finish"))
        if act == "look":
            fire(plan.pk, clock.now)
        elif act == "change":
            kind = draw.choice(("nightly", "weekly"))
            wanted = ScheduleRequest(
                kind, draw.choice(ZONES), at=time(draw.randrange(24), draw.choice((0, 15, 30))), weekdays=[0, 6]
            )
            schedule = set_schedule(plan, wanted, actor="eve")
        elif act == "pause":
            (resume_schedule if PlanSchedule.objects.get().is_paused else pause_schedule)(plan, actor="eve")
        else:
            Execution.objects.update(state="done")
    remove_schedule(plan, actor="eve")
    firings = list(ScheduleFiring.objects.filter(plan=plan))
    assert {firing.due_at for firing in firings} <= expected
    assert sum(1 + firing.missed for firing in firings) == len(expected)
    assert all(firing.reason for firing in firings if firing.outcome != "started")
    assert {firing.outcome for firing in firings} == {"started", "skipped"}


def test_a_copy_that_cannot_be_started_is_a_failed_firing_and_leaves_no_plan(write_plan: WritePlan) -> None:
    plan = write_plan(points=[{"name": "dd", "tool": "dd", "operations": ["write"]}])
    scheduled(plan)
    firing = fire(plan.pk, at("2026-03-11T01:30"))
    assert firing is not None
    assert (firing.outcome, firing.started_plan) == ("failed", None)
    assert "No cell can be started" in firing.reason
    assert Plan.objects.count() == 1


def test_the_task_fires_what_is_due_in_every_lab_and_goes_past_what_fails(
    write_plan: WritePlan, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, other = write_plan(), write_plan(name="other", title="Other")
    for one in (plan, other):
        scheduled(one)
    real = fire

    def broken(plan_id: int, now: datetime) -> ScheduleFiring | None:
        if plan_id == plan.pk:
            raise RuntimeError("the disk is full")
        return real(plan_id, now)

    monkeypatch.setattr("apps.plans.tasks.fire", broken)
    assert fire_schedules() == 1
    monkeypatch.setattr("apps.plans.tasks.fire", real)
    assert fire_schedules() == 1, "tried again"
    with all_labs():
        assert set(ScheduleFiring.objects.values_list("plan_id", flat=True)) == {plan.pk, other.pk}
        assert set(Execution.objects.values_list("started_by", flat=True)) == {
            "schedule of Reading",
            "schedule of Other",
        }


@for_each(
    "wanted, field",
    [
        (ScheduleRequest("hourly", "UTC"), "kind"),
        (ScheduleRequest("nightly", "UTC"), "at"),
        (ScheduleRequest("weekly", "UTC", at=time(2, 30)), "weekdays"),
        (ScheduleRequest("weekly", "UTC", at=time(2, 30), weekdays=[7]), "weekdays"),
        (ScheduleRequest("cron", "UTC", cron="*/5 * * * *"), "cron"),
        (ScheduleRequest("cron", "UTC", cron=""), "cron"),
        (ScheduleRequest("nightly", "Rome", at=time(2, 30)), "time_zone"),
        (ScheduleRequest("nightly", "UTC", at=time(2, 30), retries=99), "retries"),
    ],
    taken_back=True,
)
def test_what_is_no_schedule_is_refused_by_its_field(
    write_plan: WritePlan, wanted: ScheduleRequest, field: str
) -> None:
    with pytest.raises(RecurrenceError) as refused:
        set_schedule(write_plan(), wanted, actor="eve")
    assert refused.value.field == field
    assert not PlanSchedule.objects.exists()


def test_the_copy_of_a_schedule_has_none_of_its_own(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    firing = fire(plan.pk, at("2026-03-11T01:30"))
    with pytest.raises(ExecutionError, match="one run of a schedule"):
        set_schedule(firing.started_plan, NIGHTLY, actor="eve")


def test_words(write_plan: WritePlan) -> None:
    plan = write_plan()
    for wanted, words in (
        (NIGHTLY, "every day at 02:30, Europe/Rome"),
        (ScheduleRequest("weekly", "UTC", at=time(22, 5), weekdays=[6, 1]), "Monday, Saturday at 22:05, UTC"),
        (ScheduleRequest("cron", "UTC", cron="0 3  1 * *"), "0 3 1 * * (cron), UTC"),
    ):
        assert words_of(set_schedule(plan, wanted, actor="eve")) == words


def test_by_page(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    client, address = sign_in("engineer"), f"/plans/{plan.pk}/schedule/"
    assert "Europe/Rome" in client.get(address).content.decode()
    wanted = {"kind": "weekly", "at": "02:30", "weekdays": ["1", "3"], "time_zone": "Europe/Rome", "retries": "1"}
    wrong = client.post(address, {**wanted, "at": ""})
    assert (wrong.status_code, "Expected a time such as 02:30" in wrong.content.decode()) == (422, True)
    assert client.post(address, wanted).status_code == 302
    text = client.get(f"/plans/{plan.pk}/").content.decode()
    assert "Monday, Wednesday at 02:30, Europe/Rome" in text
    assert text.count('class="plan-due"') == 3
    assert "02:30 CE" in text
    scheduled(plan)
    fire(plan.pk, at("2026-03-13T09:10"))
    text = client.get(f"/plans/{plan.pk}/").content.decode()
    assert "Fri 02:30 CET" in text, "the firing by the clock of the zone"
    assert "7 h 40 min after it was due" in text
    assert "2 earlier due times that were missed" in text
    copy = ScheduleFiring.objects.get().started_plan
    assert "by its schedule" in client.get(f"/plans/{copy.pk}/").content.decode()
    listed = client.get("/plans/").content.decode()
    assert f'href="/plans/{plan.pk}/"' in listed
    assert f'href="/plans/{copy.pk}/"' not in listed, "the copies are on the page of their plan"
    assert client.post(f"{address}pause/").status_code == 302
    assert "Resume the schedule" in client.get(f"/plans/{plan.pk}/").content.decode()
    client.post(f"{address}resume/")
    client.post(f"{address}remove/")
    assert not PlanSchedule.objects.exists()
    assert ScheduleFiring.objects.filter(outcome="started").count() == 1, "past firings stay"
    acts = set(AuditEvent.objects.filter(act__startswith="plan schedule").values_list("act", flat=True))
    assert acts == {"plan schedule set", "plan schedule paused", "plan schedule resumed", "plan schedule removed"}


def test_the_page_says_in_words_when_it_is_next_due_and_what_the_clock_does_then(
    write_plan: WritePlan, sign_in: SignIn, clock: Clock
) -> None:
    plan = write_plan()
    client = sign_in("viewer")

    def text() -> str:
        return client.get(f"/plans/{plan.pk}/").content.decode()

    clock.now = at("2026-03-28T12:00")
    set_schedule(plan, NIGHTLY, actor="eve")
    moved = "Sun 2026-03-29 03:30 CEST (02:30 does not exist that day: the clock goes forward) = 01:30 UTC, Europe/Rome"
    assert moved in text()
    assert "Mon 2026-03-30 02:30 CEST" in text()
    clock.now = at("2026-10-24T12:00")
    set_schedule(plan, NIGHTLY, actor="eve")
    twice = "Sun 2026-10-25 02:30 CEST (the first of two that day: the clock goes back) = 00:30 UTC, Europe/Rome"
    assert twice in text()
    assert "Not carried out yet" not in text()
    clock.now = at("2026-10-27T09:00")
    late = text()
    assert "Not carried out yet" in late
    assert "it was due Sun 2026-10-25 02:30 CEST" in late


def test_viewers_read_and_strangers_find_nothing(write_plan: WritePlan, sign_in: SignIn, cast: Cast) -> None:
    plan = write_plan()
    scheduled(plan)
    viewer = sign_in("viewer")
    text = viewer.get(f"/plans/{plan.pk}/").content.decode()
    assert "Every day at 02:30, Europe/Rome" in text
    assert "Pause the schedule" not in text
    assert viewer.post(f"/plans/{plan.pk}/schedule/pause/").status_code == 403
    assert viewer.get(f"/plans/{plan.pk}/schedule/").status_code == 403
    stranger = sign_in("stranger")
    assert stranger.post(f"/plans/{plan.pk}/schedule/pause/").status_code == 404
    with lab_scope(cast.lab.pk):
        assert not PlanSchedule.objects.get().is_paused


def test_by_rest(write_plan: WritePlan, script: Scripts) -> None:
    plan = write_plan()
    client, address = script("run"), f"plans/{plan.pk}/schedule/"
    assert client.get(address).status_code == 404
    wanted = {"kind": "nightly", "at": "02:30", "time_zone": "Europe/Rome", "retries": 1}
    assert script("read")("PUT", address, wanted).status_code == 403
    for wrong, field in (
        ({**wanted, "time_zone": "Rome"}, "time_zone"),
        ({"kind": "cron", "cron": "x", "time_zone": "UTC"}, "cron"),
    ):
        refused = client("PUT", address, wrong)
        assert (refused.status_code, refused.json()["field"]) == (400, field)
    made = client("PUT", address, wanted)
    assert made.status_code == 200, made.content
    assert (made.json()["cron"], len(made.json()["next_times"])) == ("30 2 * * *", 3)
    scheduled(plan)
    fire(plan.pk, at("2026-03-11T01:30"))
    [firing] = client.get(address).json()["firings"]
    assert (firing["outcome"], firing["started_plan"] is not None) == ("started", True)
    assert client("POST", f"{address}pause/", {}).json()["is_paused"] is True
    assert client("POST", f"{address}pause/", {}).status_code == 409
    assert client("POST", f"{address}resume/", {}).json()["is_paused"] is False
    assert client("DELETE", address).status_code == 204
    assert client("DELETE", address).status_code == 409
    assert Host.objects.count() == 2


def fail_all(plan: Plan) -> Execution:
    """Let the runs of a plan fail until it has paused itself."""
    for _ in range(6):
        advance_all(plan)
        Run.objects.open().update(problem="The disk is full.")
        end_all("failed")
        execution = Execution.objects.get(plan=plan)
        if not execution.is_running:
            break
    return execution


@pytest.fixture
def channel(cast: Cast) -> Any:
    with lab_scope(cast.lab.pk):
        return Destination.objects.create(
            lab=cast.lab, kind="webhook", name="ops", address="https://example.org/hook", created_by="owner"
        )


def test_a_run_that_pauses_itself_is_told_and_the_next_night_starts_anew(
    write_plan: WritePlan, channel: Destination, sign_in: SignIn
) -> None:
    plan = write_plan()
    set_schedule(plan, replace(NIGHTLY, recipients=[channel.pk]), actor="eve")
    scheduled(plan)
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    stopped = fail_all(first.started_plan)
    assert (stopped.state, stopped.has_paused_itself) == ("paused", True)
    told = Delivery.objects.get()
    assert (told.destination, told.payload["event"]) == (channel, "scheduled-run-paused")
    assert "The disk is full." in told.payload["text"]
    assert messages.subject(told.payload) == "Spindle: Reading, 2026-03-11 02:30 has paused itself"
    assert f"/plans/{first.started_plan_id}/" in messages.text(told.payload)
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "The last run is paused after failures: Reading, 2026-03-11 02:30." in text
    assert "The next due time ends it, with what it measured, and starts a new run." in text
    assert "Notified when a run pauses itself or is not started: ops." in text

    second = fire(plan.pk, at("2026-03-12T01:30"))
    assert second is not None
    assert (second.outcome, second.reason) == (
        "started", "Reading, 2026-03-11 02:30 had paused itself after failures, and was ended.",
    )  # fmt: skip
    stopped.refresh_from_db()
    assert stopped.state == "cancelled"
    assert stopped.reason.startswith("The schedule ended this run when the next one was due: it had paused itself.")
    assert Execution.objects.get(plan=second.started_plan).is_running
    assert Delivery.objects.count() == 1


def test_what_a_person_paused_holds_the_nights_up_and_is_told_once(
    write_plan: WritePlan, channel: Destination, sign_in: SignIn
) -> None:
    plan = write_plan()
    set_schedule(plan, replace(NIGHTLY, recipients=[channel.pk]), actor="eve")
    scheduled(plan)
    PlanSchedule.objects.update(changed_at=at("2026-03-10T12:00"))
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    services.pause_plan(first.started_plan, actor="eve")
    assert not Delivery.objects.exists(), "eve knows"
    for night in (12, 13, 14):
        assert fire(plan.pk, at(f"2026-03-{night}T01:30")).outcome == "skipped"
    told = Delivery.objects.get()
    assert told.payload["event"] == "schedule-not-started"
    assert told.payload["text"].endswith("is still paused. Paused by eve.")
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "Due times are skipped until it is resumed or cancelled." in text
    services.cancel_plan(first.started_plan, actor="eve")
    assert fire(plan.pk, at("2026-03-15T01:30")).outcome == "started"
    assert fire(plan.pk, at("2026-03-16T01:30")).outcome == "skipped"
    assert Delivery.objects.count() == 2, "it had gone on in between"
    PlanSchedule.objects.update(changed_at=at("2026-03-16T12:00"))
    assert fire(plan.pk, at("2026-03-17T01:30")).outcome == "skipped"
    assert Delivery.objects.count() == 3, "somebody had resumed the schedule in between"


def test_a_skip_is_told_also_after_due_times_that_a_person_left_out(
    write_plan: WritePlan, channel: Destination
) -> None:
    plan = write_plan()
    set_schedule(plan, replace(NIGHTLY, recipients=[channel.pk]), actor="eve")
    scheduled(plan)
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    services.pause_plan(first.started_plan, actor="eve")
    ScheduleFiring.objects.create(
        plan=plan, due_at=at("2026-03-11T12:00"), outcome="skipped", reason="eve had paused the schedule.",
        is_left_out=True,
    )  # fmt: skip
    assert fire(plan.pk, at("2026-03-12T01:30")).outcome == "skipped"
    assert Delivery.objects.count() == 1


def test_one_that_has_paused_itself_while_a_run_of_it_goes_on_holds_the_night_up(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    first = fire(plan.pk, at("2026-03-11T01:30"))
    assert first is not None
    advance_all(first.started_plan)
    services.pause_plan(first.started_plan, actor="plan Reading", reason="It failed.", by_itself=True)
    assert fire(plan.pk, at("2026-03-12T01:30")).outcome == "skipped"
    end_all()
    assert fire(plan.pk, at("2026-03-13T01:30")).outcome == "started"


def test_recipients_are_chosen_on_the_page_and_by_rest(
    write_plan: WritePlan, channel: Destination, sign_in: SignIn, script: Scripts, cast: Cast
) -> None:
    plan = write_plan()
    engineer, address = sign_in("engineer"), f"/plans/{plan.pk}/schedule/"
    page = engineer.get(address).content.decode()
    box = page.partition('name="recipients"')[2].partition(">")[0]
    assert f'value="{channel.pk}"' in box
    assert "checked" in box, "all are, at first"
    wanted = {"kind": "nightly", "at": "02:30", "time_zone": "Europe/Rome", "retries": "1"}
    assert engineer.post(address, {**wanted, "recipients": [str(channel.pk)]}).status_code == 302
    client = script("run")
    read = client.get(f"plans/{plan.pk}/schedule/").json()
    assert read["recipients"] == [{"id": channel.pk, "name": "ops"}]
    body = {"kind": "nightly", "at": "03:30", "time_zone": "UTC"}
    assert client("PUT", f"plans/{plan.pk}/schedule/", body).json()["recipients"] == read["recipients"], "as before"
    assert client("PUT", f"plans/{plan.pk}/schedule/", {**body, "recipients": []}).json()["recipients"] == []
    assert "is not started: nobody, and only this page says it." in page_text(
        engineer.get(f"/plans/{plan.pk}/").content.decode()
    )
    with lab_scope(cast.other_lab.pk):
        theirs = Destination.objects.create(
            lab=cast.other_lab, kind="webhook", name="x", address="https://example.org/x", created_by="s"
        )
    refused = client("PUT", f"plans/{plan.pk}/schedule/", {**body, "recipients": [theirs.pk]})
    assert (refused.status_code, refused.json()["field"]) == (400, "recipients")
