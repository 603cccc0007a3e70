"""B2: what one step of a plan of 1,000 hosts × 10 points costs the worker, in processor time and statements."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.plans.plan_request import PlanRequest
from apps.plans.services import create_plan, start_plan
from apps.plans.steps import advance
from apps.runs.models import Run
from tests.benchmarks.figures import LONG, quantile, report
from tests.conftest import Cast

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db]
HOSTS, POINTS = (1000 if LONG else 200), 10
MEASURED = 20
JOB = {"rw": "read", "direct": True, "sync": "none", "time_based": False}


def test_b2_a_step_of_a_large_plan(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        hosts = Host.objects.bulk_create([Host(lab=cast.lab, name=f"host{n:04}") for n in range(HOSTS)])
        targets = Target.objects.bulk_create(
            [Target(lab=cast.lab, host=host, name="data", is_agents_own=True) for host in hosts]
        )
        points = [
            {"name": f"p{n}", "tool": "fio", "file_size": 1 << 30, "block_size": 4096 << n, "job": JOB}
            for n in range(POINTS)
        ]
        wanted = PlanRequest(cast.lab, "Large", targets, points, {"kind": "fixed", "rounds": 3})
        plan = create_plan(wanted, actor="benchmark")
        start_plan(plan, actor="benchmark")
        seconds, statements = [], []
        for host in hosts[:MEASURED]:
            begin = time.process_time()
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert advance(plan.pk, host.pk) == "started"
            seconds.append(time.process_time() - begin)
            statements.append(len(queries))
        assert Run.objects.open().count() == MEASURED
    what = f"a step of a plan of {HOSTS} hosts × {POINTS} points, processor time of the worker"
    report("B2", what, [1000 * entry for entry in seconds], "≤ 60 (1,000 hosts, a step each minute: one core)", "ms")
    assert len(set(statements[1:])) == 1, "the first one makes the workload"
    assert report("B2", "statements of a step", [float(quantile(statements, 0.5))], "constant", "") < 60
