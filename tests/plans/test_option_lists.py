"""Every option of fio as one more dimension of a plan: from the form, from REST, over presets, saved workloads and runs."""

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.parsers.fio.job_options.table import spell_value
from apps.plans.point_variation import ELSEWHERE, read_plan_options
from apps.runs.fio_options import BY_NAME, OPTIONS
from apps.runs.models import Run, SavedWorkload
from apps.runs.services import start_runs
from apps.runs.start.option_lists import separator_of
from apps.runs.start.saved_workloads import save_workload
from apps.runs.start.value_ranges import SEMICOLON
from apps.studies.models import Plan, Study, StudyRun
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.problems import PlanError
from apps.studies.plans.run_assignment import _facts, runs_of
from tests.api.conftest import Script, script
from tests.api.wrong_types import VALUES as WRONG_TYPES
from tests.runs.option_values import at_limits
from tests.sampling import for_each

__all__ = ["script"]
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
JOB = {"rw": "randread", "block_size": 4 * KIB, "file_size": GIB, "runtime": 10, "time_based": True}
Scripts = Callable[[str], Script]
pytestmark = pytest.mark.django_db


@pytest.fixture
def target(lab: Lab) -> Target:
    host = Host.objects.create(lab=lab, name="alpha", ram_bytes=GIB)
    target: Target = Target.objects.create(lab=lab, host=host, name="data", path="/data", is_agents_own=True)
    return target


def body(target: Target, **changes: Any) -> dict[str, Any]:
    small = {"patterns": "randread", "block_sizes": "4k", "iodepths": "1", "file_sizes": "1g"}
    given = {"title": "Options", "targets": [target.pk], "preset": "matrix", **small, **changes}
    return {name: value for name, value in given.items() if value is not None}


def of_base(target: Target, **changes: Any) -> dict[str, Any]:
    """Return a body without a preset and its lists."""
    return {"title": "Options", "targets": [target.pk], **changes}


def labels_of(plan: Plan) -> list[str]:
    """Return the labels of a plan's points, with plain blanks in their sizes."""
    return [point.label.replace("\N{NO-BREAK SPACE}", " ") for point in plan.points.all()]


def make(client: Script, wanted: dict[str, Any]) -> Plan:
    answer = client("POST", "plans/", wanted)
    assert answer.status_code == 201, answer.content
    plan: Plan = Plan.objects.whole().get(pk=answer.json()["id"])
    return plan


def test_a_list_of_an_option_is_a_dimension_of_the_matrix(script: Scripts, target: Target) -> None:
    options = {"ioengine": ["libaio", "io_uring"], "thinktime": "10..30 step 10", "nice": 5}
    plan = make(script("run"), body(target, iodepths="8,16", options=options))
    assert len(labels_of(plan)) == 2 * 2 * 3
    assert labels_of(plan)[:2] == ["randread depth 8 ioengine=libaio thinktime=10",
                                   "randread depth 8 ioengine=libaio thinktime=20"]  # fmt: skip
    first = plan.points.first()
    assert first is not None
    assert first.name == "randread-depth-8-ioengine-libaio-thinktime-10"
    assert (first.job["ioengine"], first.job["thinktime"], first.job["nice"]) == ("libaio", 10, 5)
    assert first.iodepth == 8
    read = script("run").get(f"plans/{plan.pk}/").json()
    assert [point["job"]["thinktime"] for point in read["points"][:3]] == [10, 20, 30], "REST tells them apart"
    assert read["cells"][0]["workload"]["jobs"][0]["ioengine"] == "libaio"


def test_every_option_of_the_table_can_be_a_list_or_says_where_it_is_asked_for() -> None:
    """Two values in fio's own spelling, with the option's separator between them, are just these two."""
    for option in OPTIONS:
        first, *others = (value for value in at_limits(option.kind) if value is not None)
        values = [first, *(value for value in others[:1] if value != first)]
        if option.name in ELSEWHERE:
            with pytest.raises(PlanError, match="expected nothing"):
                read_plan_options({option.name: values})
            continue
        between = "; " if separator_of(option) == SEMICOLON else ", "
        spelled = [spell_value(option.name, value) for value in values]
        assert read_plan_options({option.name: between.join(spelled)}) == {option.name: values}
        assert read_plan_options({option.name: values}) == {option.name: values}
        assert read_plan_options({option.name: [*spelled, *values]}) == {option.name: values}


def refused_field(name: str, value: Any) -> str:
    """Return the field that is refused; empty where all values that were read are the option's own."""
    try:
        taken = read_plan_options({name: value})[name]
    except PlanError as error:
        return error.field
    return "" if all(item is None or BY_NAME[name].kind.accepts(item) for item in taken) else "not its own"


def test_each_option_takes_or_refuses_each_type_of_json_by_its_name() -> None:
    for option in OPTIONS:
        for value in WRONG_TYPES:
            assert refused_field(option.name, value) in ("", f"options.{option.name}"), (option.name, value)


def test_a_comma_that_is_fios_own_separates_no_values(script: Scripts, target: Target) -> None:
    plan = make(script("run"), body(target, options={"rate": "1m; 1m,2m; default"}))
    assert labels_of(plan) == ["randread rate=default", "randread rate=1m", "randread rate=1m,2m"]
    jobs = [point.job.get("rate") for point in plan.points.all()]
    assert jobs == [None, [MIB], [MIB, 2 * MIB]]
    columns = [text for _, text in PlanPage(plan, runs_of(plan.study)).columns]
    assert [column.rpartition(", ")[2] if "rate" in column else column for column in columns][1] == "rate: 1m"


@for_each("changed, field, words", [
        ({"options": {"thinktime": "1..60 step 1", "nice": "0..19 step 1"}}, "options.thinktime", "1200 combinations"),
        ({"options": {"thinktime": "1..60 step 1", "startdelay": "1..60 step 1", "nice": "0,1"}}, "options", "at most 600"),
        ({"options": {"thinktime": "1..100 step 1"}}, "options.thinktime", "at most 60 values"),
        ({"options": {"iodepth": "1,2"}}, "options.iodepth", "iodepths"),
        ({"options": {"stonewall": "yes"}}, "options.stonewall", "begin together"),
        ({"options": {"exec_prerun": "id"}}, "options", "exec_prerun"),
        ({"options": {"bs": "4k,8k"}}, "options", "block_size"),
        ({"options": {"ioengine": "aio"}}, "options.ioengine", "one of psync"),
        ({"options": {"nice": "0..19 step 0"}}, "options.nice", "a step above 0"),
        ({"options": {"nice": [0, "20"]}}, "options.nice", "a whole number from 0 to 19"),
        ({"options": {"rate": [[1, 2, 3]]}}, "options.rate", "a list of 1 to 2"),
        ({"options": {"nice": []}}, "options.nice", "1 to 60 values"),
        ({"options": {"verify": "md5"}}, "options.verify", "none, unless rw writes data"),
        ({"options": ["nice"]}, "options", "dictionary"),
        ({"options": {"runtime": "10,20"}, "runtime": 5}, "runtime", "nothing beside options.runtime"),
        ({"preset": "sync-trio", "options": {"runtime": "10,20"}}, "options.runtime", "the procedure Sync trio has its own"),
        ({"preset": "sync-trio", "options": {"sync": "none"}}, "options.sync", "varies it itself"),
    ])  # fmt: skip
def test_what_is_no_list_is_refused_by_its_name(script: Scripts, target: Target, changed, field, words) -> None:
    wanted = body(target, **changed)
    if "preset" in changed:
        wanted = of_base(target, **changed)
    for address in ("plans/", "plans/estimate/"):
        answer = script("run")("POST", address, wanted)
        assert answer.status_code == 400, answer.content
        problem = answer.json()
        assert field in json.dumps(problem)
        assert words in json.dumps(problem), problem
    assert not Plan.objects.exists()


def test_combinations_that_fio_refuses_are_left_out_by_name(script: Scripts, target: Target) -> None:
    plan = make(script("run"), body(target, iodepths="1,8", options={"ioengine": "psync, libaio"}, notes="Mine."))
    assert labels_of(plan) == [
        "randread depth 1 ioengine=psync", "randread depth 1 ioengine=libaio", "randread depth 8 ioengine=libaio",
    ]  # fmt: skip
    assert plan.notes.startswith("Mine.\nrandread depth 8 ioengine=psync is left out: iodepth: found 8")


def test_an_option_at_its_default_is_not_a_second_point(script: Scripts, target: Target) -> None:
    plan = make(script("run"), body(target, options={"thinktime": "default, 0, 5"}))
    assert labels_of(plan) == ["randread thinktime=default", "randread thinktime=5"]


def test_long_labels_stay_apart(script: Scripts, target: Target) -> None:
    splits = [f"512/{share}:1k/{100 - share}" + ":4k/0" * 20 for share in (10, 20, 30)]
    plan = make(script("run"), body(target, options={"bssplit": splits}))
    assert len(set(labels_of(plan))) == 3
    assert max(map(len, labels_of(plan))) <= 120


def test_a_saved_workload_is_varied(script: Scripts, target: Target, lab: Lab) -> None:
    saved = save_workload(lab, "reads", {"jobs": [JOB, {**JOB, "rw": "randwrite", "block_size": 8 * KIB}]}, "me")
    client = script("run")
    plain = make(client, of_base(target, saved_workload=saved.pk))
    assert [(point.name, point.label) for point in plain.points.all()] == [
        ("job0", "randread 4k"), ("job1", "randwrite 8k"),
    ]  # fmt: skip
    wanted = of_base(target, saved_workload=saved.pk, file_sizes="1x, 2x RAM", block_sizes="4k,16k",
                     options={"ioengine": "libaio, io_uring"}, iodepths="8")  # fmt: skip
    plan = make(client, wanted)
    assert len(labels_of(plan)) == 2 * 2 * 2 * 2
    first = plan.points.first()
    assert first is not None
    assert first.label == "randread 1 × RAM 4k ioengine=libaio"
    assert (first.ram_multiple, first.iodepth, first.job["runtime"]) == (1.0, 8, 10)
    estimate = client("POST", "plans/estimate/", wanted)
    assert (estimate.status_code, len(estimate.json()["cells"])) == (200, 16)


def test_what_a_plan_is_made_of_is_the_labs_own(script: Scripts, target: Target, cast) -> None:
    other = save_workload(cast.other_lab, "theirs", {"jobs": [JOB]}, "them")
    client = script("run")
    for field, key in (("saved_workload", other.pk), ("saved_workload", 10**9), ("run", 10**9)):
        answer = client("POST", "plans/", of_base(target, **{field: key}))
        assert (answer.status_code, answer.json()["field"]) == (404, field), answer.content
    answer = client("POST", "plans/", of_base(target, saved_workload=1, preset="matrix"))
    assert (answer.status_code, "one of preset, points" in answer.json()["detail"]) == (400, True)


def test_a_run_a_workload_and_a_job_file_are_varied_too(script: Scripts, target: Target, lab: Lab) -> None:
    [run] = start_runs(lab=lab, target=target, spec={"jobs": [JOB]}, who="me")
    client = script("run")
    lists = {"options": {"ioengine": "psync, mmap", "direct": [True, False]}}
    assert labels_of(make(client, of_base(target, run=run.pk, **lists))) == [
        "randread 1 GiB, 4 KiB, direct ioengine=psync", "randread 1 GiB, 4 KiB, buffered ioengine=psync",
        "randread 1 GiB, 4 KiB, buffered ioengine=mmap",
    ]  # fmt: skip
    job = {"rw": "read", "block_size": "64k", "file_size": "1g"}
    plan = make(client, of_base(target, workload=job, options={"nice": "0,10"}))
    assert labels_of(plan) == ["read 64k nice=0", "read 64k nice=10"]
    text = "[a]\nrw=write\nbs=1m\nsize=1g\n[b]\nstonewall\nrw=read\nbs=1m\nsize=1g\n"
    assert labels_of(make(client, of_base(target, job_file=text))) == ["write 1m", "read 1m"]
    assert labels_of(make(client, of_base(target, job_file=text.replace("stonewall\n", "")))) == ["write 1m + read 1m"]


def test_a_run_from_elsewhere_counts_for_the_point_with_its_options_alone(
    script: Scripts, target: Target, lab: Lab
) -> None:
    plan = make(script("run"), body(target, runtime=10, options={"thinktime": "default, 50"}))
    spec = {"jobs": [{**JOB, "thinktime": 50}]}
    [run] = start_runs(lab=lab, target=target, spec=spec, who="me")
    configuration = plan.rows.get().configuration
    assert configuration is not None
    StudyRun.objects.create(run=run, configuration=configuration)
    page = PlanPage(plan, runs_of(plan.study))
    assert {cell.point.label: [held.pk for held in cell.runs] for cell in page.cells} == {
        "randread thinktime=default": [], "randread thinktime=50": [run.pk],
    }  # fmt: skip
    Run.objects.filter(pk=run.pk).update(workload=None, sections={
        "0": {"options": {"rw": "randread", "bs": "4k", "size": "1g", "runtime": "10", "direct": "1", "ioengine": "psync"}}
    })  # fmt: skip
    facts = _facts(Run.objects.select_related("workload", "host", "target").get(pk=run.pk), [])
    assert facts.job_option(0, "thinktime") == "0", "a report of fio names what was set"
    assert facts.job_option(0, "fsync_every") is None
    assert facts.job_option(1, "thinktime") is None


def test_searches_for_saturation_with_several_engines_are_told_apart(script: Scripts, target: Target) -> None:
    wanted = of_base(target, preset="saturation", iodepths="2,4", numjobs="1", block_sizes="4k,8k",
                     options={"ioengine": "libaio, io_uring"})  # fmt: skip
    plan = make(script("run"), wanted)
    ladders = PlanPage(plan, runs_of(plan.study)).ladders
    assert len({ladder.label for ladder in ladders}) == len(ladders) == 4
    assert any("ioengine=io_uring" in ladder.label for ladder in ladders)
    wanted = of_base(target, preset="saturation", iodepths="2,4", numjobs="1", options={"rate": "default; 1m,2m"})
    plan = make(script("run"), wanted)
    assert [ladder.label.rpartition(" ")[2] for ladder in PlanPage(plan, runs_of(plan.study)).ladders] == [
        "rate=default", "rate=1m,2m",
    ]  # fmt: skip
    assert script("run").get(f"plans/{plan.pk}/saturation/").status_code == 200


def typed(target: Target, **changes: Any) -> dict[str, Any]:
    return {
        "title": "Typed", "targets": [target.pk], "preset": "matrix", "kind": "fixed", "rounds": 1, "percent": 2,
        "order": "interleaved", "patterns": "randread", "block_sizes": "4k", "iodepths": "8", **changes,
    }  # fmt: skip


def test_the_form_takes_lists_of_every_option(sign_in, target: Target) -> None:
    client: Client = sign_in("engineer")
    page = client.get("/plans/new/").content.decode()
    for option in OPTIONS:
        assert (f'name="option_{option.name}"' in page) == (option.name not in {*ELSEWHERE, "runtime", "direct"})
    changes = {"option_ioengine": "libaio, io_uring", "option_rate": "1m; 1m,2m", "runtime": "10, 20", "direct": "both"}
    answer = client.post("/plans/new/", typed(target, **changes))
    assert answer.status_code == 302, re.findall(r"form-error.*", answer.content.decode())
    plan = Plan.objects.get()
    assert plan.points.count() == 2 * 2 * 2 * 2
    assert "ioengine=libaio rate=1m direct=1 runtime=10" in labels_of(plan)[0]
    text = html.unescape(client.get(f"/plans/{plan.pk}/").content.decode())
    assert "rate: 1m,2m" in text
    assert "ioengine=io_uring" in text


@for_each("changes, words", [
        ({"option_nice": "0..40 step 10"}, "expected a whole number from 0 to 19"),
        (
            {"option_thinktime": "1..60 step 1", "option_nice": "0..19 step 1"},
            "Found '1200 combinations', expected at most 600 points",
        ),
        ({"runtime": "soon"}, "expected a whole number from 1"),
        ({"option_verify": "md5"}, "expected none, unless rw writes data"),
    ])  # fmt: skip
def test_an_error_stands_at_its_input(sign_in, target: Target, changes: dict[str, str], words: str) -> None:
    answer = sign_in("engineer").post("/plans/new/", typed(target, **changes))
    text = html.unescape(answer.content.decode())
    assert answer.status_code == 422
    name = next(iter(changes))
    assert re.search(rf'id="id_{name}_error">[^<]*{re.escape(words)}', text), re.findall(r"form-error.*", text)
    assert not Plan.objects.exists()


def test_the_form_varies_a_saved_workload(sign_in, target: Target, lab: Lab) -> None:
    saved = save_workload(lab, "reads", {"jobs": [JOB]}, "me")
    assert SavedWorkload.objects.count() == 1
    changes = {
        "preset": f"workload-{saved.pk}",
        "block_sizes": "4k,8k",
        "option_nice": "0, 5",
        "iodepths": "",
        "patterns": "",
    }
    answer = sign_in("engineer").post("/plans/new/", typed(target, **changes))
    assert answer.status_code == 302, re.findall(r"form-error.*", answer.content.decode())
    assert labels_of(Plan.objects.get()) == [
        "randread 4k nice=0", "randread 4k nice=5", "randread 8k nice=0", "randread 8k nice=5",
    ]  # fmt: skip
    assert Study.objects.get().title == "Typed"


JOB_FILE = "[global]\nsize=1g\nbs=64k\n[a]\nrw=write\n[b]\nstonewall\nrw=read\n"


def test_the_form_takes_a_job_file_and_varies_it(sign_in, target: Target) -> None:
    changes = {
        "preset": "job-file",
        "job_file": JOB_FILE,
        "patterns": "",
        "block_sizes": "",
        "iodepths": "",
        "option_nice": "0,5",
    }
    client: Client = sign_in("engineer")
    answer = client.post("/plans/new/", typed(target, **changes))
    assert answer.status_code == 302, re.findall(r"form-error.*", answer.content.decode())
    assert labels_of(Plan.objects.get()) == [
        "write 64k nice=0",
        "write 64k nice=5",
        "read 64k nice=0",
        "read 64k nice=5",
    ]
    for wrong, words in (
        ({"job_file": JOB_FILE + "exec_prerun=id\n"}, "line 9: exec_prerun=id"),
        ({"job_file": ""}, "expected"),
        ({"preset": "quick-check", "option_nice": ""}, "unless the procedure is a fio job file"),
    ):
        refused = client.post("/plans/new/", typed(target, **{**changes, "title": "Others", **wrong}))
        assert refused.status_code == 422, wrong
        assert words in html.unescape(refused.content.decode()), wrong


class TypedInputs(HTMLParser):
    """What a browser would post of a page's forms, when nobody has typed anything; buttons aside."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value")
        if tag == "select":
            self.select = name
        if tag == "option" and (self.select not in self.values or "selected" in given):
            self.values[self.select] = value or ""
        if tag == "input" and name and (given.get("type") not in ("checkbox", "radio") or "checked" in given):
            self.values[name] = value if value is not None else "on" if given.get("type") == "checkbox" else ""


def test_editing_a_plan_keeps_the_options_of_its_points(sign_in, script: Scripts, target: Target, lab: Lab) -> None:
    saved = save_workload(lab, "reads", {"jobs": [{**JOB, "time_based": False}]}, "me")
    options = {"ioengine": "libaio, io_uring", "rate": "default; 1m,2m", "end_fsync": True}
    plan = make(script("run"), of_base(target, saved_workload=saved.pk, iodepths="8", options=options))
    before = list(plan.points.values_list("label", "job"))
    client: Client = sign_in("engineer")
    address = f"/plans/{plan.pk}/edit/"
    page = client.get(address).content.decode()
    answer = client.post(address, TypedInputs(page).values | {"act": "save", "notes": "Edited."})
    assert answer.status_code == 302, re.findall(r"form-error.*", answer.content.decode())
    plan.refresh_from_db()
    assert plan.notes == "Edited."
    assert list(plan.points.values_list("label", "job")) == before
    again = TypedInputs(client.get(address).content.decode()).values | {"act": "save"}
    shallow = {name: "1" if name.endswith("-iodepth") else value for name, value in again.items()}
    assert client.post(address, shallow).status_code == 302
    assert {point.iodepth for point in plan.points.all()} == {1}
    assert {point.job["ioengine"] for point in plan.points.all()} == {"libaio", "io_uring"}
