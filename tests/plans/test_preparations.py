"""Preparations of a plan: writes that are runs of their own, and waits that the host looks after before the next run."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents.models import Agent
from apps.core.units import moment
from apps.inventory.models import Host, Target
from apps.parsers.core.models import ParsedSample
from apps.plans import services
from apps.plans.execution_page import ExecutionPage
from apps.plans.models import Execution, Preparation, PreparationRun, load_plan
from apps.plans.plan_request import PlanRequest
from apps.plans.preparations import KINDS, random_writes, read_preparations
from apps.plans.tasks import advance_host, sweep
from apps.runs.host_guards.evidence import entry_of
from apps.runs.models import Attempt, Run
from apps.runs.samples import save_samples
from apps.runs.states import State
from apps.studies.models import Plan, PlannedRun
from apps.studies.plans.problems import PlanError
from tests.plans.conftest import GIB, JOB, MIB, answer, end, host_id

SignIn = Callable[[str], Client]
MakePlan = Callable[..., Plan]
POINTS = [
    {"name": name, "tool": "fio", "file_size": size, "block_size": MIB, "job": JOB}
    for name, size in (("small", GIB), ("large", 4 * GIB))
]


@pytest.fixture
def make_plan(lab, study) -> MakePlan:
    def make(*preparations: dict[str, Any], rounds: int = 2, guards: Any = ()) -> Plan:
        target = Target.objects.get(host__name="alpha")
        wanted = PlanRequest(
            lab, "Prepared", [target], POINTS, {"kind": "fixed", "rounds": rounds}, guards, preparations
        )
        return services.create_plan(wanted, actor="eve")

    return make


def advance(plan: Plan) -> str:
    return advance_host(plan.pk, host_id("alpha"))


def begin(plan: Plan) -> str:
    services.start_plan(plan, actor="eve")
    return advance(plan)


def open_run() -> Run:
    run: Run = Run.objects.open().select_related("workload", "host").get()
    return run


def test_writes_are_made_before_the_first_run_and_once(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "sequential_fill", "passes": 2, "file_size": 8 * GIB})
    assert begin(plan) == "preparing"
    made = []
    while not made or Run.objects.open().exists():
        run = open_run()
        prepared = PreparationRun.objects.filter(run=run).first()
        made.append("fill" if prepared else "step")
        if prepared:
            assert (run.workload.jobs[0]["rw"], run.workload.jobs[0]["file_size"]) == ("write", 8 * GIB)
            assert run.workload.jobs[0]["end_fsync"]
        end(run)
    assert made == ["fill", "fill", "step", "step", "step", "step"]
    assert [entry.number for entry in PreparationRun.objects.all()] == [1, 2]
    assert Execution.objects.get().state == "done"
    assert PlannedRun.objects.count() == 4, "what prepares counts for no cell"


def test_writes_before_each_round(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "random_writes", "time": "round", "most": 1, "until_steady": 0, "seconds": 5})
    begin(plan)
    made = []
    while Run.objects.open().exists():
        run = open_run()
        prepared = PreparationRun.objects.filter(run=run).first()
        made.append(f"writes {prepared.round}" if prepared else "step")
        end(run)
    assert made == ["writes 1", "step", "step", "writes 2", "step", "step"]


def test_random_writes_go_on_until_they_are_steady(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "random_writes", "most": 9}, rounds=1)
    begin(plan)
    values = [5e8, 3e8, 1e8, 1.02e8, 0.99e8, 1.01e8, 1e8, 1e8]
    number = 0
    while PreparationRun.objects.filter(run=(run := open_run())).exists():
        assert run.workload.jobs[0]["rw"] == "randwrite"
        assert run.workload.jobs[0]["file_size"] == 4 * GIB, "that of the target's largest file"
        end(run, value=values[number])
        number += 1
    assert number == 7, "the last five of seven agree"
    (line,) = ExecutionPage(load_plan(plan.pk)).preparations
    assert line.progress[0].verdict.startswith("7 runs, steady over the last 5")


def test_writes_that_never_become_steady_end_and_say_so() -> None:
    values = {"most": 5, "until_steady": 1, "seconds": 60}
    falling = [9e8, 7e8, 5e8, 3e8, 1e8]
    assert random_writes.is_done(values, falling)
    assert "not steady" in random_writes.describe(values, falling)
    assert not random_writes.is_done({**values, "most": 6}, falling)


def test_a_late_or_repeated_message_starts_nothing_twice(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "sequential_fill", "passes": 3})
    begin(plan)
    assert advance(plan) == "under way"
    assert sweep() == 0, "its host is busy preparing"
    end(open_run())
    assert advance(plan) == "under way"
    assert Run.objects.count() == 2
    assert Run.objects.open().count() == 1


def test_a_preparation_that_fails_pauses_the_plan_and_goes_on_after_resume(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "sequential_fill", "passes": 1})
    begin(plan)
    end(open_run(), State.FAILED)
    execution = Execution.objects.get()
    assert execution.state == "paused"
    assert execution.reason.startswith("Preparation sequential fill of ")
    services.resume_plan(plan, actor="eve")
    assert advance(plan) == "preparing"
    end(open_run())
    assert PlannedRun.objects.filter(run=open_run()).exists()


def test_a_file_beyond_the_hosts_quota_pauses_with_the_reason(make_plan: MakePlan, lab) -> None:
    plan = make_plan({"kind": "sequential_fill", "file_size": 2**45})
    Agent.objects.create(
        lab=lab, host=Host.objects.get(name="alpha"), secret_sha256="x", machine="m", policy={"quota_bytes": 2**40}
    )
    assert begin(plan) == "paused"
    assert "could not be started: file_size: found 35184372088832" in Execution.objects.get().reason
    assert not Run.objects.exists()


def test_a_cancelled_plan_cancels_what_prepares(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "sequential_fill"})
    begin(plan)
    services.cancel_plan(plan, actor="eve")
    assert not Run.objects.open().exists()
    services.start_plan(plan, actor="eve")
    assert advance(plan) == "preparing", "it is made again when the plan is started again"


def test_waits_are_asked_of_the_host_with_the_run_that_follows(make_plan: MakePlan) -> None:
    plan = make_plan(
        {"kind": "pause", "time": "step", "seconds": 30},
        {"kind": "cool_down", "time": "round", "celsius": 40.5},
        {"kind": "array_rest", "wait_s": 7200},
        guards=[{"kind": "array_settled"}],
    )  # fmt: skip
    begin(plan)
    pause, cool, rest = (entry.purpose for entry in Preparation.objects.all())
    asked = []
    while Run.objects.open().exists():
        run = open_run()
        asked.append([guard.get("purpose", "guard") for guard in run.guards])
        if len(asked) == 1:
            assert run.guards[0] == {
                "guard": "pause",
                "seconds": 30,
                "wait_s": 0,
                "is_required": True,
                "purpose": pause,
            }
            assert run.guards[1]["celsius"] == 40.5
            assert run.guards[2]["wait_s"] == 7200
        end(run)
    assert asked == [
        [pause, cool, rest, "guard"], [pause, "guard"], [pause, cool, "guard"], [pause, "guard"]
    ]  # fmt: skip


def test_a_wait_that_was_refused_is_asked_for_again(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "cool_down", "celsius": 30})
    services.start_plan(plan, actor="eve", guard_failure="again")
    advance(plan)
    run = open_run()
    hot = answer(run.guards[0], "failed", text="sda 41 °C, at most 30 °C", purpose=run.guards[0]["purpose"])
    end(run, State.FAILED, guards=[hot], is_started=False)
    assert open_run().guards == run.guards, "nothing has begun after it"


def test_the_evidence_of_a_wait_is_on_the_plans_page_and_in_rest(make_plan: MakePlan, sign_in: SignIn) -> None:
    plan = make_plan({"kind": "pause", "time": "step", "seconds": 30}, {"kind": "sequential_fill", "passes": 1})
    begin(plan)
    client = sign_in("viewer")
    page = client.get(f"/plans/{plan.pk}/").content.decode()
    assert "preparation sequential fill, run 1" in page
    assert "for guards and preparation" in page
    fill = open_run()
    end(fill, value=2e8)
    assert "counts for none of its cells" in client.get(fill.get_absolute_url()).content.decode()
    run = open_run()
    end(run, guards=[answer(run.guards[0], text="waited 30.0 s", figures={"seconds": 30.004})])
    page = client.get(f"/plans/{plan.pk}/").content.decode()
    assert "waited 30.0 s" in page
    assert "1 of 1 passes, the last at" in page
    assert f'before <a href="/runs/{run.pk}/">' in page
    body = client.get(f"/api/v1/plans/{plan.pk}/").json()
    assert body["extra"] == {"seconds": 2 * 30, "unknown": [], "written": 0}
    lines = body["preparations"]
    assert [line["kind"] for line in lines] == ["pause", "sequential_fill"]
    assert lines[0]["evidence"]["figures"] == {"seconds": 30.004}
    assert lines[1]["progress"][0]["is_done"]
    assert lines[1]["progress"][0]["runs"] == [fill.pk]


def test_a_pause_that_has_passed_is_told_while_its_run_goes_on(make_plan: MakePlan, sign_in: SignIn) -> None:
    plan = make_plan({"kind": "pause", "time": "start", "seconds": 30})
    client, address = sign_in("viewer"), f"/plans/{plan.pk}/"
    assert "nothing yet: the plan is not started" in client.get(address).content.decode()
    services.start_plan(plan, actor="eve")
    assert "nothing yet: no run was started" in client.get(address).content.decode()
    advance(plan)
    run = open_run()
    assert f"asked of run {run.pk}; its host has not answered yet" in client.get(address).content.decode()
    attempt = Attempt.objects.create(
        lab_id=run.lab_id, run=run, host_id=run.host_id, number=1, state=State.ACCEPTED, offered_at=timezone.now(),
        guards=[answer(run.guards[0], text="10 s of 30 s", is_waiting=True)],
    )  # fmt: skip
    waits = client.get(address).content.decode()
    assert "10 s of 30 s" in waits
    assert ">waits</span>" in waits
    passed = [answer(run.guards[0], text="waited 30.0 s")]
    Attempt.objects.filter(pk=attempt.pk).update(state=State.RUNNING, started_at=timezone.now(), guards=passed)
    text = client.get(address).content.decode()
    assert "waited 30.0 s" in text
    assert f'before <a href="/runs/{run.pk}/">' in text
    assert client.get(f"/api/v1/plans/{plan.pk}/").json()["preparations"][0]["run"] == run.pk


def test_the_pause_of_the_first_run_is_still_told_after_a_hundred_others(make_plan: MakePlan) -> None:
    plan = make_plan({"kind": "pause", "time": "start", "seconds": 30}, rounds=60)
    begin(plan)
    first = open_run()
    end(first)
    planned, second = PlannedRun.objects.get(run=first), open_run()
    assert second.guards == [], "it is asked for once"
    for _ in range(101):
        later = Run.objects.get(pk=second.pk)
        later.pk, later.state = None, State.FINISHED
        later.save(force_insert=True)
        PlannedRun.objects.create(
            run=later, row=planned.row, point=planned.point, round=planned.round, judged_at=timezone.now(),
            evidence=[entry_of(answer({"guard": "idle", "is_required": True, "wait_s": 0}))],
        )  # fmt: skip
    (line,) = ExecutionPage(load_plan(plan.pk)).preparations
    assert (line.run_id, line.silence) == (first.pk, "")
    assert line.evidence is not None
    assert line.evidence["text"] == "as it was found"


@pytest.mark.usefixtures("study")
def test_sizes_are_taken_as_people_write_them(sign_in: SignIn) -> None:
    client = sign_in("engineer")

    def make(**changes: Any) -> Any:
        body = {"title": "By REST", "targets": list(Target.objects.values_list("pk", flat=True)), **changes}
        return client.post("/api/v1/plans/", body, content_type="application/json")

    fill = {"kind": "sequential_fill", "file_size": "4G"}
    assert make(preset="quick-check", preparations=[fill]).status_code == 201
    assert Preparation.objects.get().parameters["file_size"] == 4 * GIB
    for size, expected in (("4 GB", "where k is 1024 bytes"), ("1k", "a size from 1m to 64t"), (1024, "1048576 to")):
        refused = make(preset="quick-check", preparations=[{**fill, "file_size": size}])
        assert (refused.status_code, expected in refused.content.decode()) == (400, True), refused.content
    point = {"name": "small", "tool": "fio", "file_size": "1g", "block_size": "64k", "job": JOB}
    made = make(points=[point])
    assert made.status_code == 201, made.content
    stored = Plan.objects.get(pk=made.json()["id"]).points.get()
    assert (stored.file_size, stored.block_size) == (GIB, 64 << 10)


def test_estimates_know_pauses_looks_and_writes_and_name_what_nobody_knows(make_plan: MakePlan) -> None:
    plan = make_plan(
        {"kind": "pause", "time": "step", "seconds": 30},
        {"kind": "random_writes", "most": 3, "until_steady": 0, "seconds": 60},
        {"kind": "cool_down", "celsius": 30},
        {"kind": "sequential_fill"},
        guards=[{"kind": "idle", "seconds": 5}, {"kind": "space"}],
    )
    extra = ExecutionPage(load_plan(plan.pk)).extra
    assert extra.seconds == 4 * 30 + 3 * 60 + 4 * 5
    assert extra.unknown == ("cool down", "sequential fill")
    assert extra.written == 2 * 4 * GIB, "two passes over the target's largest file"


def test_files_that_a_discarding_filesystem_forgets_are_named(make_plan: MakePlan, sign_in: SignIn) -> None:
    plan = make_plan({"kind": "sequential_fill", "passes": 1})
    begin(plan)
    run = open_run()
    Run.objects.filter(pk=run.pk).update(place={"type": "ext4", "options": "rw,relatime,discard"})
    end(run)
    assert "told to forget these files" in sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"kind": "sequential_fill"}, "a list of at most 10"),
        ([{"kind": "trim"}], "one of sequential_fill, random_writes, array_rest, cool_down, pause"),
        ([{"kind": "pause"}], "a number from 1 to 86400"),
        ([{"kind": "pause", "seconds": 1.5}], "a whole number from 1"),
        ([{"kind": "random_writes", "time": "step"}], "one of start, round"),
        ([{"kind": "pause", "seconds": 5, "depth": 3}], "one of the fields"),
    ],
)
def test_what_is_no_preparation_is_refused_by_name(given: Any, expected: str) -> None:
    with pytest.raises(PlanError, match=expected):
        read_preparations(given)


@pytest.mark.usefixtures("study")
def test_preparations_are_asked_for_by_the_form_and_by_rest(sign_in: SignIn) -> None:
    client = sign_in("engineer")
    targets = list(Target.objects.values_list("pk", flat=True))
    page = client.get("/plans/new/").content.decode()
    assert all(kind.label.capitalize() in page for kind in KINDS)
    form = {
        "title": "Prepared", "targets": targets, "preset": "quick-check", "kind": "fixed", "rounds": 3, "percent": 2,
        "order": "interleaved", "prepare-pause-is_wanted": "on", "prepare-pause-time": "step",
        "prepare-pause-seconds": "20", "prepare-sequential_fill-is_wanted": "on", "prepare-sequential_fill-time": "start",
        "prepare-sequential_fill-passes": "2", "prepare-sequential_fill-file_size": "16g",
    }  # fmt: skip
    missing = client.post("/plans/new/", {**form, "prepare-pause-seconds": ""})
    assert missing.status_code == 422
    assert "A number is needed." in missing.content.decode()
    assert client.post("/plans/new/", form).status_code == 302
    stored = [(entry.kind, entry.time, entry.parameters) for entry in Preparation.objects.all()]
    assert stored == [
        ("sequential_fill", "start", {"passes": 2, "file_size": 16 * GIB}), ("pause", "step", {"seconds": 20}),
    ]  # fmt: skip
    body = {
        "title": "By REST", "targets": targets, "preset": "quick-check",
        "preparations": [{"kind": "random_writes", "until_steady": 1}],
    }  # fmt: skip
    made = client.post("/api/v1/plans/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    shown = client.get(f"/api/v1/plans/{made.json()['id']}/").json()["preparations"]
    assert shown[0]["parameters"] == {"seconds": 60, "most": 25, "until_steady": 1}
    wrong = client.post("/api/v1/plans/", {**body, "preparations": [{"kind": "trim"}]}, content_type="application/json")
    assert wrong.status_code == 400


# The guard that a target is preconditioned

PRECONDITIONED = ({"kind": "preconditioned"},)


def written_bytes(run: Run, value: float) -> None:
    job = run.workload.jobs[0]
    sizes = {"file_size": job["file_size"], "block_size": job["block_size"], "threads": 1, "iodepth": 1}
    save_samples(run, [ParsedSample(job["rw"], "io_bytes", value, **sizes)], None)


def test_a_preconditioned_target_has_the_runs_that_wrote_it_as_evidence(make_plan: MakePlan, sign_in: SignIn) -> None:
    plan = make_plan({"kind": "sequential_fill", "passes": 2, "file_size": 8 * GIB}, rounds=1, guards=PRECONDITIONED)
    begin(plan)
    fills = []
    for _ in range(2):
        fills.append(open_run())
        written_bytes(fills[-1], 8.0 * GIB)
        end(fills[-1])
    run = open_run()
    (entry,) = PlannedRun.objects.get(run=run).evidence
    assert (entry["guard"], entry["outcome"], entry["source"]) == ("preconditioned", "passed", "server")
    numbers = ", ".join(str(fill.pk) for fill in fills)
    ended = moment(Run.objects.get(pk=fills[1].pk).finished_at)
    assert entry["text"] == f"sequential fill: runs {numbers} wrote 16\u00a0GiB, ended {ended}"
    page = sign_in("viewer").get(run.get_absolute_url()).content.decode()
    assert "by the plan&#x27;s own runs" in page or "by the plan's own runs" in page


@pytest.mark.parametrize(
    ("options", "has_bytes", "outcome", "words"),
    [
        ("rw,discard", True, "failed", "mounted with discard"),
        ("rw", False, "not checked", "does not say how many bytes"),
    ],
)
def test_what_shows_that_a_target_is_not_preconditioned_or_nothing_of_it(
    make_plan: MakePlan, options: str, has_bytes: bool, outcome: str, words: str
) -> None:
    plan = make_plan({"kind": "sequential_fill", "passes": 1}, rounds=1, guards=PRECONDITIONED)
    begin(plan)
    fill = open_run()
    if has_bytes:
        written_bytes(fill, 4.0 * GIB)
    Run.objects.filter(pk=fill.pk).update(place={"options": options})
    end(fill)
    if outcome == "failed":
        reasons = [cell.reason for cell in plan.cells.all()]
        assert len(reasons) == 2
        assert all(words in reason for reason in reasons), reasons
        assert not PlannedRun.objects.exists()
    else:
        (entry,) = PlannedRun.objects.get(run=open_run()).evidence
        assert (entry["outcome"], words in entry["text"]) == (outcome, True)


def test_a_plan_that_never_writes_cannot_ask_for_a_preconditioned_target(
    make_plan: MakePlan, write_plan: MakePlan
) -> None:
    with pytest.raises(PlanError, match="needs a preparation that writes"):
        make_plan({"kind": "pause", "seconds": 1}, guards=PRECONDITIONED)
    with pytest.raises(services.ExecutionError, match="needs a preparation that writes"):
        services.start_plan(write_plan(guards=list(PRECONDITIONED)), actor="eve")
