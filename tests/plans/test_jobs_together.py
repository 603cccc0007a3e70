"""Points of a plan whose jobs run at the same time: a reader beside a writer, two block sizes at once."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents.models import Agent
from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.plans import services
from apps.plans.estimates.plan_estimate import estimate_page
from apps.plans.execution_page import ExecutionPage, MatrixView
from apps.plans.grid.axes import find_shapes
from apps.plans.host_limits import find_largest_files, find_refused_cells
from apps.plans.models import Execution, load_plan
from apps.plans.schedules.services import copy_plan
from apps.plans.steps import _step_facts
from apps.plans.tasks import advance_host, run_ended
from apps.runs.models import Attempt, Run
from apps.runs.samples import save_samples
from apps.runs.services import start_runs
from apps.runs.start.saved_workloads import save_workload
from apps.runs.states import State
from apps.runs.workload import guess_seconds, planned_seconds
from apps.studies.models import Plan, StudyRun
from apps.studies.plans.cell_values import add_up
from apps.studies.plans.plan_page import CELL_METRICS, PlanPage, PlanPageCell, difference_text
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.run_intake import fitting_runs
from apps.wiki.documents.procedure import Procedure, procedure_of
from tests.api.conftest import Script, script
from tests.page_text import page_text
from tests.plans.test_option_lists import TypedInputs, typed
from tests.sampling import for_each

__all__ = ["script"]
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BESIDE = """[global]
direct=1
ioengine=libaio
runtime=20
time_based
[reader]
rw=randread
bs=4k
size=1g
iodepth=16
[writer]
rw=write
bs=1m
size=512m
[alone]
stonewall
rw=read
bs=64k
size=1g
"""
TWO_SIZES = (
    BESIDE.partition("[reader]")[0] + "[small]\nrw=randread\nbs=4k\nsize=1g\n[large]\nrw=randread\nbs=64k\nsize=1g\n"
)
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
pytestmark = pytest.mark.django_db


@pytest.fixture
def target(lab: Lab) -> Target:
    host = Host.objects.create(lab=lab, name="alpha", ram_bytes=GIB)
    target: Target = Target.objects.create(lab=lab, host=host, name="data", path="/data", is_agents_own=True)
    return target


def body(target: Target, **changes: Any) -> dict[str, Any]:
    given = {"title": "Together", "targets": [target.pk], "job_file": BESIDE, **changes}
    return {name: value for name, value in given.items() if value is not None}


def make(client: Script, wanted: dict[str, Any]) -> Plan:
    answer = client("POST", "plans/", wanted)
    assert answer.status_code == 201, answer.content
    return load_plan(answer.json()["id"])


def labels_of(plan: Plan) -> list[str]:
    return [point.label.replace("\N{NO-BREAK SPACE}", " ") for point in plan.points.all()]


def page_of(plan: Plan) -> PlanPage:
    loaded = load_plan(plan.pk)
    return PlanPage(loaded, runs_of(loaded.study, plan_id=plan.pk, metrics=CELL_METRICS[1:]))


def start_next(plan: Plan) -> Run:
    """Let the host make its next step, and return the run."""
    if not Execution.objects.filter(plan=plan).exists():
        services.start_plan(plan, actor="eve")
    advance_host(plan.pk, Target.objects.get().host_id)
    run: Run = Run.objects.open().select_related("workload").get()
    return run


def finish(run: Run, *figures: dict[str, dict[str, float]]) -> None:
    """Let a run end with these figures: of each job by operation and metric, as fio reports jobs that are told apart."""
    assert run.workload
    now = timezone.now()
    Attempt.objects.create(lab_id=run.lab_id, run=run, host_id=run.host_id, number=1, state="finished", offered_at=now)
    sections = {str(number): {"name": f"job{number}"} for number in range(len(figures))}
    Run.objects.filter(pk=run.pk).update(
        state=State.FINISHED, started_at=now, finished_at=now, facts={}, sections=sections
    )
    samples = []
    for number, (job, operations) in enumerate(zip(run.workload.jobs, figures, strict=False)):
        sizes = {"file_size": job["file_size"], "block_size": job["block_size"], "threads": job["numjobs"],
                 "iodepth": job["iodepth"], "section": number}  # fmt: skip
        for operation, values in operations.items():
            samples += [ParsedSample(operation, metric, value, **sizes) for metric, value in values.items()]
    save_samples(run, samples, None)
    run_ended(run.pk)


def rates(bandwidth: float, seconds: float, block: int, **more: float) -> dict[str, float]:
    return {"bandwidth": bandwidth, "io_bytes": bandwidth * seconds, "iops": bandwidth / block, **more}


def shown(cell: PlanPageCell, metric: str) -> dict[str, float | None]:
    return {entry.operation: entry.value and entry.value.mean for entry in cell.operation_values(metric)}


def test_jobs_that_run_together_are_one_point_and_the_next_turn_another(script: Scripts, target: Target) -> None:
    plan = make(script("run"), body(target))
    assert labels_of(plan) == ["randread 4k + write 1m", "read 64k"]
    both, alone = plan.points.all()
    assert (both.job, both.file_size, both.block_size, both.threads, both.iodepth) == (None, GIB, None, None, None)
    assert [(job["rw"], job["block_size"], job["iodepth"], job.get("file_size")) for job in both.jobs] == [
        ("randread", 4 * KIB, 16, None), ("write", MIB, 1, 512 * MIB),
    ]  # fmt: skip
    assert (alone.jobs, alone.job["rw"], alone.block_size) == (None, "read", 64 * KIB), "stored as before"
    jobs = page_of(plan).cells[0].jobs
    assert jobs is not None
    assert [(job["stonewall"], job["group_reporting"], job.get("new_group", False)) for job in jobs] == [
        (True, True, False), (False, True, True),
    ]  # fmt: skip
    assert [job["file_size"] for job in jobs] == [GIB, 512 * MIB]


def test_a_run_and_a_saved_workload_keep_their_jobs_together(script: Scripts, target: Target, lab: Lab) -> None:
    client = script("run")
    jobs = client.get(f"plans/{make(client, body(target)).pk}/").json()["cells"][0]["workload"]["jobs"]
    saved = save_workload(lab, "both", {"jobs": jobs}, "me")
    assert labels_of(make(client, body(target, job_file=None, saved_workload=saved.pk))) == ["randread 4k + write 1m"]
    [run] = start_runs(lab=lab, target=target, spec={"jobs": jobs}, who="me")
    of_run = make(client, body(target, job_file=None, run=run.pk))
    assert labels_of(of_run) == ["randread 4 KiB + write 1 MiB, 1 GiB, direct"]
    again = page_of(of_run).cells[0].jobs
    assert again == jobs, "the same workload, so that its time is known from the run"


def test_lists_are_those_of_every_job_of_a_point(script: Scripts, target: Target) -> None:
    client = script("run")
    wanted = body(target, file_sizes="0.25x, 2x RAM", options={"nice": "0,5"}, runtime=10)
    plan = make(client, wanted)
    assert len(labels_of(plan)) == 8
    assert labels_of(plan)[:3] == ["randread 4k + write 1m, 0.25 × RAM nice=0", "randread 4k + write 1m, 0.25 × RAM nice=5",
                                   "randread 4k + write 1m, 2 × RAM nice=0"]  # fmt: skip
    cells = page_of(plan).cells
    assert [[job["file_size"] for job in cell.jobs or ()] for cell in (cells[0], cells[2])] == [
        [256 * MIB] * 2, [2 * GIB] * 2,
    ]  # fmt: skip
    assert [job["nice"] for job in cells[1].jobs or ()] == [5, 5]
    two = make(client, body(target, job_file=TWO_SIZES, title="Two", patterns="randread, randwrite"))
    assert labels_of(two) == ["randread 4k + randread 64k", "randwrite 4k + randwrite 64k"]


@for_each(
    "changes, field, words",
    [
        ({"patterns": "read"}, "patterns", "differ by it (randread, write)"),
        ({"block_sizes": "4k,8k"}, "block_sizes", "differ by it (4k, 1m)"),
        ({"iodepths": "1,2"}, "iodepths", "differ by it (16, 1)"),
        ({"options": {"stonewall": "no"}}, "options.stonewall", "begin together"),
        ({"options": {"rwmixread": "30"}}, "options.rwmixread", "no mix, unless"),
        ({"stopping": {"kind": "saturation", "percentile": 99, "bound_ms": 5}}, "stopping.kind", "no one load"),
    ],
)
def test_what_would_undo_the_point_is_refused_by_name(
    script: Scripts, target: Target, changes: dict[str, Any], field: str, words: str
) -> None:
    text = BESIDE.partition("[alone]")[0]
    answer = script("run")("POST", "plans/", body(target, job_file=text, **changes))
    assert (answer.status_code, answer.json()["field"]) == (400, field), answer.content
    assert words in answer.json()["detail"]
    assert not Plan.objects.exists()


def test_a_rule_by_values_needs_jobs_that_begin_together(script: Scripts, target: Target) -> None:
    late = BESIDE.partition("[alone]")[0] + "ramp_time=5\n"
    rule = {"kind": "half_width", "percent": 5, "at_most": 9}
    refused = script("run")("POST", "plans/", body(target, job_file=late, stopping=rule))
    assert (refused.status_code, "begin at different times" in refused.json()["detail"]) == (400, True)
    make(script("run"), body(target, job_file=late))


JOBS = [{"rw": "randread", "block_size": "4k"}, {"rw": "write", "block_size": "1m"}]
POINT = {"name": "both", "tool": "fio", "file_size": "1g", "jobs": JOBS}


def test_points_are_posted_as_they_are_read(script: Scripts, target: Target) -> None:
    client = script("run")
    first = client.get(f"plans/{make(client, body(target)).pk}/").json()["points"]
    kept = [{name: value for name, value in point.items() if value is not None} for point in first]
    plan = make(client, body(target, job_file=None, points=kept, title="Again"))
    assert client.get(f"plans/{plan.pk}/").json()["points"] == first
    sized = {**POINT, "file_size": None, "jobs": [{**job, "file_size": "1g"} for job in JOBS]}
    [point] = make(client, body(target, job_file=None, points=[sized], title="Sized")).points.all()
    assert (point.file_size, [job.get("file_size") for job in point.jobs]) == (GIB, [None, None])


@for_each(
    "changes, field, words",
    [
        ({"jobs": JOBS[:1]}, "jobs", "2 to 16 jobs"),
        ({"jobs": {"rw": "read"}}, "jobs", "2 to 16 jobs"),
        ({"jobs": [JOBS[0], "write"]}, "jobs[1]", "an object of fio's options"),
        ({"jobs": [JOBS[0], {**JOBS[1], "stonewall": True}]}, "jobs[1].stonewall", "begin together"),
        ({"jobs": [JOBS[0], {**JOBS[1], "iodepth": 0}]}, "jobs[1].iodepth", "expected"),
        ({"jobs": [JOBS[0], {"rw": "write"}]}, "jobs[1].block_size", "no default"),
        ({"block_size": "4k"}, "block_size", "each by itself"),
        ({"job": {"rw": "read"}}, "job", "each by itself"),
        ({"file_size": None}, "file_size", "a size in each of the jobs"),
        ({"tool": "dd"}, "tool", "fio"),
        ({"jobs": [{**job, "file_size": "1g"} for job in JOBS]}, "file_size", "a size of its own"),
    ],
)
def test_jobs_that_do_not_fit_are_named(
    script: Scripts, target: Target, changes: dict[str, Any], field: str, words: str
) -> None:
    answer = script("run")("POST", "plans/", body(target, job_file=None, points=[{**POINT, **changes}]))
    assert answer.status_code == 400, answer.content
    assert answer.json()["field"] == f"plan.points[0].{field}"
    assert words in answer.json()["detail"]


def test_a_cell_has_each_operation_and_never_a_mean_of_both(script: Scripts, target: Target, sign_in: SignIn) -> None:
    plan = make(script("run"), body(target, job_file=BESIDE.partition("[alone]")[0]))
    finish(start_next(plan), {"randread": rates(40e6, 20, 4096, latency_mean=4e5, clat_p99=9e5)},
           {"write": rates(200e6, 20, MIB, latency_mean=5e6, clat_p99=7e6)})  # fmt: skip
    [cell] = page_of(plan).cells
    assert shown(cell, "bandwidth") == {"randread": 40e6, "write": 200e6}
    assert shown(cell, "clat_p99") == {"randread": 9e5, "write": 7e6}
    assert cell.progress.done == 1
    answer = script("read").get(f"plans/{plan.pk}/").json()["cells"][0]
    assert answer["values"] == {}, "no one value of a reader and a writer"
    read, write = answer["operations"]
    assert (read["operation"], read["values"]["bandwidth"]) == ("randread", {"mean": 40e6, "half_width": None, "n": 1})
    assert (write["operation"], write["values"]["iops"]["mean"]) == ("write", pytest.approx(200e6 / MIB))
    assert [(job["job"], job["values"]["latency_mean"]["mean"]) for job in (*read["jobs"], *write["jobs"])] == [
        (0, 4e5), (1, 5e6),
    ]  # fmt: skip
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "randread 40.0 MB/s" in text
    assert "write 200 MB/s" in text
    assert "120 MB/s" not in text


def test_jobs_of_one_operation_are_added_up_over_the_longest_time(script: Scripts, target: Target) -> None:
    plan = make(script("run"), body(target, job_file=TWO_SIZES))
    small = rates(40e6, 20, 4 * KIB, latency_mean=1e6, clat_p99=3e6)
    finish(start_next(plan), {"randread": small},
           {"randread": rates(100e6, 10, 64 * KIB, latency_mean=4e6, clat_p99=2e6)})  # fmt: skip
    [cell] = page_of(plan).cells
    assert shown(cell, "bandwidth") == {"randread": pytest.approx((40e6 * 20 + 100e6 * 10) / 20)}
    ios = 40e6 * 20 / 4096, 100e6 * 10 / 65536
    assert shown(cell, "iops") == {"randread": pytest.approx(sum(ios) / 20)}
    assert shown(cell, "latency_mean") == {"randread": pytest.approx((ios[0] * 1e6 + ios[1] * 4e6) / sum(ios))}
    assert shown(cell, "clat_p99") == {"randread": 3e6}
    [entry] = cell.operation_values("bandwidth")
    assert [(job.job, job.value.mean) for job in entry.jobs] == [(0, 40e6), (1, 100e6)]
    answer = script("read").get(f"plans/{plan.pk}/").json()["cells"][0]
    assert answer["values"]["bandwidth"]["mean"] == pytest.approx(90e6)


def test_jobs_that_begin_at_different_times_have_no_rate_together(
    script: Scripts, target: Target, sign_in: SignIn
) -> None:
    plan = make(script("run"), body(target, job_file=TWO_SIZES + "startdelay=5\n"))
    for _ in range(2):
        finish(start_next(plan), {"randread": rates(40e6, 20, 4 * KIB)}, {"randread": rates(100e6, 20, 64 * KIB)})
    [cell] = page_of(plan).cells
    assert shown(cell, "bandwidth") == {"randread": None}
    assert cell.progress.done == 2
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "by job only" in text
    assert "140 MB/s" not in text


def test_a_rule_holds_when_it_holds_for_each_operation(script: Scripts, target: Target) -> None:
    rule = {"kind": "half_width", "percent": 5, "at_least": 3, "at_most": 5}
    plan = make(script("run"), body(target, job_file=BESIDE.partition("[alone]")[0], stopping=rule))
    for write in (100e6, 200e6, 300e6):
        finish(start_next(plan), {"randread": rates(40e6, 20, 4096)}, {"write": rates(write, 20, MIB)})
    [cell] = page_of(plan).cells
    assert (cell.progress.done, cell.progress.needed) == (3, 4), "the reads agree, the writes do not"
    for write in (200e6, 900e6):
        finish(start_next(plan), {"randread": rates(40e6, 20, 4096)}, {"write": rates(write, 20, MIB)})
    [cell] = page_of(plan).cells
    assert (cell.state, cell.is_rule_missed) == ("done", True)


def test_rounds_of_a_steady_state_are_judged_and_drawn_by_operation(script: Scripts, target: Target) -> None:
    rule = {"kind": "steady_state", "window": 3, "at_most": 5}
    plan = make(script("run"), body(target, job_file=BESIDE.partition("[alone]")[0], stopping=rule))
    for write in (100e6, 101e6, 102e6):
        finish(start_next(plan), {"randread": rates(40e6, 20, 4096)}, {"write": rates(write, 20, MIB)})
    results = script("read").get(f"plans/{plan.pk}/steady-state/").json()["results"]
    assert [(entry["operation"], [one["value"] for one in entry["rounds"]]) for entry in results] == [
        ("randread", [40e6] * 3), ("write", [100e6, 101e6, 102e6]),
    ]  # fmt: skip
    [one] = script("read").get(f"plans/{plan.pk}/steady-state/?operation=write").json()["results"]
    assert one["operation"] == "write"
    assert page_of(plan).cells[0].state == "done"


def not_counted(page: PlanPage) -> list[str]:
    return [difference_text(difference) for entry in page.not_counted for difference in entry.differences]


def bring_in(plan: Plan, lab: Lab, target: Target, jobs: list[dict[str, Any]], *figures: Any) -> Run:
    """Add a run that was started by hand to the plan's study."""
    [run] = start_runs(lab=lab, target=target, spec={"jobs": jobs}, who="me")
    finish(run, *figures)
    StudyRun.objects.create(run=run, configuration=plan.rows.get().configuration)
    return run


def test_a_job_that_ran_beside_another_counts_for_no_point_of_one_job(
    script: Scripts, target: Target, lab: Lab
) -> None:
    plan = make(script("run"), body(target, job_file=BESIDE))
    alone = {"rw": "read", "block_size": 64 * KIB, "file_size": GIB, "runtime": 20, "time_based": True, "direct": True,
             "ioengine": "libaio"}  # fmt: skip
    beside = [alone, {**alone, "rw": "randwrite", "stonewall": False, "new_group": True}]
    bring_in(plan, lab, target, beside, {"read": rates(1e6, 20, 4096)}, {"randwrite": rates(1e6, 20, 4096)})
    page = page_of(plan)
    assert [cell.runs for cell in page.cells] == [[], []]
    assert not_counted(page) == ["jobs at the same time: 2; the plan asks for 1"]
    run = bring_in(plan, lab, target, [alone, {**alone, "rw": "randwrite"}], {"read": rates(2e6, 20, 4096)}, {})
    assert [held.pk for held in page_of(plan).cells[1].runs] == [run.pk], "one after the other is no disturbance"


def test_a_run_by_hand_counts_with_all_its_jobs_told_apart(script: Scripts, target: Target, lab: Lab) -> None:
    plan = make(script("run"), body(target, job_file=BESIDE.partition("[alone]")[0]))
    jobs = page_of(plan).cells[0].jobs or []
    figures = {"randread": rates(1e6, 20, 4096)}, {"write": rates(2e6, 20, MIB)}
    merged = [{**job, "new_group": False} for job in jobs]
    bring_in(plan, lab, target, merged, {"read": rates(1e6, 20, 4096), "write": rates(2e6, 20, MIB)})
    page = page_of(plan)
    assert page.cells[0].runs == []
    assert not_counted(page) == ["jobs with a result of their own: 1; the plan asks for 2"]
    deep = [{**jobs[0], "iodepth": 32}, jobs[1]]
    bring_in(plan, lab, target, deep, *figures)
    assert "I/O depth: 32; the plan asks for 16" in not_counted(page_of(plan))
    turned = [{**jobs[1], "stonewall": True, "new_group": False}, {**jobs[0], "stonewall": False, "new_group": True}]
    run = bring_in(plan, lab, target, turned, *reversed(figures))
    [cell] = page_of(plan).cells
    assert [held.pk for held in cell.runs] == [run.pk]
    assert shown(cell, "bandwidth") == {"randread": 1e6, "write": 2e6}
    [entry, _] = cell.operation_values("bandwidth")
    assert [(job.job, job.words.partition(",")[0]) for job in entry.jobs] == [(0, "randread")], "as the point has them"


def test_an_uploaded_report_counts_when_its_jobs_ran_together(script: Scripts, target: Target, lab: Lab) -> None:
    plan = make(script("run"), body(target, job_file=BESIDE.partition("[alone]")[0]))
    jobs = page_of(plan).cells[0].jobs or []
    run = bring_in(plan, lab, target, jobs, {"randread": rates(1e6, 20, 4096)}, {"write": rates(2e6, 20, MIB)})
    options = {"direct": "1", "ioengine": "libaio", "runtime": "20", "time_based": "1"}
    reader = {**options, "rw": "randread", "bs": "4k", "size": "1g", "iodepth": "16"}
    writer = {**options, "rw": "write", "bs": "1m", "size": "512m"}
    for second, is_counted in ((writer, True), ({**writer, "stonewall": "1"}, False)):
        sections = {"0": {"name": "reader", "options": reader}, "1": {"name": "writer", "options": second}}
        Run.objects.filter(pk=run.pk).update(workload=None, sections=sections)
        page = page_of(plan)
        assert bool(page.cells[0].runs) is is_counted, not_counted(page)


def test_a_run_of_just_this_workload_is_offered_to_the_cell(script: Scripts, target: Target, lab: Lab) -> None:
    plan = make(script("run"), body(target, job_file=BESIDE.partition("[alone]")[0]))
    [run] = start_runs(lab=lab, target=target, spec={"jobs": page_of(plan).cells[0].jobs}, who="me")
    assert [entry.run.pk for entry in fitting_runs(page_of(plan))] == [run.pk]


def test_time_is_that_of_the_longest_and_files_are_added_up(script: Scripts, target: Target) -> None:
    text = BESIDE.partition("[alone]")[0] + "runtime=50\n"
    plan = make(script("run"), body(target, job_file=text, guards=[{"kind": "cache_rule", "factor": 1.5}]))
    page = page_of(plan)
    [cell] = page.cells
    spec = dict(cell.workload or {})
    assert planned_seconds(spec) == 50
    assert guess_seconds(spec) == pytest.approx(5 + GIB / 150e6 + 50)
    assert cell.files_bytes == 1536 * MIB
    assert _step_facts(cell, target).file_size == 1536 * MIB
    assert [(finding.largest, finding.is_met) for finding in page.cache] == [(1536 * MIB, True)], "1.5 × 1 GiB of RAM"
    assert find_largest_files(page) == {cell.row.pk: GIB}
    estimate = estimate_page(page)
    assert estimate is not None
    assert estimate.spaces[0].needed == 1536 * MIB
    assert estimate.cells[0].written == pytest.approx(GIB + 50 * 150e6), "the reader's file, and what the writer writes"


@for_each(
    "policy, words",
    [
        ({"max_numjobs": 1}, "numjobs: found 2"),
        ({"max_runtime_s": 19}, "runtime: found 20"),
        ({"max_runtime_s": 20, "max_numjobs": 2}, ""),
        ({"targets": [{"path": "/data", "quota_bytes": GIB}]}, "file_size"),
    ],
    taken_back=True,
)
def test_what_the_host_allows_is_asked_of_all_jobs_together(
    script: Scripts, target: Target, lab: Lab, policy: dict[str, Any], words: str
) -> None:
    quotas = {"quota_bytes": GIB} if "targets" in policy else {}
    Agent.objects.create(lab=lab, host=target.host, secret_sha256="x", machine="m", policy={**policy, **quotas})
    plan = make(script("run"), body(target, job_file=BESIDE.partition("[alone]")[0]))
    refused = [str(refusal.problem) for _, refusal in find_refused_cells(page_of(plan))]
    assert len(refused) == bool(words), refused
    assert words in "".join(refused)


def test_copies_and_edits_keep_the_jobs(script: Scripts, target: Target, sign_in: SignIn) -> None:
    plan = make(script("run"), body(target))
    before = list(plan.points.values_list("label", "file_size", "job", "jobs"))
    assert (
        list(copy_plan(plan, "A night", actor="me").points.values_list("label", "file_size", "job", "jobs")) == before
    )
    client, address = sign_in("engineer"), f"/plans/{plan.pk}/edit/"
    page = client.get(address).content.decode()
    assert "Its jobs run at the same time and stay as they are" in page
    answer = client.post(address, TypedInputs(page).values | {"act": "save", "notes": "Edited.", "p0-file_size": "2g"})
    assert answer.status_code == 302, re.findall(r"form-error.*", answer.content.decode())
    after = list(plan.points.values_list("label", "file_size", "job", "jobs"))
    assert after == [(before[0][0], 2 * GIB, *before[0][2:]), before[1]]
    turned = client.post(address, TypedInputs(client.get(address).content.decode()).values | {"act": "up-1"})
    added = client.post(address, TypedInputs(turned.content.decode()).values | {"act": "add"}).content.decode()
    assert added.count("Its jobs run at the same time") == 1, "a further point is none of the same name"
    label = TypedInputs(added).values | {"act": "save", "p2-label": "a third"}
    saved = client.post(address, label)
    assert saved.status_code == 302, re.findall(r"form-error.*", saved.content.decode())
    assert [bool(point.jobs) for point in plan.points.order_by("position")] == [False, True, False]


def test_the_form_takes_a_job_file_whose_jobs_run_together(sign_in: SignIn, target: Target) -> None:
    changes = {"preset": "job-file", "job_file": BESIDE, "patterns": "", "block_sizes": "", "iodepths": ""}
    client = sign_in("engineer")
    answer = client.post("/plans/new/", typed(target, **{**changes, "numjobs": "1, 2"}))
    assert answer.status_code == 302, re.findall(r"form-error.*", answer.content.decode())
    plan = Plan.objects.get()
    assert labels_of(plan)[:2] == ["randread 4k + write 1m numjobs=1", "randread 4k + write 1m numjobs=2"]
    wrong = client.post("/plans/new/", typed(target, **{**changes, "block_sizes": "4k", "title": "Other"}))
    assert re.search(r'id="id_block_sizes_error">[^<]*differ by it', html.unescape(wrong.content.decode()))


def test_pages_and_documents_name_every_job(script: Scripts, target: Target, sign_in: SignIn) -> None:
    plan = make(script("run"), body(target))
    words = "fio randread, 4 KiB blocks, depth 16, 1 GiB file + write, 1 MiB blocks, 512 MiB file, depth 1"
    for address in (f"/plans/{plan.pk}/", f"/studies/{plan.study.slug}/plan/"):
        assert words in page_text(sign_in("viewer").get(address).content.decode()), address
    assert "1.5 × RAM together" in page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    titles = [section.table.columns for section in procedure_of(Procedure.of(plan.study)) if section.table]
    assert "randread" in str(titles)
    assert "512" in str(titles)


def test_a_cell_of_mixed_reads_and_writes_shows_both(script: Scripts, target: Target, sign_in: SignIn) -> None:
    text = BESIDE.partition("[reader]")[0] + "[mixed]\nrw=randrw\nbs=4k\nsize=1g\n"
    plan = make(script("run"), body(target, job_file=text))
    finish(start_next(plan), {"randread": rates(70e6, 20, 4096), "randwrite": rates(30e6, 20, 4096)})
    [cell] = page_of(plan).cells
    assert shown(cell, "bandwidth") == {"randread": 70e6, "randwrite": 30e6}
    answer = script("read").get(f"plans/{plan.pk}/").json()["cells"][0]
    assert answer["values"]["bandwidth"]["mean"] == 70e6, "of the first by name, as ever"
    assert [(entry["operation"], entry["values"]["bandwidth"]["mean"], entry["jobs"]) for entry in answer["operations"]] == [
        ("randread", 70e6, []), ("randwrite", 30e6, []),
    ]  # fmt: skip
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "randread 70.0 MB/s" in text
    assert "randwrite 30.0 MB/s" in text


def test_grids_have_one_for_each_operation_and_none_for_several_jobs(script: Scripts, target: Target) -> None:
    client = script("run")
    text = BESIDE.partition("[reader]")[0] + "[mixed]\nrw=randrw\nbs=4k\nsize=1g\n"
    plan = make(client, body(target, job_file=text, block_sizes="4k,8k", iodepths="1,2"))
    finish(start_next(plan), {"randread": rates(70e6, 20, 4096), "randwrite": rates(30e6, 20, 4096)})
    [shape, *_] = find_shapes(list(plan.points.all()))
    grid = ExecutionPage(load_plan(plan.pk), MatrixView(grid=shape.name)).grid
    assert grid is not None
    assert [(table.words, [cell and cell.number for _, cells in table.lines for cell in cells]) for table in grid.tables] == [
        ("randread", ["70.0", "", "", ""]), ("randwrite", ["30.0", "", "", ""]),
    ]  # fmt: skip
    together = make(client, body(target, title="Two", job_file=TWO_SIZES, iodepths="1,2", numjobs="1,2"))
    assert together.points.count() == 4
    assert find_shapes(list(together.points.all())) == []


def test_what_is_not_told_of_every_job_is_not_told_of_all() -> None:
    told, untold = {"bandwidth": 1e6, "io_bytes": 1e7, "iops": 10.0}, {"bandwidth": 2e6, "iops": 20.0}
    assert add_up([told, untold]) == {}, "whose run time is not known"
    nothing = {"bandwidth": 0.0, "io_bytes": 0.0, "iops": 0.0, "latency_mean": 0.0}
    assert add_up([told, nothing]) == {"bandwidth": 1e6, "iops": 10.0, "io_bytes": 1e7}
    assert add_up([nothing, nothing]) == {"io_bytes": 0.0}
    assert add_up([told]) == told
