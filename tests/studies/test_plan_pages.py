"""A study's plan page: matrix, holes, runs by hand, and the form that writes plans."""

import html
import json
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.runs.models import Run
from apps.runs.samples import save_samples
from apps.runs.services import start_runs
from apps.runs.states import State
from apps.studies.models import Configuration, Plan, PlannedRun, Study, StudyRun
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.plan_page import plans_of_study
from apps.studies.plans.schema import plan_of
from tests.sampling import for_each

MIB, GIB = 1 << 20, 1 << 30
PAGE = "/studies/disks/plan/"
JOB = {"rw": "read", "direct": True, "sync": "none", "time_based": False}
WRITTEN: dict[str, Any] = {
    "name": "reading", "title": "Reading", "stopping": {"kind": "fixed", "rounds": 2},
    "configurations": [
        {"configuration": "small"},
        {"configuration": "large", "largest_file_size": 6 * GIB, "limit_reason": "the partition is full"},
    ],
    "points": [
        {"name": "1g", "label": "1 GiB", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB},
        {"name": "4x", "tool": "fio", "ram_multiple": 4, "block_size": MIB, "job": JOB},
    ],
    "guards": [{"kind": "idle"}, {"kind": "cache_rule", "factor": 4}],
}  # fmt: skip


@pytest.fixture
def study(lab: Lab) -> Study:
    study = Study.objects.create(lab=lab, slug="disks", title="Disks")
    for at, (name, ram) in enumerate([("small", GIB), ("large", 2 * GIB)]):
        host = Host.objects.create(lab=lab, name=f"host-{name}", ram_bytes=ram)
        target = Target.objects.create(lab=lab, host=host, name="data", is_agents_own=True)
        Configuration.objects.create(
            study=study, name=name, label=name.capitalize(), host=host, target=target, position=at
        )
    return study


@pytest.fixture
def plan(study: Study) -> Plan:
    return save_plan(study, plan_of(WRITTEN), actor="me", position=0)[0]


def states(study: Study) -> dict[tuple[str, str], str]:
    return {(cell.row.name, cell.point.name): cell.state for shown in plans_of_study(study) for cell in shown.cells}


def by_hand(lab: Lab, host: str, size: int, count: int = 1) -> list[Run]:
    target = Target.objects.get(host__name=host)
    return start_runs(
        lab=lab, target=target, spec={"jobs": [{**JOB, "file_size": size, "block_size": MIB}]}, repetitions=count
    )


def finish(run: Run, value: float, seconds: int) -> None:
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(
        state=State.FINISHED, started_at=now, finished_at=now + timedelta(seconds=seconds)
    )
    save_samples(run, [ParsedSample("read", "bandwidth", value, file_size=GIB, block_size=MIB, threads=1)], None)


def test_the_matrix_shows_states_holes_and_sizes_by_each_hosts_ram(study, plan, sign_in) -> None:
    text = sign_in("viewer").get(PAGE).content.decode()
    assert "Small" in text
    assert "4\u00a0GiB file" in text, "4 × 1 GiB"
    assert "Files end at 6\u00a0GiB here: the partition is full." in text
    assert "3 waiting" in text
    assert "1 not run" in text
    assert "2 rounds." in text
    assert "host-small" in text
    assert "4\u00a0GiB / 1\u00a0GiB RAM = 4 × RAM" in text
    assert "The plan.s own page" in text.replace("&#x27;", ".").replace("'", ".")
    assert "Nothing is known yet of the time of 6 rounds." in text
    for word in (">New run<", "exclude", "Edit", "Write a plan"):
        assert word not in text, "a viewer reads"


def test_a_cell_leads_to_the_run_form_with_its_workload_and_target(study, plan, sign_in) -> None:
    client = sign_in("engineer")
    shown = plans_of_study(study)[0].cells[1]
    text = client.get(PAGE).content.decode()
    start = text.index("/runs/new/")
    address = text[start : text.index('"', start)].replace("&amp;", "&")
    asked = parse_qs(urlsplit(address).query)
    assert asked["target"] == [str(Target.objects.get(host__name="host-small").pk)]
    [job] = json.loads(asked["jobs"][0])
    assert (job["rw"], job["file_size"], job["block_size"]) == ("read", GIB, MIB)
    form = client.get(address).content.decode()
    assert 'value="1g"' in form
    assert shown.workload["jobs"][0]["file_size"] == 4 * GIB
    assert text.count(">New run<span") == 3, "not for the hole"


def test_runs_started_by_hand_are_taken_into_the_study_at_their_cell(study, plan, sign_in, lab) -> None:
    first, second = by_hand(lab, "host-small", GIB, 2)
    finish(first, 1e8, 30)
    other = by_hand(lab, "host-small", 2 * GIB)[0]  # no cell asks for this size
    client = sign_in("engineer")
    assert "2 runs fit cells of" in client.get(PAGE).content.decode()
    assert states(study)["small", "1g"] == "waiting"
    assert client.post(f"/plans/{plan.pk}/take/").status_code == 302
    assert states(study)["small", "1g"] == "running"
    assert list(PlannedRun.objects.order_by("run_id").values_list("run_id", "round")) == [(first.pk, 1), (second.pk, 2)]
    assert set(StudyRun.objects.values_list("run_id", flat=True)) == {first.pk, second.pk}
    assert not StudyRun.objects.filter(run=other).exists()
    finish(second, 1.1e8, 40)
    assert states(study)["small", "1g"] == "done"
    text = client.get(PAGE).content.decode()
    assert "2/2" in text
    # 1 GiB took 30 s and 4 GiB is guessed to take 3.2 times as long, twice; the other host's rounds are unknown
    assert "About 3\u00a0min 13\u00a0s, from 2 rounds whose time is known" in text
    assert "Nothing is known yet of the time of 2 rounds." in text


OPTIONS = {"rw": "read", "bs": "1m", "size": "1g", "direct": "1", "ioengine": "libaio"}


def uploaded(lab: Lab, name: str = "large", tool: str = "fio", **changed: Any) -> Run:
    """A run of the configuration's own target, with what fio printed of its only job."""
    configuration = Configuration.objects.get(name=name)
    sections = {"0": {"name": "job", "options": {**OPTIONS, **changed.pop("options", {})}}}
    place = {"host": configuration.host, "target": configuration.target} | changed
    run: Run = Run.objects.create(
        lab=lab, tool=tool, origin="uploaded", state="finished", sections=sections if tool == "fio" else {}, **place
    )
    save_samples(run, [ParsedSample("read", "bandwidth", 1e8, file_size=GIB, block_size=MIB)], None)
    StudyRun.objects.create(run=run, configuration=configuration)
    return run


def test_runs_that_are_in_the_study_are_found_by_what_the_plan_names(study, plan, lab) -> None:
    uploaded(lab)
    found = states(study)
    assert found["large", "1g"] == "partly"
    assert found["small", "1g"] == "waiting"
    assert found["large", "4x"] == "not run"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"tool": "bonnie++"}, "tool: bonnie++; the plan asks for fio"),
        ({"target": None}, "target: not known; the plan asks for host-large: data"),
        ({"options": {"direct": "0"}}, "direct I/O: no; the plan asks for yes"),
        ({"options": {"sync": "dsync"}}, "sync: dsync; the plan asks for none"),
        ({"options": {"rw": "randrw"}}, "fio's pattern: randrw; the plan asks for read"),
    ],
)
def test_a_run_that_differs_is_not_counted_and_the_page_says_why(study, plan, lab, sign_in, changed, reason) -> None:
    run = uploaded(lab, **changed)
    assert states(study)["large", "1g"] == "waiting"
    text = html.unescape(sign_in("viewer").get(PAGE).content.decode())
    assert f"Large, 1 GiB: runs not counted: 1. {reason}." in text
    assert f'href="/runs/{run.pk}/"' in text


def test_a_run_made_for_a_step_counts_only_while_the_step_asks_for_it(study, plan, sign_in, lab) -> None:
    finish(by_hand(lab, "host-small", GIB)[0], 1e8, 30)
    sign_in("engineer").post(f"/plans/{plan.pk}/take/")
    assert states(study)["small", "1g"] == "partly"
    plan.points.filter(name="1g").update(block_size=2 * MIB)
    assert states(study)["small", "1g"] == "waiting"


def test_a_failed_run_is_shown_until_it_is_run_again(study, plan, lab) -> None:
    run = by_hand(lab, "host-large", GIB)[0]
    StudyRun.objects.create(run=run, configuration=Configuration.objects.get(name="large"))
    Run.objects.filter(pk=run.pk).update(state=State.FAILED)
    assert states(study)["large", "1g"] == "failed"


def test_a_cell_is_left_out_with_a_reason_and_put_in_again(study, plan, sign_in) -> None:
    client = sign_in("engineer")
    address = f"/plans/{plan.pk}/cell/?row=small&point=4x"
    assert client.get(address).status_code == 200
    client.post(address, {"reason": "No wish to wait.", "note": ""})
    assert states(study)["small", "4x"] == "not run"
    text = client.get(PAGE).content.decode()
    assert "why: No wish to wait.</a>" in text, "in the cell itself, in words"
    assert text.count(">include<") == 1, "not for the hole that follows from the largest file"
    refused = client.post(address, {"reason": "x" * 501, "note": ""})
    assert refused.status_code == 422
    assert "at most 500 characters" in refused.content.decode()
    assert client.post(address, {}).status_code == 302
    assert states(study)["small", "4x"] == "waiting"
    assert client.get(f"/plans/{plan.pk}/cell/?row=small&point=none").status_code == 404


def form_of(**changed: Any) -> dict[str, Any]:
    """What the browser sends for a new plan of both configurations with two points."""
    data: dict[str, Any] = {
        "act": "save", "title": "Mine", "order": "randomized", "seed": "7", "kind": "half_width", "rounds": "5", "percent": "2",
        "confidence": "95", "at_least": "5", "at_most": "30", "notes": "", "points": "2",
        "r0-name": "small", "r0-configuration": "small", "r0-is_included": "on", "r0-largest_file_size": "2g", "r0-limit_reason": "full",
        "r1-name": "large", "r1-configuration": "large", "r1-is_included": "on",
        "p0-label": "All of it", "p0-file_size": "4 x RAM", "p0-block_size": "1m", "p0-rw": "read", "p0-direct": "on", "p0-sync": "none",
        "p1-label": "", "p1-file_size": "100 MiB", "p1-tool": "dd", "p1-operations": "write, read",
        "g0-kind": "idle", "g0-is_included": "on", "g0-is_required": "on", "g5-kind": "cache_rule", "g5-is_included": "on", "g5-factor": "4",
        **{f"g{at}-kind": kind for at, kind in enumerate(["users_out", "queues_off", "fresh_system", "alone"], 1)},
        **{f"g{at}-kind": kind for at, kind in enumerate(["caches_dropped", "file_removed", "array_settled"], 6)},
        **{f"g{at}-kind": kind for at, kind in enumerate(["space", "filesystem", "temperature", "preconditioned"], 9)},
    }  # fmt: skip
    return {**data, **changed}


def test_a_plan_is_written_by_the_form(study, sign_in) -> None:
    answer = sign_in("engineer").post(f"{PAGE}new/", form_of())
    plan = Plan.objects.get()
    assert answer.headers["Location"] == f"/plans/{plan.pk}/"
    assert (plan.order, plan.seed, plan.is_from_report) == ("randomized", 7, False)
    assert plan.stopping == {"kind": "half_width", "percent": 2.0, "confidence": 95.0, "at_least": 5, "at_most": 30}
    assert plan.rows.get(name="small").largest_file_size == 2 * GIB
    point = plan.points.get(name="all-of-it")
    assert (point.ram_multiple, point.block_size, point.job["rw"]) == (4.0, MIB, "read")
    assert list(plan.points.values_list("name", "tool", "file_size")) == [
        ("all-of-it", "fio", None),
        ("point-2", "dd", 100 * MIB),
    ]
    assert plan.guards.get(kind="cache_rule").parameters == {"factor": 4.0, "tolerance": 0.0}
    assert set(plan.guards.values_list("kind", "is_required")) == {("idle", True), ("cache_rule", False)}
    assert len(plans_of_study(study)[0].steps) == 5 * 3, "four cells, one of them beyond the largest file"


def test_an_error_stands_at_the_field_that_it_is_about(study, sign_in) -> None:
    changed = {"p0-block_size": "7", "p1-tool": "", "r0-limit_reason": "", "at_least": "50", "seed": ""}
    for field, value in changed.items():
        answer = sign_in("engineer").post(f"{PAGE}new/", form_of(**{field: value}))
        draft = answer.context["draft"]
        forms = (draft.form, *draft.points, *(row for row, _ in draft.rows))
        assert [form.add_prefix(name) for form in forms for name in form.errors] == [field]
        assert answer.status_code == 422
    assert not Plan.objects.exists()


@pytest.mark.slow
@for_each(
    "changed, sentence",
    [
        ({"p0-file_size": "4 GB"}, "1000 to some and 1024 to others"),
        ({"p0-block_size": ""}, "a job only with tool fio and a block size"),
        ({"p1-tool": ""}, "expected a text of 1 to 40 letters"),
        ({"r0-limit_reason": ""}, "expected the reason why files end there"),
        ({"seed": ""}, "expected a whole number from 0"),
        ({"at_least": "50"}, "expected a whole number from 3 to 30"),
        ({"r0-is_included": "", "r1-is_included": ""}, "expected 1 to 1000 of them"),
        ({"title": ""}, "This field is required"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_typed_is_lost(study, sign_in, changed, sentence) -> None:
    answer = sign_in("engineer").post(f"{PAGE}new/", form_of(**changed))
    text = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in text
    assert 'value="100 MiB"' in text
    assert not Plan.objects.exists()


def test_points_are_added_removed_and_moved_without_losing_what_was_typed(study, sign_in) -> None:
    client = sign_in("engineer")
    added = client.post(f"{PAGE}new/", form_of(act="add")).content.decode()
    assert 'name="points" value="3"' in added
    assert added.count('value="100 MiB"') == 2, "the new one is like the last one"
    moved = client.post(f"{PAGE}new/", form_of(act="up-1")).content.decode()
    assert moved.index('value="100 MiB"') < moved.index('value="4 x RAM"')
    removed = client.post(f"{PAGE}new/", form_of(act="remove-0")).content.decode()
    assert 'value="4 x RAM"' not in removed
    assert 'value="Mine"' in removed
    assert not Plan.objects.exists()


def test_an_edited_plan_keeps_its_rows_points_and_what_was_said_of_cells(study, plan, sign_in) -> None:
    client = sign_in("engineer")
    client.post(f"/plans/{plan.pk}/cell/?row=small&point=1g", {"reason": "not now", "note": ""})
    ids = set(plan.points.values_list("pk", flat=True))
    text = client.get(f"/plans/{plan.pk}/edit/").content.decode()
    assert 'value="4 x RAM"' in text
    assert 'value="6g"' in text
    points = {
        "p0-name": "1g",
        "p0-label": "One",
        "p0-file_size": "1g",
        "p1-name": "4x",
        "p1-file_size": "4 x RAM",
        "p1-block_size": "1m",
        "p1-rw": "read",
    }
    data = form_of(**points, order="interleaved", kind="fixed", rounds="3")
    assert client.post(f"/plans/{plan.pk}/edit/", data).status_code == 302
    plan.refresh_from_db()
    assert (plan.title, plan.name, plan.rule.least) == ("Mine", "reading", 3)
    assert set(plan.points.values_list("pk", flat=True)) == ids
    assert plan.cells.get().reason == "not now"


def test_viewers_write_nothing_and_reports_of_other_labs_are_read_only(cast, study, plan, sign_in) -> None:
    viewer, stranger = sign_in("viewer"), sign_in("stranger")
    for address in (f"{PAGE}new/", f"/plans/{plan.pk}/edit/", f"/plans/{plan.pk}/delete/"):
        assert viewer.get(address).status_code == 403
        assert stranger.get(address).status_code == 404
    Lab.objects.filter(pk=cast.lab.pk).update(is_published=True)
    text = stranger.get(PAGE).content.decode()
    assert "Reading" in text
    assert "Write a plan" not in text
    assert stranger.get(f"/plans/{plan.pk}/edit/").status_code == 404
    assert stranger.post(f"/plans/{plan.pk}/delete/").status_code == 404
    assert Plan.objects.filter(pk=plan.pk).exists()


def test_deleting_a_plan_says_what_stays_and_leaves_the_runs(study, plan, sign_in, lab) -> None:
    run = by_hand(lab, "host-small", GIB)[0]
    client = sign_in("engineer")
    client.post(f"/plans/{plan.pk}/take/")
    assert "all runs" in client.get(f"/plans/{plan.pk}/delete/").content.decode()
    assert client.post(f"/plans/{plan.pk}/delete/").headers["Location"] == PAGE
    assert StudyRun.objects.filter(run=run).exists()
    assert not PlannedRun.objects.exists()


def test_a_study_without_a_plan_says_what_one_is(study, sign_in) -> None:
    assert "This study has no plan" in sign_in("viewer").get(PAGE).content.decode()
    assert f'href="{PAGE}new/"' in sign_in("engineer").get(PAGE).content.decode()
    assert sign_in("viewer").get("/studies/none/plan/").status_code == 404


def test_the_page_asks_the_database_a_constant_number_of_times(cast, study, plan, sign_in, lab) -> None:
    client = sign_in("viewer")
    client.get(PAGE)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get(PAGE)
        counts.append(len(asked))
        with lab_scope(lab.pk):
            save_plan(study, plan_of({**WRITTEN, "name": "second", "title": "Second"}), actor="me", position=1)
            for run in by_hand(lab, "host-small", GIB, 5):
                StudyRun.objects.create(run=run, configuration=Configuration.objects.get(name="small"))
                finish(run, 1e8, 1)
    assert counts[0] == counts[1] <= 16


def test_rest_gives_the_plan_with_cells_steps_and_the_cache_rule(study, plan, token, client) -> None:
    headers = {"Authorization": f"Bearer {token('read')}"}
    [listed] = client.get("/api/v1/plans/?study=disks", headers=headers).json()["results"]
    assert (listed["id"], listed["study"], listed["order"]) == (plan.pk, "disks", "interleaved")
    assert client.get("/api/v1/plans/?study=none", headers=headers).json()["results"] == []
    answer = client.get(f"/api/v1/plans/{plan.pk}/", headers=headers)
    whole = answer.json()
    assert [cell["state"] for cell in whole["cells"]] == ["waiting", "waiting", "waiting", "not run"]
    assert [(step["round"], step["configuration"], step["point"]) for step in whole["steps"]] == [
        (1, "small", "1g"), (1, "large", "1g"), (1, "small", "4x"), (2, "small", "1g"), (2, "large", "1g"), (2, "small", "4x"),
    ]  # fmt: skip
    assert [(one["host"], one["multiple"], one["is_met"]) for one in whole["cache_rule"]] == [
        ("host-small", 4.0, True), ("host-large", 0.5, False),
    ]  # fmt: skip
    assert whole["cells"][1]["workload"]["jobs"][0]["file_size"] == 4 * GIB
    assert whole["remaining"] == {"seconds": 0.0, "by_host": {}, "known": 0, "unknown": 6}
    again = client.get(f"/api/v1/plans/{plan.pk}/", headers={**headers, "If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
