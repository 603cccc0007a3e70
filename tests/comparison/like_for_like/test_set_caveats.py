"""The answer of a question has the caveats of its runs: on its page, in REST, in wiki documents, and in claims about it."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.comparison import caveats
from apps.comparison.claims.evaluation import evaluate
from apps.comparison.claims.models import Claim
from apps.comparison.like_for_like import free_comparison
from apps.comparison.like_for_like.free_comparison import address_of_answer
from apps.comparison.like_for_like.report import answer_one
from apps.comparison.like_for_like.selection import FactorSelection
from apps.comparison.like_for_like.set_caveats import findings
from apps.comparison.like_for_like.set_caveats.findings import caveats_of_answer
from apps.comparison.question import parse
from apps.comparison.questions import BY_NAME
from apps.inventory.models import Snapshot
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Study
from tests.comparison.caveats.machines import array, disk, machine
from tests.comparison.like_for_like.simulated_labs import GIB, SimulatedLab
from tests.comparison.like_for_like.stored_labs import store
from tests.page_text import page_text
from tests.sampling import for_each

SignIn = Callable[[str], Client]
PAGE, REST = "/compare/questions/raid_level/", "/api/v1/questions/raid_level/"
DEGRADED = "md0 is degraded (2 of 3 members work)"
TITLE = "The array was not in order"


def degraded(lab: Lab) -> Snapshot:
    states = {"sda": "active", "sdb": "active", "sdc": "faulty"}
    members = [disk(name, "SAS", "SAS-12G", state=state) for name, state in states.items()]
    content = machine(array("md0", "5", members, state="degraded")).content
    return Snapshot.objects.create(lab=lab, sha256="d" * 64, content=content, facts={})


def stored_runs(lab: Lab, n: int = 3, hosts: tuple[str, ...] = ("new",), **facts: Any) -> list[Run]:
    """Return runs of a single disk and of RAID 5 on each host."""
    simulated = SimulatedLab(7)
    for host in hosts:
        for number, level in enumerate(("single", "5")):
            implementation = "none" if level == "single" else "software"
            simulated.add(
                n, day=10.0 * number, host=host, raid_level=level, raid_implementation=implementation,
                filesystem="xfs", **facts,
            )  # fmt: skip
    return store(lab, simulated)


def of_level(runs: list[Run], level: str) -> list[Run]:
    return [run for run in runs if run.facts["raid_level"] == level]


def spoil(runs: list[Run], snapshot: Snapshot) -> None:
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(snapshot=snapshot)


@pytest.fixture
def spoiled(lab: Lab) -> list[Run]:
    """Return runs whose array of RAID 5 was degraded."""
    runs = stored_runs(lab)
    spoil(of_level(runs, "5"), degraded(lab))
    return runs


def text_of(client: Client, path: str = PAGE, **query: str) -> str:
    response = client.get(path, query)
    assert response.status_code == 200
    return page_text(response.content.decode())


def statements(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    return len(captured)


def rest(client: Client, **query: str) -> Any:
    return client.get(REST, {**query, "format": "json"}).json()


@pytest.mark.usefixtures("spoiled")
def test_the_page_says_beside_the_answer_that_the_array_was_not_in_order(sign_in: SignIn) -> None:
    page = sign_in("viewer").get(PAGE).content.decode()
    before_plot = page_text(page[page.index("answer-sentence") : page.index('class="forest"')])
    assert f"{TITLE}: all runs of RAID 5" in before_plot
    section = page_text(page[page.index('id="caveats"') : page.index('id="sets"')])
    assert DEGRADED in section
    assert "RAID 5: 3 of 3 runs" in section
    assert "single disk: " not in section.split(TITLE)[1].split("Calculation")[0]


def test_the_verdict_stays_a_matter_of_the_numbers(lab: Lab) -> None:
    runs = stored_runs(lab)
    before = answer_one([lab.pk], "raid_level", FactorSelection())
    spoil(of_level(runs, "5"), degraded(lab))
    after = answer_one([lab.pk], "raid_level", FactorSelection())
    assert [one.finding for one in before.contrasts] == [one.finding for one in after.contrasts]
    assert [one.ratio for one in before.contrasts] == pytest.approx([one.ratio for one in after.contrasts])


def test_rest_has_them_with_their_arithmetic_and_runs(spoiled: list[Run], sign_in: SignIn) -> None:
    answer = rest(sign_in("viewer"))
    (found,) = [one for one in answer["caveats"] if one["rule"] == "array_state"]
    own = sorted(run.pk for run in of_level(spoiled, "5"))
    assert (found["title"], found["runs"], found["sets"]) == (TITLE, own, 1)
    assert (found["levels"], found["whole_levels"]) == ({"5": 3}, ["5"])
    assert any(DEGRADED in line for line in found["arithmetic"])
    assert answer["caveats_looked_at"] == {"runs": 6, "of": 6}
    listed = sign_in("viewer").get("/api/v1/questions/", {"format": "json"}).json()
    assert {one["caveats"] for one in listed["results"]} == {None}


@pytest.mark.usefixtures("spoiled")
@for_each("form", ["mediawiki", "dokuwiki", "markdown"], taken_back=True)
def test_wiki_documents_have_them(sign_in: SignIn, form: str) -> None:
    document = sign_in("viewer").get(REST, {"format": form}).content.decode()
    assert document.count(TITLE) == 2  # under the answer and among the caveats
    assert DEGRADED in document


@pytest.mark.usefixtures("spoiled")
def test_a_csv_has_the_same_rows_as_before(sign_in: SignIn) -> None:
    assert TITLE not in sign_in("viewer").get(REST, {"format": "csv"}).content.decode()


def test_a_file_smaller_than_ram_and_a_busy_machine_are_told(lab: Lab, sign_in: SignIn) -> None:
    runs = stored_runs(lab, file_size=GIB, direct=0, sync="none")
    busy = of_level(runs, "single")[0]
    busy.facts |= {"load_before": 2.5}
    busy.save()
    found = {one["rule"]: one for one in rest(sign_in("viewer"))["caveats"]}
    assert found["ram_cache"]["runs"] == sorted(run.pk for run in runs)
    assert sorted(found["ram_cache"]["whole_levels"]) == ["5", "single"]
    assert (found["not_idle"]["runs"], found["not_idle"]["whole_levels"]) == ([busy.pk], [])
    text = text_of(sign_in("viewer"))
    assert "May be memory, not disk: all runs of" in text
    assert "The machine was not idle: all runs" not in text
    assert "single disk: 1 of 3 runs" in text


def test_runs_without_caveats_have_none(lab: Lab, sign_in: SignIn) -> None:
    runs = stored_runs(lab)
    for number, run in enumerate(sorted(runs, key=lambda run: (run.pk % 3, run.pk))):  # one of each in turn
        run.started_at = run.finished_at = runs[0].started_at.replace(hour=number)
        run.save()
    assert rest(sign_in("viewer"))["caveats"] == []
    assert "No caveat concerns these runs." in text_of(sign_in("viewer"))


def test_a_letter_marks_the_set_that_a_caveat_is_about(lab: Lab, sign_in: SignIn) -> None:
    runs = stored_runs(lab, hosts=("new", "third"))
    spoil([run for run in of_level(runs, "5") if run.host.name == "third"], degraded(lab))
    page = sign_in("viewer").get(PAGE)
    rows = {row["label"]: row["marks"] for row in page.context["contrasts"][0]["rows"]}
    assert sorted(marks for marks in rows.values() if marks) == [[("a", "array_state")]]
    assert "in 1 of 2 matched sets" in page_text(page.content.decode())


@pytest.mark.parametrize("cap", ["MOST_RUNS", "MOST_SAMPLES"])
def test_of_very_many_runs_some_of_each_side_are_looked_at(
    spoiled: list[Run], sign_in: SignIn, monkeypatch: pytest.MonkeyPatch, cap: str
) -> None:
    monkeypatch.setattr(findings, cap, 4)
    client = sign_in("viewer")
    answer = rest(client)
    assert answer["caveats_looked_at"] == {"runs": 4, "of": len(spoiled)}
    (found,) = [one for one in answer["caveats"] if one["rule"] == "array_state"]
    assert found["levels"] == {"5": 2}
    assert "Looked for in 4 of the 6 runs in the matched sets." in text_of(client)


@pytest.mark.usefixtures("spoiled")
def test_a_claim_about_the_question_has_the_same_caveats(lab: Lab) -> None:
    asked = {"factor": "raid_level", "level": "5", "against": "single", "operation": "write", "metric": "bandwidth"}
    study = Study.objects.create(lab=lab, slug="disks", title="Disks")
    claim = Claim.objects.create(
        study=study, code="Q1", statement="RAID 5 writes faster", kind="question", definition={"checks": []},
        question={**asked, "direction": "higher"},
    )  # fmt: skip
    evaluate(claim)
    claim.refresh_from_db()
    found = caveats_of_answer(answer_one([lab.pk], "raid_level", FactorSelection()))
    assert [one["rule"] for one in claim.caveats] == [one.rule for one in found.found]
    assert "array_state" in {one["rule"] for one in claim.caveats}


@pytest.mark.usefixtures("spoiled")
@pytest.mark.parametrize("few", ["FEW_RUNS", "FEW_SAMPLES"])
def test_a_card_names_the_caveats_where_the_lab_has_few_runs(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch, few: str
) -> None:
    client = sign_in("viewer")
    assert f"2 caveats: {TITLE}" in text_of(client, "/compare/")
    with_caveats = statements(client, "/compare/")
    monkeypatch.setattr(findings, few, 5)
    page = client.get("/compare/").content.decode()
    assert TITLE not in page
    assert f'href="{PAGE}#caveats">Caveats</a>' in page
    assert statements(client, "/compare/") < with_caveats


@pytest.mark.usefixtures("spoiled")
@pytest.mark.parametrize(
    ("language", "told"),
    [("it", "L'array non era in ordine: tutte le prove di RAID 5"), ("ru", "Массив был не в порядке: все прогоны")],
)
def test_they_are_said_in_the_readers_language(sign_in: SignIn, language: str, told: str) -> None:
    client = sign_in("viewer")
    client.post("/language/", {"language": language, "next": "/"})
    assert told in page_text(client.get(PAGE, headers={"Accept-Language": language}).content.decode())


def test_the_number_of_statements_does_not_grow(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    snapshot = degraded(lab)
    spoil(of_level(stored_runs(lab), "5"), snapshot)
    few = statements(client, PAGE)
    spoil(of_level(stored_runs(lab, 20, ("old", "third")), "5"), snapshot)
    assert statements(client, PAGE) == few


def test_rules_against_the_value_are_rules() -> None:
    assert {*caveats.BY_NAME} >= caveats.AGAINST_THE_VALUE
    assert {*caveats.BY_NAME} >= findings.SAID_BY_ANSWERS


@pytest.mark.usefixtures("spoiled")
def test_the_start_page_says_the_caveats_beside_the_answer(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    lines = page_text(client.get("/compare/", {"short": "yes"}, headers={"HX-Request": "true"}).content.decode())
    assert f"1 caveat: {TITLE}" in lines or f"caveats: {TITLE}" in lines, lines


def test_the_plot_marks_the_sets_that_a_caveat_is_about_on_the_page_and_in_pictures(lab: Lab, sign_in: SignIn) -> None:
    runs = stored_runs(lab, hosts=("new", "old"))
    spoil([run for run in of_level(runs, "5") if str(run.host) == "new"], degraded(lab))
    client = sign_in("viewer")
    page = client.get(PAGE).content.decode()
    plot = page[page.index('class="forest"') : page.index('id="caveats"')]
    rows = [row for row in plot.split("<g>")[1:] if ">a</tspan>" in row]
    assert len(rows) == 1
    assert "<title>new" in rows[0] or "new" in page_text(rows[0])
    assert f"a {TITLE}: RAID 5: 3 of 6 runs; in 1 of 2 matched sets" in page_text(plot)
    cards = page_text(client.get("/compare/").content.decode())
    assert f"a {TITLE}: RAID 5: 3 of 6 runs" in cards
    svg = client.get(REST, {"format": "svg"}).content.decode()
    assert f"a {TITLE}: RAID 5: 3 of 6 runs; in 1 of 2 matched sets." in svg, "its description"
    Run.objects.update(snapshot=None)
    clean = client.get(REST, {"format": "svg"})
    assert TITLE not in clean.content.decode()
    assert clean.content.decode() != svg, "drawn, not only described"


def test_a_picture_of_a_free_comparison_says_its_caveats(spoiled: list[Run], sign_in: SignIn) -> None:
    client = sign_in("viewer")
    query = {"series": "raid_level", "run": ",".join(str(run.pk) for run in spoiled), "format": "svg"}
    with_caveats = client.get("/api/v1/compare/", query).content.decode()
    assert f"{TITLE}: 1 of 2 cells." in with_caveats
    Run.objects.update(snapshot=None)
    without = client.get("/api/v1/compare/", query).content.decode()
    assert TITLE not in without


def series_and_filters(address: str) -> tuple[tuple[str, ...], dict[str, set[str]]]:
    asked = parse(dict(parse_qs(urlsplit(address).query)))
    filters: dict[str, set[str]] = {}
    for name, value in asked.filters:
        filters.setdefault(name, set()).add(value)
    return asked.series, filters


def test_the_free_comparison_of_an_answer_has_its_runs_alone_and_keeps_its_hosts_apart(
    lab: Lab, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = stored_runs(lab, hosts=("new", "old"))
    lonely = SimulatedLab(9)
    lonely.add(3, day=1.0, host="lonely", raid_level="5", raid_implementation="software", filesystem="xfs")
    store(lab, lonely)
    answer = answer_one([lab.pk], "raid_level", FactorSelection())
    address = address_of_answer(answer, BY_NAME["raid_level"])
    series, filters = series_and_filters(address)
    assert series[:2] == ("raid_level", "host")
    assert filters == {"run": {",".join(str(run.pk) for run in sorted(runs, key=lambda run: run.pk))}}
    monkeypatch.setattr(free_comparison, "MOST_RUNS", 5)
    address = address_of_answer(answer, BY_NAME["raid_level"])
    series, filters = series_and_filters(address)
    assert (series[:2], filters["host"], "run" in filters) == (("raid_level", "host"), {"new", "old"}, False)
    told = sign_in("viewer").get(address.replace("/compare/", "/api/v1/compare/")).json()
    assert len(told["series"]) == 4, told["series"]
    assert all("lonely" not in name for name in told["series"])


def test_of_one_set_the_free_comparison_names_the_factor_alone(spoiled: list[Run], lab: Lab) -> None:
    answer = answer_one([lab.pk], "raid_level", FactorSelection())
    series, _filters = series_and_filters(address_of_answer(answer, BY_NAME["raid_level"]))
    assert series == ("raid_level",)
