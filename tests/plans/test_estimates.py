"""What a plan will take before it starts: from earlier runs, else guessed; bytes for each disk, endurance, space."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.inventory.models import Array, ArrayMember, Disk, Filesystem, Host, Target
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.plans.estimates.disk_writes import endurance_of, shares_of
from apps.plans.estimates.plan_estimate import HOSTS_MARGIN, PlanEstimate, estimate_page, estimate_request
from apps.plans.plan_request import PlanRequest, find_preset, make_points
from apps.plans.services import create_plan
from apps.runs.host_guards import check_guards
from apps.runs.models import Attempt, Run
from apps.runs.samples import save_samples
from apps.runs.services import start_runs
from apps.runs.workload import AROUND_RUN_S, GUESSED_BYTES, Speeds, checked, fill_bytes, guess_seconds, guess_written
from apps.studies.models import Configuration, Plan, Study, StudyRun
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.run_assignment import runs_of
from tests.api.conftest import Script, script
from tests.plans.conftest import GIB, JOB, MIB
from tests.sampling import for_each
from worker.agent.conf import FREE_MARGIN

__all__ = ["script"]
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
TIMED = {"rw": "randwrite", "direct": True, "sync": "none", "time_based": True, "runtime": 60, "ioengine": "libaio"}


def job(**changes: Any) -> dict[str, Any]:
    return checked({"jobs": [{"rw": "read", "file_size": GIB, "block_size": MIB, **changes}]})


def estimate(plan: Plan) -> PlanEstimate:
    found = estimate_page(PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study)))
    assert found is not None
    return found


def ran(
    target: Target, spec: dict[str, Any], seconds: float, filling: float = 0.0, written: float | None = None
) -> Run:
    """Store a run that took so long from fio's start on, and so much longer before it for filling its files."""
    [run] = start_runs(lab=target.lab, target=target, spec=spec)
    end = timezone.now()
    start = end - timedelta(seconds=seconds)
    begun = start - timedelta(seconds=filling)
    Run.objects.filter(pk=run.pk).update(state="finished", created_at=begun, started_at=start, finished_at=end)
    Attempt.objects.create(
        lab=target.lab, run=run, host=target.host, number=1, state="finished", offered_at=start,
        accepted_at=begun, started_at=start, ended_at=end, ingested_at=end,
    )  # fmt: skip
    if written is not None:
        save_samples(run, [ParsedSample("randwrite", "io_bytes", written, file_size=GIB, block_size=4096)], None)
    return run


def test_a_guess_counts_the_filling_of_test_files() -> None:
    speeds = Speeds(read=200e6, write=100e6, accesses=1000)
    fill, one_pass = GIB / 100e6, GIB / 200e6
    assert guess_seconds(job(), speeds) == pytest.approx(AROUND_RUN_S + fill + one_pass)
    assert guess_seconds(job(rw="write"), speeds) == pytest.approx(AROUND_RUN_S + GIB / 100e6), "nothing to fill"
    timed = job(time_based=True, runtime=60, ramp_time=5, numjobs=4)
    assert guess_seconds(timed, speeds) == pytest.approx(AROUND_RUN_S + 4 * fill + 65)
    short = job(runtime=60)
    assert guess_seconds(short, speeds) == pytest.approx(AROUND_RUN_S + fill + one_pass), "it ends with the file"
    scattered = job(rw="randread", block_size=4096)
    assert guess_seconds(scattered, speeds) == pytest.approx(AROUND_RUN_S + fill + GIB / 4096 / 1000)
    assert fill_bytes(job(ioengine="null")) == 0


def test_a_guess_of_what_is_written() -> None:
    speeds = Speeds(write=100e6)
    assert guess_written(job(), speeds) == GIB, "the test file"
    assert guess_written(job(rw="write", numjobs=2), speeds) == 2 * GIB
    assert guess_written(job(rw="randwrite", time_based=True, runtime=60), speeds) == 60 * 100e6
    mixed = job(rw="randrw", time_based=True, runtime=10, rwmixread=70)
    assert guess_written(mixed, speeds) == pytest.approx(GIB + 0.3 * 10 * 100e6)


def test_without_earlier_runs_all_is_a_guess_from_sizes(write_plan: WritePlan) -> None:
    found = estimate(write_plan())
    one, four = (AROUND_RUN_S + 2 * size * GIB / GUESSED_BYTES for size in (1, 4))
    assert {entry.source for entry in found.cells} == {"guess"}
    assert [host.seconds for host in found.hosts] == [pytest.approx(2 * (one + four))] * 2
    assert found.seconds == pytest.approx(2 * (one + four)), "hosts work side by side"
    assert (found.rounds, found.guessed) == (8, 8)


def test_earlier_runs_of_the_same_workload_count_with_their_filling(write_plan: WritePlan) -> None:
    plan = write_plan()
    target = Target.objects.get(host__name="alpha")
    spec = {"jobs": [{**JOB, "file_size": GIB, "block_size": MIB, "numjobs": 1, "iodepth": 1}]}
    for seconds, filling in ((10, 20), (12, 20), (50, 20)):
        ran(target, spec, seconds, filling)
    cells = {(entry.cell.target.host.name, entry.cell.point): entry for entry in estimate(plan).cells}
    small = cells["alpha", "small"]
    assert (small.seconds, small.source, small.runs) == (pytest.approx(32), "target", 3)
    assert small.source_words == "median of 3 runs on this target"
    assert {cells[place].source for place in cells if place != ("alpha", "small")} == {"guess"}


def test_what_is_left_of_a_running_plan_counts_the_filling_too(write_plan: WritePlan) -> None:
    plan = write_plan()
    target = Target.objects.get(host__name="alpha")
    run = ran(target, {"jobs": [{**JOB, "file_size": GIB, "block_size": MIB, "numjobs": 1, "iodepth": 1}]}, 10, 20)
    StudyRun.objects.create(run=run, configuration=Configuration.objects.get(target=target))
    save_samples(
        run, [ParsedSample("read", "bandwidth", 1e8, file_size=GIB, block_size=MIB, threads=1, iodepth=1)], None
    )
    left = PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study)).remaining
    assert left is not None
    small, large = (guess_seconds(checked({"jobs": [{**JOB, "file_size": size, "block_size": MIB, "numjobs": 1, "iodepth": 1}]}))
                    for size in (GIB, 4 * GIB))  # fmt: skip
    assert left.by_host["alpha"] == pytest.approx(30 + 2 * 30 * large / small), "one of 1 GiB, two of 4 GiB"


def test_the_looks_of_guards_and_pauses_are_counted_once(write_plan: WritePlan) -> None:
    """They are in what a run took, and are added to what is left: an hour of rounds must not become two."""
    plan = write_plan()
    target = Target.objects.get(host__name="alpha")
    run = ran(target, {"jobs": [{**JOB, "file_size": GIB, "block_size": MIB, "numjobs": 1, "iodepth": 1}]}, 10, 60)
    guards = check_guards([{"kind": "idle", "seconds": 5}, {"kind": "pause", "seconds": 30}, {"kind": "queues_off"}])
    Run.objects.filter(pk=run.pk).update(guards=guards)
    StudyRun.objects.create(run=run, configuration=Configuration.objects.get(target=target))
    save_samples(
        run, [ParsedSample("read", "bandwidth", 1e8, file_size=GIB, block_size=MIB, threads=1, iodepth=1)], None
    )
    page = PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study))
    [cell] = [cell for cell in page.cells if cell.runs]
    assert [held.seconds for held in cell.runs] == [pytest.approx(10 + 60 - 35)]
    small = next(entry for entry in estimate(plan).cells if entry.source == "target")
    assert small.seconds == pytest.approx(10 + 60 - 35)


def test_runs_that_a_person_queued_together_did_not_each_take_the_time_of_all(write_plan: WritePlan) -> None:
    plan = write_plan()
    target = Target.objects.get(host__name="alpha")
    spec = {"jobs": [{**JOB, "file_size": GIB, "block_size": MIB, "numjobs": 1, "iodepth": 1}]}
    end = timezone.now()
    for number in (1, 2, 3):
        run = ran(target, spec, 10)
        Run.objects.filter(pk=run.pk).update(created_at=end - timedelta(seconds=60))
        Attempt.objects.filter(run=run).update(ingested_at=end - timedelta(seconds=60 - 20 * number))
        StudyRun.objects.create(run=run, configuration=Configuration.objects.get(target=target))
        save_samples(
            run, [ParsedSample("read", "bandwidth", 1e8, file_size=GIB, block_size=MIB, threads=1, iodepth=1)], None
        )
    page = PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study))
    [cell] = [cell for cell in page.cells if cell.runs]
    assert [held.seconds for held in cell.runs] == [pytest.approx(20)] * 3


def test_another_target_of_the_same_host_is_the_next_best(write_plan: WritePlan) -> None:
    plan = write_plan()
    alpha = Host.objects.get(name="alpha")
    other = Target.objects.create(lab=alpha.lab, host=alpha, name="other", path="/other", is_agents_own=True)
    ran(other, {"jobs": [{**JOB, "file_size": GIB, "block_size": MIB, "numjobs": 1, "iodepth": 1}]}, 40)
    small = next(
        entry for entry in estimate(plan).cells if entry.cell.target.host == alpha and entry.cell.point == "small"
    )
    assert (small.source, small.source_words) == ("host", "median of 1 run on this host")


@pytest.fixture
def raid5(study: Study) -> Target:
    """Put alpha's target on three disks of RAID 5, of which one is rated for 600 TB."""
    host = Host.objects.get(name="alpha")
    array = Array.objects.create(lab=host.lab, host=host, name="md0", level="5")
    for number in range(3):
        labels = {"endurance": "600 TBW"} if number == 0 else {}
        disk = Disk.objects.create(
            lab=host.lab, host=host, device_name=f"sd{number}", serial=f"S{number}", labels=labels
        )
        ArrayMember.objects.create(array=array, position=number, disk=disk)
    filesystem = Filesystem.objects.create(
        lab=host.lab, host=host, array=array, mount_point="/data", free_bytes=2 * GIB
    )
    Target.objects.filter(host=host).update(filesystem=filesystem)
    target: Target = Target.objects.get(host=host)
    return target


def test_what_each_disk_takes_and_its_share_of_the_rated_endurance(write_plan: WritePlan, raid5: Target) -> None:
    point = {"name": "w", "tool": "fio", "file_size": GIB, "block_size": 4096, "iodepth": 32, "job": TIMED}
    plan = write_plan(points=[point])
    spec = {"jobs": [{**TIMED, "file_size": GIB, "block_size": 4096, "numjobs": 1, "iodepth": 32}]}
    ran(raid5, spec, 60, written=12e9)
    found = estimate(plan)
    assert [entry.written for entry in found.cells if entry.cell.target == raid5] == [12e9]
    disks = {entry.disk.serial: entry for entry in found.disks}
    assert {serial: entry.written for serial, entry in disks.items()} == {f"S{n}": 2 * 12e9 / 2 for n in range(3)}
    assert disks["S0"].share == pytest.approx(12e9 / 600e12)
    assert disks["S1"].share is None
    assert [target.host.name for target in found.unknown_disks] == ["beta"]


def test_files_that_do_not_fit_are_named(write_plan: WritePlan, raid5: Target) -> None:
    spaces = {entry.target.host.name: entry for entry in estimate(write_plan()).spaces}
    alpha = spaces["alpha"]
    assert (alpha.needed, alpha.free, alpha.is_enough, alpha.cells) == (4 * GIB, 2 * GIB, False, ("large",))
    assert (spaces["beta"].free, spaces["beta"].is_enough) == (None, None)


def test_what_hosts_keep_free_is_no_room_for_files(write_plan: WritePlan, raid5: Target) -> None:
    plan = write_plan()
    for free, is_enough in ((4 * GIB, False), (4 * GIB + HOSTS_MARGIN, True)):
        Filesystem.objects.filter(targets=raid5).update(free_bytes=free)
        alpha = next(entry for entry in estimate(plan).spaces if entry.target.host.name == "alpha")
        assert (alpha.is_enough, alpha.cells) == (is_enough, () if is_enough else ("large",))
    assert HOSTS_MARGIN == FREE_MARGIN


@for_each(
    "level, count, share",
    [("0", 4, 0.25), ("1", 2, 1.0), ("10", 4, 0.5), ("5", 4, 1 / 3), ("6", 6, 0.25), ("", 2, 0.5), ("linear", 2, 0.5)],
    taken_back=True,
)
def test_how_writes_are_spread(study: Study, level: str, count: int, share: float) -> None:
    from apps.inventory.topology.stack import stack_of

    host = Host.objects.get(name="alpha")
    array = Array.objects.create(lab=host.lab, host=host, name="md0", level=level)
    for number in range(count):
        disk = Disk.objects.create(lab=host.lab, host=host, device_name=f"sd{number}", serial=f"S{number}")
        ArrayMember.objects.create(array=array, position=number, disk=disk)
    Target.objects.filter(host=host).update(array=array)
    shares = shares_of(stack_of(Target.objects.get(host=host)).storage)
    assert list(shares.values()) == [pytest.approx(share)] * count


@pytest.mark.parametrize(
    ("text", "value"),
    [("600 TB", 6e14), ("1.2PBW", 1.2e15), ("800 gb", 8e11), ("1 DWPD", None), ("", None), ("many", None)],
)
def test_the_rated_endurance_is_a_label(text: str, value: float | None) -> None:
    assert endurance_of(Disk(labels={"endurance": text})) == value


def test_by_rest_before_anything_is_written_and_of_a_written_plan(script: Scripts, study: Study) -> None:
    targets = list(Target.objects.values_list("pk", flat=True))
    body = {"title": "Depths", "targets": targets, "preset": "queue-depth", "iodepths": "1,2..8", "file_sizes": "1g"}
    answer = script("run")("POST", "plans/estimate/", body)
    assert answer.status_code == 200, answer.content
    assert not Plan.objects.exists()
    found = answer.json()
    one = AROUND_RUN_S + GIB / GUESSED_BYTES + 30
    assert found["seconds"] == pytest.approx(5 * 4 * one)
    assert (found["rounds"], found["guessed"], len(found["cells"]), found["is_at_most"]) == (40, 40, 8, False)
    assert script("run")("POST", "plans/estimate/", {**body, "iodepths": "8..1"}).status_code == 400
    assert script("run")("POST", "plans/estimate/", {**body, "targets": [10**9]}).status_code == 404
    assert script("run")("POST", "plans/estimate/", {**body, "notes": "x" * 4001}).status_code == 400
    made = script("run")("POST", "plans/", body).json()
    written = script("read").get(f"plans/{made['id']}/estimate/").json()
    assert written["seconds"] == pytest.approx(found["seconds"])
    searched = script("run")("POST", "plans/estimate/", {**body, "preset": "saturation"}).json()
    assert searched["is_at_most"] is True


def test_the_form_asks_for_it_and_the_plan_shows_it_before_the_start(sign_in: SignIn, study: Study) -> None:
    form = {
        "title": "", "targets": list(Target.objects.values_list("pk", flat=True)), "preset": "steady-state", "kind": "usual",
        "rounds": 5, "percent": 2, "order": "interleaved", "guards": [],
    }  # fmt: skip
    client = sign_in("engineer")
    text = client.post("/plans/new/estimate/", form).content.decode()
    assert "All of it is a <em>guess</em>" in text
    assert "if the rule asks for all rounds that it may" in text
    assert "its disks are not known" in text
    assert "<html" not in text
    assert not Plan.objects.exists()
    assert (
        "Targets: This field is required"
        in client.post("/plans/new/estimate/", {**form, "targets": []}).content.decode()
    )
    bad = client.post("/plans/new/estimate/", {**form, "file_sizes": "4 GB"}).content.decode()
    assert "No estimate yet." in bad
    long = client.post("/plans/new/estimate/", {**form, "notes": "x" * 4001}).content.decode()
    assert "Notes: Ensure this value has at most 4000 characters (it has 4001)." in long
    assert sign_in("viewer").post("/plans/new/estimate/", form).status_code == 403
    client.post("/plans/new/", {**form, "title": "Steady"})
    plan = Plan.objects.get()
    assert "Estimate before the start" in client.get(f"/plans/{plan.pk}/").content.decode()
    client.post(f"/plans/{plan.pk}/start/", {"retries": "0"})
    assert "Estimate before the start" not in client.get(f"/plans/{plan.pk}/").content.decode()


def test_guards_and_preparations_count_before_the_plan_is_written(
    script: Scripts, sign_in: SignIn, study: Study
) -> None:
    """The form, REST and the written plan say the same; what the plan would refuse, the estimate refuses too."""
    targets = list(Target.objects.filter(host__name="alpha").values_list("pk", flat=True))
    body = {
        "title": "Depths", "targets": targets, "preset": "queue-depth", "iodepths": "1,2", "file_sizes": "1g",
        "guards": [{"kind": "idle", "seconds": 5}],
        "preparations": [{"kind": "pause", "time": "step", "seconds": 30}, {"kind": "sequential_fill", "passes": 1}],
    }  # fmt: skip
    extra = script("run")("POST", "plans/estimate/", body).json()["extra"]
    steps = 5 * 2 * len(targets)
    assert extra == {"seconds": steps * 35, "unknown": ["sequential fill"], "written": GIB * len(targets)}
    made = script("run")("POST", "plans/", body).json()
    assert script("read").get(f"plans/{made['id']}/estimate/").json()["extra"] == extra
    for wrong in ({"kind": "pause"}, {"kind": "sequential_fill", "file_size": "70t"}):
        refused = script("run")("POST", "plans/estimate/", {**body, "preparations": [wrong]})
        assert refused.status_code == 400
    assert "a size from 1m to 64t" in refused.json()["detail"]
    form = {
        "title": "", "targets": targets, "preset": "queue-depth", "iodepths": "1,2", "kind": "usual", "rounds": 5,
        "percent": 2, "order": "interleaved", "guards": [], "prepare-pause-is_wanted": "on",
        "prepare-pause-time": "step", "prepare-pause-seconds": "60",
    }  # fmt: skip
    client = sign_in("engineer")
    assert "guards and preparation take about" in client.post("/plans/new/estimate/", form).content.decode()
    missing = client.post("/plans/new/estimate/", {**form, "prepare-pause-seconds": ""}).content.decode()
    assert "No estimate yet. The preparation is not complete." in missing


def test_many_targets_take_no_more_queries_than_few(study: Study, lab: Lab) -> None:
    """Two directories and sixty: a lab of a thousand targets gets its estimate while it types."""
    host = Host.objects.get(name="alpha")
    disk, member = (Disk.objects.create(lab=lab, host=host, device_name=name, serial=name) for name in ("sdx", "sdy"))
    array = Array.objects.create(lab=lab, host=host, name="md9", level="0")
    ArrayMember.objects.create(array=array, disk=member, position=0)
    targets = []
    for number in range(60):
        lies_on = {"array": array} if number % 2 else {"disk": disk}
        filesystem = Filesystem.objects.create(lab=lab, host=host, mount_point=f"/d{number}", **lies_on)
        targets.append(
            Target.objects.create(
                lab=lab, host=host, name=f"d{number}", kind="directory", path=f"/d{number}", filesystem=filesystem
            )
        )
    points = make_points(find_preset("quick-check"), {"file_sizes": "1g"})

    def measured(count: int) -> tuple[int, PlanEstimate]:
        chosen = list(
            Target.objects.select_related("host", "filesystem").filter(pk__in=[t.pk for t in targets[:count]])
        )
        wanted = PlanRequest(lab, "x", chosen, points, {"kind": "fixed", "rounds": 1})
        with CaptureQueriesContext(connection) as queries:
            found = estimate_request(wanted)
        return len(queries), found

    few, many = measured(2), measured(60)
    assert many[0] == few[0]
    assert [entry.disk.device_name for entry in many[1].disks] == ["sdx", "sdy"]
    assert many[1].unknown_disks == ()
    assert many[1].disks[0].written == pytest.approx(30 * few[1].disks[0].written)


def test_a_plan_of_many_targets_is_written_with_few_queries(study: Study, lab: Lab) -> None:
    """A target that the study knows keeps its configuration; the others get theirs together."""
    host = Host.objects.get(name="alpha")
    known = Configuration.objects.filter(study=study, target__host=host).get()
    for number in range(30):
        Target.objects.create(lab=lab, host=host, name=f"d{number}", kind="directory", path=f"/d{number}")
    points = make_points(find_preset("quick-check"), {"file_sizes": "1g"})
    targets = list(Target.objects.select_related("host").filter(host=host))
    wanted = PlanRequest(lab, "Many", targets, points, {"kind": "fixed", "rounds": 1}, study=study)
    with CaptureQueriesContext(connection) as queries:
        plan = create_plan(wanted, actor="eve")
    assert [row.configuration.target for row in plan.rows.select_related("configuration__target")] == targets
    assert known.pk in {row.configuration_id for row in plan.rows.all()}
    positions = list(Configuration.objects.filter(study=study).values_list("position", flat=True))
    assert len(set(positions)) == len(positions)
    assert sum("studies_configuration" in query["sql"] for query in queries) <= 8
