from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.plans.tasks import advance_host, run_ended
from apps.runs.models import Attempt, Run
from apps.runs.samples import save_samples
from apps.runs.states import State
from apps.studies.models import Configuration, Plan, PlannedRun, Study
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.schema import plan_of

MIB, GIB = 1 << 20, 1 << 30
JOB = {"rw": "read", "direct": True, "sync": "none", "time_based": False}
HOSTS = ("alpha", "beta")
Step = tuple[str, str, int]  # configuration, point, round


def written(**changes: Any) -> dict[str, Any]:
    """Return a plan of two configurations on two hosts and two points, changed as asked."""
    plan: dict[str, Any] = {
        "name": "reading", "title": "Reading", "stopping": {"kind": "fixed", "rounds": 2},
        "configurations": [{"configuration": name} for name in HOSTS],
        "points": [
            {"name": "small", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB},
            {"name": "large", "tool": "fio", "file_size": 4 * GIB, "block_size": MIB, "job": JOB},
        ],
    }  # fmt: skip
    return {**plan, **changes}


@pytest.fixture
def study(lab: Lab) -> Study:
    study: Study = Study.objects.create(lab=lab, slug="disks", title="Disks")
    for at, name in enumerate(HOSTS):
        host = Host.objects.create(lab=lab, name=name, ram_bytes=GIB)
        target = Target.objects.create(lab=lab, host=host, name="data", path="/data", is_agents_own=True)
        Configuration.objects.create(study=study, name=name, label=name, host=host, target=target, position=at)
    return study


@pytest.fixture
def write_plan(study: Study) -> Callable[..., Plan]:
    def write(**changes: Any) -> Plan:
        return save_plan(study, plan_of(written(**changes)), actor="me", position=0)[0]

    return write


def host_id(name: str) -> int:
    return int(Host.objects.get(name=name).pk)


def advance_all(plan: Plan) -> list[str]:
    """Do what the tasks of all hosts would do now."""
    return [advance_host(plan.pk, host_id(name)) for name in HOSTS]


def steps_of(runs: Any) -> list[Step]:
    planned = PlannedRun.objects.filter(run__in=runs).select_related("row", "point").order_by("run_id")
    return [(entry.row.name, entry.point.name, entry.round) for entry in planned]


def answer(asked: dict[str, Any], outcome: str = "passed", **changes: Any) -> dict[str, Any]:
    """Return what a host's agent sends of one guard."""
    return {
        "guard": asked["guard"], "purpose": asked.get("purpose", ""), "outcome": outcome, "text": "as it was found",
        "figures": {}, "limits": {}, "is_required": asked["is_required"], "is_waiting": False,
        "checked_at": 1764180000.0, "waited_s": 0.0, "limit_s": asked["wait_s"], "tries": 1, **changes,
    }  # fmt: skip


def end(
    run: Run,
    state: str = State.FINISHED,
    *,
    value: float = 1e8,
    facts: dict[str, Any] | None = None,
    guards: list[dict[str, Any]] | None = None,
    is_started: bool = True,
) -> str:
    """Let a run end as its host and the worker that reads its result would, and do what follows.

    `guards`: what the host answered; without it that each guard holds. An empty list is an agent that is too old.
    """
    now = timezone.now()
    Attempt.objects.create(
        lab_id=run.lab_id, run=run, host_id=run.host_id, number=1, state=state, offered_at=now,
        started_at=now if is_started else None, guards=list(map(answer, run.guards)) if guards is None else guards,
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(
        state=state, started_at=now - timedelta(seconds=30) if is_started else None, finished_at=now, facts=facts or {}
    )
    if state == State.FINISHED:
        assert run.workload
        job = run.workload.jobs[0]
        sizes = {"file_size": job["file_size"], "block_size": job["block_size"], "threads": 1, "iodepth": 1}
        save_samples(run, [ParsedSample("read", "bandwidth", value, **sizes)], None)
    return run_ended(run.pk)


def end_all(state: str = State.FINISHED, **more: Any) -> list[Step]:
    """End every run that is queued now, and return their steps."""
    runs = list(Run.objects.open().select_related("workload").order_by("pk"))
    steps = steps_of(runs)
    for run in runs:
        end(run, state, **more)
    return steps
