"""Acts on plans with a database that commits: each is a transaction of its own, whole or not at all."""

from collections.abc import Callable, Iterator

import pytest

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Configuration, Plan, PlanCell, PlannedRun, Study
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.schema import plan_of
from apps.studies.plans.services import set_cell
from tests.conftest import Cast
from tests.plans.conftest import GIB, HOSTS, advance_all, end, written

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def plan(cast: Cast) -> Iterator[Plan]:
    with lab_scope(cast.lab.pk):
        study = Study.objects.create(lab=cast.lab, slug="disks", title="Disks")
        for name in HOSTS:
            host = Host.objects.create(lab=cast.lab, name=name, ram_bytes=GIB)
            target = Target.objects.create(lab=cast.lab, host=host, name="data", path="/data", is_agents_own=True)
            Configuration.objects.create(study=study, name=name, label=name, host=host, target=target)
        rule = {"kind": "fixed", "rounds": 1}
        yield save_plan(study, plan_of(written(stopping=rule)), actor="me", position=0)[0]


def test_every_act_commits(plan: Plan) -> None:
    row, point = plan.rows.get(name="beta"), plan.points.get(name="large")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    services.pause_plan(plan, actor="eve")
    services.resume_plan(plan, actor="eve")
    set_cell(plan, row, point, actor="eve", reason="Takes too long.")
    end(Run.objects.open().get(host__name="alpha"), State.FAILED)
    assert services.retry_failed(plan, actor="eve") == 1
    services.add_repetitions(plan, 1, actor="eve")
    services.cancel_plan(plan, actor="eve")
    assert Execution.objects.get().state == "cancelled"
    assert not Run.objects.open().exists()
    assert AuditEvent.objects.filter(who="eve", act__startswith="plan ").count() == 7


def fail(*_: object, **__: object) -> None:
    raise ConnectionError("the database went away")


@pytest.mark.parametrize("act", ["start", "pause", "resume", "skip", "retry", "add", "cancel"])
def test_an_act_that_fails_at_its_end_has_changed_nothing(
    plan: Plan, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, point = plan.rows.get(name="beta"), plan.points.get(name="large")
    if act != "start":
        services.start_plan(plan, actor="eve")
        advance_all(plan)
    if act == "resume":
        services.pause_plan(plan, actor="eve")
    if act == "retry":
        end(Run.objects.open().get(host__name="alpha"), State.FAILED)

    def all_of_it() -> tuple[object, ...]:
        executions = list(Execution.objects.values_list("state", "reason", "resumed_at"))
        planned = list(PlannedRun.objects.order_by("pk").values_list("pk", "is_retried"))
        cells = list(PlanCell.objects.values_list("row", "point", "reason"))
        states = list(Run.objects.order_by("pk").values_list("pk", "state"))
        rule = Plan.objects.get(pk=plan.pk).stopping
        return executions, planned, cells, states, rule, AuditEvent.objects.count()

    acts: dict[str, Callable[[], object]] = {
        "start": lambda: services.start_plan(plan, actor="eve"),
        "pause": lambda: services.pause_plan(plan, actor="eve"),
        "resume": lambda: services.resume_plan(plan, actor="eve"),
        "skip": lambda: set_cell(plan, row, point, actor="eve", reason="Takes too long."),
        "retry": lambda: services.retry_failed(plan, actor="eve"),
        "add": lambda: services.add_repetitions(plan, 2, actor="eve"),
        "cancel": lambda: services.cancel_plan(plan, actor="eve"),
    }
    before = all_of_it()
    if act == "skip":
        monkeypatch.setattr("apps.studies.plans.services.advance_hosts_on_commit", fail)
    else:
        monkeypatch.setattr(services, "cancel_run" if act == "cancel" else "record_act", fail)
    with pytest.raises(ConnectionError):
        acts[act]()
    assert all_of_it() == before
