"""Schedules of plans: each due time makes a copy and starts it, once, and says what became of it."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent
from apps.plans import services
from apps.plans.models import Execution, PlanSchedule, ScheduleFiring
from apps.plans.schedules.recurrence import RecurrenceError
from apps.plans.schedules.services import (
    PARTS,
    ScheduleRequest,
    fire,
    next_times,
    pause_schedule,
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
from tests.plans.conftest import advance_all, end_all

__all__ = ["script"]
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
NIGHTLY = ScheduleRequest("nightly", "Europe/Rome", at=time(2, 30))
DAY = timedelta(days=1)
NOT_PARTS = {Plan, Execution, PlanSchedule, ScheduleFiring}


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
    for _ in range(30):
        for firing in ScheduleFiring.objects.filter(plan=plan).exclude(started_plan=None):
            advance_all(firing.started_plan)
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


def test_each_night_has_its_own_runs_on_the_same_targets_and_workloads(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    for night in range(3):
        assert fire(plan.pk, at("2026-03-11T01:30") + night * DAY)
        finish(plan)
    copies = [firing.started_plan_id for firing in ScheduleFiring.objects.filter(plan=plan)]
    runs = {copy: Run.objects.filter(planned_run__row__plan=copy) for copy in copies}
    assert [found.count() for found in runs.values()] == [8, 8, 8]
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
    assert third.reason.endswith("is still paused.")
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


def test_a_paused_schedule_rests_and_makes_nothing_up(write_plan: WritePlan) -> None:
    plan = write_plan()
    scheduled(plan)
    pause_schedule(plan, actor="eve")
    assert fire(plan.pk, at("2026-03-12T01:30")) is None
    assert next_times(PlanSchedule.objects.get(plan=plan)) == []
    schedule = resume_schedule(plan, actor="eve")
    assert schedule.next_at > timezone.now()
    assert fire(plan.pk, timezone.now()) is None
    assert not ScheduleFiring.objects.exists()


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


@pytest.mark.parametrize(
    ("wanted", "field"),
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
    assert ScheduleFiring.objects.count() == 1, "past firings stay"
    acts = set(AuditEvent.objects.filter(act__startswith="plan schedule").values_list("act", flat=True))
    assert acts == {"plan schedule set", "plan schedule paused", "plan schedule resumed", "plan schedule removed"}


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
