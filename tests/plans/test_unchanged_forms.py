"""A form that is opened and sent as it is changes nothing that is stored, whatever units its inputs have."""

from collections.abc import Callable
from datetime import time
from typing import Any

import pytest
from django import forms
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from apps.core.forms import ScaledField, SiteForm, make_minutes_field
from apps.inventory.models import Disk, Host, Target
from apps.labs.models import Lab
from apps.notifications.models import Destination
from apps.plans import services
from apps.plans.models import Execution, PlanSchedule, Preparation
from apps.plans.preparations import KINDS
from apps.plans.presets import PRESETS
from apps.plans.schedules.services import ScheduleRequest, set_schedule
from apps.runs.host_guards import check_guards
from apps.runs.models import Run
from apps.runs.services import start_runs
from apps.studies.models import Guard, Plan, PlanCell, PlanConfiguration, PlanPoint
from tests.plans.conftest import GIB, JOB, MIB
from tests.plans.unchanged_forms import read_form, rows_of

SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
RULES: list[dict[str, Any]] = [
    {"kind": "fixed", "rounds": 7},
    {"kind": "half_width", "percent": 1.25, "confidence": 99.5, "at_least": 4, "at_most": 33},
    {"kind": "steady_state", "window": 7, "range_percent": 12.5, "slope_percent": 3.5, "at_most": 31},
    {"kind": "saturation", "percentile": 95, "bound_ms": 0.123, "rounds": 3, "least_points": 2},
]
GUARDS: list[dict[str, Any]] = [
    {"kind": "idle", "wait_s": 20, "load": 0.123, "note": "as the report has it"},
    {"kind": "users_out", "wait_s": 0.5, "is_required": False},
    {"kind": "cache_rule", "factor": 1 / 3, "tolerance": 0.35},
    {"kind": "space", "wait_s": 7201},
]
POINTS: list[dict[str, Any]] = [
    {"name": "odd", "tool": "fio", "file_size": GIB + 512, "block_size": 4608, "job": {**JOB, "runtime": 7,
     "time_based": True}},
    {"name": "third", "tool": "fio", "ram_multiple": 1 / 3, "block_size": MIB, "threads": 3, "job": JOB},
    {"name": "lists", "tool": "fio", "ram_multiple": 12.0, "block_size": MIB, "iodepth": 8,
     "job": {**JOB, "ioengine": "libaio", "rate": [1000001, 2000003]}},
]  # fmt: skip


def send_unchanged(client: Client, address: str, action: str = "", **buttons: str) -> None:
    page = client.get(address)
    assert page.status_code == 200
    answer = client.post(action or address, read_form(page.content.decode(), action, **buttons))
    assert answer.status_code == 302, [
        line for line in answer.content.decode().splitlines() if "form-error" in line or "note-error" in line
    ]


@given(
    st.sampled_from([(60, 1), (60, 0.001), (0.01, None), (1e6, None), (1, None)]),
    st.integers(0, 86_400) | st.floats(0, 1e9),
)
def test_a_number_is_shown_so_that_it_is_read_as_it_is_stored(unit: tuple[float, float | None], stored: float) -> None:
    scale, step = unit
    field = ScaledField(scale=scale, step=step)
    if step is not None:
        stored = round(stored / step) * step if step == 1 else round(stored, 3)
    shown = field.prepare_value(stored)
    assert field.clean(shown) == stored
    assert field.prepare_value(field.clean(shown)) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(20, "0.33"), (0, "0"), (1, "0.02"), (90, "1.5"), (3600, "60"), (86_399, "1439.98")]
)
def test_minutes_have_as_few_decimals_as_they_need(seconds: int, shown: str) -> None:
    assert make_minutes_field().prepare_value(seconds) == shown
    assert make_minutes_field().prepare_value("1,5") == "1,5", "what was typed stays as it is"


def contents(plan: Plan) -> dict[str, Any]:
    """Return all that a person wrote of a plan, and what its points ask fio for."""
    return {
        "plan": rows_of(Plan.objects.filter(pk=plan.pk)),
        **{
            model.__name__: rows_of(model.objects.filter(plan=plan).order_by("pk"), "row_id", "point_id")
            for model in (PlanConfiguration, PlanPoint, Guard, PlanCell)
        },
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["kind"])
def test_a_plan_that_is_edited_without_a_change_is_as_it_was(
    write_plan: WritePlan, sign_in: SignIn, rule: dict[str, Any]
) -> None:
    plan = write_plan(
        stopping=rule, points=POINTS, guards=GUARDS, order="randomized", seed=2**52 + 1, time_limit=8,
        notes="One line.\nAnd another one.",
        configurations=[
            {"configuration": "alpha", "largest_file_size": 6 * GIB + 1, "limit_reason": "the partition is full"},
            {"configuration": "beta"},
        ],
        cells=[{"row": "beta", "point": "odd", "reason": "too slow", "note": "see the log"}],
    )  # fmt: skip
    before = contents(plan)
    send_unchanged(sign_in("engineer"), f"/plans/{plan.pk}/edit/", act="save")
    assert contents(plan) == before


def test_a_cell_a_priority_and_the_start_are_sent_as_they_are(write_plan: WritePlan, sign_in: SignIn, lab: Lab) -> None:
    channel = Destination.objects.create(lab=lab, kind="webhook", name="x", address="https://x.org/", created_by="o")
    plan = write_plan(guards=[{"kind": "idle"}], cells=[{"row": "beta", "point": "large", "reason": "no", "note": "n"}])
    services.change_priority(plan, services.Priority.LOW, actor="eve")
    services.start_plan(plan, actor="eve", retries=3, guard_wait=20, guard_failure="again", recipients=[channel.pk])
    services.cancel_plan(plan, actor="eve")
    before, client = contents(plan), sign_in("engineer")
    send_unchanged(client, f"/plans/{plan.pk}/cell/?row=beta&point=large")
    send_unchanged(client, f"/plans/{plan.pk}/", f"/plans/{plan.pk}/priority/")
    send_unchanged(client, f"/plans/{plan.pk}/recipients/")
    send_unchanged(client, f"/plans/{plan.pk}/", f"/plans/{plan.pk}/start/")
    assert contents(plan) == before
    execution = Execution.objects.get()
    assert (execution.state, execution.retries, execution.guard_wait) == ("running", 3, 20)
    assert execution.guard_failure == "again"
    assert [entry.destination for entry in plan.recipients.all()] == [channel]


@pytest.mark.parametrize(
    "wanted",
    [
        ScheduleRequest("nightly", "Europe/Rome", at=time(2, 5), retries=4),
        ScheduleRequest("weekly", "Asia/Tokyo", at=time(23, 59), weekdays=[0, 3]),
        ScheduleRequest("cron", "UTC", cron="7 2-4 * * 1-5"),
    ],
    ids=lambda wanted: wanted.kind,
)
def test_a_schedule_is_sent_as_it_is(write_plan: WritePlan, sign_in: SignIn, lab: Lab, wanted: ScheduleRequest) -> None:
    for number in range(2):
        Destination.objects.create(
            lab=lab,
            kind="webhook",
            name=f"{number}",
            address=f"https://x.org/{number}",
            created_by="o",
            is_active=False,
        )
    plan = write_plan()
    set_schedule(plan, wanted, actor="eve")
    services.set_recipients(plan, [Destination.objects.latest("pk").pk])
    before = rows_of(PlanSchedule.objects.all(), "considered_at", "next_at")
    send_unchanged(sign_in("engineer"), f"/plans/{plan.pk}/schedule/")
    assert rows_of(PlanSchedule.objects.all(), "considered_at", "next_at") == before
    assert [entry.destination.name for entry in plan.recipients.all()] == ["1"]


def test_a_run_that_is_started_again_as_it_was_asks_for_the_same(sign_in: SignIn, study: Any, lab: Lab) -> None:
    job = {**JOB, "file_size": GIB + 512, "block_size": 4608, "runtime": 7, "time_based": True, "thinktime": 12_345,
           "rate": [1000001, 2000003], "bssplit": [[[4096, 60], [65536, 40]]]}  # fmt: skip
    [run] = start_runs(
        lab=lab, target=Target.objects.get(host__name="alpha"), spec={"jobs": [job, {**job, "stonewall": True}]},
        labels={"cable": "old, grey"}, note="One line.\nAnd another one.", time_limit=47, who="eve",
        guards=check_guards([{"kind": "idle", "wait_s": 20, "load": 0.123, "rate": 1234567}, {"kind": "users_out", "wait_s": 90}]),
    )  # fmt: skip
    client = sign_in("engineer")
    send_unchanged(client, f"/runs/new/?like={run.pk}", "", act="start", repetitions="1")
    new = Run.objects.exclude(pk=run.pk).latest("pk")
    assert new.workload == run.workload
    for name in ("target", "labels", "guards", "time_limit", "priority"):
        assert getattr(new, name) == getattr(run, name), name
    before = (new.labels, new.note)
    Run.objects.filter(pk=new.pk).update(note=run.note)
    send_unchanged(client, f"/runs/{new.pk}/", f"/runs/{new.pk}/describe/")
    new.refresh_from_db()
    assert (new.labels, new.note) == (before[0], run.note)


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset.guards], ids=lambda preset: preset.name)
def test_a_procedure_with_its_own_preparations_is_written_as_the_form_shows_it(
    sign_in: SignIn, study: Any, preset: Any
) -> None:
    client, address = sign_in("engineer"), f"/plans/new/?preset={preset.name}"
    sent = read_form(client.get(address).content.decode(), title="Mine", targets=str(Target.objects.first().pk))
    sent["title"] = ["Mine"]
    for kind in KINDS:
        sent[f"prepare-{kind.kind}-is_wanted"] = ["on"]
        needed = [parameter for parameter in kind.parameters if parameter.is_needed]
        sent |= {f"prepare-{kind.kind}-{parameter.name}": ["45"] for parameter in needed}
    answer = client.post(address, sent)
    assert answer.status_code == 302, answer.content.decode()[:2000]
    plan = Plan.objects.latest("pk")
    wanted = sorted((guard["kind"], {**guard, "kind": None, "is_required": None}) for guard in preset.guards)
    stored = sorted(
        (guard.kind, {**guard.parameters, "kind": None, "is_required": None}) for guard in plan.guards.all()
    )
    assert stored == [(kind, {"is_required": None, **numbers}) for kind, numbers in wanted]
    for preparation in Preparation.objects.filter(plan=plan):
        kind = next(kind for kind in KINDS if kind.kind == preparation.kind)
        usual = {
            parameter.name: 45 if parameter.is_needed else parameter.usual
            for parameter in kind.parameters
            if parameter.is_needed or parameter.usual is not None
        }
        assert preparation.parameters == usual, kind.kind
    assert Preparation.objects.filter(plan=plan).count() == len(KINDS)


def test_parts_of_the_inventory_are_saved_as_they_are(sign_in: SignIn, lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="odd", ram_bytes=16 * GIB + 512, notes="One line.\nAnd another one.")
    disk = Disk.objects.create(lab=lab, host=host, device_name="sda", capacity_bytes=250_059_350_016, rpm=7201)
    for kind, part in (("hosts", host), ("disks", disk)):
        model = type(part)
        before = rows_of(model.objects.filter(pk=part.pk), "sources", "absent", "updated_at")
        send_unchanged(sign_in("engineer"), f"/{kind}/{part.pk}/edit/")
        assert rows_of(model.objects.filter(pk=part.pk), "sources", "absent", "updated_at") == before


def test_lines_of_a_text_end_as_they_did() -> None:
    class Notes(SiteForm):
        notes = forms.CharField(widget=forms.Textarea)

    form = Notes({"notes": "a\r\nb\r\n"})
    assert form.is_valid()
    assert form.cleaned_data["notes"] == "a\nb"
