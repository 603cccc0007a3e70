"""From a question without an answer to the plan that gives it one: the form is filled in, and its runs make the set."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from apps.comparison.like_for_like.answers import with_what_would_settle
from apps.comparison.like_for_like.missing_plan import plans_for
from apps.comparison.like_for_like.report import answer_one
from apps.comparison.like_for_like.selection import FactorSelection
from apps.comparison.questions import BY_NAME
from apps.inventory.models import Filesystem, Host, Target
from apps.inventory.snapshots.content import freeze
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.plans import services
from apps.plans.tasks import advance_host
from apps.runs import workload
from apps.runs.facts import run_facts
from apps.runs.models import Run
from apps.runs.samples import save_samples
from apps.runs.services import store_workload
from apps.runs.states import State
from apps.studies.models import Plan
from tests.api.conftest import Script, script
from tests.comparison.like_for_like.test_strata import ask, group
from tests.plans.conftest import end
from tests.sampling import for_each

__all__ = ["script"]

SignIn = Callable[[str], Client]
GIB = 1 << 30
JOB = {"rw": "read", "direct": True, "block_size": 1 << 20, "file_size": 4 * GIB, "ioengine": "psync", "iodepth": 1}
QUESTION = "/compare/questions/filesystem/"


@pytest.fixture
def host(lab: Lab) -> Host:
    made: Host = Host.objects.create(
        lab=lab, name="bench", ram_bytes=8 * GIB, kernel="6.1.0", cpu_model="C", architecture="x86_64", os="Debian",
    )  # fmt: skip
    return made


def offer(host: Host, name: str, kind: str, **more: Any) -> Target:
    filesystem = Filesystem.objects.create(lab=host.lab, host=host, type=kind, mount_point=f"/{name}")
    target: Target = Target.objects.create(
        lab=host.lab, host=host, name=name, path=f"/{name}", filesystem=filesystem, is_agents_own=True, **more
    )
    return target


def measure(target: Target, values: Sequence[float], tool: str = "fio", **job: Any) -> list[Run]:
    """Store finished runs as an agent's are: with the workload, the snapshot and the facts of their target."""
    runs = []
    for value in values:
        spec = workload.checked({"jobs": [{**JOB, **job}]})
        run = Run.objects.create(
            lab=target.lab, host=target.host, target=target, tool=tool, tool_version="fio-3.33" if tool == "fio" else "",
            origin="dispatched", state=State.FINISHED, workload=store_workload(target.lab, spec),
            snapshot=freeze(target), finished_at=timezone.now(),
        )  # fmt: skip
        run.facts = run_facts(run)
        run.save()
        sizes = {"file_size": spec["jobs"][0]["file_size"], "block_size": 1 << 20, "threads": 1, "iodepth": 1}
        save_samples(run, [ParsedSample("read", "bandwidth", value, **sizes)], None)
        runs.append(run)
    return runs


FIVE = [2.00e8, 2.02e8, 1.98e8, 2.01e8, 1.99e8]


@pytest.fixture
def targets(host: Host) -> tuple[Target, Target]:
    ext4, xfs = offer(host, "data", "ext4"), offer(host, "fast", "xfs")
    measure(ext4, FIVE)
    measure(xfs, [2.6e8])
    return ext4, xfs


def fields_of(html: str) -> dict[str, Any]:
    """Return what the form of a new plan would post as it stands."""
    inputs = re.findall(r"<input[^>]*>", html)
    boxes = [one for one in inputs if 'type="checkbox"' in one and " checked" in one]
    fields: dict[str, Any] = {}
    for one in boxes:
        fields.setdefault(re.search(r'name="([^"]*)"', one)[1], []).append(re.search(r'value="([^"]*)"', one)[1])  # type: ignore[index]
    for one in inputs:
        name, value = re.search(r'name="([^"]*)"', one), re.search(r'value="([^"]*)"', one)
        if name and value and 'type="checkbox"' not in one and "csrf" not in one:
            fields[name[1]] = unescape(value[1])
    for name, options in re.findall(r'<select name="([^"]*)"[^>]*>(.*?)</select>', html, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options) or re.search(
            r'<option value="([^"]*)"', options
        )
        fields[name] = chosen[1] if chosen else ""
    for name, text in re.findall(r'<textarea name="([^"]*)"[^>]*>\s*(.*?)</textarea>', html, re.DOTALL):
        fields[name] = unescape(text)
    return fields


def problems_of(html: str) -> list[str]:
    return re.findall(r'class="(?:form-error|note note-error)"[^>]*>([^<]*)', html)


@pytest.mark.slow
def test_the_button_leads_to_a_filled_form_whose_runs_answer_the_question(
    sign_in: SignIn, lab: Lab, targets: tuple[Target, Target]
) -> None:
    client = sign_in("engineer")
    page = client.get(QUESTION).content.decode()
    assert "2 more runs of xfs on bench" in page
    (link,) = re.findall(r'href="(/plans/new/\?[^"]*)"', page)
    form = client.get(unescape(link)).content.decode()
    fields = fields_of(form)
    assert fields["targets"] == [str(targets[1].pk)]
    assert (fields["rounds"], fields["kind"], fields["title"]) == ("2", "fixed", "Filesystem: xfs / ext4")
    answer = client.post("/plans/new/", fields)
    assert answer.status_code == 302, problems_of(answer.content.decode())
    plan = Plan.objects.get()
    services.start_plan(plan, actor="eve")
    for value in (2.61e8, 2.59e8):
        advance_host(plan.pk, targets[1].host_id)
        run = Run.objects.open().get()
        run.snapshot, run.tool_version = freeze(run.target), "fio-3.33"
        run.save()
        end(run, value=value, facts=run_facts(run))
    answered = answer_one([lab.pk], "filesystem", FactorSelection())
    (contrast,) = answered.contrasts
    assert (contrast.finding, [effect.n for effect in contrast.effects]) == ("effect", [(3, 5)])
    assert contrast.ratio == pytest.approx(1.3, abs=0.02)
    assert "/plans/new/?" not in client.get(QUESTION).content.decode()


def test_a_viewer_reads_what_is_missing_and_has_no_button(sign_in: SignIn, targets: tuple[Target, Target]) -> None:
    page = sign_in("viewer").get(QUESTION).content.decode()
    assert "2 more runs of xfs on bench" in page
    assert "/plans/new/" not in page


def test_rest_has_the_plan_as_a_body(script: Callable[[str], Script], targets: tuple[Target, Target]) -> None:
    client = script("run")
    (plan,) = client("GET", "questions/filesystem/").json()["plans"]
    assert (plan["rounds"], plan["targets"], plan["problem"]) == (2, [targets[1].pk], "")
    assert "/plans/new/?" in plan["page"]
    answer = client("POST", "plans/", plan["body"])
    assert answer.status_code == 201, answer.content
    made = Plan.objects.get()
    (point,) = made.points.all()
    assert (point.file_size, point.block_size, point.iodepth, point.job["rw"]) == (4 * GIB, 1 << 20, 1, "read")
    assert made.stopping == {"kind": "fixed", "rounds": 2}
    assert made.question == "filesystem"
    assert plan["made"] is None
    assert client("GET", "questions/filesystem/").json()["plans"][0]["made"] == made.pk
    (other,) = client("GET", "questions/filesystem/?operation=read&metric=bandwidth").json()["plans"]
    assert other["made"] is None, "a question with another selection"


@pytest.mark.usefixtures("targets")
def test_a_plan_that_was_made_is_offered_on_the_page(sign_in: SignIn) -> None:
    client = sign_in("engineer")
    (link,) = re.findall(r'href="(/plans/new/\?[^"]*)"', client.get(QUESTION).content.decode())
    made = client.post("/plans/new/", fields_of(client.get(unescape(link)).content.decode())).headers["Location"]
    page = client.get(QUESTION).content.decode()
    assert f'This plan was made already: <a href="{made}">' in page
    assert "Make another plan" in page
    assert f'<a href="{QUESTION}">' in client.get(made).content.decode(), "and the way back"
    study = Plan.objects.get().study
    again = fields_of(client.get(unescape(link)).content.decode())
    assert again["study"] == str(study.pk), "the study that is there, and no second one of its name"


def test_beside_the_nearest_runs_a_target_that_fits_is_found(lab: Lab, host: Host) -> None:
    """The only runs on xfs are of another host; here an unused target has xfs."""
    measure(offer(host, "data", "ext4"), FIVE)
    unused = offer(host, "spare", "xfs")
    offer(host, "gone", "xfs", gone_at=timezone.now())
    other = Host.objects.create(lab=lab, name="other", ram_bytes=4 * GIB, kernel="5.10.0")
    measure(offer(other, "data", "xfs"), [1e8])
    answer = answer_one([lab.pk], "filesystem", FactorSelection())
    assert answer.nearest
    (plan,) = plans_for(answer, BY_NAME["filesystem"], lab.pk)
    assert (plan.problem, plan.targets, plan.rounds) == ("", (unused,), 3)


def test_where_no_target_fits_there_is_a_sentence_and_no_button(sign_in: SignIn, lab: Lab, host: Host) -> None:
    measure(offer(host, "data", "ext4"), FIVE)
    other = Host.objects.create(lab=lab, name="other", ram_bytes=4 * GIB, kernel="5.10.0")
    measure(offer(other, "data", "xfs"), [1e8])
    page = sign_in("engineer").get(QUESTION).content.decode()
    assert "No enrolled host offers a target for xfs that is as those runs in everything held." in page
    assert "/plans/new/?" not in page


def test_runs_of_tools_that_agents_do_not_run_get_no_button(sign_in: SignIn, host: Host) -> None:
    measure(offer(host, "data", "ext4"), FIVE, tool="bonnie")
    measure(offer(host, "fast", "xfs"), [2.6e8], tool="bonnie")
    page = sign_in("engineer").get(QUESTION).content.decode()
    assert "Agents run fio only; this is a run of bonnie." in page
    assert "/plans/new/?" not in page


@pytest.mark.parametrize(
    ("question", "job", "wanted"),
    [
        ("direct", {"direct": False}, {"direct": ["both"], "rounds": ["2"]}),
        ("file_against_ram", {"file_size": 16 * GIB}, {"file_sizes": ["4g, 16g"], "rounds": ["2"]}),
    ],
)
def test_what_the_jobs_decide_is_changed_in_the_jobs(
    sign_in: SignIn, lab: Lab, host: Host, question: str, job: dict[str, Any], wanted: dict[str, list[str]]
) -> None:
    target = offer(host, "data", "ext4")
    measure(target, FIVE[:2])
    measure(target, [1e8], **job)
    answer = answer_one([lab.pk], question, FactorSelection())
    (plan,) = plans_for(answer, BY_NAME[question], lab.pk)
    asked = parse_qs(urlsplit(plan.address).query)
    assert {name: asked[name] for name in wanted} == wanted
    client = sign_in("engineer")
    fields = fields_of(client.get(plan.address).content.decode())
    answer_of_form = client.post("/plans/new/", fields)
    assert answer_of_form.status_code == 302, problems_of(answer_of_form.content.decode())
    points = Plan.objects.get().points.all()
    assert {(point.file_size, point.job["direct"]) for point in points} == {
        (one["file_size"], one["direct"]) for one in plan.jobs
    }
    assert len(points) == 2


def test_a_run_with_several_jobs_is_no_step_of_a_plan(lab: Lab, host: Host) -> None:
    ext4, xfs = offer(host, "data", "ext4"), offer(host, "fast", "xfs")
    measure(ext4, FIVE)
    for run in measure(xfs, [2.6e8]):
        spec = workload.checked({"jobs": [JOB, {**JOB, "block_size": 4096}]})
        Run.objects.filter(pk=run.pk).update(workload=store_workload(lab, spec))
    answer = answer_one([lab.pk], "filesystem", FactorSelection())
    (plan,) = plans_for(answer, BY_NAME["filesystem"], lab.pk)
    assert (plan.problem, plan.address) == (
        f"Run {run.pk} has several jobs, and the plan of a question repeats one.",
        "",
    )


@for_each("path", ["/plans/new/?procedure=run-999999999", "/plans/new/?procedure=run-x&target=7"], taken_back=True)
def test_an_address_that_names_no_run_is_an_ordinary_form(sign_in: SignIn, host: Host, path: str) -> None:
    offer(host, "data", "ext4")
    page = sign_in("engineer").get(path)
    assert page.status_code == 200
    assert "as run" not in page.content.decode()


def test_another_labs_run_is_not_repeated(sign_in: SignIn, targets: tuple[Target, Target]) -> None:
    run = Run.objects.first()
    page = sign_in("stranger").get(f"/plans/new/?procedure=run-{run.pk}").content.decode()
    assert f"as run {run.pk}" not in page


def test_what_would_settle_a_small_difference_does(lab: Lab) -> None:
    """Four runs a side with 6 % between them are not enough; as many more as are said find the same difference."""

    def pair(n: int) -> list[Any]:
        return [group(0.0, n, filesystem="ext4", spread=0.05), group(0.06, n, filesystem="xfs", spread=0.05)]

    answer = with_what_would_settle(ask("filesystem", *pair(4)))
    assert answer.finding == "no difference shown"
    ours, theirs = answer.settling
    assert {ours.level, theirs.level} == {"ext4", "xfs"}
    assert 1 <= ours.n == theirs.n <= 30
    assert ask("filesystem", *pair(4 + ours.n)).finding == "effect"
    assert ask("filesystem", *pair(4 + ours.n - 1)).finding == "no difference shown"
    same = [group(0.0, 20, filesystem="ext4"), group(0.001, 20, filesystem="xfs")]
    assert with_what_would_settle(ask("filesystem", *same)).settling == ()  # within 5 % either way already


def test_one_of_many_differences_asks_for_more_runs_than_one_alone() -> None:
    groups = [group(0.06 * (kind == "xfs"), 4, filesystem=kind, spread=0.05) for kind in ("ext4", "xfs")]
    alone = ask("filesystem", *groups)
    ours, _ = with_what_would_settle(alone).settling
    among, _ = with_what_would_settle(replace(alone, tests=6)).settling
    assert among.n > ours.n
