"""A plan that searches for saturation: hosts that answer as a known disk does, one point after another."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.comparison.charts.picture import render
from apps.inventory.models import Target
from apps.parsers.core.models import ParsedSample
from apps.plans import services
from apps.plans.forms import NewPlanForm
from apps.plans.models import Execution
from apps.plans.results.charts import saturation_chart
from apps.plans.tasks import run_ended
from apps.runs.models import Run, Sample
from apps.runs.samples import save_samples
from apps.runs.states import State
from apps.studies.models import Plan, Study
from apps.studies.plans.forms import PlanForm
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.services import exclude_cell
from apps.studies.plans.stopping_rule import stopping_of
from tests.api.conftest import Script, script
from tests.plans.conftest import HOSTS, advance_all, steps_of

__all__ = ["script"]
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
SERVERS = {"alpha": 8, "beta": 2}  # of 1 ms each: 8,000 and 2,000 IOPS, and from there on latency = in flight ÷ IOPS


def answer(run: Run, hidden: float = 0) -> None:
    """Let a run end with what a disk of so many independent heads would give.

    `hidden`: the share of each I/O's time that passes while it is submitted, which completion latency leaves out.
    """
    assert run.workload
    job = run.workload.jobs[0]
    flight = job["iodepth"] * job["numjobs"]
    iops = 1000.0 * min(flight, SERVERS[run.host.name])
    sizes = {
        "file_size": job["file_size"], "block_size": job["block_size"], "threads": job["numjobs"],
        "iodepth": job["iodepth"],
    }  # fmt: skip
    latency = flight / iops * 1e9
    values = {"iops": iops, "bandwidth": iops * job["block_size"], "clat_p99": latency * (1 - hidden), "clat_p95": 1e6}
    values |= {"latency_p99": latency, "latency_p95": 1e6} if hidden else {}
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED, started_at=now, finished_at=now, facts={})
    save_samples(run, [ParsedSample(job["rw"], metric, value, **sizes) for metric, value in values.items()], None)
    run_ended(run.pk)


def drain(most: int = 40, **more: float) -> list[tuple[str, str, int]]:
    steps = []
    for _ in range(most):
        runs = list(Run.objects.open().select_related("workload", "host").order_by("pk"))
        if not runs:
            return steps
        steps += steps_of(runs)
        for run in runs:
            answer(run, **more)
    raise AssertionError(f"not over: {steps}")


def make(sign_in: SignIn, **changes: Any) -> Plan:
    form = {
        "title": "How far", "targets": list(Target.objects.values_list("pk", flat=True)), "preset": "saturation",
        "numjobs": "1", "iodepths": "1,2..64", "percentile": 99, "bound_ms": "1.5", "kind": "usual", "rounds": 5,
        "percent": 2, "order": "interleaved", "guards": [],
    }  # fmt: skip
    response = sign_in("engineer").post("/plans/new/", {**form, **changes})
    assert response.status_code == 302, response.content.decode()
    plan: Plan = Plan.objects.get()
    return plan


def page_of(plan: Plan) -> PlanPage:
    return PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study))


@pytest.mark.slow
@pytest.mark.usefixtures("study")
def test_each_target_is_searched_until_the_bound_is_passed(sign_in: SignIn, script: Scripts) -> None:
    plan = make(sign_in)
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert {step[1] for step in steps_of(Run.objects.open())} == {"depth-1-1-job"}, "the lightest load first"
    steps = drain()
    depths = {name: [step[1].split("-")[1] for step in steps if step[0].startswith(f"target-{pk}")] for pk, name in
              Target.objects.values_list("pk", "host__name")}  # fmt: skip
    assert depths == {"alpha": ["1", "2", "4", "8", "16"], "beta": ["1", "2", "4"]}, "nothing heavier is measured"
    assert Execution.objects.get(plan=plan).state == "done"
    alpha, beta = page_of(plan).ladders
    assert "Highest IOPS within p99 ≤ 1.50\u00a0ms: 8\u202f000 at depth 8 × 1 job." in alpha.statement
    assert "The next point, depth 16 × 1 job, gave p99 2.00\u00a0ms." in alpha.statement
    assert "2\u202f000 at depth 2 × 1 job" in beta.statement
    cells = {(cell.row.configuration.host.name, cell.point.iodepth): cell for cell in page_of(plan).cells}
    assert cells["alpha", 32].state == "not run"
    assert "p99 2.00\u00a0ms at depth 16 × 1 job is beyond the bound of 1.50\u00a0ms" in cells["alpha", 32].reason
    answered = script("read").get(f"plans/{plan.pk}/saturation/").json()
    first = answered["results"][0]
    assert (first["state"], first["best"], first["passed"], first["next"]) == (
        "passed", "depth-8-1-job", "depth-16-1-job", None,
    )  # fmt: skip
    assert [(point["iodepth"], point["iops"], point["latency"], point["is_within"]) for point in first["points"][2:6]] == [
        (4, 4000, 1e6, True), (8, 8000, 1e6, True), (16, 8000, 2e6, False), (32, None, None, None),
    ]  # fmt: skip
    assert [len(series["points"]) for series in answered["chart"]["series"]] == [5, 3]
    for form, beginning in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("csv", b"x,series")):
        picture = script("read").get(f"plans/{plan.pk}/saturation/?format={form}")
        assert (picture.status_code, picture.content[: len(beginning)]) == (200, beginning), form
    text = sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode()
    assert "8\u202f000 at depth 8 × 1 job" in text
    assert 'data-plan-chart="chart-saturation-data"' in text


@pytest.mark.usefixtures("study")
def test_time_that_the_submission_takes_counts(sign_in: SignIn, script: Scripts) -> None:
    """An asynchronous engine through the page cache, or a full queue: all waiting is in the submission."""
    plan = make(sign_in)
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    drain(hidden=0.99)
    alpha, beta = page_of(plan).ladders
    assert "8\u202f000 at depth 8 × 1 job. The next point, depth 16 × 1 job, gave p99 2.00\u00a0ms." in alpha.statement
    assert "2\u202f000 at depth 2 × 1 job. The next" in beta.statement


@pytest.mark.slow
@pytest.mark.usefixtures("study")
def test_a_lighter_load_that_gives_the_same_is_named(sign_in: SignIn, script: Scripts) -> None:
    plan = make(sign_in, bound_ms="9")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    drain()
    of_eight = Sample.objects.filter(run__host__name="alpha", run__workload__spec__jobs__0__iodepth=8)
    of_eight.filter(measure__metric="iops").update(value=7990)
    alpha, beta = page_of(plan).ladders
    assert (
        "Highest IOPS within p99 ≤ 9.00\u00a0ms: 8\u202f000 at depth 16 × 1 job. Depth 8 × 1 job already gives 7\u202f990,"
        in (alpha.statement)
    )
    assert "within 2\u00a0% of that, at p99 1.00\u00a0ms. " in alpha.statement
    assert (
        "2\u202f000 at depth 2 × 1 job. The first point beyond the bound, depth 32 × 1 job, gave p99" in beta.statement
    )
    first, second = script("read").get(f"plans/{plan.pk}/saturation/").json()["results"]
    assert (first["best"], first["lightest"]) == ("depth-16-1-job", "depth-8-1-job")
    assert (second["best"], second["lightest"]) == ("depth-2-1-job", "depth-2-1-job")


@pytest.mark.usefixtures("study")
def test_rounds_of_a_point_come_before_the_next_point_and_their_medians_count(sign_in: SignIn) -> None:
    plan = make(sign_in, kind="fixed", rounds=3, iodepths="1,2")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    steps = drain()
    of_beta = [(point.split("-")[1], number) for row, point, number in steps if row == steps[1][0]]
    assert of_beta[:4] == [("1", 1), ("1", 2), ("1", 3), ("2", 1)]
    assert "median of 3 rounds" in page_of(plan).ladders[0].statement


@pytest.mark.usefixtures("study")
def test_a_bound_that_is_never_passed_is_capped_and_says_so(sign_in: SignIn) -> None:
    plan = make(sign_in, iodepths="1,2,4", bound_ms="50", percentile=95)
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    drain()
    statement = page_of(plan).ladders[0].statement
    assert "The latency never passed the bound: capped at depth 4 × 1 job, p95 1.00\u00a0ms." in statement
    assert {cell.state for cell in page_of(plan).cells} == {"done"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the bound lies far above all marks, and its label has to be in the frame
        picture = render(saturation_chart(page_of(plan).ladders, "Saturation"), "png")
    assert picture.startswith(b"\x89PNG")


@pytest.mark.usefixtures("study")
def test_a_capped_search_says_that_heavier_points_were_left_out(sign_in: SignIn) -> None:
    plan = make(sign_in, iodepths="1,2,4,8,16", bound_ms="50")
    rows, points = list(plan.rows.all()), list(plan.points.all())
    for point in points[3:]:
        exclude_cell(plan, rows[0], point, "the host allows 4")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    drain()
    alpha, beta = page_of(plan).ladders
    assert "capped at depth 4 × 1 job, p99 1.00\u00a0ms. 2 heavier points were left out." in alpha.statement
    assert "left out" not in beta.statement


@pytest.mark.slow
@pytest.mark.usefixtures("study")
def test_a_failed_point_ends_the_search_until_it_is_retried(sign_in: SignIn) -> None:
    plan = make(sign_in, iodepths="1,2,4")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    for run in Run.objects.open():
        Run.objects.filter(pk=run.pk).update(state=State.FAILED, finished_at=timezone.now())
        run_ended(run.pk)
    assert not Run.objects.open().exists()
    assert "depth 1 × 1 job failed" in page_of(plan).ladders[0].statement
    services.retry_failed(plan, actor="eve")
    advance_all(plan)
    drain()
    assert "2\u202f000 at depth 2 × 1 job" in page_of(plan).ladders[1].statement


@pytest.mark.usefixtures("study")
def test_a_synchronous_engine_has_its_jobs_doubled_alone(sign_in: SignIn) -> None:
    plan = make(sign_in, iodepths="1", numjobs="1,2..8")
    points = list(plan.points.all())
    assert [(point.iodepth, point.threads, point.job["ioengine"]) for point in points] == [
        (1, jobs, "psync") for jobs in (1, 2, 4, 8)
    ]


@pytest.mark.usefixtures("study")
def test_a_bound_belongs_to_this_procedure_alone(sign_in: SignIn) -> None:
    form = {"title": "x", "targets": list(Target.objects.values_list("pk", flat=True)), "order": "interleaved", "percent": 2,
            "rounds": 2, "kind": "usual"}  # fmt: skip
    client = sign_in("engineer")
    for changes in ({"preset": "quick-check", "bound_ms": "5"}, {"preset": "saturation", "kind": "half_width"}):
        refused = client.post("/plans/new/", {**form, **changes})
        assert refused.status_code == 422
        assert "expected" in refused.content.decode()
    assert not Plan.objects.exists()


@pytest.mark.usefixtures("study")
def test_by_rest_the_bound_is_in_the_rule_and_the_edit_form_keeps_it(script: Scripts, sign_in: SignIn) -> None:
    targets = list(Target.objects.values_list("pk", flat=True))
    rule = {"kind": "saturation", "percentile": 95, "bound_ms": 2, "rounds": 2, "least_points": 3}
    wanted = {"title": "By script", "targets": targets, "preset": "saturation", "stopping": rule}
    made = script("run")("POST", "plans/", wanted)
    assert made.status_code == 201, made.content
    assert made.json()["stopping"] == rule
    assert script("read").get(f"plans/{made.json()['id']}/saturation/").json()["results"][0]["next"] == "depth-1-1-job"
    refused = script("run")("POST", "plans/", {**wanted, "stopping": {**rule, "percentile": 97}})
    assert (refused.status_code, "stopping.percentile" in refused.content.decode()) == (400, True)
    text = sign_in("engineer").get(f"/plans/{made.json()['id']}/edit/").content.decode()
    assert 'value="saturation" selected' in text
    assert 'value="95" selected' in text


@pytest.mark.usefixtures("study")
def test_both_forms_of_plans_have_the_same_fields_of_a_search(sign_in: SignIn, study: Study) -> None:
    names = ("percentile", "bound_ms", "least_points")
    for form in (NewPlanForm(study.lab), PlanForm()):
        fields = {name: form.fields[name] for name in names}
        assert [field.initial for field in fields.values()] == [99, None, None]
        assert fields["bound_ms"].help_text == "for saturation; empty: 5"
    assert list(PlanForm().fields)[:4] == ["title", "order", "seed", "kind"], "its order is that of a plan"
    targets = list(Target.objects.values_list("pk", flat=True))
    client = sign_in("engineer")
    client.post("/plans/new/", {"title": "Usual", "targets": targets, "preset": "saturation", "kind": "usual", "rounds": 1,
                                "percent": 2, "order": "interleaved"})  # fmt: skip
    by_preset = Plan.objects.get().stopping
    assert by_preset == stopping_of({"kind": "saturation"}).data
    plan = PlanForm({"title": "Usual", "order": "interleaved", "kind": "saturation", "rounds": "1"})
    assert plan.is_valid(), plan.errors
    assert stopping_of(plan.data_of({})["stopping"]).data == by_preset


def test_a_plan_with_another_rule_has_nothing_to_draw(
    write_plan: Callable[..., Plan], script: Scripts, study: Study
) -> None:
    plan = write_plan()
    client = script("read")
    assert client.get(f"plans/{plan.pk}/saturation/").json()["results"] == []
    assert client.get(f"plans/{plan.pk}/saturation/?format=svg").status_code == 404
    assert client.get(f"plans/{plan.pk}/steady-state/").json()["results"] == []
    assert client.get(f"plans/{plan.pk}/steady-state/?format=svg").status_code == 404
    assert len(HOSTS) == plan.rows.count()
