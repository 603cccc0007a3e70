"""Pages of plans: made from a preset, looked at, started, paused, cancelled; viewers read, strangers find nothing."""

import html
import re
from collections.abc import Callable
from datetime import time
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.plans import services, views
from apps.plans.execution_page import ExecutionPage
from apps.plans.models import Execution, HostWait
from apps.plans.presets import PRESETS
from apps.plans.schedules.services import ScheduleRequest, set_schedule
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Plan, PlannedRun, Study
from apps.studies.plans.services import set_cell
from tests.conftest import Cast
from tests.page_text import page_text
from tests.plans.conftest import GIB, HOSTS, advance_all, end, end_all
from tests.sampling import for_each
from tests.statements import statements

SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]


@pytest.fixture(autouse=True)
def fresh_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render the live part each time: within a second it would be the one before."""
    monkeypatch.setattr("apps.plans.views.FRESH_S", 0)
    monkeypatch.setattr("apps.plans.views.FRESH_FOR", 0)


def form_of(**changes: object) -> dict[str, object]:
    targets = list(Target.objects.values_list("pk", flat=True))
    plan = {
        "title": "Which is faster", "targets": targets, "preset": "queue-depth", "kind": "fixed", "rounds": 3,
        "percent": 2, "order": "interleaved", "guards": ["idle", "cache_rule"],
    }  # fmt: skip
    return {**plan, **changes}


@pytest.mark.slow
@pytest.mark.usefixtures("study")
@for_each("preset", [preset.name for preset in PRESETS], taken_back=True)
def test_every_preset_makes_a_plan_that_can_be_started(sign_in: SignIn, preset: str) -> None:
    answer = sign_in("engineer").post("/plans/new/", form_of(preset=preset))
    assert answer.status_code == 302, answer.content.decode()
    plan = Plan.objects.get()
    assert answer.headers["Location"] == f"/plans/{plan.pk}/"
    assert plan.rows.count() == len(HOSTS)
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert Run.objects.open().count() == len(HOSTS)


@pytest.mark.usefixtures("study")
def test_the_usual_rule_is_that_of_the_procedure(sign_in: SignIn) -> None:
    sign_in("engineer").post("/plans/new/", form_of(preset="steady-state", kind="usual"))
    assert Plan.objects.get().stopping["kind"] == "steady_state"


@pytest.mark.usefixtures("study")
def test_a_plan_of_own_values_has_every_combination(sign_in: SignIn) -> None:
    values = {"file_sizes": "1g", "patterns": "randread, write", "block_sizes": "4k,64k", "iodepths": "1,2..8"}
    sign_in("engineer").post("/plans/new/", form_of(preset="matrix", **values))
    points = Plan.objects.get().points.all()
    assert len(points) == 2 * 2 * 4
    assert {(point.job["rw"], point.block_size, point.iodepth) for point in points} == {
        (rw, block, depth) for rw in ("randread", "write") for block in (4096, 65536) for depth in (1, 2, 4, 8)
    }
    assert {point.job["ioengine"] for point in points if point.iodepth > 1} == {"libaio"}
    assert Study.objects.filter(title="Which is faster").exists()


@pytest.mark.usefixtures("study")
@for_each(
    "changed, sentence",
    [
        ({"file_sizes": "4 GB"}, "expected a size such as 4k"),
        ({"preset": "matrix", "patterns": "trim"}, "expected some of read"),
        ({"preset": "matrix", "iodepths": "1,2,3..60", "block_sizes": "4k..1m"}, "fewer values"),
        ({"preset": "matrix", "block_sizes": "4"}, "Found 4, expected"),
        ({"preset": "matrix", "iodepths": "0"}, "Found 0, expected"),
        ({"preset": "quick-check", "block_sizes": "8k"}, "Found &#x27;8k&#x27;, expected nothing"),
        ({"guards": ["nonsense"]}, "Select a valid choice"),
        ({"targets": []}, "This field is required"),
        ({"title": ""}, "This field is required"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_what_was_typed_stays(sign_in: SignIn, changed, sentence: str) -> None:
    answer = sign_in("engineer").post("/plans/new/", form_of(**changed))
    text = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in text
    assert not Plan.objects.exists()


def test_the_page_fills_up(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(guards=[{"kind": "idle"}])
    client = sign_in("engineer")
    address = f"/plans/{plan.pk}/"
    assert "not started" in client.get(address).content.decode()
    assert client.post(f"{address}start/", {"retries": "1"}).status_code == 302
    advance_all(plan)
    text = client.get(address).content.decode()
    run = Run.objects.open().filter(host__name="alpha").get()
    assert f"/runs/{run.pk}/" in text
    assert "0 of 8 runs" in text
    assert "every 2s" in text
    end(run, value=2e8, facts={"load_before": 0.01})
    text = client.get(address).content.decode()
    assert "200\u00a0MB/s" in text
    assert "1 of 8 runs" in text
    assert "guards passed" in text
    assert "load before 0.01" in text


def test_htmx_gets_the_live_part_alone(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    text = sign_in("viewer").get(f"/plans/{plan.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert 'id="plan-live"' in text
    assert "<html" not in text
    for button in (">Start<", "Cancel…", ">skip<"):
        assert button not in text, "a viewer reads"


def test_live_part_has_the_token_of_the_own_browser(
    write_plan: WritePlan, sign_in: SignIn, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.plans.views.FRESH_S", 60)
    address = f"/plans/{write_plan().pk}/"
    sign_in("engineer").get(address, headers={"HX-Request": "true"})
    other = Client(enforce_csrf_checks=True)
    other.force_login(cast.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    text = other.get(address, headers={"HX-Request": "true"}).content.decode()
    token = text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    answer = other.post(f"{address}start/", {"csrfmiddlewaretoken": token, "retries": "0"})
    assert answer.status_code == 302, "the form of the live part is refused"
    assert Execution.objects.get().state == "running"


def test_a_rendering_that_takes_long_serves_longer_and_no_reader_loads_the_plan(
    write_plan: WritePlan, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, plan = sign_in("viewer"), write_plan()

    def look_again() -> list[str]:
        return statements(lambda: client.get(f"/plans/{plan.pk}/", headers={"HX-Request": "true"}))

    assert any("studies_planpoint" in one for one in look_again())
    monkeypatch.setattr("apps.plans.views.FRESH_FOR", 1000)
    assert not any("studies_planpoint" in one for one in look_again())


def test_who_may_edit_shares_a_rendering_and_nobody_the_token(
    write_plan: WritePlan, sign_in: SignIn, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.plans.views.FRESH_S", 60)
    rendered: list[bool] = []
    render = views._render_live_part

    def count(*args: Any, **named: Any) -> str:
        rendered.append(named["may_edit"])
        return render(*args, **named)

    monkeypatch.setattr(views, "_render_live_part", count)
    plan = write_plan()
    address, live = f"/plans/{plan.pk}/", {"HX-Request": "true"}
    for name in ("engineer", "owner", "engineer"):
        sign_in(name).get(address, headers=live)
    assert rendered == [True, True], "the form that starts it begins with what each of the two chose last"
    rendered.clear()
    cache.clear()
    services.start_plan(plan, actor="eve")
    texts = [sign_in(name).get(address, headers=live).content.decode() for name in ("engineer", "owner", "engineer")]
    tokens = [re.findall('name="csrfmiddlewaretoken" value="([A-Za-z0-9]{64})"', text) for text in texts]
    assert rendered == [True], "one rendering for three looks"
    assert all(len(found) == text.count("csrfmiddlewaretoken") > 0 for found, text in zip(tokens, texts, strict=True))
    assert len({found[0] for found in tokens}) == 3
    assert "csrfmiddlewaretoken" not in sign_in("viewer").get(address, headers=live).content.decode()
    assert rendered == [True, False]


def test_a_plan_that_has_all_its_runs_is_not_started_again(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    address, client = f"/plans/{plan.pk}/", sign_in("engineer")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    while end_all(value=2e8):
        advance_all(plan)
    assert Execution.objects.get().state == "done"
    text = client.get(address).content.decode()
    assert "Start again" not in text, "nothing would be measured"
    assert "More rounds" in text


def test_who_starts_a_plan_second_is_told_who_started_it_and_how(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(guards=[{"kind": "idle"}])
    address = f"/plans/{plan.pk}/"
    chosen = {"retries": "2", "guard_wait": "30", "guard_failure": "fail"}
    sign_in("owner").post(f"{address}start/", chosen)
    second = sign_in("engineer")
    text = second.post(f"{address}start/", {"retries": "0"}, follow=True).content.decode()
    assert "The plan is running already. owner@example.org started it at 20" in text
    settings = "retries of a failed step: 2; wait for guards: at most 30\u00a0min"
    assert (
        f"{settings}; a step whose guard does not hold by then: count the step as failed. Nothing was changed." in text
    )
    assert Execution.objects.get().retries == 2
    shown = sign_in("viewer").get(address).content.decode()
    assert "Started by owner@example.org, <time" in shown
    for words in settings.split("; "):
        assert f"· {words}" in shown
    refused = second.post(f"/api/v1/plans/{plan.pk}/start/", {}, content_type="application/json")
    assert refused.status_code == 409
    assert "owner@example.org started it" in refused.json()["detail"]


def test_rounds_are_added_once_however_often_the_button_is_pressed(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan, client = write_plan(), sign_in("engineer")
    services.start_plan(plan, actor="eve")
    page = client.get(f"/plans/{plan.pk}/").content.decode()
    (seen,) = re.findall('name="seen" value="([0-9]+)"', page)
    more = {"repetitions": "3", "seen": seen}
    client.post(f"/plans/{plan.pk}/repetitions/", more)
    text = client.post(f"/plans/{plan.pk}/repetitions/", more, follow=True).content.decode()
    assert "Nothing was added: the plan had 2 rounds when you looked, and has 5 since engineer@example.org" in text
    assert Plan.objects.get().rule.most == 5


def test_one_format_of_time(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(guards=[{"kind": "idle"}])
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    end(Run.objects.open().filter(host__name="alpha").get(), facts={"load_before": 0.01})
    host = Host.objects.get(name="beta")
    HostWait.objects.create(execution=plan.execution, host=host, reason="The array resyncs.", step="1/1/1")
    Run.objects.open().delete()
    text = sign_in("engineer").get(f"/plans/{plan.pk}/").content.decode()
    live = text.split('id="plan-live"')[1]
    times = re.findall('<time datetime="[^"]+" title="[^"]+">([^<]*)</time>', live)
    assert len(times) >= 3, "started, waits since, and what guards found"
    assert [time for time in times if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", time)] == []
    beside = re.sub("<time .*?</time>|<[^>]*>", " ", live)
    assert re.findall(r"\d\d:\d\d", beside) == [], "a script writes all of them in the reader's own way"
    assert "waits since <time" in live


def test_what_is_typed_beside_a_button_is_a_number(write_plan: WritePlan, sign_in: SignIn) -> None:
    client, address = sign_in("engineer"), f"/plans/{write_plan().pk}/"
    text = client.post(f"{address}start/", {"retries": "many"}, follow=True).content.decode()
    assert "Retries of a failed step: found &#x27;many&#x27;, expected a whole number. The plan is not started." in text
    assert not Execution.objects.exists()


def test_a_cell_that_is_skipped_after_it_ran_is_not_said_to_have_never_run(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    run = Run.objects.open().first()
    end(run, value=2e8)
    planned = PlannedRun.objects.get(run=run)
    set_cell(plan, planned.row, planned.point, actor="eve", reason="Enough of it.")
    text = sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode()
    cell = text.split(f'id="cell-{planned.row_id}-{planned.point_id}"')[1].split("</td>")[0]
    assert "skipped" in cell
    assert "not run" not in cell


@pytest.mark.parametrize(("base", "limit"), [("1000", "1.00\u00a0MB/s"), ("1024", "977\u00a0KiB/s")])
def test_figures_of_guards_are_in_the_units_of_the_reader(
    write_plan: WritePlan, sign_in: SignIn, base: str, limit: str
) -> None:
    plan = write_plan(guards=[{"kind": "idle"}])
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    run = Run.objects.open().first()
    end(run, facts={"load_before": 6.9})
    client = sign_in("viewer")
    client.cookies["spindle_base"] = base
    for address in (f"/plans/{plan.pk}/", f"/runs/{run.pk}/", f"/api/v1/plans/{plan.pk}/"):
        text = client.get(address).content.decode()
        assert "⟦" not in text, address
        assert "api" in address or limit in text, address


def test_every_button_does_what_it_says(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    client = sign_in("engineer")

    def press(act: str, **typed: str) -> str:
        client.post(f"/plans/{plan.pk}/{act}/", typed)
        return Execution.objects.get().state

    assert press("start") == "running"
    assert press("pause") == "paused"
    assert press("resume") == "running"
    advance_all(plan)
    run = Run.objects.open().first()
    end(run, State.FAILED)
    assert press("retry") == "running"
    assert PlannedRun.objects.get(run=run).is_retried
    press("repetitions", repetitions="3")
    assert Plan.objects.get().rule.most == 5
    assert client.get(f"/plans/{plan.pk}/cancel/").status_code == 200
    assert press("cancel") == "cancelled"
    assert not Run.objects.open().exists()
    assert "already" not in client.get(f"/plans/{plan.pk}/").content.decode()


def test_what_cannot_be_done_is_said_and_changes_nothing(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    client = sign_in("engineer")
    answer = client.post(f"/plans/{plan.pk}/pause/", follow=True)
    assert "The plan was not started yet." in answer.content.decode()
    answer = client.post(f"/plans/{plan.pk}/repetitions/", {"repetitions": "1000"}, follow=True)
    assert "expected 1 to 98 more" in answer.content.decode()


def test_a_viewer_starts_nothing_and_a_stranger_finds_nothing(
    write_plan: WritePlan, sign_in: SignIn, cast: Cast
) -> None:
    plan = write_plan()
    assert sign_in("viewer").post(f"/plans/{plan.pk}/start/").status_code == 403
    assert sign_in("viewer").get("/plans/new/").status_code == 403
    stranger = sign_in("stranger")
    assert stranger.get(f"/plans/{plan.pk}/").status_code == 404
    assert stranger.post(f"/plans/{plan.pk}/start/").status_code == 404
    assert not Execution.objects.exists()
    with lab_scope(cast.other_lab.pk):
        assert plan.title not in stranger.get("/plans/").content.decode()


def test_the_list_counts_runs_in_one_query_however_many_plans(
    write_plan: WritePlan, sign_in: SignIn, django_assert_max_num_queries
) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    end(Run.objects.open().first())
    for number in range(5):
        write_plan(name=f"other-{number}", title=f"Other {number}")
    client = sign_in("viewer")
    with django_assert_max_num_queries(20):
        text = client.get("/plans/").content.decode()
    assert "Reading" in text
    assert ">running<" in text
    assert text.count(">not started<") == 5
    assert '<td class="num">1</td><td class="num">2</td>' in text


def test_a_run_of_a_plan_shows_its_place_and_its_guards(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(guards=[{"kind": "idle"}, {"kind": "fresh_system"}])
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    run = Run.objects.open().filter(host__name="alpha").get()
    end(run, facts={"load_before": 2.5})
    text = sign_in("viewer").get(f"/runs/{run.pk}/").content.decode()
    assert f'href="/plans/{plan.pk}/"' in text
    assert "alpha, small, round 1" in text
    assert "load before 2.5" in text
    assert "stated by me, not checked" in text


def test_sizes_of_the_form_reach_the_host_as_bytes(study: Study, sign_in: SignIn) -> None:
    sign_in("engineer").post("/plans/new/", form_of(preset="quick-check", file_sizes="2x RAM"))
    plan = Plan.objects.get()
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    sizes = {run.workload.jobs[0]["file_size"] for run in Run.objects.open().select_related("workload")}
    assert sizes == {2 * GIB}, "hosts of 1 GiB"


def test_a_large_matrix_comes_in_parts(write_plan: WritePlan, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.plans.execution_page.MOST_CELLS", 2)
    address = f"/plans/{write_plan().pk}/"
    first, second = (
        sign_in("viewer").get(address, {"page": page}, headers={"HX-Request": "true"}).content.decode()
        for page in (1, 2)
    )
    assert '<th scope="row" class="wrap">alpha' in first
    assert '<th scope="row" class="wrap">beta' not in first
    assert '<th scope="row" class="wrap">beta' in second
    assert "Page 1 of 2" in first
    assert 'href="?page=2"' in first
    assert "2 configurations × 2 points" in first, "the head speaks of the whole plan"


def test_readers_share_a_rendering_and_none_waits_for_the_next(
    write_plan: WritePlan, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.plans.views.FRESH_S", 0)
    monkeypatch.setattr("apps.plans.views.FRESH_FOR", 0)
    rendered: list[int] = []

    def render_part(request: Any, pk: int, *part: str, **more: Any) -> str:
        rendered.append(pk)
        if len(rendered) == 2:  # another reader asks while the second rendering is under way
            assert sign_in("viewer").get(address, headers={"HX-Request": "true"}).content == b"rendering 1"
        return f"rendering {len(rendered)}"

    monkeypatch.setattr("apps.plans.views._render_live_part", render_part)
    address = f"/plans/{write_plan().pk}/"
    answers = [sign_in("viewer").get(address, headers={"HX-Request": "true"}).content for _ in range(2)]
    assert answers == [b"rendering 1", b"rendering 2"]
    assert len(rendered) == 2


def test_columns_say_the_options_of_fio_that_tell_them_apart(write_plan: WritePlan, sign_in: SignIn) -> None:
    point = {"tool": "fio", "file_size": GIB, "block_size": 4096}
    buffered = {"rw": "write", "direct": False, "sync": "fsync", "time_based": False, "runtime": 60}
    points = [
        {**point, "name": "direct", "job": {"rw": "write", "direct": True, "time_based": False}},
        {**point, "name": "buffered", "job": buffered},
    ]
    plan = write_plan(points=points)
    client = sign_in("viewer")
    for address in (f"/plans/{plan.pk}/", f"/studies/{plan.study.slug}/plan/"):
        text = client.get(address).content.decode()
        columns = [part.split("</th>")[0] for part in text.split('<span class="plan-point">')[1:]]
        assert "runtime in seconds: –, sync: none, direct I/O: yes<" in columns[0], address
        assert "runtime in seconds: 60, sync: fsync, direct I/O: no<" in columns[1], address
        assert "time based" not in text, "what is the same in all columns tells none apart"
    wiki = html.unescape(client.get(f"/studies/{plan.study.slug}/wiki/?format=markdown").content.decode())
    assert "1\u00a0GiB (runtime in seconds: 60, sync: fsync, direct I/O: no)" in wiki


@pytest.mark.usefixtures("study")
def test_the_same_form_sent_twice_writes_one_plan(sign_in: SignIn) -> None:
    client = sign_in("engineer")
    (key,) = re.findall('name="form_key" value="([^"]+)"', client.get("/plans/new/").content.decode())
    refused = client.post("/plans/new/", form_of(form_key=key, title=""))
    assert f'name="form_key" value="{key}"' in refused.content.decode(), "the same form, corrected"
    first, second = (client.post("/plans/new/", form_of(form_key=key)) for _ in range(2))
    assert (first.status_code, second.status_code) == (302, 302)
    assert first.headers["Location"] == second.headers["Location"]
    assert Plan.objects.count() == 1
    assert (
        "The form was sent twice; the plan was written once." in client.get(first.headers["Location"]).content.decode()
    )
    changed = client.post("/plans/new/", form_of(form_key=key, title="Another question"))
    assert changed.headers["Location"] != first.headers["Location"], "who goes back and types something else means it"
    study = Study.objects.get(title="Which is faster")
    other = client.post("/plans/new/", form_of(form_key="of another form", study=study.pk))
    assert other.headers["Location"] not in (first.headers["Location"], changed.headers["Location"])
    assert Plan.objects.count() == 3


@pytest.mark.usefixtures("study")
def test_the_boxes_of_targets_stand_below_their_hosts(lab: Lab, sign_in: SignIn) -> None:
    alpha = Host.objects.get(name="alpha")
    Target.objects.create(lab=lab, host=alpha, name="fast", path="/fast", is_agents_own=True)
    text = sign_in("engineer").get("/plans/new/").content.decode()
    hosts = text.split("data-target-host")[1:]
    assert len(hosts) == len(HOSTS)
    assert [part.count('name="targets"') for part in hosts] == [2, 1]
    assert 'aria-label="alpha"' in hosts[0]
    assert 'data-target="alpha: fast /fast"' in hosts[0]
    assert "all of this host" in hosts[0]
    assert "all of this host" not in hosts[1], "there is one"


@pytest.mark.usefixtures("study")
def test_too_many_targets_are_refused_in_words(lab: Lab, sign_in: SignIn) -> None:
    host = Host.objects.get(name="alpha")
    Target.objects.bulk_create(
        Target(lab=lab, host=host, name=f"data {n}", path=f"/data/{n}", is_agents_own=True) for n in range(1000)
    )
    answer = sign_in("engineer").post("/plans/new/", form_of())
    assert answer.status_code == 422
    assert "Found 1,002 targets, expected at most 1,000: they are the rows" in answer.content.decode()
    assert not Plan.objects.exists()


@for_each("address, name", [("/plans/new/", "targets"), ("/runs/new/", "target"), ("/queue/cancel/", "run"), ("/studies/runs/", "run"),
     ("/inventory/edit-many/disks/", "pk")])  # fmt: skip
def test_a_form_of_more_values_than_any_form_has_is_refused_in_words(
    sign_in: SignIn, settings: Any, address: str, name: str
) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 40
    answer = sign_in("engineer").post(address, {name: list(range(50))})
    text = answer.content.decode()
    assert answer.status_code == 400
    assert "Found more than 40 values, such as ticked boxes, expected at most 40. Choose fewer at once." in text
    assert "DATA_UPLOAD" not in text


def test_a_plan_with_runs_under_way_is_not_deleted_and_neither_is_its_study(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    plan, client = write_plan(), sign_in("engineer")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    for address in (f"/plans/{plan.pk}/delete/", f"/studies/{plan.study.slug}/delete/"):
        assert "2 runs of its plan wait or are under way" in client.get(address).content.decode()
        answer = client.post(address)
        assert answer.status_code == 409
        assert "Cancel the plan first." in answer.content.decode()
    assert Plan.objects.filter(pk=plan.pk).exists()
    services.cancel_plan(plan, actor="eve")
    assert client.post(f"/plans/{plan.pk}/delete/").status_code == 302
    assert not Plan.objects.filter(pk=plan.pk).exists()


def test_the_queue_has_the_steps_of_plans_that_wait_and_what_comes_by_itself(
    write_plan: WritePlan, sign_in: SignIn, cast: Cast
) -> None:
    plan = write_plan()
    Host.objects.filter(name="alpha").update(is_in_maintenance=True)
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    later = write_plan(name="later", title="Every night")
    set_schedule(later, ScheduleRequest("nightly", "Europe/Rome", time(2, 30)), actor="eve")
    text = page_text(sign_in("viewer").get("/queue/").content.decode())
    assert "Steps of plans that are not started yet" in text
    assert "alpha is in maintenance." in text
    assert "Plans that start by themselves" in text
    assert "Every night" in text
    with lab_scope(cast.other_lab.pk):
        assert "Every night" not in sign_in("stranger").get("/queue/").content.decode()


def test_one_failed_cell_is_retried_and_what_is_left_is_told_for_hosts_and_cells(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    for run in Run.objects.open().order_by("pk"):
        end(run, State.FAILED if run.host.name == "alpha" else State.FINISHED)
    end_all()
    failed = PlannedRun.objects.get(run__state="failed")
    client = sign_in("engineer")
    page = client.get(f"/plans/{plan.pk}/").content.decode()
    assert page.count(f'<input type="hidden" name="row" value="{failed.row.name}">') == 1
    answer = client.post(f"/plans/{plan.pk}/retry/", {"row": failed.row.name, "point": "nothing"}, follow=True)
    assert "This cell is not in the plan any more." in answer.content.decode()
    answer = client.post(f"/plans/{plan.pk}/retry/", {"row": failed.row.name, "point": failed.point.name}, follow=True)
    assert "1 failed step of" in answer.content.decode()
    advance_all(plan)
    failed.refresh_from_db()
    assert failed.is_retried
    left = ExecutionPage(plan)
    assert {entry.host.name: bool(entry.seconds_left) for entry in left.hosts} == {"alpha": True, "beta": False}
    cells = {(cell.cell.row.name, cell.cell.point.name): cell.seconds_left for row in left.rows for cell in row.cells}
    assert [place for place, seconds in cells.items() if seconds] == [(failed.row.name, failed.point.name)]
    assert re.search(
        '<span class="plan-left muted">about [^<]+ for its rounds</span>',
        client.get(f"/plans/{plan.pk}/").content.decode(),
    )
