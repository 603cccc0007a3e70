"""Questions asked of runs in the database: the loader, REST, and the pages, all with the same answer."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.comparison.like_for_like import contrast_table
from apps.comparison.like_for_like.report import answer_one, report
from apps.comparison.like_for_like.selection import FactorSelection
from apps.comparison.like_for_like.views import SHORT
from apps.inventory.models import Array, ArrayMember, Disk, Filesystem, Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Measure, Point, Run, Sample
from apps.runs.states import State
from tests.comparison.like_for_like.simulated_labs import old_machine
from tests.comparison.like_for_like.stored_labs import add_sample, store
from tests.conftest import Cast
from tests.page_text import page_text
from tests.sampling import for_each

SignIn = Callable[[str], Client]


@pytest.fixture
def runs(lab: Lab) -> list[Run]:
    return store(lab, old_machine(7))


def get(client: Client, path: str, **query: str) -> Any:
    response = client.get(path, {**query, "format": "json"})
    assert response.status_code == 200, response.content
    return response.json()


@pytest.mark.usefixtures("runs")
def test_hardware_raid_is_not_held_against_software_raid_of_another_machine(lab: Lab) -> None:
    answer = answer_one([lab.pk], "raid_implementation", FactorSelection())
    (contrast,) = answer.contrasts
    assert {effect.stratum.facts["host"] for effect in contrast.effects} == {"new"}
    assert contrast.interval is not None
    assert contrast.interval[0] < 1 < contrast.interval[1]
    assert contrast.finding == "no difference shown"


def on_filesystems(lab: Lab, on: list[dict[str, Any]]) -> None:
    """Measure a single disk three times at each of two targets, whose filesystems have these fields."""
    host = Host.objects.get(name="bench")
    measure = Measure.objects.get_or_create(operation="randread", metric="iops")[0]
    point = Point.objects.create(file_size=1 << 30, block_size=4096)
    for name, fields in zip(("/a", "/b"), on, strict=True):
        filesystem = Filesystem.objects.get_or_create(lab=lab, host=host, type="xfs", **fields)[0]
        target = Target.objects.create(lab=lab, host=host, name=name, path=name, filesystem=filesystem)
        for value in (100.0, 101.0, 102.0):
            run = Run.objects.create(
                lab=lab, host=host, target=target, tool="fio", origin="uploaded", state=State.FINISHED,
                facts={"raid_level": "single", "disk_count": 1}, finished_at=timezone.now(),
            )  # fmt: skip
            Sample.objects.create(run=run, measure=measure, point=point, value=value)


ONE, TWO = {"/a": 6}, {"/a": 3, "/b": 3}


@for_each("devices, levels", [(("", ""), TWO), (("sda1", "sda2"), ONE), (("/dev/nvme0n1p1", "nvme0n1p3"), ONE), (("sda1", "sdb1"), TWO),
     (("nvme0n1", "nvme1n1"), TWO)], taken_back=True)  # fmt: skip
def test_partitions_by_name_are_one_disk(lab: Lab, devices: tuple[str, str], levels: dict[str, int]) -> None:
    Host.objects.create(lab=lab, name="bench")
    on_filesystems(lab, [{"mount_point": f"/{at}", "device_name": device} for at, device in enumerate(devices)])
    assert answer_one([lab.pk], "disk", FactorSelection()).candidates == levels


def test_two_directories_of_one_filesystem_are_one_disk(lab: Lab) -> None:
    Host.objects.create(lab=lab, name="bench")
    on_filesystems(lab, [{"mount_point": "/"}, {"mount_point": "/"}])
    assert answer_one([lab.pk], "disk", FactorSelection()).candidates == ONE


@pytest.mark.parametrize("is_shared", [True, False])
def test_partitions_and_volumes_of_one_disk_are_one_disk(lab: Lab, is_shared: bool) -> None:
    host = Host.objects.create(lab=lab, name="bench")
    first, other = (Disk.objects.create(lab=lab, host=host, device_name=name) for name in ("sda", "sdb"))
    group, volume = (Array.objects.create(lab=lab, host=host, name=name) for name in ("vg", "vg/data"))
    ArrayMember.objects.create(array=group, position=0, disk=first if is_shared else other, partition="sda2")
    ArrayMember.objects.create(array=volume, position=0, member_array=group)
    on_filesystems(lab, [{"mount_point": "/", "disk": first}, {"mount_point": "/b", "array": volume}])
    assert answer_one([lab.pk], "disk", FactorSelection()).candidates == (ONE if is_shared else TWO)


@pytest.mark.usefixtures("runs")
@for_each(
    "question, level, truth",
    [("raid_level", "5", 2.2), ("raid_level", "0", 1.9), ("filesystem", "btrfs", 1 / 1.18)],
    taken_back=True,
)
def test_known_effects_are_found(lab: Lab, question: str, level: str, truth: float) -> None:
    answer = answer_one([lab.pk], question, FactorSelection())
    contrast = next(one for one in answer.contrasts if one.level == level)
    assert contrast.ratio == pytest.approx(truth, rel=0.05)
    assert contrast.finding == "effect"


@pytest.mark.usefixtures("runs")
def test_rest_has_the_answer_with_its_strata_and_runs(sign_in: SignIn) -> None:
    answer = get(sign_in("viewer"), "/api/v1/questions/raid_level/")
    assert (answer["question"], answer["operation"], answer["metric"]) == ("raid_level", "write", "bandwidth")
    contrast = next(one for one in answer["contrasts"] if one["level"] == "5")
    assert contrast["low"] < 2.2 < contrast["high"]
    assert {stratum["facts"]["host"] for stratum in contrast["strata"]} <= {"new", "old"}
    assert all(len(s["runs"]["5"]) == s["n"][0] for s in contrast["strata"])
    assert answer["permalink"].endswith("/compare/questions/raid_level/")


@pytest.mark.usefixtures("runs")
def test_all_questions_are_corrected_together(sign_in: SignIn) -> None:
    found = get(sign_in("viewer"), "/api/v1/questions/")
    answered = [answer for answer in found["results"] if answer["answered"]]
    contrasts = [contrast for answer in answered for contrast in answer["contrasts"] if contrast["sets"]]
    assert found["tests"] == len(contrasts) >= 4
    assert all(contrast["p_adjusted"] >= contrast["p"] for contrast in contrasts)
    assert {answer["question"] for answer in answered} == {"raid_implementation", "raid_level", "filesystem"}
    assert "kernel" in {answer["question"] for answer in found["results"] if not answer["answered"]}


@pytest.mark.usefixtures("runs")
@for_each(
    "path, form",
    list(
        product(["/api/v1/questions/", "/api/v1/questions/filesystem/"], ["csv", "mediawiki", "dokuwiki", "markdown"])
    ),
)
def test_every_wiki_format_has_the_ratio(sign_in: SignIn, path: str, form: str) -> None:
    client = sign_in("viewer")
    response = client.get(path, {"format": form})
    assert response.status_code == 200
    assert "btrfs" in response.content.decode()
    again = client.get(path, {"format": form}, headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.usefixtures("runs")
def test_a_forest_plot_comes_as_svg_and_png(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    svg = client.get("/api/v1/questions/raid_level.svg")
    assert svg.headers["Content-Type"].startswith("image/svg+xml")
    assert "RAID 5" in svg.content.decode()
    assert client.get("/api/v1/questions/raid_level/?format=png").content.startswith(b"\x89PNG")


@pytest.mark.usefixtures("runs")
def test_facts_are_moved_by_the_address(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    moved = get(client, "/api/v1/questions/raid_implementation/", ignore="filesystem")
    assert "filesystem" not in moved["held"]
    assert moved["ignored"] == ["filesystem"]
    held = get(client, "/api/v1/questions/raid_level/", hold="disk_count")
    assert "single" not in {one for contrast in held["contrasts"] for one in (contrast["level"], contrast["against"])}
    assert "hold=disk_count" in held["permalink"]


@pytest.mark.usefixtures("runs")
@for_each(
    "query",
    ["metric=bandwidth", "operation=fly&metric=bandwidth", "against=tape", "hold=ram&ignore=ram", "published=maybe"],
)
def test_what_is_no_question_is_a_problem(sign_in: SignIn, query: str) -> None:
    client = sign_in("viewer")
    assert client.get(f"/api/v1/questions/filesystem/?{query}").status_code == 400
    assert client.get(f"/compare/questions/filesystem/?{query}").status_code == 400
    assert client.get("/api/v1/questions/colour/").status_code == 404
    assert client.get("/compare/questions/colour/").status_code == 404


@pytest.mark.usefixtures("runs")
def test_compare_opens_on_the_questions(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    page = " ".join(client.get("/compare/").content.decode().split())
    assert "Hardware against software RAID" in page
    told = r"Hardware RAID (0\.9|1\.0)\d+ × software RAID \(0\.9\d+ to 1\.\d+\) in 2 matched sets: no difference shown"
    assert re.search(told, page)
    assert '<svg class="forest"' in page
    assert "Not answerable yet" in page
    assert "Could not be held, because no run tells them: controller" in page
    for link in re.findall(r'href="(/compare/questions/[^"#]*)', page):
        assert client.get(link.replace("&amp;", "&")).status_code == 200


@pytest.mark.usefixtures("runs")
def test_a_question_leads_to_its_runs_and_to_the_free_comparison(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    page = client.get("/compare/questions/filesystem/").content.decode()
    links = {link.replace("&amp;", "&") for link in re.findall(r'href="(/compare/\?[^"]*)', page)}
    assert any("series=filesystem" in link and "run=" in link for link in links)
    for link in links:
        assert client.get(link).status_code == 200


def test_another_labs_runs_are_no_part_of_an_answer(cast: Cast, sign_in: SignIn) -> None:
    with lab_scope(cast.other_lab.pk):
        store(cast.other_lab, old_machine(3))
    found = get(sign_in("viewer"), "/api/v1/questions/")
    assert (found["runs"], found["results"]) == (0, [])


def test_published_runs_count_where_they_are_asked_for(cast: Cast, sign_in: SignIn) -> None:
    paper = Lab.objects.create(name="Published", slug="published", is_published=True)
    with lab_scope(paper.pk):
        store(paper, old_machine(3))
    client = sign_in("viewer")
    assert get(client, "/api/v1/questions/")["runs"] == 0
    assert get(client, "/api/v1/questions/", published="yes")["runs"] == 70
    assert "RAID level" in client.get("/compare/?published=yes").content.decode()


def test_the_number_of_statements_does_not_grow(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    store(lab, old_machine(1))
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get("/compare/")
    add_sample(store(lab, old_machine(2)), 100.0, "randread", "iops")
    with CaptureQueriesContext(connection) as many:
        client.get("/compare/")
    assert len(many) == len(few)


def test_runs_that_did_not_finish_and_values_that_are_none_do_not_count(lab: Lab, runs: list[Run]) -> None:
    before = report([lab.pk], FactorSelection()).runs
    Run.objects.filter(pk=runs[0].pk).update(state=State.FAILED)
    runs[1].samples.update(value=None)
    runs[2].samples.update(value=0.0)
    assert report([lab.pk], FactorSelection()).runs == before - 3


def test_facts_of_single_runs_do_not_split_groups(lab: Lab, runs: list[Run]) -> None:
    first = answer_one([lab.pk], "filesystem", FactorSelection())
    for number, run in enumerate(runs):
        run.facts |= {"load_before": number / 10, "randseed": number}
        run.labels = {"note": f"night {number}", "run_id": number, "my_seed": str(number)}
        run.save()
    again = answer_one([lab.pk], "filesystem", FactorSelection())
    assert [one.ratio for one in again.contrasts] == pytest.approx([one.ratio for one in first.contrasts])
    assert again.sets == first.sets


def test_a_run_is_measured_once_however_many_points_it_has(lab: Lab, runs: list[Run]) -> None:
    from apps.runs.models import Point, Sample

    before = answer_one([lab.pk], "filesystem", FactorSelection())
    for run in runs:
        sample = run.samples.get()
        for size in (1, 2, 3):
            point = Point.objects.get_or_create(file_size=size << 40, block_size=1 << 20, threads=1, iodepth=16)[0]
            Sample.objects.create(run=run, measure=sample.measure, point=point, value=sample.value)
    after = answer_one([lab.pk], "filesystem", FactorSelection())
    assert [one.ratio for one in after.contrasts] == pytest.approx([one.ratio for one in before.contrasts])
    assert after.runs == before.runs
    assert [one.interval for one in after.contrasts] == [pytest.approx(one.interval) for one in before.contrasts]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("it", "in 2 insiemi confrontabili: nessuna differenza mostrata"),
        ("ru", "в 2 сопоставимых группах: различие не показано"),
    ],
)
def test_answers_are_said_in_the_readers_language(sign_in: SignIn, language: str, told: str) -> None:
    client = sign_in("viewer")
    client.post("/language/", {"language": language, "next": "/"})
    assert told in " ".join(client.get("/compare/", headers={"Accept-Language": language}).content.decode().split())


@pytest.mark.usefixtures("runs")
def test_an_open_question_shows_two_figures_side_by_side_and_what_is_missing(sign_in: SignIn) -> None:
    page = " ".join(sign_in("viewer").get("/compare/questions/kernel/").content.decode().replace("\u00a0", " ").split())
    pair = re.search(r"<li>(kernel [^<]*)", page)
    assert pair
    assert re.fullmatch(r"kernel 6\.1 [\d.]+ MB/s / kernel 2\.6 [\d.]+ MB/s: host new / old, disk model .*", pair[1]), (
        pair[1]
    )
    assert "3 runs of kernel" in page
    assert "<svg" not in page.split("</header>")[-1]


@pytest.mark.usefixtures("runs")
def test_an_engineer_starts_what_is_missing_from_a_run_that_is_like_it(sign_in: SignIn) -> None:
    page = sign_in("engineer").get("/compare/questions/kernel/").content.decode()
    (link,) = re.findall(r'href="(/runs/new/\?like=\d+)"', page)
    assert sign_in("engineer").get(link).status_code == 200
    assert "/runs/new/?like=" not in sign_in("viewer").get("/compare/questions/kernel/").content.decode()


@pytest.mark.usefixtures("runs")
def test_of_many_matched_sets_the_page_has_those_with_most_runs(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contrast_table, "MOST_SETS", 1)
    monkeypatch.setattr(contrast_table, "FEWEST_SETS", 1)
    page = sign_in("viewer").get("/compare/questions/raid_implementation/").content.decode()
    assert "and 1 more matched set" in page
    (link,) = {link.replace("&amp;", "&") for link in re.findall(r'href="(/api/[^"]*format=json)">JSON</a></p>', page)}
    (contrast,) = sign_in("viewer").get(link).json()["contrasts"]
    assert len(contrast["strata"]) == 2


def test_what_is_held_equal_has_the_words_of_its_field(lab: Lab, sign_in: SignIn) -> None:
    for run in store(lab, old_machine(7)):
        run.facts |= {"rw": "write", "direct": 1, "num_files": 16}
        run.save(update_fields=["facts"])
    text = sign_in("viewer").get("/compare/questions/filesystem/").content.decode()
    held = text.split("Held equal:")[1].split("</ul>")[0]
    assert "fio&#x27;s pattern" in held
    assert "direct I/O" in held
    assert "number of files" in held
    assert not re.search(r"<li>(rw|num files|direct) ·", held)


def test_the_start_page_has_the_first_answers_in_a_sentence_each(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    assert "/compare/?short=1" in client.get("/").content.decode()
    assert "No finished run has a value yet." in client.get("/compare/?short=1").content.decode()
    store(lab, old_machine(7))
    short = client.get("/compare/?short=1", headers={"HX-Request": "true"})
    cards = client.get("/compare/").context["cards"]
    assert cards
    text = page_text(short.content.decode())
    assert [card.sentence for card in cards[:SHORT] if card.sentence in text] == [c.sentence for c in cards[:SHORT]]
    assert [card.title for card in short.context["cards"]] == [card.title for card in cards[:SHORT]]


def processes(lab: Lab, kind: str, rates: list[float], **more: Any) -> Run:
    """Store a run whose jobs wrote at one time, each with its own figures, as fio reports them without a group."""
    host = Host.objects.get_or_create(lab=lab, name="alpha")[0]
    target = Target.objects.get_or_create(host=host, name=kind, defaults={"lab": lab, "path": f"/srv/{kind}"})[0]
    facts = {"raid_implementation": kind, "raid_level": "5", "disk_count": 4, "kernel": "6.1.0", "rw": "write", **more}
    sections = {str(n): {"name": "w", "options": {"rw": "write", "numjobs": "4"}} for n, _ in enumerate(rates)}
    run: Run = Run.objects.create(
        lab=lab, host=host, target=target, tool="fio", tool_version="fio-3.33", origin="uploaded", state=State.FINISHED,
        facts=facts, sections=sections,
    )  # fmt: skip
    point = Point.objects.get_or_create(file_size=1 << 37, block_size=1 << 20, threads=4, iodepth=1)[0]
    for metric, scale in (("bandwidth", 1.0), ("io_bytes", 60.0)):
        measure = Measure.objects.get_or_create(operation="write", metric=metric)[0]
        for section, rate in enumerate(rates):
            Sample.objects.create(run=run, measure=measure, point=point, section=section, value=rate * scale)
    return run


def test_processes_that_are_told_one_by_one_are_held_together_against_others(lab: Lab) -> None:
    """Four processes of 150 MB/s are as fast as a report of 600 MB/s."""
    noise = (0.99, 1.0, 1.01)
    for share in noise:
        processes(lab, "hardware", [1.5e8 * share] * 4)
        processes(lab, "software", [6e8 * share])
    answer = answer_one([lab.pk], "raid_implementation", FactorSelection())
    (contrast,) = answer.answered
    assert contrast.ratio == pytest.approx(1.0)
    assert {side.n for effect in contrast.effects for side in effect.stratum.sides.values()} == {3}


def test_jobs_one_after_another_at_one_point_are_no_sum(lab: Lab) -> None:
    for share in (0.99, 1.0, 1.01):
        run = processes(lab, "hardware", [6e8 * share] * 2)
        options = {"rw": "write", "stonewall": "1"}
        sections = {n: {"name": f"run{n}", "options": options} for n in run.sections}
        Run.objects.filter(pk=run.pk).update(sections=sections)
        processes(lab, "software", [6e8 * share])
    (contrast,) = answer_one([lab.pk], "raid_implementation", FactorSelection()).answered
    assert contrast.ratio == pytest.approx(1.0)


def test_a_job_by_itself_is_not_held_against_a_whole(lab: Lab) -> None:
    """Rates without bytes give no time, so nothing is added up: such values are of one job each."""
    for share in (0.99, 1.0, 1.01):
        run = processes(lab, "hardware", [1.5e8 * share] * 4)
        run.samples.filter(measure__metric="io_bytes").delete()
        processes(lab, "software", [6e8 * share])
    assert not answer_one([lab.pk], "raid_implementation", FactorSelection()).is_answered
