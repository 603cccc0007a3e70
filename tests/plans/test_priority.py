"""The priority of a plan: its runs have it, and a change reaches those that wait."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.inventory.models import Target
from apps.labs.models import AuditEvent
from apps.plans import services
from apps.plans.models import Preparation
from apps.plans.schedules.services import copy_plan
from apps.plans.services import ExecutionError
from apps.runs.models import Run
from apps.runs.states import Priority, State
from apps.studies.models import Plan, Study
from tests.api.conftest import Script, script
from tests.plans.conftest import advance_all, end, end_all

__all__ = ["script"]
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]


def priorities() -> set[int]:
    """Return the priorities of the runs that are open."""
    return set(Run.objects.open().values_list("priority", flat=True))


def test_a_change_reaches_runs_that_wait_and_those_to_come(write_plan: WritePlan) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert priorities() == {Priority.NORMAL}
    on_host = Run.objects.open().get(host__name="beta")
    Run.objects.filter(pk=on_host.pk).update(state=State.RUNNING)
    services.change_priority(plan, Priority.HIGH, actor="eve")
    assert {run.host.name: run.priority for run in Run.objects.open()} == {
        "alpha": Priority.HIGH, "beta": Priority.NORMAL,
    }, "one that its host has already goes first anyhow"  # fmt: skip
    end(on_host)
    end_all()
    advance_all(plan)
    assert Run.objects.open().count() == 2
    assert priorities() == {Priority.HIGH}
    event = AuditEvent.objects.get(act="plan priority changed")
    assert (event.who, event.detail["priority"]) == ("eve", "high")
    services.change_priority(plan, Priority.HIGH, actor="eve")
    assert AuditEvent.objects.filter(act="plan priority changed").count() == 1, "nothing was changed"


def test_runs_that_prepare_a_target_have_it_too(write_plan: WritePlan) -> None:
    plan = write_plan()
    Preparation.objects.create(plan=plan, kind="sequential_fill", parameters={"passes": 1})
    services.change_priority(plan, Priority.LOW, actor="eve")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert Run.objects.filter(preparation_run__isnull=False).count() == 2
    assert priorities() == {Priority.LOW}
    services.change_priority(plan, Priority.HIGH, actor="eve")
    assert priorities() == {Priority.HIGH}


def test_a_published_reports_plan_keeps_its_own(write_plan: WritePlan) -> None:
    plan = write_plan()
    Plan.objects.update(is_from_report=True)
    plan.refresh_from_db()
    with pytest.raises(ExecutionError, match="cannot be changed"):
        services.change_priority(plan, Priority.HIGH, actor="eve")


def test_every_field_of_a_plan_is_copied_or_is_the_copys_own(write_plan: WritePlan) -> None:
    """A new column of plans has to be in `copy_plan`, or a schedule would forget it."""
    own = {"id", "name", "title", "position", "changed_by", "changed_at", "is_from_report"}
    other = write_plan(name="other")
    plan = write_plan(order="randomized", seed=7, notes="as last year", are_means=True)
    Plan.objects.filter(pk=plan.pk).update(priority=Priority.LOW, repeats=other, question="raid_level")
    copy = copy_plan(plan, "Copy", actor="eve")
    plan, copy = Plan.objects.get(pk=plan.pk), Plan.objects.get(pk=copy.pk)
    copied = [field for field in Plan._meta.concrete_fields if field.name not in own]
    assert {field.name: field.value_from_object(copy) for field in copied} == {
        field.name: field.value_from_object(plan) for field in copied
    }
    same = [f.name for f in copied if f.has_default() and f.value_from_object(plan) == f.get_default()]
    assert same == [], "a field that has its default here would not be noticed"


def test_by_rest(script: Scripts, study: Study) -> None:
    call = script("run")
    body = {
        "title": "Depths", "targets": list(Target.objects.values_list("pk", flat=True)), "preset": "quick-check",
        "file_sizes": "1g",
    }  # fmt: skip
    assert call("POST", "plans/", body).json()["priority"] == "normal"
    made = call("POST", "plans/", {**body, "priority": "high"}).json()
    assert made["priority"] == "high"
    plan = Plan.objects.get(pk=made["id"])
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert priorities() == {Priority.HIGH}
    answer = call("PATCH", f"plans/{plan.pk}/", {"priority": "low"})
    assert (answer.status_code, answer.json()["priority"]) == (200, "low")
    assert priorities() == {Priority.LOW}
    refused = call("PATCH", f"plans/{plan.pk}/", {"priority": "urgent"})
    assert (refused.status_code, refused.json()["field"]) == (400, "priority")
    assert call("PATCH", f"plans/{plan.pk}/", {"title": "Other"}).status_code == 400, "what it does not take, it says"
    assert script("read")("PATCH", f"plans/{plan.pk}/", {"priority": "high"}).status_code == 403


def test_by_page(sign_in: SignIn, study: Study) -> None:
    client = sign_in("engineer")
    form = {
        "title": "Quick", "targets": list(Target.objects.values_list("pk", flat=True)), "preset": "quick-check", "kind": "usual",
        "rounds": 5, "percent": 2, "order": "interleaved", "priority": "low", "guards": [],
    }  # fmt: skip
    assert client.post("/plans/new/", form).status_code == 302
    plan = Plan.objects.get()
    address = f"/plans/{plan.pk}/"
    assert "· low priority" in client.get(address).content.decode()
    assert "<td>low</td>" in client.get("/plans/").content.decode()
    client.post(f"{address}start/", {"retries": "0"})
    advance_all(plan)
    text = client.post(f"{address}priority/", {"priority": "high"}, follow=True).content.decode()
    assert "Quick has high priority, and so have its runs that wait." in text
    assert "<option selected>high</option>" in text
    assert priorities() == {Priority.HIGH}
    wrong = client.post(f"{address}priority/", {"priority": "urgent"}, follow=True).content.decode()
    assert "expected one of high, normal, low" in wrong
    assert sign_in("viewer").post(f"{address}priority/", {"priority": "low"}).status_code == 403
    seen = sign_in("viewer").get(address).content.decode()
    assert "· high priority" in seen
    assert 'name="priority"' not in seen
